"""Memory that is handed to other libraries, and taken from them, by DLPack."""

import ctypes

from tilec import arrays as _arrays
from warp import types as _types
from warp.types import as_type, element_type, inner_shape

_Managed = _arrays._Managed
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, _Destructor]
_has_name = ctypes.pythonapi.PyCapsule_IsValid
_has_name.restype, _has_name.argtypes = ctypes.c_int, [ctypes.c_void_p, ctypes.c_char_p]
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_UNUSED, _USED = b"dltensor", b"used_dltensor"
_lent = {}  # by the address of what is told of each: what it keeps


# What they use are values of their own: other libraries call them when modules are gone, too.
def _return(address, lent=_lent):
    lent.pop(address, None)


def _drop(capsule, lent=_lent, has_name=_has_name, pointer=_pointer, unused=_UNUSED):
    """A capsule that nobody took."""
    if has_name(capsule, unused):
        lent.pop(pointer(capsule, unused), None)


def _kept_for_good(function, kind):
    """As a C function, which the collection at the interpreter's end leaves alone: memory that is collected then is given back by it."""
    made = kind(function)
    for one in (made, function):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(one))
    return made


_return, _drop = _kept_for_good(_return, _Deleter), _kept_for_good(_drop, _Destructor)


def to_dlpack(array):
    facts = array.__tile_facts__()
    if isinstance(array.dtype, _types.Struct):
        raise TypeError("arrays of structs have no DLPack type")
    rank = len(facts.shape)
    shape, strides = (ctypes.c_int64 * max(rank, 1))(*facts.shape), (ctypes.c_int64 * max(rank, 1))(*facts.strides)
    made = _Managed()
    tensor = made.tensor
    tensor.data, tensor.ndim, tensor.byte_offset = facts.pointer, rank, 0
    tensor.device.device_type, tensor.device.device_id = facts.device
    tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes = facts.code >> 24, facts.code >> 16 & 0xFF, facts.code & 0xFFFF
    tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    made.deleter = ctypes.cast(_return, ctypes.c_void_p)
    address = ctypes.addressof(made)
    _lent[address] = made, shape, strides, array
    return _new(address, _UNUSED, _drop)


class _Taken:
    """A capsule's memory, given back when nothing looks at it any more."""

    def __init__(self, address):
        self.address = address

    def __del__(self):
        if None in (_Managed, _Deleter):  # the interpreter is shutting down, and the process gives all of it back
            return
        deleter = _Managed.from_address(self.address).deleter
        if deleter:
            _Deleter(deleter)(self.address)


def _name_of(code):
    kind, bits = code >> 24, code >> 16 & 0xFF
    return {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}.get(kind, f"type {kind} of ") + str(bits)


def _fits(code, number):
    """Whether memory of the DLPack type may be seen as such numbers."""
    own = _arrays.CODES["bool" if number is _types.bool else number.__name__]
    whole = {code >> 24, own >> 24} <= {0, 1, 6}
    return code == own or whole and code & 0xFFFFFF == own & 0xFFFFFF


def _from_dlpack(capsule, dtype=None):
    from warp import arrays, devices

    if type(capsule).__name__ != "PyCapsule":
        raise TypeError(f"Expected a valid DLPack capsule, got {type(capsule).__name__}")
    if not _has_name(id(capsule), _UNUSED):
        raise TypeError("Expected a valid DLPack capsule: this one was taken before")
    address = _arrays._capsule_pointer(capsule, _UNUSED)
    tensor = _Managed.from_address(address).tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else _arrays.packed(shape)
    code = tensor.dtype.code << 24 | tensor.dtype.bits << 16 | tensor.dtype.lanes
    if dtype is None:
        if code not in _arrays.NAMES:
            raise RuntimeError(f"no type of Warp's is {_name_of(code)}")
        dtype = as_type(_types.by_dtype_name(_arrays.NAMES[code]))
    kind = as_type(dtype)
    number, inner = getattr(kind, "_dtype", kind), inner_shape(kind)
    if not _fits(code, number):
        raise RuntimeError(f"Incompatible data types: DLPack {_name_of(code)} and Warp {_types.type_repr(kind)}")
    outer = shape[: len(shape) - len(inner)]
    if shape[len(outer) :] != inner or inner and strides[len(outer) :] != _arrays.packed(inner):
        raise RuntimeError(f"Could not convert DLPack tensor with shape {shape} to Warp array with dtype={_types.type_repr(kind)}, "
                           f"ensure that source inner shape is {inner}")
    size = element_type(kind).itemsize
    device = tensor.device.device_type, tensor.device.device_id
    _rename(capsule, _USED)
    facts = _arrays.Facts((tensor.data or 0) + tensor.byte_offset, code, shape, strides, device, None)
    reach = (sum([(extent - 1) * stride for extent, stride in zip(shape, strides)]) + 1) * size if all(shape) else 0
    made = object.__new__(arrays.array)
    on_gpu = device[0] == _arrays.CUDA
    made.device = devices.get_device("cuda:0" if on_gpu or devices.get_device(None)._on_gpu is False else "cpu")
    made._grad, made._asked, made._retains = None, False, False
    return made._see(arrays._Foreign(facts, reach, _Taken(address)), 0, kind, outer, [stride * size for stride in strides[: len(outer)]])


_PINNED, _MANAGED = 3, 13


def from_dlpack(source, dtype=None):
    """An array of the memory of a capsule, or of what gives one."""
    if hasattr(source, "__dlpack__"):
        device = source.__dlpack_device__() if hasattr(source, "__dlpack_device__") else (_arrays.CPU, 0)
        if device[0] not in (_arrays.CPU, _arrays.CUDA, _PINNED, _MANAGED):
            raise TypeError(f"Unsupported source device for DLPack: device_type={int(device[0])}, device_id={int(device[1])}")
        source = source.__dlpack__()
    return _from_dlpack(source, dtype)


def check_stream(device, stream):
    """What another library says that it works on."""
    whole = isinstance(stream, int) and not isinstance(stream, bool)
    if device.is_cpu and stream is not None and stream != -1:
        raise TypeError("DLPack stream must be None or -1 for CPU device")
    if stream is not None and not (whole and stream >= -1):
        raise TypeError("DLPack stream must None or an integer >= -1")


__all__ = ["from_dlpack", "to_dlpack"]
