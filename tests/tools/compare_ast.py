#!/usr/bin/env python3
"""Compares the compiler's trees with CPython's, node by node, places included.

    compare_ast.py [--command 'build/tilec --emit=ast'] FILE...

Run it under Python 3.12, whose trees have exact places inside f-strings. Prints the first differences
of each file; the exit status is 1 if there are any.
"""
import argparse
import ast
import json
import re
import shlex
import subprocess
import sys

LINE = re.compile(r"( *)(?:(\w+)(?:\[(\d+)\])?: )?(?:(\w+) (\d+):(\d+)-(\d+):(\d+)(.*)|None)$")
PLACELESS = {"Module", "arguments", "comprehension", "withitem", "match_case"}
OURS_ONLY_IF_EMPTY = {"type_params"}  # fields that an older Python lacks


class Node:
    def __init__(self, kind, place, fields):
        self.kind, self.place, self.fields, self.children = kind, place, fields, {}


def read_scalars(text):
    """name=value pairs; a value is a JSON string (b before bytes) or a word without blanks."""
    fields, decoder, at = {}, json.JSONDecoder(), 0
    while at < len(text):
        match = re.compile(r' (\w+)=(b?)').match(text, at)
        name, prefix, begin = match.group(1), match.group(2), match.end()
        if text[begin:begin + 1] == '"':
            value, at = decoder.raw_decode(text, begin)
            fields[name] = ("bytes" if prefix else "str", value)
        else:
            begin = match.end(1) + 1
            at = text.find(" ", begin)
            at = len(text) if at < 0 else at
            fields[name] = ("word", text[begin:at])
    return fields


def read_tree(text):
    stack, root = [], None
    for line in text.split("\n"):
        if not line:
            continue
        match = LINE.match(line)
        if match is None:
            raise ValueError("cannot read: " + line)
        depth = len(match.group(1)) // 2
        node = None
        if match.group(4) is not None:
            place = tuple(int(match.group(i)) for i in range(5, 9))
            node = Node(match.group(4), place, read_scalars(match.group(9)))
        del stack[depth:]
        if stack:
            children = stack[-1].children
            if match.group(3) is None:
                children[match.group(2)] = node
            else:
                children.setdefault(match.group(2), []).append(node)
        else:
            root = node
        stack.append(node)
    return root


def escaped(value):
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    return data.decode("utf-8", "surrogateescape")


def constant_matches(ours, value):
    kind, text = ours
    if isinstance(value, str):
        return kind == "str" and text == escaped(value)
    if isinstance(value, bytes):
        return kind == "bytes" and text == escaped(value)
    if kind != "word":
        return False
    if value is None or value is True or value is False:
        return text == repr(value)
    if value is Ellipsis:
        return text == "..."
    if isinstance(value, int):
        return int(text.replace("_", ""), 0) == value
    if isinstance(value, complex):
        return text.endswith("j") and float(text[:-1]) == value.imag
    return not text.endswith("j") and float(text) == value


class Comparison:
    def __init__(self, spans):
        self.spans, self.faults = spans, []

    def fault(self, path, text):
        self.faults.append(f"{path}: {text}")

    def node(self, path, ours, theirs):
        if ours is None or theirs is None:
            if (ours is None) != (theirs is None):
                self.fault(path, f"{ours and ours.kind} instead of {theirs and ast.dump(theirs)[:80]}")
            return
        kind = type(theirs).__name__
        path = f"{path}{kind}"
        if ours.kind != kind:
            self.fault(path, f"{ours.kind} at {ours.place}")
            return
        if kind not in PLACELESS and self.spans:
            place = (theirs.lineno, theirs.col_offset, theirs.end_lineno, theirs.end_col_offset)
            if place != ours.place:
                self.fault(path, f"place {ours.place} instead of {place}")
        for name, value in ast.iter_fields(theirs):
            if name not in ("ctx", "type_comment", "type_ignores", "kind"):
                self.field(f"{path}.{name}", ours, name, value)
        known = {name for name, _ in ast.iter_fields(theirs)}
        for name in set(ours.fields) | set(ours.children):
            if name not in known and name not in OURS_ONLY_IF_EMPTY:
                self.fault(path, f"field {name} is not Python's")

    def field(self, path, ours, name, value):
        if name == "value" and type(value) in (bool, str, bytes, int, float, complex, type(None),
                                               type(Ellipsis)) and ours.kind in ("Constant",
                                                                                 "MatchSingleton"):
            if name not in ours.fields or not constant_matches(ours.fields[name], value):
                self.fault(path, f"{ours.fields.get(name)} instead of {value!r:.80} at {ours.place}")
        elif isinstance(value, list) and value and isinstance(value[0], (str, ast.cmpop)):
            expected = ",".join(v if isinstance(v, str) else type(v).__name__ for v in value)
            self.word(path, ours, name, expected)
        elif isinstance(value, list):
            self.list(path, ours, name, value)
        elif isinstance(value, (ast.operator, ast.unaryop, ast.boolop)):
            self.word(path, ours, name, type(value).__name__)
        elif isinstance(value, ast.AST):
            self.node(path + "/", ours.children.get(name), value)
        elif value is None:
            if name in ours.fields or name in ours.children:
                self.fault(path, "present, but not in Python's tree")
        else:
            self.word(path, ours, name, str(value))

    def word(self, path, ours, name, expected):
        got = ours.fields.get(name, (None, None))[1]
        if got != expected:
            self.fault(path, f"{got} instead of {expected} at {ours.place}")

    def list(self, path, ours, name, value):
        got = ours.children.get(name, [])
        if ours.kind == "JoinedStr":  # 3.12 leaves empty texts behind a field in a format
            value = [v for v in value if not (isinstance(v, ast.Constant) and v.value == "")]
        if len(got) != len(value):
            self.fault(path, f"{len(got)} instead of {len(value)} at {ours.place}")
            return
        for i, (mine, theirs) in enumerate(zip(got, value)):
            self.node(f"{path}[{i}]/", mine, theirs)


def compare_file(command, path, spans):
    with open(path, "rb") as file:
        text = file.read()
    try:
        theirs = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        theirs = error
    run = subprocess.run(command + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output = run.stdout.decode("utf-8", "surrogateescape")
    if isinstance(theirs, Exception):
        return [] if run.returncode == 1 else [f"accepted, but Python says: {theirs}"]
    if run.returncode != 0:
        return [f"refused (status {run.returncode}): " + run.stderr.decode("utf-8", "replace")[:400]]
    comparison = Comparison(spans)
    comparison.node("", read_tree(output), theirs)
    return comparison.faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default="build/tilec --emit=ast")
    parser.add_argument("--no-places", action="store_true")
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    sys.setrecursionlimit(20000)
    different = 0
    for path in options.files:
        faults = compare_file(shlex.split(options.command), path, not options.no_places)
        different += bool(faults)
        for fault in faults[:options.show]:
            print(f"{path}: {fault}")
    print(f"{len(options.files)} files, {different} of them differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
