"""Extents of launches, as a kernel's tid() has them."""

import ast
import ctypes
import math
import operator

from tilec import source as _source

MOST_DIMENSIONS = 4
MOST_EXTENT = 1 << 31  # of a dimension whose coordinates a kernel asks for


def canonical_dim(dim):
    """A tuple of Python's integers."""
    if type(dim) is int:
        return (dim,)
    if type(dim) in (tuple, list) and all([type(extent) is int for extent in dim]):
        return dim if type(dim) is tuple else tuple(dim)
    return tuple([operator.index(extent) for extent in dim]) if hasattr(dim, "__len__") else (operator.index(dim),)


def checked_dim(dim):
    if len(dim) > MOST_DIMENSIONS:
        raise ValueError(f"a launch has at most {MOST_DIMENSIONS} dimensions, not {len(dim)}")
    if any([extent < 0 for extent in dim]):
        raise ValueError(f"the extents of a launch are non-negative, not {dim}")
    return dim


class _Bounds(ctypes.Structure):
    @property
    def ndim(self):
        return len(self.shape)


def _class(rank):
    fields = [("shape", ctypes.c_int64 * rank), ("size", ctypes.c_uint64), ("coord_mult", ctypes.c_uint64)]
    return type(f"launch_bounds_{rank}d_t", (_Bounds,), {"_fields_": fields})


classes = {rank: _class(rank) for rank in range(1, MOST_DIMENSIONS + 1)}


def bounds_of_tuple(dim, rank):
    """For a kernel whose tid() gives so many coordinates: what the launch has more of is done for each of them."""
    shape = (dim + (1,) * MOST_DIMENSIONS)[:rank]
    return classes[rank](shape, math.prod(dim), math.prod(dim[rank:]))


def launch_bounds_t(dim):
    dim = checked_dim(canonical_dim(dim))
    return bounds_of_tuple(dim, max(len(dim), 1))


# ---- what a kernel asks tid() for ----


class _Reader(ast.NodeVisitor):
    """How many coordinates a function's calls of tid() give, where they are not behind a condition that is known to be false."""

    def __init__(self, function):
        self.names = _source.names_of(function)
        self.local = {}
        self.least = None

    def value(self, node):
        """What is known of an expression: (value,) or None."""
        if isinstance(node, ast.Constant):
            return (node.value,)
        if isinstance(node, ast.Name):
            return self.local.get(node.id) if node.id in self.local else (self.names[node.id],) if node.id in self.names else None
        if isinstance(node, ast.Attribute):
            base = self.value(node.value)
            return (getattr(base[0], node.attr),) if base is not None and hasattr(base[0], node.attr) else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.value(node.operand)
            return None if inner is None else (not inner[0],)
        if isinstance(node, ast.Call) and len(node.args) == 1 and getattr(self.told(node.func), "key", None) == "static":
            return self.value(node.args[0])
        return None

    def told(self, node):
        found = self.value(node)
        return None if found is None else found[0]

    def is_tid(self, node):
        if not isinstance(node, ast.Call):
            return False
        found = self.told(node.func)
        return type(found).__name__ == "Builtin" and found.key == "tid"

    def see(self, count):
        self.least = count if self.least is None else min(self.least, count)

    def visit_Assign(self, node):
        if self.is_tid(node.value) and isinstance(node.targets[0], ast.Tuple):
            self.see(len(node.targets[0].elts))
        else:
            self.visit(node.value)
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self.visit(target)
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    self.local[part.id] = self.value(node.value) if isinstance(target, ast.Name) else None

    def visit_Call(self, node):
        if self.is_tid(node):
            self.see(1)
        self.generic_visit(node)

    def branch(self, node, test, body, orelse):
        found = self.value(test)
        self.visit(test)
        for side, taken in ((body, True), (orelse, False)):
            if found is None or bool(found[0]) == taken:
                for one in side if isinstance(side, list) else [side]:
                    self.visit(one)

    def visit_If(self, node):
        self.branch(node, node.test, node.body, node.orelse)

    def visit_IfExp(self, node):
        self.branch(node, node.test, node.body, node.orelse)

    def visit_For(self, node):
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                self.local[part.id] = None
        self.generic_visit(node)

    visit_While = visit_For


def tid_rank(function):
    """How many coordinates the function asks for at least, None: for none."""
    reader = _Reader(function)
    for one in _source.node_of(function).body:
        reader.visit(one)
    return reader.least


def named_rank(function):
    """The same where it asks by another name than tid alone, which the compiler does not look for."""
    node = _source.node_of(function)
    called = [getattr(one.func, "attr", getattr(one.func, "id", "")) for one in ast.walk(node) if isinstance(one, ast.Call)] if node else ["tid"]
    return None if "tid" in called else tid_rank(function)


def check_extents(kernel, dim):
    """No coordinate that the kernel asks for is beyond 32 bits."""
    from warp.builds import functions_of
    from warp._src.codegen import WarpCodegenError

    if not dim or max(dim) <= MOST_EXTENT or 0 in dim:
        return
    for one in functions_of(kernel.func):
        if tid_rank(one.func) is not None:
            raise WarpCodegenError(f"{one.key}: tid() may only be called from a Warp kernel")
    rank = kernel.module._get_kernel_tid_extent_limit(kernel)
    for i, extent in enumerate(dim[: rank or 0]):
        if extent > MOST_EXTENT:
            raise ValueError(f"Warp cannot launch a kernel using wp.tid() with extent {extent} in dimension {i}: its coordinates have 32 bits")


def bounds_of(dim, kernel, block_dim=None):
    """The extents of a kernel's launch."""
    dim = checked_dim(canonical_dim(dim))
    check_extents(kernel, dim)
    return bounds_of_tuple(dim, tid_rank(kernel.func) or max(len(dim), 1))
