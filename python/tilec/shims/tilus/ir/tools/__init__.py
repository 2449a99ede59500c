"""What is asked of programs and functions."""

from tilec import native as _native

from tilus.ir.tools.instruction_collector import collect_instructions  # noqa: F401


class VerificationError(Exception):
    """A program that does not compile."""


def verify(program):
    """`program` is one of a script's transpiled_programs."""
    try:
        program.compile()
    except _native.CompileError as error:
        raise VerificationError(str(error)) from None
