"""Arguments of launches: what type they are of, whether a parameter takes them, and how C has them."""

from typing import Any

import numpy

from warp import arrays as _arrays
from warp import codes as _codes
from warp import descriptors as _descriptors
from warp import fabric as _fabric
from warp.arrays import array, array_annotation_base, array_t
from warp.types import Struct, StructInstance, _Type, as_type, scalar_base, type_repr


def resolve_family(value):
    """The class of arrays that a value is of, whatever it says of itself; None: of none, as what an annotation says is."""
    return None if isinstance(value, array_annotation_base) else _codes.family_of_class(type(value))


def described(value):
    """What an annotation says of arrays like this one; other things as they are."""
    family = resolve_family(value)
    if family is _arrays.fixedarray:
        raise TypeError("a fixedarray is a thread's own: no launch is given one")
    return value if family is None else family._said(value.dtype, value.ndim)


# ---- of what type ----


def is_open(kind):
    return kind is Any or getattr(kind, "dtype", None) is Any or getattr(kind, "ndim", None) is Any


def infer_argument_types(values, templates, names=None):
    """The types of arguments of parameters that leave theirs open; of None they are what the parameter says."""
    return [_inferred(value, template, names[i] if names else f"{i}") for i, (value, template) in enumerate(zip(values, templates, strict=True))]


def _inferred(value, template, name):
    unknown = TypeError(f"Unable to infer what type argument '{name}' is of: it is given as {type(value).__name__}")
    if value is None:
        if isinstance(template, _arrays.fixed_annotation):
            return template
        found = described(template)
        if is_open(found):
            raise unknown
        return found
    if isinstance(value, array_annotation_base):
        if isinstance(value, _arrays.fixed_annotation):
            raise TypeError(f"argument '{name}': a fixedarray is a thread's own: no launch is given one")
        raise unknown
    found = described(value) if resolve_family(value) is not None else plain_type(value)
    if found is None:
        raise unknown
    if isinstance(found, array_annotation_base) and isinstance(template, array_annotation_base) and not matches(found, template):
        raise TypeError(f"type mismatch: argument '{name}' is {type_repr(template)}, and given {type_repr(found)}")
    return found


def plain_type(value):
    if isinstance(value, StructInstance):
        return value._struct
    kind = type(value)
    if isinstance(kind, _Type):
        return kind
    if kind in (int, float, bool) or isinstance(value, numpy.generic):
        return as_type(kind)
    return None


def matches(kind, template):
    """Whether an array's type is what a parameter is for."""
    return (_codes.array_type_id(template) == _codes.array_type_id(kind) and template.ndim in (Any, kind.ndim)
            and (not isinstance(template.dtype, (_Type, Struct)) or template.dtype is kind.dtype))


# ---- as C has them ----


def pack_arg(kernel, kind, name, value, device, adjoint=False):
    """The argument as a launch is given it, checked."""
    if isinstance(kind, array_annotation_base):
        return _packed(kernel, kind, f"{'adjoint ' if adjoint else ''}argument '{name}'", value, device, adjoint)
    if isinstance(value, StructInstance):
        return value.__ctype__()
    return value.value if isinstance(value, scalar_base) else value


def _family_of(value, where):
    try:
        return resolve_family(value)
    except TypeError as error:
        raise RuntimeError(f"{where}: {error}") from None


def _packed(kernel, kind, where, value, device, adjoint):
    where = f"Error launching kernel '{kernel.key}', {where}"
    if value is None:
        return array_t()
    if isinstance(value, array_t):
        return value
    family = _family_of(value, where)
    wanted = array if adjoint else _codes.concrete_array_type(kind)
    if family is None and (hasattr(value, "__array_interface__") or hasattr(value, "__cuda_array_interface__")):
        value, family = array(value, dtype=kind.dtype, device=device, copy=False), array
    if family is not wanted:
        raise RuntimeError(f"{where} expects an array of type {type_repr(kind)}, but passed value has type {type(value).__name__}.")
    why = _mismatch(kind, value)
    if why is not None:
        raise RuntimeError(f"{where} {why}")
    if value.device != device:
        raise RuntimeError(f"{where}: trying to launch on device='{device}', but input array is on device='{value.device}'.")
    try:
        return _descriptors.of(value)
    except TypeError as error:
        raise RuntimeError(f"{where}: {error}") from None


