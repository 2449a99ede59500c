"""wp.map: a function for each element of arrays, by a kernel whose text is written to the cache."""

import hashlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile

import numpy

from tilec import session as _session
from warp import arrays as _arrays
from warp import types as _types
from warp.builtins import Builtin, call_kind
from warp.codes import family_of_class
from warp.launches import Function, _is_open, func, launch

_made = {}


def _kind_of(value):
    kind = type(value)
    return _types.as_type(kind) if kind in (int, float, bool) else value._struct if isinstance(value, _types.StructInstance) else kind


def _word(value):
    family = family_of_class(type(value))
    return "array" if family is None else family.__name__


def _broadcast(shapes):
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"Shapes {' and '.join([str(shape) for shape in shapes])} are not broadcastable") from None


def _identity(function):
    """The same of functions without a name that are made of one text and of equal values."""
    code = getattr(function, "__code__", None)
    if code is None:
        return function
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    text = code
    if function.__name__ == "<lambda>" and not any([hasattr(one, "co_code") for one in code.co_consts]):
        text = code.co_code, repr(code.co_consts), code.co_names, code.co_varnames, code.co_freevars, id(function.__globals__)
    return (text, *[(type(value), value) if isinstance(value, (int, float, str, bool)) else id(value) for value in cells])


def _text(inputs, counts, rank, results, words):
    """The kernel's, with what it is made of as names around it."""
    names = [f"i{d}" for d in range(rank)]
    parameters, given = [], []
    for number, (extents, word) in enumerate(inputs):
        if word:
            parameters.append(f"x{number}: wp.{word}(dtype=kinds[{number}], ndim={len(extents)})")
            at = names[rank - len(extents):]
            given.append(f"x{number}[{', '.join(['0' if extent == 1 else name for extent, name in zip(extents, at)])}]")
        else:
            parameters.append(f"x{number}: kinds[{number}]")
            given.append(f"x{number}")
    outs = [f"y{number}" for number in range(results)]
    parameters += [f"y{number}: wp.{words[number]}(dtype=found[{number}], ndim={rank})" for number in range(results)]
    body = [f"        {', '.join(names)} = wp.tid()"]
    if results == 1:
        body.append(f"        y0[{', '.join(names)}] = function({', '.join(given)})")
    else:
        body.append(f"        {', '.join([f'r{number}' for number in range(results)])} = function({', '.join(given)})")
        body += [f"        {out}[{', '.join(names)}] = r{number}" for number, out in enumerate(outs)]
    lines = ["import warp as wp", "", "", "def make(function, kinds, found):", "    @wp.kernel", f"    def mapped({', '.join(parameters)}):", *body,
             "", "    return mapped", ""]
    return "\n".join(lines)


