"""Functions and classes of a program, as the compiler finds them: by their file and their lines, with what
their names are bound to in the running program.

Of a module's names those are told that hold plain values, as the program may have computed them; all others are
what the file's text says. Of the names of functions around a definition all are told that there are words for.
"""

import abc
import ast
import dataclasses
import enum
import functools
import inspect
import linecache
import operator
import os
import sys
import tempfile
import types
import typing

from tilec.session import Module, Remote, Text, Unspeakable, text_of

PLAIN = (bool, int, float, str, tuple, type(None))


# ---- files ----


class File:
    """A source file's definitions, by name and line, and the names that each mentions."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.tree = ast.parse(file.read(), path)
        self.mentioned = {}
        self.own = None  # see bound()
        self.of_module = None  # see outer()

    @functools.cached_property
    def found(self):
        """The definitions, by name and first line: among statements, as no expression has any."""
        found = {}
        todo = [self.tree]
        while todo:
            node = todo.pop()
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
                found[node.name, first] = node
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                todo += [one for one in getattr(node, field, ()) if not isinstance(one, ast.expr)]
        return found

    @functools.cached_property
    def lambdas(self):
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Lambda)]

    def bound(self):
        """The names that the file itself gives a meaning."""
        if self.own is None:
            self.own = set()
            for node in ast.walk(self.tree):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                    self.own.add(node.name)
                elif isinstance(node, ast.alias):
                    self.own.add((node.asname or node.name).partition(".")[0])
                elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    self.own.add(node.id)
        return self.own

    @functools.cached_property
    def defined(self):
        """The names of definitions and imports: those that assignments and loops alone bind mean what the program has last bound them to."""
        found = {name for name, _ in self.found}
        imports = [node for node in ast.walk(self.tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        return found | {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}

    def outer(self):
        """The names that statements of the module itself bind to values, the program's classes among them, and what it imports:
        whole modules, and the module, its dots and the name of each `from` statement."""
        if self.of_module is None:
            names, imports = set(), []
            todo = list(self.tree.body)
            while todo:
                node = todo.pop()
                if isinstance(node, ast.Import):
                    imports += [(alias.name, 0, None) for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    imports += [(node.module or "", node.level, alias.name) for alias in node.names]
                    names |= {alias.asname or alias.name for alias in node.names}
                elif isinstance(node, ast.ClassDef):
                    names.add(node.name)
                elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                        names.add(node.id)
                    todo += ast.iter_child_nodes(node)
            self.of_module = sorted(names), set(imports)
        return self.of_module

    @functools.cached_property
    def attributes(self):
        """What is asked of anything."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)]

    @functools.cached_property
    def compared(self):
        """The names in comparisons, of which objects may be marks."""
        found = set()
        for node in ast.walk(self.tree):
            for side in [node.left, *node.comparators] if isinstance(node, ast.Compare) else ():
                found |= {part.id for part in [side, *getattr(side, "elts", ())] if isinstance(part, ast.Name)}
        return found

    @functools.cached_property
    def modules(self):
        """The names that the module's own statements bind to whole modules."""
        imports = [node for node in self.tree.body if isinstance(node, ast.Import)]
        return sorted({alias.asname or alias.name for node in imports for alias in node.names if alias.asname or "." not in alias.name})

    def node(self, name, line):
        """The definition of that name that begins at the line, or is the innermost around it."""
        if (name, line) in self.found:
            return self.found[name, line]
        around = [(first, node) for (other, first), node in self.found.items()
                  if other == name and first <= line <= node.end_lineno]
        return max(around, key=lambda one: one[0])[1] if around else None

    def is_class_at(self, line):
        """Whether a class begins there, or one of its decorators."""
        return any([first <= line <= node.lineno for (_, first), node in self.found.items() if isinstance(node, ast.ClassDef)])

    def names(self, node):
        if node not in self.mentioned:
            own = [part for part in ast.walk(node) if not isinstance(part, ast.expr_context)]
            skipped = {id(part) for decorator in node.decorator_list for part in ast.walk(decorator)}
            found = {part.id for part in own if isinstance(part, ast.Name) and id(part) not in skipped}
            for part in own:  # annotations that are texts
                if isinstance(part, ast.arg) and isinstance(part.annotation, ast.Constant) and isinstance(part.annotation.value, str):
                    try:
                        found |= {inner.id for inner in ast.walk(ast.parse(part.annotation.value)) if isinstance(inner, ast.Name)}
                    except SyntaxError:
                        pass
            self.mentioned[node] = found
        return self.mentioned[node]


