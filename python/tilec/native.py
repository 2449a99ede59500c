"""libtile and libtilec by ctypes: what their headers declare, found where they are installed."""

import builtins
import contextlib
import ctypes
import json
import os
import pathlib
import re
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

ABI_VERSION = 10
OK, ERROR_NO_DRIVER, ERROR_FAULT = 0, -1, -8


class Error(RuntimeError):
    """What libtile or the compiler says; `status` is the tile_status."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status

    def __str__(self):
        return str(self.args[0]) if self.args else ""


class CompileError(Error):
    """The compiler's messages about a kernel."""


_KINDS = {}


def error_kind(kind):
    """The CompileError that is one of Python's own errors, as well."""
    if kind not in _KINDS:
        bases = (CompileError,) if issubclass(CompileError, kind) else (CompileError, kind)
        _KINDS[kind] = type("CompileError", bases, {"__module__": __name__})
    return _KINDS[kind]


# A place in what the package says to the compiler, which the program's author never wrote, and the line that is shown of it.
_SAID = re.compile(r"^<statements>:\d+:\d+: (.*)(?:\n +\d+ \| .*\n +\| .*)?", re.MULTILINE)


def compile_error(text, status, name=None):
    """One that is what the program's own error is, as well: what the compiler names, or what the text tells was raised."""
    text = _SAID.sub(r"\1", text)
    found = re.search(r"error: ([A-Z]\w+(?:Error|Exception|Iteration)): ", text)
    kind = getattr(builtins, found[1] if found else name or "", None)
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        return CompileError(text, status)
    return error_kind(kind)(text, status)


class DataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class Device(Structure):
    _fields_ = [("device_type", c_int), ("device_id", c_int32)]


class Tensor(Structure):
    """DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device", Device),
        ("ndim", c_int32),
        ("dtype", DataType),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class Parameter(Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("kind", c_uint32), ("bytes", c_uint32), ("access", c_uint32)]


class KernelTensor(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("dtype", c_uint32),
        ("ndim", c_uint32),
        ("pointer", c_uint32),
        ("dtype_key", c_uint32),
        ("is_result", c_uint32),
        ("is_written", c_uint32),
    ]


class Entry(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("emulated", c_void_p),
        ("warps", c_uint32),
        ("shared_bytes", c_uint32),
        ("registers", c_uint32),
        ("spill_bytes", c_uint32),
        ("flags", c_uint8 * 8),
    ]


class Image(Structure):
    _fields_ = [
        ("target", c_char_p),
        ("bytes", c_void_p),
        ("entries", POINTER(Entry)),
        ("sites", c_void_p),
        ("emulator", c_void_p),
        ("size", c_uint64),
        ("kind", c_uint32),
        ("compute", c_uint32),
        ("suffix", c_uint32),
        ("site_count", c_uint32),
        ("maps", c_void_p),
        ("map_count", c_uint64),
    ]


class Variant(Structure):
    _fields_ = [("multiples", c_void_p), ("images", POINTER(Image)), ("image_count", c_uint64)]


class Specialisation(Structure):
    _fields_ = [
        ("keys", POINTER(c_int64)),
        ("host", c_void_p),
        ("variants", POINTER(Variant)),
        ("variant_count", c_uint32),
        ("launch_count", c_uint32),
        ("workspace_count", c_uint32),
        ("zeroed_workspaces", c_uint32),
        ("tensors", POINTER(KernelTensor)),
        ("configuration", c_char_p),
        ("code", c_uint64),
        ("configuration_count", c_uint32),
        ("lacks", c_uint32),
        ("kept_workspaces", c_uint32),
    ]


class Kernel(Structure):
    """tile_kernel."""

    _fields_ = [
        ("name", c_char_p),
        ("parameters", POINTER(Parameter)),
        ("specialisations", POINTER(Specialisation)),
        ("state", c_void_p),
        ("abi_version", c_uint32),
        ("parameter_count", c_uint32),
        ("specialisation_count", c_uint32),
        ("tensor_count", c_uint32),
        ("tensors", POINTER(KernelTensor)),
        ("choices", c_void_p),
        ("choice_count", c_uint64),
        ("plain_name", c_char_p),
        ("source", c_void_p),
        ("later", c_void_p),
        ("gradient", c_void_p),
    ]


class Plan(Structure):
    _fields_ = [
        ("target", c_char_p),
        ("grid", c_uint32 * 3),
        ("cluster", c_uint32 * 3),
        ("warps", c_uint32),
        ("shared_bytes", c_uint32),
        ("registers", c_uint32),
        ("spill_bytes", c_uint32),
        ("specialisation", c_uint32),
        ("variant", c_uint32),
        ("launches", c_uint32),
        ("workspace_bytes", c_uint64),
    ]


SCALAR, POINTER_KIND, KEY, KEY_FLOAT, KEY_TEXT, KEY_FIXED = range(6)
IMAGE_CUBIN, IMAGE_PTX, IMAGE_EMULATOR = range(3)


class Options(Structure):
    """tilec_options."""

    _fields_ = [
        ("abi_version", c_uint32),
        ("compute_count", c_uint32),
        ("computes", POINTER(c_uint32)),
        ("emulator", c_void_p),
        ("words", POINTER(c_char_p)),
        ("word_count", c_uint32),
    ]


# ---- where the libraries are ----


def _folders():
    """TILE_LIBRARIES, the wheel's own folder, a source tree's build, the system's."""
    given = os.environ.get("TILE_LIBRARIES")
    if given:
        yield pathlib.Path(given)
    here = pathlib.Path(__file__).resolve().parent
    yield here / "lib"
    yield here.parent.parent / "build"


