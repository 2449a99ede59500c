"""What Warp refuses in a kernel's text, which the language itself has a meaning for."""

import ast
import types

from tilec import native as _native
from tilec import source as _source
from warp import statics as _statics
from warp import types as _types
from warp import words as _words

_RETURNS = "Warp kernels cannot return values. Write results to output arguments, and omit the return annotation or use `-> None`."
_COLLECTIONS = {
    ast.List: "List constructs are not supported in kernels. Use vectors like `wp.vec3()` for small fixed-size collections, or "
              "`wp.zeros(shape=N, dtype=...)` for stack-allocated arrays.",
    ast.Dict: "Construct `ast.Dict` not supported in kernels.",
}


class _Wrong(Exception):
    """Where something is wrong, what, and which of Python's errors it is."""

    def __init__(self, node, what, kind=RuntimeError):
        super().__init__(what)
        self.node, self.what, self.kind = node, what, kind


def _own_statements(body):
    """Without those of functions in it."""
    for node in body:
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            yield from _own_statements(ast.iter_child_nodes(node))


def _targets(node):
    """The names that a statement assigns."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]


def _check_returns(kernel, node):
    """A value that a kernel returns would be lost."""
    said = kernel.func.__annotations__.get("return")
    returned = [one for one in _own_statements(node.body) if isinstance(one, ast.Return) and one.value is not None]
    if returned or said not in (None, types.NoneType, "None"):
        raise _Wrong(returned[0] if returned else node, _RETURNS, TypeError)


# ---- names of functions ----


def _is_function(node, names):
    if _statics.is_static(node, names):
        node = _statics.argument(node)
    return type(_statics.meant(node, names)).__name__ == "Function"


def _is_gradient(node, names):
    return isinstance(node, ast.Call) and getattr(_statics.meant(node.func, names), "key", None) == "grad"


def _check_rebound(body, names):
    """A local name of a function means that one: statements one behind the other that give it another meaning are a mistake."""
    functions, gradients = set(), set()
    for node in body:
        for name in _targets(node):
            if name in gradients:
                raise _Wrong(node, f"Cannot reassign local '{name}', which wp.grad() has made")
            is_function = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_function(node.value, names)
            if name in functions:
                what = "function" if is_function else "non-function value"
                raise _Wrong(node, f"rebinding function-valued local '{name}' to a {what}: kernels have no pointers to functions")
            if is_function:
                functions.add(name)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and _is_gradient(node.value, names):
                gradients.add(name)
        for part in ("body", "orelse"):
            _check_rebound(getattr(node, part, []), names)


_UNFIT = ("grad", "printf", "static")  # what only a call by its own name means


def _takes_functions(function):
    from warp.launches import Function

    return any([kind in (callable, Function) or getattr(kind, "_name", None) == "Callable" or getattr(kind, "__module__", "") == "collections.abc"
                for kind in function.input_types.values()])


def _check_given(body, names):
    """What is given for a function's parameter that is a function."""
    for call in _own_statements(body):
        called = _statics.meant(call.func, names) if isinstance(call, ast.Call) else None
        if type(called).__name__ != "Function":
            continue
        for one in [*call.args, *[named.value for named in call.keywords]]:
            found = _statics.meant(one, names)
            if type(found).__name__ == "Builtin" and found.key in _UNFIT:
                raise _Wrong(one, f"unsupported built-in function '{found.key}' for a parameter of '{called.key}': it is called by its name")
        if (hasattr(called, "gradient") or hasattr(called, "replay")) and _takes_functions(called):
            raise _Wrong(call, f"Function parameters are not supported by functions with custom gradients or replay functions: '{called.key}'")


# ---- comparisons ----