_files = {}


def _version(path):
    told = os.stat(path)
    return told.st_mtime_ns, told.st_size


def file_of(path):
    """As it is now: programs write files, and import them again."""
    version = _version(path)
    if _files.get(path, (None,))[0] != version:
        _files[path] = version, File(path)
    return _files[path][1]


# ---- files as they were when a definition was made, which may be gone, or be others, when it is compiled ----

_kept = {}  # (path, version): the text
_copies = {}  # the same: the path of a copy


def keep(value):
    """The definition means what its file's text is now."""
    path = value if isinstance(value, str) else value.__code__.co_filename
    if os.path.exists(path):
        version = _version(path)
        if (path, version) not in _kept:
            with open(path, encoding="utf-8") as file:
                _kept[path, version] = file.read()
    else:  # such as a notebook's cell
        text = "".join(linecache.getlines(path))
        version = text
        if not text:
            return
        _kept[path, version] = text
    if not isinstance(value, str):
        value.__tile_version__ = version


def _folder_of_copies():
    if "" not in _copies:
        folder = tempfile.TemporaryDirectory(prefix="tilec-")
        _copies[""] = folder
    return _copies[""].name


def readable(path, version=None):
    """Where the text of that version is: the file, or a copy of what it was. Without a version it is any of a file that is gone."""
    is_there = os.path.exists(path)
    if is_there and (version is None or _version(path) == version):
        return path
    if version is None:
        version = next((one for other, one in reversed(_kept) if other == path), None)
    if (path, version) not in _kept:
        return path
    if (path, version) not in _copies:
        folder = os.path.join(_folder_of_copies(), str(len(_copies)))
        os.mkdir(folder)
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w", encoding="utf-8") as file:
            file.write(_kept[path, version])
        _copies[path, version] = copy
    return _copies[path, version]


def put_back(function, text, line):
    """The definition means what another text says at the line."""
    _kept[function.__code__.co_filename, text] = text
    function.__tile_version__, function.__tile_line__ = text, line


def name_of(value):
    """The name that the text gives a function or class, whatever a program has called it since."""
    code = getattr(value, "__code__", None)
    return value.__name__ if code is None else code.co_name


def line_of(function):
    return getattr(function, "__tile_line__", function.__code__.co_firstlineno)


def _version_of(function):
    return getattr(function, "__tile_version__", None)


# ---- modules ----


def _folder_of(name, path):
    """Where the module's imports are looked for: the folder that its dotted name starts from."""
    folder = os.path.dirname(path)
    dots = name.count(".") + (os.path.basename(path) == "__init__.py")
    for _ in range(dots):
        folder = os.path.dirname(folder)
    return folder or "."


_modules = {}


def _is_elsewhere(value, folder):
    """A function of a file that imports of the module's own text would not find, as it is in no folder of theirs."""
    if not isinstance(getattr(value, "__tile_function__", value), types.FunctionType):
        return False
    path = getattr(value, "__tile_function__", value).__code__.co_filename
    return os.path.exists(path) and os.path.relpath(path, folder).startswith("..") and "site-packages" not in path


def is_enum_of_numbers(value):
    """One that is its members' numbers alone: of one with methods the text is taken."""
    if not (isinstance(value, type) and issubclass(value, enum.Enum) and issubclass(value, int) and len(value.__members__) > 0):
        return False
    kinds = types.FunctionType, property, classmethod, staticmethod
    return not any([isinstance(item, kinds) for name, item in vars(value).items() if not name.startswith("_")])


_DIALECTS = ("tilus", "tilelang", "tvm", "warp", "tilec")


def is_record_class(value):
    """A class of the program's that dataclasses.dataclass alone decorates, and that is no kernel: instances are told with it, so the
    kernel's text has to mean the same class by its name."""
    if not (isinstance(value, type) and dataclasses.is_dataclass(value)):
        return False
    if any([one.__module__.partition(".")[0] in _DIALECTS for one in value.__mro__]):
        return False
    try:
        path, line = inspect.getsourcefile(value), inspect.getsourcelines(value)[1]
        node = file_of(path).node(value.__name__, line)
    except (OSError, TypeError):
        return False
    called = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list] if node is not None else []
    return bool(called) and all([getattr(one, "attr", getattr(one, "id", None)) == "dataclass" for one in called])


