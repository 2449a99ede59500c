"""Times of kernels, and their results beside those of a reference."""

import enum

from tilec import kernels as _kernels
from tilec import native


class TensorSupplyType(enum.Enum):
    Integer = 1
    Uniform = 2
    Normal = 3
    Randn = 4
    Zero = 5
    One = 6
    Auto = 7


_DISTRIBUTIONS = {
    TensorSupplyType.Uniform: lambda made: made.uniform_(-1, 1),
    TensorSupplyType.Normal: lambda made: made.normal_(-1, 1),
    TensorSupplyType.Randn: lambda made: made.normal_(),
}


def get_tensor_supply(supply_type=TensorSupplyType.Auto):
    """A function that makes a tensor for a parameter."""
    import torch

    def supply(param):
        kind = param.torch_dtype() if hasattr(param, "torch_dtype") else param.dtype
        shape = [int(extent) for extent in param.shape]
        device = "cuda" if torch.cuda.is_available() else torch.empty(0).device
        filled = supply_type in (TensorSupplyType.Zero, TensorSupplyType.One)
        if filled or (kind == torch.int8 and supply_type in (TensorSupplyType.Uniform, TensorSupplyType.Normal)):
            return torch.full(shape, int(supply_type != TensorSupplyType.Zero), dtype=kind, device=device)
        if supply_type in _DISTRIBUTIONS:
            return _DISTRIBUTIONS[supply_type](torch.empty(shape, dtype=torch.float32, device=device)).to(kind)
        if supply_type == TensorSupplyType.Auto and kind in (torch.float16, torch.float32, torch.bfloat16):
            return torch.empty(shape, dtype=torch.float32, device=device).uniform_(-1, 1).to(kind)
        first, end = -2, 3
        if kind == torch.bool:
            first, end = 0, 2
        elif not kind.is_signed:
            first, end = 0, 3
        elif kind.is_floating_point and torch.empty(0, dtype=kind).element_size() == 1:
            first, end = -128, 128
        return torch.randint(first, end, shape, device=device).to(kind)

    return supply


def do_bench(fn, warmup=25, rep=100, _n_warmup=0, _n_repeat=0, grad_to_none=None, quantiles=None, fast_flush=True, backend="event",
             return_mode="mean", n_warmup=None, n_repeat=None, **options):
    """Milliseconds of a call."""
    found = _kernels.times(fn, warmup, rep, n_warmup or _n_warmup or None, n_repeat or _n_repeat or None)
    return _kernels.summary(found, quantiles, return_mode)


def _as_list(given):
    if given is None:
        return []
    return list(given) if isinstance(given, (tuple, list)) else [given]


class Profiler:
    def __init__(self, kernel, supply_type=None):
        self.kernel = kernel
        self.func = kernel
        self.adapter = kernel
        self.supply_type = supply_type or TensorSupplyType.Auto

    @property
    def supply(self):
        return get_tensor_supply(self.supply_type)

    @property
    def params(self):
        return self.kernel.params

    @property
    def result_idx(self):
        return [i for i, param in enumerate(self.params) if param.is_result]

    def _get_inputs(self, with_output=False, dynamic_symbolic_constraints=None):
        given = dynamic_symbolic_constraints or {}
        made = []
        for param in self.params:
            if param.is_result and not with_output:
                continue
            for extent in param.shape:
                if not isinstance(extent, int) and extent not in given:
                    raise ValueError(f"the extent {extent!r} of {param.name!r} is known at the call: pass input_tensors, "
                                     "or dynamic_symbolic_constraints")
            param.shape = [extent if isinstance(extent, int) else given[extent] for extent in param.shape]
            made.append(self.supply(param))
        return made

    def __call__(self, *args, **kwargs):
        return self.func(*args, **kwargs)

    def run_once(self, func=None):
        return (func or self.func)(*self._get_inputs())

    def do_bench(self, func=None, warmup=25, rep=100, n_warmup=None, n_repeat=None, input_tensors=None, backend="event",
                 quantiles=None, return_mode="mean", dynamic_symbolic_constraints=None, **options):
        function = func or self.func
        given = input_tensors if input_tensors is not None else self._get_inputs(
            dynamic_symbolic_constraints=dynamic_symbolic_constraints)
        return do_bench(lambda: function(*given), warmup, rep, n_warmup=n_warmup, n_repeat=n_repeat, quantiles=quantiles,
                        return_mode=return_mode)

    def assert_allclose(self, reference_program, input_tensors=None, atol=1e-2, rtol=1e-2, max_mismatched_ratio=0.01):
        from tilelang.utils.tensor import torch_assert_close

        given = self._get_inputs() if input_tensors is None else input_tensors
        expected = _as_list(reference_program(*given))
        found = _as_list(self.func(*given))
        if len(expected) != len(found):
            raise AssertionError(f"the kernel gives {len(found)} tensors, the reference {len(expected)}")
        for one, other in zip(found, expected):
            if one is not None and other is not None:
                torch_assert_close(one, other, rtol=rtol, atol=atol, max_mismatched_ratio=max_mismatched_ratio)

    def manual_assert_close(self, reference_program, input_tensors=None, manual_check_prog=None):
        given = self._get_inputs() if input_tensors is None else input_tensors
        manual_check_prog(_as_list(self.func(*given)), _as_list(reference_program(*given)))

    def assert_consistent(self, repeat=10):
        import torch

        given = self._get_inputs()
        first = _as_list(self.func(*given))
        for _ in range(repeat):
            for one, other in zip(_as_list(self.func(*given)), first):
                if not torch.equal(one, other):
                    raise AssertionError("two runs differ")


__all__ = ["Profiler", "TensorSupplyType", "do_bench", "get_tensor_supply", "native"]
