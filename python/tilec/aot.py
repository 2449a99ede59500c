"""Kernels that were compiled ahead of time: objects of tilec's that were linked into a shared library."""

import ctypes
import pathlib
import struct

from tilec import arrays, device, native
from tilec.calls import Callee
from tilec.kernels import SYMBOL
from tilec.plan import _FORMATS, Plan


class Library:
    """A shared library with kernels; `beside` and `name` say where it lies: tilec.Library(__file__, "kernels.so")."""

    def __init__(self, beside, name=None):
        path = pathlib.Path(beside) if name is None else pathlib.Path(beside).resolve().parent / name
        device.name()  # it is chosen before anything is launched
        try:
            native.emulator()  # which the library may be linked with, wherever it runs
        except ImportError:
            if device.is_emulator():
                raise
        # By its name alone it would be looked for among the system's.
        self.library = ctypes.CDLL(str(path.resolve() if path.exists() else path))

    def kernel(self, name, arguments=None):
        """`arguments`: the names of a call's arguments in order, as in the header."""
        table = native.Kernel.in_dll(self.library, f"{name}_kernel")
        if table.abi_version != native.ABI_VERSION:
            raise native.Error(f"{name}: made for version {table.abi_version} of libtile's binary interface, not {native.ABI_VERSION}")
        return Kernel(table, name, arguments)


def _bits(value, parameter):
    """A number as the kernel takes it."""
    code = _FORMATS.get(parameter.type.decode())
    if code is None:
        raise TypeError(f"argument '{parameter.name.decode()}': no number of Python's is a {parameter.type.decode()}")
    try:
        packed = struct.pack("<" + code, value)
    except (struct.error, OverflowError) as error:
        raise TypeError(f"argument '{parameter.name.decode()}': {error}") from None
    return int.from_bytes(packed, "little")


