"""What the decorators make of functions: their texts are compiled, and they are never run in Python."""

import ast
import contextlib
import copy
import functools
import inspect
import re

from tilec import arrays, device, native, session, source
from tilec.calls import Given, joined
from tilec.kernels import Compiled, tensors_of
from tilec.session import Remote, Text
from tilelang.attributes import attributes_of


class Decorated:
    """A function for the compiler: `word` is what makes of it what it is there."""

    word = None

    def __init__(self, function, around):
        self.function = function
        self.around = around
        self.remote = None
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "kernel")
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def __tile_function__(self):
        return self.function

    def wrapped(self, definition):
        return Text(session.module("tilelang.language"), f".{self.word}(", definition, ")")

    def __tile_remote__(self):
        if self.remote is None:
            self.remote = Remote(self.wrapped(source.definition(self.function, self.around)))
        return self.remote

    @property
    def parameters(self):
        return [name for name in inspect.signature(self.function).parameters]


class Macro(Decorated):
    word = "macro"

    def __call__(self, *args, **kwargs):
        raise native.Error(f"{self.__name__} is a macro: only kernels call it")


class PrimFunc(Decorated):
    """A kernel function that is compiled by tilelang.compile(), or called."""

    word = "prim_func"
    dropped = ()

    def __init__(self, function, around):
        super().__init__(function, around)
        self.attrs = attributes_of(function)
        self.kernel = None
        if not session.is_put_off():
            self.look()

    def look(self):
        """What the dialect itself refuses of the kernel's text is refused where the kernel is defined; all else when it is needed."""
        try:
            session.build(Remote(Text("core.kernel_text(\n", self.__tile_remote__(), ".compile())")))
        except (ValueError, TypeError, AssertionError) as error:
            if isinstance(error, native.CompileError) and str(error).startswith(self.function.__code__.co_filename):
                raise
        except (native.Error, session.Unspeakable):
            pass

    def with_attr(self, name, value=None):
        made = copy.copy(self)
        made.attrs = {**self.attrs, **(name if isinstance(name, dict) else {name: value})}
        return made

    def __call__(self, *args, **kwargs):
        if self.kernel is None:
            self.kernel = Listing(self.__tile_remote__(), self.parameters)
        return self.kernel(*args, **kwargs)

    @functools.cached_property
    def described(self):
        """What each parameter is: (name, type, extents), of a tensor's extents those that calls tell as variables; None: no tensor."""
        told = session.evaluate(Text("core.signature(", self.__tile_remote__(), ")"))
        annotations = inspect.signature(self.function).parameters
        return [_parameter(name, text, getattr(annotations.get(name), "annotation", None)) for name, text in told.items()]

    @functools.cached_property
    def params(self):
        """As variables; buffer_map has the tensors of those that are."""
        from tilelang.expressions import Variable

        return [Variable(name, "handle" if shape is not None else kind) for name, kind, shape in self.described]

    @functools.cached_property
    def buffer_map(self):
        from tvm.tirx import Buffer

        pairs = zip(self.params, self.described)
        return {param: Buffer(shape, kind, name) for param, (name, kind, shape) in pairs if shape is not None}

    ret_type = None  # it gives nothing back; what it makes is among its tensors

    def simplified(self):
        """Without the tensors that nothing in it uses: calls don't give them."""
        made = copy.copy(self)
        text = self.script()
        made.dropped = [name for name in self.parameters if f"tensor %{name} [" in text and text.count(f"%{name}") == 2]
        return made

    def script(self, **options):
        return session.evaluate(Text("core.kernel_text(", self.__tile_remote__(), ".compile())"))

    __str__ = script


_TENSOR = re.compile(r"(?:Strided)?Tensor\[\[(.*?)\],.* (\S+)\]")


def _parameter(name, text, annotation):
    from tilelang.expressions import Variable

    tensor = _TENSOR.fullmatch(text)
    if tensor is None:
        return name, "handle" if text == "ptr" else str(annotation) if isinstance(annotation, str) else "int32", None
    extents = [word.strip() for word in tensor[1].split(",") if word.strip()]
    return name, tensor[2], tuple([int(word) if word.isdigit() else Variable(word.partition("$")[0]) for word in extents])


def has_prim_func(function):
    """Whether the text of the function defines one: it gives kernels, then."""
    code = function.__code__
    node = source.file_of(code.co_filename).node(code.co_name, code.co_firstlineno)
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef) and part is not node:
            for decorator in part.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if getattr(called, "attr", getattr(called, "id", None)) == "prim_func":
                    return True
    return not _is_kernel(node)


