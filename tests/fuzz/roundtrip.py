#!/usr/bin/env python3
"""roundtrip.py [--seed N] [--count N] TILEC: the IR of random kernels after each pass, printed and read back: the text
has to come out the same, and the passes run one by one from text have to end where all at once do."""
import argparse
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
from barriers import run  # noqa: E402
from generate import IMPORTS, make_kernel  # noqa: E402


def apply(tilec, folder, text, *options):
    path = os.path.join(folder, "k.ir")
    with open(path, "w") as file:
        file.write(text)
    done = run(tilec, "opt", "--verify-each", *options, path)
    return done.stdout if done.returncode == 0 else f"exit status {done.returncode}: {done.stdout}"


def without_numbers(text):
    """Names alike are told apart by numbers, which text that was read gets anew."""
    return re.sub(r"(%[A-Za-z_]\w*)(\.\d+)+", r"\1", text)


def check(tilec, names, kernel):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "k.tile")
        with open(source, "w") as file:
            file.write(IMPORTS + "\n".join(kernel.lines()))
        typed = os.path.join(folder, "typed.ir")
        done = run(tilec, source, "--emit=ir", "--export", f"k = {kernel.name}()", "-o", typed)
        if done.returncode:
            return "evaluation: " + done.stdout
        with open(typed) as file:
            whole = text = file.read()
        for name in names:
            text = apply(tilec, folder, text, "--run=" + name)
            if text.startswith("exit status") or apply(tilec, folder, text, "--run=") != text:
                return f"{name}: {text[:300]}"
        return "" if without_numbers(apply(tilec, folder, whole)) == without_numbers(text) else "one by one differs from all at once"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tilec")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    names, failures = [line.split()[0] for line in run(options.tilec, "opt", "--list").stdout.splitlines()], 0
    for seed in range(options.seed, options.seed + options.count):
        kernel = make_kernel(seed)
        kernel.params = [(name, "int32" if kind == "int" else kind, value) for name, kind, value in kernel.params]
        trouble = check(options.tilec, names, kernel)
        if trouble:
            failures += 1
            print(f"{kernel.name}: {trouble}", flush=True)
    print(f"{options.count} kernels, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
