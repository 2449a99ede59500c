"""What is known of the text of a kernel or a function without compiling it: where it stands, its tree, its parameters, what it mentions."""

import ast
import copy
import inspect
import linecache
import re
import textwrap
import weakref
from functools import cached_property

from tilec import source as _source
from warp import bounds as _bounds
from warp import reads as _reads
from warp import statics as _statics

# ---- texts of functions ----


class SharedSource:
    """The text, its line and its tree, of all functions of one code object."""

    def __init__(self, source, line, tree):
        self.source, self.line, self.tree = source, line, tree


shared = {}  # by the identity of a code object, which may be another one's when that is gone: (weakref, SharedSource)


def stored_for(code):
    known = shared.get(id(code))
    return known[1] if known is not None and known[0]() is code else None


def store(code, source):
    key = id(code)

    def forget(reference):
        if key in shared and shared[key][0] is reference:
            del shared[key]

    shared[key] = weakref.ref(code, forget), source


def _indent(line):
    return len(line) - len(line.lstrip())


def by_lines(code):
    """The text and its first line, by the lines of the code and what is indented behind them; None: there is no such file. A text of
    several lines that is less indented ends it too early."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    first = code.co_firstlineno
    if not 0 < first <= len(lines):
        return None
    todo, last = [code], first
    while todo:
        one = todo.pop()
        last = max([last] + [line for _, _, line in one.co_lines() if line is not None])
        todo += [inner for inner in one.co_consts if inspect.iscode(inner)]
    least = _indent(lines[first - 1])
    while last < len(lines) and (not lines[last].strip() or _indent(lines[last]) > least):
        last += 1
    return textwrap.dedent("".join(lines[first - 1 : last]).rstrip()) + "\n", first


def by_inspection(function):
    lines, first = inspect.getsourcelines(function)
    return textwrap.dedent("".join(lines)), first


def _parsed(found):
    try:
        tree = ast.parse(found[0]) if found is not None else None
    except SyntaxError:
        return None
    return tree if tree is not None and tree.body and isinstance(tree.body[0], (ast.FunctionDef, ast.AsyncFunctionDef)) else None


def lambda_source(function, only_body=False):
    """The expression that a function without a name is, as it stands in its file, or what it gives."""
    node = _source._lambda_node(function)
    text = ast.get_source_segment("".join(linecache.getlines(function.__code__.co_filename)), node)
    if not only_body:
        return text
    parts = [*node.args.args, *node.args.defaults]
    last = max([(one.end_lineno - node.lineno, one.end_col_offset) for one in parts], default=(0, node.col_offset + len("lambda")))
    lines = text.splitlines(keepends=True)
    begin = sum([len(line) for line in lines[: last[0]]]) + last[1] - (node.col_offset if last[0] == 0 else 0)
    return text[text.index(":", begin) + 1 :].strip()


# ---- trees of which some nodes are others ----


def substituted(node, others, ancestors):
    """A copy of a tree with other nodes in the place of some; what is above none of them is shared."""
    if node in others:
        return others[node]
    if node not in ancestors:
        return node
    made = copy.copy(node)
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            items = []
            for one in value:
                items.append(substituted(one, others, ancestors) if isinstance(one, ast.AST) else one)
            setattr(made, name, items)
        elif isinstance(value, ast.AST):
            setattr(made, name, substituted(value, others, ancestors))
    return made


def _ancestors(tree, nodes):
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    found = set()
    for node in nodes:
        while node in above:
            node = above[node]
            found.add(node)
    return found


def _replacement(node, value):
    from warp.launches import Function

    if isinstance(value, Function):
        made = ast.Name("__warp_func__", ctx=ast.Load())
        made.warp_func = value
    else:
        made = ast.Constant(value)
    return ast.copy_location(made, node)


# ---- functions ----


class Var:
    """A name of a type; of a parameter that is an array, whether the text reads or writes its elements."""

    def __init__(self, label, type, is_read=False, is_write=False, constant=None):
        self.label, self.type, self.is_read, self.is_write, self.constant = label, type, is_read, is_write, constant


class Adjoint:
    """Of a function; `kinds`: the types of its parameters, `statics`: what became of its wp.static()."""

    _try_extract_function_source = staticmethod(by_lines)
    _inspect_extract_function_source = staticmethod(by_inspection)
    extract_lambda_source = staticmethod(lambda_source)

    def __init__(self, func, kinds=None, statics=None):
        from warp.launches import _annotations
        from warp.types import as_type

        self.func, self.fun_name = func, func.__name__
        if kinds is None:
            kinds = {name: as_type(kind) if isinstance(kind, type) else kind for name, kind in _annotations(func).items()}
        told = _reads.accesses(func)
        self.args = [Var(name, kinds.get(name), name in told.read, name in told.written) for name in inspect.signature(func).parameters]
        self._statics = _statics.resolve(func) if statics is None else statics
        self.resolved_static_expressions = {one.text: one.value for one in self._statics if one.is_known}
        self.has_unresolved_static_expressions = not all([one.is_known for one in self._statics])

    @classmethod
    def extract_function_source(cls, function):
        """The text from the margin on, its line, and its tree, a module's with the function in it."""
        function = inspect.unwrap(function)
        found = cls._try_extract_function_source(function.__code__)
        tree = _parsed(found)
        if tree is None:
            found = cls._inspect_extract_function_source(function)
            tree = ast.parse(found[0])
        return found[0], found[1], tree

    @cached_property
    def _own_source(self):
        code = inspect.unwrap(self.func).__code__
        known = stored_for(code)
        if known is None:
            known = SharedSource(*self.extract_function_source(self.func))
            store(code, known)
        return known

    @property
    def source(self):
        return self._own_source.source

    @property
    def fun_lineno(self):
        return self._own_source.line

    @property
    def filename(self):
        return self.func.__code__.co_filename

    @cached_property
    def tree(self):
        """With the values of its wp.static(), as far as they are known."""
        whole = self._own_source.tree
        calls = _statics.calls_in(self.func, whole.body[0], self._statics)
        others = {node: _replacement(node, one.value) for node, one in calls.items() if one.is_known}
        return substituted(whole, others, _ancestors(whole, others)) if others else whole

    @property
    def _shared_source(self):
        return self._own_source if self.tree is self._own_source.tree else None

    @property
    def kernel_dim(self):
        """How many coordinates the text asks tid() for."""
        return _bounds.tid_rank(self.func)

    def resolve_external_reference(self, name):
        """What a name means that is not the function's own."""
        return _source.names_of(self.func).get(name)

    def _mentioned(self):
        """The names, and the names of modules', that are not its own, in the order of the text."""
        own = _statics.bound_in(self.tree.body[0])
        names = _source.names_of(self.func)
        for node in _in_order(self.tree.body[0].body):
            if hasattr(node, "warp_func"):
                yield node.warp_func.key, node.warp_func
            elif isinstance(node, (ast.Name, ast.Attribute)):
                text = ast.unparse(node)
                found = _statics.meant(node, names) if text.partition(".")[0] not in own else None
                if found is not None:
                    yield text, found

    def get_references(self):
        """The constants by their names, the types, and the functions with their own ones."""
        from warp.builtins import Builtin
        from warp.launches import Function, Kernel
        from warp.types import Struct, _Type

        constants, kinds, functions = {}, {}, {}
        for name, found in self._mentioned():
            if isinstance(found, (Function, Builtin)):
                functions[found] = getattr(found, "key", name)
            elif isinstance(found, (_Type, Struct)):
                kinds[found] = name
            elif not isinstance(found, (type, Kernel)) and not inspect.ismodule(found) and not callable(found):
                constants[name] = found
        return constants, kinds, functions

    @property
    def called_user_functions(self):
        """The program's functions that it calls, in the order of its text."""
        from warp.launches import Function

        return {found: name for name, found in self._mentioned() if isinstance(found, Function)}


def _in_order(nodes):
    for node in nodes:
        yield node
        if not isinstance(node, ast.Attribute) or not re.fullmatch(r"[\w.]+", ast.unparse(node)):
            yield from _in_order(ast.iter_child_nodes(node))
