"""Tapes: launches are noted, and gone through backwards by their gradients."""

from warp import graphs as _graphs
from warp.types import StructInstance, _Type

_open = []


def note(record):
    for tape in _open:
        tape.launches.append(record)


def note_copy(dest, src):
    if _open and dest.grad is not None and src.grad is not None:
        note((lambda: _copy_back(dest, src), [dest, src]))


@_graphs.recorded
def _copy_back(dest, src):
    src.grad.store(src.grad.numpy() + dest.grad.numpy().reshape(src.grad.numpy().shape))
    dest.grad.zero_()


def _is_array(value):
    return hasattr(value, "__tile_facts__") and hasattr(value, "dtype") and not isinstance(value, StructInstance)


def _is_differentiable(array):
    from warp.types import Struct, float_types

    kind = array.dtype
    return isinstance(kind, Struct) or (isinstance(kind, _Type) and getattr(kind, "_dtype", kind) in float_types)


def gradients_of(values, given):
    """For each argument the array that its gradient is added to, or None; and which are added to others in the end: what is
    given, else that of the array, else memory that nobody looks at."""
    from warp.arrays import zeros_like

    gradients, later, seen = [], [], []
    given = given if len(given) == len(values) else [None] * len(values)
    for value, one in zip(values, given):
        if isinstance(value, StructInstance):
            gradients.append(_struct_gradients(value))
            continue
        if not _is_array(value) or not _is_differentiable(value):
            gradients.append(None)
            continue
        own = one if one is not None else value.grad
        spot = None if own is None else (own.ptr, own.shape, own.strides)
        if own is None or spot in seen:
            spare = zeros_like(value, requires_grad=False)
            if own is not None:
                later.append((own, spare))
            own = spare
        seen.append(spot)
        gradients.append(own)
    return gradients, later


def _struct_gradients(value):
    from warp.arrays import zeros_like

    made = StructInstance(value._struct)
    for name in value._struct.vars:
        field = value.__dict__[name]
        if _is_array(field) and _is_differentiable(field):
            made.__dict__[name] = field.grad if field.grad is not None else zeros_like(field, requires_grad=False)
        elif _is_array(field):
            made.__dict__[name] = None
    return made


class Tape:
    def __init__(self):
        self.launches = []
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
        return {array: array.grad for array in self._arrays() if array.grad is not None}

    def _arrays(self):
        found = []
        for record in self.launches:
            values = record[1] if len(record) == 2 else [*record[3], *record[4]]
            for value in values:
                parts = list(value.__dict__.values()) if isinstance(value, StructInstance) else [value]
                found += [part for part in parts if _is_array(part)]
        return found

    def record_func(self, backward, arrays):
        self.launches.append((backward, arrays))

    def record_launch(self, kernel, dim, max_blocks, inputs, outputs, device, block_dim=256, metadata=None):
        self.launches.append(("launch", kernel, dim, inputs, outputs, block_dim))

    def record_scope_begin(self, name, metadata=None):
        pass

    def record_scope_end(self, remove_scope_if_empty=True):
        pass

    def backward(self, loss=None, grads=None):
        from warp import arrays, launches

        if loss is not None:
            if loss.size > 1:
                raise RuntimeError("Can only return gradients for scalar loss functions.")
            if not loss.requires_grad:
                raise RuntimeError("Scalar loss arrays should have requires_grad=True set before calling Tape.backward()")
            loss.grad.fill_(1.0)
        for array, gradient in (grads or {}).items():
            if isinstance(gradient, arrays.array):
                array.grad.assign(gradient)
        for record in reversed(self.launches):
            if len(record) == 2:
                record[0]()
                continue
            word, kernel, dim, inputs, outputs, block_dim = record
            launches._start(word, kernel, dim, inputs, outputs, [], [], block_dim, True)

    def zero(self):
        for array in self._arrays():
            if array.grad is not None:
                array.grad.zero_()

    def reset(self):
        self.zero()
        self.launches = []
