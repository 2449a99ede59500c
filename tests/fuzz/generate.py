#!/usr/bin/env python3
"""generate.py [--seed N] [--count N] [--keep FOLDER] TILEC: random kernels, run on the checked emulator
with aligned and with unaligned pointers, each element compared with what Python says it is.

A kernel that fails is written to FOLDER as fail_SEED.tile, with the statements that run it in
fail_SEED.txt; --reduce leaves out statements as long as it still fails the same way. --show SEED
prints a kernel. The same seed makes the same kernel on every machine."""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import element_types as types  # noqa: E402
from kernels import Kernel  # noqa: E402

IMPORTS = """import tilus
from tilus import (bfloat16, boolean, float16, float32, float64, int16, int32, int64, int8, uint16,
                   uint32, uint64, uint8)

"""
SHIFT = 1  # elements by which the second call's pointers are off


def make_kernel(seed):
    return Kernel(f"K{seed}", seed, shared_only=seed % 4 == 0)


def statements(kernel, folder):
    """The two calls, as text for `tilec run`; writes their arrays."""
    memory, text = kernel.memory(), []
    for variant, shift in (("aligned", 0), ("unaligned", SHIFT)):
        names = []
        for buffer in kernel.buffers:
            path = os.path.join(folder, f"{kernel.name}_{variant}_{buffer.name}.npy")
            zero = types.FIT[buffer.dtype](1)
            types.write_npy(path, buffer.dtype, [zero] * shift + memory[buffer.name] + [zero] * 3)
            text.append(f"{buffer.name} = load('{path}')")
            names.append(f"{buffer.name}[{shift}:]" if shift else buffer.name)
        values = [str(value) for _, _, value in kernel.params]
        text.append(f"{kernel.name}()({', '.join(values + names)})")
        text += [f"save('{os.path.join(folder, f'{kernel.name}_{variant}_{b.name}.out')}', {b.name})" for b in kernel.buffers]
    return "; ".join(text)


def same(x, y):
    return x == y or (x != x and y != y)


def compare(kernel, folder, expected):
    """The first wrong element as text, or None."""
    for variant, shift in (("aligned", 0), ("unaligned", SHIFT)):
        for buffer in kernel.buffers:
            path = os.path.join(folder, f"{kernel.name}_{variant}_{buffer.name}.out")
            if not os.path.exists(path):
                return f"{variant}: no result"
            one = types.FIT[buffer.dtype](1)
            wanted = [one] * shift + expected[buffer.name] + [one] * 3
            given = types.read_npy(path, buffer.dtype)
            wrong = [i for i, (x, y) in enumerate(zip(given, wanted)) if not same(x, y)]
            if wrong:
                at = wrong[0]
                return (f"{variant}: {buffer.name}[{at - shift}] is {given[at]}, should be {wanted[at]} "
                        f"({len(wrong)} of {len(wanted)} wrong)")
    return None


def run_tilec(tilec, kernels, folder):
    source = os.path.join(folder, "kernels.tile")
    with open(source, "w") as file:
        file.write(IMPORTS + "\n".join(line for kernel in kernels for line in kernel.lines()))
    calls = "; ".join(statements(kernel, folder) for kernel in kernels)
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked")
    try:
        done = subprocess.run([tilec, "run", "--verify-each", source, calls], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, errors="replace")
    except subprocess.TimeoutExpired:
        return "timeout"
    return "" if done.returncode == 0 else f"exit status {done.returncode}: {done.stdout}"


def check(tilec, kernels):
    """(kernel, what is wrong) of those that fail."""
    with tempfile.TemporaryDirectory() as folder:
        trouble = run_tilec(tilec, kernels, folder)
        if trouble and len(kernels) > 1:
            half = len(kernels) // 2
            return check(tilec, kernels[:half]) + check(tilec, kernels[half:])
        if trouble:
            return [(kernels[0], trouble.replace(folder + "/", ""))]
        found = []
        for kernel in kernels:
            wrong = compare(kernel, folder, kernel.expected())
            if wrong:
                found.append((kernel, wrong))
        return found


def kind_of(trouble):
    """What two failures of the same cause share: the message without places and numbers."""
    line = next((line for line in trouble.splitlines() if "error" in line or "fault" in line or "race" in line), trouble)
    line = line.split("error: ")[-1]
    return "".join(c for c in line if not c.isdigit())[:40] if trouble.startswith("exit") else "wrong"


def bodies_of(statements):
    yield statements
    for statement in statements:
        for body in statement.bodies:
            yield from bodies_of(body)


def reduce(tilec, kernel, trouble):
    kind = kind_of(trouble)
    shorter = True
    while shorter:
        shorter = False
        for body in list(bodies_of(kernel.body)):
            for i in range(len(body) - 1, -1, -1):
                taken = body.pop(i)
                try:
                    found = check(tilec, [kernel])
                except KeyError:
                    found = []
                if found and kind_of(found[0][1]) == kind:
                    shorter, trouble = True, found[0][1]
                else:
                    body.insert(i, taken)
        drop_unused_views(kernel)
    return trouble


def drop_unused_views(kernel):
    text = "\n".join(kernel.lines())
    kernel.head = [line for line in kernel.head if text.count(line.split(" ")[0] + ",") > 0]
    text = "\n".join(kernel.lines())
    kernel.buffers = [b for b in kernel.buffers if text.count(b.name + ",") + text.count(b.name + " +") > 0]


def keep(folder, kernel, trouble):
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(os.path.abspath(folder), f"fail_{kernel.name}")
    with open(base + ".tile", "w") as file:
        file.write(IMPORTS + "\n".join(kernel.lines()))
    os.makedirs(base, exist_ok=True)
    with open(base + ".txt", "w") as file:
        file.write(statements(kernel, base) + "\n")
    with open(base + ".why", "w") as file:
        file.write(trouble + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec", nargs="?")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--keep")
    parser.add_argument("--reduce", action="store_true")
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    if options.show is not None:
        print("\n".join(make_kernel(options.show).lines()))
        return 0
    failures = 0
    for first in range(options.seed, options.seed + options.count, options.batch):
        last = min(first + options.batch, options.seed + options.count)
        for kernel, trouble in check(options.tilec, [make_kernel(seed) for seed in range(first, last)]):
            if options.reduce:
                trouble = reduce(options.tilec, kernel, trouble)
            failures += 1
            print(f"{kernel.name}: {trouble[:600]}", flush=True)
            if options.keep:
                keep(options.keep, kernel, trouble)
    print(f"{options.count} kernels, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
