#!/usr/bin/env python3
"""batched.py [REGEX]: Fourier transforms and Cholesky factors of tile.fourier_kernels and tile.cholesky_kernels, many at a time, beside those
of cuFFT, cuSOLVER and cuBLAS, those of Warp's tiles (tile_fft, tile_cholesky, tile_cholesky_solve, by MathDx), and a copy.

Needs a GPU, torch and its CUDA libraries, and build/bench/libbatched.so of batched.sh (LIBRARY says otherwise); warp-lang, if there is one.
Warp's kernels are built with several numbers of threads a block, and the best counts. Every element is compared with float64; what is wrong
is reported and not timed. Rounds are in shuffled order, ratios formed within a round; operands are more than L2 holds, but for the smallest
matrices. What works in place has a fresh copy each launch, which is not timed. A ratio above 1 says that tilec is faster.
batched.py --compile NAME has Warp compile one kernel into its cache.
"""
import ctypes
import os
import random
import re
import statistics
import subprocess
import sys
import time

NUMBERS = 1 << 25  # complex ones of a batch of transforms
MATRICES = 100000
ROUNDS, LAUNCHES = 15, 4
QUEUED = 2000000  # clock cycles for which the GPU waits while launches queue up
LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096]
SIZES = [8, 16, 24, 32, 48, 64]
LIBRARY = os.environ.get("LIBRARY", "build/bench/libbatched.so")


# ---- Warp's kernels ------------------------------------------------------------------------------------


def fft_kernel(n, rows):
    import warp as wp

    @wp.kernel(module="unique", enable_backward=False)
    def transform(source: wp.array2d(dtype=wp.vec2f), target: wp.array2d(dtype=wp.vec2f)):
        i = wp.tid()
        x = wp.tile_load(source, shape=(rows, n), offset=(i * rows, 0))
        wp.tile_fft(x)
        wp.tile_store(target, x, offset=(i * rows, 0))

    return transform


def factor_kernel(n, kind):
    import warp as wp

    @wp.kernel(module="unique", enable_backward=False)
    def factor(source: wp.array3d(dtype=kind), target: wp.array3d(dtype=kind)):
        i = wp.tid()
        a = wp.tile_load(source[i], shape=(n, n), storage="shared")
        wp.tile_cholesky_inplace(a)
        wp.tile_store(target[i], a)

    return factor


def solve_kernel(n, kind):
    import warp as wp

    @wp.kernel(module="unique", enable_backward=False)
    def solve(source: wp.array3d(dtype=kind), right: wp.array2d(dtype=kind), target: wp.array2d(dtype=kind)):
        i = wp.tid()
        a = wp.tile_load(source[i], shape=(n, n), storage="shared")
        y = wp.tile_load(right[i], shape=n, storage="shared")
        wp.tile_cholesky_inplace(a)
        wp.tile_cholesky_solve_inplace(a, y)
        wp.tile_store(target[i], y)

    return solve


