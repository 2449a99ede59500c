# run: run --device=emulator %s
# Warp's vectors and matrices as numbers of numpy, in host code, and what is put into arrays: as Warp prints it.
import numpy as np
import warp as wp
M = wp.mat22(1.0, 2.0, 3.0, 4.0)
v = wp.vec3(1.0, 2.0, 3.0)
print(np.asarray(M).tolist(), np.array(v).tolist(), np.array([v, v * 2.0]).tolist(), np.array(M * M).shape, list(v), np.linalg.norm(v) > 3.7)
a = wp.zeros(4, dtype=float)
a.assign([1.0, 2.0, 3.0, 4.0])
b = wp.zeros((2, 2), dtype=float)
b[1].assign(np.array([5.0, 6.0], dtype=np.float32))
c = wp.zeros(4, dtype=float)
c.assign(a)
print(a.numpy().tolist(), b.numpy().tolist(), c.numpy().tolist(), len(v), v[1])
p = wp.array(np.arange(6, dtype=np.float32).reshape(2, 3), dtype=wp.vec3)
q = wp.zeros_like(p)
q.assign(p)
print(q.numpy().tolist())
print(round(wp.length(v), 5), [round(x, 5) for x in wp.normalize(v)], list(wp.normalize(wp.vec3(0.0, 0.0, 0.0))))
axis = wp.normalize(wp.vec3(0.0, 0.0, 2.0))
print([round(x, 5) + 0.0 for x in wp.quat_rotate(wp.quat_from_axis_angle(axis, 1.5), v)], round(wp.length(wp.quat(0.0, 3.0, 0.0, 4.0)), 5))