class Kernel(Callee):
    """Called with arrays and numbers; what it returns it makes, like the first array."""

    def __init__(self, table, name, arguments=None):
        self.table = table
        self.address = ctypes.addressof(table)
        self.kinds = [table.parameters[i] for i in range(table.parameter_count)]
        self.tensors = [table.tensors[i] for i in range(table.tensor_count)]
        names = [one.strip() for one in arguments.split(",")] if arguments else self.own_names()
        super().__init__(None, [one for one in names if one])
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{name}({', '.join(self.parameters)})"

    def own_names(self):
        """Tensors, then what comes with none of them."""
        hidden = set()
        for tensor in self.tensors:
            hidden |= {tensor.pointer, tensor.dtype_key}
            for extents in (tensor.shape, tensor.strides):
                hidden |= {extents[d] - SYMBOL - 1 for d in range(tensor.ndim) if extents and extents[d] < 0}
        rest = [one.name.decode() for i, one in enumerate(self.kinds) if i not in hidden]
        return [tensor.name.decode() for tensor in self.tensors if not tensor.is_result] + rest

    def prepare(self, ordinal=0):
        """Loads the code now: before graph capture, say."""
        native.check(native.prepare(self.address, ordinal))

    def make(self, args, kwargs):
        named = self.named(args, kwargs)
        missing = [name for name in self.parameters if name not in named]
        if missing or len(named) > len(self.parameters) or len(args) > len(self.parameters):
            raise TypeError(f"{self.__name__}({', '.join(self.parameters)}): {', '.join(missing) or 'too many arguments'}"
                            f"{' is missing' if missing else ''}")
        given = [name for name in self.parameters if arrays.facts_of(named[name]) is not None]
        order = [name for name in [*self.parameters[: len(args)], *kwargs] if name in given]
        facts = {name: arrays.facts_of(named[name]) for name in given}
        places = {name: i for i, name in enumerate(order)}
        if self.tensors:
            self.check(named, facts)
        arguments = [self.argument(i, named, facts, places) for i in range(len(self.kinds))]
        results = self.results(arguments, facts, order, len(order))
        told = {"launches": [{"kernel": self.address, "arguments": arguments}], "results": results,
                "values": [self.value(len(order), len(results))]}
        return self.finish(Plan(told, len(order)), args, kwargs, [facts[name] for name in order])

    @staticmethod
    def value(first, count):
        made = [{"array": first + i} for i in range(count)]
        return None if count == 0 else made[0] if count == 1 else {"tuple": made}

    def check(self, named, facts):
        """As the C entry does, with its messages."""
        tensors = []
        for tensor in self.tensors:
            name = tensor.name.decode()
            if tensor.is_result:
                tensors.append(None)
            elif name not in facts:
                raise TypeError(f"argument '{name}': an array is needed, not {named[name]!r}")
            else:
                tensors.append(facts[name].tensor())
        pointers = (ctypes.c_void_p * (len(tensors) + 1))(*[tensor and ctypes.addressof(tensor) for tensor in tensors])
        hidden = {self.kinds[i].name.decode() for i in self.hidden()}
        cells = [self.cell(one, named) for one in self.kinds if one.name.decode() in named and one.name.decode() not in hidden]
        others = (ctypes.c_void_p * (len(cells) + 1))(*[ctypes.addressof(cell) for cell in cells])
        native.check(native.plan_tensors(self.address, pointers, others, native.Plan()))

    def hidden(self):
        names = set(self.own_names())
        return [i for i, one in enumerate(self.kinds) if one.name.decode() not in names]

    @staticmethod
    def cell(parameter, named):
        value = named[parameter.name.decode()]
        facts = arrays.facts_of(value)
        return ctypes.c_uint64(facts.pointer if facts is not None else Kernel.key(parameter, value))

    @staticmethod
    def key(parameter, value):
        if parameter.kind == native.KEY_FLOAT:
            return int.from_bytes(struct.pack("<d", value), "little")
        if parameter.kind == native.KEY_TEXT:
            text = ctypes.create_string_buffer(value.encode())
            _texts.append(text)
            return ctypes.addressof(text)
        if parameter.kind >= native.KEY:
            return int(value) & (1 << 64) - 1
        return _bits(value, parameter)

    def argument(self, index, named, facts, places):
        parameter = self.kinds[index]
        name = parameter.name.decode()
        for number, tensor in enumerate(self.tensors):
            own = facts.get(tensor.name.decode())
            if tensor.pointer == index:
                result = sum([one.is_result for one in self.tensors[:number]])
                return {"array": len(places) + result if tensor.is_result else places[tensor.name.decode()]}
            if own is None:
                continue
            if tensor.dtype_key == index:
                return {"bits": own.code}
            for extents, values in ((tensor.shape, own.shape), (tensor.strides, own.strides)):
                for d in range(tensor.ndim):
                    if extents and extents[d] == SYMBOL + 1 + index:
                        return {"bits": values[d] & (1 << 64) - 1}
        if name in places:
            return {"array": places[name]}
        if name not in named:
            raise TypeError(f"{self.__name__}: nothing says what '{name}' is")
        if parameter.kind == native.KEY_TEXT:
            return {"text": named[name]}
        if parameter.kind == native.POINTER_KIND:
            if named[name] is not None and not isinstance(named[name], int):
                raise TypeError(f"argument '{name}': an array is needed, not {named[name]!r}")
            return {"bits": named[name] or 0}
        return {"bits": self.key(parameter, named[name])}

    def results(self, arguments, facts, order, given):
        made = [tensor for tensor in self.tensors if tensor.is_result]
        if not made:
            return []
        addresses = [facts[name].pointer for name in order]
        cells = (ctypes.c_uint64 * (len(arguments) + 1))()
        for i, one in enumerate(arguments):
            cells[i] = one.get("bits", 0) if "array" not in one else addresses[one["array"]] if one["array"] < given else 0
        start = ctypes.addressof(cells)
        pointers = (ctypes.c_void_p * (len(arguments) + 1))(*[start + 8 * i for i in range(len(arguments))])
        extents = (ctypes.c_int64 * sum([tensor.ndim for tensor in made]))()
        native.check(native.result_extents(self.address, pointers, extents))
        found, at = [], 0
        for tensor in made:
            code = tensor.dtype if tensor.dtype_key >= len(self.kinds) else arguments[tensor.dtype_key]["bits"]
            found.append({"dtype": code, "shape": list(extents[at : at + tensor.ndim])})
            at += tensor.ndim
        return found


_texts = []
