#!/usr/bin/env python3
"""What the origin systems' own tests do on the emulator, in checked mode: which run silently, and what the emulator says of the others.

usage: silent.py [--jobs N] [--seconds N] [--whole N] [--all N] [--out FILE] tilus=TREE tilelang=TREE warp=TREE ... [--only REGEX]

TREE is a source tree of the system. Its test files run as they stand through the package for Python (PYTHONPATH has tilec; there are torch,
pytest and pytest-timeout), each in a process of its own, for --seconds a test, --whole a file and --all a system. A test that passes has launched what
compiles against its own references with every access, race and barrier checked. What fails is told apart by REPORTS, what the emulator
says of a launch; other failures have nothing to do with launches or are counted by tests/tools/tilelang_tests.py.
"""

import argparse
import collections
import json
import os
import re
import sys

import own_tests

FOLDERS = {"tilus": ["tests"], "tilelang": ["testing/python"], "warp": ["warp/tests"]}
TAKES = {"warp": lambda item: item.cls}  # its functions become methods of classes, one for each device
REPORTS = ["out of bounds", "misaligned", "unwritten memory", "benign race", "race", "unfinished copy", "unfenced write", "unfenced read",
           "unfinished read", "divergence", "barrier divergence", "deadlock"]  # runtime/emulator/fault.c
LEFT_OUT = r"memory_leak|test_examples|coverage|unittest_|multigpu|test_render|/fem/|/geometry/|sparse|aux_|/interop/"


def test_files(tree, folders, only):
    found = []
    for folder in folders:
        for where, _, names in os.walk(os.path.join(tree, folder)):
            found += [os.path.relpath(os.path.join(where, name), tree) for name in names if re.match(r"test_.*\.py$", name)]
    return [file for file in sorted(found) if not re.search(LEFT_OUT, file) and re.search(only, file)]


def report_of(text):
    found = re.search(r"(?:^|: |\n)(" + "|".join(REPORTS) + r")\b", text)
    return found[1] if found else None


def show(name, found):
    outcomes = collections.Counter()
    reports = collections.defaultdict(list)
    for test, told in sorted(found.items()):
        report = report_of(told["text"]) if told["outcome"] == "failed" else None
        outcomes["reported" if report else told["outcome"]] += 1
        if report:
            reports[report].append((test, told["text"]))
    print(f"{name}: {outcomes['passed']} tests run silently in checked mode, {outcomes['reported']} are reported on; "
          f"{outcomes['failed']} fail otherwise, {outcomes['skipped']} are skipped, {outcomes['died']} have no end")
    for report, tests in reports.items():
        print(f"    {len(tests):4}  {report}")
        for test, text in tests:
            print(f"          {test}: {' '.join(text.split())[:240]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--whole", type=int, default=600)
    parser.add_argument("--all", type=int)
    parser.add_argument("--only", default="")
    parser.add_argument("--out")
    options = parser.parse_intermixed_args()
    os.environ["TILE_DEVICE"], os.environ["CUDA_VISIBLE_DEVICES"] = "emulator", ""
    import numpy  # noqa: F401, for all processes: it and torch take seconds to import
    import torch  # noqa: F401

    kept, out = {}, os.path.abspath(options.out) if options.out else None
    trees = [(name, os.path.abspath(tree)) for name, _, tree in (item.partition("=") for item in options.trees)]
    for name, tree in trees:
        if name == "warp":  # whose tests import one another
            sys.path.insert(0, tree)
        os.chdir(tree)
        kept[name] = own_tests.run(test_files(tree, FOLDERS.get(name, ["."]), options.only), options, takes=TAKES.get(name))
        show(name, kept[name])
        if out:
            with open(out, "w", encoding="utf-8") as file:
                json.dump(kept, file)


if __name__ == "__main__":
    main()
