"""Tapes: launches are noted, and gone through backwards by their gradients."""

import sys

from warp import graphs as _graphs
from warp import reads as _reads
from warp.types import Struct, StructInstance, _Type, float_types

_open = []
READ, WRITTEN = 1, 2


def is_recording():
    return len(_open) > 0


def note(record):
    for tape in _open:
        tape.launches.append(record)


def _is_array(value):
    return hasattr(value, "__tile_facts__") and hasattr(value, "dtype") and not isinstance(value, StructInstance)


def _is_differentiable(array):
    kind = array.dtype
    return isinstance(kind, Struct) or (isinstance(kind, _Type) and getattr(kind, "_dtype", kind) in float_types)


def _arrays_in(value):
    if isinstance(value, StructInstance):
        return [one for field in value._struct.vars for one in _arrays_in(value.__dict__[field])]
    return [value] if _is_array(value) else []


# ---- copies ----


def note_copy(dest, src):
    """Inside of a tape: what is added to the gradient of what was copied."""
    if not _open:
        return
    marks(src, dest, lambda: _caller())
    if dest.grad is not None and src.grad is not None:
        note((lambda: _go_back(dest, src), [dest, src]))


def _go_back(dest, src):
    if dest.device.is_cuda != src.device.is_cuda and _graphs.is_capturing():
        raise RuntimeError("Cannot run CPU/CUDA wp.copy() adjoints during CUDA graph capture: the host's memory is no part of a graph")
    _copy_back(dest, src)


def _caller():
    frame = sys._getframe(1)
    while frame is not None and "/shims/warp/" in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "?"


def _span(array):
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides)]
    low, high = sum([one for one in reach if one < 0]), sum([one for one in reach if one > 0])
    start = array.memory.pointer + array.offset
    return start + low, start + high + array.itemsize


def _why_untracked(dest, src):
    """What of a copy is not sums: then the gradient's bytes are copied, and stay where they were."""
    if dest.memory is src.memory and dest.size and src.size:
        (a, b), (c, d) = _span(dest), _span(src)
        if a < d and c < b:
            return "an overlapping copy"
    if dest.dtype is not src.dtype or not _is_differentiable(src) or isinstance(src.dtype, Struct):
        return "a copy between unsupported gradient dtypes"
    return None


@_graphs.recorded
def _copy_back(dest, src):
    why = _why_untracked(dest, src)
    if why is not None:
        from warp._src import context

        context.log_warning(f"the gradient of {why} cannot yet be fully tracked: it takes the place of the source's", category=UserWarning,
                            stacklevel=5, once=True)
        given = dest.grad.numpy().copy()
        src.grad.store(given.view(src.grad.host().dtype).reshape(src.grad.host().shape))
        return
    src.grad.store(src.grad.numpy() + dest.grad.numpy().reshape(src.grad.numpy().shape))
    if not dest.retain_grad:
        dest.grad.zero_()


# ---- which arrays are written that were read before ----


def marks(read, written, where):
    import warp
    from warp._src.logger import log_warning

    if not warp.config.verify_autograd_array_access:
        return
    if written.memory.is_read:
        log_warning(f"Array {written} is being written to by an array copy at {where()} but has already been read from in a previous "
                    "launch. This may corrupt gradient computation in the backward pass.")
    read.memory.is_read = True


def mark_launch(kernel, named, access):
    """`named`: the arrays of a launch; `access`: what it does to each."""
    import warp
    from warp._src.logger import log_warning

    if not warp.config.verify_autograd_array_access or not _open:
        return
    told = _reads.accesses(kernel.func)
    for name, line in told.overwritten.items():
        if name in named:
            log_warning(f"Array '{name}' of kernel {kernel.key} (line {line}) is being written to after it has been read from within the same "
                        "kernel. This may corrupt gradient computation in the backward pass.")
    for name, array in named.items():
        if access.get(name, 0) & WRITTEN and array.memory.is_read:
            log_warning(f"Array {array}, argument '{name}' of kernel {kernel.key}, is being written to but has already been read from in a "
                        "previous launch. This may corrupt gradient computation in the backward pass.")
    for name, array in named.items():
        if access.get(name, 0) & READ and (name in told.read or name not in told.written):  # what is changed in place is written alone
            array.memory.is_read = True