def _is_kernel(node):
    """Whether the function itself speaks of launches or tensors."""
    words = {"Kernel", "const", "empty", "Tensor", "StridedTensor", "dyn", "ptr"}
    return any(isinstance(part, ast.Attribute) and part.attr in words for part in ast.walk(node))


def place():
    return (arrays.CPU, 0) if device.is_emulator() else (arrays.CUDA, 0)


class Address:
    """Memory of the device's that a number tells of, where a kernel takes a pointer."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __tile_facts__(self):
        return arrays.Facts(self.pointer, arrays.CODES["uint8"], (1 << 40,), (1,), place(), self)


def pointers_of(function):
    """Which of the function's parameters are pointers, by their numbers."""
    found = []
    for i, (name, one) in enumerate(inspect.signature(function).parameters.items()):
        words = getattr(getattr(one.annotation, "text", None), "parts", ())
        if words and words[-1] in (".ptr", ".handle", ".Ptr") or str(one.annotation) in ("T.ptr", "T.handle"):
            found.append(i)
    return found


class Unused:
    """A tensor that a kernel takes, and nothing in it reads or writes."""

    def __init__(self, code, shape):
        self.code = code
        self.shape = shape

    def __tile_facts__(self):
        return arrays.Facts(4096, self.code, self.shape, arrays.packed(self.shape), place(), self)


class Listing(Compiled):
    """Of several results it gives a list."""

    pointers = ()
    dropped = {}  # numbers of parameters, and what stands for them

    def __call__(self, *args, **kwargs):
        for i, unused in self.dropped.items():
            args = args[:i] + (unused,) + args[i:]
        if any([arg is None for arg in args]):
            args = self.with_unused(args)
        for i in self.pointers:
            if i < len(args) and type(args[i]) is int:
                args = args[:i] + (Address(args[i]),) + args[i + 1 :]
        return super().__call__(*args, **kwargs)

    def with_unused(self, args):
        """A tensor that nothing in the kernel reads or writes need not be there: None stands for it."""
        known = self.structure()
        if known is None:
            return args
        accesses = {known.parameters[i].name.decode(): known.parameters[i].access for i in range(known.parameter_count)}
        tensors = {name: (code, shape) for name, code, shape, _ in tensors_of(known)}
        extents = {}
        for name, arg in zip(self.parameters, args):
            facts = arrays.facts_of(arg) if name in tensors and arg is not None else None
            if facts is not None:
                extents.update(zip(tensors[name][1], facts.shape))
        made = list(args)
        for i, (name, arg) in enumerate(zip(self.parameters, args)):
            if arg is None and name in tensors and accesses.get(name) == 0:
                code, shape = tensors[name]
                made[i] = Unused(code, tuple([extent if isinstance(extent, int) else extents.get(extent, 0) for extent in shape]))
        return tuple(made)

    def call(self, args, kwargs, stream=None):
        given = super().call(args, kwargs, stream)
        return list(given) if isinstance(given, tuple) else given


class JITKernel(Listing):
    """A compiled kernel, called with its tensors; what it was told to return it makes."""

    of_host = False

    def __init__(self, remote=None, parameters=(), prim_func=None, out_idx=None, config=None, target=None, func=None, **options):
        if func is not None or isinstance(remote, PrimFunc):  # as programs make one: of a function, and what it is to return
            prim_func = func if func is not None else remote
            out_idx = parameters if parameters != () else out_idx
            remote, parameters = prim_func.__tile_remote__(), prim_func.parameters
        if self.of_host:
            remote = Remote(Text(remote, ".hosted()"))
        if out_idx is not None:
            if prim_func is not None and "tilelang_out_idx" in prim_func.attrs:
                raise ValueError(f"Out index conflict: {prim_func.__name__} returns what it makes, and out_idx is {out_idx}")
            remote = Remote(Text("with_results(", remote, ", ", session.text_of(_indices(out_idx)), ")"))
        if session.evaluate(Text(remote, ".is_open")):  # calls tell its keys
            self.made, built = remote, ()
        else:  # errors come now, and what takes no keys is built
            self.made = Remote(Text("core.kernel_code(\n", remote, ".compile())"))
            session.put_off(self.made)
            built = session.build(self.made)
        super().__init__(self.made, parameters, built)
        self.prim_func = prim_func
        if prim_func is not None and out_idx is not None:
            self.prim_func = prim_func.with_attr("tilelang_out_idx", _indices(out_idx))
        if prim_func is not None and prim_func.dropped:
            self.dropped = {self.parameters.index(name): Unused(code, shape) for name, code, shape, _ in tensors_of(self.structure())
                            if name in prim_func.dropped and all([isinstance(extent, int) for extent in shape])}
        self.pointers = pointers_of(prim_func.function) if prim_func is not None else ()
        self.dynamic_symbolic_map = None  # of extents: each call finds them
        self.out_idx = out_idx
        self.config = config
        self.target = target
        self.latency = self.ref_latency = None
        self.artifact = self.adapter = self

    def get_kernel_source(self, *args, **kwargs):
        """The PTX, or the IR of the kernel where there is none."""
        return self.code_text()

    get_device_source = get_kernel_source

    def get_host_source(self):
        return self.code_text()

    @property
    def kernel_source(self):
        return self.code_text()

    def show_source(self, *args):
        print(self.code_text())

    def get_tir(self, *args, **kwargs):
        return session.evaluate(Text("core.kernel_text(", self.made, ")"))

    def get_profiler(self, tensor_supply_type=None):
        from tilelang.profiler import Profiler

        return Profiler(self, tensor_supply_type)

    def run_once(self, func=None):
        return self.get_profiler().run_once(func)

    @property
    def params(self):
        known = self.structure()
        if known is None:
            raise native.Error("the kernel's tensors are known once it was called")
        return [Param(*one) for one in tensors_of(known)]

    @property
    def n_regs(self):
        return [one["registers"] for one in self.resources()]

    @property
    def n_spills(self):
        return [one["spill_bytes"] for one in self.resources()]


