"""Kernels, and functions that launch some, as functions of JAX, which calls them through XLA's foreign function interface (xla/ffi/api/c_api.h):
on its own memory, in the order of its own stream."""

import ctypes
import enum
import inspect
import itertools
import operator
import threading
import traceback

import numpy

from tilec import device as _device
from warp import arrays as _arrays
from warp import bounds as _bounds
from warp import devices as _devices
from warp import jax as _jax
from warp import launches as _launches
from warp import types as _types


class JaxCallableGraphMode(enum.IntEnum):
    """Who captures what a callable launches; here JAX calls it each time."""

    NONE, JAX, WARP, WARP_STAGED, WARP_STAGED_EX = range(5)


class JaxModulePreloadMode(enum.IntEnum):
    """Where modules are loaded before JAX calls; here they are when it does."""

    NONE, CURRENT_DEVICE, ALL_DEVICES = range(3)


# ---- XLA's structures ----


def _struct(name, *fields):
    return type(name, (ctypes.Structure,), {"_fields_": [("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), *fields]})


_Version = _struct("Version", ("major", ctypes.c_int), ("minor", ctypes.c_int))
_Buffer = _struct("Buffer", ("dtype", ctypes.c_int32), ("data", ctypes.c_void_p), ("rank", ctypes.c_int64), ("dims", ctypes.POINTER(ctypes.c_int64)))
_List = _struct("List", ("count", ctypes.c_int64), ("types", ctypes.c_void_p), ("items", ctypes.POINTER(ctypes.c_void_p)))
_Attributes = _struct("Attributes", ("count", ctypes.c_int64), ("types", ctypes.c_void_p), ("names", ctypes.c_void_p), ("items", ctypes.POINTER(ctypes.c_void_p)))
_FUNCTIONS = ("error_create", "error_message", "error_destroy", "handler_register", "stream_get", "type_register", "context_get", "state_set", "state_get",
              "memory_allocate", "memory_free", "pool_schedule", "pool_threads", "future_create", "future_available", "future_error", "run_id", "device_ordinal")
_Api = _struct("Api", ("version", _Version), ("internal", ctypes.c_void_p), *[(name, ctypes.c_void_p) for name in _FUNCTIONS])
_Frame = _struct("Frame", ("api", ctypes.POINTER(_Api)), ("context", ctypes.c_void_p), ("stage", ctypes.c_int32), ("args", _List), ("rets", _List),
                 ("attributes", _Attributes), ("future", ctypes.c_void_p))
_Error = _struct("Error", ("message", ctypes.c_char_p), ("code", ctypes.c_int32))
_Asked = _struct("Asked", ("context", ctypes.c_void_p), ("found", ctypes.c_void_p))  # the stream, or the device's number in the low 32 bits
_CALL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_UNKNOWN, _METADATA = 2, 1


class _Extension(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("type", ctypes.c_int32), ("next", ctypes.c_void_p), ("metadata", ctypes.c_void_p)]


class _Metadata(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("version", _Version), ("traits", ctypes.c_uint32)]


class _Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("value", ctypes.c_void_p)]


def _error(frame, text):
    made = _Error(size=ctypes.sizeof(_Error), message=text.encode(), code=_UNKNOWN)
    return _CALL(frame.api.contents.error_create)(ctypes.addressof(made))


def _asked(frame, name):
    """What the function of the interface says of the call; None: it has none, or an error."""
    address = getattr(frame.api.contents, name) if frame.api.contents.size >= getattr(_Api, name).offset + 8 else None
    made = _Asked(size=ctypes.sizeof(_Asked), context=frame.context)
    if not address or _CALL(address)(ctypes.addressof(made)):
        return None
    return made.found or 0


def _attribute(frame, index):
    return ctypes.c_int64.from_address(_Scalar.from_address(frame.attributes.items[index]).value).value


_lock = threading.RLock()
_handlers = []  # XLA calls them as long as the process runs


def _register(name, function):
    import jax

    for platform in ("cpu", "CUDA"):

        def handler(address, platform=platform):
            frame = _Frame.from_address(address)
            try:
                if frame.extension and _Extension.from_address(frame.extension).type == _METADATA:
                    known = _Metadata.from_address(_Extension.from_address(frame.extension).metadata)
                    known.version.major, known.version.minor = 0, 1
                else:
                    with _lock:
                        function(frame, platform)
            except Exception as error:  # XLA raises what it is told
                traceback.print_exc()
                return _error(frame, f"FFI callback error: {type(error).__name__}: {error}")
            return None

        made = _CALL(handler)
        _handlers.append(made)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(ctypes.cast(made, ctypes.c_void_p).value), platform=platform)


# ---- arguments ----


class _Argument:
    def __init__(self, name, kind, in_out):
        self.name, self.kind, self.in_out = name, kind, in_out
        self.is_array = isinstance(kind, _arrays.array_annotation_base)
        number = kind.dtype if self.is_array else kind
        if isinstance(number, _types.Struct) or not isinstance(number, type):
            raise TypeError(f"Invalid type for argument '{name}', expected an array of numbers, vectors or matrices, or a number, got {kind}")
        self.inner = tuple(getattr(number, "_shape_", ())) if hasattr(number, "_wp_scalar_type_") else ()
        self.number = _jax.dtype_to_jax(getattr(number, "_wp_scalar_type_", number))
        self.rank = (kind.ndim if self.is_array else 0) + len(self.inner)

    def check(self, value):
        if value.dtype != self.number:
            raise TypeError(f"Invalid data type for array argument '{self.name}', expected {self.number}, got {value.dtype}")
        if value.ndim != self.rank:
            raise TypeError(f"Invalid dimensionality for array argument '{self.name}', expected {self.rank} dimensions, got {value.ndim}")
        if self.inner and tuple(value.shape[-len(self.inner) :]) != self.inner:
            raise TypeError(f"Invalid inner dimensions for array argument '{self.name}', expected {self.inner}, got {value.shape[-len(self.inner):]}")

    def outer(self, shape):
        return tuple(shape)[: len(shape) - len(self.inner)]

    def result(self, dims, more):
        import jax

        dims = (dims,) if isinstance(dims, int) else tuple(dims)
        if self.inner and len(dims) == self.kind.ndim:
            dims = dims + self.inner
        if len(dims) != self.rank or self.inner and dims[-len(self.inner) :] != self.inner:
            raise ValueError(f"Invalid output dimensions for argument '{self.name}': {dims}")
        made = jax.ShapeDtypeStruct(dims, self.number)
        return made.update(**more) if more else made

    def array_on(self, buffer, device):
        """Warp's array on JAX's memory, and how many of them vmap() put into its first dimension; None: one."""
        shape = self.outer(buffer.dims[: buffer.rank])
        extra, batch = len(shape) - self.kind.ndim, None
        if extra > 0:
            batch = int(numpy.prod(shape[:extra], dtype=int))
            shape = (batch * shape[extra], *shape[extra + 1 :])
        if 0 in shape:
            return _arrays.empty(shape, self.kind.dtype, device=device), batch
        return _arrays.array(ptr=buffer.data, shape=shape, dtype=self.kind.dtype, device=device), batch


def _varying(values):
    """What is said of results where shard_map() has its inputs vary along axes of a mesh: each may vary along all of them."""
    import jax

    kinds = [jax.typeof(value) for value in values] if hasattr(jax, "typeof") and hasattr(jax.ShapeDtypeStruct, "update") else []
    manual = [getattr(kind, "manual_axis_type", None) for kind in kinds]
    axes = [getattr(kind, "vma", None) if one is None else one.varying for kind, one in zip(kinds, manual)]
    along = frozenset().union(*[one for one in axes if one])
    if not along:
        return {}
    mesh = jax.sharding.get_abstract_mesh() if hasattr(jax.sharding, "get_abstract_mesh") else next(
        kind.sharding.mesh for kind, one in zip(kinds, axes) if one)
    said = {"vma": along} if all([one is None for one in manual]) else {"manual_axis_type": jax.sharding.ManualAxisType(varying=along)}
    return {**said, "sharding": jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())}


class _Callable:
    """What JAX calls: `run(arrays and numbers by the order of arguments, extents of the launch, device, stream)`."""

    _numbers = itertools.count()

    def __init__(self, label, kinds, num_outputs, run, vmap_method, output_dims, in_out_argnames, has_side_effect, launch_dims=None, check=None,
                 is_like_first=False):
        named = list(in_out_argnames or ())
        if len(set(named)) != len(named):
            raise ValueError("in_out_argnames must not contain duplicate names")
        if num_outputs < 1:
            raise ValueError("At least one output is required")
        if num_outputs > len(kinds):
            raise ValueError("Number of outputs cannot be greater than the number of kernel arguments")
        if num_outputs < len(named):
            raise ValueError("Number of outputs cannot be smaller than the number of in_out_argnames")
        self.arguments = [_Argument(name, kind, name in named) for name, kind in kinds.items()]
        count = len(kinds) - num_outputs + len(named)
        self.inputs, self.outputs = self.arguments[:count], self.arguments[count:]
        wrong = [one.name for one in self.outputs if one.in_out]
        if wrong:
            raise ValueError(f"Expected an output-only argument for argument {wrong[0]}. in_out arguments should be placed before output-only arguments.")
        unknown = set(named) - set(kinds)
        if unknown:
            raise ValueError(f"in_out_argnames: '{unknown}' did not match any function argument names.")
        if not all([one.is_array for one in self.outputs]):
            raise TypeError("All output arguments must be arrays")
        self.run, self.check, self.calls, self.is_like_first = run, check, {}, is_like_first
        self.vmap_method, self.output_dims, self.launch_dims, self.has_side_effect = vmap_method, output_dims, launch_dims, has_side_effect
        arrays = [one for one in self.inputs if one.is_array]
        self.aliases = {arrays.index(one): i for i, one in enumerate([one for one in arrays if one.in_out])}
        self.name = f"warp.{label}.{next(_Callable._numbers)}"
        _register(self.name, self.called)

    def __call__(self, *given, output_dims=None, launch_dims=None, vmap_method=None):
        import jax

        if len(given) != len(self.inputs):
            raise ValueError(f"Expected {len(self.inputs)} inputs, but got {len(given)}")
        numbers, arrays = {}, []
        for one, value in zip(self.inputs, given):
            if one.is_array:
                one.check(value)
                arrays.append(value)
            elif isinstance(value, jax.core.Tracer):
                raise ValueError(f"Argument '{one.name}' must be a static value")
            else:
                numbers[one.name] = one.kind(value)
        dims = self.launch_dims if launch_dims is None else launch_dims
        asked = dims if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
        first = next(((one, value) for one, value in zip(self.inputs, given) if one.is_array), None)
        if asked is None and first is None:
            raise RuntimeError("Failed to determine launch dimensions")
        dims = first[0].outer(first[1].shape) if asked is None else asked
        if self.check is not None:
            self.check(dims)
        wanted = self.output_dims if output_dims is None else output_dims
        if wanted is None and self.is_like_first and first is not None:
            wanted = first[0].outer(first[1].shape)
        varying = _varying(arrays)
        results = [one.result(one.outer(value.shape), varying) for one, value in zip(self.inputs, given) if one.in_out]
        for one in self.outputs:
            if isinstance(wanted, dict) and one.name not in wanted:
                raise ValueError(f"Missing output dimensions for argument '{one.name}'")
            results.append(one.result(dims if wanted is None else wanted[one.name] if isinstance(wanted, dict) else wanted, varying))
        number = len(self.calls)
        self.calls[number] = numbers, asked
        call = jax.ffi.ffi_call(self.name, results, vmap_method=vmap_method or self.vmap_method, input_output_aliases=self.aliases,
                                has_side_effect=self.has_side_effect)
        return call(*arrays, call=numpy.int64(number))

    def called(self, frame, platform):
        numbers, dims = self.calls[_attribute(frame, 0)]
        device, stream = _device_of(frame, platform)
        given = [_Buffer.from_address(frame.args.items[i]) for i in range(frame.args.count)]
        made = [_Buffer.from_address(frame.rets.items[i]) for i in range(frame.rets.count)]
        buffers = iter(given + made[len(self.aliases) :])
        values, batches = [], []
        for one in self.arguments:
            value, batch = one.array_on(next(buffers), device) if one.is_array else (numbers[one.name], None)
            values.append(value)
            batches.append(batch)
        batch = next((one for one in batches if one is not None), None)
        if dims is None:
            dims = next((value.shape for one, value in zip(self.inputs, values) if one.is_array), ())
        elif batch is not None:
            dims = (batch * dims[0], *dims[1:])
        self.run(values, dims, device, stream)


def _device_of(frame, platform):
    """The device that JAX calls on, and its stream; None: it has none."""
    if platform == "cpu":
        return _devices.get_device("cuda:0" if _device.is_emulator() else "cpu"), None
    found = _asked(frame, "device_ordinal")
    device = _devices.get_cuda_device(None if found is None else found & 0xFFFFFFFF)
    return device, _devices.Stream(device, cuda_stream=_asked(frame, "stream_get"))


# ---- kernels ----


def _hashed(value):
    if isinstance(value, dict):
        return tuple(sorted((name, _hashed(one)) for name, one in value.items()))
    return tuple(value) if hasattr(value, "__len__") else value


_kernels, _differentiable, _callables = {}, {}, {}


def _block_dim(given):
    if given is None:
        return None
    if isinstance(given, bool):
        raise TypeError("jax_kernel(): block_dim must be an integer or None.")
    try:
        given = operator.index(given)
    except TypeError:
        raise TypeError("jax_kernel(): block_dim must be an integer or None.") from None
    if given <= 0:
        raise ValueError("jax_kernel(): block_dim must be positive.")
    return given


def _on_stream(function, device, stream):
    with _devices.ScopedDevice(device):
        if stream is None:
            return function()
        with _devices.ScopedStream(stream, sync_enter=False, sync_exit=False):
            return function()


def _kernel_run(kernel, block_dim):
    def run(values, dims, device, stream):
        _on_stream(lambda: _launches.launch(kernel, dim=dims, inputs=values, device=device, **_threads(block_dim), record_tape=False), device, stream)

    return run


def _threads(block_dim):
    return {} if block_dim is None else {"block_dim": block_dim}


def jax_kernel(kernel, num_outputs=1, vmap_method="broadcast_all", launch_dims=None, output_dims=None, in_out_argnames=None,
               module_preload_mode=JaxModulePreloadMode.CURRENT_DEVICE, enable_backward=False, has_side_effect=False, block_dim=None):
    """A function of JAX that launches the kernel: it is given the inputs, of which numbers are known when it is traced, and gives the outputs.

    launch_dims: extents of the launch; without, those of the first array. output_dims: of the outputs, by their names if they differ; without,
    those of the launch. in_out_argnames: inputs that are outputs, too. enable_backward: whether JAX may differentiate it.
    """
    block_dim = _block_dim(block_dim)
    key = (kernel, num_outputs, vmap_method, _hashed(launch_dims), _hashed(output_dims), _hashed(in_out_argnames) or None, module_preload_mode, has_side_effect,
           block_dim)
    if enable_backward:
        if in_out_argnames:
            raise NotImplementedError("jax_kernel(): Input-output arguments (in_out_argnames) are not supported when enable_backward=True.")
        if output_dims is not None:
            raise NotImplementedError("jax_kernel(): output_dims is not yet supported when enable_backward=True.")
        if key not in _differentiable:
            _differentiable[key] = _with_gradient(kernel, num_outputs, vmap_method, launch_dims, has_side_effect, block_dim)
        return _differentiable[key]
    if key not in _kernels:
        made = _Callable(kernel.key, dict(kernel.kinds), num_outputs, _kernel_run(kernel, block_dim), vmap_method, output_dims, in_out_argnames, has_side_effect,
                         launch_dims, lambda dims: _bounds.bounds_of(dims, kernel, block_dim))
        made.block_dim = block_dim
        _kernels[key] = made
    return _kernels[key]


def _with_gradient(kernel, num_outputs, vmap_method, launch_dims, has_side_effect, block_dim):
    import jax

    names = list(kernel.kinds)
    inputs, outputs = names[: len(names) - num_outputs], names[len(names) - num_outputs :]
    arrays = [name for name in inputs if isinstance(kernel.kinds[name], _arrays.array_annotation_base)]
    fixed = [i for i, name in enumerate(inputs) if name not in arrays]
    forward = _Callable(kernel.key, dict(kernel.kinds), num_outputs, _kernel_run(kernel, block_dim), vmap_method, None, None, has_side_effect, launch_dims,
                        lambda dims: _bounds.bounds_of(dims, kernel, block_dim), is_like_first=True)

    def back(values, dims, device, stream):
        given = dict(zip(names, values))
        rest = values[len(names) :]
        of_outputs, of_arrays = rest[:num_outputs], dict(zip(arrays, rest[num_outputs:]))

        def launch():
            for one in of_arrays.values():
                one.zero_()
            _launches.launch(kernel, dim=dims, inputs=[given[name] for name in inputs], outputs=[given[name] for name in outputs],
                             adj_inputs=[of_arrays.get(name, given[name]) for name in inputs],
                             adj_outputs=[_arrays.clone(one) for one in of_outputs],  # which are used up, and JAX's, maybe one for several
                             adjoint=True, device=device,
                             **_threads(block_dim), record_tape=False)

        _on_stream(launch, device, stream)

    kinds = {**kernel.kinds, **{f"adj_{name}": kernel.kinds[name] for name in outputs + arrays}}
    backward = _Callable(f"adj_{kernel.key}", kinds, len(arrays), back, vmap_method, None, None, has_side_effect, launch_dims)

    def forward_of(*given):
        made = forward(*given)
        return made, ([value for i, value in enumerate(given) if i not in fixed], list(made) if isinstance(made, (list, tuple)) else [made])

    def backward_of(*given):
        numbers, (kept, made), adjoints = given[: len(fixed)], given[len(fixed)], given[len(fixed) + 1 :]
        values = list(kept)
        for i, number in zip(fixed, numbers):
            values.insert(i, number)
        adjoints = adjoints[0] if len(adjoints) == 1 and isinstance(adjoints[0], (list, tuple)) else adjoints
        dims = {f"adj_{name}": kernel_outer(kernel.kinds[name], value.shape) for name, value in zip(arrays, kept)}
        return tuple(backward(*values, *made, *adjoints, output_dims=dims))

    function = jax.custom_vjp(forward, nondiff_argnums=tuple(fixed))
    function.defvjp(forward_of, backward_of)

    def plain(*given):
        return function(*given)

    plain.__signature__ = inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in inputs])
    compiled = jax.jit(plain, static_argnums=tuple(fixed))

    def checked(*given, **more):
        if "output_dims" in more:
            raise TypeError("jax_kernel(): output_dims is not supported when enable_backward=True.")
        for name in more:
            raise TypeError(f"jax_kernel(): {name} cannot be overridden per-call when enable_backward=True; call jax_kernel() again with another one")
        return compiled(*given)

    checked.block_dim = block_dim
    return checked


