"""example_systems.py: what examples.py asks of the systems whose examples it measures: how a kernel is named to tilec, how it is called
through the system itself, and with which values through tilec's C function. Torch and the systems are imported where they are needed."""
import ast
import ctypes
import importlib
import re
import sys
import time
import types

NUMBERS = {"double": ctypes.c_double, "float": ctypes.c_float, "bool": ctypes.c_bool, "int32_t": ctypes.c_int32}


def is_number(argument):
    return len(argument) == 2


def tensors_of(row):
    return [argument for argument in row["args"] if not is_number(argument)]


def numbers_of(row):
    return dict(argument for argument in row["args"] if is_number(argument))


def elements_of(name, value):
    """The numbers of C's function that an argument is: a vector is one of each of its elements."""
    if isinstance(value, tuple):
        return {f"{name}_{i}": element for i, element in enumerate(value)}
    return {name: value}


def gradient_name(name):
    return name + "_grad"


def function_of(row):
    """The C function that is measured."""
    return gradient_name("k") if row.get("grad") else "k"


def in_order(row, tensors):
    """All arguments, numbers among them."""
    left = iter(tensors)
    return [argument[1] if is_number(argument) else next(left) for argument in row["args"]]


# ---- texts ----

def without_tuning(text):
    """Classes without the decorators that make them choose among configurations: the row says which one it is."""
    lines = text.splitlines()
    gone = set()
    for node in ast.walk(ast.parse(text)):
        for decorator in getattr(node, "decorator_list", []):
            if "autotune" in ast.unparse(decorator):
                gone |= set(range(decorator.lineno, decorator.end_lineno + 1))
    return "\n".join(line for i, line in enumerate(lines, 1) if i not in gone) + "\n"


def nothing(attribute):
    """What a module that stands in has: everything but what Python asks of modules."""
    if attribute.startswith("__"):
        raise AttributeError(attribute)


def stand_in(names):
    """For modules that an example's main part alone needs."""
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            parts = name.split(".")
            for i in range(len(parts)):
                module = types.ModuleType(".".join(parts[:i + 1]))
                module.__path__ = []
                module.__getattr__ = nothing
                sys.modules.setdefault(module.__name__, module)


# ---- TileLang ----

def names_tensors(row):
    return any(re.search(rf"\b{name}\b(?!=)", row["call"]) for name, *_ in tensors_of(row))


class TileLang:
    """`call` makes the kernel: `factory(1, 2)`, `function.compile(key=1)`, or `function(A, B, 128)` where tensors are named."""
    imports = "\nimport tilelang.language as __T\n"

    @staticmethod
    def numbers(row):
        """Of the function's own arguments all are in its header."""
        return {}

    @staticmethod
    def export(row):
        """A function that takes tensors is compiled for tensors of their shapes."""
        call = row["call"]
        if not names_tensors(row):
            return call
        for name, shape, dtype, _ in row["args"]:
            call = re.sub(rf"\b{name}\b(?!=)", f"__T.Tensor({tuple(shape)}, __T.{dtype})", call, count=1)
        return re.sub(r"\(", ".compile(", call, count=1)

    @staticmethod
    def compile(module, row, tensors):
        if not names_tensors(row):
            eval(row["call"], dict(vars(module)))

    @staticmethod
    def caller(module, row, tensors):
        """A callable, and seconds until there was one; results are made by the kernel."""
        made = row.get("results", 0)
        inputs = tensors[:len(tensors) - made] if made else list(tensors)
        if "out_idx" in row:
            inputs = [t for i, t in enumerate(tensors) if i != row["out_idx"]]
        begin = time.time()
        if names_tensors(row):
            scope = dict(vars(module), **{name: t for (name, *_), t in zip(row["args"], tensors)})
            code = compile(row["call"], "call", "eval")
            eval(code, scope)
            return (lambda: eval(code, scope)), time.time() - begin
        kernel = eval(row["call"], dict(vars(module)))
        return (lambda: kernel(*inputs)), time.time() - begin


# ---- Tilus ----

class Tilus:
    """`call` makes the script, of one configuration; `keys` names the arguments that are compile-time numbers."""
    imports = ""

    @staticmethod
    def export(row):
        numbers = numbers_of(row)
        return f"{row['call']}.compile({', '.join(f'{key}={numbers[key]!r}' for key in row.get('keys', ()))})"

    @staticmethod
    def numbers(row):
        return numbers_of(row)

    @staticmethod
    def compile(module, row, tensors):
        Tilus.caller(module, row, tensors)

    @staticmethod
    def caller(module, row, tensors):
        begin = time.time()
        script = eval(row["call"], dict(vars(module)))
        values = in_order(row, tensors)
        script(*values)
        return (lambda: script(*values)), time.time() - begin


# ---- Warp ----

