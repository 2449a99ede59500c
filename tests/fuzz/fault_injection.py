#!/usr/bin/env python3
"""fault_injection.py [--jobs N] [--which waits|predicates|all] [--only REGEX] [--lines N] [--known FILE] [--write FILE] [--json FILE] [--skip FILE] [--seen FILE] [--once] [--seconds N] [--sample] TILEC FILE.accept...: runs each line of statements without one op that its
kernels' threads or copies are ordered by, or without one condition that the compiler put an access under; each in its turn, on the emulator
(`--leave-each-out`), and once more with the kernels' general variants; a line that is a loop over written values, round by round. A mutant is one op of one variant of one kernel; it counts as missed if some line of its file misses it: by a fault, by
wrong results, by memory that ends otherwise, by a deadlock. Conditions that hold for all of a line's sizes are tried again with smaller ones (`--at-most`), where kernels run without a fault with these. The others are listed, under what the emulator says of why nobody needs them (surviving_reasons.py).

Exit status 1 if a program fails that lacks nothing, or if one that is listed is not among those of --known."""
import argparse
import ast
import collections
import concurrent.futures
import glob
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
import surviving_reasons  # noqa: E402

MUTANT = re.compile(r"without number (\d+), an? (.*), of (.*) \((\w+) (\d+)\): (missed|not missed: .*|nobody comes to it|it holds .*)$")