def is_object_of_program(value):
    """Whether all that the object is stands in the program's files: its class and those that this inherits. One without attributes and
    methods is a mark, which stands for nothing but itself."""
    kind = type(value)
    for one in kind.__mro__[:-1]:
        if one in (abc.ABC, typing.Generic, typing.Protocol):
            continue
        if issubclass(one, (type, BaseException)) or one.__module__.partition(".")[0] in _DIALECTS or not _is_of_program(sys.modules.get(one.__module__)):
            return False
    return hasattr(value, "__dict__") and hasattr(value, "__weakref__") and bool(vars(value) or _functions_of(kind))


def is_mark(value):
    """Whether a module compares others with this very object by a name of its own: told, it would be another one than the module's text
    makes."""
    if type(value).__eq__ is not object.__eq__:
        return False
    for module in list(sys.modules.values()):
        if _is_of_program(module):
            named = [name for name, one in vars(module).items() if one is value]
            if named and not file_of(module.__file__).compared.isdisjoint(named):
                return True
    return False


def spoken_attributes(value):
    """The texts of a dict's items: the attributes that there are words for."""
    texts = []
    for name, item in vars(value).items():
        try:
            texts += [f"{name!r}: ", text_of(item), ", "]
        except Unspeakable:
            continue
    return texts


_being_told = []  # classes whose texts are looked at


def _is_told_class(value):
    if value in _being_told or not isinstance(value, type) or not is_record_class(value):
        return False
    _being_told.append(value)
    try:
        text_of(value)
        return True
    except Unspeakable:
        return False
    finally:
        _being_told.remove(value)


def _is_number(value):
    """A number with a type, as a dialect's constants are."""
    return getattr(type(value), "__tile_number__", False)


def _is_plain(value):
    """Whether it is told; a Remote is as the program has it, too."""
    if isinstance(value, Remote) or getattr(type(value), "__tile_plain__", False) or _is_number(value) or is_enum_of_numbers(value):
        return True
    if isinstance(value, tuple):
        return all([_is_plain(item) for item in value])
    if type(value) is types.SimpleNamespace:
        return all([_is_plain(item) for item in vars(value).values()])
    return type(value) in PLAIN


# ---- modules that the program's modules import ----

_told_modules = {}  # the module's name: names, their values, the Remote that tells the compiler of them


def _imported_by(name, path):
    """The program's own modules that the module imports, by their names."""
    package = name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for module, dots, part in file_of(path).outer()[1]:
        if dots:
            parts = package.split(".")
            module = ".".join(filter(None, [*parts[: len(parts) - dots + 1], module]))
        steps = module.split(".")
        found.update([".".join(steps[: i + 1]) for i in range(len(steps))])
        if part is not None:
            found.add(f"{module}.{part}")
    return found


def _is_of_program(module, root=None):
    """Whether its text is a program's: neither Python's, nor a library's that is installed, unless it is the one that is asked for."""
    path = getattr(module, "__file__", None)
    if type(module) is not types.ModuleType or path is None or not path.endswith(".py"):
        return False
    first = module.__name__.partition(".")[0]
    return first == root or not ("site-packages" in path or first in sys.stdlib_module_names or first == "tilec")


def _imports_told(name, path):
    """The Remotes by which the compiler hears what names of the modules are, which the module's text imports, and theirs: plain
    values are what the program has computed them to be."""
    root = name.partition(".")[0]
    todo, seen, told = sorted(_imported_by(name, path)), set(), []
    while todo:
        one = todo.pop()
        module = sys.modules.get(one)
        if one in seen or module is None or one == name or not _is_of_program(module, root):
            continue
        seen.add(one)
        todo += sorted(_imported_by(one, module.__file__))
        known = vars(module)
        names = [found for found in file_of(module.__file__).outer()[0] if found in known and _is_value(known[found])]
        values = [known[found] for found in names]
        before = _told_modules.get(one)
        if before is None or before[0] != names or not all(map(operator.is_, before[1], values)):
            foreign = _of_foreign_modules(module.__file__, known, _folder_of(one, module.__file__))
            text = Text(f"core.module_told({one!r}, ", text_of({**foreign, **dict(zip(names, values))}), ")")
            before = _told_modules[one] = names, values, Remote(text)
        told.append(before[2])
    return told


@functools.cache
def _is_foreign(name):
    """A module that is Python's alone, as an installed library: the compiler has none of that name."""
    from tilec import modules

    first = name.partition(".")[0]
    return first not in sys.stdlib_module_names and first != "tilec" and not modules.exists(first)


