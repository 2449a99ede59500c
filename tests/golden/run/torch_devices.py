# run: run --device=emulator %s
# What goes from the host to a GPU, or back, is a copy, whichever kernel works on it then.
import numpy as np
import torch
import tilelang
import tilelang.language as T

@tilelang.jit
def double(n):
    @T.prim_func
    def main(X: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                X[i] = X[i] * 2 + 1
    return main

x = torch.arange(8, dtype=torch.float32)
y = x.cuda()
before = y.cpu()
double(8)(y)
print((y.cpu() - x).tolist(), (y.cpu() - before).tolist(), x.tolist(), y.is_cuda, x.is_cuda, x.device, y.is_contiguous())
z = (x * 2 + torch.ones(8)).to("cuda")
w = z.to(device="cuda")
double(8)(w)
print(z.tolist() == w.tolist(), (x * 2).is_cuda, (z * 2).is_cuda, torch.zeros_like(z).is_cuda, torch.zeros_like(x).is_cuda, torch.cat([x, x]).is_cuda, z[2:].is_cuda, z.sum().is_cuda)
a = np.arange(8).astype(np.float32)
t = torch.from_numpy(a)
u = t.cuda()
double(8)(u)
t[0] = 50.0
print(a.tolist(), u.cpu().numpy().tolist(), torch.stack([z, z]).is_cuda, z.half().is_cuda, z.reshape(2, 4).T.is_cuda, torch.where(z > 1, z, 0.0).is_cuda, torch.topk(z, 2)[0].is_cuda)
torch.set_default_device("cuda")
print(torch.zeros(2).is_cuda, torch.tensor([1.0]).is_cuda)