def is_of_host(target):
    """Whether the target is the processor that the program runs on."""
    return str(target or "").partition(" ")[0] in ("c", "llvm")


class OfHost:
    """What is to run on the host is run by the emulator, in the host's memory: beside a GPU without its checks, which take a hundred
    times as long as the kernel."""

    of_host = True

    def __init__(self, *arguments, **options):
        with session.the.on_host():
            super().__init__(*arguments, **options)

    def __call__(self, *args, **kwargs):
        with contextlib.nullcontext() if device.is_emulator() else native.unchecked(), session.the.on_host():
            return super().__call__(*args, **kwargs)

    def code_text(self):
        with session.the.on_host():
            return super().code_text()


class HostKernel(OfHost, JITKernel):
    pass


class HostListing(OfHost, Listing):
    pass


class Param:
    """A tensor of a kernel's."""

    def __init__(self, name, code, shape, is_result):
        self.name = name
        self.code = code
        self.shape = list(shape)
        self.is_result = is_result

    @property
    def dtype(self):
        from tilelang.types import of_code

        return of_code(self.code)

    def torch_dtype(self):
        return self.dtype.as_torch()

    def tilelang_dtype(self):
        return self.dtype

    def is_scalar(self):
        return not self.shape

    def is_unsigned(self):
        return self.dtype.startswith("uint")

    def is_boolean(self):
        return self.dtype == "bool"

    def is_float8(self):
        return self.dtype.startswith("float8")

    def is_float4(self):
        return self.dtype.startswith("float4")


def _indices(out_idx):
    return list(out_idx) if isinstance(out_idx, (list, tuple)) else [out_idx]


def specialised(remote, args, kwargs, parameters, kind=None, **options):
    """The kernel compiled for what is given, arrays or what stands for them."""
    given = Given()
    texts = [given.take(value) for value in args] + [Text(f"{name}=", given.take(value)) for name, value in kwargs.items()]
    kernel = Kept(Text("core.kernel_code(\n", remote, ".compile(", joined(", ", texts), "))"), given)
    return (kind or SpecialisedKernel)(kernel, parameters, **options)


class Kept(Remote):
    """What was made of a call's arrays: it is made of arrays like them, whenever it is."""

    def __init__(self, text, given):
        super().__init__(text)
        self.__dict__["_tensors"] = [facts.tensor() for facts in given.facts]

    def bind(self, statements):
        session.the.open()
        if session.the.generation not in self._generations:
            self.__dict__["_built"] = session.build(self, self._tensors)
        return self._name


class SpecialisedKernel(JITKernel):
    def __init__(self, kernel, parameters, prim_func=None, config=None):
        session.put_off(kernel, kernel._tensors)
        with session.lock:
            kernel.bind([])
        Compiled.__init__(self, kernel, parameters, kernel._built)
        self.made = kernel
        self.prim_func = prim_func
        self.out_idx = None
        self.config = config
        self.latency = self.ref_latency = None
        self.artifact = self.adapter = self


class HostSpecialised(OfHost, SpecialisedKernel):
    pass
