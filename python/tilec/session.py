"""Values that live in libtilec: what a program in Python computes of a dialect's own things.

A Remote is the text of an expression, of which other Remotes may be parts. It is evaluated when something of it
is needed, once, and bound to a name in the interpreter. An interpreter that met an error is left; in the next one
everything is evaluated anew, when it is needed again.
"""

import contextlib
import inspect
import math
import os
import threading
import types

from tilec import device, native

lock = threading.RLock()


_chosen = None  # by the program


def keep_in(folder):
    """The program chooses where compiled code is kept."""
    global _chosen
    _chosen = folder
    the.leave()


def cache_folder():
    return default_folder() if _chosen is None else _chosen


def default_folder():
    given = os.environ.get("TILE_CACHE")
    if given is not None:
        return given or None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tilec")


class Session:
    """The process's interpreter."""

    PREAMBLE = """import __core__ as core

def with_results(kernel, results):
    kernel.__results__ = results
    return kernel
"""
    MOST_CALLS = 20000  # then a new one is opened, as what was evaluated stays in memory,
    MOST_MEMORY = 256 << 20  # or when so many bytes are taken

    def __init__(self):
        self.interpreter = None
        self.generation = 0
        self.calls = 0
        self.words = []
        self.computes = None  # those of the device
        self.packages = {}
        self.hosts = None, 0, 0  # the interpreter of on_host()

    def open(self):
        if self.interpreter is None or self.calls > self.MOST_CALLS or (self.calls > 0 and self.interpreter.memory > self.MOST_MEMORY):
            self.interpreter = native.Interpreter(device.computes() if self.computes is None else self.computes, self.all_words())
            self.interpreter.packages = set()  # what it has of self.packages
            self.generation = next(_generations)
            self.calls = 0
            self.interpreter.run(self.PREAMBLE)
        self.give_packages()
        return self.interpreter

    def all_words(self):
        folder = cache_folder()
        return self.words + ([f"--cache={folder}"] if folder else ["--no-cache"])

    def give_packages(self):
        """Every interpreter gets those that came since it was asked last, as it may have been another's turn then."""
        given = self.interpreter.packages
        for folder in [one for one in self.packages if one not in given] if len(given) < len(self.packages) else []:
            given.add(folder)
            self.interpreter.run(self.packages[folder])

    def add_package(self, name, path, folder):
        """A part of a system's own package, so that imports of it are found: below the folder."""
        with lock:
            self.packages.setdefault(folder, f"core.module_at({path!r}, {name!r}, {folder!r}, {{}})")
            if self.interpreter is not None:
                self.give_packages()

    def run(self, text, tensors=(), names_are_there=False):
        interpreter = self.interpreter if names_are_there else self.open()
        self.calls += 1
        try:
            answer = interpreter.run(text, tensors)
        except native.CompileError:
            self.leave()
            raise
        if answer["printed"]:
            print(answer["printed"], end="")
        return answer

    @contextlib.contextmanager
    def another(self, computes, words):
        """For a while another interpreter is asked, which compiles for these GPUs and has these options, too."""
        kept = self.interpreter, self.generation, self.calls, self.words, self.computes
        self.interpreter, self.words, self.computes = None, self.words + words, computes
        try:
            yield
        finally:
            self.leave()
            self.interpreter, self.generation, self.calls, self.words, self.computes = kept

    @contextlib.contextmanager
    def on_host(self):
        """For a while kernels are compiled for the emulator, which runs them on the host's memory: beside a GPU, too."""
        with lock:
            if device.is_emulator():
                yield
                return
            chosen, kept = device.name(), (self.interpreter, self.generation, self.calls, self.words, self.computes)
            device.choose("emulator")
            self.interpreter, self.generation, self.calls = self.hosts
            self.words, self.computes = [], None
            try:
                yield
            finally:
                self.hosts = self.interpreter, self.generation, self.calls
                self.interpreter, self.generation, self.calls, self.words, self.computes = kept
                device.choose(chosen)

    def leave(self):
        if self.interpreter is not None:
            self.interpreter.close()
        self.interpreter = None


_generations = iter(range(1, 1 << 62))
the = Session()
_numbers = iter(range(1, 1 << 62))


# ---- several kernels at a time ----

_put_off = None  # while kernels are only asked what they are made of: the statements and tensors of each


class PutOff(Exception):
    """A kernel is compiled beside others, not here."""


def is_put_off():
    return _put_off is not None


def put_off(remote, tensors=()):
    """Before a kernel is compiled; it ends here where compile_ahead() asks for it."""
    if _put_off is None:
        return
    the.open()
    kept, the.generation = the.generation, next(_generations)  # of an interpreter that has nothing yet
    try:
        statements = []
        bound = remote._text.bound(statements)
        texts = "\n".join(statements), f"{remote._name} = {bound}"
        _put_off.append((texts, list(tensors), device.computes(), the.all_words()))
    finally:
        the.generation = kept
    raise PutOff


