# Warp's shim with torch: tensors of one vector, and descriptors of C, of which a kernel takes what it needs.
needs torch
cd "$TMP"
cat >vectors.py <<'END'
import torch
import warp as wp


@wp.kernel
def whole(x: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat22)):
    i = wp.tid()
    x[i] = x[i] * 2.0 + wp.vec3(m[i][0, 1])


@wp.kernel
def by_number(x: wp.array(dtype=int), y: wp.array(dtype=float)):
    for i in range(3):
        x[i] = i + int(y[i])


x, m = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[1.0, 0.5], [0.0, 1.0]])
one, other = wp.from_torch(x, dtype=wp.vec3), wp.from_torch(m, dtype=wp.mat22)
print(one.shape, one.strides, other.shape, other.strides)
wp.launch(whole, dim=1, inputs=[one, other])
print(x)
n = torch.zeros(3, dtype=torch.int32)
for kind in (wp.int32, wp.vec3i):
    n.zero_()
    wp.launch(by_number, dim=1, inputs=[wp.from_torch(n, dtype=kind, return_ctype=True), wp.from_torch(x, return_ctype=True)])
    print(n)
rows = torch.tensor([[7.0, 8.0, 9.0]])
wp.launch(by_number, dim=1, inputs=[wp.from_torch(n, return_ctype=True), wp.from_torch(rows, dtype=wp.vec3, return_ctype=True)])
print(n)
END
python3 -m tilec run vectors.py
# A part or a view of a tensor is not the tensor.
cat >parts.py <<'END'
import torch
import warp as wp

t = torch.arange(10, dtype=torch.float32)
a = wp.from_torch(t)
part = wp.to_torch(a[2:8:2])
part += 100
print(t.tolist(), wp.to_torch(a) is t, wp.to_torch(a.reshape((2, 5))).shape, wp.to_torch(a.view(wp.int32)).dtype)
END
python3 -m tilec run parts.py
