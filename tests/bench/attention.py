"""attention.py FOLDER: attention of tests/exec/attention.tile (attention.sh) beside cuDNN's, by torch, on a GPU. Random data, every element
against float32; contenders in shuffled rounds, medians; ROUNDS (20) and BUDGET, in seconds (120), from the environment."""
import ctypes
import math
import os
import random
import sys
import time

import torch
from dlpack import Tensor, milliseconds
from torch.nn.attention import SDPBackend, sdpa_kernel

CASES = [  # batch, heads, rows, dim, causal, block, threads
    (1, 16, 16384, 128, 0, 128, 256), (1, 16, 16384, 128, 1, 128, 256), (4, 16, 4096, 128, 0, 128, 256), (4, 16, 4096, 128, 1, 128, 256),
    (16, 16, 1024, 128, 0, 128, 256), (16, 16, 1024, 128, 1, 128, 256), (4, 16, 4096, 64, 0, 128, 256), (4, 16, 4096, 64, 1, 128, 256),
    (4, 16, 4096, 128, 0, 64, 128), (2, 3, 1000, 128, 0, 128, 256), (2, 3, 1000, 128, 1, 128, 256)]


def caller(library, tensors, causal, block, threads):
    given = [Tensor(t) for t in tensors]
    numbers = [ctypes.c_int64(x) for x in (causal, block, block, 2, threads)]

    def call(number=0):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        status = library.attention(stream, *[ctypes.byref(t) for t in given[:3]], *numbers, ctypes.byref(given[3]))
        if status:
            library.tile_last_error.restype = ctypes.c_char_p
            raise RuntimeError(library.tile_last_error().decode())
    return call


def reference(q, k, v, causal):
    out = torch.empty(q.shape, device="cuda", dtype=torch.float32)
    for b, h, r in [(b, h, r) for b in range(q.shape[0]) for h in range(q.shape[1]) for r in range(0, q.shape[2], 4096)]:
        rows = q[b, h, r:r + 4096].float()
        s = rows @ k[b, h].float().T / math.sqrt(q.shape[3])
        if causal:
            at = torch.arange(r, r + len(rows), device="cuda")[:, None]
            s = s.masked_fill(torch.arange(q.shape[2], device="cuda")[None] > at, float("-inf"))
        out[b, h, r:r + 4096] = s.softmax(-1) @ v[b, h].float()
    return out


def measure(library, batch, heads, rows, dim, causal, block, threads):
    torch.manual_seed(rows + dim + causal)
    q, k, v = (torch.randn(batch, heads, rows, dim, device="cuda", dtype=torch.float16) for _ in range(3))
    exact, out = reference(q, k, v, causal), torch.full_like(q, float("nan"))
    call = caller(library, (q, k, v, out), causal, block, threads)
    call()
    torch.cuda.synchronize()
    error, worst = ((out.float() - exact).norm() / exact.norm()).item(), (out.float() - exact).abs().max().item()
    right = error < 2e-3 and worst < 2e-2
    name = f"{batch}x{heads}x{rows}x{dim} {'causal' if causal else 'full'} {block}x{block} {threads} threads"
    if not right or rows == 1000:
        return f"{name}: relative error {error:.1e}, {'right' if right else 'WRONG'}"

    def library_call(number):
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(causal))
    flops = 4 * batch * heads * rows * rows * dim / (2 if causal else 1)
    contenders, times = {"tilec": call, "cuDNN": library_call}, {"tilec": [], "cuDNN": []}
    for _ in range(int(os.environ.get("ROUNDS", 20))):
        for each in random.sample(list(contenders), 2):
            time.sleep(0.005)
            times[each].append(milliseconds(contenders[each], max(2, int(2.5e12 / flops))))
    ratio = sorted(a / b for a, b in zip(times["cuDNN"], times["tilec"]))[len(times["tilec"]) // 2]
    tilec = sorted(times["tilec"])[len(times["tilec"]) // 2]
    return f"{name}: {tilec:.4f} ms, {flops / tilec * 1e-9:.0f} TFLOP/s, {ratio:.3f} of cuDNN, relative error {error:.1e}"


def main():
    begin, library = time.time(), ctypes.CDLL(os.path.join(sys.argv[1], "libattention.so"))
    torch.zeros(1, device="cuda")
    print(torch.cuda.get_device_name(), torch.__version__)
    for case in CASES:
        if time.time() - begin > float(os.environ.get("BUDGET", 120)):
            return print("out of time")
        print(measure(library, *case), flush=True)


main()
