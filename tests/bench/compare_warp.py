#!/usr/bin/env python3
"""compare_warp.py OUT: tile kernels of kernels/warp_tiles.py, compiled by tilec and by Warp from the same text.

Needs a GPU, torch, warp-lang and the shared library that `compare.sh warp` built. Writes
OUT/warp.json and prints a table. Every element of every result is checked first; what is wrong is
reported and not timed. Measured as in compare.py: rounds in shuffled order, ratios formed within a
round, operands that L2 can't hold. The ratio is the time of the row's base (Warp's kernel, or the
best of several, a copy of as many bytes, cuBLAS) by tilec's: above 1 is faster than the base.

compare_warp.py --exports prints what tilec is to export; compare_warp.py --compile REGEX has Warp
compile into its cache, as this program does at its start with one process a kernel.
"""
import argparse
import ctypes
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
MEMORY = 1 << 26  # elements of rows that move memory


class Row:
    """What is computed, by one or several kernels: EXPRESSION of warp_tiles.py, threads of a block, extents of the launch."""

    def __init__(self, name, operands, kernels, moved=0, flops=0, tiled=True):
        self.name, self.operands, self.kernels, self.moved, self.flops, self.tiled = name, operands, kernels, moved, flops, tiled

    def label(self, i):
        expression, block_dim, _ = self.kernels[i]
        return f"{expression.replace('wp.', '')}/{block_dim}"

    def entry(self, i):
        return re.sub(r"\W", "_", self.name) + f"_{i}"


# ---- operands: (read, written, wanted), the last as a function of what was read ---------------------


def memory(dtype, results=1, work=None, count=MEMORY, reads=1):
    def make(torch):
        read = [torch.randn(count, device="cuda").to(getattr(torch, dtype)) for _ in range(reads)]
        return read, [torch.empty_like(read[0]) for _ in range(results)], work or (lambda *given: given)

    return make


def matrix(rows, columns, dtype, work, result=None):
    def make(torch):
        x = torch.randn(rows, columns, device="cuda").to(getattr(torch, dtype))
        return [x], [torch.empty(result or (rows, columns), device="cuda", dtype=x.dtype)], work

    return make


def product_of(m, n, k, dtype, transposed=False):
    def make(torch):
        kind = getattr(torch, dtype)
        a = torch.randn(m, k, device="cuda").to(kind)
        b = (torch.randn(*((n, k) if transposed else (k, n)), device="cuda") / math.sqrt(k)).to(kind)
        return [a, b], [torch.empty(m, n, device="cuda", dtype=kind)], lambda a, b: (a @ (b.T if transposed else b),)

    return make


def vectors(count):
    def make(torch):
        x = torch.randn(count, 3, device="cuda")
        return [x], [torch.empty_like(x)], lambda x: (x * 2,)

    return make


def pairs(size, dtype, count):
    def make(torch):
        keys = torch.randperm(count, device="cuda") * 255 - 2**31  # no two alike: not all sorts are stable
        keys = keys.int() if dtype == "int32" else torch.randperm(count, device="cuda").float() - count // 2
        values = torch.arange(count, device="cuda", dtype=torch.int32)

        def work(keys, values):
            ordered, places = keys.view(-1, size).sort(stable=True)
            return ordered.flatten(), values.view(-1, size).gather(1, places).flatten()

        return [keys, values], [torch.empty_like(keys), torch.empty_like(values)], work

    return make


def chained(x):
    u = x.sin() * 0.5 + x
    v = (-u * u).exp() + x.abs().sqrt()
    return ((v * 2).where(v > 0.5, v - 0.5),)


