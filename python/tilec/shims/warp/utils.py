"""warp.utils: sorts, scans and sums of arrays, by numpy on the host's side of them."""

import hashlib
import operator

import numpy

from warp import arrays as _arrays
from warp import graphs as _graphs
from warp import types as _types
from warp.coloring import (  # noqa: F401
    GraphColoringAlgorithm, graph_coloring_assign, graph_coloring_balance, graph_coloring_get_groups,
)
from warp.devices import ScopedDevice, ScopedStream, ScopedTimer  # noqa: F401


def _named(kind):
    return _types.type_repr(kind)


def _same_device(a, b, what):
    if a.device != b.device:
        raise RuntimeError(f"{what} devices do not match ({a.device} vs {b.device})")


def _scalar(array):
    return _types.type_scalar_type(array.dtype)


def _elements(array):
    """A copy of all elements, whatever the array's shape, along one dimension."""
    return array.numpy().copy().reshape((-1,) + _types.inner_shape(array.dtype))


def _store(array, elements):
    array.store(elements.reshape(array.shape + _types.inner_shape(array.dtype)))


# ---- scans ----


_SCANNED = {_types.int32: "int", _types.int64: "int64", _types.float32: "float", _types.float64: "double"}


@_graphs.recorded
def array_scan(in_array, out_array, inclusive=True):
    """Sums of all elements so far; without the own one if it is exclusive."""
    _same_device(in_array, out_array, "In and out array storage")
    if in_array.size != out_array.size:
        raise RuntimeError(f"In and out array storage sizes do not match ({in_array.size} vs {out_array.size})")
    if not _types.types_equal(in_array.dtype, out_array.dtype):
        raise RuntimeError(f"In and out array data types do not match ({_named(in_array.dtype)} vs {_named(out_array.dtype)})")
    if _scalar(in_array) not in _SCANNED:
        raise RuntimeError(f"Unsupported data type: {_named(in_array.dtype)}")
    if in_array.size == 0:
        return
    from warp._src import context  # whose functions a program may have put others in the place of

    kind, place = _scalar(in_array), "device" if in_array.device.is_cuda else "host"
    if not getattr(context.runtime.core, f"wp_array_scan_{_SCANNED[kind]}_{place}")(in_array, out_array, inclusive):
        raise RuntimeError(f"the sums of an array of {_named(in_array.dtype)} could not be computed on {in_array.device}")


def scan(in_array, out_array, inclusive):
    values = _elements(in_array)
    sums = numpy.cumsum(values, axis=0, dtype=values.dtype)
    if not inclusive:
        sums = numpy.concatenate([numpy.zeros_like(sums[:1]), sums[:-1]])
    _store(out_array, sums)
    return True


# ---- sorts ----

_KEYS = (_types.int32, _types.uint32, _types.float32, _types.int64, _types.uint64, _types.float64)


def _ordered_bits(keys, signs=True):
    """Whole numbers in the order of the keys."""
    if keys.dtype.kind == "u":
        return keys
    bits = keys.view(f"u{keys.itemsize}")
    top = bits.dtype.type(1 << (8 * keys.itemsize - 1))
    return bits ^ top if keys.dtype.kind == "i" else numpy.where(bits & top, ~bits, bits | top)


@_graphs.recorded
def radix_sort_pairs(keys, values, count, begin_bit=0, end_bit=None):
    """Sorts the first `count` keys, stably, and the values with them; by some of the keys' bits, if that is said."""
    _same_device(keys, values, "Keys and values array storage")
    bits = 8 * keys.itemsize
    end_bit = bits if end_bit is None else end_bit
    if not 0 <= begin_bit <= end_bit <= bits:
        raise RuntimeError(f"Invalid radix sort bit range [{begin_bit}, {end_bit}) for {bits}-bit keys")
    kinds = f"{_named(keys.dtype)}, {_named(values.dtype)}"
    for name, array in (("keys", keys), ("values", values)):
        if not array.is_contiguous:
            raise RuntimeError(f"radix_sort_pairs() requires a contiguous {name} array, got non-contiguous {name} with data types: {kinds}")
    if count == 0:
        return
    if keys.size < 2 * count or values.size < 2 * count:
        raise RuntimeError("Keys and values array storage must be large enough to contain 2*count elements")
    if keys.dtype not in _KEYS or values.dtype not in _KEYS:
        raise RuntimeError(f"Unsupported keys and values data types: {kinds}")
    all_keys, all_values = _elements(keys), _elements(values)
    by = _ordered_bits(all_keys[:count])
    if end_bit - begin_bit < bits:
        by = by >> by.dtype.type(begin_bit) & by.dtype.type((1 << (end_bit - begin_bit)) - 1)
    order = numpy.argsort(by, kind="stable")
    all_keys[:count], all_values[:count] = all_keys[:count][order], all_values[:count][order]
    _store(keys, all_keys)
    _store(values, all_values)


