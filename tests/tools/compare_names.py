#!/usr/bin/env python3
"""Compares names beyond ASCII with CPython's: which characters one may have, and how it is normalised.

    compare_names.py [--command 'build/tilec --emit=ast'] [--part=I/N]

Takes every character that this Python knows, alone and behind a letter, then names of random letters
and marks (from a fixed seed), and all characters next to those that are allowed, which are to be
refused. --part=1/4 takes every fourth.
"""
import argparse
import os
import random
import shlex
import subprocess
import sys
import tempfile
import unicodedata

from compare_ast import compare_file

WRONG_PER_FILE = 40  # fewer than the errors after which the compiler stops


def is_name(text):
    return text.isidentifier() and not any(unicodedata.category(c) == "Cn" for c in text)


def right_names():
    known = [chr(c) for c in range(0x80, 0x110000) if is_name("_" + chr(c))]
    yield from (c for c in known if c.isidentifier())
    yield from ("_" + c for c in known)
    chance = random.Random(1)
    marks = [c for c in known if unicodedata.combining(c)]
    composed = [c for c in known if unicodedata.decomposition(c)]
    jamo = [chr(c) for c in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A7, 0x11C3),
                             *range(0xAC00, 0xAC40))]
    for _ in range(30000):
        pool = chance.choice(([*"aeou"], jamo, composed, known))
        name = "_" + "".join(chance.choice(chance.choice((pool, marks, pool)))
                             for _ in range(chance.randrange(2, 7)))
        if is_name(name):
            yield name


def wrong_characters():
    for c in range(0x80, 0x110000):
        if 0xD800 <= c < 0xE000 or ("_" + chr(c)).isidentifier():
            continue
        if ("_" + chr(c - 1)).isidentifier() or c < 0x110000 - 1 and ("_" + chr(c + 1)).isidentifier():
            if unicodedata.category(chr(c)) != "Cn":
                yield chr(c)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default="build/tilec --emit=ast")
    parser.add_argument("--part", default="1/1")
    options = parser.parse_args()
    command = shlex.split(options.command)
    index, count = (int(word) for word in options.part.split("/"))
    names = list(right_names())[index - 1::count]
    wrong = list(wrong_characters())[index - 1::count]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "names.py")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in names)
        faults = compare_file(command, path)
        for begin in range(0, len(wrong), WRONG_PER_FILE):
            some = wrong[begin:begin + WRONG_PER_FILE]
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(f"_{c}\n" for c in some)
            run = subprocess.run(command + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            errors = run.stderr.decode()
            faults += [f"U+{ord(c):04X} is accepted" for line, c in enumerate(some, 1)
                       if f"{path}:{line}:2: error: unexpected character" not in errors]
    for fault in faults[:20]:
        print(fault)
    print(f"{len(names)} names, {len(wrong)} wrong characters, {len(faults)} differences")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