def kernel_outer(kind, shape):
    return _Argument("", kind, False).outer(shape)


# ---- functions ----


def jax_callable(func, num_outputs=1, graph_mode=JaxCallableGraphMode.JAX, vmap_method="broadcast_all", output_dims=None, in_out_argnames=None,
                 stage_in_argnames=None, stage_out_argnames=None, graph_cache_max=32, module_preload_mode=JaxModulePreloadMode.CURRENT_DEVICE,
                 has_side_effect=False):
    """A function of JAX that calls one of Python, whose parameters have the annotations of a kernel's, on Warp's arrays. Graphs are none of its:
    each call of JAX's is one of the function."""
    graph_mode = JaxCallableGraphMode(graph_mode)
    key = (func, num_outputs, graph_mode, vmap_method, _hashed(output_dims), *[_hashed(one) or None for one in (in_out_argnames, stage_in_argnames, stage_out_argnames)],
           module_preload_mode, has_side_effect)
    if key in _callables:
        return _callables[key]
    annotations = inspect.get_annotations(func, eval_str=True)
    if annotations.pop("return", None) is not None:
        raise TypeError("Function must not return a value")
    names = list(inspect.signature(func).parameters)
    if set(names) - set(annotations):
        raise RuntimeError(f"Incomplete argument annotations on function {func.__name__}")

    def run(values, dims, device, stream):
        if stream is None and graph_mode > JaxCallableGraphMode.JAX and not _device.is_emulator():
            raise RuntimeError(f"JaxCallableGraphMode.{graph_mode.name} is not supported on CPU")
        _on_stream(lambda: func(*values), device, stream)

    kinds = {name: _types.as_type(annotations[name]) for name in names}
    made = _callables[key] = _Callable(func.__name__, kinds, num_outputs, run, vmap_method, output_dims, in_out_argnames, has_side_effect)
    made.graph_mode, made.graph_cache_max = graph_mode, graph_cache_max
    made.stage_in_argnames, made.stage_out_argnames = [set(one) if one else None for one in (stage_in_argnames, stage_out_argnames)]
    return made


def clear_jax_callable_graph_cache(callable=None):
    """There are no graphs of callables."""


__all__ = ["JaxCallableGraphMode", "JaxModulePreloadMode", "clear_jax_callable_graph_cache", "jax_callable", "jax_kernel"]
