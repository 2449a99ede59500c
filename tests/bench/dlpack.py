"""dlpack.py: tensors of torch as the compiled kernels' C functions take them, and how long calls take on the GPU. Torch is imported where
it is needed, as builds are made where it is not."""
import ctypes

CODES = {"float16": (2, 16), "bfloat16": (4, 16), "float32": (2, 32), "float64": (2, 64), "float8_e4m3fn": (10, 8), "float8_e5m2": (12, 8), "bool": (6, 8), "int8": (0, 8),
         "int16": (0, 16), "int32": (0, 32), "int64": (0, 64), "uint8": (1, 8), "uint32": (1, 32)}


class Tensor(ctypes.Structure):
    """DLTensor of DLPack, of a tensor on a GPU, whose memory it does not keep."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]

    def __init__(self, t):
        extents = ctypes.c_int64 * max(t.dim(), 1)
        code, bits = CODES[str(t.dtype).split(".")[1]]
        super().__init__(t.data_ptr(), (ctypes.c_int32 * 2)(2, t.device.index or 0), t.dim(), code, bits, 1, extents(*t.shape),
                         extents(*t.stride()), 0)


def milliseconds(call, count):
    """Of one of so many calls in a row, each with its number, behind one that is not counted."""
    import torch
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    call(0)
    begin.record()
    for i in range(count):
        call(i)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / count


def recorded(call, count):
    """So many calls in a row as a graph: what a kernel takes that is over before Python has made the next call."""
    import torch
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(count):
            call(i)
    return lambda _: graph.replay()
