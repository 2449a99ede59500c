# run: run --device=emulator %s
# Arrays of a GPU are copied by numpy(), those of the host are seen in place; copies of parts.
import numpy as np
import warp as wp
wp.init()

@wp.kernel
def inc(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] + 1.0

a = wp.zeros(4, dtype=float, device="cpu")
a.numpy()[1] = 5.0
wp.launch(inc, dim=4, inputs=[a], device="cpu")
print(a.numpy().tolist())
with wp.ScopedDevice("cpu"):
    b = wp.ones(3, dtype=float)
    c = wp.zeros_like(b)
    b.numpy()[:] = 7.0
    c.numpy()[2] = 1.0
    print(b.numpy().tolist(), c.numpy().tolist(), wp.get_device("cpu").is_cpu, str(b.device))
d = wp.array([1.0, 2.0, 3.0, 4.0, 5.0], dtype=float)
e = wp.zeros(5, dtype=float)
wp.copy(e, d, dest_offset=1, src_offset=2, count=2)
print(e.numpy().tolist())
wp.copy(dest=e, src=d, src_offset=3, count=2)
print(e.numpy().tolist())
before = d.numpy() if wp.get_device().is_cuda else d.numpy().copy()
wp.launch(inc, dim=5, inputs=[d])
print((d.numpy() - before).tolist(), d.is_contiguous)
