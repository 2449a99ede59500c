"""Deterministic kernels: what Warp refuses of them is refused here, though one thread goes through the elements and could do some of it.

A kernel's text, and that of the functions which it calls, is gone through once: what it does with which array, by the parameter and the
fields that lead there. What arrays share memory is seen when it is launched."""

import ast
import collections
import inspect
import math
import types as _python
import weakref

import numpy

from tilec import source as _source
from warp import types as _types
from warp.arrays import array, array_annotation_base, indexedarray
from warp.types import Struct, StructInstance, float_types

MOST_THREADS, MOST_SLOTS = 1 << 32, (1 << 31) - 1  # of a launch, and of one that assigns slots, which are int32


class WarpDeterminismError(RuntimeError):
    """What a deterministic kernel is asked that it cannot keep."""


# ---- what a text does ----

FAMILIES = {"atomic_add": "add", "atomic_sub": "add", "atomic_min": "min", "atomic_max": "max"}  # those whose order does not matter for integers
_WORDS = {ast.Add: "atomic_add", ast.Sub: "atomic_sub", ast.BitAnd: "atomic_and", ast.BitOr: "atomic_or", ast.BitXor: "atomic_xor"}
_TILES = {"tile_load": "read", "tile_store": "written", "tile_atomic_add": "updated", "lower_bound": "read"}

Place = collections.namedtuple("Place", "root fields kind ndim adjoint")  # an array, a struct, or a view: what parameter and fields lead there
Named = collections.namedtuple("Named", "name")  # a function of Warp's
Event = collections.namedtuple("Event", "place word used function line statement slot in_gradient")
Target = collections.namedtuple("Target", "target_label scalar_dtype")


def _kind_of(kind):
    return (kind, kind.ndim if isinstance(kind, array_annotation_base) and isinstance(kind.ndim, int) else 0)


def _is_float(place):
    kind = getattr(place.kind, "dtype", None)
    return getattr(kind, "_dtype", kind) in float_types


def _is_composite(place):
    return hasattr(getattr(place.kind, "dtype", None), "_dtype")


class Walk:
    """Through a function and those that it calls. `backward`: through what a gradient goes back by: the functions' replays, and their own
    gradients."""

    def __init__(self, backward=False):
        self.backward = backward
        self.events, self.open = [], []
        self.in_gradient = 0

    # ---- functions ----

    def function(self, function, bound, is_used, statement=None):
        if function in self.open:
            return None
        definition = _source.node_of(function)
        if definition is None:
            return None
        scope = _Scope(self, function, bound, is_used, statement)
        self.open.append(function)
        for one in definition.body:
            scope.statement(one)
        self.open.pop()
        return scope.result

    def call(self, called, arguments, is_used, statement):
        """Of a function of the program's."""
        parameters = list(inspect.signature(called.func).parameters)
        bound = dict(zip(parameters, arguments))
        replay, gradient = getattr(called, "replay", None), getattr(called, "gradient", None)
        if self.backward and gradient is not None:
            self.in_gradient += 1
            self.function(gradient, dict(zip(inspect.signature(gradient).parameters, arguments)), True, statement)
            self.in_gradient -= 1
            return None
        return self.function(replay if self.backward and replay is not None else called.func, bound, is_used, statement)