def warp_array(module, tensor, kind):
    """Of elements of a type of the example's file or, where it has none of this name, of Warp."""
    import warp as wp
    name = kind or str(tensor.dtype).removeprefix("torch.")
    return wp.from_torch(tensor, dtype=vars(module).get(name) or getattr(wp, name))


class Warp:
    """`call` is the kernel; `dims`, `block_dim` and `tiled` say how it is launched. Of an argument a fifth entry is the type of its
    elements, where these are vectors: its tensor has one dimension more. With `grad` it is launched backwards, with the gradients NAME_grad."""
    imports = ""

    @staticmethod
    def export(row):
        given = f"block_dim={row['block_dim']}" + (", grad=True" if row.get("grad") else "") + ("" if row.get("tiled", True) is True else f", tiled={int(row['tiled'])}")
        return f"{row['call']}.compile({given})"

    @staticmethod
    def numbers(row):
        extents = [*row["dims"], row["block_dim"]]  # where a kernel asks for its threads' numbers, these are the last dimension
        launch = {f"dim_{i}": extent for i, extent in enumerate(extents)}
        numbers = {key: number for name, value in numbers_of(row).items() for key, number in elements_of(name, value).items()}
        return {**numbers, **launch, "block_dim": row["block_dim"], "tiled": int(row.get("tiled", True))}

    @staticmethod
    def compile(module, row, tensors):
        import warp as wp
        eval(row["call"], dict(vars(module))).module.load(wp.get_device("cuda:0"), row["block_dim"])

    @staticmethod
    def inputs(row, arrays):
        """What the kernel is launched with, and what makes it the launch of its gradient."""
        named = [(name, arrays.get(name, value)) for name, value, *_ in row["args"] if name not in map(gradient_name, arrays)]
        if not row.get("grad"):
            return [value for _, value in named], {}
        gradients = [arrays.get(gradient_name(name)) for name, _ in named]
        for (_, array), gradient in zip(named, gradients):
            if gradient is not None:
                array.grad = gradient
        return [value for _, value in named], {"adjoint": True, "adj_inputs": gradients}

    @staticmethod
    def caller(module, row, tensors):
        import torch
        import warp as wp
        wp.init()  # taken for granted by stream_from_torch
        begin = time.time()
        kernel = eval(row["call"], dict(vars(module)))
        arrays = {argument[0]: warp_array(module, t, argument[4] if len(argument) > 4 else None) for t, argument in zip(tensors, tensors_of(row))}
        inputs, backward = Warp.inputs(row, arrays)
        launch = wp.launch_tiled if row.get("tiled", True) else wp.launch
        streams = {}  # of Warp, by torch's

        def current():
            stream = torch.cuda.current_stream()
            return streams.get(stream.cuda_stream) or streams.setdefault(stream.cuda_stream, wp.stream_from_torch(stream))

        command = launch(kernel, dim=list(row["dims"]), inputs=inputs, block_dim=row["block_dim"], record_cmd=True, stream=current(), **backward)
        call = lambda: command.launch(stream=current())
        call()
        call.keep = arrays
        return call, time.time() - begin


SYSTEMS = {"tilelang": TileLang, "tilus": Tilus, "warp": Warp}


def system_of(row):
    return SYSTEMS[row.get("system", "tilelang")]


# ---- through C ----

def parameters_of(header, function):
    """(type, name) of each parameter of the C function but the stream."""
    with open(header) as file:
        text = file.read()
    declared = re.search(rf"tile_status {function}\(tile_stream stream(.*?)\);", text, re.S).group(1)
    return [re.match(r"(.*?)\s*\**(\w+)$", p.strip(), re.S).groups() + ("*" in p,) for p in declared.split(",") if p.strip()]


def fixed_numbers(header, function):
    """By name, the numbers of the only specialisation, which FUNCTION_fixed gives; so they are known where the origin's package is not."""
    with open(header) as file:
        body = re.search(rf"tile_status {function}_fixed\(.*?return {function}\(stream, (.*?)\);", file.read(), re.S)
    given = body.group(1).split(", ") if body else []
    named = zip(parameters_of(header, function), given)
    return {name: ast.literal_eval(value) for (_, name, _), value in named if value.rstrip("_") != name.rstrip("_")}  # `k_` of a function k


def c_values(header, row, tensors):
    """The arguments of the row's C function, and what has to stay for as long."""
    from dlpack import Tensor
    function = function_of(row)
    numbers = {**fixed_numbers(header, function), **system_of(row).numbers(row)}
    values, kept, left = [], [], iter(tensors)
    for kind, name, is_pointer in parameters_of(header, function):
        if "DLTensor" in kind:
            kept.append(Tensor(next(left)))
            values.append(ctypes.byref(kept[-1]))
        elif is_pointer:
            values.append(ctypes.c_void_p(next(left).data_ptr()))
        else:
            values.append(NUMBERS.get(kind, ctypes.c_int64)(numbers[name]))
    return values, kept
