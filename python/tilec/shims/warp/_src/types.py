"""See warp.types."""

from warp import types as _types
from warp._src import absent
from warp.types import *  # noqa: F403
from warp.bounds import classes as _launch_bounds_classes  # noqa: F401
from warp.bounds import launch_bounds_t  # noqa: F401
from warp.subscripts import (  # noqa: F401
    Array, Cols, DType, Float, Int, Length, Matrix, NDim, Quaternion, Rows, Scalar, Shape, Transformation, Vector, is_tile,
)
from warp.types import _Numbers  # noqa: F401

_absent = absent(__name__)
_PACKING = {"infer_argument_types": "infer_argument_types", "_resolve_array_family": "resolve_family",
            "_normalize_array_argument_type": "described", "type_matches_template": "matches"}
_ANNOTATIONS = {"_ArrayAnnotationBase": "array_annotation_base", "_ArrayAnnotation": "array_annotation",
                "_IndexedArrayAnnotation": "indexed_annotation"}


def dtype_from_numpy(kind):
    from warp.arrays import dtype_from_numpy as known

    return known(kind)


def dtype_to_numpy(kind):
    from warp.arrays import dtype_to_numpy as known

    return known(kind)


def _get_ml_dtypes_bfloat16():
    try:
        import ml_dtypes
    except ImportError:
        return None
    return ml_dtypes.bfloat16


def _np_float32_to_bfloat16_bits(values):
    import numpy

    bits = numpy.asarray(values, numpy.float32).view(numpy.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return numpy.where((bits & 0x7FFFFFFF) > 0x7F800000, (bits >> 16) | 0x40, rounded).astype(numpy.uint16)


def _np_bfloat16_bits_to_float32(bits):
    import numpy

    return (numpy.asarray(bits, numpy.uint16).astype(numpy.uint32) << 16).view(numpy.float32)


def __getattr__(name):
    from warp import codes  # which knows arrays

    if hasattr(codes, name):
        return getattr(codes, name)
    if name in _PACKING:
        from warp import packing

        return getattr(packing, _PACKING[name])
    if name in _ANNOTATIONS:
        from warp import arrays

        return getattr(arrays, _ANNOTATIONS[name])
    return getattr(_types, name) if hasattr(_types, name) else _absent(name)
