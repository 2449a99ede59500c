#!/usr/bin/env python3
"""generate.py [--dialect NAME] [--seed N] [--count N] [--jobs N] [--seconds N] [--passes] [--twice] [--backwards] [--keep FOLDER] [BUILD]:
random programs, run on the checked emulator and by the reference interpreter (tests/reference/differ.c), which must
leave the same bits in every array after every launch. What numpy says of a program (`expected` of its dialect's module) its arrays hold
at the end; without numpy that is not asked.

A program is a dialect and a seed, the same on every machine. Programs are free of undefined behaviour: what the
emulator reports of one (a race, an access outside) is a fault, and so is one that does not compile. For each
fault the command that shows it again is printed; with --keep the program is written there. --show prints the
program, --write FOLDER writes all programs."""
import argparse
import importlib
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from choices import BATCH, architecture  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

LIMIT = 120  # seconds a batch
MEMORY = 6 << 20  # KiB
DIALECTS = {"warp": "warp_programs", "tilelang": "tilelang_programs", "groups": "group_programs", "tilus": "tilus_programs",
            "pipelines": "pipeline_programs", "parts": "part_programs", "loops": "loop_programs"}


def program(dialect, seed):
    return importlib.import_module(DIALECTS[dialect]).program(seed)


def expected(dialect, seed):
    """What arrays hold at the end, {name: (type, numpy's array)}; None: nobody says."""
    module = importlib.import_module(DIALECTS[dialect])
    if numpy is None or not hasattr(module, "expected"):
        return None
    return module.expected(seed)


def saves(path, saved):
    """Lines that leave arrays beside the program; numpy has no bfloat16, whose numbers are float32's as well."""
    yield "from tile.host import save, zeros\nfrom tilus import float32\n"
    for name, (dtype, array) in saved.items():
        if dtype == "bfloat16":
            yield f"{name}_wide = zeros({array.shape}, float32)\n{name}_wide[{', '.join(':' * array.ndim)}] = {name}\n"
        yield f"save('{path}.{name}.npy', {name}{'_wide' * (dtype == 'bfloat16')})\n"


def write_program(folder, dialect, seed, saved=None):
    """`saved`: what `expected` says, if the program is to leave it."""
    path = os.path.join(folder, f"{dialect}_{seed}.tile")
    with open(path, "w") as file:
        file.write(program(dialect, seed))
        file.writelines(saves(path, saved) if saved else ())
    return path


def wrong_array(path, wanted):
    """Where what the program left is not what numpy says; None: it is."""
    for name, (_, array) in (wanted or {}).items():
        left = numpy.load(f"{path}.{name}.npy")
        differs = ~((left == array) | ((left != left) & (array != array)))
        if differs.any():
            place = tuple(int(i) for i in numpy.argwhere(differs)[0])
            return f": {name}{list(place)} is {left[place]}, numpy says {array[place]} ({differs.sum()} of {differs.size} wrong)"
    return None


def write_programs(folder, dialect, first, count):
    """Their seeds, by path."""
    return {write_program(folder, dialect, seed): seed for seed in range(first, first + count)}


def options_of(seed):
    return ["--arch=emulator:" + architecture(seed)]


def run(differ, paths, options, device="emulator", variables=None):
    """Lines of differ, one a program; of one that ends the process a line like the others."""
    environment = {**os.environ, "TILE_DEVICE": device, "TILE_EMULATOR": "checked", **(variables or {})}
    limits = f"ulimit -t {LIMIT}" + (f" -v {MEMORY}" if device == "emulator" else "")
    lines, left = [], list(paths)
    while left:
        before = len(left)
        command = ["bash", "-c", limits + '; exec "$@"', "-", differ] + options + left
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=10 * LIMIT,
                                  errors="replace")
            output, status = done.stdout, done.returncode
        except subprocess.TimeoutExpired as error:
            output, status = (error.stdout or b"").decode(errors="replace"), "timeout"
        begun = None
        for line in output.splitlines():
            word, _, rest = line.partition(" ")
            if word == "run" and rest in left:
                begun = rest
                left.remove(rest)
            elif word in ("same", "differs", "fails") and begun and rest.startswith(begun):
                lines.append((begun, word, rest[len(begun):]))
                begun = None
            elif lines and begun is None and lines[-1][1] == "fails":
                path, word, rest = lines.pop()
                lines.append((path, word, rest + "\n" + line))
        if begun:
            lines.append((begun, "crashes", f": {status}: {output[-600:]}"))
        elif len(left) == before:  # there is no differ, or it begins none of them
            lines += [(path, "crashes", f": {status}: {output[-600:]}") for path in left]
            break
    return lines


