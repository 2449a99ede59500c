# Warp's shim: kernels of modules of their own, loggers, limits of launches, values of the host's that have types, files written anew.
needs numpy
cd "$TMP"
cat >modules.py <<'END'
import contextlib
import importlib
import io
import os
import sys
import warnings

import warp as wp
from warp._src.logger import log_debug


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except (RuntimeError, ValueError, TypeError, AttributeError) as error:
        print(type(error).__mro__[-4].__name__ if isinstance(error, RuntimeError) else type(error).__name__, str(error).splitlines()[-1])


# ---- modules ----
def scaled(by):
    @wp.kernel(module="unique")
    def kernel(x: wp.array[float]):
        x[wp.tid()] *= by

    return kernel


one, two, again = scaled(2.0), scaled(3.0), scaled(2.0)
print(one is again, one.module is again.module, one is two, one.module.name == two.module.name, [arg.label for arg in one.adj.args])
x = wp.ones(2, dtype=float)
for kernel in (one, two, again):
    wp.launch(kernel, dim=2, inputs=[x])
print(x.numpy().tolist())
module = wp.get_module("__main__")
before = module.hash_module()
print(before == module.hash_module())


@wp.kernel
def bounded(x: wp.array[float]):
    x[wp.tid()] += 1.0


print(before == module.hash_module())
for options, name in (({"fast_mth": True}, "unique"), ("fast", "unique"), ({"fast_math": True}, None)):
    told(wp.kernel, bounded.func, module_options=options, module=name)

# ---- limits of launches ----
limited = wp.Kernel(bounded.func, launch_bounds=128)
told(wp.launch, limited, dim=1, inputs=[x], block_dim=256)
told(wp.launch, bounded, dim=1, inputs=[x], block_dim=2048)
told(wp.launch, wp.Kernel(bounded.func, grid_stride=False), dim=1, inputs=[x], max_blocks=2)
cube = wp.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]], dtype=float)
wp.launch(bounded, dim=1, inputs=[cube[:, 1, 2]])
print(cube.numpy().tolist())


# ---- values that have types ----
@wp.struct
class Pair:
    a: wp.uint8
    v: wp.vec3
    x: wp.array[float]


pair = Pair(v=[1.0, 2.0, 3.0])
print(isinstance(pair, Pair.cls), type(pair.a).__name__, wp.float32(2) ** wp.float32(3), wp.vec3(5.0, 7.0, -7.0) % wp.vec3(2.0, 4.0, 4.0))
for name, value in (("v", 1.5), ("x", [1.0]), ("x", wp.zeros(1, dtype=int)), ("x", wp.zeros((1, 1), dtype=float))):
    told(setattr, pair, name, value)
v = wp.vec3(1.0, 2.0, 3.0)
v[1:] += wp.vec2(1.0, 1.0)
print(v, repr(wp.float16(-1)), hasattr(wp.vec2(), "z"))
told(setattr, v, "xy", 1.0)
told(wp.transform, 1.5, 2.5)
told(wp.transform, (0.0, 0.0, 0.0), pos=1.0)
t = wp.transform_identity()
wp.transform_set_translation(t, wp.vec3(1.0, 2.0, 3.0))
print(t)
made = wp.map(lambda a: Pair(wp.uint8(1), wp.vec3(a)), wp.array([4.0], dtype=float))
print(made.dtype is Pair if hasattr(made, "dtype") else made)
END
sed -i '/^made = wp.map/,/^print(made/d' modules.py
cat >>modules.py <<'END'


# ---- messages ----
class Kept:
    def __init__(self):
        self.lines = []

    def debug(self, message):
        self.lines.append(f"debug {message}")

    def info(self, message):
        self.lines.append(f"info {message}")

    def warning(self, message, category=None, stacklevel=1):
        self.lines.append(f"warning {message}")

    def error(self, message):
        self.lines.append(f"error {message}")


@wp.kernel(enable_backward=False)
def forward(x: wp.array[float], y: wp.array[float]):
    y[wp.tid()] = x[wp.tid()]


y, z = wp.ones(1, dtype=float, requires_grad=True), wp.ones(1, dtype=float, requires_grad=True)
with wp.ScopedLogger(Kept()) as scope:
    with wp.Tape() as tape:
        wp.launch(forward, dim=1, inputs=[y, z])
    tape.backward(z)
    wp.config.print_launches = True
    wp.launch(forward, dim=1, inputs=[y, z])
    wp.config.print_launches = False
print(scope.logger.lines, y.grad.numpy().tolist())
told(wp.set_logger, "text")
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    wp.get_logger().warning("not shown", DeprecationWarning)
with wp.ScopedLogger(Kept()) as scope:
    for _ in range(2):
        wp.config.quiet = wp.config.quiet
    print(wp.config.verbose)
print(scope.logger.lines)
wp.config.log_level, wp.config.verbose = wp.LOG_WARNING, True
log_debug("told although the level says less")
wp.config.log_level, wp.config.verbose = wp.LOG_INFO, False
wp.config.verbose_warnings = True
with contextlib.redirect_stderr(io.StringIO()) as shown:
    wp.utils.warn("where it was called")
print(shown.getvalue().replace(os.getcwd(), "."))
wp.config.verbose_warnings = False
told(setattr, wp.config, "deterministic", True)
told(setattr, wp.config, "launch_array_access_mode", 1)

# ---- gradients that are given, in a graph ----
a, b, seed = [wp.ones(1, dtype=float, requires_grad=i < 2) for i in range(3)]
with wp.Tape() as tape:
    wp.launch(scaled(5.0), dim=1, inputs=[a])
with wp.ScopedCapture() as capture:
    tape.backward(grads={a: seed})
seed.fill_(2.0)
wp.capture_launch(capture.graph)
print(a.grad.numpy().tolist())

# ---- a file that is written anew ----
sys.path.insert(0, os.getcwd())
sys.dont_write_bytecode = True
for number in (1.0, 2.5):
    with open("written.py", "w") as file:
        file.write(f"import warp as wp\n\n\n@wp.kernel\ndef kernel(x: wp.array[float]):\n    x[0] = {number}\n")
    if "written" in sys.modules:
        importlib.reload(sys.modules["written"])
    import written

    wp.launch(written.kernel, dim=1, inputs=[x])
    print(x.numpy()[0])
END
python3 -m tilec run modules.py
