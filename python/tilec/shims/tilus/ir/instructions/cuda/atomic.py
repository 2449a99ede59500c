"""Atomic instructions."""

from tilus.ir.inst import Instruction, require, require_one_of
from tilus.ir.instructions.generic import check_scatter_shapes

ATOMIC_OPS = ("add", "sub", "min", "max", "exch", "cas")
ATOMIC_SEMS = ("relaxed", "acquire", "release", "acq_rel")
ATOMIC_SCOPES = ("cta", "cluster", "gpu", "sys")


def _check_words(what, op, ops, sem, scope):
    require_one_of(f"{what} op", op, ops)
    require_one_of("atomic sem", sem, ATOMIC_SEMS)
    require_one_of("atomic scope", scope, ATOMIC_SCOPES)


def _atomic(name, what, most):
    """A class of instructions on whole tensors; `most` is the scope where none is given."""

    def create(dst, values, *, op, sem="relaxed", scope=most, output=None, compare=None):
        _check_words("atomic", op, ATOMIC_OPS, sem, scope)
        require(dst.dtype == values.dtype, f"{what}_{op}: the dst dtype {dst.dtype} is not that of the values, {values.dtype}")
        require(dst.shape == values.shape, f"{what}_{op}: the dst shape {list(dst.shape)} is not that of the values, {list(values.shape)}")
        require((compare is not None) == (op == "cas"),
                f"{what}_cas requires a compare tensor" if op == "cas" else f"{what}_{op}: compare is only valid for op='cas'")
        require(compare is None or (compare.dtype == dst.dtype and compare.shape == dst.shape), f"{what}_cas: compare must match dst in dtype and shape")
        return made(output, (dst, values) if compare is None else (dst, values, compare), op=op, sem=sem, scope=scope)

    made = type(name, (Instruction,), {"may_drop_output": True, "VALID_OPS": ATOMIC_OPS, "create": staticmethod(create)})
    return made


def _scatter(name, what, most):
    """A class of instructions on the places that a tensor of indices says."""
    ops = ATOMIC_OPS[:4]

    def create(dst, indices, values, *, dim, op, sem="relaxed", scope=most, output=None):
        _check_words(what, op, ops, sem, scope)
        check_scatter_shapes(what, dst, indices, values, dim)
        return made(output, (dst, indices, values), op=op, dim=dim, sem=sem, scope=scope)

    made = type(name, (Instruction,), {"may_drop_output": True, "VALID_OPS": ops, "create": staticmethod(create)})
    return made


AtomicSharedInst = _atomic("AtomicSharedInst", "atomic_shared", "cta")
AtomicGlobalInst = _atomic("AtomicGlobalInst", "atomic_global", "gpu")
AtomicScatterSharedInst = _scatter("AtomicScatterSharedInst", "atomic_shared_scatter", "cta")
AtomicScatterGlobalInst = _scatter("AtomicScatterGlobalInst", "atomic_global_scatter", "gpu")