def build(remote, tensors=()):
    """What is compiled when the value is made. Its statement is run alone: places in it are part of the text that compiled code is kept
    by, so they must not depend on what came before."""
    with lock:
        the.open()
        statements = []
        bound = remote._text.bound(statements)
        if statements:
            the.run("\n".join(statements), tensors)
        remote._generations.add(the.generation)
        return the.run(f"{remote._name} = {bound}", tensors, names_are_there=True)["built"]


def compile_ahead(makes):
    """Compiles what these functions make, side by side: whoever makes it then finds it among the compiled code that is kept.
    What fails is told of then, too."""
    global _put_off
    threads = min(len(makes), len(os.sched_getaffinity(0)))
    if threads < 2 or not cache_folder():
        return
    waiting = []
    with lock:
        the.open()
        for make in makes:
            _put_off = waiting
            try:
                make()
            except Exception:
                pass
            finally:
                _put_off = None
        packages = list(the.packages.values())
        waiting.reverse()

        def work():
            while waiting:
                try:
                    texts, tensors, computes, words = waiting.pop()
                except IndexError:
                    return
                try:
                    interpreter = native.Interpreter(computes, words)
                    for statements in [the.PREAMBLE, *packages]:
                        interpreter.run(statements)
                    for statements in texts:
                        interpreter.run(statements, tensors)
                    interpreter.close()
                except native.Error:
                    pass

        crew = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()


class Text:
    """An expression: a list of texts and Remotes."""

    __slots__ = ("parts",)

    def __init__(self, *parts):
        self.parts = []
        for part in parts:
            self.parts.extend(part.parts if isinstance(part, Text) else [part])

    def bound(self, statements):
        return "".join([part if isinstance(part, str) else part.bind(statements) for part in self.parts])

    def key(self):
        return tuple([part if isinstance(part, str) else (part._name,) for part in self.parts])  # others may get its id when it is gone


def joined(separator, texts):
    parts = []
    for text in texts:
        parts += ([separator] if parts else []) + [text]
    return Text(*parts)


class Unspeakable(TypeError):
    """A value that the compiler has no words for."""


def _number(value):
    if math.isfinite(value):
        return repr(value)
    return f'float("{value}")'


PLAIN = (bool, int, float, str, type(None))
# What other modules add: functions that give the Text of a value, or None.
speakers = []


def text_of(value):
    """The Text of a value; Unspeakable: there is none."""
    if isinstance(value, Remote):
        return Text(value)
    kind = type(value)
    words = getattr(kind, "__tile_text__", None)
    if words is not None:
        return words(value)
    remote = getattr(kind, "__tile_remote__", None)
    if remote is not None:
        return Text(remote(value))
    if kind is float:
        return Text(_number(value))
    if kind is int and value < -(1 << 62):  # what is negated is a positive number, which is to fit
        return Text(f"({value + 1} - 1)")
    if kind is int and 1 << 63 <= value < 1 << 64:  # of a uint64: by the number with the same bits
        return text_of(value - (1 << 64))
    if kind in (int, str, bool, type(None)):
        return Text(repr(value))
    if kind is tuple:
        return Text("(", *[Text(text_of(item), ", ") for item in value], ")")
    if kind is list:
        return Text("[", joined(", ", [text_of(item) for item in value]), "]")
    if kind is dict:
        return Text("{", joined(", ", [Text(text_of(key), ": ", text_of(item)) for key, item in value.items()]), "}")
    if kind in (set, frozenset):
        return Text(f"{kind.__name__}([", joined(", ", [text_of(item) for item in value]), "])")
    if kind is slice:
        return Text("slice(", text_of(value.start), ", ", text_of(value.stop), ", ", text_of(value.step), ")")
    if kind is range:
        return Text(repr(value))
    if value in (int, float, bool, str, tuple, list, dict, type(None)) if isinstance(value, type) else False:
        return Text("type(None)" if value is type(None) else value.__name__)
    if value is Ellipsis:
        return Text("...")
    if kind is types.SimpleNamespace:
        return Text(module("argparse"), ".Namespace(", joined(", ", [Text(f"{name}=", text_of(item)) for name, item in vars(value).items()]), ")")
    for speaker in speakers:
        found = speaker(value)
        if found is not None:
            return found
    raise Unspeakable(f"the compiler knows nothing of {value!r}, a {kind.__module__}.{kind.__qualname__}")


def call_text(function, args, kwargs):
    given = [text_of(value) for value in args] + [Text(f"{name}=", text_of(value)) for name, value in kwargs.items()]
    return Text(function, "(", joined(", ", given), ")")


