"""Arrays: memory of the device, seen through a shape and strides, with numpy on the host's side."""

import ctypes
import functools
import sys
import weakref
from typing import Any as _Any

import numpy

from tilec import arrays as _arrays
from tilec import device as _device
from tilec import native as _native
from tilec import session as _session
from tilec.session import Text as _Text
from warp import devices as _devices
from warp import driver as _driver
from warp import graphs as _graphs
from warp import memory as _memory
from warp import types as _types
from warp._src.logger import log_warning
from warp.types import Struct, StructInstance, _Type, as_type, bfloat16, check_array_shape, element_type, inner_shape, matrix, vector


_live = weakref.WeakValueDictionary()  # what is allocated, by its address


def array_at(address, count, dtype, device):
    """An array on the memory that has the address; without a count to its end."""
    size = _types.type_size_in_bytes(dtype)
    memory = _live.get(address)
    if memory is None:
        memory = next((one for one in list(_live.values()) if one.pointer <= address < one.pointer + one.count), None)
    if memory is None:
        if count is None:
            raise RuntimeError(f"no array of Warp's has the address {address:#x}")
        return array(ptr=address, dtype=dtype, shape=count, device=device)
    room = (memory.count - (address - memory.pointer)) // size
    made = object.__new__(array)
    made.device, made._grad, made._asked, made._retains = device, None, False, False
    return made._see(memory, address - memory.pointer, dtype, (room if count is None else min(count, room),), (size,))


class _Memory:
    """Bytes: of the host's, where the emulator works, too, or of the GPU's."""

    is_read = False  # inside of a tape that is open
    pointer = None

    def __init__(self, count, device, pinned=False, what=""):
        self.count = count
        self.on_gpu = device._on_gpu
        self.owner = None
        self.guard = device
        own = _memory.pinned if pinned and device.is_cpu else _memory.of_device(device)
        self.allocator = own if device.is_cpu or not count else _memory.get_device_allocator(device)
        if not count:
            self.allocator = own
        self.pointer = self.allocator.allocate(count)
        if count:
            _live[self.pointer] = self
        _graphs.note_allocation(device, self)
        if not self.on_gpu:
            kept = getattr(self.allocator, "kept", {}).get(self.pointer)  # which views of it keep
            self.bytes = numpy.ctypeslib.as_array((ctypes.c_uint8 * max(count, 1)).from_address(self.pointer)) if kept is None else kept
        if count and _memory.tracker.is_enabled:
            _memory.tracker.add(self.pointer, count, self.kind.name.lower(), what)
        if device.is_cuda:
            _memory.in_use.add(count)

    @functools.cached_property
    def kind(self):
        """As its allocator says, else the driver."""
        from warp._src import context

        known = getattr(self.allocator, "memory_kind", None)
        if known is None and not self.on_gpu and self.guard is None:
            return _memory.MemoryKind.HOST
        return context.runtime.core.wp_cuda_pointer_get_memory_kind(None, self.pointer) if known is None else known

    def __del__(self):
        # A process that ends gives back its memory by itself, and may no longer import what that takes here.
        if self.owner is None and self.pointer and _memory is not None and not sys.is_finalizing():
            _memory.tracker.remove(self.pointer)
            if self.guard.is_cuda:
                _memory.in_use.add(-self.count)
            if self.allocator in (_memory.host, _memory.pinned, _memory.default, _memory.pool):
                self.allocator.deallocate(self.pointer, self.count)
            else:
                with self.guard.context_guard:
                    self.allocator.deallocate(self.pointer, self.count)

    def read(self, begin=0, count=None):
        if not self.on_gpu:
            return self.bytes
        count = self.count if count is None else count
        copy = numpy.empty(max(count, 1), numpy.uint8)
        if count:
            _native.check(_native.copy_out(copy.ctypes.data, self.pointer + begin, count, _devices.current_handle()))
        _native.check(_native.synchronize(_devices.current_handle()))
        return copy

    def write(self, copy, begin=0, count=None):
        count = self.count if count is None else count
        if self.on_gpu and count:
            _native.check(_native.copy_in(self.pointer + begin, copy.ctypes.data, count, _devices.current_handle()))
            _native.check(_native.synchronize(_devices.current_handle()))


class _Foreign(_Memory):
    """Memory of somebody else's."""

    def __init__(self, facts, count, owner):
        self.count = count
        self.on_gpu = facts.device[0] == _arrays.CUDA and not _device.is_emulator()
        self.owner = owner
        self.pointer = facts.pointer
        self.allocator = self.guard = None
        if not self.on_gpu:
            self.bytes = numpy.ctypeslib.as_array((ctypes.c_uint8 * max(count, 1)).from_address(facts.pointer))


class array_annotation_base:
    """What wp.array[float] and the like say of a parameter."""

    __slots__ = "dtype", "ndim", "_vars"
    memory_kind = _memory.MemoryKind.UNKNOWN
    _said, _many = "array", True  # as a program writes it, and whether array2d is such a name

    def __init__(self, dtype, ndim):
        self.dtype = as_type(dtype)
        self.ndim = ndim
        self._vars = None

    @property
    def type(self):
        """A struct's field has it for the field's type."""
        return self

    @property
    def vars(self):
        """The fields that kernels read."""
        if self._vars is None:
            self._vars = {"shape": _types.vector(4, int)}
        return self._vars

    def __ctype__(self):
        raise TypeError(f"{self!r} says what an array is, and is none")

    def __eq__(self, other):
        same = isinstance(other, array_annotation_base) and self._said == other._said
        return same and self.ndim == other.ndim and self.dtype is other.dtype

    def __hash__(self):
        return hash((self._said, self.ndim, id(self.dtype)))

    def __or__(self, other):
        from warp.subscripts import union

        return union(self, other)

    def __ror__(self, other):
        from warp.subscripts import union

        return union(other, self)

    def __call__(self, *ignored):
        """Callable, as typing takes nothing else for a type."""
        raise TypeError(f"{self!r} says what an array is, and makes none")

    def __repr__(self):
        said, dtype = self._said, _types.said(self.dtype)
        if self.ndim == 1:
            return f"wp.{said}[{dtype}]"
        if self._many and self.ndim is not _Any:
            return f"wp.{said}{self.ndim}d[{dtype}]"
        return f"wp.{said}[{dtype}, {'Any' if self.ndim is _Any else f'Literal[{self.ndim}]'}]"