# ---- gradients ----


def gradients_of(names, values, given, access):
    """For each argument the array that its gradient is added to, or None; and what is done after: where two arrays have one gradient, it
    is added up; and the names of those that stay what they are where the kernel overwrites the array. It is what is given, else that of the
    array, else memory that nobody looks at."""
    later = _Later()
    given = given if len(given) == len(values) else [None] * len(values)
    arguments = list(zip(names, values, given))
    for argument in arguments:
        _find_owners(*argument, access, later.owners)
    return [_gradients_of_one(*argument, access, later) for argument in arguments], later.stores + later.sums, tuple(later.retained)


class _Later:
    """What is done with gradients behind the kernel: stores, and then sums of what was kept apart. Several arguments may have one gradient:
    what a kernel writes is of the one that it is written by (`owners`)."""

    def __init__(self):
        self.stores, self.sums, self.owners, self.retained = [], [], {}, []


def _own_gradient(value, given):
    own = given if given is not None else value.grad
    return own, None if own is None else (own.memory.pointer + own.offset, own.shape, own.strides)


def _is_external(value, given):
    """Whether the caller gave other memory than the array's own gradient: nothing of that is consumed."""
    return given is not None and (value.grad is None or _own_gradient(value, None)[1][0] != _own_gradient(value, given)[1][0])


def _fields_of(name, value, given):
    for field in value._struct.vars:
        yield field, f"{name}_{field}", value.__dict__[field], given.__dict__[field] if isinstance(given, StructInstance) else None


def _find_owners(name, value, given, access, owners):
    if isinstance(value, StructInstance):
        for _, *inner in _fields_of(name, value, given):
            _find_owners(*inner, access, owners)
    elif _is_array(value) and _is_differentiable(value):
        spot = _own_gradient(value, given)[1]
        if spot not in owners or access.get(name, 0) & WRITTEN and not access.get(owners[spot], 0) & WRITTEN:
            owners[spot] = name


def _gradients_of_one(name, value, given, access, later):
    if isinstance(value, StructInstance):
        made = StructInstance(value._struct)
        for field, *inner in _fields_of(name, value, given):
            gradient = _gradients_of_one(*inner, access, later)
            if gradient is not None or _is_array(inner[1]):
                made.__dict__[field] = gradient
        return made
    return _gradient(name, value, given, access, later) if _is_array(value) and _is_differentiable(value) else None


def _zeros_laid_as(value):
    """Zeros whose elements lie as those of the array do, which the kernel finds them by."""
    from warp.arrays import array, zeros, zeros_like
    from warp.types import uint8

    if value.is_contiguous or not value.size:
        return zeros_like(value, requires_grad=False)
    start, end = _span(value)
    whole = zeros(end - start, dtype=uint8, device=value.device)
    at = whole.ptr + value.memory.pointer + value.offset - start
    made = array(ptr=at, shape=value.shape, strides=value.strides, dtype=value.dtype, device=value.device)
    made.memory.owner = whole
    return made


def _gradient(name, value, given, access, later):
    own, spot = _own_gradient(value, given)
    if own is None or later.owners.get(spot, name) != name:
        spare = _zeros_laid_as(value)
        if own is not None and isinstance(value.dtype, Struct):
            raise ValueError("an array of structs is given twice to a kernel whose gradient is wanted: give a copy")
        if own is not None and 0 not in own.strides:
            later.sums.append(lambda: own.store(own.numpy() + spare.numpy()))
        return spare
    if own.strides != value.strides and own.shape == value.shape:
        packed, whole = _zeros_laid_as(value), own  # such as one number for several elements, which torch has of a sum
        packed.store(own.numpy())
        if not access.get(name, 0) & WRITTEN and 0 not in own.strides:
            later.stores.append(lambda: whole.store(packed.numpy()))
        own = packed
    if (value.retain_grad or _is_external(value, given)) and access.get(name, WRITTEN) & WRITTEN:
        later.retained.append(name)
    return own


class _Gradients(dict):
    """Of arrays, and of structs of them."""

    def __missing__(self, key):
        if isinstance(key, StructInstance):
            return _gradients_of_one("", key, None, {}, _Later())
        raise KeyError(key)


