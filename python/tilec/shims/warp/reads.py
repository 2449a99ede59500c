"""What a kernel's text does with its arrays, in its order: for warnings of arrays that are written after they were read, whose gradients
are those of other values."""

import ast
import inspect
import weakref

from tilec import source as _source

_known = weakref.WeakKeyDictionary()  # by functions


class Accesses:
    """Of the parameters of a function: those that are read, as themselves and not to be changed in place, those that are written, and
    those that are written after they were read, with the lines."""

    def __init__(self):
        self.read, self.written, self.overwritten = set(), set(), {}


class _Reader(ast.NodeVisitor):
    def __init__(self, function, names):
        self.function, self.names = function, names
        self.found = Accesses()

    def reads(self, name):
        if name in self.names:
            self.found.read.add(name)

    def writes(self, name, line):
        if name in self.names:
            self.found.written.add(name)
            if name in self.found.read:
                self.found.overwritten.setdefault(name, line)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.reads(node.id)

    def visit_Attribute(self, node):
        if not isinstance(node.value, ast.Name):  # a.shape is no element
            self.visit(node.value)

    def _changes(self, target, line):
        base = target
        while isinstance(base, ast.Subscript):
            self.visit(base.slice)
            base = base.value
        if isinstance(base, ast.Name) and base is not target:
            self.writes(base.id, line)
        elif not isinstance(base, ast.Name):
            self.visit(base)

    def visit_Assign(self, node):
        self.visit(node.value)
        for target in node.targets:
            self._changes(target, node.lineno)

    def visit_AugAssign(self, node):
        self.visit(node.value)
        self._changes(node.target, node.lineno)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)
            self._changes(node.target, node.lineno)

    def visit_Call(self, node):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        called = self._called(node.func)
        if called is not None:
            self._through(called, node)
            return
        given = list(node.args)
        if given and (name.startswith("atomic_") or name in ("tile_store", "tile_atomic_add")) and isinstance(given[0], ast.Name):
            for one in given[1:]:
                self.visit(one)
            self.writes(given[0].id, node.lineno)
        else:
            for one in given:
                self.visit(one)
        for one in node.keywords:
            self.visit(one.value)

    def _called(self, node):
        from warp.launches import Function

        if not isinstance(node, ast.Name):
            return None
        found = _source.names_of(self.function).get(node.id)
        return found if isinstance(found, Function) and found.func is not self.function else None

    def _through(self, called, node):
        """What the called function does with its parameters, it does with what it is given."""
        names = list(inspect.signature(called.func).parameters)
        inside = accesses(called.func)
        given = [*zip(names, node.args), *[(one.arg, one.value) for one in node.keywords]]
        for name, value in given:
            if not isinstance(value, ast.Name):
                self.visit(value)
            elif name in inside.read or name not in inside.written:
                self.reads(value.id)
        for name, value in given:
            if isinstance(value, ast.Name) and name in inside.written:
                self.writes(value.id, node.lineno)


def accesses(function):
    """Of a function whose text is there; else nothing is known."""
    if function not in _known:
        _known[function] = Accesses()
        try:
            definition = _source.node_of(function)
        except (OSError, SyntaxError):
            return _known[function]
        if definition is not None:
            reader = _Reader(function, set(inspect.signature(function).parameters))
            for statement in definition.body:
                reader.visit(statement)
            _known[function] = reader.found
    return _known[function]