def products(dtype, tiles, m, transposed=False):
    function = "product_nt" if transposed else "product"
    kernels = []
    for tile_m, tile_n, tile_k, threads in tiles:
        kernels.append((f"{function}({tile_m}, {tile_n}, {tile_k}, wp.{dtype})", threads, [m // tile_m, m // tile_n]))
    name = f"matmul-{dtype}{'-nt' if transposed else ''}-{m}"
    return Row(name, product_of(m, m, m, dtype, transposed), kernels, flops=2 * m**3)


HALF_TILES = [(128, 128, 64, 256), (64, 64, 64, 128), (128, 128, 32, 128)]
FULL_TILES = [(64, 64, 16, 64), (64, 64, 64, 128), (128, 128, 32, 128)]
SORTED = 1 << 24
ROWS = [
    Row("copy-f32", memory("float32"), [("copy(4096, wp.float32)", 256, [MEMORY // 4096]), ("copy(1024, wp.float32)", 256, [MEMORY // 1024])], moved=8 * MEMORY),
    Row("copy-f16", memory("float16"), [("copy(4096, wp.float16)", 256, [MEMORY // 4096])], moved=4 * MEMORY),
    Row("copy-2d", matrix(8192, 8192, "float32", lambda x: (x,)), [("copy_2d(64, 64, wp.float32)", 128, [128, 128])], moved=8 << 26),
    Row("add-threads", memory("float32", work=lambda a, b: (a + b,), reads=2), [("add_threads", 256, [MEMORY])], moved=12 * MEMORY, tiled=False),
    Row("add", memory("float32", work=lambda a, b: (a + b,), reads=2), [("add(1024)", 256, [MEMORY // 1024])], moved=12 * MEMORY),
    Row("vec3", vectors(MEMORY // 4), [("scale_vectors(1024)", 256, [MEMORY // 4096])], moved=6 * MEMORY),
    Row("row-sums", matrix(8192, 8192, "float32", lambda x: (x.sum(1),), (8192,)), [("row_sums(8192, wp.float32)", 256, [8192]), ("row_sums(8192, wp.float32)", 512, [8192])], moved=4 << 26),
    Row("axis-sums", matrix(1 << 20, 64, "float32", lambda x: (x.sum(1),), (1 << 20,)), [("axis_sums(64, 64)", 128, [1 << 14])], moved=4 << 26),
    Row("softmax", matrix(8192, 8192, "float16", lambda x: (x.softmax(1),)), [("softmax(8192)", 512, [8192]), ("softmax(8192)", 1024, [8192])], moved=4 << 26),
    Row("chain", memory("float32", work=chained), [("chain(1024)", 256, [MEMORY // 1024]), ("chain(4096)", 64, [MEMORY // 4096])], moved=8 * MEMORY),
    Row("scan", matrix(MEMORY // 4096, 4096, "float32", lambda x: (x.cumsum(1),)), [("scan_rows(4096, wp.float32)", 256, [MEMORY // 4096])], moved=8 * MEMORY),
    Row("scan-small", matrix(MEMORY // 1024, 1024, "float32", lambda x: (x.cumsum(1),)), [("scan_rows(1024, wp.float32)", 128, [MEMORY // 1024])], moved=8 * MEMORY),
    Row("sort-4096", pairs(4096, "int32", SORTED), [("sort(4096, wp.int32)", 256, [SORTED // 4096])], moved=16 * SORTED),
    Row("sort-1024", pairs(1024, "float32", SORTED), [("sort(1024, wp.float32)", 128, [SORTED // 1024])], moved=16 * SORTED),
    Row("sort-256", pairs(256, "float32", SORTED), [("sort(256, wp.float32)", 64, [SORTED // 256])], moved=16 * SORTED),
    products("float16", HALF_TILES, 4096),
    products("float16", HALF_TILES[2:], 4096, True),
    products("float32", FULL_TILES, 4096),
    products("float32", FULL_TILES[:1], 1024),
]


# ---- the two contenders --------------------------------------------------------------------------------


def exports():
    for row in ROWS:
        for i, (expression, block_dim, _) in enumerate(row.kernels):
            print(f"{row.entry(i)} = {expression}.compile(block_dim={block_dim})")


def tilec_launch(library, row, i, read, written):
    from dlpack import Tensor
    import torch

    _, block_dim, dims = row.kernels[i]
    descriptors = [Tensor(tensor) for tensor in read + written]
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    keys = [ctypes.c_int64(block_dim), ctypes.c_int64(1 if row.tiled else 0)]
    arguments = [stream, *map(ctypes.c_int32, dims), *map(ctypes.byref, descriptors), *keys]
    return library.launcher(arguments, (descriptors, read, written))


def warp_kernel(expression):
    import warp as wp

    wp.config.quiet = True
    sys.path.insert(0, os.path.join(HERE, "kernels"))
    import warp_tiles

    return eval(expression, {"wp": wp, **vars(warp_tiles)})


def warp_launch(row, i, kernel, read, written):
    import torch
    import warp as wp

    _, block_dim, dims = row.kernels[i]
    kinds = {torch.float16: wp.float16, torch.float32: wp.float32, torch.int32: wp.int32}
    arrays = []
    for tensor in read + written:
        is_vector = tensor.dim() == 2 and tensor.shape[1] == 3
        arrays.append(wp.from_torch(tensor, dtype=wp.vec3 if is_vector else kinds[tensor.dtype]))
    stream = wp.stream_from_torch(torch.cuda.current_stream())
    launch = wp.launch_tiled if row.tiled else wp.launch
    command = launch(kernel, dim=dims, inputs=arrays, block_dim=block_dim, record_cmd=True, stream=stream)

    def again():
        command.launch(stream=stream)

    again.keep = (kernel, arrays, command)
    return again


def compile_by_warp(pattern):
    import warp as wp

    device = wp.get_device("cuda:0")
    for row in ROWS:
        for i, (expression, block_dim, _) in enumerate(row.kernels):
            if re.search(pattern, row.entry(i)):
                warp_kernel(expression).module.load(device, block_dim)


def fill_cache(rows):
    """Seconds that Warp takes for each kernel, a process a kernel, as many at once as there are cores."""
    begin = time.time()
    running = {}
    for row in rows:
        for i in range(len(row.kernels)):
            command = [sys.executable, os.path.abspath(__file__), "--compile", f"^{row.entry(i)}$"]
            running[row.entry(i)] = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for name, process in running.items():
        story = process.communicate()[1]
        if process.returncode != 0:
            print(f"{name}: Warp: {story.strip().splitlines()[-1:]}", flush=True)
    return time.time() - begin


# ---- rows ----------------------------------------------------------------------------------------------


def mistake(torch, row, wanted, got):
    for want, have in zip(wanted, got):
        if want.is_floating_point():
            error = (want - have.double()).abs()
            coarse = 2e-3 if have.dtype == torch.float16 else 2e-5
            right = error <= coarse * want.abs() + coarse * want.square().mean().sqrt()
            if not bool(right.all()):
                return f"{int((~right).sum())} elements differ, by up to {error.max().item():.3g}"
        elif not bool((want == have).all()):
            return f"{int((want != have).sum())} elements differ"
    return None


def contenders_of(torch, row, sets, library, with_warp):
    """Launches of each contender, of those that compute what is wanted."""
    from compare import Library

    read, written, work = sets[0]
    wanted = work(*[x.double() if x.is_floating_point() else x for x in read])
    candidates = {}
    for i in range(len(row.kernels)):
        candidates["tilec " + row.label(i)] = lambda r, w, i=i: tilec_launch(Library(library, row.entry(i)), row, i, r, w)
    for i in range(len(row.kernels) if with_warp else 0):
        kernel = warp_kernel(row.kernels[i][0])
        candidates["Warp " + row.label(i)] = lambda r, w, i=i, kernel=kernel: warp_launch(row, i, kernel, r, w)
    contenders = {}
    for name, bind in candidates.items():
        try:
            for tensor in written:
                tensor.fill_(-1 if not tensor.is_floating_point() else math.nan)
            launches = [bind(r, w) for r, w, _ in sets]
            launches[0]()
            torch.cuda.synchronize()
            error = mistake(torch, row, wanted, written)
        except Exception:
            error = traceback.format_exc(limit=-3)
        if error is None:
            contenders[name] = launches
        else:
            print(f"{row.name}: {name}: WRONG: {error}", flush=True)
    contenders.update(bases(torch, row, sets))
    return contenders


def bases(torch, row, sets):
    if row.flops:
        transposed = "-nt" in row.name
        multiply = lambda r, w: lambda: torch.mm(r[0], r[1].T if transposed else r[1], out=w[0])
        return {"cuBLAS": [multiply(r, w) for r, w, _ in sets]}
    halves = [torch.empty(2, row.moved // 2, dtype=torch.int8, device="cuda") for _ in sets]
    return {"copy": [lambda half=half: half[1].copy_(half[0]) for half in halves]}


def measure(contenders, rounds, budget_us):
    from compare import sustained

    repeats = {name: max(3, min(200, int(budget_us / sustained(launches, 3)))) for name, launches in contenders.items()}
    samples = {name: [] for name in contenders}
    for _ in range(rounds):
        for name in random.sample(list(contenders), len(contenders)):
            samples[name].append(sustained(contenders[name], repeats[name]))
    return samples


def summarise(row, samples):
    from compare import interval

    rows = []
    base = samples["cuBLAS" if row.flops else "copy"]
    by_warp = [name for name in samples if name.startswith("Warp")]
    best = min(by_warp, key=lambda name: statistics.median(samples[name]), default=None)
    for name, values in samples.items():
        us = statistics.median(values)
        result = {"row": row.name, "contender": name, "us": us, "of_base": interval([b / v for b, v in zip(base, values)])}
        result["rate"] = row.flops / us * 1e-6 if row.flops else row.moved / us * 1e-3
        same = samples.get(name.replace("tilec", "Warp"))
        if name.startswith("tilec") and same:
            result["of_warp"] = interval([b / v for b, v in zip(same, values)])
        if name.startswith("tilec") and best:
            result["of_best_warp"] = interval([b / v for b, v in zip(samples[best], values)])
        rows.append(result)
    return rows


def show(result, unit):
    text = f"{result['row']:20} {result['contender']:40} {result['us']:10.1f} us {result['rate']:8.1f} {unit}"
    for key in ("of_base", "of_warp", "of_best_warp"):
        if key in result:
            text += "  {}: {:.3f} [{:.3f}, {:.3f}]".format(key, *result[key])
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--exports", action="store_true")
    parser.add_argument("--compile", default=None)
    parser.add_argument("--rows", default="", help="a regular expression: only the rows of such names")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--milliseconds", type=float, default=10, help="of each sample")
    parser.add_argument("--library", default="warp", help="of build/bench/compare: the kernels by tilec")
    parser.add_argument("--no-warp", action="store_true", help="tilec and the bases alone")
    options = parser.parse_args()
    if options.exports:
        return exports()
    if options.compile is not None:
        return compile_by_warp(options.compile)
    run(options)


def run(options):
    import torch

    rows = [row for row in ROWS if re.search(options.rows, row.name)]
    os.makedirs(options.out, exist_ok=True)
    results = {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "gpu": torch.cuda.get_device_name(),
        "driver": os.popen("nvidia-smi --query-gpu=driver_version --format=csv,noheader").read().strip(),
        "rounds": options.rounds,
        "rows": [],
    }
    if not options.no_warp:
        import warp as wp

        wp.init()
        results["warp"] = wp.__version__
        print(f"Warp {wp.__version__} compiled in {fill_cache(rows):.1f} s", flush=True)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    torch.cuda.set_stream(torch.cuda.Stream())
    for row in rows:
        from products import L2_BYTES

        sets = [row.operands(torch)]
        size = sum(tensor.nbytes for tensor in sets[0][0] + sets[0][1])
        sets += [row.operands(torch) for _ in range(max(1, math.ceil(L2_BYTES / size) - 1))]
        contenders = contenders_of(torch, row, sets, options.library, not options.no_warp)
        if row is rows[0] and not options.no_warp and not any(name.startswith("Warp") for name in contenders):
            sys.exit("Warp does not run")
        for result in summarise(row, measure(contenders, options.rounds, options.milliseconds * 1e3)):
            show(result, "TFLOP/s" if row.flops else "GB/s")
            results["rows"].append(result)
        with open(os.path.join(options.out, "warp.json"), "w") as file:
            json.dump(results, file, indent=1)
        del sets, contenders
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
