"""What programs use of tilelang.utils."""

from tilelang.utils.tensor import TensorSupplyType, get_tensor_supply, torch_assert_close  # noqa: F401
