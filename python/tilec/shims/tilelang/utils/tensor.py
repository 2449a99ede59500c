"""Comparisons of tensors, as TileLang's own tests make them."""

from tilelang.profiler import TensorSupplyType, get_tensor_supply  # noqa: F401


def is_float8_dtype(kind):
    return "float8" in str(kind)


def torch_assert_close(tensor_a, tensor_b, rtol=1e-2, atol=1e-3, max_mismatched_ratio=0.001, verbose=False, equal_nan=True,
                       check_device=True, check_dtype=True, check_layout=True, check_stride=False, base_name="LHS", ref_name="RHS"):
    """The shapes are equal, and no more than that share of the elements differs by more than atol + rtol * |b|."""
    import torch

    if tensor_a.shape != tensor_b.shape:
        raise AssertionError(f"shapes differ: {tuple(tensor_a.shape)} and {tuple(tensor_b.shape)}")
    if check_dtype and tensor_a.dtype != tensor_b.dtype:
        raise AssertionError(f"types differ: {tensor_a.dtype} and {tensor_b.dtype}")
    a, b = tensor_a.detach().to(torch.float64), tensor_b.detach().to(tensor_a.device).to(torch.float64)
    far = ~torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    count, total = int(far.sum()), a.numel()
    if count > int(total * max_mismatched_ratio):
        place = tuple([int(i) for i in far.nonzero()[0]])
        raise AssertionError(f"{count} of {total} elements differ, the first at {list(place)}: {float(a[place])} ({base_name}), "
                             f"{float(b[place])} ({ref_name}); {max_mismatched_ratio:.2%} may")
    return True
