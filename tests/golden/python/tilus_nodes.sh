# Nodes of Tilus's IR that programs make by hand: what they refuse, what is left of them where results have no use, what their text runs as.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/nodes.py" <<'P2'
import numpy
import tilus
from tilus.drivers import build_and_load_program
from tilus.hidet.ir.dtypes import float32, int32
from tilus.hidet.ir.expr import Var
from tilus.hidet.ir.primitives.cuda.vars import blockIdx
from tilus.hidet.ir.type import PointerType
from tilus.ir.builders import IRBuilder
from tilus.ir.func import Function, Metadata
from tilus.ir.inst import InstructionError
from tilus.ir.instructions.cuda.atomic import AtomicScatterSharedInst, AtomicSharedInst
from tilus.ir.instructions.generic import AllocateRegisterInst, AllocateSharedInst, MulInst, ScanInst, StoreGlobalGenericInst, StoreSharedScatterInst
from tilus.ir.layout.mfunction import LayoutOperationError, identity, multi_function
from tilus.ir.prog import Program
from tilus.ir.stmt import InstStmt, SeqStmt
from tilus.ir.tensor import RegisterTensor, SharedTensor
from tilus.ir.tools import VerificationError, collect_instructions, verify
from tilus.ir.utils.veceval import vectorized_evaluate
from tilus.transforms.dead_code_elimination import dead_code_elimination_pass


def registers(*shape, dtype=int32):
    return RegisterTensor.create(dtype=dtype, shape=shape)


def shared(*shape, dtype=int32):
    return SharedTensor.create(dtype=dtype, shape=shape)


def refused(make):
    try:
        make()
    except InstructionError as error:
        print("refused:", error)


atomic = AtomicSharedInst.create(dst=shared(6), values=registers(6), op="max", sem="release")
print(atomic.op, atomic.sem, atomic.scope, len(atomic.inputs), atomic.output)
refused(lambda: AtomicSharedInst.create(shared(6), registers(6), op="nand"))
refused(lambda: AtomicSharedInst.create(shared(6), registers(6), op="add", scope="grid"))
refused(lambda: AtomicSharedInst.create(shared(6), registers(3), op="add"))
refused(lambda: AtomicSharedInst.create(shared(6), registers(6, dtype=float32), op="add"))
refused(lambda: AtomicSharedInst.create(shared(6), registers(6), op="cas"))
refused(lambda: AtomicSharedInst.create(shared(6), registers(6), op="sub", compare=registers(6)))
refused(lambda: AtomicSharedInst.create(shared(6), registers(6), op="cas", compare=registers(5)))
refused(lambda: AtomicScatterSharedInst.create(shared(9, 2), registers(3, 2), registers(3, 2), dim=0, op="exch"))
refused(lambda: StoreSharedScatterInst.create(shared(9, 2), registers(3, 2), registers(9, 2), dim=0))
refused(lambda: StoreSharedScatterInst.create(shared(9, 2), registers(3, 1), registers(3, 1), dim=0))
refused(lambda: StoreSharedScatterInst.create(shared(9, 2), registers(3), registers(3), dim=0))
refused(lambda: StoreSharedScatterInst.create(shared(9, 2), registers(3, 2), registers(3, 2), dim=2))
refused(lambda: ScanInst.create(registers(4), dim=0, op="avg", exclusive=False, output=registers(4)))
refused(lambda: ScanInst.create(registers(4), dim=1, op="add", exclusive=False, output=registers(4)))
refused(lambda: ScanInst.create(registers(4, dtype=float32), dim=0, op="xor", exclusive=True, output=registers(4, dtype=float32)))
try:
    registers(4).layout
except ValueError as error:
    print(error)


def left(*insts):
    function = Function.create("f", [Var("p", PointerType(float32))], SeqStmt([InstStmt(inst) for inst in insts]),
                               Metadata.create([1, 1, 1], [1, 1, 1], [blockIdx.x, blockIdx.y, blockIdx.z], 1))
    program = dead_code_elimination_pass()(Program.create({"f": function}))
    found = collect_instructions(program.functions["f"])
    print([type(inst).__name__ for inst in found], program.functions["f"] is function)
    return found


a, b, c, tile, old = registers(4), registers(4), registers(4), shared(4), registers(4)
makes = [AllocateRegisterInst.create(a, lambda axes: int32.zero), AllocateRegisterInst.create(b, lambda axes: axes[0] * 2)]
times = MulInst.create(a, b, c)
left(*makes, times, StoreGlobalGenericInst.create(c, Var("p"), lambda axes: axes[0]))
left(*makes, times, StoreGlobalGenericInst.create(a, Var("p"), lambda axes: axes[0]))
add = AtomicSharedInst.create(tile, a, op="add", output=old)
print(left(*makes, AllocateSharedInst.create(tile), add)[-1].output)
print(left(makes[0], AllocateSharedInst.create(tile), add, StoreGlobalGenericInst.create(old, Var("p"), lambda axes: 0))[2].output is old)

builder = IRBuilder()
with builder.program():
    with builder.function("greet", num_warps=1, params={"n": int32}) as n:
        builder.num_blocks = [2]
        builder.syncthreads()
        builder.printf("n = %d\n", n + 1)
program = builder.flush_program()
print(program)
build_and_load_program(program)(41)

x, y = Var("x", int32), Var("y", int32)
print(vectorized_evaluate((x - 1) * y // 2, {x: numpy.array([3, 5]), y: numpy.array([7, 9])}))

pairs = multi_function([4, 6], [2, 2, 6], [2, 0])
print(pairs, pairs([3, 5]), pairs * multi_function([12], [3, 4], [1]), multi_function([6, 4], [2, 3, 4], [0, 1, 2]) == identity([6, 4]))
print(multi_function([4, 6], [4, 6], [1, -4]).cover(multi_function([4, 6], [4, 6], [1, 0])), pairs.cover(identity([4, 6])))
try:
    identity([4, 6]) * multi_function([24], [3, 8], [1])
except LayoutOperationError as error:
    print(error)


class Load(tilus.Script):
    def __init__(self, extent):
        self.extent = extent

    def __call__(self):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        tile = self.shared_tensor(dtype=tilus.float32, shape=[4, 4])
        self.store_shared(tile, self.register_tensor(dtype=tilus.float32, shape=[4, 4], init=1.0))
        self.sync()
        self.load_shared(src=tile, out=self.register_tensor(dtype=tilus.float32, shape=[self.extent, 4]))


for extent in (4, 8):
    try:
        verify(Load(extent)._jit_instance_for().transpiled_programs[0])
        print("fits")
    except VerificationError as error:
        print("does not:", str(error).split("error: ")[-1].split("\n")[0])
P2
cd "$TMP" && python3 -m tilec run nodes.py