def _load(name, how=ctypes.CDLL, mode=ctypes.RTLD_GLOBAL):
    for folder in _folders():
        for file in (folder / f"{name}.so", folder / f"{name}.so.0"):
            if file.exists():
                return how(str(file), mode=mode)
    try:
        return how(f"{name}.so.0", mode=mode)
    except OSError as error:
        raise ImportError(f"{name} is not installed; TILE_LIBRARIES may name the folder that it is in: {error}") from None


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


tile = _load("libtile")
# Launches keep the interpreter's lock: they take microseconds, and their arguments lie in memory that calls share.
_quick = ctypes.PyDLL(tile._name)
# The C entry by its address alone: no conversion of arguments is looked up.
launch = _declare(_quick, "tile_launch", c_int32, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p)
# The same for what is a C value already: then no argument is converted at all.
launch_values = ctypes.PyDLL(tile._name)["tile_launch"]
launch_values.restype = c_int32
NO_EXTRAS = c_uint32(0)
launch_slowly = _declare(tile, "tile_launch", c_int32, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p)
plan_launch = _declare(tile, "tile_plan_launch", c_int32, c_void_p, c_void_p, POINTER(Plan))
plan_tensors = _declare(tile, "tile_plan_tensors", c_int32, c_void_p, c_void_p, c_void_p, POINTER(Plan))
prepare = _declare(tile, "tile_prepare", c_int32, c_void_p, c_int)
result_extents = _declare(tile, "tile_result_extents", c_int32, c_void_p, c_void_p, POINTER(c_int64))
last_error = _declare(tile, "tile_last_error", c_char_p)
status_name = _declare(tile, "tile_status_name", c_char_p, c_int32)
set_device_name = _declare(tile, "tile_set_device", c_int32, c_char_p)
device_count = _declare(tile, "tile_device_count", c_int)
device_compute = _declare(tile, "tile_device_compute", c_int, c_int)
synchronize = _declare(tile, "tile_synchronize", c_int32, c_void_p)
alloc = _declare(tile, "tile_alloc", c_int32, POINTER(c_void_p), c_size_t)
free = _declare(tile, "tile_free", c_int32, c_void_p)
copy_in = _declare(tile, "tile_copy_in", c_int32, c_void_p, c_void_p, c_size_t, c_void_p)
copy_out = _declare(tile, "tile_copy_out", c_int32, c_void_p, c_void_p, c_size_t, c_void_p)
set_tuning = _declare(tile, "tile_set_tuning", c_int32, c_int)