def _given_kinds(kernel, node, names):
    """The types of names that are given one value, a number or one of a type that is written there."""
    stored = [one.id for one in _own_statements(node.body) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    found = {name: kind for name, kind in kernel.kinds.items() if isinstance(kind, type) and name not in stored}
    for one in node.body:
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and _targets(one) and stored.count(_targets(one)[0]) == 1:
            found[_targets(one)[0]] = _kind_of(one.value, found, names)
    return found


def _kind_of(node, kinds, names):
    if isinstance(node, ast.Name):
        return kinds.get(node.id)
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        return _types.as_type(type(node.value))
    called = _statics.meant(node.func, names) if isinstance(node, ast.Call) else None
    return _types.as_type(called) if isinstance(called, type) and isinstance(_types.as_type(called), _types._Type) else None


def _check_compared(kernel, node, names):
    """A truth value is compared with another one, not with a number."""
    kinds = _given_kinds(kernel, node, names)
    for one in _own_statements(node.body):
        sides = [one.left, *one.comparators] if isinstance(one, ast.Compare) else []
        for left, right in zip(sides, sides[1:]):
            pair = [_kind_of(side, kinds, names) for side in (left, right)]
            if None not in pair and (pair[0] is _types.bool) != (pair[1] is _types.bool):
                raise _Wrong(one, f"Cannot compare values of unequal types: {pair[0].__name__} and {pair[1].__name__}", TypeError)


# ---- parts of an array's elements ----


def _element_of(target, kinds):
    """Of a[i].x or a[i][j]: the a[i] in it, where a is an array of values of several numbers; None: it is no such part."""
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        inside = target.value
        if isinstance(inside, ast.Subscript) and isinstance(inside.value, ast.Name):
            kind = kinds.get(inside.value.id)
            count = len(inside.slice.elts) if isinstance(inside.slice, ast.Tuple) else 1
            is_whole = _types.is_array(kind) and kind.ndim == count and isinstance(kind.dtype, _types._Composite)
            return inside if is_whole else None
        target = inside
    return None


def _is_real(node, kinds):
    """Whether an index is known to be no integer."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        kind = kinds.get(node.value.id)
        return _types.is_array(kind) and kind.ndim == 1 and not isinstance(node.slice, ast.Slice) and _is_float(kind.dtype)
    return isinstance(node, ast.Name) and _is_float(kinds.get(node.id))


def _is_float(kind):
    return kind in _types.float_types


_OPERATORS = {ast.Add: "add", ast.Sub: "sub"}


def _own_operator(node, dtype, names):
    """The function of the program's that an updated part calls in the place of + or -, as it has its name and takes two such numbers."""
    found = names.get(_OPERATORS.get(type(node.op)))
    if type(found).__name__ != "Function":
        return None
    return next((one for one in [found, *found.earlier] if list(one.input_types.values()) == [dtype, dtype]), None)


def check_parts(function, kinds, names, has_backward):
    """A part of an array's element is written at integers; updated where a gradient is asked for it is by sums alone."""
    node = _source.node_of(function)
    for one in _own_statements(node.body) if node is not None else ():
        for target in one.targets if isinstance(one, ast.Assign) else [one.target] if isinstance(one, ast.AugAssign) else []:
            element = _element_of(target, kinds)
            if element is None:
                continue
            indices = element.slice.elts if isinstance(element.slice, ast.Tuple) else [element.slice]
            if any([_is_real(index, kinds) for index in indices]):
                raise _Wrong(target, "Array slot write indices must be integers", TypeError)
            dtype = kinds[element.value.id].dtype._dtype
            own = _own_operator(one, dtype, names) if isinstance(one, ast.AugAssign) else None
            if isinstance(one, ast.AugAssign) and has_backward and _is_float(dtype) and (own is not None or type(one.op) not in _OPERATORS):
                why = "another operator" if own is None else f"'{own.key}' of the program's"
                raise _Wrong(one, f"Differentiable composite slot augmented assignments are sums and differences: {why} writes over the number; "
                                  "use enable_backward=False, or an assignment")
            if own is not None:
                part = ast.unparse(target)
                raise _Wrong(one, f"the update of {part} is not done by '{own.key}' of the program's: write {part} = {own.key}({part}, ...)")


def _check_all_parts(kernel):
    from warp.autograd import is_kernel_backward_enabled
    from warp.builds import functions_of

    has_backward = is_kernel_backward_enabled(kernel)
    check_parts(kernel.func, kernel.kinds, _source.names_of(kernel.func), has_backward)
    for one in functions_of(kernel.func):
        check_parts(one.func, one.input_types, _source.names_of(one.func), has_backward)


# ---- constants ----


def _is_literal(node):
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_dynamic(loop, parameters):
    """A loop whose count a parameter says, or nothing does."""
    if isinstance(loop, ast.While):
        return True
    return isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and any(
        [isinstance(one, ast.Name) and one.id in parameters for one in loop.iter.args])


def _check_constants(node, parameters):
    """A name that a number is given to is a constant, which no loop changes whose count is known at run time only."""
    first = {_targets(one)[0] for one in node.body if isinstance(one, ast.Assign) and len(_targets(one)) == 1 and _is_literal(one.value)}
    plain = [name for one in node.body for name in _targets(one)]
    constants = {name for name in first if plain.count(name) == 1 and name not in parameters}
    for loop in _own_statements(node.body):
        for one in _own_statements(loop.body) if _is_dynamic(loop, parameters) else ():
            changed = [name for name in _targets(one) if name in constants]
            if changed and (isinstance(one, ast.AugAssign) or changed[0] in {part.id for part in ast.walk(one.value) if isinstance(part, ast.Name)}):
                raise _Wrong(one, f"Error mutating a constant {changed[0]} inside a dynamic loop, use the following syntax: pi = float(3.141) to "
                                  "declare a dynamic variable")


def _check_expressions(node):
    for one in _own_statements(node.body):
        if isinstance(one, ast.Assign) and type(one.value) in _COLLECTIONS:
            raise _Wrong(one.value, _COLLECTIONS[type(one.value)])
        if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)) and _is_literal(one.left) and _is_literal(one.right):
            kinds = [{int: "int32", float: "float32"}[type(ast.literal_eval(side))] for side in (one.left, one.right)]
            if kinds[0] != kinds[1]:
                raise _Wrong(one, f"Input types must be the same, got {kinds}")


