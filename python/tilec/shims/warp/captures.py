"""Graphs in files: the operations of a capture, with the memory that they work on. Kernels are named by their modules, which a program
that loads the file has, too."""

import importlib
import io
import pickle
import types
import weakref

import numpy

from warp import arrays as _arrays
from warp import devices as _devices
from warp import graphs as _graphs
from warp import launches as _launches
from warp import types as _types

FORMAT = 1
_MARK = b"tilec capture\n"


def _home(function):
    return function.__module__, function.__qualname__


def _reached(module, qualname):
    found = importlib.import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


class APICapture:
    """The memory that a capture for a file works on: each allocation is a region, of which arrays are parts."""

    def __init__(self, device, runtime=None, apic_savable=True, graph=None):
        self.device, self.graph = device, graph
        self._regions = {}  # their numbers, by the arrays that were seen first of each
        self._numbers = {}  # the same by the memories
        self.made = weakref.WeakSet()  # memories that are allocated meanwhile: what is in them, the operations put there
        self.collected_mesh_ids = set()  # there are no meshes

    def track(self, memory):
        return self._numbers.setdefault(memory, len(self._numbers) + 1)

    def track_array(self, array):
        number = self.track(array.memory)
        if number not in self._regions.values():
            self._regions["warp", id(array if array._ref is None else array._ref)] = number
        return number, array.offset

    def get_region_id(self, array):
        return self.track_array(array)[0]

    @property
    def _transient_regions(self):
        return {self.track(memory) for memory in self.made}

    @property
    def operation_count(self):
        return len(self.graph.steps)

    def destroy(self):
        self._regions.clear()
        self._numbers.clear()


class _Writer(pickle.Pickler):
    def __init__(self, file):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.memories = {}  # by their addresses, which stay theirs as the memories stay here

    def persistent_id(self, value):
        if isinstance(value, _arrays._Memory):
            self.memories.setdefault(id(value), value)
            return "memory", id(value)
        if isinstance(value, _devices.Device):
            return "device", value.alias
        if isinstance(value, _launches.Kernel):
            return "kernel", value.module.name, value.key, value.func.__qualname__
        if isinstance(value, _types.Struct):
            return "struct", value.cls.__module__, value.cls.__qualname__
        if isinstance(value, _types._Composite):
            return "numbers", value._family_, value._shape_, value._dtype.__name__
        if isinstance(value, types.FunctionType) and (hasattr(value, "__wrapped__") or value.__module__.startswith("warp.")):
            return "operation", *_home(value)
        return None

    def reducer_override(self, value):
        if isinstance(value, (_arrays.array, _arrays.indexedarray)):
            kind = _arrays.array if isinstance(value, _arrays.array) else _arrays.indexedarray
            return _array_of, (kind.__name__, dict(vars(value)))
        if isinstance(value, _types.StructInstance):
            return _instance_of, (value._struct, {name: value.__dict__[name] for name in value._struct.vars})
        return NotImplemented


def _array_of(kind, state):
    made = object.__new__(getattr(_arrays, kind))
    made.__dict__.update(state)
    return made


def _instance_of(struct, fields):
    made = struct()
    made.__dict__.update(fields)
    return made


class _Reader(pickle.Unpickler):
    def __init__(self, file, memories, device):
        super().__init__(file)
        self.memories, self.device = memories, device

    def persistent_load(self, given):
        word, *rest = given
        if word == "memory":
            return self.memories[rest[0]]
        if word == "device":
            return _devices.get_device(rest[0])
        if word == "kernel":
            return _kernel(*rest)
        if word == "struct":
            return _reached(*rest)
        if word == "numbers":
            return _types._numbers(rest[0], rest[1], _types.by_dtype_name(rest[2]))
        if word == "operation":
            found = _reached(*rest)
            return getattr(found, "__wrapped__", found)
        raise pickle.UnpicklingError(f"a capture has no {word}")


def _kernel(module, key, qualname):
    for one in _launches.get_module(module).made:
        if one.key == key and one.func.__qualname__ == qualname:
            return one
    found = _reached(module, qualname)
    if not isinstance(found, _launches.Kernel):
        raise RuntimeError(f"{module} has no kernel {key}, which the capture launches")
    return found


def _path_of(path):
    path = str(path)
    return path if path.endswith(".wrp") else path + ".wrp"


def capture_save(graph, path, inputs=None, outputs=None, **options):
    """Writes the graph, its arrays as they are now, and what those are called that its user sets or asks."""
    if not graph.can_be_saved:
        raise RuntimeError("only a graph that was captured with apic=True is saved")
    params = {**(inputs or {}), **(outputs or {})}
    body = io.BytesIO()
    writer = _Writer(body)
    try:
        writer.dump((graph.steps, params))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotImplementedError(f"the graph cannot be saved: {error}") from error
    made = set(graph._apic_capture.made)
    memories = {key: (memory.count, b"" if memory in made else bytes(memory.read()[: memory.count]))
                for key, memory in writer.memories.items()}
    with open(_path_of(path), "wb") as file:
        file.write(_MARK)
        pickle.dump((FORMAT, memories, body.getvalue()), file)


def capture_load(path, device=None):
    """The graph of a file, with memory of its own."""
    try:
        with open(_path_of(path), "rb") as file:
            return capture_load_from_bytes(file.read(), device=device)
    except OSError as error:
        raise RuntimeError(f"Failed to load APIC graph from {_path_of(path)}: {error}") from error


def capture_load_from_bytes(data, modules=None, device=None):
    data = bytes(data)
    if not data.startswith(_MARK):
        raise RuntimeError("the bytes are no capture of tilec's")
    version, memories, body = pickle.loads(data[len(_MARK) :])
    if version != FORMAT:
        raise RuntimeError(f"the capture has format {version}, and is read as format {FORMAT}")
    device = _devices.get_device(device)
    made = {}
    for key, (count, given) in memories.items():
        made[key] = _arrays._Memory(count, device)
        if made[key].on_gpu:
            made[key].write(numpy.frombuffer(given.ljust(count + 1, b"\0"), numpy.uint8))
        else:
            made[key].bytes[:count] = numpy.frombuffer(given.ljust(count, b"\0"), numpy.uint8)
    graph = _graphs.Graph(device)
    graph.steps, graph.params = _Reader(io.BytesIO(body), made, device).load()
    return graph


__all__ = ["capture_load", "capture_load_from_bytes", "capture_save"]
