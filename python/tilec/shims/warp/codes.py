"""Kinds of arrays, and codes that types are told apart by."""

from typing import Any, get_args, get_origin

from warp import arrays as _arrays
from warp import fabric as _fabric
from warp import types as _types
from warp.subscripts import is_tile

ARRAY_TYPE_REGULAR, ARRAY_TYPE_INDEXED, ARRAY_TYPE_FABRIC, ARRAY_TYPE_FABRIC_INDEXED = range(4)
_SAID = ((_arrays.fixed_annotation, "fixedarray"), (_arrays.indexed_annotation, "indexedarray"),
         (_fabric.indexed_fabric_annotation, "indexedfabricarray"), (_fabric.fabric_annotation, "fabricarray"),
         (_arrays.array_annotation, "array"))
_FAMILIES = {"array": _arrays.array, "indexedarray": _arrays.indexedarray, "fixedarray": _arrays.fixedarray,
             "fabricarray": _fabric.fabricarray, "indexedfabricarray": _fabric.indexedfabricarray}
_IDS = {"array": ARRAY_TYPE_REGULAR, "fixedarray": ARRAY_TYPE_REGULAR, "indexedarray": ARRAY_TYPE_INDEXED, "fabricarray": ARRAY_TYPE_FABRIC,
        "indexedfabricarray": ARRAY_TYPE_FABRIC_INDEXED}


def family_of_class(kind):
    """The class of arrays that one derives from; None: from none."""
    mro = type.__getattribute__(kind, "__mro__")
    found = [family for family in _FAMILIES.values() if any([one is family for one in mro])]
    if len(found) > 1:
        raise TypeError(f"{kind.__name__} is of more than one native array family: {', '.join([one.__name__ for one in found])}")
    return found[0] if found else None


def _family(value):
    """The name of the kind of arrays that a value, or what an annotation says, is of; None: of none."""
    for kind, name in _SAID:
        if isinstance(value, kind):
            return name
    found = family_of_class(type(value))
    return None if found is None else found.__name__


def concrete_array_type(value):
    """The class of an array, or of what an annotation says, whatever derives from it; of other things their type."""
    name = _family(value)
    return type if isinstance(value, type) else type(value) if name is None else _FAMILIES[name]


def arrays_equal(one, other):
    """Whether two arrays, or what annotations say of such, are of one type; None: they are none."""
    families = [_family(one), _family(other)] if not isinstance(one, type) and not isinstance(other, type) else [None, None]
    if families == [None, None]:
        return None
    return families[0] == families[1] and one.ndim == other.ndim and _types.as_type(one.dtype) is _types.as_type(other.dtype)


def matches_array_class(value, family):
    """Whether it is an array of the family, or what an annotation says of one is."""
    return _FAMILIES.get(_family(value)) is family


def array_type_id(value):
    name = _family(value)
    if name is None:
        raise ValueError(f"{value!r} is no array")
    return _IDS[name]


_SCALARS = {_types.bool: "b", _types.int8: "i1", _types.uint8: "u1", _types.int16: "i2", _types.uint16: "u2", _types.int32: "i4",
            _types.uint32: "u4", _types.int64: "i8", _types.uint64: "u8", _types.float16: "f2", _types.bfloat16: "bf2", _types.float32: "f4",
            _types.float64: "f8"}
_LETTER = {"vector": "v", "matrix": "m", "quaternion": "q", "transformation": "t"}
_ARRAYS = {"array": "a", "fixedarray": "a", "indexedarray": "ia", "fabricarray": "fa", "indexedfabricarray": "ifa"}


def get_type_code(kind):
    """A text that types share only if they are equal."""
    if kind is Any or kind is Ellipsis:
        return "?"
    if get_origin(kind) is tuple:
        return f"tpl{len(get_args(kind))}" + "".join([get_type_code(one) for one in get_args(kind)])
    kind = _types.as_type(kind) if isinstance(kind, type) else kind
    if isinstance(kind, _types.Struct):
        return f"s{kind.key}"
    if isinstance(kind, _types._Composite):
        sizes = "" if kind._family_ in ("quaternion", "transformation") else "".join([str(extent) for extent in kind._shape_])
        return _LETTER[kind._family_] + sizes + get_type_code(kind._dtype)
    if isinstance(kind, type):
        if not isinstance(kind, _types._Type) or kind not in _SCALARS:
            raise TypeError(f"Unrecognized type: {kind}")
        return _SCALARS[kind]
    if is_tile(kind):
        extents = "?" if kind.shape is Any else "x".join([str(extent) for extent in kind.shape])
        return f"t{extents}{get_type_code(kind.dtype)}"
    name = _family(kind)
    if name is None:
        raise TypeError(f"Unrecognized type: {kind}")
    return f"{_ARRAYS[name]}{kind.ndim}{get_type_code(kind.dtype)}"


def get_signature(kinds, func_name=None, arg_names=None):
    return "_".join([get_type_code(kind) for kind in kinds])
