"""What is raised when a kernel cannot be compiled: the compiler's messages."""

import inspect  # noqa: F401

from tilec.native import CompileError as WarpCodegenError
from tilec.native import error_kind as _kind
from warp._src import absent as _absent
from warp.adjoint import Adjoint, Var  # noqa: F401
from warp.hashers import resolve_grid_stride  # noqa: F401
from warp.adjoint import SharedSource as _SharedFunctionSource  # noqa: F401
from warp.adjoint import shared as _shared_function_sources  # noqa: F401
from warp.adjoint import store as _store_shared_source  # noqa: F401
from warp.adjoint import stored_for as _shared_source_for_code  # noqa: F401
from warp.adjoint import substituted as _substitute_nodes  # noqa: F401

WarpCodegenTypeError, WarpCodegenValueError = _kind(TypeError), _kind(ValueError)
WarpCodegenAttributeError, WarpCodegenKeyError, WarpCodegenIndexError = _kind(AttributeError), _kind(KeyError), _kind(IndexError)
__all__ = ["WarpCodegenAttributeError", "WarpCodegenError", "WarpCodegenIndexError", "WarpCodegenKeyError", "WarpCodegenTypeError",
           "WarpCodegenValueError"]


def Struct(key=None, cls=None, module=None):
    """A struct of a class that a function makes, whose annotations may name what the class has."""
    from warp import types

    made = types.Struct(cls, {"dtype": cls.dtype} if hasattr(cls, "dtype") else {}, None)
    made.key = made.__name__ = key or made.key
    return made


def get_arg_type(value):
    """What an annotation says, an array itself, what a name is of, and of other things their type."""
    from typing import Any

    from warp.types import is_array

    if isinstance(value, Var):
        return value.type
    if value is Any:
        return value
    return value if isinstance(value, type) or is_array(value) else type(value)


def __getattr__(name):
    if name == "_codegen_lock":
        from warp.launches import naming

        return naming
    return _absent(__name__)(name)
