#!/usr/bin/env python3
"""run_to_run.py [--gpu] [--jobs N] [--seconds N] [--only REGEX] BUILD [NAME.accept...]: what the launches of each statement list leave in
their arrays, twice on the emulator and, with --gpu, twice on the GPU, in processes of their own: the same bits.

Two runs may differ where a kernel has atomic ops alone; emulator and GPU where it has those, dots of floats or quick
instructions, whose bounds the programs' own checks hold. All such lines are counted, all others are faults."""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = re.compile(r"^(same|fails) \S+?(?:: (?P<why>.*?))?(?: has(?P<loose>(?: atomic| dot| approx)+))? hash (?P<hash>[0-9a-f]{16})$", re.M | re.S)
NOTHING = "cbf29ce484222325"  # no launch
CHUNK = 6


def statement_lists(path):
    with open(path) as file:
        lines = [line.rstrip("\n") for line in file]
    return [line for line in lines if line and not line.startswith(("#", "from:"))]


def run(differ, source, lists, device, cache):
    """(end, loose, hash) of each list; of what ends the process, ("lost", ...)."""
    ends, environment = [], dict(os.environ, TILE_DEVICE=device, TILEC_CACHE=cache, TILE_CACHE="off")
    options = ["--hash", "--cached"] + (["--fast-emulator", "--arch=emulator:sm_90a"] if device == "emulator" else [])
    while len(ends) < len(lists):
        command = [differ] + options + ["--do=" + text for text in lists[len(ends):]] + [source]
        try:
            output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, errors="replace").stdout
        except subprocess.TimeoutExpired as error:
            output = (error.stdout or b"").decode(errors="replace")
        parts = output.split(f"run {source}\n")[1:]
        for part in parts or [""]:
            found = LINE.search(part)
            ends.append((found[1], set((found["loose"] or "").split()), found["hash"], found["why"] or "") if found else ("lost", set(), "", part[-600:]))
            if ends[-1][0] != "same":
                break  # a fault takes the context with it
    return ends


def check(options, source, lists):
    if options.end and time.monotonic() > options.end:
        return source, lists, None
    differ = os.path.join(options.build, "reference", "differ")
    with tempfile.TemporaryDirectory() as cache:
        devices = ["emulator", "emulator"] + (["cuda", "cuda"] if options.gpu else [])
        return source, lists, [run(differ, source, lists, device, cache) for device in devices]


def judge(ends):
    """(kind, why): same, a kind of difference that is allowed, or a fault."""
    loose = set.union(*(end[1] for end in ends))
    words = " ".join(sorted(loose))
    bad = next((end for end in ends if end[0] != "same"), None)
    if bad:
        return "does not run", bad[3]
    if all(end[2] == NOTHING for end in ends):
        return "no launch", ""
    if any(one[2] != two[2] for one, two in zip(ends[::2], ends[1::2])):
        return ("varies, has atomic", "") if "atomic" in loose else ("VARIES", words)
    if len({end[2] for end in ends}) > 1:
        return (f"emulator and GPU differ, has {words}", "") if loose else ("DIFFERS", "")
    return "same", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, help="begin nothing more after so long")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.end = time.monotonic() + options.seconds if options.seconds else None
    folder = os.path.join(ROOT, "tests", "exec")
    files = options.files or sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".accept"))
    work = [(path[:-7] + ".tile", lists[i:i + CHUNK]) for path in files if re.search(options.only, path)
            for lists in [statement_lists(path)] for i in range(0, len(lists), CHUNK)]
    kinds, begun = {}, 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for source, lists, found in pool.map(lambda item: check(options, *item), work):
            for i, text in enumerate(lists if found else []):
                kind, why = judge([ends[i] for ends in found])
                kinds[kind] = kinds.get(kind, 0) + 1
                begun += 1
                if kind != "same" and kind != "no launch":
                    print(f"{kind}: {os.path.basename(source)}: {text[:200]}{': ' + why[:300] if why else ''}", flush=True)
    print(f"{begun} lists: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    return 1 if {"VARIES", "DIFFERS", "does not run"} & set(kinds) else 0


if __name__ == "__main__":
    sys.exit(main())
