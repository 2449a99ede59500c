#!/usr/bin/env python3
"""ir_corruption.py [--every N] [--several N] [--seed N] [--jobs N] TILEC REPLAY [FILE...]: the IR of FILES (tests/exec, tests/golden/passes), as it is
after each pass, with one lie each: an attribute has another value, or is not there, or is where it does not belong, or is another op's; an operand
is another value; a layout's bits have changed places; an op is missing, or there twice; the kernel says that it is at another stage. Each kind of
lie once an op and stage, of which every Nth; and as many texts as --several says with a few of them at once. The verifier may refuse it, and the
passes may; nobody may crash, or take more than a minute. REPLAY is build/fuzz/replay_ir, or build/fuzz/ir, with sanitizers."""
import argparse
import concurrent.futures
import glob
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# These have nearly all ops and attributes among them.
FILES = ["unusual_tilelang", "softmax", "wgmma_types", "tilelang_threads", "tilelang_words", "known_faults", "tilelang_reduce", "generated_faults",
         "index_guards", "clusters", "tilelang_atomics", "own_barriers", "open_products"]
VALUES = ["0", "-1", "1", "3", "7", "64", "1000000", "9223372036854775807", "-9223372036854775808", "[0, 0]", "[1]", "[-1, 5]", "[3, 1, 2, 9]",
          "add", "x", None]
ADDED = {"INT": ["1", "2", "-1", "9223372036854775807"], "INTS": ["[1, 0]", "[-1]"], "TEXT": ["add"], "FLOAT": ["1.0"]}
OP = re.compile(r"\s*(?:%[^=]*= |#\w+ = \{)?([a-z_]+)\b")  # of a layout's line: "shape"
VALUE = re.compile(r"\s*(%[\w.]+) = .* : ([a-z]+\d*(?:<[a-z]\w*)?)[^:]*$")
ATTR = re.compile(r'(\w+) = (\[[^\]]*\]|"[^"]*"|[^,}\]]+)(, )?')
OWN = re.compile(r"\{\w+ = [^{}]*\}")
STAGE = re.compile(r"stage (\w+)")
STAGES = ["TYPED", "LAID_OUT", "PIPELINED", "PLACED", "SYNCED", "THREADED"]
LONGEST, BATCH = 40000, 200


def attributes():
    with open(os.path.join(ROOT, "compiler/ir/attrs.def")) as table:
        return re.findall(r"^ATTR\((\w+), (\w+),", table.read(), re.M)


def texts(tilec, path):
    """The kernels after each pass."""
    words = ["opt", path] if path.endswith(".ir") else [path, "--arch=sm_90a", "-S", "-o", os.devnull]
    done = subprocess.run([tilec, *words, "--print-after", "all"], capture_output=True, text=True)
    return [text for text in re.split(r"(?m)^# after .*\n", done.stderr)[1:] if len(text) < LONGEST]


def changed(op, line):
    """(kind, the line with an attribute of another value, or without it)."""
    for attr in ATTR.finditer(line):
        if re.search(r"\{[^{]*$", line[:attr.start()]):
            for value in VALUES:
                text = "" if value is None else f"{attr[1]} = {value}{attr[3] or ''}"
                yield (op, attr[1], value), (line[:attr.start()] + text + line[attr.end():]).replace(", }", "}").replace("{}", "")


def added(op, line, all_attributes):
    """With one that it has not, at any stage alike."""
    head = line.split(" # ")[0]
    brace, colon = head.find("{"), head.find(" : ")
    has = set(re.findall(r"(\w+) =", head))
    for name, kind in all_attributes:
        for value in ADDED[kind] if name not in has else []:
            if 0 <= brace < (colon if colon >= 0 else len(head)):
                yield (op, "+" + name, value), f"{head[:brace + 1]}{name} = {value}, {head[brace + 1:]}"
            else:
                at = colon if colon >= 0 else len(head)
                yield (op, "+" + name, value), f"{head[:at]} {{{name} = {value}}}{head[at:]}"


def transplanted(op, line, own, donors):
    """With all the attributes of another op, in the place of its own."""
    for other, attrs in donors.items():
        if other != op and own[0] != attrs:
            yield (op, "attributes of", other), line[:own.start()] + attrs + line[own.end():]


def exchanged(op, line, made):
    """The last value of each kind of type as an operand; two bits of a layout the other way round, or one that says nothing before them."""
    used = list(re.finditer(r"%[\w.]+", line.split(" : ")[0]))
    for i, operand in enumerate(used[1:4] if " = " in line else used[:3]):
        for kind, value in made.items():
            yield (op, "operand", i, kind), line[:operand.start()] + value + line[operand.end():]
    for bits in re.finditer(r"\[(\d+,\d+)\],\[(\d+,\d+)\]", line):
        yield (op, "layout", bits[1]), f"{line[:bits.start()]}[{bits[2]}],[{bits[1]}]{line[bits.end():]}"
        more = re.sub(r"\d+", "0", bits[1])
        yield (op, "more layout", bits[1]), f"{line[:bits.start()]}[{more}],{line[bits.start():]}"
    for bits in re.finditer(r"\[([\d,]+)\]\] (lane|warp) \[\[([\d,]+)\]", line):
        yield (op, bits[2], bits[3]), f"{line[:bits.start()]}[{bits[3]}]] {bits[2]} [[{bits[1]}]{line[bits.end():]}"