@_graphs.recorded
def segmented_sort_pairs(keys, values, count, segment_start_indices, segment_end_indices=None):
    """The same of each part by itself: from a start to its end, or to the next start."""
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise TypeError(f"count must be an integer, got {type(count).__name__}")
    count = operator.index(count)
    if count < 0:
        raise ValueError(f"count must be non-negative, got {count}")
    if count > (1 << 31) - 1:
        raise ValueError(f"count must not exceed {(1 << 31) - 1}, got {count}")
    given = {"keys": keys, "values": values, "segment_start_indices": segment_start_indices, "segment_end_indices": segment_end_indices}
    given = {name: array for name, array in given.items() if array is not None}
    if len({str(array.device) for array in given.values()}) > 1:
        raise RuntimeError("Keys, values, and segment index array storage devices must match")
    for name, array in given.items():
        if name.startswith("segment") and array.ndim != 1:
            raise RuntimeError(f"{name} must be one-dimensional, got {array.ndim} dimensions")
        if not array.is_contiguous:
            raise RuntimeError(f"segmented_sort_pairs() requires a contiguous {name} array")
    if segment_end_indices is not None and segment_start_indices.size != segment_end_indices.size:
        raise RuntimeError("segment_start_indices and segment_end_indices must have the same size "
                           f"({segment_start_indices.size} vs {segment_end_indices.size})")
    if count == 0:
        return
    if keys.size < 2 * count or values.size < 2 * count:
        raise RuntimeError("Array storage must be large enough to contain 2*count elements")
    if keys.dtype not in (_types.int32, _types.float32) or values.dtype is not _types.int32:
        raise RuntimeError(f"Unsupported data type: {_named(keys.dtype)}")
    starts = segment_start_indices.numpy()
    starts, ends = (starts[:-1], starts[1:]) if segment_end_indices is None else (starts, segment_end_indices.numpy())
    all_keys, all_values = _elements(keys), _elements(values)
    good = [0 <= start <= end <= count for start, end in zip(starts, ends)]
    if keys.device.is_cpu and not all(good):
        raise ValueError(f"Invalid segment range at index {good.index(False)}")
    for start, end in [pair for pair, is_good in zip(zip(starts, ends), good) if is_good]:
        order = numpy.argsort(_ordered_bits(all_keys[start:end]), kind="stable")
        all_keys[start:end], all_values[start:end] = all_keys[start:end][order], all_values[start:end][order]
    _store(keys, all_keys)
    _store(values, all_values)


def runlength_encode(values, run_values, run_lengths, run_count=None, value_count=None):
    """Each value that differs from the one before, and how often it stands there."""
    given = [values, run_values, run_lengths] + ([] if run_count is None else [run_count])
    if run_count is not None and run_count.device != values.device:
        raise RuntimeError("run_count storage device does not match other arrays")
    if len({str(array.device) for array in given}) > 1:
        raise RuntimeError("run_values, run_lengths and values storage devices do not match")
    value_count = values.size if value_count is None else value_count
    if value_count < 0:
        raise RuntimeError(f"value_count must be non-negative, got {value_count}")
    if run_values.size < value_count or run_lengths.size < value_count:
        raise RuntimeError(f"Output array storage sizes must be at least equal to value_count ({value_count})")
    if not _types.types_equal(values.dtype, run_values.dtype):
        raise RuntimeError(f"values and run_values data types do not match ({_named(values.dtype)} vs {_named(run_values.dtype)})")
    for name, array in (("run_lengths", run_lengths), ("run_count", run_count)):
        if array is not None and array.dtype is not _types.int32:
            raise RuntimeError(f"{name} array must be of type int32")
    if values.dtype is not _types.int32:
        raise RuntimeError(f"Unsupported data type: {_named(values.dtype)}")
    if run_count is not None:
        _encode(values, run_values, run_lengths, run_count, value_count)
        return run_count
    return _encoded(values, run_values, run_lengths, value_count)