class _Scope:
    def __init__(self, walk, function, bound, is_used, statement):
        self.walk, self.code, self.is_used, self.outer = walk, function, is_used, statement
        self.names = dict(bound)
        self.known = _source.names_of(function)
        self.result, self.here = None, None

    def note(self, place, word, node, used=False, slot=False):
        if place.fields is not None:
            self.walk.events.append(Event(place, word, used, self.code, node.lineno, self.outer or self.here, slot, self.walk.in_gradient > 0))

    # ---- values ----

    def meaning(self, node):
        """A place, a function, a module: what is neither is None. Nothing is noted of what is read."""
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id]
            found = self.known.get(node.id)
            return Named(found.key) if type(found).__name__ == "Builtin" else found if found is not None else Named(node.id)
        if isinstance(node, ast.Attribute):
            base = self.meaning(node.value)
            if isinstance(base, Place) and isinstance(base.kind, Struct):
                kind, ndim = _kind_of(base.kind.vars.get(node.attr))
                return Place(base.root, (*base.fields, node.attr), kind, ndim, base.adjoint)
            if isinstance(base, _python.ModuleType):
                return Named(node.attr) if base.__name__ == "warp" else getattr(base, node.attr, None)
            return None
        if isinstance(node, ast.Subscript):
            base = self.meaning(node.value)
            if isinstance(base, Named) and base.name == "adjoint":
                inner = self.meaning(node.slice)
                return inner._replace(adjoint=True) if isinstance(inner, Place) else None
            if isinstance(base, Place) and base.ndim:
                left = self.left(base, node.slice)
                return base._replace(ndim=left) if left else None
        return None

    @staticmethod
    def left(place, index):
        """How many dimensions an index leaves."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        return place.ndim - len(parts) + sum([isinstance(one, ast.Slice) for one in parts])

    def element_of(self, node):
        """The array that a subscript is an element of."""
        if not isinstance(node, ast.Subscript):
            return None
        base = self.meaning(node.value)
        return base if isinstance(base, Place) and base.ndim and not self.left(base, node.slice) else None

    def value(self, node, is_used=True):
        """Goes through an expression; what it is."""
        if isinstance(node, ast.Call):
            return self.call(node, is_used)
        place = self.element_of(node)
        if place is not None:
            self.note(place, "read", node)
        if isinstance(node, ast.Subscript):
            self.value(node.slice)
            if self.meaning(node.value) is None:
                self.value(node.value)
            return self.meaning(node)
        if isinstance(node, (ast.Name, ast.Attribute)):
            if isinstance(node, ast.Attribute) and self.meaning(node.value) is None:
                self.value(node.value)
            return self.meaning(node)
        for one in ast.iter_child_nodes(node):
            if isinstance(one, (ast.expr, ast.Slice)):
                self.value(one)
            elif isinstance(one, ast.comprehension):
                self.value(one.iter)
        return None

    def call(self, node, is_used):
        from warp.launches import Function

        called = self.meaning(node.func)
        if isinstance(called, Function):
            return self.walk.call(called, [self.value(one) for one in node.args], is_used, self.outer or self.here)
        word = called.name if isinstance(called, Named) else None
        if word in ("static", "len"):
            return None
        target = self.meaning(node.args[0]) if node.args else None
        if isinstance(target, Place) and target.ndim and word is not None:
            if word.startswith("atomic_"):
                self.note(target, word, node, used=is_used)
            elif word in _TILES:
                self.note(target, _TILES[word], node)
        elif isinstance(node.func, ast.Attribute) and word is None:
            self.value(node.func.value)
        for one in [*node.args, *[one.value for one in node.keywords]]:
            self.value(one)
        return None

    # ---- statements ----

    def statement(self, node):
        self.here = node
        if isinstance(node, ast.Expr):
            self.value(node.value, is_used=False)
        elif isinstance(node, ast.Return):
            self.result = None if node.value is None else self.value(node.value, self.is_used)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            found = None if node.value is None else self.value(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self.store(target, found, node)
        elif isinstance(node, ast.AugAssign):
            self.value(node.value)
            self.change(node)
        else:
            self.inner(node)

    def inner(self, node):
        for _, field in ast.iter_fields(node):
            for one in field if isinstance(field, list) else [field]:
                if isinstance(one, ast.stmt):
                    self.statement(one)
                elif isinstance(one, ast.expr):
                    self.here = node
                    self.value(one)

    def store(self, target, found, node):
        if isinstance(target, ast.Name):
            self.names[target.id] = found
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                self.store(one, None, node)
        else:
            place = self.target(target)
            if place is not None:
                self.note(place, "written", node)

    def target(self, target):
        """The array that an element, or a part of an element, is of; what its index reads is noted."""
        while isinstance(target, (ast.Attribute, ast.Subscript)):
            place = self.element_of(target)
            if isinstance(target, ast.Subscript):
                self.value(target.slice)
                whole = self.meaning(target.value)
                if place is None and isinstance(whole, Place) and whole.ndim:
                    place = whole
            if place is not None:
                return place
            target = target.value
        return None

    def change(self, node):
        place = self.target(node.target)
        if place is None:
            if isinstance(node.target, ast.Name):
                self.names[node.target.id] = None
            return
        word = _WORDS.get(type(node.op))
        if word is None:
            self.note(place, "read", node)
            self.note(place, "written", node)
        else:
            self.note(place, word, node, slot=self.element_of(node.target) is None)


# ---- what is refused of a text ----


def _said(event):
    text = ast.unparse(event.statement).splitlines()[0]
    return f"{text}\n(line {event.line} of {event.function.__name__}() in {event.function.__code__.co_filename})"


def _spot(event):
    return event.place.root, event.place.fields


class Told:
    """Of a kernel: what it does forward and backward, and what is refused of it whatever it is given."""

    def __init__(self, kernel):
        self.key = kernel.key
        self.forward, self.backward = self.walk(kernel, False), self.walk(kernel, True)
        atomics = [one for one in self.forward if one.word.startswith("atomic_") and not one.place.adjoint]
        self.counters = {_spot(one) for one in atomics if one.used and one.word in FAMILIES}
        self.targets = {_spot(one) for one in atomics if one.word in FAMILIES and _is_float(one.place)}
        self.unordered = [one for one in atomics if _spot(one) not in self.counters | self.targets]  # of which each is done where it stands
        self.direct = [one for one in self.forward if one.word in ("read", "written", "updated")]
        self.check_counters(atomics)
        self.check_targets(atomics)

    @staticmethod
    def walk(kernel, backward):
        made = Walk(backward)
        bound = {}
        for name in kernel.parameters:
            kind, ndim = _kind_of(kernel.kinds.get(name))
            if ndim or isinstance(kind, Struct):
                bound[name] = Place(name, (), kind, ndim, False)
        made.function(kernel.func, bound, False)
        return made.events

    def check_counters(self, atomics):
        for one in atomics:
            if one.used and one.word in FAMILIES:
                if one.word != "atomic_add":
                    raise WarpDeterminismError(f"a deterministic kernel supports only the return value of wp.atomic_add(), not that of "
                                               f"wp.{one.word}(): {_said(one)}")
                if one.place.kind.dtype is not _types.int32:
                    raise WarpDeterminismError(f"the return value of wp.atomic_add() assigns slots, and the counter is not an int32 array: {_said(one)}")
        for one in atomics:
            if one.used and one.word not in FAMILIES and self.counters:
                where = f" in {one.function.__name__}() at {one.function.__code__.co_filename}:{one.line}"
                raise WarpDeterminismError(f"{ast.unparse(one.statement).splitlines()[0]}\na kernel that assigns slots uses what another atomic "
                                           f"returns, whose order is not kept: wp.{one.word}(){where}")
            if not one.used and _spot(one) in self.counters:
                raise WarpDeterminismError(f"array '{_text(_spot(one))}' is used both to assign slots and for updates whose results nobody "
                                           f"uses: {_said(one)}")

    def check_targets(self, atomics):
        families = {}
        for one in atomics:
            if one.slot and _is_float(one.place) and _is_composite(one.place):
                raise WarpDeterminismError("floating-point composite slot augmented assignment atomics are not supported by deterministic "
                                           f"kernels: {_said(one)}")
            if _spot(one) in self.targets:
                earlier = families.setdefault(_spot(one), FAMILIES.get(one.word, one.word))
                if FAMILIES.get(one.word, one.word) != earlier:
                    raise WarpDeterminismError(f"array '{_text(_spot(one))}' receives both '{earlier}' and '{FAMILIES.get(one.word, one.word)}' "
                                               f"atomic operations: {_said(one)}")
        for one in self.direct:
            if _spot(one) in self.targets | self.counters and not one.place.adjoint:
                raise WarpDeterminismError(f"array '{_text(_spot(one))}' receives deterministic atomic updates and is also {one.word} directly: "
                                           f"{_said(one)}")

    def check_backward(self):
        for one in self.backward:
            if one.used and one.word in FAMILIES:
                what = "this kernel" if one.in_gradient else f"kernel '{self.key}'"
                raise WarpDeterminismError(f"cannot differentiate {what} automatically: its gradient would assign slots once more; keep those "
                                           f"of the way forward, and say by @wp.func_replay where they are: {_said(one)}")

    # ---- for whoever asks what is kept in order ----

    @property
    def scatter_targets(self):
        return self.described(self.targets)

    @property
    def counter_targets(self):
        return self.described(self.counters)

    def described(self, spots):
        """Each array once, and the type of its numbers."""
        kinds = {_spot(one): one.place.kind.dtype for one in self.forward if _spot(one) in spots}
        return [Target(_text(spot), getattr(kind, "_dtype", kind)) for spot, kind in kinds.items()]

    @property
    def needs_deterministic(self):
        return bool(self.targets or self.counters)


_told = weakref.WeakKeyDictionary()  # by kernels


def told_of(kernel):
    """Of a kernel that leaves no type open; it is kept with what is known of its text, too."""
    if kernel not in _told:
        _told[kernel] = Told(kernel)
    found, options = _told[kernel], kernel.module.options
    found.determinism_mode, found.max_records = options["deterministic"], options["deterministic_max_records"]
    kernel.adj.det_meta = found
    return found


def check_module(module):
    """Before it is compiled."""
    if module.options["deterministic"]:
        for kernel in module.concrete():
            told_of(kernel)


# ---- what is refused of a launch ----


class _Bytes:
    """An array's elements, as numpy has them, of memory that it does not look at."""

    def __init__(self, one):
        self.__array_interface__ = {"version": 3, "typestr": f"|V{one.itemsize}", "shape": tuple(one.shape), "strides": tuple(one.strides),
                                    "data": (one.memory.pointer + one.offset, True)}


