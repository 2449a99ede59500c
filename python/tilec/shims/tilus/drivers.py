"""Programs of nodes, compiled: by the text of Tilus that they stand for."""

from tilec import native, session
from tilec.kernels import Compiled
from tilec.session import Remote, Text

from tilus.ir.instructions.generic import FormatPrintInst, SyncThreadsInst
from tilus.ir.stmt import instructions
from tilus.runtime import CompiledProgram


def _printf(inst):
    words = f"self.printf({', '.join([repr(inst.fstring), *map(str, inst.expressions)])})"
    return words if str(inst.cond) == "True" else f"if {inst.cond}:\n            {words}"


LINES = {FormatPrintInst: _printf, SyncThreadsInst: lambda inst: "self.sync()"}


def text_of_function(function):
    lines = [f"class {function.name}(tilus.Script):",
             f"    def __call__({', '.join(['self', *[f'{one}: {one.type!r}' for one in function.params]])}):",
             f"        self.attrs.blocks = [{', '.join(map(str, function.metadata.grid_blocks))}]",
             f"        self.attrs.warps = {function.metadata.num_warps}"]
    for inst in instructions(function.body):
        if type(inst) not in LINES:
            raise native.Error(f"tilec compiles no {type(inst).__name__} of a program's own nodes: write a tilus.Script")
        lines.append(f"        {LINES[type(inst)](inst)}")
    return "\n".join(lines)


class _Class(Remote):
    """A class by its text."""

    def __init__(self, name, text):
        super().__init__(name)
        self.__dict__["_lines"] = text

    def bind(self, statements):
        session.the.open()
        if session.the.generation not in self._generations:
            statements.append(f"import tilus\nfrom tilus import *\n{self._lines}\n{self._name} = {self._text.parts[0]}")
            self._generations.add(session.the.generation)
        return self._name


def build_and_load_program(program):
    """The program's one kernel, to be called."""
    functions = list(program.functions.values())
    if len(functions) != 1:
        raise native.Error(f"a program of one function is called, not of {len(functions)}")
    made = Remote(Text(_Class(functions[0].name, text_of_function(functions[0])), "()"))
    return CompiledProgram(Compiled(made, [str(one) for one in functions[0].params]))
