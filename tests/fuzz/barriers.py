#!/usr/bin/env python3
"""barriers.py [--seed N] [--count N] TILEC BUILD: takes each barrier out of random kernels with shared memory, one at a
time. The emulator has to report a fault for each that the kernel needs; the others are listed: a barrier that no run
needs is a missed optimisation, or the loop that it is in did not run.

BUILD is the build folder, for libtile and libtile_emulator; a C compiler is needed."""
import argparse
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import element_types as types  # noqa: E402
from generate import IMPORTS  # noqa: E402
from kernels import Kernel  # noqa: E402

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../runtime/include")


def run(*command):
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked")
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")


def passes_until_sync(tilec):
    names = [line.split()[0] for line in run(tilec, "opt", "--list").stdout.splitlines()]
    return ",".join(names[:names.index("sync") + 1])


def main_text(kernel, folder):
    memory, lines = kernel.memory(), []
    for buffer in kernel.buffers:
        path = os.path.join(folder, buffer.name + ".bin")
        with open(path, "wb") as file:
            file.write(types.encode(buffer.dtype, memory[buffer.name]))
        lines.append(f'    void *{buffer.name} = load("{path}");')
    arguments = [str(value) for _, _, value in kernel.params] + [b.name for b in kernel.buffers]
    return ('#include "k.h"\n#include <stdio.h>\nstatic void *load(const char *path)\n{\n'
            '    static char bytes[1 << 24];\n    FILE *file = fopen(path, "rb");\n'
            '    size_t size = fread(bytes, 1, sizeof bytes, file);\n    void *memory;\n    fclose(file);\n'
            '    tile_alloc(&memory, size);\n    tile_copy_in(memory, bytes, size, NULL);\n    return memory;\n}\n'
            'int main(void)\n{\n' + "\n".join(lines) +
            f'\n    tile_status status = k(NULL, {", ".join(arguments)});\n    if (status) puts(tile_last_error());\n'
            '    return status != TILE_OK;\n}\n')


def run_ir(tilec, build, folder, text):
    """What the emulator says of the program: "" if it has no fault."""
    source, made = os.path.join(folder, "k.ir"), os.path.join(folder, "k.o")
    with open(source, "w") as file:
        file.write(text)
    done = run(tilec, source, "--ptxas=none", "--arch=sm_90a,emulator", "-o", made, "-H", os.path.join(folder, "k.h"))
    if done.returncode:
        return "tilec: " + done.stdout
    program = os.path.join(folder, "k")
    done = run("cc", "-I" + INCLUDE, "-I" + folder, "-o", program, os.path.join(folder, "main.c"), made,
               os.path.join(build, "libtile_emulator.a"), os.path.join(build, "libtile.a"), "-lpthread", "-ldl", "-lm")
    if done.returncode:
        return "cc: " + done.stdout
    done = run(program)
    return done.stdout if done.returncode else ""


def synced_ir(tilec, folder, kernel, until_sync):
    source = os.path.join(folder, "k.tile")
    with open(source, "w") as file:
        file.write(IMPORTS + "\n".join(kernel.lines()))
    typed = os.path.join(folder, "typed.ir")
    done = run(tilec, source, "--emit=ir", "--export", f"k = {kernel.name}()", "-o", typed)
    if done.returncode:
        raise SystemExit(done.stdout)
    return run(tilec, "opt", "--run=" + until_sync, typed).stdout


def try_kernel(tilec, build, kernel, until_sync):
    """How many barriers were tried, and those without which the emulator had nothing to say."""
    with tempfile.TemporaryDirectory() as folder:
        lines = synced_ir(tilec, folder, kernel, until_sync).splitlines(keepends=True)
        with open(os.path.join(folder, "main.c"), "w") as file:
            file.write(main_text(kernel, folder))
        places = [i for i, line in enumerate(lines) if line.strip().startswith("barrier")]
        trouble = run_ir(tilec, build, folder, "".join(lines)) if places else ""
        if trouble:
            print(f"{kernel.name}: whole: {trouble[:400]}")
            return 0, []
        return len(places), [i + 1 for i in places if not run_ir(tilec, build, folder, "".join(lines[:i] + lines[i + 1:]))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    until_sync = passes_until_sync(options.tilec)
    total = unneeded = 0
    for seed in range(options.seed, options.seed + options.count):
        kernel = Kernel(f"K{seed}", seed, shared_only=True)
        kernel.params = [(name, "int32" if kind == "int" else kind, value) for name, kind, value in kernel.params]
        tried, spare = try_kernel(options.tilec, options.build, kernel, until_sync)
        total, unneeded = total + tried, unneeded + len(spare)
        if spare:
            print(f"{kernel.name}: lines {spare} of the SYNCED IR hold barriers that this run does not need", flush=True)
    print(f"{total} barriers taken out, {unneeded} were not missed")


if __name__ == "__main__":
    main()
