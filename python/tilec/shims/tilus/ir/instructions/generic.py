"""Instructions that every GPU has."""

from tilus.hidet.ir.expr import as_expr, index_vars
from tilus.ir.inst import Instruction, require, require_one_of

SCAN_OPS = ("add", "mul", "max", "min", "and", "or", "xor")
SCAN_BITWISE_OPS = SCAN_OPS[4:]


def _of_operands(name, count, is_pure=True):
    """A class of instructions that have operands and, if they are pure, an output alone."""

    def create(*inputs, output=None):
        if is_pure and len(inputs) > count:
            *inputs, output = inputs
        require(len(inputs) == count, f"{name} takes {count} operands, got {len(inputs)}")
        require(not is_pure or output is not None, f"{name} takes an output")
        return made(output, inputs)

    made = type(name, (Instruction,), {"is_pure": is_pure, "create": staticmethod(create)})
    return made


AddInst, SubInst, MulInst, DivInst, ModInst = [_of_operands(f"{name}Inst", 2) for name in ("Add", "Sub", "Mul", "Div", "Mod")]
CastInst, NegInst, AbsInst, LoadSharedInst = [_of_operands(f"{name}Inst", 1) for name in ("Cast", "Neg", "Abs", "LoadShared")]
WhereInst = _of_operands("WhereInst", 3)
StoreSharedInst = _of_operands("StoreSharedInst", 2, is_pure=False)
FreeSharedInst = _of_operands("FreeSharedInst", 1, is_pure=False)
SyncThreadsInst = _of_operands("SyncThreadsInst", 0, is_pure=False)


class AllocateRegisterInst(Instruction):
    is_pure = True

    @staticmethod
    def create(output, f_init=None):
        axes = index_vars(len(output.shape)) if f_init else None
        return AllocateRegisterInst(output, axes=axes, init=f_init(axes) if f_init else None)


class AllocateSharedInst(Instruction):
    @staticmethod
    def create(output):
        return AllocateSharedInst(output)


class GlobalViewInst(Instruction):
    is_pure = True

    @staticmethod
    def create(output, ptr):
        return GlobalViewInst(output, ptr=ptr)


class LoadGlobalGenericInst(Instruction):
    is_pure = True

    @staticmethod
    def create(ptr, f_offset, f_mask=None, output=None):
        axes = index_vars(len(output.shape))
        return LoadGlobalGenericInst(output, ptr=ptr, axes=axes, offset=as_expr(f_offset(axes)), mask=as_expr(f_mask(axes) if f_mask else True))


class StoreGlobalGenericInst(Instruction):
    @staticmethod
    def create(x, ptr, f_offset, f_mask=None):
        axes = index_vars(len(x.shape))
        return StoreGlobalGenericInst(None, (x,), ptr=ptr, axes=axes, offset=as_expr(f_offset(axes)), mask=as_expr(f_mask(axes) if f_mask else True))


class FormatPrintInst(Instruction):
    @staticmethod
    def create(cond, fstring, expressions=()):
        return FormatPrintInst(None, cond=cond, fstring=fstring, expressions=tuple(expressions))


class ScanInst(Instruction):
    is_pure = True
    VALID_OPS = SCAN_OPS

    @staticmethod
    def create(x, *, dim, op, exclusive, output):
        require_one_of("scan op", op, SCAN_OPS)
        require(0 <= dim < len(x.shape), f"scan dim {dim} out of range for {len(x.shape)} dimensions")
        require(x.shape == output.shape, f"the scan's output shape {list(output.shape)} is not the operand's, {list(x.shape)}")
        require(x.dtype == output.dtype, f"the scan's output dtype {output.dtype} is not the operand's, {x.dtype}")
        require(op not in SCAN_BITWISE_OPS or x.dtype.is_integer(), f"scan op {op!r} takes an integer dtype, got {x.dtype}")
        return ScanInst(output, (x,), dim=dim, op=op, exclusive=exclusive)


def check_scatter_shapes(what, dst, indices, values, dim):
    """`values` go to places of `dst` that `indices` say along `dim`."""
    require(indices.shape == values.shape, f"{what}: indices.shape {list(indices.shape)} is not values.shape {list(values.shape)}")
    require(len(dst.shape) == len(indices.shape), f"{what}: the dst rank {len(dst.shape)} is not that of the indices, {len(indices.shape)}")
    require(0 <= dim < len(dst.shape), f"{what}: dim {dim} out of range for {len(dst.shape)} dimensions")
    for d, (whole, part) in enumerate(zip(dst.shape, indices.shape)):
        require(d == dim or whole == part, f"{what}: non-scatter axis {d} has {part} of {whole} elements")
    require(dst.dtype == values.dtype, f"{what}: the dst dtype {dst.dtype} is not that of the values, {values.dtype}")


def _scatter(name, what):
    def create(dst, indices, values, *, dim):
        check_scatter_shapes(what, dst, indices, values, dim)
        return made(None, (dst, indices, values), dim=dim)

    made = type(name, (Instruction,), {"create": staticmethod(create)})
    return made


StoreSharedScatterInst = _scatter("StoreSharedScatterInst", "store_shared_scatter")
StoreGlobalScatterInst = _scatter("StoreGlobalScatterInst", "store_global_scatter")
