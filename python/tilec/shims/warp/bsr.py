"""The topology of sparse matrices of blocks: what warp.sparse has its runtime library for, by numpy on the host's side of the arrays."""

import ctypes
import functools

import numpy

from warp import arrays as _arrays
from warp import devices as _devices
from warp import graphs as _graphs
from warp import types as _types

ROW_CAPACITY_EXCEEDED = 1


def _array(device, pointer, count, dtype=_types.int32):
    """The array of a device, None: the current one's, that a pointer of C's is to, without a count to its memory's end; None: it is to
    nothing."""
    address = ctypes.cast(pointer, ctypes.c_void_p).value if pointer is not None else None
    if not address or count == 0:
        return None
    return _arrays.array_at(address, count, dtype, _devices.get_device(device))


def _begin(array, values):
    """Puts values to an array's beginning."""
    if array is not None and len(values):
        array[: len(values)].store(values)


def _blocks(offsets, row_counts, columns, nrow, ncol):
    """The places of the blocks that are there, with their rows and columns."""
    begins = offsets[:nrow].astype(numpy.int64)
    counts = offsets[1 : nrow + 1].astype(numpy.int64) - begins if row_counts is None else row_counts[:nrow].astype(numpy.int64)
    rows = numpy.repeat(numpy.arange(nrow), counts)
    places = numpy.arange(counts.sum()) - numpy.repeat(numpy.cumsum(counts) - counts, counts) + numpy.repeat(begins, counts)
    own = columns[places].astype(numpy.int64)
    good = (own >= 0) & (own < ncol)
    return places[good], rows[good], own[good]


def _read(array):
    return None if array is None else array.numpy()


def _not_zero(values, count, block_size, scalar_size, mask):
    """Which of the first blocks, whose bytes those are, have a bit of the mask."""
    kind = numpy.dtype(f"u{scalar_size}")
    bits = values[: count * block_size * scalar_size].view(kind).reshape(count, block_size)
    return ((bits & kind.type(mask & (1 << 8 * scalar_size) - 1)) != 0).any(axis=1)


