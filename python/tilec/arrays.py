"""Arrays of other libraries: where they lie, what they are made of, and new ones like them.

An array is known by its address, a type code (DLPack's code, bits and lanes as one number), its shape and
its strides in elements. torch, numpy and CuPy are asked by their own attributes, which is quicker than
DLPack; whatever else there is by __dlpack__.
"""

import ctypes
import sys

from tilec import device as device_module
from tilec import native


def code_of(kind, bits):
    return kind << 24 | bits << 16 | 1


INT, UINT, FLOAT, BFLOAT, BOOL = 0, 1, 2, 4, 6
# By the names that numpy, ml_dtypes and torch use.
CODES = {
    "bool": code_of(BOOL, 8),
    "int8": code_of(INT, 8),
    "int16": code_of(INT, 16),
    "int32": code_of(INT, 32),
    "int64": code_of(INT, 64),
    "uint8": code_of(UINT, 8),
    "uint16": code_of(UINT, 16),
    "uint32": code_of(UINT, 32),
    "uint64": code_of(UINT, 64),
    "float16": code_of(FLOAT, 16),
    "float32": code_of(FLOAT, 32),
    "float64": code_of(FLOAT, 64),
    "bfloat16": code_of(BFLOAT, 16),
    "float8_e4m3fn": code_of(10, 8),
    "float8_e5m2": code_of(12, 8),
    "float8_e8m0fnu": code_of(14, 8),
}
NAMES = {code: name for name, code in CODES.items()}
# Of torch's alone, several elements to a byte: what kernels have of them is bytes, or elements.
BYTES = {"float4_e2m1fn_x2": "uint8"}
FLOAT4 = code_of(17, 4)
CPU, CUDA = 1, 2


class Facts:
    """What a call needs to know of an array."""

    __slots__ = ("pointer", "code", "shape", "strides", "device", "owner")

    def __init__(self, pointer, code, shape, strides, device, owner):
        self.pointer = pointer
        self.code = code
        self.shape = shape
        self.strides = strides
        self.device = device
        self.owner = owner

    def key(self):
        return self.code, self.shape, self.strides

    def tensor(self):
        """A DLTensor, which keeps alive what it points to."""
        rank = len(self.shape)
        shape, strides = (ctypes.c_int64 * (rank + 1))(*self.shape), (ctypes.c_int64 * (rank + 1))(*self.strides)
        kind = native.DataType(self.code >> 24, self.code >> 16 & 0xFF, self.code & 0xFFFF)
        made = native.Tensor(self.pointer, native.Device(*self.device), rank, kind, shape, strides, 0)
        made.kept = shape, strides
        return made


def packed(shape):
    strides = []
    stride = 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= extent
    return tuple(strides)


# ---- the libraries ----

_torch_codes = {}


def _torch_facts(x):
    code = _torch_codes.get(x.dtype)
    if code is None:
        name = str(x.dtype).removeprefix("torch.")
        name = BYTES.get(name, name)
        if name not in CODES:
            raise TypeError(f"no kernel takes a torch tensor of {name}")
        code = _torch_codes[x.dtype] = CODES[name]
    on_gpu = x.device.type == "cuda" and not device_module.is_emulator()
    device = (CUDA, x.device.index or 0) if on_gpu else (CPU, 0)
    return Facts(x.data_ptr(), code, tuple(x.shape), x.stride(), device, x)


