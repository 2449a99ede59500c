#!/usr/bin/env python3
"""compare.py OUT: compiled kernels beside cuBLAS, and beside other compilers where installed.

Needs a GPU, torch, and the shared libraries that compare.sh built. Writes OUT/compare.json and
OUT/compare.svg and prints the table of ratios. Every result is compared with a float64 product,
every element; what is wrong is reported and not timed.

How it is measured: random data; each contender goes round sets of operands that are larger than L2
together; rounds in shuffled order, ratios formed within a round, since the clock drifts. "sustained"
is a row of launches without a pause, "burst" five single launches after the GPU was idle, with L2
emptied before each. A ratio is cuBLAS's time by the contender's: above 1 is faster than cuBLAS.
cuBLAS takes part twice, so that its ratio to itself shows what the method cannot tell apart.
"""
import argparse
import ctypes
import functools
import json
import math
import os
import random
import re
import statistics
import time

import torch
from dlpack import Tensor
from products import L2_BYTES, Product, read_plan

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bench", "compare")
IDLE_SECONDS = 0.12


# ---- our kernels: DLPack tensors over ctypes ----------------------------------------------------


class Library:
    """A kernel of ours: `entry(stream, tensors...)` of a shared library."""

    def __init__(self, name, entry):
        self.library = ctypes.CDLL(os.path.join(FOLDER, name + ".so"))
        self.entry = getattr(self.library, entry)
        self.entry.restype = ctypes.c_int32
        self.story = self.library.tile_last_error
        self.story.restype = ctypes.c_char_p

    def bind_pointers(self, sizes, tensors):
        """A function that launches a script: sizes, then pointers."""
        arguments = [ctypes.c_int64(size) for size in sizes] + [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        return self.launcher([stream, *arguments], tensors)

    def bind(self, operands, keys, results):
        """A function that launches on these tensors."""
        descriptors = [Tensor(tensor) for tensor in operands + results]
        places = [ctypes.byref(descriptor) for descriptor in descriptors]
        count = len(operands)
        arguments = [*places[:count], *(ctypes.c_int64(key) for key in keys), *places[count:]]
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

        return self.launcher([stream, *arguments], (descriptors, operands, results))

    def launcher(self, arguments, keep):
        def launch():
            if self.entry(*arguments) != 0:
                raise RuntimeError(self.story().decode())

        launch.keep = keep
        return launch


# ---- measuring ----------------------------------------------------------------------------------


def sustained(launches, repeats):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for i in range(3):
        launches[i % len(launches)]()
    begin.record()
    for i in range(repeats):
        launches[i % len(launches)]()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / repeats


def burst(launches, flush):
    torch.cuda.synchronize()
    time.sleep(IDLE_SECONDS)
    times = []
    for i in range(5):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        begin.record()
        launches[i % len(launches)]()
        end.record()
        times.append((begin, end))
    torch.cuda.synchronize()
    return statistics.median(begin.elapsed_time(end) * 1e3 for begin, end in times)


def interval(values):
    """The median and its 95 % interval, by order statistics of the binomial distribution."""
    ordered = sorted(values)
    count = len(ordered)
    low, tail = 0, 0.0
    while low < count // 2:
        tail += math.comb(count, low) / 2**count
        if tail > 0.025:
            break
        low += 1
    low = max(low - 1, 0)
    return statistics.median(ordered), ordered[low], ordered[count - 1 - low]


def measure(product, rounds, budget_us):
    flush = torch.empty(L2_BYTES, dtype=torch.int8, device="cuda")
    names = list(product.contenders)
    repeats = {}
    for name in names:
        once = sustained(product.contenders[name], 3)
        repeats[name] = max(3, int(budget_us / once))
    samples = {name: {"sustained": [], "burst": []} for name in names}
    for _ in range(rounds):
        for name in random.sample(names, len(names)):
            samples[name]["sustained"].append(sustained(product.contenders[name], repeats[name]))
            samples[name]["burst"].append(burst(product.contenders[name], flush))
    return samples


def summarise(product, samples):
    rows = []
    for name, modes in samples.items():
        row = {"row": product.name, "contender": name}
        for mode, values in modes.items():
            base = samples["cuBLAS"][mode]
            ratio, low, high = interval([b / v for b, v in zip(base, values)])
            row[mode] = {
                "us": statistics.median(values),
                "least_us": min(values),
                "most_us": max(values),
                "tflops": product.flops() / statistics.median(values) * 1e-6,
                "ratio": ratio,
                "low": low,
                "high": high,
            }
        rows.append(row)
    return rows


def print_rows(rows):
    for row in rows:
        text = f"{row['row']:28} {row['contender']:28}"
        for mode in ("sustained", "burst"):
            value = row[mode]
            text += f"  {value['us']:9.1f} us {value['tflops']:6.0f} TFLOP/s {value['ratio']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
        print(text, flush=True)


# ---- contenders ---------------------------------------------------------------------------------


def tilelang_gemm(block_m, block_n, block_k, threads, stages):
    """The same kernel in today's TileLang; compiled once a shape and type."""
    import tilelang
    import tilelang.language as T

    names = {torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32"}

    def build(m, n, k, dtype, out_dtype):
        @T.prim_func
        def gemm(A: T.Tensor((m, k), dtype), B: T.Tensor((k, n), dtype), C: T.Tensor((m, n), out_dtype)):
            with T.Kernel(T.ceildiv(m, block_m), T.ceildiv(n, block_n), threads=threads) as (bx, by):
                a = T.alloc_shared((block_m, block_k), dtype)
                b = T.alloc_shared((block_k, block_n), dtype)
                c = T.alloc_fragment((block_m, block_n), "float32")
                T.clear(c)
                for i in T.Pipelined(T.ceildiv(k, block_k), num_stages=stages):
                    T.copy(A[bx * block_m, i * block_k], a)
                    T.copy(B[i * block_k, by * block_n], b)
                    T.gemm(a, b, c)
                T.copy(c, C[bx * block_m, by * block_n])

        return tilelang.compile(gemm)

    kernels = {}

    def bind(a, b, c):
        key = (*a.shape, b.shape[1], a.dtype, c.dtype)
        if key not in kernels:
            kernels[key] = build(a.shape[0], b.shape[1], a.shape[1], names[a.dtype], names[c.dtype])
        kernel = kernels[key]
        return lambda: kernel(a, b, c)

    return bind


PEERS = ("tilelang",)


@functools.cache
def peer(text):
    """A TileLang kernel by its tile: 128x128x32,128,3."""
    tile, threads, stages = text.split(",")
    return tilelang_gemm(*map(int, tile.split("x")), int(threads), int(stages))


def sizes_of(product):
    """What a script takes before its pointers."""
    before = [product.batch] if product.batch else []
    return before + list(product.shape) + ([product.groups] if product.groups else [])


def tensors_of(product, a, b, c, more):
    """A script's pointers: scales come before the result, ends of groups behind it."""
    return [a, b, *more, c] if product.weights else [a, b, c, *more]


def add_contender(product, contender, peers):
    place, _, label = contender.partition("=")
    kind, *rest = place.split(":")
    if kind in peers:
        product.add(label or place, lambda a, b, c, more: peer(rest[0])(a, b, c))
    elif kind == "script":
        library = Library(rest[0], rest[1])
        product.add(label or place, lambda *all: library.bind_pointers(sizes_of(product), tensors_of(product, *all)))
    elif kind not in PEERS:
        library = Library(kind, rest[0])
        keys = [int(key) for key in rest[1].split(",")] if len(rest) > 1 else []
        product.add(label or place, lambda a, b, c, more: library.bind((a, b), keys, (c,)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--plan", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare.plan"))
    parser.add_argument("--rows", default="", help="a regular expression: only the rows of such names")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--milliseconds", type=float, default=20, help="of each sustained sample")
    parser.add_argument("--peers", default="tilelang", help="other compilers to try, by commas")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    results = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "gpu": torch.cuda.get_device_name(),
        "driver": os.popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader").read().strip(),
        "torch": torch.__version__,
        "rounds": options.rounds,
        "rows": [],
    }
    with open(options.plan) as plan:
        plan = plan.read()
    for arguments, contenders in read_plan(plan):
        if not re.search(options.rows, arguments[0]):
            continue
        product = Product(*arguments)
        product.add("cuBLAS", product.vendor)
        product.add("cuBLAS again", product.vendor)
        for contender in contenders:
            add_contender(product, contender, options.peers.split(","))
        if "cuBLAS" not in product.contenders:
            continue
        rows = summarise(product, measure(product, options.rounds, options.milliseconds * 1e3))
        print_rows(rows)
        results["rows"] += rows
        with open(os.path.join(options.out, "compare.json"), "w") as file:
            json.dump(results, file, indent=1)
        del product
        torch.cuda.empty_cache()
    write_plot(results, os.path.join(options.out, "compare.svg"))


# ---- the plot -----------------------------------------------------------------------------------


def write_plot(results, path):
    rows = [row for row in results["rows"] if not row["contender"].startswith("cuBLAS")]
    width, bar, left = 900, 16, 420
    height = 40 + 2 * bar * len(rows)
    scale = (width - left - 40) / 1.2
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">']
    parts.append(f'<text x="8" y="16">time of cuBLAS / time, {results["gpu"]}, {results["date"]}</text>')
    for i, row in enumerate(rows):
        y = 28 + 2 * bar * i
        parts.append(f'<text x="8" y="{y + bar}">{row["row"]}: {row["contender"]}</text>')
        for j, (mode, colour) in enumerate((("sustained", "#4878a8"), ("burst", "#e0a040"))):
            value = row[mode]
            parts.append(f'<rect x="{left}" y="{y + j * (bar - 4)}" width="{scale * value["ratio"]:.1f}" height="{bar - 5}" fill="{colour}"/>')
            parts.append(f'<text x="{left + scale * value["ratio"] + 4:.1f}" y="{y + j * (bar - 4) + 9}">{value["ratio"]:.2f} {mode}</text>')
    parts.append(f'<line x1="{left + scale:.1f}" x2="{left + scale:.1f}" y1="24" y2="{height}" stroke="#888"/></svg>')
    with open(path, "w") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main()