def output_of(command, environment, end):
    """The exit status, None where `end` came before it, and what was written."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        return process.communicate(timeout=max(end - time.monotonic(), 0) if end else None)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], None


def run(tilec, which, seen, end, file, statements, *options):
    """What became of each mutant of a line: {(kernel, code, number in it, what, place): outcome}, of those tried before `end`; None and why: it
    fails as it stands. What was `seen`, {(code, number): outcome}, is not tried again."""
    environment = dict(os.environ, TILE_DEVICE="emulator", TILE_EMULATOR="checked")
    with tempfile.NamedTemporaryFile("w", suffix=".missed") as known:
        known.write("".join(f"{code} {number}\n" for code, number in seen))
        known.flush()
        command = [tilec, "run", "--diagnostics=json", f"--leave-each-out={which}", f"--missed={known.name}", *options, file, statements]
        text, status = output_of(command, environment, end)
    outcomes = {}
    if status:
        return None, text
    for line in text.splitlines():
        if '"R0504"' not in line or not line.endswith("}"):
            continue
        message = json.loads(line)
        _, what, kernel, code, number, outcome = MUTANT.search(message["message"]).groups()
        kernel = re.sub(r"__run\d+|_emulated_\w+$", "", kernel)
        place = f'{os.path.basename(message.get("file", "?"))}:{message.get("line", 0)}'
        outcome = seen.get((code, int(number)), outcome) if outcome == "missed" else outcome
        outcomes[kernel, code, int(number), what, place] = surviving_reasons.plain(outcome)
    return outcomes, ""


# What the tests run each time, of tests/exec: cp.async, views, TMA and wgmma, clusters, mbarriers of the author's, pipelined loops with warps of
# their own for copies, copies joined of two arms, loops of groups, TMA stores that add, tiles split in two, blocks at places that are read, gathered
# rows; conditions of ragged loads and stores.
SAMPLE = (
    ("waits", "copy_async|views|(clusters.tile: ([24]|8/1|11)|tensor_copies.tile: 3|own_barriers.tile: [3-6]|pipelined_gemm.tile: [23]"
              "|plain_loop.tile: 2|open_products.tile: 1|joined_copies.tile: [16]|tilelang_groups.tile: [14]|gradients_added.tile: 2|recurrences.tile: [14]"
              "|chosen_blocks.tile: 1|gathered_rows.tile: 1)$"),
    ("predicates", "(copy_async.tile: [14]|tilelang_copy.tile: 1|softmax.tile: [12](/1)?|dot.tile: 1)$"),
)


def statements_of(path):
    with open(path) as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#") and not line.startswith("from:"):
                yield line


def choices_of(values):
    """The expressions that a loop goes over, where they are written there: of a tuple, a list, or a product of those; else None."""
    if isinstance(values, (ast.Tuple, ast.List)):
        return None if any(isinstance(value, ast.Starred) for value in values.elts) else values.elts
    if isinstance(values, ast.Call) and isinstance(values.func, ast.Name) and values.func.id == "product" and not values.keywords:
        each = [choices_of(argument) for argument in values.args]
        return None if None in each else [ast.Tuple(list(choice), ast.Load()) for choice in itertools.product(*each)]
    return None


def rounds_of(statements):
    """A line that is one loop, as its rounds: an op of one round's kernel is not worth the others' time again and again."""
    try:
        tree = ast.parse(statements)
    except SyntaxError:
        return [statements]
    loop = tree.body[0]
    choices = choices_of(loop.iter) if len(tree.body) == 1 and isinstance(loop, ast.For) and not loop.orelse else None
    if not choices or len(choices) == 1:
        return [statements]
    rounds = []
    for choice in choices:
        loop.iter = ast.Tuple([choice], ast.Load())
        rounds.append(ast.unparse(ast.fix_missing_locations(tree)))
    return rounds


def tests_of(paths, only, most):
    for path in paths:
        file = next(f for f in (path[:-7] + ".tile", path[:-7] + ".py") if os.path.exists(f))
        for number, statements in enumerate(statements_of(path), 1):
            rounds = rounds_of(statements) if number <= most else []
            for i, one in enumerate(rounds, 1):
                label = number if len(rounds) == 1 else f"{number}/{i}"
                if re.search(only, f"{os.path.basename(file)}: {label}"):
                    yield file, label, one


KINDS = ("waits", "predicates")
GENERAL, SMALLER = ("--general",), (("--at-most=16",), ("--at-most=8",), ("--at-most=4",), ("--at-most=1",), ("--general", "--at-most=9"))


def has_variants(outcomes):
    """Whether some kernel may have code that the variants chosen did not come to."""
    return outcomes is None or any(kernel.endswith("_aligned") or RANKS.get(outcome) == -9 for (kernel, *_), outcome in outcomes.items())


def kind_of(what):
    return KINDS[what.startswith("predicate")]


RANKS = {"missed": 9, "it holds in every call": -7, "it holds for all who come to it": -8, "nobody comes to it": -9}


def rank(outcome):
    """Of what several lines show of one mutant, the highest counts."""
    return (RANKS[outcome], "") if outcome in RANKS else (surviving_reasons.strength_of(outcome[len("not missed: "):]), outcome)


def results_in(path):
    """What an earlier run left: a line for each program, also where that run was killed; and whether it had tried all of the program's mutants."""
    with open(path) as lines:
        for line in lines:
            if line.endswith("\n"):
                name, number, more, outcomes, *whole = json.loads(line)
                yield name, number, more, outcomes, all(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--which", default="all")
    parser.add_argument("--lines", type=int, default=1 << 30)
    parser.add_argument("--json", help="a file that gets what was found, program by program, so that nothing is lost if this is killed")
    parser.add_argument("--skip", action="append", default=[], help="such a file: its programs are not run again, and what was found counts")
    parser.add_argument("--sample", action="store_true", help="what the tests run each time (SAMPLE), in place of --which, --only and files")
    parser.add_argument("--seen", action="append", default=[], help="such a file: what was found there is not tried again in the same code")
    parser.add_argument("--once", action="store_true", help="what one line came to, and tried, the file's other lines do not try again in the same code")
    parser.add_argument("--seconds", type=float, help="to end then, with what was found so far")
    parser.add_argument("--known", help="a list that --write wrote: what is in it is not shown, what is not fails")
    parser.add_argument("--write")
    parser.add_argument("tilec")
    parser.add_argument("accept", nargs="*")
    options = parser.parse_args()
    failed, best, done, missed, seen = False, {}, set(), collections.defaultdict(set), collections.defaultdict(dict)
    tried = collections.defaultdict(dict)

    seen_in = {kind: collections.defaultdict(set) for kind in KINDS}

    def count(name, number, more, outcomes, whole):
        if whole:
            done.add((name, number, tuple(more)))
        for key, outcome in outcomes:
            key = (name, *key)
            if tuple(more) in SMALLER and key not in best:
                continue  # a kernel that the program as it is does not launch
            seen_in[kind_of(key[4])][name].add(str(number).split("/")[0])
            if key not in best or rank(outcome) > rank(best[key]):
                best[key] = outcome
            if outcome == "missed":
                missed[name].add(key[2:4])
            if options.once and outcome not in RANKS:
                tried[name].setdefault(key[2:4], outcome)

    for path in options.seen:
        for name, number, more, outcomes, _ in results_in(path):
            missed[name].update(tuple(key[1:3]) for key, outcome in outcomes if outcome == "missed")
            for at in (seen[name, number, tuple(more)], *([tried[name]] if options.once else [])):
                at.update((tuple(key[1:3]), outcome) for key, outcome in outcomes if outcome not in RANKS)
    for path in options.skip:
        for found in results_in(path):
            count(*found)
    kept = open(options.json, "a") if options.json else None
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "exec")
    accept = glob.glob(os.path.join(folder, "*.accept")) if options.sample else options.accept
    parts = SAMPLE if options.sample else ((options.which, options.only),)
    runs = [(which, *test) for which, only in parts for test in tests_of(accept, only, options.lines)]
    runs = [test for test in runs if (os.path.basename(test[1]), test[2], ()) not in done]
    # The first lines of all files, then the second ones: what one line misses, a later one of the same code need not try.
    runs.sort(key=lambda test: [int(part) for part in str(test[2]).split("/")])

    end = time.monotonic() + options.seconds if options.seconds else None

    def is_over():
        return end is not None and time.monotonic() >= end

    def run_one(which, file, number, statements):
        """Of both variants, and with smaller sizes: ((options, outcomes, why it fails), ...), and whether all of that was done before the end."""
        name, results, own = os.path.basename(file), [], set()

        def run_so(which, more):
            known = dict.fromkeys([*list(missed[name]), *own], "missed")
            results.append((more, *run(options.tilec, which, {**seen[name, number, more], **tried[name], **known}, end, file, statements, *more)))
            own.update(key[1:3] for key, outcome in (results[-1][1] or {}).items() if outcome == "missed")

        if is_over():
            return results, False
        run_so(which, ())
        fails = results[0][1] is None
        if not fails and has_variants(results[0][1]):
            run_so(which, GENERAL)
        for more in SMALLER:
            conditions = {key[1:3] for _, outcomes, _ in results for key in outcomes or () if kind_of(key[3]) == "predicates"}
            if not fails and which != "waits" and conditions - own - missed[name]:
                run_so("predicates", more)
        return results, not is_over()

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(run_one, *test): test for test in runs}
        for future in concurrent.futures.as_completed(waiting):
            _, file, number, _ = waiting[future]
            results, whole = future.result()
            for more, outcomes, why in results:
                if outcomes is None and more in SMALLER:
                    outcomes = {}  # it may be that these are no sizes
                if outcomes is None:
                    print(f"{os.path.basename(file)} {number}: fails as it stands", *more, f"\n{why}", flush=True)
                    failed = True
                    continue
                found = (os.path.basename(file), number, more, list(outcomes.items()), whole)
                count(*found)
                if kept:
                    print(json.dumps(found), file=kept, flush=True)
    tally = collections.Counter()
    silent = collections.defaultdict(list)
    for key, outcome in best.items():
        name, kernel, _, _, what, place = *key[:5], f" of {key[5]}"
        kind, evidence = kind_of(what), outcome.removeprefix("not missed: ")
        tally[kind, "hold" if outcome.startswith("it holds") else outcome.split(":")[0]] += 1
        if outcome in RANKS:  # which of a kernel's they are does not matter
            what, place = what.split(" (")[0], ""
        if outcome != "missed":
            silent[surviving_reasons.name_of(surviving_reasons.class_of(evidence)), f"{name}: {kernel}: {what}{place}"].append(evidence)
    figures = ["{}: {} missed, {} not missed, {} that hold, {} that nobody comes to, in {} lines: {}".format(
        kind, *(tally[kind, outcome] for outcome in ("missed", "not missed", "hold", "nobody comes to it")), sum(map(len, seen_in[kind].values())),
        ", ".join(f"{name} {len(lines)}" for name, lines in sorted(seen_in[kind].items()))) for kind in KINDS]
    known = surviving_reasons.read_list(options.known) if options.known else collections.Counter()
    for (name, text), found in sorted(silent.items(), key=lambda item: item[0][1]):
        known[name, surviving_reasons.lineless(text)] -= len(found)
    for (name, text), found in sorted(silent.items(), key=lambda item: item[0][1]):
        if known[name, surviving_reasons.lineless(text)] < 0 and name not in RANKS:
            print(f"{text} ({len(found)}): {'; '.join(sorted(set(found)))}")
            failed |= options.known is not None
    print("\n".join(figures))
    if options.write:
        surviving_reasons.write_list(options.write, silent, figures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
