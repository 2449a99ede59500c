"""Functions of Tilus's IR, instruction by instruction."""

import contextlib

from tilus.hidet.ir.expr import Var, as_expr
from tilus.hidet.ir.primitives.cuda.vars import blockIdx
from tilus.ir.func import Function, Metadata
from tilus.ir.instructions.generic import FormatPrintInst, SyncThreadsInst
from tilus.ir.prog import Program
from tilus.ir.stmt import InstStmt, SeqStmt


class FunctionBuilder:
    def __init__(self):
        self.num_blocks = None
        self.statements = []
        self.built = None

    @contextlib.contextmanager
    def function(self, name, num_warps, params):
        """Gives its parameters: one alone, else a tuple."""
        names = list(params.items()) if isinstance(params, dict) else []
        variables = tuple([Var(name, kind) for name, kind in names]) if isinstance(params, dict) else tuple(params)
        self.statements, self.num_blocks = [], None
        yield variables[0] if len(variables) == 1 else variables
        if self.num_blocks is None:
            raise ValueError(f"{name} has no num_blocks")
        blocks = list(self.num_blocks) if isinstance(self.num_blocks, (list, tuple)) else [self.num_blocks]
        metadata = Metadata.create([as_expr(count) for count in blocks + [1] * (3 - len(blocks))], [1, 1, 1], [blockIdx.x, blockIdx.y, blockIdx.z], num_warps)
        self.built = Function.create(name, variables, SeqStmt(self.statements), metadata)

    def flush_function(self):
        built, self.built = self.built, None
        return built

    def append(self, inst):
        self.statements.append(InstStmt(inst))

    def printf(self, fstring, *expressions):
        self.append(FormatPrintInst.create(as_expr(True), fstring, [as_expr(one) for one in expressions]))

    def syncthreads(self):
        self.append(SyncThreadsInst.create())


class IRBuilder(FunctionBuilder):
    """Of programs: functions follow one another."""

    def __init__(self):
        super().__init__()
        self.functions = {}

    @contextlib.contextmanager
    def program(self):
        yield

    @contextlib.contextmanager
    def function(self, name, num_warps, params):
        with super().function(name, num_warps, params) as variables:
            yield variables
        self.functions[name] = self.flush_function()

    def flush_program(self):
        functions, self.functions = self.functions, {}
        return Program.create(functions)
