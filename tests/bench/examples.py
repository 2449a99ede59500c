#!/usr/bin/env python3
"""examples.py build|measure PLAN FOLDER [--only REGEX] ...: kernels of other systems' own example files, compiled by tilec and by the
system that they were written for, from the same text, in one process.

    examples.py build PLAN FOLDER --origin TREE --tilec TILEC    # where tilec is: FOLDER/NAME.so, NAME.h, NAME.py and rows.json
    examples.py measure PLAN FOLDER OUT                          # where the GPU is, with torch and the origin's package

PLAN is a Python file with a list `rows`, each a dict:

    name, file          of the row; of the example, in TREE
    system              whose it is: tilelang (where nothing is said), tilus or warp
    call                what makes the kernel, in the file's scope (example_systems.py)
    args                its arguments in order: tensors (name, shape, dtype, kind), and numbers (name, value), of a vector a
                        tuple; kind says how one is made ("out": a result; "zero": one that is added to; "sums": one whose elements may
                        lie in another order)
    results, out_idx    how many tensors at the end the origin's kernel makes itself, or which one
    tolerance           relative error (Frobenius) up to which results agree (1e-2)
    grad                if true, the kernel's gradient is measured: the gradients of its tensors of floats stand behind its arguments
    cudnn               what cuDNN has to know to compute the same, as a further contender (cudnn_attention.py)
    formula             what results are in float64 (example_formulas.py), where the origin's own compiler is not to be trusted
    alone               why the origin's kernel does not run: it faults, behind which nothing else runs in the process
    edit                (old, new) texts that the file's copy is changed by, where its main part would run when it is imported
    stand_in            modules that its main part alone needs

Random data, buffers in turn so that together they are larger than L2, contenders in shuffled rounds, medians, and every element of all
results compared. Calls that take less than SHORT are recorded in a graph first, where all contenders can be: a call by Python takes longer
than such a kernel, and not the same time with each system. A row runs in a process of its own; what fails is said and stops nothing. Several start at a time, as imports take
longer than measurements, and one alone uses the GPU."""
import argparse
import ctypes
import fcntl
import json
import os
import random
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from dlpack import milliseconds, recorded
from example_systems import c_values, function_of, stand_in, system_of, tensors_of, without_tuning


SHORT = 0.05  # ms


def read_plan(path):
    scope = {}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), scope)
    return scope["rows"]


def chosen(args):
    rows = [row for row in read_plan(args.plan) if re.search(args.only, row["name"])]
    first, every = map(int, args.share.split("/"))
    return rows[first::every]


def source_of(row, tree):
    with open(os.path.join(tree, row["file"])) as file:
        text = file.read()
    for old, new in row.get("edit", ()):
        text = text.replace(old, new)
    return without_tuning(text) if row.get("system") == "tilus" else text


# ---- where tilec is ----

def build_row(row, args):
    base = os.path.join(args.folder, row["name"])
    with open(base + ".py", "w") as file:
        file.write(source_of(row, args.origin))
    with open(base + "_tilec.py", "w") as file:
        file.write(source_of(row, args.origin) + system_of(row).imports)
    command = [args.tilec, base + "_tilec.py", "--arch=" + args.arch, "--export", f"k = {system_of(row).export(row)}", "-o", base + ".o", "-H", base + ".h",
               "-I", os.path.dirname(os.path.join(args.origin, row["file"]))] + args.flags
    begin = time.time()
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    seconds = time.time() - begin
    if done.returncode:
        return {"name": row["name"], "error": next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-300:])}
    libraries = os.path.dirname(os.path.abspath(args.tilec))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", base + ".so", base + ".o", "-Wl,--whole-archive", libraries + "/exported/libtile.a",
                    "-Wl,--no-whole-archive", "-ldl", "-lpthread", "-Wl,-Bsymbolic", "-s"], check=True)
    os.remove(base + ".o")
    spills = [line for line in done.stderr.splitlines() if "spills" in line and "note" in line]
    return {"name": row["name"], "seconds": round(seconds, 2), "spills": spills}


