"""Expressions of arrays, element by element."""

from tilus.hidet.ir.expr import evaluate


def vectorized_evaluate(expr, var2value):
    return evaluate(expr, var2value)