def _plain(told):
    """A value that was told, or None if it is not plain; with whether it is."""
    if isinstance(told, PLAIN):
        return told, True
    if isinstance(told, list):
        items = [_plain(item) for item in told]
        return [item for item, _ in items], all([plain for _, plain in items])
    if "float" in told:
        return float.fromhex(told["float"]), True
    if "tuple" in told:
        items, plain = _plain(told["tuple"])
        return tuple(items), plain
    return None, False


def give(text):
    """What the expression gives, and whether that is all of it."""
    with lock:
        statements = []
        bound = text.bound(statements)
        statements.append(f"give({bound})")
        return _plain(the.run("\n".join(statements))["values"][0])


# Set by a dialect: what the Text of an expression that kernels alone have is, outside of one.
in_kernel = None


def evaluate(text):
    """What the expression is: a plain value as Python has it, else a Remote."""
    if in_kernel is not None and any([getattr(part, "is_of_kernel", False) for part in text.parts]):
        return in_kernel(text)
    remote = Remote(text)
    value, plain = give(Text(remote, " if core.is_told(", remote, ") else ..."))
    return value if plain else remote


class Remote:
    """A value of the interpreter's; what it is asked, it asks there."""

    is_of_kernel = False

    def __init__(self, text):
        self.__dict__["_text"] = text if isinstance(text, Text) else Text(text)
        self.__dict__["_name"] = f"_v{next(_numbers)}"
        self.__dict__["_generations"] = set()  # the interpreters that have it by its name
        self.__dict__["_known"] = {}

    def bind(self, statements):
        """Its name there; `statements` get what has to be evaluated before."""
        the.open()
        if the.generation not in self._generations:
            text = self._text.bound(statements)
            statements.append(f"{self._name} = {text}")
            self._generations.add(the.generation)
        return self._name

    def __getattr__(self, name):
        if name == "__signature__":
            return self._signature()
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name not in self._known:
            if not give(Text("hasattr(", self, f", {name!r})"))[0]:
                raise AttributeError(f"{self!r} has no {name!r}")
            self._known[name] = evaluate(Text(self, f".{name}"))
        return self._known[name]

    def _signature(self):
        """What a function takes, by its names alone, for who asks inspect."""
        names = give(Text("core.parameters(", self, ")"))[0]
        if not names:
            raise AttributeError("__signature__")
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in names])

    def __call__(self, *args, **kwargs):
        text = call_text(self, args, kwargs)
        try:
            return evaluate(text)
        except native.CompileError as error:
            if in_kernel is None or "works in a kernel only" not in str(error):
                raise
        return in_kernel(text)

    def __getitem__(self, index):
        return evaluate(Text(self, "[", text_of(index), "]"))

    def __str__(self):
        return evaluate(Text("str(", self, ")"))

    def __repr__(self):
        try:
            return evaluate(Text("repr(", self, ")"))
        except native.CompileError:
            return f"<{''.join([part if isinstance(part, str) else part._name for part in self._text.parts])}>"

    def __hash__(self):
        return id(self)

    def __bool__(self):
        return evaluate(Text("bool(", self, ")"))

    def __instancecheck__(self, value):
        """isinstance(value, self): what has no name there is no instance of a class there."""
        try:
            return evaluate(Text("isinstance(", text_of(value), ", ", self, ")"))
        except Unspeakable:
            return False

    def __len__(self):
        return evaluate(Text("len(", self, ")"))

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __int__(self):
        return evaluate(Text("int(", self, ")"))

    def __float__(self):
        return evaluate(Text("float(", self, ")"))

    def __eq__(self, other):
        if self is other:
            return True
        try:
            return evaluate(Text(self, " == ", text_of(other)))
        except (Unspeakable, native.CompileError):
            return NotImplemented

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal


def _operated(text):
    """What is known in a kernel alone, such as twice an extent of a call's tensors, is evaluated there."""
    try:
        return evaluate(text)
    except native.CompileError as error:
        if not any(words in str(error) for words in ("is not known here", "works in a kernel only")):
            raise
        return Remote(text)


def _operator(symbol):
    def left(self, other):
        return _operated(Text("(", self, f" {symbol} ", text_of(other), ")"))

    def right(self, other):
        return _operated(Text("(", text_of(other), f" {symbol} ", self, ")"))

    return left, right


for _name, _symbol in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}.items():
    _left, _right = _operator(_symbol)
    setattr(Remote, f"__{_name}__", _left)
    setattr(Remote, f"__r{_name}__", _right)
for _name, _symbol in {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}.items():
    setattr(Remote, f"__{_name}__", _operator(_symbol)[0])
setattr(Remote, "__neg__", lambda self: evaluate(Text("(-", self, ")")))
setattr(Remote, "__invert__", lambda self: evaluate(Text("(~", self, ")")))


class Module(Remote):
    """A module of the dialects' library."""

    def bind(self, statements):
        the.open()
        if the.generation not in self._generations:
            statements.append(f"import {self._text.parts[0]} as {self._name}")
            self._generations.add(the.generation)
        return self._name


def module(name):
    return Module(name)