@_graphs.recorded
def _fill(block_size, scalar_size, nrow, ncol, nnz, count, rows, columns, values, mask, masked, ends, order, offsets, row_counts, own_columns):
    number = nnz if count is None else max(0, min(int(count.numpy()[0]), nnz))
    r, c = rows.numpy()[:number].astype(numpy.int64), columns.numpy()[:number].astype(numpy.int64)
    good = (r >= 0) & (r < nrow) & (c >= 0) & (c < ncol)
    if values is not None and mask:
        good &= _not_zero(values.numpy(), number, block_size, scalar_size, mask)
    keys = r * ncol + c
    if masked:
        places, there_rows, there_columns = _blocks(offsets.numpy(), _read(row_counts), own_columns.numpy(), nrow, ncol)
        there = there_rows * ncol + there_columns
        sorts = numpy.argsort(there, kind="stable")
        found = numpy.searchsorted(there[sorts], keys)
        good &= (found < len(there)) & (there[sorts][numpy.minimum(found, max(len(there) - 1, 0))] == keys if len(there) else False)
        chosen = numpy.flatnonzero(good)
        blocks = places[sorts][found[chosen]]
        by_block = numpy.argsort(blocks, kind="stable")
        _begin(ends, numpy.cumsum(numpy.bincount(blocks, minlength=int(offsets.numpy()[nrow]))).astype(numpy.int32))
        _begin(order, chosen[by_block].astype(numpy.int32))
        return
    chosen = numpy.flatnonzero(good)
    chosen = chosen[numpy.argsort(keys[chosen], kind="stable")]
    unique, first, counts = numpy.unique(keys[chosen], return_index=True, return_counts=True)
    per_row = numpy.bincount(unique // max(ncol, 1), minlength=nrow)[:nrow]
    offsets[: nrow + 1].store(numpy.concatenate([[0], numpy.cumsum(per_row)]).astype(numpy.int32))
    _begin(row_counts, per_row.astype(numpy.int32))
    _begin(own_columns, (unique % max(ncol, 1)).astype(numpy.int32))
    _begin(ends, numpy.cumsum(counts).astype(numpy.int32))
    _begin(order, chosen.astype(numpy.int32))


def matrix_from_triplets(device, block_size, scalar_size, nrow, ncol, nnz, count, rows, columns, values, mask, masked, ends, order, offsets,
                         row_counts, own_columns):
    """Rows and columns of blocks as a matrix's topology, and which of them each of its blocks is the sum of."""
    of = functools.partial(_array, device)
    _fill(block_size, scalar_size, nrow, ncol, nnz, of(count, 1), of(rows, nnz), of(columns, nnz),
          of(values, nnz * block_size * scalar_size, _types.uint8), int(mask), bool(masked), of(ends, nnz), of(order, nnz),
          of(offsets, nrow + 1), of(row_counts, nrow), of(own_columns, None))


@_graphs.recorded
def _turn(nrow, ncol, offsets, row_counts, columns, other_offsets, other_row_counts, other_columns, places, status):
    own, rows, cols = _blocks(offsets.numpy(), _read(row_counts), columns.numpy(), nrow, ncol)
    order = numpy.lexsort((rows, cols))
    own, rows, cols = own[order], rows[order], cols[order]
    counts = numpy.bincount(cols, minlength=ncol)[:ncol]
    if other_row_counts is None:
        other_offsets[: ncol + 1].store(numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int32))
        _begin(other_columns, rows.astype(numpy.int32))
        _begin(places, own.astype(numpy.int32))
        return
    room = other_offsets.numpy()[: ncol + 1].astype(numpy.int64)
    fits = room[:-1] + counts <= room[1:]
    new_columns, new_places = other_columns.numpy().copy(), places.numpy().copy()
    new_places[: room[-1]] = -1
    kept = fits[cols]
    within = numpy.arange(len(cols)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    target = (room[cols] + within)[kept]
    new_columns[target], new_places[target] = rows[kept], own[kept]
    other_row_counts[:ncol].store(numpy.where(fits, counts, 0).astype(numpy.int32))
    other_columns.store(new_columns)
    places.store(new_places)
    if status is not None and not fits.all():
        status.store(numpy.maximum(status.numpy(), ROW_CAPACITY_EXCEEDED))


def transpose(device, nrow, ncol, nnz, offsets, row_counts, columns, other_offsets, other_row_counts, other_columns, places, status):
    """The topology of the transposed matrix, and which block each of its blocks is; in rows that have room for some, if they are counted."""
    of = functools.partial(_array, device)
    _turn(nrow, ncol, of(offsets, nrow + 1), of(row_counts, nrow), of(columns, None), of(other_offsets, ncol + 1),
          of(other_row_counts, ncol), of(other_columns, None), of(places, None), of(status, 1))


@_graphs.recorded
def _compress(block_size, scalar_size, nrow, ncol, mask, is_compact, offsets, row_counts, columns, values, with_values):
    old = offsets.numpy()
    places, rows, cols = _blocks(old, _read(row_counts), columns.numpy(), nrow, ncol)
    raw = _read(values)
    if mask:
        kept = _not_zero(raw, len(raw) // (block_size * scalar_size), block_size, scalar_size, mask)[places]
        places, rows, cols = places[kept], rows[kept], cols[kept]
    order = numpy.argsort(rows * ncol + cols, kind="stable")
    unique, first = numpy.unique((rows * ncol + cols)[order], return_index=True)
    new_rows, new_columns = unique // max(ncol, 1), (unique % max(ncol, 1)).astype(numpy.int32)
    counts = numpy.bincount(new_rows, minlength=nrow)[:nrow]
    ends = numpy.cumsum(counts)
    begins = ends - counts if is_compact else old[:nrow].astype(numpy.int64)
    target = numpy.arange(len(unique)) - numpy.repeat(ends - counts, counts) + numpy.repeat(begins, counts)
    if with_values and len(unique):
        blocks = raw.view(numpy.dtype(f"f{scalar_size}")).reshape(-1, block_size)
        made = blocks.copy()
        made[target] = numpy.add.reduceat(blocks[places[order]], first, axis=0)
        values.store(made.reshape(-1).view(numpy.uint8))
    own = columns.numpy().copy()
    own[target] = new_columns
    columns.store(own)
    if is_compact:
        offsets[: nrow + 1].store(numpy.concatenate([[0], ends]).astype(numpy.int32))
    else:
        row_counts[:nrow].store(counts.astype(numpy.int32))


def compress(device, nrow, ncol, block_size, scalar_size, scalar_type, nnz, prunes, mask, is_compact, offsets, row_counts, columns, values, with_values):
    """Sorts each row's blocks by their columns, those of one column as their sum, and drops what is outside of the matrix, or zero; rows are one
    behind the other then, or stay where they are, with fewer blocks."""
    of = functools.partial(_array, device)
    _compress(block_size, scalar_size, nrow, ncol, int(mask) if prunes else 0, bool(is_compact), of(offsets, nrow + 1), of(row_counts, nrow),
              of(columns, nnz), of(values, nnz * block_size * scalar_size, _types.uint8), bool(with_values))
