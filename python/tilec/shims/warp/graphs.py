"""Graphs: what is done to the device's memory is noted, and done when the graph is launched."""

import contextlib
import functools

_open = []


def recorded(function):
    """It is what a graph is made of: while one is captured it is noted with its arguments, and done later."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        if _open:
            _open[-1].steps.append(lambda: function(*args, **kwargs))
            return None
        return function(*args, **kwargs)

    return called


def is_capturing():
    return bool(_open)


class Graph:
    def __init__(self, device=None):
        self.device = device
        self.steps = []

    def run(self):
        for step in self.steps:
            step()


def capture_begin(device=None, stream=None, force_module_load=None, external=False, **options):
    _open.append(Graph(device))


def capture_end(device=None, stream=None):
    if not _open:
        raise RuntimeError("Graph capture is not active")
    return _open.pop()


@recorded
def capture_launch(graph, stream=None):
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
    branches = _body(on_false, kwargs), _body(on_true, kwargs)
    recorded(lambda: branches[bool(condition.numpy()[0])].run())()


def capture_while(condition, while_body, stream=None, **kwargs):
    body = _body(while_body, kwargs)

    @recorded
    def repeat():
        while condition.numpy()[0]:
            body.run()

    repeat()


class ScopedCapture(contextlib.AbstractContextManager):
    def __init__(self, device=None, stream=None, force_module_load=None, external=False, **options):
        self.device = device
        self.graph = None

    def __enter__(self):
        capture_begin(self.device)
        return self

    def __exit__(self, kind, *ignored):
        graph = capture_end()
        self.graph = graph if kind is None else None


__all__ = ["Graph", "ScopedCapture", "capture_begin", "capture_end", "capture_if", "capture_launch", "capture_while", "is_capturing", "recorded"]
