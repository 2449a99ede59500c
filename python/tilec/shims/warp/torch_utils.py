"""What warp.utils does with arrays of a GPU, where there is torch: there, on Warp's stream, and as a part of torch's graphs too."""

import contextlib
import importlib.util
import sys

from tilec import device as _device
from warp import arrays as _arrays
from warp import devices as _devices
from warp import types as _types

_WORTH_AN_IMPORT = 1 << 16  # elements
_NUMBERS = tuple([getattr(_types, name) for name in ("int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")])
_INTEGERS = {4: _types.int32, 8: _types.int64}


def library(*given):
    """torch, where all these arrays are a GPU's and torch can see them; None: they are worked on by numpy."""
    if not all([isinstance(one, _arrays.array) and one.device.is_cuda and all([stride >= 0 for stride in one.strides]) for one in given]):
        return None
    if "torch" not in sys.modules and (max([one.size for one in given]) < _WORTH_AN_IMPORT or importlib.util.find_spec("torch") is None):
        return None
    import torch

    return torch


def has_numbers(*given):
    return all([_types.type_scalar_type(one.dtype) in _NUMBERS for one in given])


@contextlib.contextmanager
def _work(torch):
    with torch.no_grad():
        if _device.is_emulator():
            yield
        else:
            with torch.cuda.stream(_devices.stream_to_torch(_devices.get_cuda_device())):
                yield


def _tensor(array):
    from torch.utils import dlpack

    return dlpack.from_dlpack(array.__dlpack__())


def scan(torch, source, out, inclusive):
    with _work(torch):
        values, out = _tensor(source), _tensor(out)
        sums = torch.cumsum(values, 0, dtype=values.dtype)
        if inclusive:
            out.copy_(sums)
        else:
            out[1:].copy_(sums[:-1])
            out[:1].zero_()


def _ordered(torch, array):
    """Integers of the keys' size, with a sign, in the order of the keys."""
    bits = _tensor(array.view(_INTEGERS[array.itemsize]))
    info = torch.iinfo(bits.dtype)
    if array.dtype in (_types.uint32, _types.uint64):
        return bits ^ info.min
    return bits ^ (bits >> (info.bits - 1) & info.max) if array.dtype in (_types.float32, _types.float64) else bits


def _put(torch, array, count, order):
    part = _tensor(array.view(_INTEGERS[array.itemsize]))[:count]
    part.copy_(torch.index_select(part, 0, order))


def sort_pairs(torch, keys, values, count, begin_bit, end_bit):
    with _work(torch):
        by = _ordered(torch, keys)[:count]
        if end_bit - begin_bit < 8 * keys.itemsize:
            by = (by ^ torch.iinfo(by.dtype).min) >> begin_bit & (1 << (end_bit - begin_bit)) - 1
        order = torch.sort(by, stable=True).indices
        _put(torch, keys, count, order)
        _put(torch, values, count, order)


def sort_segments(torch, keys, values, count, starts, ends):
    """Each element has the number of its segment, and one that is in none a number of its own: so it stays."""
    with _work(torch):
        begins = _tensor(starts).long()
        begins, stops = (begins[:-1], begins[1:]) if ends is None else (begins, _tensor(ends).long())
        real = ((begins >= 0) & (begins < stops) & (stops <= count)).int()
        begins, stops = [torch.clamp(one, 0, count) for one in (begins, stops)]
        changes = torch.zeros(count + 1, dtype=torch.int32, device=real.device)
        inside = torch.cumsum(changes.index_add(0, begins, real).index_add(0, stops, -real), 0) > 0
        edges = changes.index_add(0, begins, real).index_add(0, stops, real) > 0
        segment = torch.cumsum((edges | ~inside)[:count], 0)
        order = torch.sort(_ordered(torch, keys)[:count], stable=True).indices
        order = torch.index_select(order, 0, torch.sort(torch.index_select(segment, 0, order), stable=True).indices)
        _put(torch, keys, count, order)
        _put(torch, values, count, order)


def encode(torch, values, run_values, run_lengths, count):
    """How many runs there are, as a tensor."""
    with _work(torch):
        known = _tensor(values)[:count]
        begins = torch.ones_like(known, dtype=torch.bool)
        begins[1:] = known[1:] != known[:-1]
        run = torch.cumsum(begins, 0) - 1
        _tensor(run_values)[:count].scatter_(0, run, known)
        lengths = torch.zeros_like(known).scatter_add_(0, run, torch.ones_like(known))
        out = _tensor(run_lengths)[:count]
        out.copy_(torch.where(lengths > 0, lengths, out))
        return begins.sum(dtype=known.dtype)


def store(torch, out, found):
    with _work(torch):
        _tensor(out).fill_(found)


def total(torch, given, count, axis, inner):
    """The sum of an array's elements, or of two arrays' products, as a tensor."""
    with _work(torch):
        made = _tensor(given[0])
        if len(given) == 2:
            made = made * _tensor(given[1])
            for _ in _types.inner_shape(given[0].dtype):
                made = made.sum(dim=-1)
        if axis is None:
            flat = made.reshape((-1,) + inner)
            return (flat if count is None else flat[:count]).sum(dim=0)
        if count is not None:
            made = made.narrow(axis, 0, min(count, made.shape[axis]))
        return made.sum(dim=axis, keepdim=True)


def put_total(torch, out, given, count, axis, inner):
    with _work(torch):
        made = total(torch, given, count, axis, inner)
        _tensor(out).copy_(made.reshape(out.shape + inner))


def cast(torch, source, out, numbers):
    with _work(torch):
        target, values = _tensor(out), _tensor(source).reshape(-1)[:numbers]
        if target.is_contiguous():
            target.view(-1)[:numbers].copy_(values)
        else:
            flat = target.reshape(-1)
            flat[:numbers] = values.to(target.dtype)
            target.copy_(flat.view(target.shape))
