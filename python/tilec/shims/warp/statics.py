"""wp.static(): expressions that Python evaluates, once, where a kernel or a function is declared, by all that it can do. What depends on
the names of the kernel itself is left for when it is compiled."""

import ast
import enum

from tilec import source as _source

_CONSTANT = "Make sure all variables used in the static expression are constant."
_UNSUPPORTED = "Static expression returns an unsupported value"


class Static:
    """A call of wp.static(): what it gave, or why it gave nothing; neither is known of one that is left for later."""

    def __init__(self, node, text):
        self.node, self.text = node, text
        self.is_known, self.value, self.why = False, None, None
        self.is_left = False


def _stored(node):
    """What a function assigns, and what its loops go through."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def meant(node, names):
    """What a dotted name means; None: something that is not known here."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    base = meant(node.value, names) if isinstance(node, ast.Attribute) else None
    return None if base is None else getattr(base, node.attr, None)


def bound_in(node):
    """The names that are the function's own: its parameters and what it assigns."""
    return {one.arg for one in node.args.args} | _stored(node)


def is_static(node, names):
    """Whether an expression is a call of wp.static()."""
    if not isinstance(node, ast.Call) or len(node.args) + len(node.keywords) != 1:
        return False
    found = meant(node.func, names)
    return type(found).__name__ == "Builtin" and found.key == "static"


def argument(node):
    """What such a call is given."""
    return node.args[0] if node.args else node.keywords[0].value


class _Inner(ast.NodeTransformer):
    """Without the calls of wp.static() in an expression that Python evaluates as a whole."""

    def __init__(self, names):
        self.names = names

    def visit_Call(self, node):
        return self.visit(argument(node)) if is_static(node, self.names) else self.generic_visit(node)


def _copied(node):
    return ast.parse(ast.unparse(node), mode="eval")


def _array_in(value, place=None):
    """Where an array is in a value: the fields of structs that lead to it; None: there is none."""
    from warp.types import StructInstance, is_array

    if isinstance(value, StructInstance):
        place = value._struct.key if place is None else place
        for name in value._struct.vars:
            inner = vars(value)[name]
            found = place if is_array(inner) else _array_in(inner, f"{place}.{name}")
            if found is not None:
                return found
    return None


def _unsupported(value):
    """Why a kernel has no such value; None: it may have it."""
    from tilec.session import Unspeakable, text_of
    from warp.types import is_array

    what = "a Warp array cannot be created inside Warp kernels"
    if value is None:
        return f"{_UNSUPPORTED}: None is returned"
    if is_array(value):
        return f"{_UNSUPPORTED}: {what}"
    place = _array_in(value)
    if place is not None:
        return (f"{_UNSUPPORTED}: the returned Warp struct contains a data type that cannot be constructed inside Warp kernels: {what} at "
                f"{place}")
    if hasattr(type(value), "__tile_remote__"):  # a function, whose text is looked at when it is compiled
        return None
    try:
        text_of(value)
    except Unspeakable:
        kind = type(value)
        return f"{_UNSUPPORTED}: value of type {kind.__module__}.{kind.__qualname__}"
    return None


def _evaluate(static, names):
    inner = _Inner(names)
    tree = ast.fix_missing_locations(ast.Expression(inner.visit(_copied(argument(static.node)).body)))
    static.why = None
    try:
        value = eval(compile(tree, "<wp.static()>", "eval"), dict(names))
    except NameError as error:
        static.why = f"Error evaluating static expression: {error}. {_CONSTANT}"
        return
    except Exception as error:
        static.why = f"Error evaluating static expression: {error} while evaluating {static.text}"
        return
    static.value = int(value) if isinstance(value, (enum.IntEnum, enum.IntFlag)) else value
    static.why = _unsupported(static.value)
    static.is_known = static.why is None


def _used(node):
    """The names in an expression but in those of len(x) and type(x), which are known of what is not."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("len", "type"):
        return
    if isinstance(node, ast.Name):
        yield node.id
    for one in ast.iter_child_nodes(node):
        yield from _used(one)


class _Finder(ast.NodeVisitor):
    def __init__(self, names, local, parameters):
        self.names, self.local, self.parameters = names, local, parameters
        self.found = []

    def visit_Call(self, node):
        if not is_static(node, self.names):
            self.generic_visit(node)
            return
        static = Static(node, ast.unparse(argument(node)))
        self.found.append(static)
        if {one.id for one in ast.walk(argument(node)) if isinstance(one, ast.Name)} & self.local:
            static.is_left = True
            self.generic_visit(node)  # what is in it may be known
            given = [name for name in _used(argument(node)) if name in self.parameters and name not in self.names]
            if given:
                static.why = f"Error evaluating static expression: name '{given[0]}' is not defined. {_CONSTANT}"
        else:
            _evaluate(static, self.names)


def _place(node, lines):
    """Where it begins and ends, in lines and characters, from 1 on; Python counts bytes, from 0 on."""
    def column(line, count):
        return len(lines[line - 1].encode()[:count].decode(errors="ignore")) + 1

    return node.lineno, column(node.lineno, node.col_offset), node.end_lineno, column(node.end_lineno, node.end_col_offset)


def resolve(function):
    """The calls in a function's text, evaluated."""
    if "static" not in function.__code__.co_names and not _mentions(function):
        return []
    try:
        node = _source.node_of(function)
    except (OSError, SyntaxError):
        node = None
    if node is None:
        return []
    names = _source.names_of(function)
    finder = _Finder(names, bound_in(node), {one.arg for one in node.args.args} - _stored(node))
    for statement in node.body:
        finder.visit(statement)
    _tell(function, finder.found)
    return finder.found


def _tell(function, statics):
    """The compiler hears of them with the definition."""
    lines = _source.lines_of(function)
    function.__tile_calls__ = [(_place(one.node, lines), one.value if one.is_known else None, one.why)
                               for one in statics if one.is_known or one.why is not None]


def resolve_again(function, statics):
    """Names that were not there when the function was declared may be there when it is compiled."""
    failed = [one for one in statics if one.why is not None and not one.is_left]
    for one in failed:
        _evaluate(one, _source.names_of(function))
    if failed:
        _tell(function, statics)


def _mentions(function):
    """By another name than its own."""
    known = _source.names_of(function)
    names = (*function.__code__.co_names, *function.__code__.co_freevars)
    return any([getattr(known.get(name), "key", None) == "static" for name in names if type(known.get(name)).__name__ == "Builtin"])


def calls_in(function, node, statics):
    """Those of resolve() in another tree of the same text: a dict."""
    names, todo, found = _source.names_of(function), iter(statics), {}

    def look(node):
        for one in ast.iter_child_nodes(node):
            static = next(todo, None) if is_static(one, names) else None
            if static is not None:
                found[one] = static
            if static is None or static.is_left:
                look(one)

    look(node)
    return found


def failures(found):
    """Why some gave nothing."""
    return [static.why for static in found if static.why is not None]