# ---- entry points of other launchers ----

OF_OTHERS = "external_constant_params"  # whose arguments are a constant of the module's, as OptiX has them


def _is_shared(node):
    return isinstance(node, ast.keyword) and node.arg == "storage" and isinstance(node.value, ast.Constant) and node.value.value == "shared"


def is_of_others(kernel):
    return kernel.options.get("entry_point_abi", "warp") == OF_OTHERS


def _check_entry_point(kernel, node):
    """Who launches it knows neither threads' indices nor shared memory, and has one struct for it."""
    from warp.bounds import tid_rank

    who = f"Kernel '{kernel.key}' with entry_point_abi='{OF_OTHERS}'"
    if len(kernel.parameters) != 1 or not isinstance(kernel.kinds.get(kernel.parameters[0]), _types.Struct):
        raise _Wrong(node, f"{who} must take exactly one Warp struct argument", TypeError)
    if kernel.is_ordered():
        raise _Wrong(node, f"{who} does not support deterministic lowering")
    if tid_rank(kernel.func) is not None:
        raise _Wrong(node, f"{who} cannot use wp.tid(): its launcher says which thread it is")
    shared = next((one for one in ast.walk(node) if _is_shared(one)), None)
    if shared is not None:
        raise _Wrong(shared.value, f"{who} cannot use shared-memory tiles")


def _refuse_processor(kernel, node):
    raise _Wrong(node, f"Kernel '{kernel.key}' uses entry_point_abi='{OF_OTHERS}', which is not supported by the CPU backend")


