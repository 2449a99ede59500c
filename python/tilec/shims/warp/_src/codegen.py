"""What is raised when a kernel cannot be compiled: the compiler's messages."""

from tilec.native import CompileError as WarpCodegenError
from tilec.native import error_kind as _kind
from warp._src import absent as _absent

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
    """What an annotation says, an array itself, and of other things their type."""
    from warp.types import is_array

    return value if isinstance(value, type) or is_array(value) else type(value)


def __getattr__(name):
    if name == "_codegen_lock":
        from warp.launches import naming

        return naming
    return _absent(__name__)(name)