def _is_below(module, folder):
    """Whether imports of a program's text that is in the folder find the module there."""
    path = getattr(module, "__file__", None) or "/"
    return "site-packages" not in path and not os.path.relpath(path, folder).startswith("..")


def _of_foreign_modules(path, known, folder):
    """Of libraries that the module at the path imports, the numbers that its text asks for, as attributes: by the names that the text
    has for the libraries."""
    file, found = file_of(path), {}
    for name in file.modules:
        value = known.get(name)
        if type(value) is types.ModuleType and not _is_below(value, folder) and _is_foreign(value.__name__):
            asked = {node.attr for node in file.attributes if isinstance(node.value, ast.Name) and node.value.id == name}
            numbers = {one: getattr(value, one, None) for one in sorted(asked)}
            numbers = {one: number for one, number in numbers.items() if type(number) in (bool, int, float) and _is_value(number)}
            if numbers:
                found[name] = types.SimpleNamespace(**numbers)
    return found


def _is_value(value):
    if type(value) is tuple:
        return all([_is_value(item) for item in value])
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        return False
    return _is_number(value) or type(value) in PLAIN or is_enum_of_numbers(value)


_MADE_BY_DATACLASSES = ("<string>", dataclasses.__file__)


def _functions_of(value):
    """Those in whose text names are looked for: a function's own, a class's methods."""
    value = getattr(value, "__tile_function__", value)
    if isinstance(value, types.FunctionType):
        return [value]
    if isinstance(value, type):
        own = [item.fget if isinstance(item, property) else item for item in vars(value).values()]
        own = [item for item in own if isinstance(item, types.FunctionType) and item.__module__ == value.__module__]
        return [item for item in own if item.__code__.co_filename not in _MADE_BY_DATACLASSES]
    return []


def _global_names(function, path):
    """The names of the module that the definition needs, through the functions that it mentions; and which of them are functions
    that it may call."""
    names, called = {}, set()
    todo = [function]
    seen = set()
    while todo:
        one = todo.pop()
        if id(one) in seen or getattr(one, "__code__", None) is None or one.__code__.co_filename != path:
            continue
        seen.add(id(one))
        text = file_of(readable(path, _version_of(one)))
        node = text.node(name_of(one), line_of(one))
        for name in text.names(node) if node is not None else one.__code__.co_names:
            if name in one.__globals__:
                value = one.__globals__[name]
                names[name] = value
                todo += _functions_of(value)
                if getattr(value, "__tile_called__", None) is True and name in one.__code__.co_names:
                    called.add(name)
    return names, called


def _spoken(name, value):
    """A name that the program gave a meaning elsewhere, as in a notebook's cell before; {}: there are no words for it."""
    if isinstance(value, types.ModuleType):
        value = Module(value.__name__)
    try:
        text_of(value)
    except Unspeakable:
        return {}
    return {name: value}


def module_of(functions, path, name, node=None, version=None):
    """The Remote of a module, with what the names that the functions, or the definition, need are."""
    plain = {}
    known = vars(sys.modules[name]) if name in sys.modules else {}
    read = readable(path, version)
    for found in file_of(read).names(node) if node is not None else ():
        if found in known and _is_plain(known[found]):
            plain[found] = known[found]
    folder = _folder_of(name, path)
    plain.update(_of_foreign_modules(read, known, folder))
    for function in functions:
        names, called = _global_names(function, path)
        for found, value in names.items():
            if _is_plain(value) or _is_elsewhere(value, folder) or _is_told_class(value):
                plain[found] = value
            elif found in called and found not in file_of(read).defined:
                plain[found] = value
            elif found not in file_of(read).bound() and "*" not in file_of(read).bound():
                plain.update(_spoken(found, value))
    plain = dict(sorted(plain.items()))
    key = read, _version(read), text_of(plain).key()
    if key not in _modules:
        told = name if name != "__main__" else os.path.splitext(os.path.basename(path))[0]
        folder = _folder_of(name, path) if name != "__main__" else os.path.dirname(path) or "."
        before = [Text(one, ", ") for one in _imports_told(name, read)]
        _modules[key] = Remote(
            Text("(", *before, "core.module_at(", repr(read), ", ", repr(told), ", ", repr(folder), ", ", text_of(plain), "),)[-1]"))
    return _modules[key]


# ---- definitions ----


