#!/usr/bin/env python3
"""Which kernels of the origin systems' example and test folders compile as they stand, and what the others need.

usage: trees.py [--tilec FILE] [--jobs N] [--json FILE] [--list] tilus=TREE tilelang=TREE warp=TREE ...

TREE is a source tree of the system. Each kernel that the files' own code makes is compiled for sm_90a by `tilec migrate-report`; nothing of
the trees is changed, and nothing of them runs. A kernel that is refused is put under the first cause of FOREIGN that fits its place or one of
its reasons; the others count against tilec, and are listed with place and reason.
"""

import argparse
import collections
import json
import os
import re
import subprocess
import sys

FOLDERS = {"tilus": ["examples", "tests"], "tilelang": ["examples", "testing/python"], "warp": ["warp/examples", "warp/tests"]}

# What a kernel needs that is foreign to tilec by design: a cause, what its place looks like, what one of its reasons says.
FOREIGN = [
    ("GPUs after Hopper alone", r"blackwell|sm_?1[02]0|tcgen0?5|tmem", r"GPUs that tilec does not compile for|sm_100a|T\.clc_|tcgen05|tmem|T\.tma_gather4|_e2m1_unpacked"),
    ("GPUs of AMD or Apple alone", r"/amd/|_amd_|mfma|cdna|/hip|_hip_|rocm|/metal/|gfx9", r"mfma"),
    ("CUDA C++ or PTX in the text", None, r"tilec needs no CUDA toolkit|call_extern|T\.ptx_|native function|func_native|native code"),
    ("the IR of the origin's own passes", r"testing/python/transform/|tests/ir/", r"module 'tvm|'tvm|T\.KernelLaunchFrame"),
    ("geometry: meshes, volumes, hash grids, textures", r"/(geometry|fem|render|sim|fabric\w*)/|mesh|bvh|volume|hash_?grid|texture|fabricarray|marching",
     r"wp\.(Mesh|Volume|HashGrid|Bvh|Texture|mesh_|volume_|hash_grid_|bvh_|texture)|geometry"),
    ("a library of the host", None, r"comes from the host module|has no module|No module named"),
]


def foreign_cause(kernel):
    place, said = f"{kernel['file']}:{kernel['kernel']}", " ".join(reason["text"] for reason in kernel["reasons"])
    for cause, places, texts in FOREIGN:
        if places and re.search(places, place) or texts and re.search(texts, said):
            return cause
    return None


def report(tree, folders, options):
    here = [folder for folder in folders if os.path.isdir(os.path.join(tree, folder))]
    if not here:
        sys.exit(f"{tree}: none of {', '.join(folders)} is there")
    command = [os.path.abspath(options.tilec), "migrate-report", *here, f"-j{options.jobs}", f"--timeout={options.seconds}", "--diagnostics=json"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{tree}: {done.stderr or done.stdout[-500:]}")


def counted(name, said, options):
    kernels = said["table"]
    made = [kernel for kernel in kernels if kernel["state"] != "not made"]
    compiled = [kernel for kernel in made if kernel["state"] == "compiles"]
    foreign, own = collections.Counter(), []
    for kernel in made:
        if kernel["state"] == "refused":
            cause = foreign_cause(kernel)
            foreign[cause] += cause is not None
            if cause is None:
                own.append(kernel)
    whole = len(compiled) + len(own)
    print(f"{name}: {said['files']} files, {said['parsed']} parse, {said['ended']} end early; {len(kernels)} kernels, {len(made)} made by their files")
    print(f"    {len(compiled)} of {whole} that need nothing foreign compile: {100 * len(compiled) / max(whole, 1):.1f} %")
    for cause, count in foreign.most_common():
        if count:
            print(f"    {count:5}  need {cause}")
    unsaid = [kernel for kernel in own if not kernel["reasons"]]
    print(f"    {len(own):5}  are refused for other reasons" + (f", {len(unsaid)} without one" if unsaid else ""))
    for kernel in own if options.list else []:
        print(f"        {kernel['file']}:{kernel['line']}: {kernel['kernel']}")
        for reason in kernel["reasons"]:
            print(f"            {reason['place']}: {reason['code']} {reason['text'][:200]}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--tilec", default="build/tilec")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=int, default=120, help="of a file")
    parser.add_argument("--json", help="write what was reported here")
    parser.add_argument("--read", help="read it from there, and look at no tree")
    parser.add_argument("--list", action="store_true", help="show each kernel that is refused for no foreign cause")
    options = parser.parse_args()
    known = json.load(open(options.read, encoding="utf-8")) if options.read else {}
    for item in options.trees:
        name, _, tree = item.partition("=")
        if name not in known:
            known[name] = report(tree, FOLDERS.get(name, ["."]), options)
        counted(name, known[name], options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(known, file)


if __name__ == "__main__":
    main()