def check_family(kernel, kind, name, value):
    """An array is of the family that the parameter is for."""
    found = resolve_family(value)
    if found is not None and not isinstance(kind, _arrays.fixed_annotation) and found is not _codes.concrete_array_type(kind):
        raise RuntimeError(f"Error launching kernel '{kernel.key}', argument '{name}' expects an array of type {type_repr(kind)}, "
                           f"but passed value has type {type(value).__name__}.")


def check_descriptor(kernel, name, value):
    """What a class of the program's says of an array is right."""
    if _family_of(value, kernel.key) is not None:
        try:
            _descriptors.of(value)
        except TypeError as error:
            raise RuntimeError(f"Error launching kernel '{kernel.key}', argument '{name}': {error}") from None


def mismatch(kernel, values):
    """What an argument is that its parameter is not for: words for a message, or None."""
    for name, value in zip(kernel.parameters, values):
        kind = kernel.kinds.get(name)
        if not isinstance(kind, array_annotation_base) or resolve_family(value) is None:
            continue
        why = _mismatch(kind, value)
        if why is not None:
            return f"Error launching kernel '{kernel.key}', argument '{name}' {why}"
    return None


def _mismatch(kind, value):
    """Of an array: what it is that a parameter is not for, or None."""
    if isinstance(kind.dtype, (_Type, Struct)) and value.dtype is not kind.dtype:
        return f"expects an array with dtype {type_repr(kind.dtype)}, and is given one of {type_repr(value.dtype)}"
    if kind.ndim not in (Any, value.ndim):
        return f"expects an array with {kind.ndim} dimension(s) but the passed array has {value.ndim} dimension(s)."
    return None


def check_annotation(kind, what):
    """What a program says of a parameter is a type, or an array of Warp's own classes that stands for one."""
    found = resolve_family(kind) if not isinstance(kind, type) else None
    if found is None or "_own" in vars(type(kind)):
        return
    word = "a fixedarray subclass instance" if found is _arrays.fixedarray else f"an instance of {type(kind).__name__}"
    raise TypeError(f"{what}: {word} as an annotation is not taken")


def check_annotations(name, annotations):
    for one, kind in annotations.items():
        check_annotation(kind, f"{name}, '{one}'")


# ---- what a kernel works on ----


def described_now(kernel, values, device):
    """The arrays that classes of the program's say."""
    if all([type(value) is array or _family_of(value, kernel.key) is None for value in values]):
        return values
    return [value if _family_of(value, kernel.key) is None else _descriptors.described(value, name, kernel.kinds.get(name), device)
            for name, value in zip(kernel.parameters, values)]


def taken(name, kind, value, device, copies):
    """The array that a kernel is given: of Fabric's a copy, which `copies` gets beside it; of C's description, or another program's,
    one on the same memory."""
    exact = type(value)
    if isinstance(value, StructInstance):
        return _taken_fields(name, value, device, copies)
    if exact is array or value is None or kind is not Any and not isinstance(kind, array_annotation_base):
        return value
    if exact is array_t and kind is not Any:
        return value.array_of(kind, device) if value.data else None
    family = resolve_family(value)
    if family is not None:
        value = _descriptors.described(value, name, kind, device)
    if family is not None and issubclass(family, _fabric._Whole):
        copy = array(value.numpy(), dtype=value.dtype, device=value.device)
        copies.append((value, copy))
        return copy
    if family is None and kind is not Any and not isinstance(value, numpy.ndarray) and exact.__module__.partition(".")[0] != "torch":
        return _of_interface(value, kind, device)
    return value


def _taken_fields(name, value, device, copies):
    """A struct with the arrays that the kernel works on; it itself where they are its own."""
    made = {}
    for field, kind in value._struct.vars.items():
        held = value.__dict__[field]
        if type(held) is not array and (isinstance(held, StructInstance) or held is not None and resolve_family(held) is not None):
            found = taken(f"{name}.{field}", kind, held, device, copies)
            if found is not held:
                made[field] = found
    if not made:
        return value
    other = object.__new__(type(value))
    other.__dict__.update({**value.__dict__, **made})
    return other


def _of_interface(value, kind, device):
    word = "__cuda_array_interface__" if device.is_cuda else "__array_interface__"
    said = getattr(type(value), word, None)
    said = getattr(value, word, None) if said is not None else None
    if said is None:
        return value
    made = _arrays.seen(said, kind.dtype, device)
    made.memory.owner = value
    return made