def built(row, args):
    try:
        said = build_row(row, args)
    except Exception as error:
        said = {"name": row["name"], "error": str(error)[:300]}
    print(json.dumps(said), flush=True)
    return said


def build(args):
    os.makedirs(args.folder, exist_ok=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        done = list(pool.map(lambda row: built(row, args), chosen(args)))
    with open(os.path.join(args.folder, "rows.json"), "w") as file:
        json.dump(done, file, indent=1)


# ---- where the GPU is ----

def tilec_caller(library, header, row, tensors):
    import torch
    function = getattr(library, function_of(row))
    values, kept = c_values(header, row, tensors)

    def call():
        status = function(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), *values)
        if status:
            library.tile_last_error.restype = ctypes.c_char_p
            raise RuntimeError(library.tile_last_error().decode())
    call.keep = kept
    return call


def in_c(row, tensors):
    """Results come last there."""
    if "out_idx" not in row:
        return tensors
    return [t for i, t in enumerate(tensors) if i != row["out_idx"]] + [tensors[row["out_idx"]]]


def make(shape, dtype, kind):
    import torch
    t = getattr(torch, dtype)
    if callable(kind):
        return kind(torch)
    if kind in ("zero", "out", "sums"):
        return torch.zeros(shape, device="cuda", dtype=t)
    if kind == "ones":
        return torch.ones(shape, device="cuda", dtype=t)
    if kind == "bytes":
        return torch.randint(-128, 127, shape, device="cuda", dtype=torch.int32).to(t)
    if kind == "lse":
        return torch.rand(shape, device="cuda").add(8).to(t)
    if kind == "small":
        return torch.rand(shape, device="cuda").mul(0.1).to(t)
    if kind == "bits":
        return torch.randint(0, 2, shape, device="cuda", dtype=torch.int32).to(t)
    return torch.randn(shape, device="cuda").mul(0.5).to(t)


def error_of(a, b):
    a, b = a.double(), b.double()
    finite = b.isfinite() & a.isfinite()
    if (a.isfinite() != b.isfinite()).any():
        return float("inf")
    a, b = a[finite], b[finite]
    return ((a - b).norm() / b.norm().clamp(min=1e-6)).item()


def error_between(row, left, right):
    """The largest of all results."""
    errors = [0.0]
    for a, b, (_, _, _, kind, *_) in zip(left, right, tensors_of(row)):
        if kind in ("zero", "out"):
            errors.append(error_of(a, b))
        if kind == "sums":
            errors.append(error_of(a.flatten().sort()[0], b.flatten().sort()[0]))
    return max(errors)


def not_finite(row, tensors):
    """How many elements of all results."""
    return sum((~t.double().isfinite()).sum().item() for t, (_, _, _, kind, *_) in zip(tensors, tensors_of(row)) if kind in ("zero", "out", "sums"))


def error_of_formula(row, inputs, results):
    import torch
    names = [name for name, *_ in tensors_of(row)]
    expected = row["formula"](torch, dict(zip(names, inputs)))
    return max(error_of(results[names.index(name)], value) for name, value in expected.items())


def in_turn(callers, call_of):
    return lambda i: call_of(callers[i % len(callers)])


def in_graphs(contenders, count):
    """None where one of them does what no graph can hold."""
    try:
        return {name: recorded(call, count) for name, call in contenders.items()}
    except Exception:
        return None


def load_module(row, args):
    import importlib.util
    base = os.path.join(args.folder, row["name"])
    sys.path.insert(0, args.folder)
    stand_in(row.get("stand_in", ()))
    name = "example_" + row["name"]
    spec = importlib.util.spec_from_file_location(name, base + ".py")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_all(row):
    return [make(shape, dtype, kind) for _, shape, dtype, kind, *_ in tensors_of(row)]


def compile_origin(row, args):
    """So that it is in the origin's cache when it is measured."""
    system_of(row).compile(load_module(row, args), row, make_all(row) if row.get("system") == "tilus" else [])


