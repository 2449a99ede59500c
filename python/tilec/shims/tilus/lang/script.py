"""Scripts: classes whose __call__ is a kernel."""

import inspect
import sys

from tilec import arrays, device, native, session, source
from tilec.calls import frozen
from tilec.kernels import Compiled
from tilec.session import Remote, Text, call_text


def _launch(self, *args, **kwargs):
    return self._tile_compiled()(*args, **kwargs)


class Place:
    """Memory of which a call tells the address alone, as tensor.data_ptr() gives it: of so many elements as kernels use."""

    MOST = 1 << 40

    def __init__(self, address, code):
        self.address = address
        self.code = code

    def __tile_facts__(self):
        torch = sys.modules.get("torch")
        where = (arrays.CPU, 0) if device.is_emulator() else (arrays.CUDA, torch.cuda.current_device() if torch else 0)
        return arrays.Facts(self.address, self.code, (self.MOST,), (1,), where, self)

    @property
    def __tile_stream__(self):
        torch = sys.modules.get("torch")
        return torch.cuda.current_stream().cuda_stream or None if torch else None


def _pointed(annotation):
    """The type code of what a parameter points to; None: it is no pointer."""
    if not isinstance(annotation, Remote) or not (name := repr(annotation)).startswith("~"):
        return None
    return arrays.CODES.get({"~float8_e4m3": "float8_e4m3fn"}.get(name, name[1:]), arrays.CODES["uint8"])


class ScriptKernel(Compiled):
    """Numbers in the place of pointers are addresses."""

    def __init__(self, remote, call):
        parameters = list(inspect.signature(call).parameters.values())[1:]
        super().__init__(remote, [one.name for one in parameters])
        self.pointed = {one.name: code for one in parameters if (code := _pointed(one.annotation)) is not None}

    def placed(self, args, kwargs):
        def place(name, value):
            return Place(value, self.pointed[name]) if type(value) is int and name in self.pointed else value

        named = [place(name, value) for name, value in zip(self.parameters, args)]
        return [*named, *args[len(named) :]], {name: place(name, value) for name, value in kwargs.items()}

    def plan(self, args, kwargs):
        return super().plan(*self.placed(args, kwargs))

    def call(self, args, kwargs, stream=None):
        return super().call(*self.placed(args, kwargs), stream)


class ScriptClass(type):
    """Puts a launch in the place of __call__, and remembers what an object is made of."""

    def __new__(meta, name, bases, names, **options):
        if "__call__" in names and bases:
            names["__tile_call__"] = names["__call__"]
            names["__call__"] = _launch
        made = super().__new__(meta, name, bases, names)
        frame = sys._getframe(1)
        made.__tile_around__ = {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)
        made.__tile_tunables__ = list(getattr(made, "__tile_tunables__", []))
        made.__tile_kept__ = None
        made.__tile_made__ = {}
        return made

    def __call__(cls, *args, **kwargs):
        """Equal arguments give the object that was made before, as in Tilus: programs make scripts anew for each launch."""
        try:
            made = cls.__tile_made__.get(key := (frozen(args, hash), frozen(kwargs, hash)))
        except TypeError:  # of an argument that can change
            made = key = None
        if made is None:
            made = cls.__new__(cls)
            made.__dict__["_tile_given"] = args, kwargs
            if key is not None:
                cls.__tile_made__[key] = made
        return made

    def __tile_remote__(cls):
        """The class there, with its configurations around it."""
        if cls.__tile_kept__ is None:
            text = Text(source.definition(cls, cls.__tile_around__))
            for names, values in cls.__tile_tunables__:
                text = Text(session.module("tilus"), f".autotune({names!r}, ", session.text_of(values), ")(", text, ")")
            cls.__tile_kept__ = Remote(text)
        return cls.__tile_kept__

    @property
    def _autotune_space(cls):
        return {names: values for names, values in cls.__tile_tunables__}


class Instance:
    """A script and what it is called with, in the place of the original's program of it."""

    def __init__(self, script, args, kwargs):
        self.made = script, args, kwargs
        self.transpiled_programs = [self]

    def compile(self):
        script, args, kwargs = self.made
        return script.jit_instance_for(*args, **kwargs)


class Script(metaclass=ScriptClass):
    """An object's constructor is run there; in Python only if something asks for what it sets."""

    debug_schedule = None

    def __init__(self):
        pass

    def __getattr__(self, name):
        if name.startswith("_tile") or name.startswith("__") or "_tile_entered" in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name!r}")
        self.__dict__["_tile_entered"] = True
        args, kwargs = self._tile_given
        type(self).__init__(self, *args, **kwargs)
        return getattr(self, name)

    def __tile_remote__(self):
        if "_tile_remote" not in self.__dict__:
            args, kwargs = self._tile_given
            self.__dict__["_tile_remote"] = Remote(call_text(Text(ScriptClass.__tile_remote__(type(self))), args, kwargs))
        return self.__dict__["_tile_remote"]

    def _tile_compiled(self):
        if "_tile_kernel" not in self.__dict__:
            self.__dict__["_tile_kernel"] = ScriptKernel(self.__tile_remote__(), type(self).__tile_call__)
        return self.__dict__["_tile_kernel"]

    def compile(self, *args, **kwargs):
        return Remote(call_text(Text(self.__tile_remote__(), ".compile"), args, kwargs))

    def jit_instance_for(self, *args, **kwargs):
        kernel = self._tile_compiled()
        kernel.plan(args, kwargs)
        return kernel

    def _jit_instance_for(self, *args, **kwargs):
        """What a call with these arguments would run, of which tilus.ir.tools asks whether it compiles."""
        return Instance(self, args, kwargs)

    def program(self, *args, **kwargs):
        return self.jit_instance_for(*args, **kwargs).code_text()


class Class:
    """What kernels keep together: objects of it are made and used in kernels alone."""


def autotune(arg_names, arg_values):
    """Parameters of the constructor that are chosen by tuning, where an object is made without them."""

    def decorate(cls):
        if not isinstance(cls, ScriptClass):
            raise native.Error("tilus.autotune: this is no tilus.Script")
        cls.__tile_tunables__ = cls.__tile_tunables__ + [(arg_names, list(arg_values))]
        cls.__tile_kept__ = None
        cls.__tile_made__ = {}
        return cls

    return decorate
