"""The compiler's messages about kernels, as programs look for them: what is wrong at the end, where Warp says it, and of what Warp has
a sentence for that sentence, too."""

import ast
import os
import re

from tilec import native as _native
from tilec import source as _source

_LOCATED = re.compile(r"(?P<place>(?P<file>.+?):(?P<line>\d+):(?P<column>\d+)): error: (?P<what>.*?)(?P<code> \[E\d+\])?$")
_NAME_OF_WARP = re.compile(r"(?:AttributeError: |module ')(?P<module>warp(?:\.\w+)*)'? has no (?:name )?'(?P<name>\w+)'")


class _Place:
    """Where a message is: the expression of the program's that begins there, the innermost of some class."""

    def __init__(self, found):
        self.file, self.line, self.column = found["file"], int(found["line"]), int(found["column"])

    def node(self, *kinds):
        if not os.path.exists(self.file):
            return None
        inside = [node for node in ast.walk(self.tree()) if isinstance(node, kinds) and self.begins(node)]
        return max(inside, key=lambda node: (node.lineno, node.col_offset), default=None)

    def tree(self):
        return _source.file_of(self.file).tree

    def begins(self, node):
        """Columns are those of bytes, counted from 1."""
        return node.lineno == self.line and node.col_offset in (self.column - 1, self.column - 2)


def class_words(kind):
    """A class as Warp prints it, where its own ones are of warp._src.types."""
    module = "warp._src.types" if kind.__module__.partition(".")[0] == "warp" else kind.__module__
    return f"<class '{module}.{kind.__qualname__}'>" if module != "builtins" else repr(kind)


def _undefined(place, what, known):
    """A name that the program gave a value which no kernel can have is of a wrong type, another one is not known."""
    found = re.match(r"name '(\w+)' is not defined", what)
    if found is None:
        return KeyError, None
    if known.get(found[1]) is not None:
        return TypeError, f"Invalid external reference type: {class_words(type(known[found[1]]))}"
    return KeyError, f"Referencing undefined symbol: {found[1]}"


def _absent(place, what, known):
    """A name that Warp has not: of a function that is called Warp says something else than of what is asked of what it has not."""
    found = _NAME_OF_WARP.match(what)
    if found is None:
        return None, None
    call = place.node(ast.Call)
    path = ast.unparse(call.func).split(".") if call is not None else []
    if path[-1:] == [found["name"]]:
        return AttributeError, f"Could not find function {'.'.join(path)}"
    return AttributeError, f"`{found['name']}` is not an attribute of '{found['module']}'"


_ATTRIBUTE = re.compile(r"(?P<of>\w+) has no attribute '(?P<name>\w+)'")


def _struct_of(node, known):
    """The struct that a parameter, or a field of one, is of."""
    from warp import types

    if isinstance(node, ast.Attribute):
        around = _struct_of(node.value, known)
        found = None if around is None else around.vars.get(node.attr)
    else:
        found = known.get(node.id) if isinstance(node, ast.Name) else None
    return found if isinstance(found, types.Struct) else None


def _attribute(place, what, known):
    from warp import types

    asked = place.node(ast.Attribute)
    struct = None if asked is None else _struct_of(asked.value, known)
    if struct is not None and asked.attr not in struct.vars:
        return AttributeError, f"`{asked.attr}` is not an attribute of '{ast.unparse(asked.value)}' ({struct.cls.__module__}.{struct.key})"
    found = _ATTRIBUTE.match(what)
    kind = None if found is None else getattr(types, found["of"], None)
    return AttributeError, f"`{found['name']}` is not an attribute of '{class_words(kind)}'" if isinstance(kind, types._Type) else None


def _negative(node):
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)


def _unpacked(place, what, known):
    """*x, whose count is to be known: x is a vector, or a part of an array from one constant to another."""
    starred = place.node(ast.Starred)
    if starred is None:
        return None, None
    part = starred.value.slice if isinstance(starred.value, ast.Subscript) else None
    if not isinstance(part, ast.Slice):
        return TypeError, "Starred expressions are only supported for vectors, quaternions, matrices and slices of arrays"
    bounds = [one for one in (part.lower, part.upper) if one is not None]
    if part.step is not None and _negative(part.step):
        return ValueError, "the slice of an array that is unpacked is in its order: the step cannot be negative"
    if part.upper is None:
        return ValueError, "a slice of an array that is unpacked requires explicit upper bound"
    if any(map(_negative, bounds)):
        return ValueError, "the bounds of a slice that is unpacked cannot be negative for arrays, whose extents are known at run time"
    return ValueError, "Slice component must be a compile-time constant where the slice is unpacked"


def _updated(place, what, known):
    """`g += 1.0`, where g is what wp.grad() gives."""
    node = place.node(ast.AugAssign)
    if node is None or not isinstance(node.target, ast.Name) or "<function apply>" not in what:
        return TypeError, None
    return TypeError, f"Cannot reassign local '{node.target.id}', which wp.grad() has made"


def _too_wide(place, what, known):
    """tile_arange(0, 2 ** 70, ...), written out."""
    number = place.node(ast.Constant)
    for call in ast.walk(place.tree()) if number is not None else ():
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", getattr(call.func, "id", "")) != "tile_arange" or number not in call.args:
            continue
        name = ("start", "stop", "step")[call.args.index(number)] if 1 < len(call.args) <= 3 else "stop"
        return ValueError, (f"tile_arange() {name}={number.value} is too wide to use as an integer bound: write a number with a point, "
                            f"{float(number.value)!r}")
    return ValueError, None


# By a message's code: the error of Python's that it is, and what is said besides.
_SENTENCES = {" [E0201]": _undefined, " [E0204]": _attribute, " [E0208]": _updated, " [E0214]": _absent, " [E0217]": _absent, " [E0219]": _unpacked, " [E0249]": _too_wide}


def _known(kernel):
    """What the program's names mean in a kernel's text: of its parameters their types."""
    return {} if kernel is None else {**_source.names_of(kernel.func), **kernel.kinds}


def reordered(error, kernel=None):
    first, _, rest = str(error).partition("\n")
    found = _LOCATED.match(first)
    if found is None:
        return error
    kind, sentence = _SENTENCES.get(found["code"], lambda *given: (None, None))(_Place(found), found["what"], _known(kernel))
    lines = [f"Error while compiling {found['place']}:{found['code'] or ''}", *([rest] if rest else []), found["what"],
             *([sentence] if sentence else [])]
    kind = type(error) if kind is None else _native.error_kind(kind)
    return kind("\n".join(lines), error.status)