def check_for_processor(kernels):
    """What is refused of kernels that are compiled for the CPU."""
    for kernel in kernels:
        if is_of_others(kernel):
            _checked(kernel.func, _refuse_processor, kernel, _source.node_of(kernel.func))


# ---- arrays of the program's ----


def _unseen(node, names):
    """The parts of a function that the compiler does not look at: what wp.static() is given. And objects whose attribute is asked for."""
    for one in _own_statements(node.body):
        if isinstance(one, ast.Attribute):
            yield one.value
        elif _statics.is_static(one, names):
            yield from ast.walk(_statics.argument(one))


def _check_arrays(function):
    """An array around a kernel is no constant, and nobody gives it to the kernel."""
    from warp.arrays import array

    node, names = _source.node_of(function), _source.names_of(function)
    if node is None:
        return
    unseen, own = set(map(id, _unseen(node, names))), _statics.bound_in(node)
    for one in _own_statements(node.body):
        if isinstance(one, ast.Name) and one.id not in own and id(one) not in unseen and isinstance(names.get(one.id), array):
            kind = _words.class_words(type(names[one.id]))
            raise _Wrong(one, f"Invalid external reference type: {kind}: kernels get arrays as arguments, and '{one.id}' is none", TypeError)


def _check_text(kernel):
    node = _source.node_of(kernel.func)
    if node is None:
        return
    names = _source.names_of(kernel.func)
    if is_of_others(kernel):
        _check_entry_point(kernel, node)
    _check_returns(kernel, node)
    _check_rebound(node.body, names)
    _check_given(node.body, names)
    _check_compared(kernel, node, names)
    _check_constants(node, set(kernel.parameters))
    _check_expressions(node)
    _check_all_parts(kernel)


def _checked(function, check, *arguments):
    """The function's name of its file stands in front of what the check finds."""
    try:
        check(*arguments)
    except _Wrong as wrong:
        place = f"{function.__code__.co_filename}:{wrong.node.lineno}:{wrong.node.col_offset + 1}"
        raise _native.error_kind(wrong.kind)(f"Error while compiling {place}:\n{wrong.what}") from None


def check_kernel(kernel):
    from warp.builds import functions_of

    _checked(kernel.func, _check_text, kernel)
    for function in [kernel.func, *[one.func for one in functions_of(kernel.func)]]:
        _checked(function, _check_arrays, function)


def check_module(module):
    """What a module is refused for when it is loaded, before its kernels are compiled."""
    for kernel in module.concrete():
        _checked(kernel.func, _check_all_parts, kernel)


def _is_made_here(value, node, function):
    """Whether an expression of a function is an array of the thread's own: wp.zeros(), or a name for one."""
    if isinstance(value, ast.Name):
        given = [one.value for one in _own_statements(node.body) if isinstance(one, ast.Assign) and any(
            [isinstance(target, ast.Name) and target.id == value.id for target in one.targets])]
        return len(given) > 0 and all([not isinstance(one, ast.Name) and _is_made_here(one, node, function) for one in given])
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or not isinstance(value.func.value, ast.Name):
        return False
    return value.func.attr == "zeros" and getattr(function.__globals__.get(value.func.value.id), "__name__", "") == "warp"


def _check_returned_array(function, said):
    node = _source.node_of(function)
    for one in _own_statements(node.body if isinstance(node, ast.FunctionDef) else ()):
        if isinstance(one, ast.Return) and one.value is not None and _is_made_here(one.value, node, function):
            raise _Wrong(one, f"The function `{function.__name__}` returns a fixed-size array whereas it has its return type annotated as "
                              f"`Array[{_types.type_repr(said.dtype)}]`.", TypeError)


def check_function(function, said):
    """What it says that it returns is an array's type, and an array of a thread's own is returned. `said`: None, or an annotation."""
    from warp.arrays import array_annotation, fixed_annotation

    if isinstance(said, array_annotation) and not isinstance(said, fixed_annotation):
        _checked(function, _check_returned_array, function, said)