@_graphs.recorded
def _encode(values, run_values, run_lengths, run_count, value_count):
    run_count.fill_(_encoded(values, run_values, run_lengths, value_count))


def _encoded(values, run_values, run_lengths, value_count):
    known = _elements(values)[:value_count]
    begins = numpy.flatnonzero(numpy.concatenate([numpy.ones(min(1, len(known)), bool), known[1:] != known[:-1]]))
    lengths = numpy.diff(numpy.append(begins, len(known)))
    for array, found in ((run_values, known[begins]), (run_lengths, lengths)):
        whole = _elements(array)
        whole[: len(found)] = found
        _store(array, whole)
    return len(begins)


# ---- sums ----


def _total(arrays, count, axis, inner):
    """Of one array's elements, or of two arrays' products; an element's numbers are last."""
    made = arrays[0].numpy()
    if len(arrays) == 2:
        made = made * arrays[1].numpy()
        for _ in _types.inner_shape(arrays[0].dtype):
            made = made.sum(axis=-1, dtype=made.dtype)
    if axis is None:
        flat = made.reshape((-1,) + inner)
        return (flat if count is None else flat[:count]).sum(axis=0, dtype=made.dtype)
    if count is not None:
        made = made[(slice(None),) * axis + (slice(count),)]
    return made.sum(axis=axis, dtype=made.dtype, keepdims=True)


@_graphs.recorded
def _store_total(out, arrays, count, axis, inner):
    out.store(_total(arrays, count, axis, inner).reshape(out.shape + inner))


def inner_of_memory(kind, device, a, b, out, count, stride_a, stride_b, length):
    """The sum of products of `count` elements of `length` numbers each, so many bytes apart, which goes to the address `out`."""
    size = _types.type_size_in_bytes(kind)
    given = [_arrays.array(ptr=start, shape=(count, length), strides=(stride, size), dtype=kind, device=device)
             for start, stride in ((a, stride_a), (b, stride_b))]
    _store_total(_arrays.array(ptr=out, shape=(1,), dtype=kind, device=device), given, None, None, ())


def _reduced(name, arrays, out, count, axis):
    source = arrays[0]
    kind = source.dtype if len(arrays) == 1 else _scalar(source)
    inner = () if len(arrays) == 2 else _types.inner_shape(kind)
    if axis is not None:
        if not -source.ndim <= axis < source.ndim:
            raise IndexError(f"{name}() axis {axis} is out of bounds for an array of {source.ndim} dimensions")
        axis %= source.ndim
    if _scalar(source) not in (_types.float32, _types.float64):
        raise RuntimeError(f"Unsupported data type: {_named(source.dtype)}")
    if count is not None and count < 0:
        raise RuntimeError(f"{name}() is given a negative count, {count}")
    if source.size and source.device.is_cuda:
        if out is None:
            _graphs.refuse_in_files(f"{name}() without an explicit out", source.device)
        if any([stride < 0 for one in arrays for stride in one.strides]):
            _graphs.refuse_in_files(f"{name}() of an array of negative strides", source.device)
    if out is None and axis is None:
        return _total(arrays, count, axis, inner)
    shape = (1,) if axis is None else source.shape[:axis] + (1,) + source.shape[axis + 1 :]
    if out is None:
        out = _arrays.empty(shape, kind, source.device)
    if out.device != source.device:
        raise RuntimeError("out storage device should match values array")
    if out.dtype is not kind:
        raise RuntimeError(f"out array should have type {_named(kind)}")
    if out.shape != shape:
        raise RuntimeError(f"out array should have shape {shape}")
    if out.size:
        _store_total(out, arrays, count, axis, inner)
    return out