class array_annotation(array_annotation_base):
    __slots__ = ()


class array_without_data(array_annotation):
    """What wp.array(dtype=float, ndim=2) makes: it says what wp.array2d[float] says, and is an array to a program that asks, which
    may keep attributes of its own in it."""

    __class__ = property(lambda self: array)

    def __del__(self):
        """It has no memory; a program may ask for it all the same."""


def _code(kind):
    if isinstance(kind, Struct):
        return _arrays.code_of(_arrays.UINT, 8)
    number = getattr(kind, "_dtype", kind)
    return _arrays.CODES["uint64" if number is _types.handle else number.__name__]


class array_t(ctypes.Structure):
    """An array as C has it: where it and its gradient are, extents, strides in bytes."""

    _fields_ = [("data", ctypes.c_uint64), ("grad", ctypes.c_uint64), ("shape", ctypes.c_int32 * 4), ("strides", ctypes.c_int32 * 4),
                ("ndim", ctypes.c_int32), ("flags", ctypes.c_int32)]
    numbers = None  # of an element, where it is known

    def is_there(self):
        return bool(self.data)

    def array_of(self, kind, device):
        """As an array of the type that an annotation says, on the same memory. Nothing is checked: a kernel may take fewer dimensions,
        and one vector for its numbers."""
        rank = self.ndim if kind.ndim is _Any else min(kind.ndim, self.ndim)
        shape, size = self.shape[:rank], _types.type_size_in_bytes(kind.dtype)
        strides = [size if extent == 1 else stride for extent, stride in zip(shape, self.strides)]
        if shape == [1] and self.numbers is not None:
            shape = [max(self.numbers // int(numpy.prod(inner_shape(kind.dtype), dtype=int)), 1)]
        made = array(ptr=self.data, dtype=kind.dtype, shape=shape, strides=strides, device=device)
        if self.grad:
            made.grad = array(ptr=self.grad, dtype=kind.dtype, shape=made.shape, strides=made.strides, device=device)
        return made


class indexedarray_t(ctypes.Structure):
    """An array of indices as C has it; 0 in the place of a dimension's indices: all."""

    _fields_ = [("data", array_t), ("indices", ctypes.c_uint64 * 4), ("shape", ctypes.c_int32 * 4)]

    def is_there(self):
        return self.data.is_there()

    def array_of(self, kind, device):
        """The array on that memory."""
        chosen = [array(ptr=self.indices[d], shape=(self.shape[d],), dtype=_types.int32, device=device) if self.indices[d] else None for d in range(kind.ndim)]
        return indexedarray(self.data.array_of(array._said(kind.dtype, kind.ndim), device), chosen)


class _Arrays:
    """wp.array[float], in annotations; a program's own classes of arrays are none."""

    _said = array_annotation
    _rank = 1

    def __class_getitem__(cls, dtype):
        if "_own" not in vars(cls):
            raise TypeError(f"Subscript syntax not supported: {cls.__name__} is a program's own class of arrays")
        rank = cls._rank
        if isinstance(dtype, tuple):
            from warp.subscripts import rank_of

            if rank != 1 or len(dtype) != 2:
                raise TypeError(f"{cls.__name__}[...] takes a single type parameter, got {dtype}")
            dtype, rank = dtype[0], rank_of(dtype[1])
        return cls._said(dtype, rank)


class array(_Arrays):
    _own = True

    def __new__(cls, *args, **kwargs):
        given = {name for name, value in kwargs.items() if value is not None}
        if "_own" in vars(cls) and not args and not given & {"data", "shape", "ptr", "length"}:
            return array_without_data(kwargs.get("dtype") or _Any, kwargs.get("ndim") or cls._rank)
        return object.__new__(cls)

    def __init__(self, data=None, dtype=None, shape=None, strides=None, length=None, ptr=None, capacity=None, device=None, pinned=False,
                 copy=True, deleter=None, ndim=None, grad=None, requires_grad=False, retain_grad=False, **ignored):
        self.device = _devices.get_device(device)
        self.pinned = bool(pinned) and self.device.is_cpu
        kind = None if dtype is None or dtype is _Any or dtype == "Any" else as_type(dtype)
        if data is not None and not isinstance(data, array):
            if self.device.is_cuda:
                _graphs.refuse_in_files("a copy of the host's data to a GPU's array", self.device)
            if self.device._on_gpu and hasattr(data, "__cuda_array_interface__") and not _is_of_host(data):
                data = seen(data.__cuda_array_interface__, None, self.device)
        shape = (length,) if shape is None and length is not None else shape
        if ptr is not None:
            self._foreign(ptr, kind or as_type(float), shape, strides)
        elif data is None:
            self._make(kind or as_type(float), shape, strides)
        elif copy or not self._shared(data, kind, shape):
            self._from(data, kind, shape, ndim)
        self._grad = grad
        self._asked = bool(requires_grad) or grad is not None
        if self._asked and grad is None:
            self._grad = zeros_like(self, requires_grad=False)
        self._retains = False
        if retain_grad:
            self.retain_grad = True

    # ---- making ----

    def _see(self, memory, offset, dtype, shape, strides):
        self.memory, self.offset, self.dtype = memory, offset, dtype
        self.shape, self.strides = tuple([int(extent) for extent in shape]), tuple([int(stride) for stride in strides])
        self.ndim = len(self.shape)
        return self

    def _element(self):
        return element_type(self.dtype), inner_shape(self.dtype)

    def _make(self, kind, shape, strides=None):
        shape = tuple([int(extent) for extent in shape]) if hasattr(shape, "__len__") else (int(shape),)
        check_array_shape(shape)
        self.dtype = kind
        number, inner = self._element()
        size = number.itemsize * int(numpy.prod(inner, dtype=int))
        count = int(numpy.prod(shape, dtype=int)) * size
        if strides is None:
            strides = [stride * size for stride in _arrays.packed(shape)]
        else:
            if len(strides) != len(shape):
                raise ValueError(f"Invalid number of strides, expected {len(shape)} strides, got {len(strides)}")
            if any([stride < 0 for stride in strides]):
                raise NotImplementedError("Negative strides are for views of memory that is there, not for memory that is allocated")
            self._capacity = count = count and size + sum([(extent - 1) * int(stride) for extent, stride in zip(shape, strides)])
        what = f"array[{_types.type_repr(kind)}, {'x'.join([str(extent) for extent in shape])}]"
        self._see(_Memory(count, self.device, self.pinned, what), 0, kind, shape, strides)

    def _foreign(self, ptr, kind, shape, strides):
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = kind
        number, inner = self._element()
        size = number.itemsize * int(numpy.prod(inner, dtype=int))
        code = (_arrays.CUDA, 0) if self.device._on_gpu else (_arrays.CPU, 0)
        strides = strides or [stride * size for stride in _arrays.packed(shape)]
        count = size + sum([(extent - 1) * stride for extent, stride in zip(shape, strides)]) if shape else size
        self._see(_Foreign(_arrays.Facts(ptr, 0, shape, strides, code, None), count, self), 0, kind, shape, strides)

    def _shared(self, data, kind, shape):
        """Sees the memory of numpy's on the CPU; False: it is of other numbers, or a copy is needed."""
        if not isinstance(data, numpy.ndarray) or not self.device.is_cpu or isinstance(kind, Struct):
            return False
        self.dtype = as_type(data.dtype) if kind is None else kind
        number, inner = self._element()
        outer = data.shape[: data.ndim - len(inner)]
        if data.dtype != number or data.shape[len(outer) :] != inner or (shape is not None and tuple(numpy.atleast_1d(shape)) != outer):
            return False
        if not data.flags.c_contiguous and inner:
            return False
        facts = _arrays.facts_of(data)
        reach = sum([(extent - 1) * stride for extent, stride in zip(data.shape, data.strides)]) + number.itemsize
        self._see(_Foreign(facts, reach, data), 0, self.dtype, outer, data.strides[: len(outer)])
        return True

    def _from(self, data, kind, shape, ndim):
        if isinstance(data, array):
            kind = kind or data.dtype
            data = data.numpy()
        if isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], StructInstance):
            kind = kind or data[0]._struct
            self.kept = [dict(one.__dict__) for one in data]  # arrays and textures, whose addresses and handles are in the array
            data = numpy.array([one.numpy_value() for one in data], kind._numpy)
        if kind is None and not isinstance(data, numpy.ndarray):
            kind = _number_type(data)
        values = numpy.asarray(_plain(data))
        if values.dtype.kind == "c":  # two numbers each
            values = values.view(values.real.dtype).reshape(values.shape + (2,))
        if kind is None:
            kind = as_type(values.dtype)
            if not isinstance(kind, _Type):
                raise RuntimeError(f"Unsupported input data dtype: {values.dtype}")
        self.dtype = kind
        number, inner = self._element()
        if values.dtype == numpy.uint16 and getattr(kind, "_dtype", kind) is bfloat16:  # its bits
            values = values.view(number)
        if values.dtype != number and not isinstance(kind, Struct):
            if number == numpy.uint16 and kind.__name__.endswith("bfloat16") and values.dtype.kind == "f":
                values = (values.astype(numpy.float32).view(numpy.uint32) + 0x8000 >> 16).astype(numpy.uint16)
            values = values.astype(number)
        outer = values.shape
        if inner:
            count = int(numpy.prod(inner))
            if values.ndim >= len(inner) and values.shape[-len(inner):] == inner:
                outer = values.shape[: values.ndim - len(inner)]
            elif values.ndim and values.shape[-1] == count:
                outer = values.shape[:-1]
            elif values.ndim and values.shape[-1] % count == 0:
                outer = values.shape[:-1] + (values.shape[-1] // count,)
            elif values.size % count == 0:
                outer = (values.size // count,)
            else:
                raise RuntimeError(f"the data's shape {values.shape} is not one of {kind}")
        if shape is not None:
            outer = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        if outer == ():
            outer = (1,)
        values = values.reshape(outer + inner)
        self._make(kind, values.shape[: len(outer)])  # an extent of -1 is what is left
        self._store(values)

    # ---- what is in it ----

    def host(self):
        number, inner = self._element()
        if self.memory.on_gpu and self.is_contiguous:
            return self.memory.read(self.offset, self.nbytes)[: self.nbytes].view(number).reshape(self.shape + inner)
        return self._seen_in(self.memory.read())

    def _seen_in(self, copy):
        number, inner = self._element()
        inner_strides = [stride * number.itemsize for stride in _arrays.packed(inner)]
        return numpy.ndarray(self.shape + inner, number, copy, self.offset, list(self.strides) + inner_strides)

    def _store(self, values):
        if not self.memory.on_gpu or not self.is_contiguous:
            copy = self.memory.read()
            self._seen_in(copy)[...] = values
            self.memory.write(copy)
            return
        number, inner = self._element()
        if numpy.shape(values) in ((), inner):
            element = numpy.zeros(inner, number)
            element[...] = values
            if _driver.fill(self.ptr, element.tobytes(), self.nbytes, _devices.current_handle()):
                return
        copy = numpy.empty(self.shape + inner, number)
        copy[...] = values
        self.memory.write(copy, self.offset, copy.nbytes)

    @_graphs.recorded
    def store(self, values):
        self._store(values)

    def numpy(self):
        values = self.host()
        return values.copy() if self.device.is_cuda and not self.memory.on_gpu else values  # as a GPU's would be

    def __array__(self, dtype=None, copy=None):
        if self.device.is_cuda:
            raise TypeError(f"implicit NumPy conversion is not for arrays on {self.device}: array.numpy() copies one to the host")
        values = self.host()
        asked = values if dtype is None else values.astype(dtype, copy=False)
        return asked.copy() if copy and asked is values else asked

    def list(self):
        inner = inner_shape(self.dtype)
        values = self.host().reshape((-1,) + inner)
        if isinstance(self.dtype, Struct):
            return [StructInstance.of_record(self.dtype, value, self.device) for value in values]
        if not inner:
            return [value.item() if hasattr(value, "item") else value for value in values]
        return [self.dtype(value) for value in values]

    def fill_(self, value):
        if isinstance(value, StructInstance):
            self.kept = dict(value.__dict__)  # the arrays that it names among them
            value = value.numpy_value()
        values, inner = numpy.asarray(_plain(value)), inner_shape(self.dtype)
        self.store(values.reshape(inner) if inner and values.size == numpy.prod(inner) else values)

    def zero_(self):
        self.store(numpy.zeros((), self._element()[0]))

    def cptr(self):
        """A pointer to its elements as C has them, in the host's memory; None: there are none."""
        if not self.ptr:
            return None
        if self.memory.on_gpu or not self.is_contiguous:
            raise RuntimeError("C reads the elements of a contiguous array in the host's memory")
        kind = self.dtype.ctype if isinstance(self.dtype, Struct) else getattr(self.dtype, "_type_", None)
        kind = self.dtype if inner_shape(self.dtype) else kind
        return ctypes.cast(self.ptr, ctypes.POINTER(kind))

    @_graphs.recorded
    def assign(self, source):
        copy(self, source if isinstance(source, array) else array(source, dtype=self.dtype, device=self.device))

    # ---- what it is ----

    @property
    def ptr(self):
        return self.memory.pointer + self.offset if self.size else None

    @property
    def size(self):
        return int(numpy.prod(self.shape, dtype=int))

    @property
    def itemsize(self):
        return self._element()[0].itemsize * int(numpy.prod(inner_shape(self.dtype), dtype=int))

    @property
    def nbytes(self):
        return self.size * self.itemsize

    _capacity = None

    @property
    def memory_kind(self):
        return self.memory.kind

    def __ctype__(self):
        made = array_t(data=self.ptr or 0, grad=(self._grad.ptr or 0) if self._grad is not None else 0, ndim=self.ndim,
                       flags=int(self._retains))
        made.shape[: self.ndim], made.strides[: self.ndim] = self.shape, self.strides
        made.numbers = int(numpy.prod(inner_shape(self.dtype), dtype=int))
        return made

    @property
    def capacity(self):
        """Bytes from its first element to the end of the memory that it was given as."""
        return self.nbytes if self._capacity is None else self._capacity

    @property
    def _allocator(self):
        return self.memory.allocator

    def ipc_handle(self):
        """What another process finds the memory by: wp.from_ipc_handle()."""
        if self.memory_kind is _memory.MemoryKind.CUDA_MANAGED:
            raise RuntimeError("IPC handles are not available for managed-memory arrays")
        if self._ref is not None:
            raise RuntimeError("IPC handles are not available for array views")
        if self.memory.owner is not None:
            raise RuntimeError("IPC handles are not available for externally wrapped arrays")
        if not self.memory.on_gpu or self.memory_kind is not _memory.MemoryKind.CUDA_DEVICE:
            raise RuntimeError(f"IPC handles are not available for memory of kind {self.memory_kind.name}: an array of a GPU, "
                               "allocated while its memory pool is disabled, has one")
        return _driver.memory_handle(self.memory.pointer)

    @property
    def is_contiguous(self):
        return self.strides == tuple([stride * self.itemsize for stride in _arrays.packed(self.shape)])

    def __len__(self):
        return self.shape[0]

    def __str__(self):
        return str(self.numpy())

    def __tile_facts__(self):
        number, inner = self._element()
        where = (_arrays.CUDA, 0) if self.memory.on_gpu or self._is_reached() else (_arrays.CPU, 0)
        pointer = self.memory.pointer + self.offset
        if isinstance(self.dtype, Struct):
            return _arrays.Facts(pointer, _code(self.dtype), self.shape + (number.itemsize,), self.strides + (1,), where, self)
        size = number.itemsize
        if any([stride % size for stride in self.strides]):
            raise TypeError("an array whose strides are no multiples of its numbers' size")
        strides = tuple([stride // size for stride in self.strides]) + _arrays.packed(inner)
        return _arrays.Facts(pointer, _code(self.dtype), self.shape + inner, strides, where, self)

    def _is_reached(self):
        """Whether it is the host's memory that a GPU's kernels work on as it is."""
        if _device.is_emulator():
            return False
        gpu = _devices.get_cuda_device()
        return gpu.is_cpu_memory_access_from_gpu_supported or (self.memory.kind is _memory.MemoryKind.PINNED and gpu.is_uva)

    # ---- other libraries ----

    def __dlpack__(self, stream=None, **options):
        from warp import dlpack

        dlpack.check_stream(self.device, stream)
        if self.memory.on_gpu and stream not in (None, -1, 0, 1):
            _native.check(_native.synchronize(None))
        return dlpack.to_dlpack(self)

    @property
    def __tile_stream__(self):
        return _devices.current_handle()

    def __dlpack_device__(self):
        return (_arrays.CUDA, 0) if self.memory.on_gpu else (_arrays.CPU, 0)

    def _interface(self):
        number, inner = self._element()
        strides = tuple(self.strides) + tuple([stride * number.itemsize for stride in _arrays.packed(inner)])
        return {"data": (self.ptr or 0, False), "shape": self.shape + inner, "strides": strides, "typestr": number.str, "version": 3}

    @property
    def __cuda_array_interface__(self):
        if not self.device.is_cuda:
            raise AttributeError("the array is in the host's memory")
        return self._interface()

    @property
    def __array_interface__(self):
        if self.device.is_cuda:
            raise AttributeError("the array is in a GPU's memory")
        return self._interface()

    # ---- gradients ----

    @property
    def grad(self):
        return self._grad

    @grad.setter
    def grad(self, value):
        self._grad = value
        self._asked = value is not None

    @property
    def requires_grad(self):
        return self._asked

    @requires_grad.setter
    def requires_grad(self, asked):
        self._asked = asked
        if asked and self._grad is None:
            self._grad = zeros_like(self, requires_grad=False)
        elif not asked:
            self._grad = None
            self._retains = False

    @property
    def retain_grad(self):
        """Whether backwards its gradient stays where a kernel has written to it."""
        return self._retains

    @retain_grad.setter
    def retain_grad(self, asked):
        if asked and not self._asked:
            raise ValueError("retain_grad=True requires requires_grad=True")
        self._retains = bool(asked)

    @property
    def _is_read(self):
        return self.memory.is_read

    def mark_read(self):
        self.memory.is_read = True

    def mark_write(self, **where):
        pass

    # ---- parts ----

    pinned = False
    _ref = None  # the array that this is a part of

    def _part(self, dtype, offset, shape, strides):
        made = object.__new__(array)
        made.device, made._grad, made._asked, made._retains = self.device, None, False, False
        made.pinned, made._ref = self.pinned, self if self._ref is None else self._ref
        return made._see(self.memory, offset, dtype, shape, strides)

    def _likewise(self, change):
        made = change(self)
        if self._grad is not None:
            made._grad, made._asked, made._retains = change(self._grad), True, self._retains
        return made

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if any([item is Ellipsis for item in index]):
            at = [item is Ellipsis for item in index].index(True)
            index = index[:at] + (slice(None),) * (self.ndim - len(index) + 1) + index[at + 1:]
        if any([isinstance(item, array) for item in index]):
            rest = self[tuple([slice(None) if isinstance(item, array) else item for item in index])]
            kept = [item for item in index if isinstance(item, (array, slice))]
            return indexedarray(rest, [item if isinstance(item, array) else None for item in kept])

        def change(one):
            offset, shape, strides = one.offset, [], []
            for d in range(one.ndim):
                item = index[d] if d < len(index) else slice(None)
                if isinstance(item, slice):
                    start, stop, step = item.indices(one.shape[d])
                    offset += start * one.strides[d]
                    shape.append(len(range(start, stop, step)))
                    strides.append(step * one.strides[d])
                else:
                    item = int(item) + (one.shape[d] if int(item) < 0 else 0)
                    if not 0 <= item < one.shape[d]:
                        raise IndexError(f"the index {item} is outside of the {one.shape[d]} elements")
                    offset += item * one.strides[d]
            return one._part(one.dtype, offset, shape, strides)

        return self._likewise(change)

    @_graphs.recorded
    def __setitem__(self, index, value):
        part = self[index]
        part.store(value.numpy() if isinstance(value, array) else numpy.asarray(_plain(value)))

    def transpose(self, axes=None):
        axes = tuple(axes) if axes is not None else tuple(reversed(range(self.ndim)))
        return self._likewise(lambda one: one._part(one.dtype, one.offset, [one.shape[a] for a in axes], [one.strides[a] for a in axes]))

    def reshape(self, shape):
        shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
        if -1 in shape:
            known = int(numpy.prod([extent for extent in shape if extent != -1], dtype=int))
            shape[shape.index(-1)] = self.size // known
        if not self.is_contiguous:
            raise RuntimeError("only a contiguous array is reshaped")
        if int(numpy.prod(shape, dtype=int)) != self.size:
            size = int(numpy.prod(shape, dtype=int))
            raise RuntimeError(f"cannot reshape array of shape {self.shape} (size {self.size}) into shape {tuple(shape)} (size {size})")
        return self._likewise(
            lambda one: one._part(one.dtype, one.offset, shape, [stride * one.itemsize for stride in _arrays.packed(shape)]))

    def flatten(self):
        return self if self.ndim == 1 else self.reshape(-1)

    def view(self, dtype):
        """The same bytes as other elements: elements of one size each for each, numbers as vectors of the last extents, and vectors as their
        numbers, too."""
        kind = as_type(dtype)
        if _types.type_size_in_bytes(kind) == self.itemsize:
            return self._likewise(lambda one: one._part(kind, one.offset, one.shape, one.strides))
        (number, inner), (asked, asked_inner) = self._element(), (element_type(kind), inner_shape(kind))
        is_composite = bool(inner) != bool(asked_inner)
        sizes = [number.itemsize, asked.itemsize] if is_composite else [self.itemsize, _types.type_size_in_bytes(kind)]
        if not is_composite or sizes[0] != sizes[1]:
            composite = f" scalar dtype {(self.dtype if inner else kind)._dtype.__name__}" if is_composite else ""
            names = [composite if is_composite and one else " dtype" for one in (inner, asked_inner)]
            raise TypeError(f"cannot create an array view with dtype {kind.__name__} from source dtype {self.dtype.__name__}: "
                            f"source{names[0]} has size {sizes[0]} bytes, but target{names[1]} has size {sizes[1]} bytes")
        kept = self.ndim - len(asked_inner)
        numbers = tuple(stride * number.itemsize for stride in _arrays.packed(inner or asked_inner))
        if asked_inner and (self.shape[kept:] != asked_inner or self.strides[kept:] != numbers):
            raise RuntimeError(f"cannot create an array view with dtype {kind.__name__} from an array whose last extents are not {asked_inner}, "
                               "next to each other")

        def change(one):
            if inner:
                return one._part(kind, one.offset, one.shape + inner, one.strides + numbers)
            return one._part(kind, one.offset, one.shape[:kept] or (1,), one.strides[:kept] or (_types.type_size_in_bytes(kind),))

        return self._likewise(change)

    def contiguous(self):
        return self if self.is_contiguous else clone(self)

    def to(self, device, requires_grad=None):
        device = _devices.get_device(device)
        return self if device == self.device else clone(self, device, requires_grad)


def _mapped(name, swapped=False, stays=False):
    def method(self, *others):
        import warp

        given = [self, *others]
        return warp.map(getattr(warp, name), *(given[::-1] if swapped else given), out=self if stays else None)

    return method


for _method, _name in {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floordiv", "mod": "mod", "and": "bit_and",
                       "or": "bit_or", "xor": "bit_xor", "lshift": "lshift", "rshift": "rshift", "pow": "pow"}.items():
    setattr(array, f"__{_method}__", _mapped(_name))
    setattr(array, f"__r{_method}__", _mapped(_name, swapped=True))
    setattr(array, f"__i{_method}__", _mapped(_name, stays=True))
for _method, _name in {"neg": "neg", "pos": "pos", "invert": "invert", "abs": "abs"}.items():
    setattr(array, f"__{_method}__", _mapped(_name))


class array1d(array):
    _own, _rank = True, 1


class array2d(array):
    _own, _rank = True, 2


class array3d(array):
    _own, _rank = True, 3


class array4d(array):
    _own, _rank = True, 4


class indexed_annotation(array_annotation):
    """What wp.indexedarray[float] says of a parameter."""

    __slots__ = ()
    _said, _many = "indexedarray", False

    @property
    def memory_kind(self):
        raise AttributeError("an indexed array's memory is of its parts' kinds")

    def __tile_text__(self):
        return _Text(_session.module("warp"), ".indexedarray(dtype=", _session.text_of(self.dtype), f", ndim={self.ndim})")


class indexedarray(_Arrays):
    """An array whose element [i, j] is the element [rows[i], columns[j]] of another; None in the place of indices: all."""

    _own, _said = True, indexed_annotation

    def __new__(cls, data=None, indices=None, dtype=None, ndim=None, **ignored):
        if "_own" not in vars(cls):  # a program's own
            return object.__new__(cls)
        if data is None and indices is None:
            return indexed_annotation(float if dtype is None else dtype, ndim or cls._rank)
        made = object.__new__(indexedarray)
        if cls is not indexedarray:
            made.__init__(data, indices)
        return made

    def __init__(self, data=None, indices=None, dtype=None, ndim=None, **ignored):
        self.data, self.device, self.dtype, self.ndim = data, data.device, data.dtype, data.ndim
        given = [indices] if isinstance(indices, array) else list(indices or [])
        if len(given) > self.ndim:
            raise ValueError(f"indices for {len(given)} dimensions of an array that has {self.ndim}")
        self.indices = given + [None] * (self.ndim - len(given))
        self._whole = {}
        self.shape = tuple([extent if one is None else one.size for extent, one in zip(data.shape, self.indices)])

    @property
    def size(self):
        return int(numpy.prod(self.shape, dtype=int))

    def __ctype__(self):
        made = indexedarray_t(data=self.data.__ctype__())
        made.indices[: self.ndim] = [0 if one is None else one.ptr for one in self.indices]
        made.shape[: self.ndim] = self.shape
        return made

    def stored(self):
        """As kernels find it in an element of another array: with all indices."""
        made = self.__ctype__()
        made.indices[: self.ndim] = [self._of(d).ptr for d in range(self.ndim)]
        return made

    @property
    def requires_grad(self):
        return self.data.requires_grad

    is_contiguous = False

    def __len__(self):
        return self.shape[0]

    def __str__(self):
        return str(self.numpy())

    def _of(self, d):
        """The indices of a dimension, as kernels have them."""
        if self.indices[d] is not None:
            return self.indices[d]
        if d not in self._whole:
            self._whole[d] = array(numpy.arange(self.shape[d], dtype=numpy.int32), device=self.device)
        return self._whole[d]

    def _at(self):
        return numpy.ix_(*[self._of(d).numpy() for d in range(self.ndim)])

    def __tile_take__(self, given):
        parts = [given.take(one) for one in (self.data, *[self._of(d) for d in range(self.ndim)])]
        return _Text(indexed_annotation(self.dtype, self.ndim).__tile_text__(), "(", *[_Text(part, ", ") for part in parts], ")")

    def __tile_look__(self, given):
        return id(self.dtype), tuple([given.look(one) for one in (self.data, *[self._of(d) for d in range(self.ndim)])])

    def numpy(self):
        return self.data.numpy()[self._at()]

    def store(self, values):
        whole = numpy.array(self.data.numpy())
        whole[self._at()] = values
        self.data.store(whole)

    assign, list = array.assign, array.list

    def fill_(self, value):
        _graphs.refuse_in_files("fill_() of an indexed array", self.device)
        array.fill_(self, value)

    def zero_(self):
        _graphs.refuse_in_files("zero_() of an indexed array", self.device)
        array.zero_(self)

    def host(self):
        return self.numpy()

    def _element(self):
        return self.data._element()

    def contiguous(self):
        return clone(self)

    def to(self, device, requires_grad=None):
        device = _devices.get_device(device)
        return self if device == self.device else indexedarray(clone(self, device, requires_grad))

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        chosen, indices = [], []
        for d in range(self.ndim):
            item = index[d] if d < len(index) else slice(None)
            places = self._of(d).numpy()
            if isinstance(item, (slice, array)):
                chosen.append(slice(None))
                places = places[item.numpy() if isinstance(item, array) else item]
                whole = self.indices[d] is None and item == slice(None) if isinstance(item, slice) else False
                indices.append(None if whole else array(places.astype(numpy.int32), device=self.device))
            else:
                chosen.append(int(places[int(item)]))
        return indexedarray(self.data[tuple(chosen)], indices)


OPERATORS = {_name: _value for _name, _value in vars(array).items() if getattr(_value, "__qualname__", "").startswith("_mapped.")}
for _name, _value in OPERATORS.items():
    setattr(indexedarray, _name, _value)


class indexedarray1d(indexedarray):
    _own, _rank = True, 1


class indexedarray2d(indexedarray):
    _own, _rank = True, 2


class indexedarray3d(indexedarray):
    _own, _rank = True, 3


class indexedarray4d(indexedarray):
    _own, _rank = True, 4


def _is_of_host(thing):
    """Whether what an object says to be on a GPU is memory that the driver does not know, and the object has it as the host's, too."""
    return hasattr(thing, "__array_interface__") and _memory.kind_of_pointer(thing.__cuda_array_interface__["data"][0]) is _memory.MemoryKind.UNKNOWN


def seen(told, kind, device):
    """An array of another library, by what its interface tells, as one of Warp's on the same memory. `kind`: of its elements; None: as told."""
    kind = as_type(numpy.dtype(told["typestr"])) if kind is None else kind
    rank, strides = len(told["shape"]) - len(inner_shape(kind)), told.get("strides")
    return array(ptr=told["data"][0], dtype=kind, shape=tuple(told["shape"][:rank]), strides=strides and tuple(strides[:rank]), device=device)


def _plain(data):
    """Lists of vectors and such as numpy reads them."""
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    if hasattr(data, "_family_"):
        return data.data
    return getattr(data, "value", data)


def _number_type(data):
    """That of the first number of lists, where it is a number with a type; others have the type that numpy finds for them all."""
    while isinstance(data, (list, tuple)) and len(data):
        data = data[0]
    kind = type(data)
    return kind if isinstance(kind, _Type) and not numpy.shape(data) else None


def _device_facts(device):
    return _devices.get_device(device)


def empty(shape=None, dtype=float, device=None, requires_grad=False, pinned=False, **more):
    shape = more.get("n") if shape is None else shape
    return array(shape=0 if shape is None else shape, dtype=dtype, device=device, requires_grad=requires_grad, pinned=pinned,
                 retain_grad=more.get("retain_grad", False), strides=more.get("strides"))


def full(shape=None, value=0, dtype="Any", device=None, requires_grad=False, pinned=False, **more):
    if isinstance(dtype, str):
        kind = type(value)
        dtype = value._struct if isinstance(value, StructInstance) else kind if isinstance(kind, _Type) else as_type(kind)
        if isinstance(value, (list, tuple, numpy.ndarray)):
            known = numpy.asarray(_plain(value))
            number = as_type(known.dtype)
            dtype = vector(len(known), number) if known.ndim == 1 else matrix(known.shape, number)
    made = empty(shape, dtype, device, requires_grad, pinned, **more)
    made.fill_(value)
    return made


def zeros(shape=None, dtype=float, device=None, requires_grad=False, pinned=False, **more):
    made = empty(shape, dtype, device, requires_grad, pinned, **more)
    if made.memory.on_gpu:
        made.zero_()
    return made


def ones(shape=None, dtype=float, device=None, requires_grad=False, pinned=False, **more):
    return full(shape, 1, dtype, device, requires_grad, pinned, **more)


def _asked(source, requires_grad):
    return source.requires_grad if requires_grad is None else requires_grad


def _pinned(source, pinned):
    return getattr(source, "pinned", False) if pinned is None else pinned


def empty_like(source, device=None, requires_grad=None, pinned=None):
    return empty(source.shape, source.dtype, device or source.device, _asked(source, requires_grad), _pinned(source, pinned))


def zeros_like(source, device=None, requires_grad=None, pinned=None):
    return zeros(source.shape, source.dtype, device or source.device, _asked(source, requires_grad), _pinned(source, pinned))


def ones_like(source, device=None, requires_grad=None, pinned=None):
    return full_like(source, 1, device, requires_grad, pinned)


def full_like(source, value, device=None, requires_grad=None, pinned=None):
    return full(source.shape, value, source.dtype, device or source.device, _asked(source, requires_grad), _pinned(source, pinned))


def from_numpy(data, dtype=None, shape=None, device=None, requires_grad=False, retain_grad=False):
    """Without a type rows are vectors, as many as there are, and blocks of rows matrices."""
    if dtype is None and numpy.ndim(data) in (2, 3):
        number, inner = as_type(numpy.asarray(data).dtype), numpy.shape(data)[1:]
        dtype = vector(*inner, number) if len(inner) == 1 else matrix(inner, number)
    return array(data, dtype=dtype, shape=shape, device=device, requires_grad=requires_grad, retain_grad=retain_grad)


def clone(source, device=None, requires_grad=None, pinned=None):
    made = empty_like(source, device, requires_grad, pinned)
    copy(made, source)
    return made


def _check_file(dest, src):
    """A graph that is saved has words for copies of contiguous arrays inside of one device's memory."""
    if dest.device != src.device:
        gpu = dest.device if dest.device.is_cuda else src.device
        _graphs.refuse_in_files("a copy between the host's memory and a GPU's", gpu)
    elif not (dest.is_contiguous and src.is_contiguous):
        _graphs.refuse_in_files("a copy of an indexed or strided array", dest.device)


def _check_staging(dest, src):
    """Between the host and a GPU contiguous arrays are copied, others by a buffer beside them, which a graph that is captured does not own."""
    gpu = dest.device if dest.device.is_cuda else src.device
    if dest.device == src.device or not _graphs.is_capturing(gpu) or _graphs.opened().is_external:
        return
    for one in (src, dest):
        if not one.is_contiguous and not (one.device.is_cuda and one.device.is_mempool_enabled):
            hint = ", or enable memory pools" if one.device.is_cuda else ""
            raise RuntimeError(f"Failed to allocate a staging buffer on {one.device} during graph capture, for the copy of an array that is not "
                               f"contiguous: copy it outside of the capture{hint}")


def from_ptr(ptr, length, dtype=None, shape=None, device=None):
    """An array where a pointer to memory, which lies at `ptr`, points to."""
    log_warning("This version of wp.from_ptr() is deprecated: give wp.array() the memory's address as ptr=, with dtype= and shape=",
                DeprecationWarning, stacklevel=2)
    at = ctypes.cast(ptr, ctypes.POINTER(ctypes.c_size_t)).contents.value if ptr else 0
    return array(ptr=at, shape=(length,) if shape is None else shape, dtype=dtype, device=device)


def _copied_on_gpu(dest, src):
    """Copies the bytes of one array to another one's of such elements, where they are and in the stream's order; False: not possible."""
    for one in (dest, src):
        if not isinstance(one, array) or isinstance(one, indexedarray) or not one.memory.on_gpu or not one.is_contiguous:
            return False
    if dest._element()[0] != src._element()[0] or dest.nbytes != src.nbytes:
        return False
    count = dest.nbytes
    if count and dest.ptr != src.ptr:
        if abs(dest.ptr - src.ptr) < count:
            return False
        _driver.copy(dest.ptr, src.ptr, count, _devices.current_handle())
    return True


@_graphs.recorded
def _copied(dest, src):
    if not _copied_on_gpu(dest, src):
        dest.store(src.numpy().reshape(dest.shape + inner_shape(dest.dtype)))


def _check_copy(dest, src, dest_offset, src_offset, count):
    given = {"Source offset": src_offset, "Destination offset": dest_offset, "count": count}
    if any([isinstance(value, bool) or not isinstance(value, (int, numpy.integer)) for value in given.values()]):
        raise RuntimeError("the offsets and the count of a copy must be integers")
    for name, value in given.items():
        if value < 0:
            raise RuntimeError(f"{name} must be non-negative, got {value}")
    if not (count or dest_offset or src_offset):
        return
    if isinstance(dest, indexedarray) or isinstance(src, indexedarray):
        raise RuntimeError("offsets and a count are not for copies of indexed or Fabric arrays")
    if dest.ndim > 1 or src.ndim > 1:
        raise RuntimeError("offsets and a count are only supported for 1-D arrays")
    if src_offset + count > src.size:
        raise RuntimeError(f"the copied range {src_offset}:{src_offset + count} exceeds the source size {src.size}")
    if dest_offset + (count or src.size - src_offset) > dest.size:
        raise RuntimeError(f"the copied range from {dest_offset} on exceeds the destination size {dest.size}")


def copy(dest, src, dest_offset=0, src_offset=0, count=0, stream=None):
    with _devices.ScopedStream(stream, sync_enter=False):
        _copy(dest, src, dest_offset, src_offset, count)


def _copy(dest, src, dest_offset, src_offset, count):
    _check_copy(dest, src, dest_offset, src_offset, count)
    is_shorter = src.size < dest.size and _types.types_equal(src.dtype, dest.dtype)
    if count or dest_offset or src_offset:
        count = count or src.size - src_offset
        dest, src = dest[dest_offset : dest_offset + count], src[src_offset : src_offset + count]
    elif is_shorter and src.ndim == dest.ndim == 1 and not isinstance(dest, indexedarray):
        dest = dest[: src.size]
    elif is_shorter and dest.is_contiguous and src.is_contiguous:
        dest, src = dest.flatten()[: src.size], src.flatten()
    elif src.shape != dest.shape and not (dest.is_contiguous and src.is_contiguous):
        raise RuntimeError(f"Incompatible array shapes: destination shape={dest.shape}, source shape={src.shape}")
    elif src.size * _types.type_size_in_bytes(src.dtype) != dest.size * _types.type_size_in_bytes(dest.dtype) and dest.dtype is not src.dtype:
        raise RuntimeError(f"Incompatible array types: destination dtype={_types.type_repr(dest.dtype)}, source dtype={_types.type_repr(src.dtype)}")
    _check_file(dest, src)
    _check_staging(dest, src)
    from warp import tape, timing

    with timing.measured(timing.TIMING_MEMCPY, timing.copy_name(dest, src), dest.device if dest.device.is_cuda else src.device):
        _copied(dest, src)
    if getattr(dest, "grad", None) is not None and getattr(src, "grad", None) is not None:  # the gradient goes with it
        _copied(dest.grad, src.grad)
    tape.note_copy(dest, src)


# ---- other libraries ----


def from_torch(tensor, dtype=None, requires_grad=None, grad=None, return_ctype=False, retain_grad=False):
    facts = _arrays.facts_of(tensor)
    number = _types.by_dtype_name(_arrays.NAMES[facts.code])
    kind = number if dtype is None else as_type(dtype)
    inner = len(inner_shape(kind))
    shape = facts.shape[: len(facts.shape) - inner]
    size = element_type(number).itemsize
    strides = [stride * size for stride in facts.strides[: len(shape)]]
    if inner and not shape:  # one vector
        shape, strides = (1,), [_types.type_size_in_bytes(kind)]
    made = object.__new__(array)
    made.device, made._grad, made._asked, made._retains = _devices.get_device(None), None, False, False
    spans = [(extent - 1) * stride for extent, stride in zip(facts.shape, facts.strides)]
    made._see(_Foreign(facts, (sum(spans) + 1) * size, tensor), 0, kind, shape, strides)
    asked = tensor.requires_grad if requires_grad is None else requires_grad
    if grad is not None:
        made.grad = grad if isinstance(grad, array) else from_torch(grad, dtype, False)
    elif asked:
        import torch

        if tensor.grad is None and tensor.is_leaf:
            tensor.grad = torch.zeros_like(tensor)
        made.grad = from_torch(tensor.grad, dtype, False) if tensor.grad is not None else zeros_like(made, requires_grad=False)
    if retain_grad:
        made.retain_grad = True
    storage = tensor.untyped_storage()
    made._capacity = storage.data_ptr() + storage.nbytes() - tensor.data_ptr()
    return made.__ctype__() if return_ctype else made


def _is_all_of(owner, made):
    return (owner.data_ptr(), owner.dtype, owner.shape, owner.stride()) == (made.data_ptr(), made.dtype, made.shape, made.stride())


def to_torch(source, requires_grad=None):
    import torch
    import torch.utils.dlpack

    made = torch.utils.dlpack.from_dlpack(source.__dlpack__())
    owner = source.memory.owner
    if isinstance(owner, torch.Tensor) and _is_all_of(owner, made):
        return owner
    if source.requires_grad if requires_grad is None else requires_grad:
        made.requires_grad_()
        if source.grad is not None:
            made.grad = torch.utils.dlpack.from_dlpack(source.grad.__dlpack__())
    return made


def from_ipc_handle(handle, dtype, shape, strides=None, device=None):
    """An array of another process's memory; that keeps it as long as this one is there."""
    device = _devices.get_device(device)
    if not device._on_gpu:
        raise RuntimeError(f"{device} has no memory that other processes share")
    opened = _driver.Opened(handle)
    made = array(ptr=opened.pointer, dtype=dtype, shape=shape, strides=strides, device=device)
    made.memory.owner = opened
    return made


def dtype_to_numpy(kind):
    kind = as_type(kind)
    return numpy.uint16 if kind is bfloat16 else element_type(kind).type  # a bfloat16's bits


def dtype_from_numpy(kind):
    return as_type(numpy.dtype(kind))


def dtype_to_torch(kind):
    import torch

    name = as_type(kind).__name__
    return getattr(torch, {"uint16": "int16", "uint32": "int32", "uint64": "int64"}.get(name, name))


def dtype_from_torch(kind):
    return _types.by_dtype_name(str(kind).removeprefix("torch."))


def is_emulated():
    return _device.is_emulator()


class fixed_annotation(array_annotation):
    """What wp.fixedarray(dtype=float, shape=4) says: an array of a thread's own, of extents that are known."""

    _said = "fixedarray"

    def __init__(self, dtype, shape):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
        super().__init__(dtype, len(self.shape))
        self.size = int(numpy.prod(self.shape, dtype=int))

    def __repr__(self):
        return f"fixedarray(shape={self.shape}, dtype={self.dtype})"

    def __tile_text__(self):
        return _Text(_session.module("warp"), ".fixedarray(dtype=", _session.text_of(self.dtype), f", shape={self.shape})")


class fixedarray(_Arrays):
    """A program's own class of such arrays has instances; of Warp's the annotation is what there is."""

    _own = True

    def __new__(cls, dtype=float, shape=1, **ignored):
        return fixed_annotation(dtype, shape) if "_own" in vars(cls) else object.__new__(cls)

    def __init__(self, dtype=float, shape=1, **ignored):
        like = fixed_annotation(dtype, shape)
        self.dtype, self.shape, self.ndim, self.size = like.dtype, like.shape, like.ndim, like.size
