"""What Warp refuses in a kernel's text, which the language itself has a meaning for."""

import ast
import types

from tilec import native as _native
from tilec import source as _source

_RETURNS = "Warp kernels cannot return values. Write results to output arguments, and omit the return annotation or use `-> None`."


def _own_statements(body):
    """Without those of functions in it."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_statements(ast.iter_child_nodes(node))


def check_kernel(kernel):
    """A value that a kernel returns would be lost."""
    node = _source.node_of(kernel.func)
    said = kernel.func.__annotations__.get("return")
    returned = [one for one in _own_statements(node.body if node is not None else ()) if isinstance(one, ast.Return) and one.value is not None]
    if returned or said not in (None, types.NoneType, "None"):
        code = kernel.func.__code__
        line = returned[0].lineno if returned else code.co_firstlineno
        raise _native.error_kind(TypeError)(f"Error while compiling {code.co_filename}:{line}:\n{_RETURNS}")
