"""Colors for the nodes of a graph, none of which is its neighbour's: what has one color is worked on at the same time."""

import bisect
import contextlib
import ctypes
import enum
import heapq
import operator

import numpy

from warp import types as _types


class GraphColoringAlgorithm(enum.IntEnum):
    """In which order nodes get the first color that none of their neighbours has: the next one is that with the most neighbours
    that have a color (maximum cardinality search), or with the most neighbours."""

    MCS, GREEDY = range(2)


def _check_arrays(edges, node_colors):
    for name, array, ndim in (("edges", edges, 2), ("node_colors", node_colors, 1)):
        if not array.device.is_cpu:
            raise RuntimeError(f"{name} is an array of {array.device}: graphs are colored on the CPU")
        if array.dtype is not _types.int32:
            raise RuntimeError(f"{name} is an array of int32, not of {_types.type_repr(array.dtype)}")
        if array.ndim != ndim:
            raise RuntimeError(f"{name} has {'two dimensions' if ndim == 2 else 'one dimension'}, not {array.ndim}")
    if edges.shape[1] != 2:
        raise RuntimeError(f"edges has two nodes in each row, not the shape {edges.shape}")


def _neighbours(edges, count):
    """Of each node, the nodes that it shares an edge with."""
    pairs = edges.numpy()
    wrong = numpy.flatnonzero(((pairs < 0) | (pairs >= count)).any(axis=1))
    if len(wrong):
        ends = tuple([int(end) for end in pairs[wrong[0]]])
        raise RuntimeError(f"Graph edge {wrong[0]} has endpoints {ends}, but valid node indices are in the range [0, {count}).")
    found = [set() for _ in range(count)]
    for a, b in pairs.tolist():
        if a != b:
            found[a].add(b)
            found[b].add(a)
    return found


def _by_cardinality(neighbours, color):
    """Calls `color` of each node, of those that have none yet with the most neighbours that have one."""
    weights, done = [0] * len(neighbours), [False] * len(neighbours)
    heap = [(0, node) for node in range(len(neighbours))]
    while heap:
        weight, node = heapq.heappop(heap)
        if done[node] or -weight != weights[node]:
            continue
        done[node] = True
        color(node)
        for other in neighbours[node]:
            if not done[other]:
                weights[other] += 1
                heapq.heappush(heap, (-weights[other], other))


@contextlib.contextmanager
def _named(what):
    """An error's message says of what it is."""
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(f"{what} failed: {error}") from None


def graph_coloring_assign(edges, node_colors, algorithm=GraphColoringAlgorithm.MCS):
    """Gives each node a color, and returns how many there are."""
    _check_arrays(edges, node_colors)
    with _named("Graph coloring"):
        return _assign(edges, node_colors, algorithm)


def _assign(edges, node_colors, algorithm):
    count = node_colors.shape[0]
    if count == 0:
        raise RuntimeError("Empty graph!")
    neighbours = _neighbours(edges, count)
    colors = [-1] * count

    def color(node):
        taken = {colors[other] for other in neighbours[node]}
        colors[node] = next(one for one in range(count) if one not in taken)

    if GraphColoringAlgorithm(algorithm) == GraphColoringAlgorithm.MCS:
        _by_cardinality(neighbours, color)
    else:
        for node in sorted(range(count), key=lambda node: -len(neighbours[node])):
            color(node)
    node_colors.assign(numpy.array(colors, numpy.int32))
    return max(colors) + 1


def _limit(asked, count):
    if asked is None:
        return count
    if isinstance(asked, (bool, numpy.bool_)) or not hasattr(asked, "__index__"):
        raise TypeError(f"max_iterations must be an integer or None, not of {type(asked).__name__}")
    asked = operator.index(asked)
    if not 0 <= asked < 1 << 31:
        raise ValueError(f"max_iterations is from 0 to {(1 << 31) - 1}, not {asked}")
    return asked


class _Groups:
    """The nodes of each color, in order."""

    def __init__(self, colors, count, neighbours):
        self.colors, self.neighbours = colors, neighbours
        self.nodes = [[] for _ in range(count)]
        for node, color in enumerate(colors):
            self.nodes[color].append(node)

    def ratio(self):
        sizes = [len(nodes) for nodes in self.nodes]
        return max(sizes) / min(sizes) if min(sizes) else float("inf")

    def move(self):
        """A node of the largest group that has one which the smallest may have, and this group's color; None: there is none, or a
        group has no nodes left."""
        sizes = [len(nodes) for nodes in self.nodes]
        smallest = sizes.index(min(sizes))
        if sizes[smallest] == 0:
            return None
        for color in sorted(range(len(sizes)), key=lambda color: -sizes[color]):
            if color == smallest:
                continue
            for node in self.nodes[color]:
                if all(self.colors[other] != smallest for other in self.neighbours[node]):
                    return node, smallest
        return None

    def give(self, node, color):
        own = self.nodes[self.colors[node]]
        del own[bisect.bisect_left(own, node)]
        bisect.insort(self.nodes[color], node)
        self.colors[node] = color


