"""Graphs in files: the operations of a capture, with the memory that they work on. Kernels are named by their modules, which a program
that loads the file has, too."""

import ctypes
import importlib
import io
import os
import pickle
import tempfile
import types
import weakref

import numpy

from tilec import arrays as _facts
from warp import arrays as _arrays
from warp import devices as _devices
from warp import exports as _exports
from warp import graphs as _graphs
from warp import launches as _launches
from warp import types as _types

FORMAT = 3
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
        self.params = {}  # arrays that have names
        self.texts = {}  # of modules, which are saved with it, by the names of their files
        self._modules = self._folder = None

    def track(self, memory):
        return self._numbers.setdefault(memory, len(self._numbers) + 1)

    def track_array(self, array):
        if array is None:
            return None
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
    def collected_modules(self):
        """The modules whose kernels are launched, by their hashes."""
        if self._modules is None:
            self._folder = tempfile.TemporaryDirectory(prefix="tilec-")
            self._modules = _exports.modules_of(self.graph, self._folder.name)
        return self._modules

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
            return "kernel", value.module.name, value.key, value.func.__qualname__, value.func.__module__
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


def _kernel(module, key, qualname, home):
    for one in _launches.get_module(module).made:
        if one.key == key and one.func.__qualname__ == qualname:
            return one
    found = _reached(home, qualname)
    if not isinstance(found, _launches.Kernel):
        raise RuntimeError(f"{module} has no kernel {key}, which the capture launches")
    return found


def _regions(memories, transient):
    """Bytes of the memories, those that share some once, with the places of each: number, offset and count. Of what is allocated while the
    graph was captured the size alone."""
    groups = []  # begin, end, memories
    for memory in sorted(memories.values(), key=lambda one: (one.pointer or 0, -one.count)):
        begin = memory.pointer or 0
        if groups and memory.count and begin < groups[-1][1]:
            groups[-1][1] = max(groups[-1][1], begin + memory.count)
            groups[-1][2].append(memory)
        else:
            groups.append([begin, begin + memory.count, [memory]])
    regions, places = [], {}
    for begin, end, members in groups:
        data = bytearray(end - begin)
        for memory in members:
            at = (memory.pointer or 0) - begin
            places[id(memory)] = len(regions), at, memory.count
            if not transient.intersection(members):
                data[at : at + memory.count] = bytes(memory.read()[: memory.count])
        regions.append((end - begin, b"" if transient.intersection(members) else bytes(data)))
    return regions, places


def _restored(count, given, device):
    made = _arrays._Memory(count, device)
    if made.on_gpu:
        made.write(numpy.frombuffer(given.ljust(count + 1, b"\0"), numpy.uint8))
    else:
        made.bytes[:count] = numpy.frombuffer(given.ljust(count, b"\0"), numpy.uint8)
    return made


def _part_of(whole, offset, count):
    """Memory that is a part of another's."""
    if offset == 0 and count == whole.count:
        return whole
    place = (_facts.CUDA if whole.on_gpu else _facts.CPU, 0)
    return _arrays._Foreign(_facts.Facts(whole.pointer + offset, 0, (count,), (1,), place, None), count, whole)


def _path_of(path):
    path = str(path)
    return path if path.endswith(".wrp") else path + ".wrp"


def state_save(capture, path, arch=0, context=None):
    """Writes what was captured, its arrays as they are now, and what those are called that its user sets or asks. True: it is done."""
    body = io.BytesIO()
    writer = _Writer(body)
    try:
        writer.dump((capture.graph.steps, capture.params))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise NotImplementedError(f"the graph cannot be saved: {error}") from error
    regions, places = _regions(writer.memories, set(capture.made))
    with open(path, "wb") as file:
        file.write(_MARK)
        pickle.dump((FORMAT, _exports.digests(capture.collected_modules, capture.texts), regions, places, body.getvalue()), file)
    return True


def capture_save(graph, path, inputs=None, outputs=None, source_fallback=False, **options):
    """Writes the graph to a file, and the code of its modules to a folder beside it, with the texts that it was made of if source_fallback;
    both take the places of older ones when all of them is there."""
    from warp._src.context import runtime

    if not graph.apic:
        raise RuntimeError("only a graph that was captured with apic=True is saved")
    capture = graph._apic_capture
    modules = capture.collected_modules
    capture.texts = _exports.sources(modules) if source_fallback else {}
    final = _path_of(path)
    capture.params = {**(inputs or {}), **(outputs or {})}

    def write(staged):
        for mesh in capture.collected_mesh_ids:
            if not runtime.core.wp_apic_register_mesh(graph.apic_state, mesh):
                raise RuntimeError(f"Failed to save APIC graph: the mesh {mesh} is not known")
        arch = graph.device.get_cuda_compile_arch() if graph.device.is_cuda else 0
        if not runtime.core.wp_apic_state_save(graph.apic_state, staged.encode(), arch, graph.device.context):
            raise RuntimeError(f"Failed to save APIC graph to {final}")

    _exports.save(final, modules, capture.texts, write)


def capture_load(path, device=None):
    """The graph of a file, with memory of its own."""
    try:
        with open(_path_of(path), "rb") as file:
            data = file.read()
        return capture_load_from_bytes(data, _exports.beside(_path_of(path)), device=device)
    except OSError as error:
        raise RuntimeError(f"Failed to load APIC graph from {_path_of(path)}: {error}") from error


def capture_load_from_bytes(data, modules=None, device=None):
    """The same of a file's bytes; `modules`: those of its modules, by the names of their files."""
    data = bytes(data)
    if not data.startswith(_MARK):
        raise RuntimeError("the bytes are no capture of tilec's")
    version, *rest = pickle.loads(data[len(_MARK) :])
    if version != FORMAT:
        raise RuntimeError(f"the capture has format {version}, and is read as format {FORMAT}")
    recorded, regions, places, body = rest
    _exports.check(recorded, modules or {})
    device = _devices.get_device(device)
    wholes = [_restored(count, given, device) for count, given in regions]
    made = {key: _part_of(wholes[number], offset, count) for key, (number, offset, count) in places.items()}
    graph = _graphs.Graph(device)
    graph.steps, graph.named = _Reader(io.BytesIO(body), made, device).load()
    return graph


# ---- as C loads them ----

_loaded = {}  # by the numbers that C has of them


def native_load(context, data, size, modules, count, on_host):
    """The number of the graph of these bytes, with files of modules as C has them; RuntimeError: why there is none."""
    found = {}
    for one in modules[:count]:
        if one.filename is None:
            raise RuntimeError("Failed to load APIC graph: a module has a null filename")
        name = one.filename.decode()
        if name in found:
            raise RuntimeError(f"Failed to load APIC graph: {name} is listed more than once")
        if not one.data and one.size:
            raise RuntimeError(f"Failed to load APIC graph: {name} has null data")
        found[name] = ctypes.string_at(one.data, one.size) if one.size else b""
    device = "cpu" if on_host else next(one for one in _devices.get_cuda_devices() if one.context == context)
    made = capture_load_from_bytes(ctypes.string_at(data, size), found, device)
    _loaded[id(made)] = made
    return id(made)


def native_destroy(number):
    _loaded.pop(number, None)


__all__ = ["capture_load", "capture_load_from_bytes", "capture_save"]