def check(status):
    if status:
        text = last_error().decode(errors="replace") or status_name(status).decode()
        raise Error(text, status)


_parts = {}


def emulator():
    """libtile_emulator, which a machine with GPUs needs not have."""
    if "emulator" not in _parts:
        _parts["emulator"] = _load("libtile_emulator")
        _declare(_parts["emulator"], "tile_emulator_set_in_turn", None, c_int)
        _declare(_parts["emulator"], "tile_emulator_set_checked", None, c_int)
    return _parts["emulator"]


@contextlib.contextmanager
def in_turn():
    """For a while the emulator's threads run one behind another, as a processor's do: what they write in global memory those that
    come later read."""
    emulator().tile_emulator_set_in_turn(1)
    try:
        yield
    finally:
        emulator().tile_emulator_set_in_turn(0)


@contextlib.contextmanager
def unchecked():
    """For a while the emulator's launches are fast, unless TILE_EMULATOR says how they are."""
    if os.environ.get("TILE_EMULATOR"):
        yield
        return
    emulator().tile_emulator_set_checked(0)
    try:
        yield
    finally:
        emulator().tile_emulator_set_checked(-1)


def compiler():
    """libtilec, which compiled kernels alone do not need."""
    if "compiler" not in _parts:
        library = _load("libtilec", mode=ctypes.RTLD_LOCAL)
        _declare(library, "tilec_open", c_int32, POINTER(Options), POINTER(c_void_p), POINTER(c_void_p))
        _declare(library, "tilec_run", c_int32, c_void_p, c_char_p, POINTER(POINTER(Tensor)), c_uint32, POINTER(c_void_p))
        _declare(library, "tilec_close", None, c_void_p)
        _declare(library, "tilec_free", None, c_void_p)
        _parts["compiler"] = library
    return _parts["compiler"]


def _answer(library, address):
    if not address.value:
        return {"messages": "out of memory"}
    text = ctypes.string_at(address.value)
    library.tilec_free(address)
    return json.loads(text.decode("utf-8", "surrogatepass"))


class Interpreter:
    """One of libtilec's: see tile/interpreter.h."""

    handle = None
    memory = 0  # bytes that it holds

    def __init__(self, computes=(), words=()):
        self.library = compiler()
        spelled = (c_char_p * (len(words) + 1))(*[word.encode() for word in words])
        options = Options(ABI_VERSION, len(computes), (c_uint32 * (len(computes) + 1))(*computes), None, spelled, len(words))
        if not computes:
            options.emulator = ctypes.addressof(c_uint8.in_dll(emulator(), "tile_the_emulator"))
        self.handle, answer = c_void_p(), c_void_p()
        status = self.library.tilec_open(options, self.handle, answer)
        if status:
            raise CompileError(_answer(self.library, answer)["messages"], status)
        self.library.tilec_free(answer)

    def run(self, statements, tensors=()):
        """The answer, as tile/interpreter.h describes it; or CompileError."""
        pointers = (POINTER(Tensor) * (len(tensors) + 1))(*[ctypes.pointer(tensor) for tensor in tensors])
        answer = c_void_p()
        status = self.library.tilec_run(self.handle, statements.encode(), pointers, len(tensors), answer)
        told = _answer(self.library, answer)
        if status:
            raise compile_error(told["messages"].rstrip(), status, told.get("exception"))
        self.memory = told["memory"]
        return told

    def close(self):
        if self.handle:
            self.library.tilec_close(self.handle)
            self.handle = None

    __del__ = close