def hash_of(rest):
    return rest[rest.rfind(" hash "):]


def compared(lines, wanted):
    """Lines of those that are the same, where numpy says otherwise."""
    for path, word, rest in lines:
        wrong = wrong_array(path, wanted[path]) if word == "same" else None
        yield (path, "differs", wrong) if wrong else (path, word, rest)


def run_again(differ, lines, options, variables):
    """Lines of those that are the same, where another run leaves something else."""
    paths = [path for path, word, _ in lines if word == "same"]
    again = {path: rest for path, _, rest in run(differ, paths, options + ["--hash"], variables=variables)}
    return [(path, "varies", ": a second run leaves something else: " + again.get(path, "nothing"))
            if word == "same" and hash_of(rest) != hash_of(again.get(path, "")) else (path, word, rest) for path, word, rest in lines]


def check(options, first, count, report):
    differ = os.path.join(options.build, "reference", "differ")
    with tempfile.TemporaryDirectory() as folder:
        wanted, paths = {}, {}
        for seed in range(first, first + count):
            values = expected(options.dialect, seed)
            path = write_program(folder, options.dialect, seed, values)
            wanted[path], paths[path] = values, seed
        # numpy rounds a product before it is added to.
        rounding = ["-ffp-contract=off"] if any(values is not None for values in wanted.values()) else []
        given, cache = options_of(first) + rounding + ["--cached"], {"TILEC_CACHE": os.path.join(folder, "cache")}
        lines = list(compared(run(differ, list(paths), given + (["--passes"] if options.passes else []), variables=cache), wanted))
        if options.twice:
            lines = run_again(differ, lines, given + ["--fast-emulator"], cache)
        if options.backwards:
            lines = list(compared(run_again(differ, lines, given, {**cache, "TILE_EMULATOR": "backwards"}), wanted))
        for path, word, rest in lines:
            report(paths[path], word, rest.replace(folder + "/", ""), wanted[path] is not None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--dialect", choices=DIALECTS, default="warp")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=BATCH)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("--twice", action="store_true", help="and once more without the emulator's checks: the same bits")
    parser.add_argument("--backwards", action="store_true", help="and once more with each block's threads from the last to the first: the same bits")
    parser.add_argument("--keep")
    parser.add_argument("--write")
    parser.add_argument("--log")
    parser.add_argument("--seconds", type=float, help="begin nothing more after so long")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    if options.show:
        print(program(options.dialect, options.seed), end="")
        return 0
    if options.write:
        os.makedirs(options.write, exist_ok=True)
        for seed in seeds:
            write_program(options.write, options.dialect, seed)
        return 0
    lock, counts, batches = threading.Lock(), {}, queue.Queue()

    def report(seed, word, rest, by_numpy):
        with lock:
            counts[word] = counts.get(word, 0) + 1
            counts["with numpy"] = counts.get("with numpy", 0) + (by_numpy and word == "same")
            if " skipped " in rest:
                counts["in part"] = counts.get("in part", 0) + 1
            if word != "same":
                print(f"{word}{rest[:1500]}\n  again: tests/generator/generate.py --dialect {options.dialect} --seed {seed} "
                      f"--count 1 {options.build}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    write_program(options.keep, options.dialect, seed)
            if options.log:
                with open(options.log, "a") as file:
                    file.write(f"{options.dialect} {seed} {word}{' ' + rest[rest.index(' skipped '):] if ' skipped ' in rest else ''}\n")

    first = options.seed
    while first < options.seed + options.count:  # batches begin at multiples, so that a seed's architecture is its own
        count = min(BATCH - first % BATCH, options.seed + options.count - first)
        batches.put((first, count))
        first += count

    end = time.monotonic() + options.seconds if options.seconds else None

    def work():
        while not end or time.monotonic() < end:
            try:
                begin, count = batches.get_nowait()
            except queue.Empty:
                return
            try:
                check(options, begin, count, report)
            except Exception as error:  # of the generator's own
                report(begin, "fails", f": batch of {count}: {error!r}", False)
    workers = [threading.Thread(target=work) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    good = counts.pop("same", 0)
    by_numpy = counts.pop("with numpy", 0)
    print(f"{options.dialect}: {good} programs the same{f', {by_numpy} of them as numpy says' if by_numpy else ''}, "
          f"{', '.join(f'{n} {word}' for word, n in counts.items()) or 'none wrong'}")
    return 0 if not set(counts) - {"in part"} else 1


if __name__ == "__main__":
    sys.exit(main())