def wait_for_gpu(folder):
    """Until what is given is closed no other process gets it."""
    lock = os.open(os.path.join(folder, "gpu.lock"), os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def measure_row(row, args):
    import torch
    base, module = os.path.join(args.folder, row["name"]), None if args.no_origin else load_module(row, args)
    torch.zeros(1, device="cuda")  # the context, which takes a second to make
    lock = wait_for_gpu(args.out)
    torch.manual_seed(7)
    given, first = tensors_of(row), make_all(row)
    size = sum(t.numel() * t.element_size() for t in first)
    inputs = [t.clone() for t in first]
    sets = [first] + [[t.clone() for t in first] for _ in range(min(7, int(2e8 // max(size, 1))))]
    library = ctypes.CDLL(base + ".so")
    ours = [tilec_caller(library, base + ".h", row, in_c(row, tensors)) for tensors in sets]
    ours[0]()
    torch.cuda.synchronize()
    kept = [t.clone() for t in first]
    result = {"name": row["name"], "file": row["file"], "call": row["call"]}
    made = row.get("results", 0)
    fresh = [make(shape, dtype, kind) if kind in ("zero", "out", "sums") else t.clone() for (_, shape, dtype, kind, *_), t in zip(given, inputs)]
    try:
        if args.no_origin:
            raise RuntimeError("not asked for")
        if "alone" in row:
            raise RuntimeError(row["alone"])
        theirs, seconds = system_of(row).caller(module, row, fresh)
        for (_, shape, dtype, kind, *_), t, was in zip(given, fresh, inputs):
            t.zero_() if kind in ("zero", "out", "sums") else t.copy_(was)
        returned = theirs()
        torch.cuda.synchronize()
        if made:
            returned = list(returned) if isinstance(returned, (tuple, list)) else [returned]
            fresh[-made:] = returned[:made]
        elif "out_idx" in row:
            fresh[row["out_idx"]] = returned
        result["error"] = error_between(row, kept, fresh)
        result["right"] = result["error"] < row.get("tolerance", 1e-2)
        if result["error"] == float("inf"):
            result["not_finite"] = {"tilec": not_finite(row, kept), "origin": not_finite(row, fresh)}
        if "formula" in row:
            result["origin_error_of_formula"] = error_of_formula(row, inputs, fresh)
        result["origin_compile_s"] = round(seconds, 2)
        others = [system_of(row).caller(module, row, tensors)[0] for tensors in sets]
        contenders = {"tilec": in_turn(ours, lambda c: c()), "origin": in_turn(others, lambda c: c())}
    except Exception as error:
        result["origin_error"] = str(error)[-300:]
        contenders = {"tilec": in_turn(ours, lambda c: c())}
    if "formula" in row:
        result["error_of_formula"] = error_of_formula(row, inputs, kept)
        result["right"] = result["error_of_formula"] < row.get("tolerance", 1e-2)
    if "cudnn" in row:
        try:
            from cudnn_attention import caller as cudnn_caller
            library_calls = [cudnn_caller(row, tensors) for tensors in sets]
            library_calls[0]()
            torch.cuda.synchronize()
            result["error_of_cudnn"] = error_of(kept[[name for name, *_ in given].index("O")], library_calls[0].out)
            contenders["cudnn"] = in_turn(library_calls, lambda c: c())
        except Exception as error:
            result["cudnn_error"] = str(error)[-300:]
    for folder in args.other:
        if os.path.exists(os.path.join(folder, row["name"] + ".so")):
            other = ctypes.CDLL(os.path.join(folder, row["name"] + ".so"))
            before = [tilec_caller(other, os.path.join(folder, row["name"] + ".h"), row, in_c(row, tensors)) for tensors in sets]
            contenders[os.path.basename(folder.rstrip("/"))] = in_turn(before, lambda c: c())
    once = milliseconds(contenders["tilec"], 3)
    count, calls = max(3, min(200, int(args.ms / max(once, 1e-3)))), 1
    graphs = in_graphs(contenders, count) if once < SHORT else None
    if graphs:
        result["graph"] = True
        contenders, count, calls = graphs, 3, count
    times = {each: [] for each in contenders}
    for _ in range(args.rounds):
        for each in random.sample(list(contenders), len(contenders)):
            time.sleep(args.rest)
            times[each].append(milliseconds(contenders[each], count) / calls)
    median = lambda values: sorted(values)[len(values) // 2]
    result["tilec_ms"] = round(median(times["tilec"]), 5)
    for each in times:
        if each != "tilec":
            result[each + "_ms"] = round(median(times[each]), 5)
            result["of_" + each] = round(median([b / a for a, b in zip(times["tilec"], times[each])]), 3)
    result["GB/s"] = round(size / result["tilec_ms"] * 1e-6)
    os.close(lock)
    return result


def row_command(row, args, what):
    command = [sys.executable, __file__, what, args.plan, args.folder, args.out, "--only", f"^{re.escape(row['name'])}$", "--rounds", str(args.rounds), "--ms", str(args.ms), "--rest", str(args.rest)] + ["--no-origin"] * args.no_origin
    return command + ["--other", *args.other]


def compile_all(rows, args):
    def one(row):
        try:
            subprocess.run(row_command(row, args, "compile"), capture_output=True, timeout=args.limit)
        except subprocess.TimeoutExpired:
            pass
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(one, rows))


def measured(row, args, end):
    """What the row's process says; nothing where the time is up."""
    left = end - time.time()
    if left < 5:
        return None
    try:
        said = subprocess.run(row_command(row, args, "row"), capture_output=True, text=True, timeout=min(left, args.limit))
    except subprocess.TimeoutExpired:
        return {"name": row["name"], "failed": "out of time"}
    lines = [line for line in said.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"name": row["name"], "failed": (said.stderr or said.stdout)[-400:]}


def measure(args):
    os.makedirs(args.out, exist_ok=True)
    begin, done = time.time(), []
    rows = [row for row in chosen(args) if os.path.exists(os.path.join(args.folder, row["name"] + ".so"))]
    if not args.compiled and not args.no_origin:
        compile_all(rows, args)
    print(f"compiled in {time.time() - begin:.0f} s", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        for said in pool.map(lambda row: measured(row, args, begin + args.seconds), rows):
            if said is None:
                print("out of time")
                break
            done.append(said)
            print(json.dumps({k: v for k, v in said.items() if k not in ("file", "call")}), flush=True)
            with open(os.path.join(args.out, "examples.json"), "w") as file:
                json.dump(done, file, indent=1)
    ratios = sorted(row["of_origin"] for row in done if "of_origin" in row)
    if ratios:
        print(f"{len(ratios)} kernels: median {ratios[len(ratios) // 2]}, least {ratios[0]}, {sum(r < 0.95 for r in ratios)} below 0.95")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["build", "measure", "row", "compile"])
    parser.add_argument("plan")
    parser.add_argument("folder")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--origin")
    parser.add_argument("--tilec", default="build/tilec")
    parser.add_argument("--arch", default="sm_90a")
    parser.add_argument("--flags", nargs="*", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--share", default="0/1", help="I/N: every Nth row, from the Ith on")
    parser.add_argument("--compiled", action="store_true", help="the origin's cache has all that is measured")
    parser.add_argument("--no-origin", action="store_true", help="tilec beside cuDNN and other tilecs alone")
    parser.add_argument("--other", nargs="*", default=[], help="folders built by other tilecs, measured beside; their last names are in the results")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--ms", type=float, default=10, help="of each round of a contender")
    parser.add_argument("--rest", type=float, default=0.002, help="seconds before each sample: long ones, where power would bound the clock")
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("--jobs", type=int, default=6, help="processes of rows at a time; of those that measure one uses the GPU")
    parser.add_argument("--limit", type=float, default=90, help="seconds of a row")
    args = parser.parse_args()
    if args.what == "build":
        build(args)
    elif args.what == "measure":
        measure(args)
    elif args.what == "compile":
        for row in chosen(args):
            compile_origin(row, args)
    else:
        for row in chosen(args):
            print(json.dumps(measure_row(row, args)), flush=True)


main()
