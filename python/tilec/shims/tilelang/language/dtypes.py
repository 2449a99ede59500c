"""Element types by their names."""

from tilelang import language as _language
from tilelang.types import NAMES as _all_dtypes  # noqa: F401
from tilelang.types import dtype


def is_float4(value):
    return dtype(value).is_float4()


def is_float4_e2m1fn(value):
    return dtype(value).is_float4_e2m1fn()


def is_float4_e2m1_unpacked(value):
    return dtype(value).is_float4_e2m1_unpacked()


def get_tvm_dtype(value):
    return dtype(value)


def resolve_torch_storage_dtype(value):
    """The type of the array of torch that keeps such elements."""
    name = str(dtype(value).as_torch()).removeprefix("torch.")
    return dtype({"float4_e2m1fn_x2": "float4_e2m1fnx2"}.get(name, name))


def __getattr__(name):
    if name == "_TORCH_DTYPE_TO_STR":
        import torch

        return {getattr(torch, one): one for one in _all_dtypes if isinstance(getattr(torch, one, None), torch.dtype)}
    found = getattr(_language, name)
    if not isinstance(found, dtype):
        raise AttributeError(name)
    return found
