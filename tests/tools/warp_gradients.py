"""Warp's own tests of gradients, on tilec: `warp_gradients.py [-k REGEX] [-o FOLDER] [MODULE...]`.

Needs a Python with numpy and an installed warp, whose wheel has the tests (warp.tests): nothing of them is copied here. The tests, their
arrays, tapes and tolerances are Warp's; each launch, forward or adjoint, becomes a program of its own for `tilec run` on the checked
emulator: the kernel's text, what it names, and its arrays as files. A test counts if it launches an adjoint. Prints a line a test
and, at the end, how many passed; -o keeps the programs.
"""
import argparse
import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import traceback
import unittest

import numpy
import warp
import warp._src.codegen as codegen
import warp._src.context as context
import warp._src.types as types

TILEC = os.environ.get("TILEC", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tilec"))
MODULES = """tile.test_tile tile.test_tile_cholesky tile.test_tile_composite_row tile.test_tile_construction tile.test_tile_fft
tile.test_tile_func_arg tile.test_tile_fused_ops tile.test_tile_load tile.test_tile_load_assign tile.test_tile_load_extract
tile.test_tile_load_indexed tile.test_tile_low_precision_stack tile.test_tile_matmul tile.test_tile_matmul_strides tile.test_tile_mlp
tile.test_tile_oob tile.test_tile_reduce tile.test_tile_shared_memory tile.test_tile_solve tile.test_tile_sort tile.test_tile_struct
tile.test_tile_view test_grad test_grad_customs test_grad_debug test_composite_component_adjoint""".split()


class Unsupported(Exception):
    """A launch that this harness can't hand over: the reason."""


# ---- a kernel and what it names, as text ----

def literal(value):
    if isinstance(value, float):
        return repr(value) if numpy.isfinite(value) else f'float("{value}")'
    return repr(value)


def type_name(kind):
    """A type of Warp, as kernels spell it; None: it is none."""
    if not isinstance(kind, type):
        return None
    if kind in (int, float, bool):
        return kind.__name__
    if kind in types.scalar_types or kind is warp.bool:
        return f"wp.{kind.__name__}"
    if hasattr(kind, "_wp_scalar_type_"):
        scalar, shape = type_name(kind._wp_scalar_type_), kind._shape_
        if kind.__name__.startswith("quat"):
            return f"wp.types.quaternion(dtype={scalar})"
        if kind.__name__.startswith("transform"):
            return f"wp.types.transformation(dtype={scalar})"
        if len(shape) == 1:
            return f"wp.types.vector(length={shape[0]}, dtype={scalar})"
        return f"wp.types.matrix(shape={tuple(shape)}, dtype={scalar})"
    return None


class Program:
    """The texts that a kernel needs, in the order in which they are needed."""

    def __init__(self):
        self.texts = ["import warp as wp"]
        self.known = {"wp": warp}

    def add(self, name, value):
        if name in self.known:
            known = self.known[name]
            if known is not value and not (type(known) is type(value) and isinstance(value, (int, float, str)) and known == value):
                raise Unsupported(f"{name} means two things")
            return
        self.known[name] = value
        text = self.text_of(name, value)
        if text is not None:
            self.texts.append(text)

    def text_of(self, name, value):
        if inspect.ismodule(value):
            if value.__name__ in ("warp", "math"):
                return f"import {value.__name__} as {name}"
            raise Unsupported(f"the kernel names the module {value.__name__}")
        if isinstance(value, (bool, int, float, str)):
            return f"{name} = {literal(value)}"
        if type_name(value):
            return None if type_name(value) == name else f"{name} = {type_name(value)}"
        if isinstance(value, context.Function):
            return self.function_text(name, value)
        if isinstance(value, codegen.Struct):
            return self.of_source(value.cls, "@wp.struct")
        if hasattr(type(value), "_wp_scalar_type_"):
            return f"{name} = {type_name(type(value))}({', '.join(literal(x) for x in numpy.array(value).reshape(-1).tolist())})"
        if type(value) in types.scalar_types:
            return f"{name} = {type_name(type(value))}({literal(value.value)})"
        if isinstance(value, (tuple, list)) and all(isinstance(x, (bool, int, float)) for x in value):
            return f"{name} = {value!r}"
        if value is None or getattr(value, "__module__", "") == "typing" or value in (range, len, print, min, max, abs, round):
            return f"from typing import {name}" if getattr(value, "__module__", "") == "typing" else None
        if isinstance(value, types.array):
            return f"{name} = {array_type(value)}"
        raise Unsupported(f"the kernel names {name}, a {type(value).__name__}")

    def function_text(self, name, function):
        if function.is_builtin():
            return f"{name} = wp.{function.key}" if function.key != name else f"from warp import {name}"
        overloads = list(function.user_overloads.values()) or [function]
        texts = []
        for one in overloads:
            if getattr(one, "native_snippet", None) is not None:
                raise Unsupported(f"{name} is a snippet of CUDA")
            if one.func is not None:
                texts.append(self.of_source(one.func, "@wp.func", name))
        for one in overloads:
            for kind, mark in (("custom_grad_func", "func_grad"), ("custom_replay_func", "func_replay")):
                custom = getattr(one, kind, None)
                if custom is not None:
                    texts.append(self.of_source(custom.func, f"@wp.{mark}({name})"))
        return "\n\n".join(texts)

    def spelled(self, kind):
        """A parameter's type; what it names is added."""
        if types.is_array(kind):
            return f"wp.array(dtype={self.spelled(kind.dtype)}, ndim={kind.ndim})"
        if isinstance(kind, codegen.Struct):
            self.add(kind.cls.__name__, kind)
            return kind.cls.__name__
        name = type_name(kind)
        if name is None:
            raise Unsupported(f"a parameter is a {kind}")
        return name

    def of_source(self, function, decorator, name=None, kinds=None):
        """With the types of the parameters where they are given."""
        try:
            text = textwrap.dedent(inspect.getsource(function))
        except OSError:
            raise Unsupported("its source is not there")
        tree = ast.parse(text).body[0]
        if isinstance(tree, (ast.FunctionDef, ast.ClassDef)):
            if kinds is not None:
                for arg, kind in zip(tree.args.args, kinds):
                    arg.annotation = ast.parse(self.spelled(kind), mode="eval").body
            tree.name = tree.name if name is None else name
            tree.decorator_list = []
            text = ast.unparse(tree)
        else:
            raise Unsupported("it is a lambda")
        self.add_names(tree, function)
        return f"{decorator}\n{text}"

    def add_names(self, tree, function):
        spaces = {}
        if inspect.isfunction(function):
            spaces = dict(function.__globals__)
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
                spaces[name] = cell.cell_contents
        else:
            spaces = dict(vars(sys.modules[function.__module__]))
        stored = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
        own = {x.arg for x in ast.walk(tree) if isinstance(x, ast.arg)} | stored
        tree.decorator_list = []
        for x in ast.walk(tree):
            if isinstance(x, ast.Name) and x.id not in own and x.id in spaces:
                self.add(x.id, spaces[x.id])
            elif isinstance(x, ast.Name) and x.id in own and x.id in spaces and isinstance(tree, ast.ClassDef):
                self.add(x.id, spaces[x.id])
        for x in ast.walk(tree):  # annotations and defaults name what parameters may hide
            if isinstance(x, ast.arg) and x.annotation is not None:
                for y in ast.walk(x.annotation):
                    if isinstance(y, ast.Name) and y.id in spaces:
                        self.add(y.id, spaces[y.id])


def array_type(kind):
    return f"wp.array(dtype={type_name(kind.dtype)}, ndim={kind.ndim})"


# ---- arguments ----

class Arguments:
    """The leaves of a launch's arguments as expressions; arrays are files."""

    def __init__(self, folder):
        self.folder, self.lines, self.arrays = folder, [], {}

    def array(self, a):
        if not isinstance(a, types.array):
            raise Unsupported(f"an argument is a {type(a).__name__}")
        key = (a.ptr, a.shape, a.strides)
        if key not in self.arrays:
            name = f"a{len(self.arrays)}"
            numpy.save(os.path.join(self.folder, f"{name}.npy"), numbers_of(a))
            self.arrays[key] = (name, a)
            load = f"load('{self.folder}/{name}.npy')"
            self.lines.append(f"{name} = " + (f"wp.bits_of_bfloat16({load})" if is_bfloat(a) else load))
        return self.arrays[key][0]

    def leaves(self, kind, value, of=None):
        """`of`: what it is the gradient of, whose own it is if none is given."""
        if types.is_array(kind) or isinstance(kind, types.array):
            if value is None and of is not None:
                value = of.grad
            return ["None" if value is None else self.array(value)]
        if isinstance(kind, codegen.Struct):
            found = []
            for name, var in kind.vars.items():
                found += self.leaves(var.type, None if value is None else getattr(value, name), None if of is None else getattr(of, name))
            return found
        if hasattr(kind, "_wp_scalar_type_"):
            count = int(numpy.prod(kind._shape_))
            if value is None:
                return ["None"] * count
            flat = numpy.array(value, dtype=object).reshape(-1).tolist()
            return [literal(getattr(x, "value", x)) for x in (flat * count if len(flat) == 1 else flat)]
        if value is None:
            return ["None"]
        value = getattr(value, "value", value)
        if isinstance(value, numpy.generic):
            value = value.item()
        if kind in (bool, warp.bool):
            return [literal(bool(value))]
        if kind in (int, *types.int_types) and isinstance(value, (int, bool)):
            return [literal(int(value))]
        if isinstance(value, (bool, int, float)):
            return [literal(float(value))]
        raise Unsupported(f"an argument is a {type(value).__name__}")


def is_bfloat(a):
    return getattr(a.dtype, "_wp_scalar_type_", a.dtype) is warp.bfloat16


def numbers_of(a):
    """The array's memory as numpy has it: no copy."""
    if is_bfloat(a):
        raise Unsupported("an argument is of bfloat16")
    data = a.numpy()
    if data.dtype.names:
        if not data.flags.c_contiguous:
            raise Unsupported("a strided array of structs")
        data = data.view(numpy.uint8).reshape(data.shape + (data.dtype.itemsize,))
    return data


# ---- launches ----

class Runner:
    def __init__(self):
        self.folder, self.count, self.adjoints, self.reasons = None, 0, 0, []

    def begin(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.count, self.adjoints, self.reasons = folder, 0, 0, []

    def kernel_text(self, kernel):
        program = Program()
        texts = [program.of_source(kernel.func, "@wp.kernel", kinds=[arg.type for arg in kernel.adj.args])]
        return "\n\n".join(program.texts + texts), kernel.func.__name__

    def launch(self, kernel, dim, given, adjoints, block_dim, tiled, adjoint):
        self.count += 1
        self.adjoints += adjoint
        folder = os.path.join(self.folder, f"{self.count:02d}")
        os.makedirs(folder, exist_ok=True)
        text, name = self.kernel_text(kernel)
        arguments = Arguments(folder)
        kinds = [arg.type for arg in kernel.adj.args]
        leaves = [leaf for kind, value in zip(kinds, given) for leaf in arguments.leaves(kind, value)]
        grads = [leaf for kind, value, own in zip(kinds, adjoints, given) for leaf in arguments.leaves(kind, value, own)] if adjoint else []
        more = f", adj_inputs=[{', '.join(grads)}], adjoint=True" if adjoint else ""
        call = f"wp.{'launch_tiled' if tiled else 'launch'}({name}, dim={list(dim)}, inputs=[{', '.join(leaves)}], block_dim={block_dim}{more})"
        saves = [f"save('{folder}/{name}.npy', {name})" for name, _ in arguments.arrays.values()]
        body = "\n".join("    " + line for line in ["from tile.host import load, save", *arguments.lines, call, *saves])
        path = os.path.join(folder, "program.tile")
        with open(path, "w") as file:
            file.write(f"{text}\n\n\ndef main():\n{body}\n")
        environment = {**os.environ, "TILE_EMULATOR": "checked"}
        done = subprocess.run([TILEC, "run", "--device=emulator", path, "main()"], env=environment, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            found = re.search(r"error: .*", done.stderr + done.stdout)
            raise RuntimeError(f"tilec: {path}: {found.group(0) if found else (done.stderr + done.stdout)[-300:]}")
        for name, a in arguments.arrays.values():
            there = numbers_of(a)
            if there.size:
                there[...] = numpy.load(os.path.join(folder, f"{name}.npy")).reshape(there.shape)
        sys.stdout.write(done.stdout)


runner = Runner()


def normal_dim(dim):
    return [int(x) for x in dim] if isinstance(dim, (list, tuple)) or hasattr(dim, "__len__") else [int(dim)]


def launch(kernel, dim, inputs=[], outputs=[], adj_inputs=[], adj_outputs=[], device=None, stream=None, adjoint=False,
           record_tape=True, record_cmd=False, max_blocks=0, block_dim=None, tiled=False):
    if record_cmd:
        return Command(kernel, dim, [*inputs, *outputs], [*adj_inputs, *adj_outputs], adjoint, block_dim, tiled)
    if not isinstance(kernel, context.Kernel):
        raise RuntimeError("can only launch kernels")
    given = [*inputs, *outputs]
    block_dim = int(block_dim) if block_dim is not None and int(block_dim) > 0 else 256
    dims = normal_dim(dim)
    if len(given) != len(kernel.adj.args):
        raise RuntimeError(f"passed {len(given)} arguments but kernel requires {len(kernel.adj.args)}")
    if kernel.is_generic:
        kernel = kernel.add_overload(kernel.infer_argument_types(given))
    adjoints = [*adj_inputs, *([None] * (len(inputs) - len(adj_inputs))), *adj_outputs]
    adjoints += [None] * (len(given) - len(adjoints))
    if adjoint and not tiled:
        dims, tiled = tiled_dims.get((id(kernel), tuple(dims)), (dims, False))
    def do():
        runner.launch(kernel, dims, given, adjoints, block_dim, tiled, adjoint)
    if numpy.prod(dims) > 0 and Capture.launches is None:
        do()
    elif Capture.launches is not None:
        Capture.launches.append(do)
    tape = context.runtime.tape
    if record_tape and not adjoint and tape is not None:
        tape.record_launch(kernel, dims + [block_dim] if tiled else dims, max_blocks, inputs, outputs, context.runtime.get_device(device), context._ResolvedBlockDim(block_dim))
    if tiled and not adjoint:
        tiled_dims[id(kernel), tuple(dims + [block_dim])] = (dims, True)


tiled_dims = {}


class Command:
    """A launch that is kept."""

    def __init__(self, kernel, dim, given, adjoints, adjoint, block_dim, tiled):
        self.kernel, self.dim, self.given, self.adjoints = kernel, dim, given, adjoints
        self.more = {"adjoint": adjoint, "block_dim": block_dim, "tiled": tiled, "record_tape": False}

    def set_param_at_index(self, index, value):
        self.given[index] = value

    def set_param_by_name(self, name, value):
        self.given[[arg.label for arg in self.kernel.adj.args].index(name)] = value

    def launch(self):
        launch(self.kernel, self.dim, self.given, adj_inputs=self.adjoints, **self.more)


class Capture:
    """Launches are done at once, and once more where a graph of them is launched."""

    launches = None

    @classmethod
    def begin(cls, *ignored, **more):
        cls.launches = []

    @classmethod
    def end(cls, *ignored, **more):
        made, cls.launches = cls.launches, None
        return made

    @staticmethod
    def launch(graph, **ignored):
        for one in graph:
            one()


def launch_tiled(*args, **kwargs):
    if len(args) > 0:
        kwargs["kernel"] = args[0]
    if len(args) > 1:
        kwargs["dim"] = args[1]
    if len(args) > 2:
        kwargs["inputs"] = args[2]
    if kwargs.get("block_dim") is None:
        raise RuntimeError("launch_tiled needs block_dim")
    kernel = kwargs.pop("kernel")
    return launch(kernel, tiled=True, **kwargs)


# ---- Warp, as tests see it ----

def in_test():
    return "/tests/" in sys._getframe(2).f_code.co_filename


def pretend():
    """Launches are tilec's, and to the tests the device is a GPU."""
    warp.init()
    for module in (warp, context):
        module.launch, module.launch_tiled = launch, launch_tiled
    for module in (warp, context):
        module.capture_begin, module.capture_end, module.capture_launch = Capture.begin, Capture.end, Capture.launch
    is_cpu, is_cuda = context.Device.is_cpu.fget, context.Device.is_cuda.fget
    context.Device.is_cpu = property(lambda self: is_cpu(self) and not in_test())
    context.Device.is_cuda = property(lambda self: is_cuda(self) or in_test())
    context._resolve_launch_block_dim = lambda device, block_dim: context._ResolvedBlockDim(256 if block_dim is None else int(block_dim))
    import warp.tests.unittest_utils as utils
    device = [context.runtime.get_device("cpu")]
    device[0].max_shared_memory_per_block, device[0].arch = 227 * 1024, 90
    context.Device.get_cuda_compile_arch = lambda self: 90
    for name in ("get_test_devices", "get_cuda_test_devices", "get_selected_cuda_test_devices"):
        setattr(utils, name, lambda *ignored, **more: device)
    utils.get_cpu_test_devices = lambda *ignored: []


def cases_of(module):
    loader = unittest.TestLoader()
    for suite in loader.loadTestsFromModule(module):
        for case in suite:
            yield case


def run_case(case):
    """None: passed; else the reason."""
    result = unittest.TestResult()
    try:
        case.run(result)
    except Exception:
        return traceback.format_exc().strip().splitlines()[-1]
    for name, found in (("", result.errors), ("", result.failures)):
        for _, text in found:
            return text.strip()
    for _, why in result.skipped:
        return f"skipped: {why}"
    return None


def asks_for_gradients(case):
    """Whether the text of the test has gradients: it counts, though it came to no adjoint."""
    texts = []
    for cell in getattr(getattr(type(case), case._testMethodName), "__closure__", None) or ():
        if inspect.isfunction(cell.cell_contents):
            texts.append(inspect.getsource(cell.cell_contents))
    return any(re.search(r"Tape\(|adjoint=True|backward\(", text) for text in texts)


def last_line(text):
    lines = [line for line in text.splitlines() if re.match(r"^[A-Za-z_.]*(Error|Exception|Unsupported|Failure)", line)]
    return (lines or text.splitlines())[-1][:300]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", default="")
    parser.add_argument("-o")
    parser.add_argument("-v", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    pretend()
    passed, failed, rest = 0, [], 0
    with tempfile.TemporaryDirectory() as work:
        for name in options.modules or MODULES:
            module = importlib.import_module(f"warp.tests.{name}")
            for case in cases_of(module):
                title = f"{name}.{case._testMethodName}"
                if not re.search(options.k, title):
                    continue
                runner.begin(os.path.abspath(os.path.join(options.o or work, title)))
                tiled_dims.clear()
                context.runtime.tape = None
                why = run_case(case)
                if runner.adjoints == 0 and not (why and asks_for_gradients(case)):
                    rest += 1
                    if options.v:
                        print(f"no adjoint {title}: {'passed' if why is None else last_line(why)}", flush=True)
                elif why is None:
                    passed += 1
                    print(f"pass {title}", flush=True)
                else:
                    failed.append(title)
                    print(f"FAIL {title}: {why if options.v else last_line(why)}", flush=True)
    print(f"{passed} passed, {len(failed)} failed, {rest} without an adjoint")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
