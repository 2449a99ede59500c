#!/usr/bin/env python3
"""growth.py [--families REGEX] [--arch ARCH...] [--doublings N] [--repeat N] [--again N] [--instructions] [--most X] [--kinds KIND...]
          [--json FILE] [--keep FOLDER] TILEC

How the time and memory that compiling takes grow with the program. A family is programs of one shape, of n statements (iterations,
buffers, kernels, ...); each is compiled, by a process of its own and without ptxas, at its largest size and at N (3) halves of it, and the
exponents k of n^k are fitted by least squares, in logarithms, to processor time and to resident memory, what an empty program of the
family (n = 1) takes left out; "-" stands where that leaves too little to tell. Ends with status 1 if an exponent is above X (1.2), or a
program is refused. Families of which a statement is more than 7 operations of a thread end below 10,000 of them, where the compiler's own
limit (E0510) does.

Noise adds to processor time, so each program is compiled --repeat times and the least is taken; a family above X is measured anew, up to
--again times, and the least of all counts. Of whole families memory is touched before, as some that a virtual machine never had is dear. With --instructions, instructions are
counted in place of time: what the machine does besides, and what is in which cache, does not change them. By perf where the processor
counts for it, else by valgrind, which takes 50 times as long."""
import argparse
import json
import math
import mmap
import os
import re
import resource
import subprocess
import sys
import tempfile

TILELANG = """import tilelang
import tilelang.language as T


"""
JIT = TILELANG + """@tilelang.jit
def f(A: T.Tensor[[T.dyn["n"]], T.int32]):
    (n,) = A.shape
    with T.Kernel(1, threads=32):
"""


def lines(indent, count, line):
    """A block of `count` lines; in each, {i} is its number, and {a}, {b} are numbers below 251 that seem random."""
    return "".join(" " * indent + line.format(i=i, a=(i * 97 + 13) % 251, b=(i * 57 + 101) % 251) + "\n" for i in range(count))


def jit(*blocks):
    return JIT + "".join(blocks)


def in_line(text, indent=8):
    return "".join(" " * indent + line + "\n" for line in text.splitlines())


VARIABLE = in_line("x = T.alloc_var(T.int32, 0)")
RESULT = in_line("A[0] = x")
WIDE = 8  # elements a thread


def fragment(each):
    return in_line(f"x = T.alloc_fragment(({32 * each},), T.int32)\nT.copy(A[0:{32 * each}], x)")


def fragment_result(each):
    return in_line(f"T.copy(x, A[0:{32 * each}])")


SHARED = in_line("s = T.alloc_shared((256,), T.int32)\nT.copy(A[0:256], s)")
SHARED_RESULT = in_line("T.copy(s, A[0:256])")


def ifs(n):
    return jit(VARIABLE, lines(8, n, "if n > {i}: x = x * {a} + 1"), RESULT)


def ifs_of_stores(n):
    return jit(lines(8, n, "if n > {i}: A[{i}] = A[{a}] + {b}"))


def within_if(n):
    return jit(VARIABLE, in_line("if n > 7:"), lines(12, n, "x = x * {a} + n"), RESULT)


def stores_within_if(n):
    return jit(in_line("if n > 7:"), lines(12, n, "A[{i}] = A[{a}] + {b}"))


def else_chain(n):
    return jit(VARIABLE, in_line("if n == 0: x = 1"), lines(8, n, "elif n == {i} + 1: x = {a} * n"), RESULT)


def shared_stores(n):
    return jit(SHARED, lines(8, n, "s[{a}] = s[{b}] + {i}"), SHARED_RESULT)


def shared_parts(n, each=1):
    begin = in_line(f"s = T.alloc_shared(({64 * each},), T.int32)\nT.copy(A[0:{64 * each}], s)")
    return jit(fragment(each), begin, lines(8, n, f"for i in T.Parallel({32 * each}): s[i] = s[i + {32 * each}] + x[i]"),
               in_line(f"T.copy(s, A[0:{64 * each}])"))


