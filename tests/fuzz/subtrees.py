#!/usr/bin/env python3
"""subtrees.py [--seed N] [--count N] [--seconds S] [--jobs N] [--arch ARCH...] [--keep FOLDER] TILEC FILE...

Programs that are like valid ones: in the tree of each FILE, some subtrees take each other's place, come twice or go. tilec has to end with
each in S (5) seconds of processor time, with an object or an error: what it crashes on, or does not end with, is written down, and into
FOLDER. Ends with status 1 if there is any."""
import argparse
import ast
import concurrent.futures
import os
import random
import resource
import subprocess
import sys
import tempfile


def places(tree):
    """(node, field, index) of all subtrees: statements and expressions, in a list of its parent or by themselves (None)."""
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, (ast.stmt, ast.expr)):
                yield node, field, None
            elif isinstance(value, list):
                yield from ((node, field, i) for i, item in enumerate(value) if isinstance(item, (ast.stmt, ast.expr)))


def get(place):
    node, field, index = place
    return getattr(node, field) if index is None else getattr(node, field)[index]


def put(place, subtree):
    node, field, index = place
    if index is None:
        setattr(node, field, subtree)
    else:
        getattr(node, field)[index] = subtree


def is_inside(outer, inner):
    return any(node is inner for node in ast.walk(outer))


def swap(chosen, all_places, place):
    subtree = get(place)
    kind = ast.stmt if isinstance(subtree, ast.stmt) else ast.expr
    other = chosen.choice([p for p in all_places if isinstance(get(p), kind)])
    there = get(other)
    if not is_inside(subtree, there) and not is_inside(there, subtree):
        put(place, there)
        put(other, subtree)


def double(chosen, all_places, place):
    node, field, index = place
    subtree = get(place)
    if index is not None:
        getattr(node, field).insert(index, subtree)
    elif isinstance(subtree, ast.expr):
        put(place, ast.BinOp(subtree, chosen.choice([ast.Add(), ast.Mult()]), subtree))


def drop(chosen, all_places, place):
    node, field, index = place
    subtree = get(place)
    if index is not None:
        del getattr(node, field)[index]
        if isinstance(subtree, ast.stmt) and not getattr(node, field) and field == "body":
            node.body.append(ast.Pass())
    elif isinstance(subtree, (ast.BinOp, ast.Attribute, ast.Subscript, ast.Call)):
        put(place, next(child for child in ast.iter_child_nodes(subtree) if isinstance(child, ast.expr)))


def mutate(text, chosen):
    tree = ast.parse(text)
    for _ in range(chosen.choice([1, 1, 2, 3, 8])):
        all_places = list(places(tree))
        chosen.choice([swap, swap, double, drop])(chosen, all_places, chosen.choice(all_places))
    return ast.unparse(tree) + "\n"


def try_one(options, number):
    chosen = random.Random(f"{options.seed} {number}")
    file, arch = chosen.choice(options.files), chosen.choice(options.arch)
    with open(file) as source:
        text = source.read()
    try:
        text = mutate(text, chosen)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        return None  # a tree that has no text
    name = f"{os.path.splitext(os.path.basename(file))[0]}_{options.seed}_{number}.py"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(options.keep or folder, name)
        with open(path, "w") as out:
            out.write(text)
        command = [options.tilec, path, "-I", os.path.dirname(os.path.abspath(file)), f"--arch={arch}", "--ptxas=none", "--no-cache", "-j1",
                   "-o", os.path.join(folder, "x.o")]
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (options.seconds, options.seconds + 1))
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=limit)
        if 0 <= done.returncode <= 3:
            if options.keep:
                os.remove(path)
            return True
        said = (done.stdout.decode(errors="replace").strip().splitlines() or [""])[-1]
        return f"{name} of {file}, for {arch}: status {done.returncode}: {said}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--arch", nargs="+", default=["sm_80", "sm_90a"])
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = [result for result in pool.map(lambda number: try_one(options, number), range(options.count)) if result is not None]
    faults = [result for result in results if result is not True]
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{len(results)} programs, {len(faults)} of them crash or do not end")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