def array_sum(values, out=None, value_count=None, axis=None):
    """Of all elements, or along a dimension."""
    if out is not None and out.device != values.device:
        raise RuntimeError("out storage device should match values array")
    return _reduced("array_sum", [values], out, value_count, axis)


def array_inner(a, b, out=None, count=None, axis=None):
    """The sum of the products."""
    _same_device(a, b, "A and b array storage")
    if a.shape != b.shape:
        raise ValueError(f"array_inner() arguments must have the same shape, got {a.shape} and {b.shape}")
    if not _types.types_equal(a.dtype, b.dtype):
        raise RuntimeError(f"A and b array data types do not match ({_named(a.dtype)} vs {_named(b.dtype)})")
    if out is not None and out.device != a.device:
        raise RuntimeError("out storage device should match values array")
    return _reduced("array_inner", [a, b], out, count, axis)


@_graphs.recorded
def array_cast(in_array, out_array, count=None):
    """The elements as ones of another type."""
    _same_device(in_array, out_array, "Array storage")
    if in_array.ndim == out_array.ndim and _types.inner_shape(in_array.dtype) == _types.inner_shape(out_array.dtype):
        if in_array.ndim > 1:
            if count is not None:
                raise RuntimeError("Partial cast is not supported for arrays with more than one dimension")
            if in_array.shape != out_array.shape:
                raise RuntimeError(f"Array shapes do not match ({in_array.shape} vs {out_array.shape})")
    values, target = in_array.numpy(), out_array.numpy().copy()
    inner = _types.type_length(in_array.dtype)
    wanted, have = in_array.size if count is None else count, out_array.size * _types.type_length(out_array.dtype) // inner
    if wanted > in_array.size or wanted > have:
        raise RuntimeError(f"Cast count ({wanted}) exceeds the input size ({in_array.size}) or output size ({have})")
    target.reshape(-1)[: wanted * inner] = values.reshape(-1)[: wanted * inner]
    out_array.store(target)


# ---- functions ----


def create_warp_function(function):
    """A function of Python's as one of Warp's, with the module that it is in."""
    from warp.launches import Function, func, get_module

    if isinstance(function, Function):
        return function, get_module(function.func.__module__)
    made = func(function)
    code = function.__code__
    made.key = f"func_{hashlib.sha256(code.co_code + repr(code.co_consts[:1]).encode()).hexdigest()[:16]}"
    return made, get_module(function.__module__)


def warp_showwarning(message, category, filename, lineno, file=None, line=None):
    from warp._src.logger import log_warning

    log_warning(str(message), category)


def warn(message, category=None, stacklevel=1, once=False):
    from warp._src.logger import log_warning

    log_warning(message, category, stacklevel + 1, once or category is DeprecationWarning)


class Edge:
    def __init__(self, v0, v1, o0, o1, f0, f1):
        self.v0, self.v1, self.o0, self.o1, self.f0, self.f1 = v0, v1, o0, o1, f0, f1


class MeshAdjacency:
    """The edges of triangles, with the corners opposite to them and the triangles beside them."""

    def __init__(self, indices, num_tris):
        self.edges = {}
        self.indices = indices
        for number, (a, b, c) in enumerate(indices):
            for i, j, opposite in ((a, b, c), (b, c, a), (c, a, b)):
                self.add_edge(i, j, opposite, number)

    def add_edge(self, i, j, opposite, number):
        edge = self.edges.get((min(i, j), max(i, j)))
        if edge is None:
            self.edges[min(i, j), max(i, j)] = Edge(i, j, opposite, -1, number, -1)
        elif edge.f1 != -1:
            print("Detected non-manifold edge")
        else:
            edge.o1, edge.f1 = opposite, number


def check_p2p():
    """Whether GPUs reach each other's memory: kernels run on one."""
    return False


class AllocatorRmm:
    """Memory by rmm, if it is there."""

    def __init__(self):
        try:
            import rmm
        except ImportError as error:
            raise ImportError("AllocatorRmm needs the package rmm") from error
        self.rmm, self.buffers = rmm, {}

    def allocate(self, size_in_bytes):
        made = self.rmm.DeviceBuffer(size=size_in_bytes)
        self.buffers[made.ptr] = made
        return made.ptr

    def deallocate(self, ptr, size_in_bytes):
        self.buffers.pop(ptr, None)
