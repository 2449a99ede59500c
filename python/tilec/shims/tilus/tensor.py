"""Host tensors of any element type, several to a byte included: memory of torch's, and what is in it."""

import tilec.arrays as _arrays
from tilec import modules as _modules
from tilec.session import Remote
from tilus.utils import dtype_from_torch, dtype_to_torch

_KINDS = {"bool": _arrays.BOOL, "int": _arrays.INT, "uint": _arrays.UINT, "float": _arrays.FLOAT, "bfloat": _arrays.BFLOAT}
_LOW = {"float8_e4m3": 10, "float8_e5m2": 12, "float4_e2m1": 17}

_UNKNOWN = 3, 5, 6, 7  # numbers of so many bits are the dialect's own: kernels get them as bytes


def _code(dtype):
    name = str(dtype)
    nbits = int(dtype.nbits)
    kind = _LOW.get(name, _KINDS.get(name.rstrip("0123456789b").split("_")[0].rstrip("0123456789"), _arrays.UINT))
    return _arrays.code_of(kind, max(nbits, 8) if name.startswith("bool") else nbits)


class Address(int):
    """The number that a kernel is called with in the place of a tensor."""

    def __tile_facts__(self):
        return self.tensor.__tile_facts__()


class Tensor:
    """`storage` is a torch tensor of bytes, packed."""

    def __init__(self, dtype, shape, storage):
        self.dtype = dtype
        self.shape = tuple(shape)
        self.storage = storage

    @property
    def nbytes(self):
        return _nbytes(self.dtype, self.shape)

    def __tile_facts__(self):
        device = (_arrays.CUDA, self.storage.device.index or 0) if self.storage.is_cuda and self.storage.device.type == "cuda" else (
            _arrays.CPU, 0)
        code, shape = _code(self.dtype), self.shape
        if int(self.dtype.nbits) in _UNKNOWN:
            code, shape = _arrays.code_of(_arrays.UINT, 8), (self.nbytes,)
        return _arrays.Facts(self.storage.data_ptr(), code, shape, _arrays.packed(shape), device, self)

    def view(self, *, dtype=None, shape=None):
        dtype = self.dtype if dtype is None else dtype
        if shape is None:
            bits = self.shape[-1] * int(self.dtype.nbits) if self.shape else int(self.dtype.nbits)
            if bits % int(dtype.nbits):
                raise ValueError(f"rows of {bits} bits are no {dtype}")
            shape = (*self.shape[:-1], bits // int(dtype.nbits)) if self.shape else ()
        if _nbits(dtype, shape) != _nbits(self.dtype, self.shape):
            raise ValueError(f"{self.dtype}{list(self.shape)} is not {dtype}{list(shape)}")
        return Tensor(dtype, shape, self.storage)

    def storage_ptr(self):
        made = Address(self.storage.data_ptr())
        made.tensor = self
        return made

    data_ptr = storage_ptr

    def torch(self):
        return self.storage.view(dtype_to_torch(self.dtype)).reshape(self.shape)

    def clone(self):
        return Tensor(self.dtype, self.shape, self.storage.clone())

    def to(self, dtype=None, device=None):
        if dtype is None:
            return self
        if _is_whole(self.dtype) and _is_whole(dtype):
            return from_torch(self.torch().to(dtype_to_torch(dtype)))
        return _converted(self, dtype)

    def __repr__(self):
        try:
            return f"Tensor({self.torch()!r}, dtype={self.dtype})"
        except (AttributeError, RuntimeError):
            return f"Tensor(shape={self.shape}, dtype={self.dtype})"


def _nbits(dtype, shape):
    count = int(dtype.nbits)
    for extent in shape:
        count *= extent
    return count


def _nbytes(dtype, shape):
    return (_nbits(dtype, shape) + 7) // 8


def from_torch(given):
    import torch

    return Tensor(dtype_from_torch(given.dtype), given.shape, given.contiguous().view(-1).view(torch.uint8))


def tensor_view(given, dtype, shape):
    return from_torch(given).view(dtype=dtype, shape=shape)


def view_torch(torch_tensor, *, dtype, shape):
    return tensor_view(torch_tensor, dtype, shape)


def _is_whole(dtype):
    """Whether torch computes with it: of types that share bytes it has names alone."""
    try:
        dtype_to_torch(dtype)
        return int(dtype.nbits) >= 8
    except AttributeError:
        return False


def _converted(given, dtype):
    """As the kernel of Tilus's own package converts."""
    import tilus

    return given if given.dtype == dtype else tilus.kernels.cast(given, dtype)


def empty(shape, dtype=None, device="cuda"):
    import torch

    dtype = dtype_from_torch(torch.float32) if dtype is None else dtype
    return Tensor(dtype, shape, torch.empty(_nbytes(dtype, shape), dtype=torch.uint8, device=device))


def zeros(shape, dtype=None, device="cuda"):
    made = empty(shape, dtype, device)
    made.storage.zero_()
    return made


def full(shape, fill_value, dtype=None, device="cuda"):
    import torch

    if isinstance(dtype, Remote) and _is_whole(dtype):
        kind = dtype_to_torch(dtype)
        signed = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}.get(kind)
        if signed is None:
            return from_torch(torch.full(tuple(shape), fill_value, dtype=kind, device=device))
        bits = 8 * torch.empty(0, dtype=kind).element_size()  # torch fills none of these on a GPU
        value = (int(fill_value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
        return from_torch(torch.full(tuple(shape), value, dtype=signed, device=device).view(kind))
    if fill_value == 0:
        return zeros(shape, dtype, device)
    return _converted(from_torch(torch.full(tuple(shape), float(fill_value), device=device)), dtype)


def ones(shape, dtype=None, device="cuda"):
    return full(shape, 1, dtype, device)


def _random(make, dtype):
    import torch

    dtype = dtype_from_torch(torch.float32) if dtype is None else dtype
    made = make()
    return from_torch(made.to(dtype_to_torch(dtype))) if _is_whole(dtype) else _converted(from_torch(made), dtype)


def rand(shape, dtype=None, device="cuda"):
    import torch

    return _random(lambda: torch.rand(tuple(shape), device=device), dtype)


def randn(shape, dtype=None, device="cuda"):
    import torch

    return _random(lambda: torch.randn(tuple(shape), device=device), dtype)


def randint(low, high, shape, dtype=None, device="cuda"):
    import torch

    return _random(lambda: torch.randint(low, high, tuple(shape), dtype=torch.int32, device=device), dtype)


_modules.become(__name__)