def lies(lines, all_attributes, met):
    """(kind, the line that is another, what is there instead). met: ops with attributes that have got all others already."""
    made = {}  # kind of type: the last value of it
    donors = {}  # op: attributes that one has
    stage = next((found[1] for found in map(STAGE.search, lines) if found), None)
    ops = tuple(sorted({found[1] for found in map(OP.match, lines) if found}))
    for i, line in enumerate(lines):
        op, value, own = OP.match(line), VALUE.match(line), OWN.search(line)
        if not op:
            continue
        kinds = [*changed(op[1], line), *exchanged(op[1], line, made)]
        if own:
            kinds += transplanted(op[1], line, own, donors)
            donors[op[1]] = own[0]
        if op[1] == "kernel" and stage:
            kinds += [((other, *ops), line.replace("stage " + stage, "stage " + other)) for other in STAGES if other != stage]
        if not line.rstrip().endswith("{"):
            kinds += [((op[1], "missing"), None), ((op[1], "twice"), f"{line}\n{line}")]
        yield from (((*kind, stage), i, new) for kind, new in kinds)
        names = (op[1], *re.findall(r"(\w+) = ", line))
        if names not in met and op[1] not in ("kernel", "tensor", "shape"):
            met.add(names)
            yield from ((kind, i, new) for kind, new in added(op[1], line, all_attributes))
        if value:
            made[value[2]] = value[1]


def chosen(found, every):
    """(kind, a text with one lie)."""
    all_attributes, seen, met = attributes(), set(), set()
    for text in found:
        lines = text.split("\n")
        for kind, i, new in lies(lines, all_attributes, met):
            if kind not in seen:
                seen.add(kind)
                if zlib.crc32(repr(kind).encode()) % every == 0:
                    yield kind, "\n".join(lines[:i] + ([] if new is None else [new]) + lines[i + 1:])


def several(found, count, seed):
    """(kinds, a text with two to six lies). Those of one text are drawn together, as finding them takes longer than to write it."""
    all_attributes, choose = attributes(), random.Random(seed)
    each = -(-count // max(len(found), 1))
    for text in choose.sample(found, min(len(found), count)):
        lines = text.split("\n")
        all_lies = list(lies(lines, all_attributes, set()))
        for _ in range(min(each, count)):
            kinds, other = [], list(lines)
            for kind, i, new in choose.sample(all_lies, min(len(all_lies), choose.randint(2, 6))):
                kinds.append(kind)
                other[i] = new
            yield kinds, "\n".join(line for line in other if line is not None)
            count -= 1


def give(replay, folder, batch, failures):
    """Those that crash are left out, and the rest tried again."""
    paths = {}
    for i, (kind, lie) in batch:
        paths[os.path.join(folder, str(i))] = kind
        with open(os.path.join(folder, str(i)), "w") as file:
            file.write(lie)
    left = list(paths)
    while left:
        try:
            done = subprocess.run([replay, *left], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60 + len(left))
            status = done.returncode
        except subprocess.TimeoutExpired as late:
            done, status = late, "too long"
        if status == 0:
            break
        said = (done.stdout or b"").decode(errors="replace")
        bad = re.findall(r"^(?:Running: )?(%s/\d+)$" % re.escape(folder), said, re.M)[-1]
        reason = re.search(r"internal error.*|runtime error.*|ERROR: .*", said)
        with open(bad) as file:
            failures.append((paths[bad], reason[0] if reason else f"status {status}", file.read()))
        left = left[left.index(bad) + 1:]
    for path in paths:
        os.unlink(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("replay")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--several", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="a folder for the texts that somebody crashed on")
    options = parser.parse_args()
    files = options.files or [*sorted(glob.glob(f"{ROOT}/tests/golden/passes/*.ir")), *(f"{ROOT}/tests/exec/{name}.tile" for name in FILES)]
    found = [text for path in files for text in texts(options.tilec, path)]
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        batch, given = [], []
        for lie in itertools.chain(chosen(found, options.every), several(found, options.several, options.seed)):
            batch.append((count, lie))
            count += 1
            if len(batch) == BATCH:
                given.append(pool.submit(give, options.replay, folder, batch, failures))
                batch = []
        given.append(pool.submit(give, options.replay, folder, batch, failures))
        for future in given:
            future.result()  # what went wrong there does so here
    for i, (kind, reason, text) in enumerate(failures):
        print(" ".join(map(str, kind)), ":", reason)
        if options.keep:
            with open(os.path.join(options.keep, f"{i}.ir"), "w") as file:
                file.write(text)
    print(f"{count} lies, {len(failures)} that somebody crashed on")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
