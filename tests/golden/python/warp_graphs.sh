# Warp's graphs: what is captured is done when the graph is launched, branches and loops on the device's values, gradients and copies included;
# a part of Warp's own package that is on the path.
needs numpy
cd "$TMP"
mkdir -p own/warp/optim
printf 'import warp\nimport warp.sparse as sparse\nkind = warp.array | sparse.BsrMatrix | sparse.Other\n' >own/warp/optim/__init__.py
cat >graphs.py <<'END'
import numpy
import warp as wp


@wp.kernel
def add(a: wp.array(dtype=float), b: wp.array(dtype=float), left: wp.array(dtype=int)):
    i = wp.tid()
    a[i] = a[i] + b[i]
    if i == 0:
        left[0] = left[0] - 1


@wp.kernel
def squared(a: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, a[i] * a[i])


a, b = wp.zeros(4, dtype=float), wp.array([1.0, 2.0, 3.0, 4.0], dtype=float)
left = wp.array([3], dtype=int)
print(wp.get_device().is_capturing)
with wp.ScopedCapture() as capture:
    print(wp.get_device().is_capturing)
    wp.launch(add, dim=4, inputs=[a, b, left])
    wp.copy(b, a)
print(a.numpy(), left.numpy())
for _ in range(3):
    wp.capture_launch(capture.graph)
print(a.numpy(), b.numpy(), left.numpy())

with wp.ScopedCapture() as capture:
    a.zero_()
    b.fill_(1.0)
    left.assign([5])
    wp.capture_while(left, lambda: wp.launch(add, dim=4, inputs=[a, b, left]))
    wp.capture_if(left, on_true=lambda: a.fill_(-1.0), on_false=lambda: b.fill_(7.0))
for _ in range(2):
    wp.capture_launch(capture.graph)
    print(a.numpy(), b.numpy(), left.numpy())
wp.capture_if(b, on_true=lambda: a.zero_())
print(a.numpy())

x = wp.array([1.0, -2.0], dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
with wp.ScopedCapture() as capture:
    tape = wp.Tape()
    loss.zero_()
    with tape:
        wp.launch(squared, dim=2, inputs=[x], outputs=[loss])
    tape.backward(loss)
for _ in range(2):
    x.grad.zero_()
    wp.capture_launch(capture.graph)
    print(loss.numpy(), x.grad.numpy())
try:
    wp.capture_end()
except RuntimeError as error:
    print(error)
END
PYTHONPATH=$PYTHONPATH:$TMP/own python3 -m tilec run graphs.py
cat >own.py <<'END'
import warp.optim
print(warp.optim.__file__.split("/")[-3:])
END
PYTHONPATH=$PYTHONPATH:$TMP/own python3 -m tilec run own.py
