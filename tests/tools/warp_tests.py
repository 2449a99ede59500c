#!/usr/bin/env python3
"""Warp's own tests through the package for Python, as they stand, each file in a process of its own.

usage: warp_tests.py TREE [--jobs N] [--seconds N] [--whole N] [--all N] [--gpus LIST] [--passed FILE] [--out FILE] [TEST FILE...]

TREE is the folder in which Warp's package is, `warp` with its tests; PYTHONPATH has tilec, and there are numpy, pytest and pytest-timeout.
Without files those of warp/tests are run, and of its folders aot, cuda, deterministic, interop, matrix and
tile; of geometry, rendering, sparse matrices
and finite elements none. --passed names the tests that pass in Warp itself, one a line: the others do not count. Tests for the CPU
(`_cpu`) are left out. The end is a table: how many pass, what the others ask for, and those that have no reason of REASONS.
"""

import argparse
import collections
import json
import os
import re
import sys
import unittest

import own_tests

# What tests ask for, by what they fail with; the first that fits.
REASONS = [
    ("meshes, volumes, sparse matrices, finite elements", r"HashGrid|'Mesh'|'Bvh'|Volume|warp\.sparse|warp\.fem|fabric|Fabric"),
    ("sums in one order, whatever threads come first", r"'deterministic'|[Dd]eterministic"),
    ("modules of CUDA C++, built ahead or shown: their names, hashes, options, files",
     r"compile_aot_module|hash_module|resolve_options|'execs'|'adj'|get_mangled_name|_compile\b|codegen\.Var|build\.|nvrtc|arch_suffix|"
     r"cuda_output|get_kernel_hooks|native/builtin\.h|ctype_ret_str|_APIC|_apic|APICapture|'overloads'|Function\.__init__|custom_grad_func"),
    ("functions of its runtime's library, and what else is inside of it",
     r"SimpleNamespace|namespace\(|is no part of tilec|warp\._src|object has no attribute|takes \d+ positional|__ctype__|not an instance of"),
    ("names of its Python interface that are not there", r"<module 'warp'[^>]*> (has no|does not have)"),
    ("its words of an error", r"does not match"),
    ("what Warp refuses and tilec computes", r"not raised"),
    ("functions in CUDA C++", r"func_native|CUDA C\+\+"),
    ("gradients of what a kernel overwrites", r"which the kernel overwrites"),
    ("races that Warp leaves to chance, which the emulator tells", r"race: thread"),
    ("tools that are not installed", r"No module named|ImportError"),
]


def takes(item):
    return isinstance(getattr(item, "cls", None), type) and issubclass(item.cls, unittest.TestCase) and not item.nodeid.endswith("_cpu")


def reason(text):
    return next((name for name, pattern in REASONS if re.search(pattern, text)), None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60, help="of a test")
    parser.add_argument("--whole", type=int, default=600, help="of a process")
    parser.add_argument("--all", type=int, help="seconds, of everything")
    parser.add_argument("--gpus", help="their numbers, where CUDA_VISIBLE_DEVICES has none: each is the first of some of the processes")
    parser.add_argument("--passed")
    parser.add_argument("--out")
    parser.add_argument("files", nargs="*")
    given = parser.parse_intermixed_args()
    sys.path.insert(0, os.path.abspath(given.tree))  # its tests import one another
    os.chdir(given.tree)
    # of processes that tests start the folder at hand is not the first to have a module `warp`
    os.environ.update(PYTHONSAFEPATH="1", TILE_ORIGINS=os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("TILE_ORIGINS")])))
    files = given.files or [os.path.join("warp", "tests", sub, name) for sub in ("", "aot", "cuda", "deterministic", "interop", "matrix", "tile")
                            for name in sorted(os.listdir(os.path.join("warp", "tests", sub)))
                            if re.match(r"test_.*\.py$", name) and not re.search("sparse|fem|render|examples", name)]
    if not given.files:
        files.sort(key=os.path.getsize, reverse=True)
    passed = {line.strip() for line in open(given.passed)} if given.passed else None
    import numpy  # noqa: F401, for all processes

    outcomes = list(own_tests.run(files, given, takes=takes).values())
    if passed is not None:
        outcomes = [one for one in outcomes if one["id"] in passed]
    if given.out:
        with open(given.out, "w") as file:
            file.writelines(json.dumps(one) + "\n" for one in outcomes)
    for outcome, count in sorted(collections.Counter([one["outcome"] for one in outcomes]).items()):
        print(f"{count:6} {outcome}")
    if passed is not None:
        print(f"{len(passed - {one['id'] for one in outcomes}):6} not run")
    wrong = [one for one in outcomes if one["outcome"] in ("failed", "died")]
    for name, count in collections.Counter([reason(one["text"]) for one in wrong]).most_common():
        print(f"{count:6} ask for {name}" if name else f"{count:6} without a reason")
    for one in wrong:
        if reason(one["text"]) is None:
            print(f"  {one['id']}: {' '.join(one['text'].split())[:160]}")


if __name__ == "__main__":
    main()
