#!/usr/bin/env python3
"""gpu.py [--dialect NAME] [--seed N] [--count N] [--jobs N] [--seconds N] [--keep FOLDER] BUILD: generated programs on a GPU and
on the checked emulator: what each launch leaves in every array must be the same bits, on the GPU twice (in another
process, whose code comes from the cache of the first).

One NaN is like another. Sums of the programs are of small whole numbers, so matrix units have nothing to round."""
import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from choices import BATCH  # noqa: E402
from generate import DIALECTS, run, write_program, write_programs  # noqa: E402


def hashes(lines):
    """(how it ended, hash) of each program, as often as it ran."""
    found = {}
    for path, word, rest in lines:
        place = rest.rfind(" hash ")
        found.setdefault(path, []).append((word, rest[place + 6:].strip() if place >= 0 else rest, rest))
    return found


def on_gpu(differ, paths, cache):
    """A program that faults takes the process's context with it: those behind it get another one."""
    lines, left = [], list(paths)
    while left:
        part = run(differ, left, ["--hash", "--cached"], "cuda", {"TILEC_CACHE": cache})
        wrong = next((i for i, line in enumerate(part) if line[1] != "same"), len(part) - 1)
        lines += part[:wrong + 1]
        done = {line[0] for line in part[:wrong + 1]}
        left = [path for path in left if path not in done]
    return lines


def check(options, dialect, first, count):
    if options.end and time.monotonic() > options.end:
        return dialect, 0, []
    differ = os.path.join(options.build, "reference", "differ")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_programs(folder, dialect, first, count)
        emulated = hashes(run(differ, list(paths), ["--hash", "--fast-emulator", "--arch=emulator:sm_90a"]))
        real = [hashes(on_gpu(differ, list(paths), os.path.join(folder, "cache"))) for _ in range(2)]
        wrong = []
        for path, seed in paths.items():
            ends = [found.get(path, [("lost", "", "")])[0] for found in [emulated] + real]
            if all(end[0] == "same" for end in ends) and len({end[1] for end in ends}) == 1:
                continue
            text = ends[0] if ends[0][0] != "same" else next((end for end in ends if end[0] != "same"), None)
            why = f"{text[0]}{text[2]}" if text else "GPU and emulator differ" if ends[1][1] == ends[2][1] else "the GPU's two runs differ"
            wrong.append((seed, why.replace(folder + "/", "")))
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                write_program(options.keep, dialect, seed)
        return dialect, count, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--dialect", choices=DIALECTS, action="append")
    parser.add_argument("--seed", type=int, default=1000000)
    parser.add_argument("--count", type=int, default=800, help="of each dialect")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="begin nothing more after so long")
    parser.add_argument("--keep")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args()
    options.end = time.monotonic() + options.seconds if options.seconds else None
    work = [(dialect, seed) for seed in range(options.seed, options.seed + options.count, BATCH)
            for dialect in options.dialect or DIALECTS]
    totals, failures = {}, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for dialect, count, wrong in pool.map(lambda item: check(options, *item, min(BATCH, options.seed + options.count - item[1])), work):
            totals[dialect] = totals.get(dialect, 0) + count
            failures += len(wrong)
            if options.progress and count:
                print(f"{dialect}: {totals[dialect]} programs, {failures} wrong in all", flush=True)
            for seed, why in wrong:
                print(f"{dialect} {seed}: {why[:1200]}", flush=True)
    print(f"{', '.join(f'{n} of {dialect}' for dialect, n in totals.items())}: {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