def cells(function):
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            pass
    return found


def names_of(function):
    """What names of the program mean in its text."""
    return {**function.__globals__, **cells(function)}


def _parts_of(node, functions):
    """Those of a definition, but for calls that were evaluated when it was made: what they ask for has been asked."""
    known = {place for function in functions for place, _, why in getattr(function, "__tile_calls__", ()) if why is None}
    found, todo = [], [node]
    while todo:
        part = todo.pop()
        if not isinstance(part, ast.Call) or (part.lineno, part.col_offset + 1, part.end_lineno, part.end_col_offset + 1) not in known:
            found.append(part)
            todo.extend(ast.iter_child_nodes(part))
    return found


def _told(names, parts):
    """Those that there are words for, or for what the definition asks of them."""
    texts = []
    for name, value in names.items():
        asked = _asked_alone(value, _named(name), parts)
        if asked is not None:
            texts.append(Text(repr(name), ": ", asked))
            continue
        try:
            texts.append(Text(repr(name), ": ", _with_attributes(value, text_of(value), _named(name), parts)))
        except Unspeakable:
            asked = _asked_of(name, value, parts)
            if asked is not None:
                texts.append(Text(repr(name), ": ", asked))
    parts = []
    for text in texts:
        parts += [text, ", "]
    return Text("{", *parts, "}")


def surroundings(depth=1):
    """The names of the functions around a decorator's use, which annotations are of: for it to keep."""
    frame = sys._getframe(depth + 1)
    return {} if frame.f_locals is frame.f_globals else dict(frame.f_locals)


def node_of(function):
    """The text of a function."""
    path = function.__code__.co_filename
    return file_of(readable(path, _version_of(function))).node(name_of(function), line_of(function))


def lines_of(function):
    """Those of its file, as they were when it was defined."""
    path = function.__code__.co_filename
    version = _version_of(function)
    if (path, version) not in _kept:
        return linecache.getlines(path)
    return _kept[path, version].splitlines()


def _asked_alone(value, stands_for, parts):
    """Of an object of the program's of which a text needs nothing but some attributes, none of which is a method: the others, which may
    change, are no part of it. None: of no other value."""
    if not is_object_of_program(value):
        return None
    whole = [part for part in parts if stands_for(part)]
    inner = [part for part in parts if isinstance(part, ast.Attribute) and stands_for(part.value)]
    if len(whole) > len(inner) or any([isinstance(getattr(value, part.attr, None), types.MethodType) for part in inner]):
        return None
    return _attributes_of(value, stands_for, parts)


def _asked_of(name, value, parts):
    """An object of the program's, of which there are words for the attributes alone that a text asks of it; None: there are none."""
    return _attributes_of(value, _named(name), parts)


def _named(name):
    """Whether a part of a text is that name."""
    return lambda part: isinstance(part, ast.Name) and part.id == name


def _asked_in(parts, stands_for):
    """The attributes that are asked of what such a part stands for."""
    return sorted({part.attr for part in parts if isinstance(part, ast.Attribute) and stands_for(part.value)})


def _attributes_of(value, stands_for, parts):
    """Where a part of the text stands for the value: of the attributes that are asked of it, and of theirs."""
    texts = []
    for asked in _asked_in(parts, stands_for):
        def stands_for_it(part, asked=asked):
            return isinstance(part, ast.Attribute) and part.attr == asked and stands_for(part.value)

        try:
            found = getattr(value, asked)
            text = _asked_alone(found, stands_for_it, parts) or text_of(found)
        except AttributeError:
            continue
        except Unspeakable:
            text = _attributes_of(found, stands_for_it, parts)
        if text is not None:
            texts += [f"{asked!r}: ", text, ", "]
    return Text(f"type({type(value).__name__!r}, (), {{", *texts, "})") if texts else None


def _with_attributes(value, text, stands_for, parts):
    """A function that the program gave attributes has those that a text asks of it, as far as there are words for them."""
    own = vars(value) if callable(value) and not isinstance(value, type) and hasattr(value, "__dict__") else None
    for asked in _asked_in(parts, stands_for) if own else ():
        try:
            found = text_of(own[asked])
        except (KeyError, Unspeakable):
            continue
        text = Text("(setattr(", text, f", {asked!r}, ", found, "), ", text, ")[1]")
    return text


_definitions = {}


def forget_definitions():
    """Names that they mention mean something else now."""
    _definitions.clear()
    _modules.clear()


