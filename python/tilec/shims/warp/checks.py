"""What Warp refuses in a kernel's text, which the language itself has a meaning for."""

import ast
import types

from tilec import native as _native
from tilec import source as _source
from warp import types as _types

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


def _is_made_here(value, node, function):
    """Whether an expression of a function is an array of the thread's own: wp.zeros(), or a name for one."""
    if isinstance(value, ast.Name):
        given = [one.value for one in _own_statements(node.body) if isinstance(one, ast.Assign) and any(
            [isinstance(target, ast.Name) and target.id == value.id for target in one.targets])]
        return len(given) > 0 and all([not isinstance(one, ast.Name) and _is_made_here(one, node, function) for one in given])
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or not isinstance(value.func.value, ast.Name):
        return False
    return value.func.attr == "zeros" and getattr(function.__globals__.get(value.func.value.id), "__name__", "") == "warp"


def check_function(function, said):
    """What it says that it returns is an array's type, and an array of a thread's own is returned. `said`: None, or an annotation."""
    from warp.arrays import array_annotation, fixed_annotation

    if not isinstance(said, array_annotation) or isinstance(said, fixed_annotation):
        return
    node = _source.node_of(function)
    for one in _own_statements(node.body if isinstance(node, ast.FunctionDef) else ()):
        if isinstance(one, ast.Return) and one.value is not None and _is_made_here(one.value, node, function):
            code = function.__code__
            raise _native.error_kind(TypeError)(
                f"Error while compiling {code.co_filename}:{one.lineno}:\nThe function `{function.__name__}` returns a fixed-size array whereas it "
                f"has its return type annotated as `Array[{_types.type_repr(said.dtype)}]`.")
