# Warp's shim: modules that are loaded, what is known of their kernels, kernels whose files are gone or others, options of kernels.
needs numpy
cd "$TMP"
cat >builds.py <<'END'
import importlib.util
import os
import sys
import weakref
from typing import Any
from unittest import mock

import warp as wp
from warp._src import context


def told(function, *arguments, **named):
    try:
        return function(*arguments, **named)
    except (RuntimeError, ValueError, TypeError) as error:
        print(next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"), str(error).splitlines()[-1])


@wp.kernel(module="unique", launch_bounds=512)
def fill(x: wp.array[float]):
    x[wp.tid()] = float(wp.block_dim())


@wp.kernel(module="unique")
def of_any(x: wp.array[Any]):
    x[wp.tid()] = x[wp.tid()]


# ---- what a module is loaded for ----
gpu, cpu = wp.get_device("cuda:0"), wp.get_device("cpu")
module = fill.module
x = wp.zeros(4, dtype=float)
y = wp.zeros(4, dtype=float, device="cpu")
wp.launch(fill, dim=4, inputs=[x], block_dim=64)
wp.launch(fill, dim=4, inputs=[y], device="cpu", block_dim=64)
print(x.numpy()[0], y.numpy()[0], sorted(threads for _, threads in module.execs), module.resolved_options[64]["block_dim"])
wp.load_module(module, device=gpu, block_dim=32)
kept = weakref.ref(module.execs[gpu.context, 32])
print(kept().block_dim, kept().compile_arch, kept()._get_forward_cuda_kernel(fill) is not None)
module.unload()
print(module.execs, kept())
wp.force_load(gpu, [module])
print([threads for _, threads in module.execs])
for given in ("nowhere", os):
    told(wp.load_module, given)


@wp.kernel(module="broken")
def broken(x: wp.array[float]):
    x[0] = absent_name


@wp.kernel(module="whole")
def whole(x: wp.array[float]):
    x[0] = 1.0


for workers in (0, 2):
    told(wp.force_load, "cpu", [broken.module, whole.module], max_workers=workers)
    print(len(whole.module.execs))
wp.config.enable_cpu_blocks = True
wp.launch(fill, dim=4, inputs=[y], device="cpu", block_dim=2)
command = wp.launch(fill, dim=4, inputs=[y], device="cpu", block_dim=4, record_cmd=True)
of_one = wp.ones(2, dtype=float, device="cpu")
print(wp.map(lambda x: x * float(wp.block_dim()), of_one), wp.map(lambda x: x * float(wp.block_dim()), of_one, block_dim=2))
wp.config.enable_cpu_blocks = False
print(y.numpy()[0], command.block_dim, command.module_exec.block_dim)
command.launch()
print(y.numpy()[0])
told(wp.launch, fill, dim=0, inputs=[y], device="cpu", block_dim=1025)

@wp.kernel(module="shown")
def shown(x: Any):
    print(x)


for kind in (float, wp.array[float]):
    wp.overload(shown, [kind])
wp.load_module("shown", device=gpu)
wp.launch(shown, dim=1, inputs=[2.5])
wp.synchronize()

# ---- what is known of a kernel ----
told(wp.get_cuda_kernel_properties, fill)
told(wp.get_cuda_kernel_properties, fill, block_dim=1.5)
told(wp.get_cuda_kernel_properties, of_any)
told(wp.get_cuda_kernel_properties, "fill")
told(wp.get_cuda_kernel_properties, fill, device="cpu")


def query(context, forward, values, count):
    values[0], values[1] = 17, 0
    return True


with mock.patch.object(context.runtime.core, "wp_cuda_get_kernel_properties", side_effect=query):
    print(wp.get_cuda_kernel_properties(wp.overload(of_any, [wp.array[float]])))
print(wp.get_suggested_block_size(fill), wp.get_suggested_block_size(fill, "cpu"), wp.get_cuda_max_cluster_dim(fill, "cpu") == 1)

# ---- options of kernels ----
for options in ({"cluster_dim": 17}, {"cluster_dim": (2, 1)}, {"cuda_max_registers": 0}, {"cuda_max_registers": 64, "launch_bounds": 128},
                {"enable_cuda_smem_spilling": 1}):
    told(wp.kernel, fill.func, **options)
four = wp.kernel(fill.func, cluster_dim=4)
print(four.options, wp.kernel(fill.func, enable_cuda_smem_spilling=False).options)
told(wp.launch, four, dim=160, inputs=[x], block_dim=32)
told(wp.launch, four, dim=160, inputs=[x], block_dim=256)
told(wp.launch, four, dim=256, inputs=[x], block_dim=32, max_blocks=3)
again = wp.launch(four, dim=4 * 32, inputs=[wp.zeros(128, dtype=float)], block_dim=32, record_cmd=True)
told(again.set_dim, 160)
again.launch()
made = list(four.calls.values())[-1].structure().specialisations[0].variants[0].images[0].entries[0]
print(list(made.flags)[4:7])
wp.config.cuda_arch_suffix = "a"
print(gpu._get_cuda_arch_suffix(gpu.arch), module._get_compile_output_name(gpu).partition(".")[2])
told(gpu._get_cuda_arch_suffix, 80)

# ---- files that are gone ----
TEXT = """import warp as wp

@wp.kernel
def bad(x: wp.array[float]):
    x[wp.tid()] = nothing

@wp.kernel
def good(x: wp.array[float]):
    x[wp.tid()] = 7.0
"""
with open("gone.py", "w") as file:
    file.write(TEXT)
spec = importlib.util.spec_from_file_location("gone", "gone.py")
gone = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gone)
os.remove("gone.py")
kept = weakref.ref(gone.bad)
try:
    wp.launch(gone.bad, dim=1, inputs=[x])