def _located(value, path, line, around, functions, module_name):
    version = _version_of(functions[0]) if functions else None
    own_name = name_of(value)
    node = file_of(readable(path, version)).node(own_name, line)
    if node is None:
        raise Unspeakable(f"{path} has no definition of {own_name}")
    names = {}
    mentioned = file_of(readable(path, version)).names(node)
    for name, found in (around or {}).items():
        if name in mentioned and name != own_name:
            names[name] = found
    for function in functions:
        names.update({name: found for name, found in cells(function).items() if name not in (own_name, "__class__")})
    module = module_of(functions, path, module_name, node, version)
    calls = _told_calls(functions)
    return Remote(Text("core.definition(", module, f", {own_name!r}, {line}, ", _told(names, _parts_of(node, functions)), *([", ", calls] if calls else []), ")"))


def _told_calls(functions):
    """Calls in them that were evaluated when they were defined: where they begin and end, what they gave, or why they gave nothing."""
    texts = []
    for function in functions:
        for place, value, why in getattr(function, "__tile_calls__", ()):
            try:
                texts.append(Text(f"({', '.join(map(str, place))}, ", text_of(value), f", {why!r}), "))
            except Unspeakable:
                continue
    return Text("[", *texts, "]") if texts else None


def definition(value, around=None):
    """The Remote of a function or class, without its decorators. `around`: surroundings()."""
    functions = _functions_of(value)
    if not functions:
        if isinstance(value, type):
            return class_definition(value, around)
        raise Unspeakable(f"{value!r} is not defined in a file")
    first = functions[0]
    path = first.__code__.co_filename
    if not os.path.exists(readable(path, _version_of(first))):
        raise Unspeakable(f"{value!r} is defined in {path}, which is no file")
    return _located(value, path, line_of(first), around, functions, first.__module__)


def class_definition(cls, around=None, place=None):
    """Of a class, which needs no methods. `place`: its file and line, where they are known; classes of one name are told apart by them."""
    try:
        path, line = place or (inspect.getsourcefile(cls), inspect.getsourcelines(cls)[1])
    except (OSError, TypeError):
        raise Unspeakable(f"{cls!r} is not defined in a file") from None
    return _located(cls, path, line, around, _functions_of(cls), cls.__module__)


def _lambda_node(value):
    """Its text's: of those that begin at its line the one with its parameters, whose body stands where it does."""
    code = value.__code__
    named = list(code.co_varnames[: code.co_argcount])
    found = [node for node in file_of(code.co_filename).lambdas
             if node.lineno == code.co_firstlineno and [one.arg for one in node.args.args] == named]
    if len(found) > 1 and hasattr(code, "co_positions"):
        begins = {(line, column) for line, _, column, _ in code.co_positions()}
        found = [node for node in found if (node.body.lineno, node.body.col_offset) in begins]
    if len(found) != 1:
        raise Unspeakable(f"{code.co_filename}:{code.co_firstlineno}: {len(found)} functions without a name are alike there")
    return found[0]


def lambda_text(value):
    """The expression that a function without a name is, in one whose parameters are the names around it."""
    node = _lambda_node(value)
    around = cells(value)
    for part in ast.walk(node.body):
        if isinstance(part, ast.Name) and part.id in value.__globals__ and part.id not in value.__code__.co_varnames:
            around.setdefault(part.id, value.__globals__[part.id])
    told = []
    for name, item in around.items():
        try:
            told.append((name, text_of(item)))
        except Unspeakable:
            continue
    values = [Text(text, ", ") for _, text in told]
    return Text("(lambda ", ", ".join([name for name, _ in told]), ": ", ast.unparse(node), ")(", *values, ")")


def function_text(value):
    """For session.speakers: a function or class of the program."""
    if isinstance(value, types.BuiltinFunctionType) and value.__module__ in ("_operator", "math"):
        return Text(Module(value.__module__.removeprefix("_")), f".{value.__name__}")
    if isinstance(value, types.FunctionType) and name_of(value) == "<lambda>" and os.path.exists(value.__code__.co_filename):
        if value not in _definitions:
            _definitions[value] = Remote(lambda_text(value))
        return Text(_definitions[value])
    if not isinstance(value, (types.FunctionType, type)) or value.__module__ in ("builtins", "numpy", "torch"):
        return None
    if value not in _definitions:
        try:
            _definitions[value] = definition(value)
        except Unspeakable:
            return None
    return Text(_definitions[value])
