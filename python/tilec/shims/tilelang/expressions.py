"""Expressions that kernels alone have, made outside of one: variables, and what functions of T make of them. Such a function
is asked in a kernel of its own, which is not compiled; what it refuses there it refuses here, and its result has the type that
it has there."""

from tilec import native, session
from tilec.session import Remote, Text
from tilelang.types import dtype


class Staged(Remote):
    """An expression of a type."""

    is_of_kernel = True

    def __init__(self, text, kind):
        super().__init__(text)
        self.__dict__["dtype"] = dtype(kind) if kind is not None else None

    def bind(self, statements):
        raise session.Unspeakable("it is known in a kernel alone")

    def __repr__(self):
        return "".join([part if isinstance(part, str) else repr(part) for part in self._text.parts])

    __str__ = __repr__
    __hash__ = Remote.__hash__

    def __eq__(self, other):
        return self is other

    def same_as(self, other):
        return self is other


class Constant(Staged):
    """A number of a type."""

    def __init__(self, kind, value):
        super().__init__(Text(session.module("tilelang.language"), ".cast(", session.text_of(value), f", {str(kind)!r})"), kind)
        self.__dict__["value"] = value

    def bind(self, statements):
        return Remote.bind(self, statements)

    def __int__(self):
        return int(self.value)

    def __float__(self):
        return float(self.value)


class Variable(Staged):
    """A number, or vector, that is not known."""

    def __init__(self, name="v", dtype="int32"):
        super().__init__(Text(name), dtype)
        self.__dict__["name"] = name


def _inlined(text, statements, made):
    """The expression's text; what it needs outside of the kernel goes to `statements`, its variables to `made`."""
    words = []
    for part in text.parts:
        if isinstance(part, str):
            words.append(part)
        elif isinstance(part, Variable):
            words.append(made.setdefault(part, f"v{len(made)}"))
        elif isinstance(part, Constant):
            words.append(repr(part.value))
        elif isinstance(part, Staged):
            words.append("(" + _inlined(part._text, statements, made) + ")")
        else:
            words.append(part.bind(statements))
    return "".join(words)


def staged(text):
    """What the expression is in a kernel, but for its value."""
    with session.lock:
        language = session.module("tilelang.language")
        statements, made = [], {}
        expression = _inlined(text, statements, made)
        t = language.bind(statements)
        lines = [
            "_found = []", "def _staged():", f"    with {t}.Kernel(1, threads=32):", f"        _thread = {t}.get_thread_binding()"]
        for variable, name in made.items():
            scalar = f"{t}.cast(_thread, {str(variable.dtype)!r})"
            lines.append(f"        {name} = " + (scalar if variable.dtype.lanes == 1 else f"{t}.alloc_var({str(variable.dtype)!r})"))
        lines += [
            f"        _value = {expression}",
            '        _found.append(str(_value.dtype) if hasattr(_value, "dtype") else None)',
            f"core.kernel_text({t}.prim_func(_staged).compile())",
            "give(_found[-1])",
        ]
        kind = session.the.run("\n".join(statements + lines))["values"][0]
    return Staged(text, kind)


session.in_kernel = staged
__all__ = ["Constant", "Staged", "Variable", "native", "staged"]
