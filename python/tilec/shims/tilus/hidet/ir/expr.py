"""Expressions outside of kernels: numbers, names, and what operators make of them."""

import operator


class Expr:
    def __hash__(self):
        return id(self)


class Constant(Expr):
    def __init__(self, value, type=None):
        self.value, self.type = value, type

    def __str__(self):
        return str(self.value)


class Var(Expr):
    """A name of a type; `hint` is what it is called."""

    def __init__(self, hint=None, type=None, name=None):
        self.hint, self.type, self.name = hint, type, name

    def __str__(self):
        return self.name or self.hint or "v"


class BinaryExpr(Expr):
    def __init__(self, symbol, function, a, b):
        self.symbol, self.function, self.a, self.b = symbol, function, a, b

    def __str__(self):
        return f"({self.a} {self.symbol} {self.b})"


def as_expr(value):
    return value if isinstance(value, Expr) else Constant(value)


def _operator(symbol, function):
    def left(self, other):
        return BinaryExpr(symbol, function, self, as_expr(other))

    def right(self, other):
        return BinaryExpr(symbol, function, as_expr(other), self)

    return left, right


for _name, _symbol in {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "and": "&", "or": "|", "xor": "^",
                       "lshift": "<<", "rshift": ">>"}.items():
    _function = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    _left, _right = _operator(_symbol, _function)
    setattr(Expr, f"__{_name}__", _left)
    setattr(Expr, f"__r{_name}__", _right)
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Expr, f"__{_name}__", _operator(_symbol, getattr(operator, _name))[0])


def index_vars(count):
    return tuple([Var(f"i{d}") for d in range(count)])


def evaluate(expr, values):
    """The expression where names have these values: numbers, or arrays of NumPy."""
    if isinstance(expr, BinaryExpr):
        return expr.function(evaluate(expr.a, values), evaluate(expr.b, values))
    return values[expr] if isinstance(expr, Var) else expr.value if isinstance(expr, Constant) else expr
