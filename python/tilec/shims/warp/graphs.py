"""Graphs: what is done to the device's memory is noted, and done when the graph is launched."""

import contextlib
import functools

_open = []


def recorded(function):
    """It is what a graph is made of: while one is captured it is noted with its arguments, and done later."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        if _open and not _open[-1].is_external and not _is_of_cpu((*args, *kwargs.values())):
            _open[-1].steps.append((function, args, kwargs))
            return None
        return function(*args, **kwargs)

    return called


def _places(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _places(value)
        elif hasattr(value, "ordinal"):
            yield value
        elif hasattr(value, "device") and hasattr(value, "dtype") and hasattr(value.device, "ordinal"):
            yield value.device


def _is_of_cpu(values):
    """Whether all that is given is the CPU's, which a graph of a GPU has no part in."""
    places = list(_places(values))
    return len(places) > 0 and all([place.is_cpu for place in places])


def is_capturing():
    return bool(_open)


class Graph:
    def __init__(self, device=None):
        self.device = device
        self.steps = []  # (function, arguments, those by name)
        self.params = None  # those of a graph that was read from a file, by their names
        self.can_be_saved = False
        self.is_external = False  # another library captures what is launched

    def run(self):
        for function, args, kwargs in self.steps:
            function(*args, **kwargs)

    # ---- of a graph that was read from a file ----

    @property
    def is_loaded(self):
        return self.params is not None

    def _param(self, name):
        if self.params is None:
            raise RuntimeError("parameters are those of loaded APIC graphs: see wp.capture_load()")
        if name not in self.params:
            raise RuntimeError(f"the graph has no parameter {name!r}")
        return self.params[name]

    def set_param(self, name, value):
        self._param(name).assign(value)

    def get_param(self, name, result):
        result.assign(self._param(name))

    def get_param_ptr(self, name):
        return self._param(name).ptr if self.params is None or name in self.params else None


def capture_begin(device=None, stream=None, force_module_load=None, external=False, apic=False, **options):
    _open.append(Graph(device))
    _open[-1].can_be_saved = bool(apic)
    _open[-1].is_external = bool(external)


def capture_end(device=None, stream=None):
    if not _open:
        raise RuntimeError("Graph capture is not active")
    return _open.pop()


@recorded
def capture_launch(graph, stream=None):
    from warp.devices import ScopedStream

    with ScopedStream(stream):
        graph.run()


def _body(given, kwargs):
    """What a branch does: a graph, or a function's operations."""
    if given is None or isinstance(given, Graph):
        return given or Graph()
    capture_begin()
    try:
        given(**kwargs)
    finally:
        made = capture_end()
    return made


def capture_if(condition, on_true=None, on_false=None, stream=None, **kwargs):
    _choose(condition, _body(on_false, kwargs), _body(on_true, kwargs))


@recorded
def _choose(condition, no, yes):
    (yes if condition.numpy()[0] else no).run()


def capture_while(condition, while_body, stream=None, **kwargs):
    _repeat(condition, _body(while_body, kwargs))


@recorded
def _repeat(condition, body):
    while condition.numpy()[0]:
        body.run()


class ScopedCapture(contextlib.AbstractContextManager):
    def __init__(self, device=None, stream=None, force_module_load=None, external=False, apic=False, **options):
        self.device = device
        self.graph = None
        self.apic, self.external = apic, external

    def __enter__(self):
        capture_begin(self.device, external=self.external, apic=self.apic)
        return self

    def __exit__(self, kind, *ignored):
        graph = capture_end()
        self.graph = graph if kind is None else None


__all__ = ["Graph", "ScopedCapture", "capture_begin", "capture_end", "capture_if", "capture_launch", "capture_while", "is_capturing", "recorded"]
