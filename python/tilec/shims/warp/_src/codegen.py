"""What is raised when a kernel cannot be compiled: the compiler's messages."""

from tilec.native import CompileError as WarpCodegenError
from tilec.native import error_kind as _kind
from warp._src import absent as _absent

WarpCodegenTypeError, WarpCodegenValueError = _kind(TypeError), _kind(ValueError)
WarpCodegenAttributeError, WarpCodegenKeyError, WarpCodegenIndexError = _kind(AttributeError), _kind(KeyError), _kind(IndexError)
__all__ = ["WarpCodegenAttributeError", "WarpCodegenError", "WarpCodegenIndexError", "WarpCodegenKeyError", "WarpCodegenTypeError",
           "WarpCodegenValueError"]
__getattr__ = _absent(__name__)
