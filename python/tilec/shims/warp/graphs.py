"""Graphs: what is done to the device's memory is noted, and done when the graph is launched."""

import contextlib
import enum
import functools
import sys

from warp.order import Order
from warp.torch_ops import Watch

_open = []


def opened():
    """The graph that is captured; None: none is."""
    return _open[-1] if _open else None


def _begin(graph):
    _open.append(graph)
    if graph.device.is_cuda and not graph.is_external:
        _torch.begin()


def _end():
    graph = _open.pop()
    if not any([one.device.is_cuda and not one.is_external for one in _open]):
        _torch.end()
    return graph


_torch = Watch(sys.modules[__name__])


class CaptureMode(enum.IntEnum):
    """What a driver's own capture refuses meanwhile; nothing here is refused."""

    GLOBAL, THREAD_LOCAL, RELAXED = range(3)


def recorded(function):
    """It is what a graph is made of: while one is captured it is noted with its arguments, and done later."""

    @functools.wraps(function)
    def called(*args, **kwargs):
        if not _open or not _open[-1].takes((*args, *kwargs.values())):
            return function(*args, **kwargs)
        _open[-1].note(function, args, kwargs)
        return None

    return called


def _places(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _places(value)
        elif hasattr(value, "ordinal"):
            yield value
        elif hasattr(value, "device") and hasattr(value, "dtype") and hasattr(value.device, "ordinal"):
            yield value.device


def _label(args):
    return next((str(one.key) for one in args if hasattr(one, "key")), "")


def is_capturing(device=None):
    return bool(_open) and (device is None or _open[-1].device == device)


def is_saved():
    """Whether what is captured goes to a file: then all of it has to be told in the file's words."""
    return bool(_open) and _open[-1].can_be_saved


def refuse_in_files(what, device):
    """What a graph that is saved cannot hold: Warp's own files have no words for it either."""
    if is_saved() and _open[-1].device == device and device.is_cuda:
        raise NotImplementedError(f"{what} cannot be recorded while a graph is captured with apic=True")


class Graph:
    def __init__(self, device=None, stream=None):
        self.device = device
        self.stream = stream  # that which the capture began on
        self.steps = []  # (function, arguments, those by name)
        self.order = Order(stream)
        self.allocations = 0  # that were made meanwhile
        self.named = None  # arrays of a graph that was read from a file, by their names
        self.can_be_saved = False
        self.is_external = False  # another library captures what is launched
        self.is_paused = False
        self._apic_capture = None

    def __getstate__(self):
        """In a file: as a part of another graph."""
        return {"device": self.device, "steps": self.steps, "named": None}

    def takes(self, values):
        """Whether an operation on these is a part of it: the other device's, and what a stream does that has not waited for the
        capture's, are done at once."""
        if self.is_external:
            return False
        places = list(_places(values))
        is_of_cpu = len(places) > 0 and all([place.is_cpu for place in places])
        if self.device.is_cpu:
            return is_of_cpu or not places
        return not is_of_cpu and self.order.has(_current_stream(self))

    def note(self, function, args, kwargs):
        self.steps.append((function, args, kwargs))
        self.order.add(_current_stream(self), function.__qualname__, _label(args))

    def note_allocation(self, memory):
        self.allocations += 1
        if self._apic_capture is not None:
            self._apic_capture.made.add(memory)
        if self.order.has(_current_stream(self)):
            self.order.add(_current_stream(self), "allocation")

    def run(self):
        for function, args, kwargs in self.steps:
            function(*args, **kwargs)

    @property
    def apic(self):
        return self.can_be_saved

    @property
    def apic_state(self):
        return self._apic_capture

    # ---- of a graph that was read from a file ----

    @property
    def is_loaded(self):
        return self.named is not None

    @property
    def params(self):
        """What the arrays are that have names: their extents and types."""
        return None if self.named is None else {name: (one.shape, one.dtype) for name, one in self.named.items()}

    def _param(self, name):
        if self.named is None:
            raise RuntimeError("parameters are those of loaded APIC graphs: see wp.capture_load()")
        if name not in self.named:
            raise RuntimeError(f"the graph has no parameter {name!r}")
        return self.named[name]

    def set_param(self, name, value):
        self._param(name).assign(value)

    def get_param(self, name, result):
        result.assign(self._param(name))

    def get_param_ptr(self, name):
        return self._param(name).ptr if self.named is None or name in self.named else None


def _current_stream(graph):
    from warp import devices

    return None if graph.device.is_cpu else devices.get_stream(graph.device)


def note_allocation(device, memory):
    """Memory for an array is made while a graph of its device is captured."""
    if is_capturing(device) and not _open[-1].is_external:
        _open[-1].note_allocation(memory)


# ---- streams that wait for each other while a graph is captured ----


def point_of(stream):
    """Where a stream is in the capture: what waits for it is behind that."""
    if not _open or not _open[-1].order.has(stream):
        return None
    return _open[-1], _open[-1].order.tips[stream]


def wait_at(stream, point):
    if point is not None and _open and point[0] is _open[-1]:
        _open[-1].order.wait(stream, point[1])


# ---- capturing ----


def _place(device, stream):
    from warp import devices

    device = stream.device if stream is not None else devices.get_device(device)
    if device.is_cuda and stream is None:
        stream = devices.get_stream(device)
    return device, stream


def capture_begin(device=None, stream=None, force_module_load=None, external=False, apic=False, capture_mode=CaptureMode.THREAD_LOCAL,
                  **options):
    from warp import captures

    graph = Graph(*_place(device, stream))
    graph.can_be_saved = bool(apic)
    graph.is_external = bool(external)
    if apic:
        graph._apic_capture = captures.APICapture(graph.device, graph=graph)
    _begin(graph)


def capture_end(device=None, stream=None):
    if not _open:
        raise RuntimeError("Graph capture is not active")
    return _end()


def capture_pause(device=None, stream=None):
    """What comes is done at once, until the capture is resumed."""
    if not _open:
        raise RuntimeError("no graph is captured that could be paused")
    graph = _end()
    graph.is_paused = True
    return graph


def capture_resume(graph, device=None, stream=None):
    if not graph.is_paused:
        raise RuntimeError("the graph's capture is not paused")
    graph.is_paused = False
    _begin(graph)


@recorded
def capture_launch(graph, stream=None):
    from warp import timing
    from warp.devices import ScopedStream

    with ScopedStream(stream, sync_enter=False), timing.measured(timing.TIMING_GRAPH, "graph", graph.device):
        graph.run()


def capture_debug_dot_print(graph, path, verbose=False):
    """The graph as a text that Graphviz draws."""
    with open(path, "w") as file:
        file.write(graph.order.dot(verbose))


_ALLOCATES = "graph contains an unsupported operation (memory allocation)"


class _Now:
    """What a branch does where nothing is captured."""

    def __init__(self, function, kwargs):
        self.function, self.kwargs = function, kwargs

    def run(self):
        if isinstance(self.function, Graph):
            self.function.run()
        elif self.function is not None:
            self.function(**self.kwargs)


def _body(given, kwargs, condition):
    """What a branch does: a graph, or a function's operations; what the other device chooses is done at once."""
    outside = _open[-1] if _open else None
    if outside is None or outside.is_external or condition.device != outside.device:
        return _Now(given, kwargs)
    if given is None:
        return Graph(outside.device)
    if isinstance(given, Graph):
        if given.allocations and outside.device.is_cuda:
            raise RuntimeError(f"Child {_ALLOCATES}")
        return given
    inside = Graph(outside.device, outside.stream)
    inside.order.tips = {one: frozenset() for one in outside.order.tips}
    inside.can_be_saved, inside._apic_capture = outside.can_be_saved, outside._apic_capture
    _begin(inside)
    try:
        given(**kwargs)
    finally:
        capture_end()
    if inside.allocations and outside.device.is_cuda:
        raise RuntimeError(f"Conditional body {_ALLOCATES}")
    return inside


def capture_if(condition, on_true=None, on_false=None, stream=None, **kwargs):
    _choose(condition, _body(on_false, kwargs, condition), _body(on_true, kwargs, condition))


@recorded
def _choose(condition, no, yes):
    (yes if condition.numpy()[0] else no).run()


def capture_while(condition, while_body, stream=None, **kwargs):
    _repeat(condition, _body(while_body, kwargs, condition))


@recorded
def _repeat(condition, body):
    while condition.numpy()[0]:
        body.run()


class ScopedCapture(contextlib.AbstractContextManager):
    def __init__(self, device=None, stream=None, force_module_load=None, external=False, apic=False,
                 capture_mode=CaptureMode.THREAD_LOCAL, **options):
        self.device, self.stream = device, stream
        self.graph = None
        self.apic, self.external, self.mode = apic, external, capture_mode

    def __enter__(self):
        capture_begin(self.device, self.stream, external=self.external, apic=self.apic, capture_mode=self.mode)
        return self

    def __exit__(self, kind, *ignored):
        graph = capture_end()
        self.graph = graph if kind is None else None


__all__ = ["CaptureMode", "Graph", "ScopedCapture", "capture_begin", "capture_debug_dot_print", "capture_end", "capture_if",
           "capture_launch", "capture_while", "is_capturing", "recorded"]