class Case:
    def __init__(self, what, n, double=False):
        self.what, self.n, self.double = what, n, double
        self.name = f"{what}-f{64 if double else 32}-{n}"
        self.entry = f"fft{n}" if what == "fft" else f"{'solve' if what == 'solve' else 'cholesky'}_{'d' if double else 's'}{n}"

    # Threads of a block: 4, 8 or 16 numbers a thread, one row or as many as 1024 numbers; of a matrix one warp, as more
    # took 1.8 times as long at least (results/2026-11-28-H200-factors.md).
    def variants(self):
        if self.what == "fft":
            return [(t, rows) for t in sorted({self.n // 4, self.n // 8, self.n // 16}) if 32 <= t <= 1024 or t == self.n // 4
                    for rows in sorted({1, max(1, 1024 // self.n)})]
        return [(32, 1)]

    def kernel(self, rows):
        import warp as wp

        kind = wp.float64 if self.double else wp.float32
        if self.what == "fft":
            return fft_kernel(self.n, rows)
        return (factor_kernel if self.what == "cholesky" else solve_kernel)(self.n, kind)


CASES = [Case("fft", n) for n in LENGTHS] + [Case(what, n, double) for what in ("cholesky", "solve") for n in SIZES for double in (False, True)]


def fill_cache(cases):
    begin, waiting, running = time.time(), [(c, v) for c in cases for v in c.variants()], []
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            case, variant = waiting.pop()
            command = [sys.executable, os.path.abspath(__file__), "--compile", case.name, *map(str, variant)]
            running.append((case.name, variant, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)))
        name, variant, process = running.pop(0)
        story = process.communicate()[1]
        if process.returncode:
            print(f"{name} {variant}: Warp: {story.strip().splitlines()[-1:]}", flush=True)
    print(f"Warp compiled in {time.time() - begin:.0f} s", flush=True)


def compile_one(name, threads, rows):
    import warp as wp

    wp.config.quiet = True
    case = [c for c in CASES if c.name == name][0]
    case.kernel(int(rows)).module.load(wp.get_device("cuda:0"), int(threads))


# ---- the contenders: each is launches that follow each other, with copies of what works in place before them -------------


def stream_of(torch):
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def checked(name, function):
    def call(*arguments):
        status = function(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    return call


class Contender:
    def __init__(self, launch, before=lambda: None):
        self.launch, self.before = launch, before  # launch(number of the launch)


def by_tilec(torch, library, case, count, tensors):
    entry = checked(case.name, getattr(library, case.entry))
    arguments = [stream_of(torch), ctypes.c_int32(count), *map(pointer, tensors)]
    return Contender(lambda i: entry(*arguments))


def by_warp(torch, case, count, tensors, threads, rows):
    import warp as wp

    kind = wp.vec2f if case.what == "fft" else wp.float64 if case.double else wp.float32
    arrays = [wp.from_torch(torch.view_as_real(t) if t.is_complex() else t, dtype=kind) for t in tensors]
    stream = wp.stream_from_torch(torch.cuda.current_stream())
    command = wp.launch_tiled(case.kernel(rows), dim=[count // rows], inputs=arrays, block_dim=threads, record_cmd=True, stream=stream)
    made = Contender(lambda i: command.launch(stream=stream))
    made.keep = arrays
    return made


# Of CUDA 12 and 13. torch has opened its own by then.
def cuda_library(name):
    for version in range(20, 9, -1):
        try:
            return ctypes.CDLL(f"lib{name}.so.{version}")
        except OSError:
            continue
    raise RuntimeError(f"no {name}")


CUFFT_C2C, CUFFT_FORWARD = 0x29, -1
LOWER, UPPER, LEFT, TRANSPOSED, PLAIN, NON_UNIT = 0, 1, 0, 1, 0, 0


def by_cufft(torch, case, count, source, target):
    cufft, plan = cuda_library("cufft"), ctypes.c_int()
    checked("cufftPlan1d", cufft.cufftPlan1d)(ctypes.byref(plan), case.n, CUFFT_C2C, count)
    checked("cufftSetStream", cufft.cufftSetStream)(plan, stream_of(torch))
    execute = checked("cufftExecC2C", cufft.cufftExecC2C)
    made = Contender(lambda i: execute(plan, pointer(source), pointer(target), CUFFT_FORWARD))
    made.keep = source, target
    return made


def handle_of(torch, library, name):
    handle = ctypes.c_void_p()
    checked(name, getattr(library, f"{name}Create{'_v2' if name == 'cublas' else ''}"))(ctypes.byref(handle))
    checked(name, getattr(library, f"{name}SetStream{'_v2' if name == 'cublas' else ''}"))(handle, stream_of(torch))
    return handle


# The matrices of each launch, which are a copy of the source, and their addresses.
def copies_of(torch, source):
    made = [source.clone() for _ in range(LAUNCHES)]
    each = source[0].numel() * source.element_size()
    return made, [torch.arange(len(source), device="cuda") * each + copy.data_ptr() for copy in made]


# Factors, and systems if there is a right side; `result` copies what the first launch made to the target. The upper triangle by columns is the
# lower one by rows.
def in_place(torch, case, count, read, target, solved):
    solver, letter = cuda_library("cusolver"), "D" if case.double else "S"
    handle = handle_of(torch, solver, "cusolverDn")
    statuses = torch.empty(count, device="cuda", dtype=torch.int32)
    copies = [copies_of(torch, part) for part in read]
    factor = checked("potrfBatched", getattr(solver, f"cusolverDn{letter}potrfBatched"))
    solve = solved(torch, case, solver, handle, letter, statuses) if solved else None

    def launch(i):
        addresses = [pointer(places[i]) for made, places in copies]
        factor(handle, UPPER, case.n, addresses[0], case.n, pointer(statuses), count)
        if solve:
            solve(*addresses, count)

    def before():
        for part, (made, places) in zip(read, copies):
            for copy in made:
                copy.copy_(part)

    made = Contender(launch, before)
    made.result = lambda: target.copy_(copies[-1][0][0])
    return made


def by_potrs(torch, case, solver, handle, letter, statuses):
    solve = checked("potrsBatched", getattr(solver, f"cusolverDn{letter}potrsBatched"))
    return lambda a, b, count: solve(handle, UPPER, case.n, 1, a, case.n, b, case.n, pointer(statuses), count)


def by_trsm(torch, case, solver, handle, letter, statuses):
    cublas = cuda_library("cublas")
    own = handle_of(torch, cublas, "cublas")
    one = (ctypes.c_double if case.double else ctypes.c_float)(1)
    solve = checked("trsmBatched", getattr(cublas, f"cublas{letter}trsmBatched"))

    def both(a, b, count):
        for way in (TRANSPOSED, PLAIN):
            solve(own, LEFT, UPPER, way, NON_UNIT, case.n, 1, ctypes.byref(one), a, case.n, b, case.n, count)

    return both


def by_copy(case, source, target):
    return Contender(lambda i: target.copy_(source))


# What is read, what each contender writes, the statuses, and the results in float64.
def operands(torch, case):
    n = case.n
    if case.what == "fft":
        x = torch.view_as_complex(torch.randn(NUMBERS // n, n, 2, device="cuda"))
        return [x], torch.empty_like(x), [], torch.fft.fft(x.to(torch.complex128)), NUMBERS // n
    kind = torch.float64 if case.double else torch.float32
    a = torch.rand(MATRICES, n, n, device="cuda", dtype=kind) * 2 - 1
    a = a.tril() + a.tril(-1).transpose(1, 2) + n * torch.eye(n, device="cuda", dtype=kind)
    statuses = torch.empty(MATRICES, device="cuda", dtype=torch.int32)
    lower = torch.linalg.cholesky(a.double())
    if case.what == "cholesky":
        return [a], torch.empty_like(a), [statuses], lower, MATRICES
    y = torch.rand(MATRICES, n, device="cuda", dtype=kind) * 2 - 1
    return [a, y], torch.empty_like(y), [statuses], torch.cholesky_solve(y.double()[:, :, None], lower)[:, :, 0], MATRICES


def mistake(torch, case, wanted, got):
    if case.what == "cholesky":
        got = got.tril()
    error = (wanted - got).abs().flatten(1).square().sum(1).sqrt() / wanted.abs().flatten(1).square().sum(1).sqrt()
    worst, most = error.max().item(), 1e-14 * case.n if case.double else 1e-6 if case.what == "fft" else 2e-7 * case.n
    return None if worst <= most else f"an error of {worst:.3g}"


# What CUDA's libraries have for a case; of systems either cuSOLVER does both steps, or cuBLAS the second.
def by_libraries(torch, case, count, read, written):
    if case.what == "fft":
        return {"cuFFT": lambda: by_cufft(torch, case, count, read[0], written)}
    if case.what == "cholesky":
        return {"cuSOLVER": lambda: in_place(torch, case, count, read, written, None)}
    return {"cuSOLVER": lambda: in_place(torch, case, count, read, written, by_potrs), "cuBLAS": lambda: in_place(torch, case, count, read, written, by_trsm)}


def contenders_of(torch, library, case, with_warp):
    read, written, statuses, wanted, count = operands(torch, case)
    makers = {"tilec": lambda: by_tilec(torch, library, case, count, read + [written] + statuses), **by_libraries(torch, case, count, read, written)}
    for threads, rows in case.variants() if with_warp else []:
        makers[f"Warp {threads}x{rows}"] = lambda threads=threads, rows=rows: by_warp(torch, case, count, read + [written], threads, rows)
    right = {}
    for name, make in makers.items():
        torch.view_as_real(written).fill_(-1) if written.is_complex() else written.fill_(-1)
        try:
            made = make()
            made.before()
            made.launch(0)
            getattr(made, "result", lambda: None)()
            torch.cuda.synchronize()
            fault = mistake(torch, case, wanted, written)
        except Exception as error:
            fault = str(error).splitlines()[-1:]
        if fault:
            print(f"{case.name}: {name} is WRONG: {fault}", flush=True)
        else:
            right[name] = made
    right["copy"] = by_copy(case, read[0], torch.empty_like(read[0]))
    return right


def microseconds(torch, contender):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(QUEUED)
    contender.before()
    begin.record()
    for i in range(LAUNCHES):
        contender.launch(i)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) * 1e3 / LAUNCHES


def measure(torch, contenders):
    samples = {name: [] for name in contenders}
    for name in contenders:
        microseconds(torch, contenders[name])
    for _ in range(ROUNDS):
        for name in random.sample(list(contenders), len(contenders)):
            samples[name].append(microseconds(torch, contenders[name]))
    return samples


def show(case, samples):
    by_warp = [name for name in samples if name.startswith("Warp")]
    best = min(by_warp, key=lambda name: statistics.median(samples[name]), default=None)
    text = f"{case.name:16}"
    for name in [name for name in samples if name not in ["tilec", *by_warp]] + ([best] if best else []) if "tilec" in samples else []:
        text += f"  {name}/tilec {statistics.median(other / own for other, own in zip(samples[name], samples['tilec'])):.3f}"
    print(text + "".join(f"  {name} {statistics.median(values):.1f} us" for name, values in samples.items()), flush=True)


def main():
    if sys.argv[1:2] == ["--compile"]:
        return compile_one(*sys.argv[2:])
    import torch

    cases = [case for case in CASES if re.search(sys.argv[1] if len(sys.argv) > 1 else "", case.name)]
    try:
        import warp as wp

        wp.config.quiet = True
        fill_cache(cases)
        wp.init()
        version = wp.__version__
    except ImportError:
        version = None
    torch.manual_seed(1)
    torch.cuda.set_stream(torch.cuda.Stream())
    library = ctypes.CDLL(os.path.abspath(LIBRARY))
    print(f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, Warp {version}, {ROUNDS} rounds", flush=True)
    for case in cases:
        contenders = contenders_of(torch, library, case, version is not None)
        show(case, measure(torch, contenders))
        del contenders
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