def _module(text):
    name = "map_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    if name not in sys.modules:
        folder = _session.cache_folder() or tempfile.mkdtemp()
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, name + ".py")
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "w") as file:
                file.write(text)
            os.replace(file.name, path)
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def map(function, *inputs, out=None, return_kernel=False, block_dim=None, device=None, return_map_function=False):
    """What the function gives for the elements of the inputs, which are arrays, stretched to one shape, or values."""
    is_array = [_types.is_array(value) for value in inputs]
    if not any(is_array):
        raise ValueError("map requires at least one warp.array input")
    shape = _broadcast([value.shape for value, one in zip(inputs, is_array) if one])
    kinds = [value.dtype if one else _kind_of(value) for value, one in zip(inputs, is_array)]
    known = function if isinstance(function, (Function, Builtin)) else func(function)
    _check_count(function, len(inputs))
    _check_kinds(known, kinds)
    words = tuple([_word(value) for value in (out if isinstance(out, (list, tuple)) else () if out is None else [out])])
    pattern = [(_word(value), tuple([extent == 1 for extent in value.shape])) if one else None for value, one in zip(inputs, is_array)]
    key = _identity(function), tuple(kinds), len(shape), tuple(pattern), words if any([word != "array" for word in words]) else ()
    if key not in _made:
        found = call_kind(known, kinds, _structs_of(function))
        if found is None:
            raise TypeError("The provided function must return a value")
        forms = [(tuple(value.shape) if one else (), _word(value) if one else "") for value, one in zip(inputs, is_array)]
        count = len(found) if isinstance(found, tuple) else 1
        kernel = _module(_text(forms, kinds, len(shape), count, words if len(words) == count else ("array",) * count)).make(
            known, kinds, found if isinstance(found, tuple) else (found,))
        _made[key] = kernel, found
    kernel, found = _made[key]
    several = isinstance(found, tuple)
    wanted = found if several else (found,)
    if out is None:
        asked = any([value.requires_grad for value, one in zip(inputs, is_array) if one])
        place = next(value.device for value, one in zip(inputs, is_array) if one)
        outs = [_arrays.empty(shape, kind, place, asked and _is_real(kind)) for kind in wanted]
    else:
        outs = [*out] if isinstance(out, (list, tuple)) else [out]
        _check(outs, wanted, shape)
    if return_kernel:
        return kernel
    place = device if device is not None else next(value.device for value, one in zip(inputs, is_array) if one)
    launch(kernel, dim=shape, inputs=list(inputs), outputs=outs, block_dim=block_dim, device=place)
    return (out if out is not None else outs) if several else outs[0]


def _structs_of(function, seen=()):
    """Those that its text, and that of functions which it calls, may make values of."""
    function = getattr(function, "func", function)
    if not hasattr(function, "__code__") or function in seen:
        return []
    known = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    named = [known[name] for name in (*function.__code__.co_names, *function.__code__.co_freevars) if name in known]
    inner = [one for value in named if isinstance(value, Function) for one in _structs_of(value, (*seen, function))]
    return [value for value in named if isinstance(value, _types.Struct)] + inner


def _check_count(function, given):
    code = getattr(getattr(function, "func", function), "__code__", None)
    if code is not None and not code.co_flags & inspect.CO_VARARGS and given > code.co_argcount:
        raise TypeError(f"Number of input arguments ({given}) does not match expected number of function arguments ({code.co_argcount})")


def _check_kinds(function, kinds):
    """Of a function whose parameters have types."""
    if not isinstance(function, Function):
        return
    for one in [function, *function.earlier]:
        wanted = [one.input_types.get(name) for name in one.__signature__.parameters]
        if all([_is_open(kind) or not isinstance(kind, _types._Type) or kind is given for kind, given in zip(wanted, kinds)]):
            return
    name = re.sub(r"[.<>]", "_", function.func.__qualname__)
    raise TypeError(f"Function {name} does not support the provided argument types {', '.join([_types.type_repr(kind) for kind in kinds])}")


def _is_real(kind):
    return isinstance(kind, _types.Struct) or _types.type_scalar_type(kind) in _types.float_types


def _check(outs, wanted, shape):
    if len(outs) != len(wanted):
        if isinstance(outs, list) and len(outs) > 1:
            raise TypeError(f"Number of provided output arrays ({len(outs)}) does not match expected number of function outputs ({len(wanted)})")
        dtypes = ", ".join([_types.type_repr(kind) for kind in wanted])
        raise TypeError(f"Invalid output provided, expected {len(wanted)} Warp arrays with shape {shape} and dtypes ({dtypes})")
    for number, (one, kind) in enumerate(zip(outs, wanted)):
        name = f"Output array {number}" if len(outs) > 1 else "Output array"
        if not _types.is_array(one):
            raise TypeError("the output of map() is an array")
        if one.shape != shape:
            raise TypeError(f"{name} shape {one.shape} does not match expected shape {shape}")
        if not _types.types_equal(one.dtype, kind):
            raise TypeError(f"{name} dtype {_types.type_repr(one.dtype)} does not match expected dtype {_types.type_repr(kind)}")


__all__ = ["map"]