def graph_coloring_balance(edges, node_colors, color_count, target_max_min_ratio, *, max_iterations=None):
    """Moves nodes from large groups of one color to the smallest one, until the largest has at most so many times as many nodes;
    keeps the best coloring that it comes by, and returns its ratio."""
    _check_arrays(edges, node_colors)
    limit = _limit(max_iterations, node_colors.shape[0])
    with _named("Graph coloring balance"):
        return _balance(edges, node_colors, color_count, target_max_min_ratio, limit)


def _balance(edges, node_colors, color_count, target_max_min_ratio, limit):
    from warp._src.logger import log_warning

    count = node_colors.shape[0]
    neighbours = _neighbours(edges, count)
    colors = node_colors.numpy().tolist()
    for node, color in enumerate(colors):
        if not 0 <= color < color_count:
            raise RuntimeError(f"Node {node} has color {color}, but valid colors are in the range [0, {color_count}).")
    if count == 0:
        return 1.0
    groups = _Groups(colors, color_count, neighbours)
    best, kept = groups.ratio(), list(colors)
    moves, move = 0, groups.move()
    while move is not None and groups.ratio() > target_max_min_ratio and moves < limit:
        groups.give(*move)
        moves, move = moves + 1, groups.move()
        if groups.ratio() < best:
            best, kept = groups.ratio(), list(colors)
    if move is not None and groups.ratio() > target_max_min_ratio:
        log_warning(f"Graph coloring stopped because it reached the {limit}-iteration limit (achieved ratio {best:g}, "
                    f"target {target_max_min_ratio:g}).")
    node_colors.assign(numpy.array(kept, numpy.int32))
    return best


def graph_coloring_get_groups(node_colors, color_count, return_wp_array=True, device="cpu"):
    """The nodes of each color, as arrays."""
    from warp.arrays import array

    if color_count < 0:
        raise RuntimeError("color_count must be non-negative")
    colors = node_colors.numpy()
    groups = [numpy.flatnonzero(colors == color).astype(numpy.int32) for color in range(color_count)]
    return tuple([array(nodes, dtype=_types.int32, device=device) for nodes in groups] if return_wp_array else groups)


# ---- as C calls them ----


def _as_array(described, ndim, name, shape):
    """The array of the CPU that C describes."""
    if described.ndim != ndim:
        raise RuntimeError(f"The {name} array must have {ndim} dimension{'s' * (ndim > 1)}!")
    extents = list(described.shape[:ndim])
    if any([extent != wanted for extent, wanted in zip(extents, shape) if wanted is not None]):
        said = "(edge_count, 2)" if ndim == 2 else "the preallocated shape of (num_nodes,)"
        raise RuntimeError(f"The {name} array must have {'shape ' * (ndim == 2)}{said}!")
    from warp.arrays import array

    kind = array(dtype=_types.int32, ndim=ndim)
    return array(shape=extents, dtype=_types.int32, device="cpu") if 0 in extents else described.array_of(kind, "cpu")


def native_assign(count, edges, algorithm, node_colors):
    """The number of colors; RuntimeError: why there is none."""
    colors = _as_array(node_colors, 1, "node_colors", (count,))
    found = _as_array(edges, 2, "edges", (None, 2))
    if algorithm not in list(GraphColoringAlgorithm):
        raise RuntimeError(f"Unrecognized coloring algorithm number: {algorithm}!")
    return _assign(found, colors, algorithm)


def native_balance(count, edges, color_count, target, limit, node_colors, reached_limit):
    """The ratio; where `reached_limit` points to is told whether the limit was met first."""
    if count < 0:
        raise RuntimeError(f"The num_nodes value must be non-negative, got {count}!")
    if limit < 0:
        raise RuntimeError(f"The max_iterations value must be non-negative, got {limit}!")
    found = _as_array(edges, 2, "edges", (None, 2)) if edges.ndim == 2 else None
    if found is None:
        raise RuntimeError("The edges array must have shape (edge_count, 2)!")
    ratio = _balance(found, _as_array(node_colors, 1, "node_colors", (count,)), color_count, target, limit)
    if reached_limit:
        ctypes.cast(reached_limit, ctypes.POINTER(ctypes.c_int))[0] = int(ratio > target)
    return ratio


__all__ = ["GraphColoringAlgorithm", "graph_coloring_assign", "graph_coloring_balance", "graph_coloring_get_groups"]