_MOST_WORK = 100000


def overlap(a, b):
    """Whether two arrays have an element in common."""
    a, b = [one.data if isinstance(one, indexedarray) else one for one in (a, b)]
    if not a.size or not b.size:
        return False
    if a.memory is b.memory and a.offset == b.offset:
        return True
    try:
        return numpy.shares_memory(numpy.asarray(_Bytes(a)), numpy.asarray(_Bytes(b)), max_work=_MOST_WORK)
    except numpy.exceptions.TooHardError:
        return True


def _array_at(named, spot):
    root, fields = spot
    found = named.get(root)
    for name in fields:
        found = found.__dict__.get(name) if isinstance(found, StructInstance) else None
    return found if isinstance(found, (array, indexedarray)) else None


def _arrays(named, spots):
    found = {spot: _array_at(named, spot) for spot in spots}
    return {spot: one for spot, one in found.items() if one is not None}


def _text(spot):
    return ".".join([spot[0], *spot[1]])


def check_launch(kernel, values, gradients, extents, device, adjoint):
    """Of a deterministic kernel; `gradients`: those that a gradient is launched with, for each argument."""
    told = told_of(kernel)
    count = math.prod(extents)
    most, word = (MOST_SLOTS, "2^31 - 1") if told.counters else (MOST_THREADS, "2^32")
    if device.is_cuda and count > most:
        raise WarpDeterminismError(f"the deterministic kernel '{kernel.key}' supports at most {word} threads, not {tuple(extents)}")
    named = dict(zip(kernel.parameters, values))
    if adjoint:
        told.check_backward()
        if device.is_cuda:
            _check_gradients(told, named, dict(zip(kernel.parameters, gradients)), count)
    elif device.is_cuda:
        _check_overlaps(told, named)


