#!/usr/bin/env python3
"""mutants.py [--seconds N] [--jobs N] TILEC FILE.accept...: runs each line of statements with one barrier, fence, commit or wait of its kernels
left out (`--leave-out`), one at a time, on the emulator. It has to report each that is needed: by a fault, by wrong results, by a deadlock. The
others are listed, with the line of source that they stand for: nobody needs them, or this line of statements does not come to where they are
needed. Of a kernel with a variant for aligned arguments only what both lack is listed: the other may be the one that did not run.

Exit status 1 if a program fails that lacks nothing."""
import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import time


def run(tilec, file, statements, number):
    """The exit status, what was left out (operation, file:line), and whether some variant of a kernel lacks nothing."""
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked", TILEC_CACHE="off")
    command = [tilec, "run", "--diagnostics=json", file, statements]
    if number:
        command.insert(2, f"--leave-out={number}")
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, errors="replace")
    except subprocess.TimeoutExpired:
        return None, {("something", "it")}, False
    left_out = set()
    for line in done.stdout.splitlines():
        if '"R0504"' in line:
            message = json.loads(line)
            operation = message["message"].split("without this ")[1]
            left_out.add((operation, f'{os.path.basename(message["file"])}:{message["line"]}'))
    return done.returncode, left_out, '"R0503"' in done.stdout


def mutants_of(tilec, file, statements, until):
    """(reported, [(number, what)] of those that nothing was said of, how many may not have run); None: it fails as it stands."""
    if run(tilec, file, statements, 0)[0] != 0:
        return None
    reported, silent, unsure, number = 0, [], 0, 0
    while time.monotonic() < until:
        number += 1
        status, left_out, some_whole = run(tilec, file, statements, number)
        if not left_out:
            break
        if status != 0:
            reported += 1
        elif some_whole:
            unsure += 1
        else:
            silent.append((number, left_out))
    return reported, silent, unsure


def statements_of(path):
    with open(path) as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#") and not line.startswith("from:"):
                yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("tilec")
    parser.add_argument("accept", nargs="+")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    tests = []
    for path in options.accept:
        file = next(f for f in (path[:-7] + ".tile", path[:-7] + ".py") if os.path.exists(f))
        tests += [(file, number, statements) for number, statements in enumerate(statements_of(path), 1)]
    failed, all_reported, all_silent, all_unsure = False, 0, 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda test: mutants_of(options.tilec, test[0], test[2], until), tests)
        for (file, number, _), found in zip(tests, results):
            if found is None:
                print(f"{os.path.basename(file)} {number}: fails as it stands")
                failed = True
                continue
            reported, silent, unsure = found
            all_reported += reported
            all_silent += len(silent)
            all_unsure += unsure
            for index, left_out in silent:
                text = ", ".join(f"{operation} of {place}" for operation, place in sorted(left_out))
                print(f"{os.path.basename(file)} {number}: not needed: {index}: {text}")
            sys.stdout.flush()
    print(f"{all_reported} mutants reported, {all_silent} not needed, {all_unsure} in one variant alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
