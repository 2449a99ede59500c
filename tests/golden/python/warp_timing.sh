# How long what a program has a GPU do takes: kernels, copies and graphs, each for itself.
needs numpy
cd "$TMP"
cat >timing.py <<'END'
import contextlib
import io

import numpy
import warp as wp


@wp.kernel
def twice(x: wp.array[float], y: wp.array[float]):
    y[wp.tid()] = 2.0 * x[wp.tid()]


def told(results):
    print([(one.device.is_cuda, one.name, one.filter, one.elapsed >= 0.0) for one in results])


x, y = wp.ones(4, dtype=float, requires_grad=True), wp.zeros(4, dtype=float, requires_grad=True)
copied = wp.zeros(4, dtype=float)
with wp.ScopedTimer("copies", print=False, cuda_filter=wp.TIMING_MEMCPY) as timer:
    wp.launch(twice, dim=4, inputs=[x, y])
    wp.copy(copied, y)
    wp.copy(wp.zeros(4, dtype=float, device="cpu"), copied)
told(timer.timing_results)
with wp.ScopedCapture() as capture:
    wp.copy(copied, x)
print(copied.numpy().tolist())
wp.timing_begin()
with wp.Tape() as tape:
    wp.launch(twice, dim=4, inputs=[x, y])
tape.backward(grads={y: wp.ones(4, dtype=float)})
wp.capture_launch(capture.graph)
results = wp.timing_end()
told(results)
print(copied.numpy().tolist())
out = io.StringIO()
with contextlib.redirect_stdout(out):
    wp.timing_print(results)
lines = out.getvalue().splitlines()
print(len(lines), [line for line in lines if ":" in line and " | " not in line])
told(wp.timing_end() if wp.timing_begin(wp.TIMING_KERNEL) else [])


# ---- gradients of numbers of 16 bits: as near as they can be ----
@wp.kernel
def divided(a: wp.array[wp.float16], b: wp.array[wp.float16], out: wp.array[wp.float16]):
    i = wp.tid()
    out[i] = a[i] / b[i]


numbers = numpy.random.default_rng(5).uniform(0.5, 2.0, (2, 500)).astype(numpy.float16)
a, b, out = wp.array(numbers[0], requires_grad=True), wp.array(numbers[1], requires_grad=True), wp.zeros(500, dtype=wp.float16, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(divided, dim=500, inputs=[a, b, out])
tape.backward(grads={out: wp.ones(500, dtype=wp.float16)})
exact = -numbers[0].astype(float) / numbers[1].astype(float) ** 2
print((b.grad.numpy() == exact.astype(numpy.float16)).all())
END
python3 -m tilec run timing.py 2>&1
