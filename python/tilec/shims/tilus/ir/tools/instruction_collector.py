"""The instructions of a function, in the order of its text."""

from tilus.ir.stmt import instructions


def collect_instructions(function):
    return instructions(function.body)
