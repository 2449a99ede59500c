#!/usr/bin/env python3
"""mutants.py [--seconds N] TILEC FILE.accept...: runs each line of statements with one barrier, fence, commit or wait of its kernels
left out (`--leave-out`), one at a time, on the emulator. It has to report each that is needed: by a fault, by wrong results, by a deadlock. The
others are listed, with the line of source that they stand for: nobody needs them, or this line of statements does not come
to where they are needed.

Exit status 1 if a program fails that lacks nothing."""
import argparse
import json
import os
import subprocess
import sys
import time


def run(tilec, file, statements, number):
    """The exit status, and what was left out: (operation, file:line)."""
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked", TILEC_CACHE="off")
    command = [tilec, "run", "--diagnostics=json", file, statements]
    if number:
        command.insert(2, f"--leave-out={number}")
    try:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, errors="replace")
    except subprocess.TimeoutExpired:
        return None, set()
    left_out = set()
    for line in done.stdout.splitlines():
        if '"R0502"' not in line:
            continue
        message = json.loads(line)
        text = message["message"]
        left_out.add((text.split("without this ")[1], f'{os.path.basename(message["file"])}:{message["line"]}'))
    return done.returncode, left_out


def mutants_of(tilec, file, statements, until):
    """(reported, [(number, what)] of those that nothing was said of); None: it fails as it stands."""
    if run(tilec, file, statements, 0)[0] != 0:
        return None
    reported, silent, number = 0, [], 0
    while time.monotonic() < until:
        number += 1
        status, left_out = run(tilec, file, statements, number)
        if status is not None and not left_out:
            break
        if status == 0:
            silent.append((number, left_out))
        else:
            reported += 1
    return reported, silent


def statements_of(path):
    with open(path) as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#") and not line.startswith("from:"):
                yield line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("tilec")
    parser.add_argument("accept", nargs="+")
    options = parser.parse_args()
    until = time.monotonic() + options.seconds
    failed, all_reported, all_silent = False, 0, 0
    for path in options.accept:
        file = next(f for f in (path[:-7] + ".tile", path[:-7] + ".py") if os.path.exists(f))
        for number, statements in enumerate(statements_of(path), 1):
            found = mutants_of(options.tilec, file, statements, until)
            if found is None:
                print(f"{os.path.basename(file)} {number}: fails as it stands")
                failed = True
                continue
            all_reported += found[0]
            all_silent += len(found[1])
            for index, left_out in found[1]:
                text = ", ".join(f"{operation} of {place}" for operation, place in sorted(left_out))
                print(f"{os.path.basename(file)} {number}: not needed: {index}: {text}")
            sys.stdout.flush()
    print(f"{all_reported} mutants reported, {all_silent} not needed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