except KeyError as error:
    print(str(error).splitlines()[-1])
    failed = error
with open("cell.py", "w") as file:
    file.write("@wp.kernel\ndef bad(x: wp.array[float]):\n    x[wp.tid()] = 3.0\n")
with open("cell.py") as file:
    exec(compile(file.read(), "cell.py", "exec"), vars(gone))
with open("cell.py", "w") as file:
    file.write("\n\nnothing that was there\n")
wp.launch(gone.bad, dim=1, inputs=[x])
wp.launch(gone.good, dim=1, inputs=[x[1:]])
print(x.numpy()[:2], kept())
END
python3 -m tilec run builds.py
cat >cached.py <<'END'
import os

import warp as wp
import warp.config
from warp._src import build


@wp.kernel
def fill(x: wp.array[float]):
    x[wp.tid()] = 1.0


warp.config.kernel_cache_dir = "kept"
os.makedirs("kept/wp_old")
wp.init()
print(os.path.relpath(wp.config.kernel_cache_dir), wp.config is warp.config)
wp.launch(fill, dim=1, inputs=[wp.zeros(1, dtype=float)])
print(len(os.listdir(wp.config.kernel_cache_dir)) > 0)
build.init_kernel_cache(wp.config.kernel_cache_dir)
print(os.path.relpath(wp.config.kernel_cache_dir))
END
python3 -m tilec run cached.py 2>&1 | sed "s#$(realpath "$TMP")#TMP#"

# ---- compiled ahead ----
cat >ahead.py <<'END'
import importlib
import os
import pathlib
import sys
import time

import warp as wp

sys.path.insert(0, ".")


def write(by):
    with open("pieces.py", "w") as file:
        file.write(f"""import typing

import warp as wp


@wp.kernel
def scale(x: wp.array[float]):
    x[wp.tid()] *= {by}


@wp.kernel
def any(x: wp.array[typing.Any]):
    x[wp.tid()] *= x.dtype(2)
""")


def told(function, *arguments, **named):
    try:
        return function(*arguments, **named)
    except (RuntimeError, OSError) as error:
        print(type(error).__name__, str(error).replace(os.getcwd(), "."))


def scaled():
    x = wp.ones(1, dtype=float)
    wp.launch(pieces.scale, dim=1, inputs=[x])
    return x.numpy()[0]


write(3.0)
import pieces

paths = wp.compile_aot_module(pieces, arch=[80, 90], module_dir="ahead", use_ptx=True, strip_hash=True)
print([path.name for path in paths], [path.read_text().count(".visible .entry") for path in paths], sorted(os.listdir("ahead")))
before = paths[0].stat().st_mtime_ns
wp.compile_aot_module("pieces", arch=80, module_dir="ahead", use_ptx=True)
print(paths[0].stat().st_mtime_ns == before)
wp.overload(pieces.any, [wp.array[float]])
wp.overload(pieces.any, [wp.array[wp.float64]])
told(wp.compile_aot_module, pieces, arch=90, module_dir="ahead", use_ptx=True)
print(wp.compile_aot_module(pieces, arch=90, module_dir="more", use_ptx=True, strip_hash=False)[0].read_text().count(".visible .entry"))
write(55.25)
importlib.reload(pieces)
print(scaled())
wp.load_aot_module(pieces, "cuda:0", module_dir="ahead", strip_hash=True)
print(scaled())
told(wp.load_aot_module, pieces, arch=86, module_dir="ahead")
clustered = wp.kernel(pieces.scale.func, cluster_dim=2, module="clustered")
told(wp.compile_aot_module, "clustered", arch=80, module_dir="ahead", use_ptx=True)
END
python3 -m tilec run ahead.py
