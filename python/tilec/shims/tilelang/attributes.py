"""What a kernel's text says of itself: the attributes that the original has of such a function."""

import ast

from tilec import source

WORDS = {"annotate_pass_configs": "tilelang_pass_configs", "annotate_compile_flags": "tilelang_compile_flags"}


def _own(node):
    """The parts of the function, without those of functions in it."""
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, (ast.FunctionDef, ast.Lambda)):
            yield part
            yield from _own(part)


def _value(function, node):
    """What the expression is where the function was defined; None: that is not known outside of the kernel."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue
    try:
        return eval(compile(ast.Expression(node), "<attribute>", "eval"), names)
    except Exception:
        return None


def attributes_of(function):
    code = function.__code__
    node = source.file_of(code.co_filename).node(code.co_name, code.co_firstlineno)
    found = {"global_symbol": function.__name__}
    for part in _own(node) if node is not None else ():
        if isinstance(part, ast.Call) and getattr(part.func, "attr", None) in WORDS and part.args:
            found[WORDS[part.func.attr]] = _value(function, part.args[0])
        elif isinstance(part, ast.Return) and part.value is not None:
            count = len(part.value.elts) if isinstance(part.value, ast.Tuple) else 1
            found["tilelang_out_idx"] = list(range(-count, 0))
    return found


__all__ = ["attributes_of"]
