"""C's descriptions of arrays whose class is the program's, which may make them itself: they are checked, and kernels work on what they say."""

import ctypes

from warp import arrays as _arrays
from warp import codes as _codes
from warp import fabric as _fabric
from warp import graphs as _graphs

_KINDS = {_arrays.array: _arrays.array_t, _arrays.indexedarray: _arrays.indexedarray_t, _fabric.fabricarray: _fabric.fabricarray_t,
          _fabric.indexedfabricarray: _fabric.indexedfabricarray_t}


def is_own(value):
    """Whether a class of the program's describes the array, or the one that it has the elements of."""
    family = _codes.family_of_class(type(value))
    if family not in _KINDS:
        return False
    inner = value.data if family is _arrays.indexedarray else value.fa if family is _fabric.indexedfabricarray else None
    return type(value).__ctype__ is not family.__ctype__ or inner is not None and is_own(inner)


def of(value):
    """The description, of the class that arrays of its family have; TypeError: it is none."""
    family = _codes.family_of_class(type(value))
    given = value.__ctype__()
    if not is_own(value):
        return given
    kind, known = _KINDS[family], type.__getattribute__(type(given), "__mro__")
    if not any([one is kind for one in known]) or ctypes.sizeof(type(given)) != ctypes.sizeof(kind):
        raise TypeError(f"__ctype__() of {type(value).__name__} gives {type(given).__name__}, which is incompatible with {kind.__name__}")
    made = kind.from_buffer_copy(given)
    part = made if family is _arrays.array else made.data if family is _arrays.indexedarray else None
    if part is not None and part.ndim != value.ndim:
        raise TypeError(f"the descriptor of {type(value).__name__} has {part.ndim} dimension(s), and the array has {value.ndim}")
    return made


def described(value, name, kind, device):
    """The array that a launch works on: where a class of the program's says that it is elsewhere, that one."""
    family = _codes.family_of_class(type(value))
    if family not in (_arrays.array, _arrays.indexedarray) or not is_own(value):
        return value
    try:
        made = of(value)
    except TypeError as error:
        raise RuntimeError(f"argument '{name}': {error}") from None
    kind = kind if getattr(kind, "dtype", None) is value.dtype else family._said(value.dtype, value.ndim)
    if bytes(made) == bytes(family.__ctype__(value)):
        return value
    if _graphs.is_saved():
        raise RuntimeError(f"APIC capture: the descriptor of argument '{name}' is not of the array's own storage, which is what a file has")
    if family is _arrays.array:
        return made.array_of(kind, device)
    whole = made.data.array_of(_arrays.array._said(value.dtype, value.ndim), device)
    return _arrays.indexedarray(whole, value.indices)
