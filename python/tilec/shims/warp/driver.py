"""CUDA's driver, by ctypes: what libtile has no function for."""

import contextlib
import ctypes

from tilec import native as _native

_context = ctypes.c_void_p()  # kept as long as the process is there: memory is the context's


@contextlib.contextmanager
def current():
    """CUDA's driver, with the context that kernels run in."""
    cuda = ctypes.CDLL("libcuda.so.1")
    if not _context.value and (cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(_context), 0)):
        raise _native.Error("CUDA's driver gives no context")
    if cuda.cuCtxPushCurrent_v2(_context):
        raise _native.Error("CUDA's driver gives no context")
    try:
        yield cuda
    finally:
        cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def asked(function, kind, *given, after=False):
    """The number that a function of the driver gives, first or after what it is given; None where it gives none."""
    value = kind()
    try:
        with current() as cuda:
            status = getattr(cuda, function)(*(*given, ctypes.byref(value)) if after else (ctypes.byref(value), *given))
    except (OSError, AttributeError, _native.Error):  # no driver, or none that has this function
        return None
    return None if status else value.value


def attribute(which, ordinal):
    """A CUdevice_attribute of the GPU."""
    return asked("cuDeviceGetAttribute", ctypes.c_int, ctypes.c_int(which), ctypes.c_int(ordinal))


def total_of(ordinal):
    return asked("cuDeviceTotalMem_v2", ctypes.c_size_t, ctypes.c_int(ordinal))


def free_now():
    return asked("cuMemGetInfo_v2", ctypes.c_size_t, ctypes.byref(ctypes.c_size_t()))


_GRAPH_MEMORY_NOW = 0  # CUgraphMem_attribute


def graph_memory(ordinal):
    """Bytes that the driver's graphs have."""
    with contextlib.suppress(OSError, _native.Error), current() as cuda:
        found = ctypes.c_uint64()
        if cuda.cuDeviceGetGraphMemAttribute(ctypes.c_int(ordinal), _GRAPH_MEMORY_NOW, ctypes.byref(found)) == 0:
            return found.value
    return 0


def trim_graph_memory(ordinal):
    with contextlib.suppress(OSError, _native.Error), current() as cuda:
        cuda.cuDeviceGraphMemTrim(ctypes.c_int(ordinal))


def driver_version():
    return asked("cuDriverGetVersion", ctypes.c_int)


# ---- memory of a GPU ----

_LARGEST_ELEMENT = 64  # bytes that are set word by word


def copy(to, source, count, stream):
    """In a stream's order; the bytes do not overlap."""
    _told("A copy", "cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(source), ctypes.c_size_t(count), ctypes.c_void_p(stream))


def _set(to, word, count, stream):
    function = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}[len(word)]
    value = ctypes.c_uint(int.from_bytes(word, "little"))
    _told("Filling memory", function, ctypes.c_uint64(to), value, ctypes.c_size_t(count), ctypes.c_void_p(stream))


def fill(to, element, count, stream):
    """Writes an element's bytes again and again, in a stream's order; False: it has too many."""
    if not count:
        return True
    size = len(element)
    width = next(width for width in (4, 2, 1) if size % width == 0 and to % width == 0)
    words = [element[i : i + width] for i in range(0, size, width)]
    if words == words[:1] * len(words):
        _set(to, words[0], count // width, stream)
        return True
    if size > _LARGEST_ELEMENT:
        return False
    for i, word in enumerate(words):
        _set(to + i * width, word, 1, stream)
    done = size
    while done < count:
        more = min(done, count - done)
        copy(to + done, to, more, stream)
        done += more
    return True


# ---- streams and events of the driver's ----

_NOT_READY = 600
_DISABLE_TIMING, _INTERPROCESS = 2, 4


def _told(what, function, *given):
    """A call of the driver's that has to succeed."""
    with current() as cuda:
        status = getattr(cuda, function)(*given)
    if status:
        raise RuntimeError(f"{what} failed: Warp {error_text(status)}")


def error_text(status):
    """What a CUresult says."""
    text = ctypes.c_char_p()
    try:
        ctypes.CDLL("libcuda.so.1").cuGetErrorString(status, ctypes.byref(text))
    except OSError:
        pass
    return f"CUDA error {status}: {(text.value or b'').decode()}"


def stream_is_complete(stream):
    with current() as cuda:
        return cuda.cuStreamQuery(ctypes.c_void_p(stream or None)) != _NOT_READY


def stream_is_captured(stream):
    """Whether somebody's graph is made of what the stream is given."""
    return asked("cuStreamIsCapturing", ctypes.c_int, ctypes.c_void_p(stream), after=True) not in (0, None)


def create_event(is_interprocess):
    made = ctypes.c_void_p()
    _told("An event", "cuEventCreate", ctypes.byref(made), _DISABLE_TIMING | _INTERPROCESS if is_interprocess else 0)
    return made.value


def destroy_event(event):
    with contextlib.suppress(OSError, _native.Error), current() as cuda:
        cuda.cuEventDestroy_v2(ctypes.c_void_p(event))


def record_event(event, stream):
    _told("Recording an event", "cuEventRecord", ctypes.c_void_p(event), ctypes.c_void_p(stream))


def wait_for_event(stream, event):
    _told("Waiting for an event", "cuStreamWaitEvent", ctypes.c_void_p(stream or None), ctypes.c_void_p(event), 0)


def event_is_complete(event):
    with current() as cuda:
        return cuda.cuEventQuery(ctypes.c_void_p(event)) != _NOT_READY


def elapsed(start, end, synchronize):
    """Milliseconds between two events."""
    found = ctypes.c_float()
    if synchronize:
        _told("Waiting for an event", "cuEventSynchronize", ctypes.c_void_p(end))
    _told("Timing events", "cuEventElapsedTime", ctypes.byref(found), ctypes.c_void_p(start), ctypes.c_void_p(end))
    return found.value


# ---- what other processes find memory and events by ----


class _Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def _handle_of(what, function, given):
    made = _Handle()
    _told(what, function, ctypes.byref(made), given)
    return bytes(made)


def event_handle(event):
    return _handle_of("An event's IPC handle", "cuIpcGetEventHandle", ctypes.c_void_p(event))


def memory_handle(pointer):
    return _handle_of("A memory's IPC handle", "cuIpcGetMemHandle", ctypes.c_uint64(pointer))


def open_event(handle):
    made = ctypes.c_void_p()
    _told("Opening an event's IPC handle", "cuIpcOpenEventHandle", ctypes.byref(made), _Handle.from_buffer_copy(handle))
    return made.value


class Opened:
    """Another process's memory, for as long as an array sees it."""

    def __init__(self, handle):
        made = ctypes.c_uint64()
        _told("Opening a memory's IPC handle", "cuIpcOpenMemHandle_v2", ctypes.byref(made), _Handle.from_buffer_copy(handle), 1)
        self.pointer = made.value

    def __del__(self):
        if None not in (current, ctypes):
            with contextlib.suppress(OSError, _native.Error, AttributeError), current() as cuda:
                cuda.cuIpcCloseMemHandle(ctypes.c_uint64(self.pointer))