def _numpy_facts(x):
    size = x.itemsize
    code = CODES.get(x.dtype.name)
    if code is None:
        raise TypeError(f"no kernel takes a numpy array of {x.dtype.name}")
    strides = tuple([stride // size for stride in x.strides])
    return Facts(x.__array_interface__["data"][0], code, x.shape, strides, (CPU, 0), x)


def _cupy_facts(x):
    strides = tuple([stride // x.itemsize for stride in x.strides])
    return Facts(x.data.ptr, CODES[x.dtype.name], x.shape, strides, (CUDA, x.device.id), x)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", native.Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _dlpack_facts(x):
    if hasattr(x, "block_until_ready"):  # JAX computes on streams of its own
        x.block_until_ready()
    capsule = x.__dlpack__()
    tensor = _Managed.from_address(_capsule_pointer(capsule, b"dltensor")).tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else packed(shape)
    code = tensor.dtype.code << 24 | tensor.dtype.bits << 16 | tensor.dtype.lanes
    device = tensor.device.device_type, tensor.device.device_id
    return Facts((tensor.data or 0) + tensor.byte_offset, code, shape, strides, device, (x, capsule))


# By the type of what is given: how it is asked, None for what is no array.
_askers = {}


def _asker(kind):
    for base in kind.__mro__:
        module, name = base.__module__.partition(".")[0], base.__name__
        if module == "torch" and name == "Tensor":
            return _torch_facts
        if module == "numpy" and name == "ndarray":
            return _numpy_facts
        if module == "cupy" and name == "ndarray":
            return _cupy_facts
    if hasattr(kind, "__tile_facts__"):
        return kind.__tile_facts__
    module = kind.__module__.partition(".")[0]
    return _dlpack_facts if hasattr(kind, "__dlpack__") and module != "numpy" else None


def facts_of(x):
    """None: it is no array."""
    kind = type(x)
    try:
        ask = _askers[kind]
    except KeyError:
        ask = _askers[kind] = _asker(kind)
    return None if ask is None else ask(x)


# ---- new arrays ----


def _named_type(module, code, what):
    name = NAMES.get(code)
    found = getattr(module, name, None)
    if found is None and module.__name__ == "numpy":
        import ml_dtypes  # numpy alone has no such type

        found = getattr(ml_dtypes, name, None)
    if found is None:
        raise TypeError(f"{what} has no element type {name or hex(code)}")
    return found


def _bare(owner):
    return owner[0] if isinstance(owner, tuple) else owner


JAX = ("jax", "jaxlib")


def library_of(thing):
    """The package that the type of an array is from: "torch", "cupy", one of JAX, ..."""
    return type(thing).__module__.partition(".")[0]


def empty_like(model, code, shape):
    """An array of the library and on the device of `model`, facts or None."""
    owner = None if model is None else _bare(model.owner)
    bits, asked = code >> 16 & 0xFF, code
    if bits < 8:  # several to a byte
        code, shape = CODES["int8"], tuple(shape[:-1]) + ((shape[-1] * bits + 7) // 8,)
    library = "" if owner is None else library_of(owner)
    if hasattr(type(owner), "__tile_empty__"):
        return owner.__tile_empty__(code, shape)
    if library == "cupy":
        return sys.modules["cupy"].empty(shape, _named_type(sys.modules["cupy"], code, "CuPy"))
    if library in JAX:
        jax = sys.modules["jax"]
        dtype = _named_type(jax.numpy, code, "JAX")
        return jax.device_put(jax.numpy.empty(shape, dtype), owner.device)
    torch = sys.modules.get("torch")
    if torch is None and owner is None and not device_module.is_emulator():
        import torch  # numpy's arrays are in the host's memory
    if torch is not None and (owner is None or isinstance(owner, torch.Tensor)):
        device = ("cpu" if device_module.is_emulator() else "cuda") if owner is None else owner.device
        packed = getattr(torch, "float4_e2m1fn_x2", None) if asked == FLOAT4 else None
        made = torch.empty(shape, dtype=packed or _named_type(torch, code, "torch"), device=device)
        if owner is None and device_module.is_emulator():
            made._tile_on_gpu = True  # where the emulator is a program's GPU
        return made
    import numpy

    return numpy.empty(shape, _named_type(numpy, code, "numpy"))


def check_place(facts):
    """A GPU that is given an array of the host's faults, and its context with it."""
    if facts.device[0] == CPU and not device_module.is_emulator():
        owner = _bare(facts.owner)
        if not (library_of(owner) == "torch" and owner.is_pinned()):
            raise TypeError(f"an array of shape {tuple(facts.shape)} is in the host's memory, and the kernel runs on the GPU: move it there")


def waits(facts):
    """Whether the library works on streams that nobody else knows: what it does later would not wait for a launch."""
    return facts is not None and facts.device[0] == CUDA and library_of(_bare(facts.owner)) in JAX


def current_stream(facts):
    """That of the library, on the device where the array is; None: the default one."""
    if facts is None or facts.device[0] != CUDA:
        return None
    owner = _bare(facts.owner)
    kind = library_of(owner)
    if kind == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr or None
    if kind == "torch":
        return sys.modules["torch"].cuda.current_stream(owner.device).cuda_stream or None
    return getattr(owner, "__tile_stream__", None)