def _has_gradient(kernel):
    from warp._src.logger import log_warning

    if kernel.enable_backward or kernel.enable_backward is None and kernel.module.options["enable_backward"] is not False:
        return True
    why = "is defined in a module with the option 'enable_backward=False' set" if kernel.enable_backward is None else (
        "is configured with the option 'enable_backward=False'")
    log_warning(f"Running the tape backwards may produce incorrect gradients because recorded kernel {kernel.key} {why}.")
    return False


class LaunchRecord(list):
    """Of a kernel: the kernel, the launch's dimensions, blocks at most, inputs, outputs, device, block_dim, metadata."""


def launch_record(word, *given):
    made = LaunchRecord(given)
    made.word = word  # the function that launched it
    return made


class Tape:
    def __init__(self):
        self.launches = []
        self.used = {}  # arrays whose gradients were asked for, by themselves
        self.loss = None
        self.scopes = []

    def __enter__(self):
        if _open:
            raise RuntimeError("Warp: Error, entering a tape while one is already active")
        _open.append(self)
        return self

    def __exit__(self, *ignored):
        _open.remove(self)

    @property
    def gradients(self):
        return _Gradients({array: array.grad for array in self._arrays() if array.grad is not None})

    def _arrays(self):
        for record in self.launches:
            for value in record[1] if len(record) == 2 else [*record[3], *record[4]]:
                for array in _arrays_in(value):
                    self.used[id(array)] = array
        return list(self.used.values())

    def record_func(self, backward, arrays):
        self.launches.append((backward, arrays))

    def record_launch(self, kernel, dim, max_blocks, inputs, outputs, device, block_dim=256, metadata=None):
        self.launches.append(launch_record("launch", kernel, dim, max_blocks, inputs, outputs, device, block_dim, metadata))

    def record_scope_begin(self, name, metadata=None):
        self.scopes.append((len(self.launches), name, {} if metadata is None else metadata))

    def record_scope_end(self, remove_scope_if_empty=True):
        if sum([-1 if name is None else 1 for _, name, _ in self.scopes]) == 0:
            raise RuntimeError("Warp: Error, ended tape scope, but scope not present")
        place, name, _ = self.scopes[-1]
        if remove_scope_if_empty and name is not None and place == len(self.launches):
            self.scopes.pop()
        else:
            self.scopes.append((len(self.launches), None, None))

    def scopes_at(self):
        """By places in the tape, the names of scopes that begin there, None for one that ends."""
        made = {}
        for place, name, _ in self.scopes:
            made.setdefault(place, []).append(name)
        return made

    def visualize(self, filename=None, **options):
        """The text of a diagram for GraphViz, which is written to the file, too."""
        from warp.diagram import diagram_of

        text = diagram_of(self, **options)
        if filename is not None:
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)
        return text

    def backward(self, loss=None, grads=None):
        from warp import arrays, launches

        if loss is not None:
            if loss.size > 1 or not loss.requires_grad:
                raise RuntimeError("Can only return gradients for scalar loss functions." if loss.size > 1 else
                                   "Scalar loss arrays should have requires_grad=True set before calling Tape.backward()")
            loss.grad.fill_(1.0)
        for array, gradient in (grads or {}).items():
            if not isinstance(gradient, arrays.array):
                raise RuntimeError("the gradients are arrays, by the arrays that they are of")
            if array.grad is None:
                array.grad = arrays.clone(gradient, requires_grad=False)
            else:
                arrays._copied(array.grad, gradient)
        self._unread()
        for record in reversed(self.launches):
            if len(record) == 2:
                record[0]()
                continue
            kernel, dim, _, inputs, outputs, device, block_dim, _ = record
            if not _has_gradient(kernel):
                continue
            launches._start(record.word, kernel, dim, inputs, outputs, [], [], block_dim, True, device)

    def _unread(self):
        for array in self._arrays():
            array.memory.is_read = False

    def zero(self):
        for array in self._arrays():
            if array.grad is not None:
                array.grad.zero_()

    def reset(self):
        self._unread()
        self.zero()
        self.launches = []
        self.scopes = []
