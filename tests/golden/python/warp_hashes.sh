# Warp's shim: what hashes of modules depend on, what is compiled of them in an order of its own, options that are resolved with them.
needs numpy
cd "$TMP"
cat >hashes.py <<'END'
import itertools
import json
import types
import typing

import warp as wp
from warp._src import context
from warp._src.context import ModuleBuilder, ModuleHasher


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except (RuntimeError, TypeError, ValueError) as error:
        print(type(error).__name__, "|", str(error).splitlines()[-1])


# ---- functions: overloads, hints, modules of their own ----
overloads = """
import warp as wp

@wp.func
def f(x: int):
    return {first}

@wp.func
def f(x: int, y: int):
    return x + y

@wp.kernel
def k(out: wp.array[int]):
    out[0] = f(1) + f(2, 3)
"""


def hash_of(text, name):
    with open(f"{name}.py", "w") as file:
        file.write(text)
    return wp.get_module(__import__(name).__name__).hash_module()


one, same, other = (hash_of(overloads.format(first=first), name) for first, name in (("x", "one"), ("x", "same"), ("x + 1", "other")))
print(one == same, one == other)


def hinted(inline):
    @wp.func(inline=inline, module="unique")
    def f(x: float) -> float:
        return x + 1.0

    @wp.kernel(enable_backward=False, module=f.module)
    def k(a: wp.array[float]):
        a[wp.tid()] = f(1.0)

    return f.module, k


print(len({hinted(inline)[0].hash_module() for inline in (None, False, True)}), hinted(False)[0] is hinted(False)[0])
x = wp.zeros(2, dtype=float)
wp.launch(hinted(False)[1], dim=2, inputs=[x])
print(x.numpy(), len(typing.get_overloads(wp.func)) if hasattr(typing, "get_overloads") else 2)


# ---- modules ----
@wp.func
def second(v: float):
    return v * 2.0


@wp.func
def first(v: float):
    return v + 1.0


@wp.kernel(module="of_order")
def zulu(out: wp.array[float]):
    out[0] = first(1.0) + second(2.0) + first(3.0)


@wp.kernel(module="of_order")
def alpha(out: wp.array[float]):
    out[0] = 2.0


module = zulu.module
options = module.resolve_options(wp.config, 256)
made = [ModuleBuilder(module, options, hasher=ModuleHasher(order, options)) for order in itertools.permutations((zulu, alpha))]
print(len({one.hasher.get_hash() for one in made}), len({one.codegen("cuda") for one in made}), len({one.codegen("cpu") for one in made}))
print([one.count(".entry") for one in [made[0].codegen("cuda")]], list(json.loads(made[0].codegen("cpu"))), len(made[0].build_meta()))
print([one.key for one in zulu.adj.called_user_functions])


@wp.kernel(module="of_wrong")
def wrong(out: wp.array[float]):
    out[0] = nowhere


told(ModuleBuilder, wrong.module, options)

# ---- options ----
main = wp.get_module("__main__")
size = main.options["block_dim"]
main.get_module_hash()
print(size in main.hashers, size in main.resolved_options)
wp.init()
print(size in main.hashers, size in main.resolved_options)


def plain(a: wp.array[float]):
    a[wp.tid()] = 1.0


told(wp.get_cpu_kernel_cache_key)
strides = []
wp.config.default_grid_stride = True
kernels = [wp.kernel(plain, module="unique", grid_stride=stride) for stride in (None, True, False)]
for kernel in kernels:
    kernel.module.get_module_hash()
wp.config.default_grid_stride = False
print([kernel.grid_stride for kernel in kernels])
told(wp.launch, kernels[2], dim=1, inputs=[x], max_blocks=1)
wp.launch(kernels[0], dim=1, inputs=[x], max_blocks=1)
wp.config.default_grid_stride = None
nameless = {"wp": wp, "context": context}
told(exec, compile("context._get_caller_module_name(1)", "<nowhere>", "exec"), {**nameless, "__name__": None})
told(lambda: wp.mat22(1.0) * wp.mat22d(1.0))
told(lambda: wp.vec2(1.0) - wp.vec3(1.0))
END
python3 -m tilec run hashes.py