def _check_overlaps(told, named):
    targets = _arrays(named, sorted(told.targets | told.counters))
    for spot, one in targets.items():
        _check_strides(_text(spot), one)
    items = list(targets.items())
    for i, (spot, one) in enumerate(items):
        for other, another in items[i + 1 :]:
            if overlap(one, another):
                raise WarpDeterminismError(f"arguments '{_text(spot)}' and '{_text(other)}' overlap, and both receive deterministic atomic updates")
    others = [one for one in told.direct if not one.place.adjoint] + told.unordered
    seen = {}
    for event in others:
        if _spot(event) not in targets:
            seen.setdefault(_spot(event), "updated" if event.word.startswith("atomic_") else event.word)
    for spot, one in _arrays(named, seen).items():
        for target, another in items:
            if overlap(one, another):
                raise WarpDeterminismError(f"argument '{_text(target)}', which receives deterministic atomic updates, overlaps argument "
                                           f"'{_text(spot)}', which is {seen[spot]} directly")


def _check_strides(name, one):
    if any([stride < 0 for stride in getattr(one, "strides", ())]):
        raise WarpDeterminismError(f"'{name}' is a negative-stride view, which receives no deterministic atomic updates")


def _gradient(one, given):
    return given if isinstance(given, array) else getattr(one, "grad", None)


def _check_gradients(told, named, given, count):
    """Gradients are added up from several threads: of what these write there is no order."""
    events = told.backward
    added = {_spot(one) for one in events if _is_float(one.place) and (one.word == "read" and not one.place.adjoint
                                                                        or one.place.adjoint and one.word in FAMILIES)}
    written = {_spot(one) for one in events if _is_float(one.place) and one.word == "written"}
    sums = {}
    for spot, one in _arrays(named, sorted(added)).items():
        gradient = _gradient(one, given.get(spot[0]) if not spot[1] else None)
        if gradient is not None:
            _check_strides(f"{_text(spot)}.grad", gradient)
            sums[spot] = one
    for spot, one in _arrays(named, sorted(written)).items():
        for other, another in sums.items():
            if count > 1 and overlap(one, another):
                raise WarpDeterminismError(f"the backward pass of the deterministic kernel '{told.key}' cannot be run in parallel: it adds to the "
                                           f"gradient of '{_text(other)}', and mutates '{_text(spot)}'")