def shared_copies(n, each=1):
    begin = in_line(f"s = T.alloc_shared(({32 * each},), T.int32)\nT.copy(A[0:{32 * each}], s)")
    return jit(fragment(each), begin, "".join(in_line("T.copy(x, s)\nT.copy(s, x)") for _ in range(n // 2)), fragment_result(each))


def parallel_body(n, each=1):
    return jit(fragment(each), in_line(f"for i in T.Parallel({32 * each}):"), lines(12, n, "x[i] = x[i] * {a} + {b}"), fragment_result(each))


def parallel_memory(n, each=1):
    return jit(in_line(f"for i in T.Parallel({32 * each}):"), lines(12, n, "A[i + {i} * 256] = A[i + {a}] * {b}"))


def parallel_loops(n, each=1):
    return jit(lines(8, n, f"for i in T.Parallel({32 * each}): A[i + {{i}} * 256] = A[i + {{a}}] * {{b}}"))


def parallel_ifs(n, each=1):
    return jit(fragment(each), in_line(f"for i in T.Parallel({32 * each}):"), lines(12, n, "if x[i] > {a}: x[i] = x[i] * {a} + {b}"),
               fragment_result(each))


def unrolled(n):
    return jit(VARIABLE, in_line(f"for k in T.unroll({n}): x = x * 3 + A[k]"), RESULT)


def unrolled_parallel(n):
    return jit(fragment(WIDE), in_line(f"for k in T.unroll({n}):\n    for i in T.Parallel(256): x[i] = x[i] * 3 + A[i + k]"), fragment_result(WIDE))


def unrolled_within_parallel(n):
    return jit(fragment(WIDE), in_line(f"for i in T.Parallel(256):\n    for k in T.unroll({n}): x[i] = x[i] * 3 + A[i + k]"), fragment_result(WIDE))


def unrolled_stores(n):
    return jit(in_line(f"for k in T.unroll({n}): A[k] = A[k + {n}] + 1"))


def buffers(n):
    return jit(lines(8, n, "s{i} = T.alloc_shared((32,), T.int32)"), lines(8, n, "T.copy(A[{i} * 32:{i} * 32 + 32], s{i})"),
               lines(8, n, "for i in T.Parallel(32): A[{i} * 32 + i] = s{i}[31 - i] + 1"))


def buffers_at_once(n):
    return jit(lines(8, n, "s{i} = T.alloc_shared((32,), T.int32)"), in_line("for i in T.Parallel(32):"),
               lines(12, n, "s{i}[i] = A[{i} * 32 + i]"), in_line("for i in T.Parallel(32):"), lines(12, n, "A[{i} * 32 + i] = s{i}[31 - i]"))


def wide_macro(n):
    body = TILELANG + "@T.macro\ndef m(x, n):\n" + lines(4, n // 4, "x = x * {a} + n") + "    return x\n\n\n"
    return body + JIT[len(TILELANG):] + VARIABLE + in_line("x = m(x, n)") * 4 + RESULT


def macro_calls(n):
    body = TILELANG + "@T.macro\ndef m(A, k, n):\n    if n > k: A[k] = A[k + 1] + 1\n\n\n"
    return body + JIT[len(TILELANG):] + lines(8, n, "m(A, {i}, n)")


def loops(n):
    return jit(VARIABLE, lines(8, n, "for k in range(n): x = x * {a} + k"), RESULT)


def loops_of_tiles(n, each=1):
    return jit(fragment(each), lines(8, n, f"for k in range(n): T.copy(A[k:k + {32 * each}], x)"), fragment_result(each))


def loops_of_stores(n):
    return jit(lines(8, n, "for k in range(n): A[k + {a}] = A[k] + {i}"))


def scalars(n):
    return jit(VARIABLE, lines(8, n, "x = x * {a} + n"), RESULT)


def names(n):
    return jit(in_line("x0 = n"), "".join(f"        x{i + 1} = x{i} * {i % 13 + 3} + n\n" for i in range(n)), in_line(f"A[0] = x{n}"))


def constants(n):
    return jit(in_line("x = 1"), lines(8, n, "x = x * {a} % 65521 + {b}"), RESULT)


def scalar_stores(n):
    return jit(lines(8, n, "A[{i}] = A[{a}] + {b}"))


def expression(n):
    return jit(in_line("A[0] = n" + "".join(f" * {i % 13 + 3} + n" for i in range(min(n, 400)))))


def tiles(n, each=1):
    return jit(fragment(each), lines(8, n, "x = x * {a} + 1"), fragment_result(each))


SCRIPT = """import tilus
from tilus import float16, float32, int32


class F(tilus.Script):
    def __call__(self, n: int32, p: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        g = self.global_view(p, dtype=float32, shape=[n])
        x = self.load_global(g, offsets=[0], shape=[128])
"""
SCRIPT_RESULT = "        self.store_global(g, x, offsets=[0])\n"


def script(*blocks):
    return SCRIPT + "".join(blocks) + SCRIPT_RESULT + "\n\nf = F()\n"


def script_tiles(n):
    return script(lines(8, n, "x = x * {a}.0 + 1.0"))


def script_ifs(n):
    return script(lines(8, n, "if n > {i}: x = x * {a}.0 + 1.0"))


def script_stores(n):
    return script(lines(8, n, "self.store_global(g, x + {a}.0, offsets=[{i} * 128])"))


def script_loops(n):
    return script(lines(8, n, "for k in range(n): x = x * {a}.0 + 1.0"))


def script_shared(n):
    begin = in_line("s = self.shared_tensor(dtype=float32, shape=[128])")
    return script(begin, "".join(in_line("self.store_shared(s, x)\nself.sync()\nx = self.load_shared(s) * 2.0\nself.sync()") for _ in range(n // 4)))


def script_tma(n):
    begin = in_line("full = self.mbarrier.alloc([1])\ns = self.shared_tensor(dtype=float32, shape=[128])")
    copy = in_line("with self.single_thread(0):\n    self.mbarrier.arrive_and_expect_tx(full[0], transaction_bytes=s.nbytes)\n"
                   "    self.tma.global_to_shared(src=g, dst=s, offsets=[{0} * 128], mbarrier=full[0])\n"
                   "self.mbarrier.wait(full[0], phase={0} % 2)\nx = x + self.load_shared(s)\nself.sync()")
    return script(begin, "".join(copy.format(i) for i in range(n // 8)))


def thread_groups(n):
    group = in_line("with self.thread_group({0}, 32):\n    self.store_global(g, self.load_global(g, offsets=[{1}], shape=[32]), offsets=[n])")
    return script("".join(group.format(i % 4 * 32, i) for i in range(n)))


def specialisations(n):
    return TILELANG + """@tilelang.jit
def f(A: T.Tensor[[T.dyn["n"]], T.int32], key: int):
    (n,) = A.shape
    with T.Kernel(1, threads=32):
        A[key] = A[key + 1]


""" + "".join(f"f.compile(key={i})\n" for i in range(n))


def kernels(n):
    return TILELANG + "".join(f"""@tilelang.jit
def f{i}(A: T.Tensor[[T.dyn["n"]], T.int32]):
    (n,) = A.shape
    with T.Kernel(1, threads=32):
        A[{i}] = A[{i} + 1]


""" for i in range(n))


def functions(n):
    return TILELANG + "".join(f"def g{i}(x):\n    return x + {i}\n\n\n" for i in range(n)) + JIT[len(TILELANG):] + VARIABLE + "".join(
        f"        x = g{i}(x * n)\n" for i in range(n)) + RESULT


def warp(*blocks):
    return "import warp as wp\n\n\n@wp.kernel\ndef f(a: wp.array(dtype=wp.float32), n: wp.int32):\n    t = wp.tid()\n    x = a[t]\n" + "".join(
        blocks) + "    a[t] = x\n\n\nf.compile(block_dim=64)\n"


def warp_scalars(n):
    return warp(lines(4, n, "x = x * {a}.0 + 1.0"))


def warp_ifs(n):
    return warp(lines(4, n, "if x > {a}.0: x = x * {a}.0 + 1.0"))


def warp_stores(n):
    return warp(lines(4, n, "a[t + {a}] = a[t + {b}] + x"))


def warp_loops(n):
    return warp(lines(4, n, "for k in range(n): x = x * {a}.0 + 1.0"))


def wide(make):
    """The same with several elements a thread: more of them to a statement, and fewer statements."""
    def program(n):
        return make(n, WIDE)

    program.__name__ = "wide_" + make.__name__
    return program


# name, program, largest n
FAMILIES = [(make.__name__, make, most) for make, most in [
    (ifs, 10000), (ifs_of_stores, 10000), (within_if, 10000), (stores_within_if, 10000), (else_chain, 400), (script_ifs, 8000), (warp_ifs, 10000),
    (shared_stores, 10000), (shared_parts, 6000), (shared_copies, 10000), (script_shared, 10000), (parallel_body, 10000), (parallel_memory, 6000),
    (parallel_loops, 6000), (parallel_ifs, 10000), (unrolled, 4096), (unrolled_parallel, 4096), (unrolled_within_parallel, 4096),
    (unrolled_stores, 4096), (buffers, 200), (buffers_at_once, 200), (wide_macro, 10000), (macro_calls, 10000), (functions, 10000), (loops, 10000),
    (loops_of_tiles, 6000), (loops_of_stores, 10000), (script_loops, 9000), (warp_loops, 10000), (scalars, 10000), (names, 10000),
    (constants, 10000), (scalar_stores, 10000), (expression, 400), (tiles, 10000), (script_tiles, 10000), (script_stores, 10000),
    (warp_scalars, 10000), (warp_stores, 10000), (thread_groups, 400), (specialisations, 2000), (kernels, 2000), (wide(shared_parts), 800),
    (wide(shared_copies), 800), (wide(parallel_body), 4500), (wide(parallel_memory), 800), (wide(parallel_loops), 800), (wide(parallel_ifs), 1000),
    (wide(loops_of_tiles), 800), (wide(tiles), 4500), (script_tma, 8000)]]


class Refused(Exception):
    pass


PERF = ["perf", "stat", "-x;", "-e", "instructions:u"]
VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
COUNTED = re.compile(r"^(?:==\d+== I\s+refs:\s*([\d,]+)|(\d+);.*instructions)", re.M)


def counter():
    """What counts the instructions of a command and says them where errors go."""
    try:
        perf = subprocess.run([*PERF, "true"], stderr=subprocess.PIPE, text=True, check=False).stderr
    except FileNotFoundError:
        perf = ""
    return PERF if COUNTED.search(perf) else VALGRIND


def compile_once(options, text, arch, folder):
    """Seconds of processor time, or instructions, and bytes of resident memory."""
    source = os.path.join(folder, "growth.py")
    with open(source, "w") as file:
        file.write(text)
    command = [*options.counter, options.tilec, source, "-o", os.path.join(folder, "growth.o"), f"--arch={arch}", "-j1", "--ptxas=none", "--no-cache"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds)))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        log.seek(0)
        if status:
            raise Refused((log.read().strip().splitlines() or [f"killed after {usage.ru_utime:.0f} s of processor time"])[0])
        counts = COUNTED.findall(log.read()) if options.counter else []
    work = sum(int((a or b).replace(",", "")) for a, b in counts) if options.counter else usage.ru_utime + usage.ru_stime
    return work, usage.ru_maxrss * 1024


def compile_often(options, text, arch, folder):
    works, memories = zip(*(compile_once(options, text, arch, folder) for _ in range(options.repeat)))
    return min(works), min(memories)


# Seconds, instructions and bytes at the largest size: of less, noise is too large a part.
LEAST = {"time": 0.05, "instructions": 1e8, "memory": 8e6}


def exponent(kind, sizes, costs):
    """None: there is too little to tell."""
    if costs[-1] < LEAST[kind]:
        return None
    x, y = [math.log(size) for size in sizes], [math.log(max(cost, LEAST[kind] / 10)) for cost in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)


def shown(exponent):
    return "-" if exponent is None else f"{exponent:.2f}"


def is_above(options, row):
    return any(row.get(kind) is not None and row[kind] > options.most for kind in options.kinds)


def measure(options, make, most, arch, folder):
    sizes = [1] + [max(most >> i, 2) for i in reversed(range(options.doublings + 1))]
    works, memories = [math.inf] * len(sizes), [math.inf] * len(sizes)
    for _ in range(1 + options.again):
        for i, size in enumerate(sizes):
            work, memory = compile_often(options, make(size), arch, folder)
            works[i], memories[i] = min(works[i], work), min(memories[i], memory)
        row = row_of(options, sizes, works, memories)
        if not is_above(options, row):
            break
    return row


def row_of(options, sizes, works, memories):
    """What the first size, an empty program, takes is left out of the exponents."""
    def growth(kind, costs):
        return exponent(kind, sizes[1:], [cost - costs[0] for cost in costs[1:]])

    row = {"n": sizes[-1], options.unit: works[-1], options.kind: growth(options.kind, works)}
    if not options.counter:  # else it is the counter's own, too
        row.update({"bytes": memories[-1], "memory": growth("memory", memories)})
    return row


def line_of(options, row):
    if options.counter:
        return f"{row[options.unit] / 1e6:9.0f} {shown(row[options.kind]):>6}"
    return f"{row['seconds']:8.2f} {row['bytes'] / 1e6:6.0f} {shown(row['time']):>6} {shown(row['memory']):>7}"


def touch_memory(most=2 << 30):
    """What a virtual machine touches for the first time ever takes its host ten times as long: that is no program's."""
    size = min(most, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    with mmap.mmap(-1, size) as memory:
        if hasattr(mmap, "MADV_HUGEPAGE"):
            memory.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, size, mmap.PAGESIZE):
            memory[at] = 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("--families", default="")
    parser.add_argument("--arch", nargs="+", default=["sm_90a", "emulator"])
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--divide", type=int, default=1, help="the sizes by so much")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--most", type=float, default=1.2)
    parser.add_argument("--kinds", nargs="+", choices=LEAST, default=list(LEAST), help="the exponents that --most is for")
    parser.add_argument("--seconds", type=int, default=600, help="of processor time that one compilation may take")
    parser.add_argument("--json")
    parser.add_argument("--keep")
    options = parser.parse_args()
    if not options.instructions and options.divide == 1:
        touch_memory()
    options.counter = counter() if options.instructions else []
    options.unit, options.kind = ("count", "instructions") if options.counter else ("seconds", "time")
    rows, failed = [], 0
    columns = f"{'millions':>9} {'growth':>6}" if options.counter else f"{'seconds':>8} {'MB':>6} {'time':>6} {'memory':>7}"
    print(f"{'family':26} {'arch':9} {'n':>6} {columns}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        for name, make, most in FAMILIES:
            for arch in options.arch:
                if not re.search(options.families, name):
                    continue
                try:
                    row = measure(options, make, most // options.divide, arch, folder)
                except Refused as error:
                    print(f"{name:26} {arch:9} {most // options.divide:6} {error}", flush=True)
                    failed += 1
                    continue
                over = is_above(options, row)
                failed += over
                rows.append({"family": name, "arch": arch, **row})
                print(f"{name:26} {arch:9} {row['n']:6} {line_of(options, row)}" + (" <-- above" if over else ""), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
