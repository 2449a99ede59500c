#!/usr/bin/env python3
"""Compares the compiler's trees with CPython's, node by node, places included.

    compare_ast.py [--command 'build/tilec --emit=ast'] [--library [--part=I/N]] [FILE|FOLDER...]

A folder stands for all .py files in it. --library takes all files of the Python that runs this, its tests included; --part=1/4 a fixed quarter
of them. Prints the first differences of each file; the exit status is 1 if there are any.

What is compared otherwise: places inside f-strings from Python 3.12 on, since older ones do not know
them; characters that are written by name (`\\N{DASH}`), which the compiler leaves open, by looking up
the names in the text of the literal; files in other encodings than UTF-8 are to be refused.
"""
import argparse
import ast
import json
import multiprocessing
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import unicodedata
import zlib

LINE = re.compile(r"( *)(?:(\w+)(?:\[(\d+)\])?: )?(?:(\w+) (\d+):(\d+)-(\d+):(\d+)(.*)|None)$")
NAMED = re.compile(rb"(?<!\\)(?:\\\\)*\\N\{([^}]*)\}")  # a character by its name
EXACT_FIELDS = sys.version_info >= (3, 12)  # places inside f-strings
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
    def __init__(self, text):
        self.lines, self.faults, self.inside = re.split(rb"(?<=\n)|(?<=\r)(?!\n)", text), [], 0

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
        self.inside += kind == "JoinedStr"
        if kind not in PLACELESS and (EXACT_FIELDS or self.inside <= (kind == "JoinedStr")):
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
        self.inside -= kind == "JoinedStr"

    def source(self, place):
        """The text at a place; its first line starts at `column`, its last one ends at `end`."""
        line, column, end_line, end = place
        lines = self.lines[line - 1:end_line]
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][column:]
        return b"".join(lines)

    def constant(self, ours, value):
        got = ours.fields.get("value")
        if got is not None and got[0] == "str" and "\ufffd" in got[1]:
            text = got[1]
            for name in NAMED.findall(self.source(ours.place)):
                text = text.replace("\ufffd", unicodedata.lookup(name.decode()), 1)
            got = ("str", text)
        return got is not None and constant_matches(got, value)

    def field(self, path, ours, name, value):
        if name == "value" and type(value) in (bool, str, bytes, int, float, complex, type(None),
                                               type(Ellipsis)) and ours.kind in ("Constant",
                                                                                 "MatchSingleton"):
            if not self.constant(ours, value):
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


def declares_encoding(text):
    """Whether one of the first two lines names an encoding, and not all is ASCII."""
    lines = text.split(b"\n")[:2]
    return not text.isascii() and any(
        re.match(rb"[ \t\f]*#.*?coding[:=][ \t]*(?!utf-?_?8)", line, re.I) for line in lines)


def compare_file(command, path):
    """The differences, or None if the file is rightly refused for its encoding."""
    with open(path, "rb") as file:
        text = file.read()
    try:
        theirs = ast.parse(text)
        if not declares_encoding(text):
            text.decode()  # else bytes in comments are not looked at
    except (SyntaxError, ValueError) as error:
        theirs = error
    run = subprocess.run(command + [path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output = run.stdout.decode("utf-8", "surrogateescape")
    errors = run.stderr.decode("utf-8", "replace")
    if run.returncode not in (0, 1, 2):  # neither taken nor refused
        return [f"status {run.returncode}: " + errors[:400]]
    if run.returncode == 1 and declares_encoding(text) and "[E0119]" in errors:
        return None
    if isinstance(theirs, Exception):
        binary = run.returncode == 2 and "[E0701]" in errors  # zero bytes: not read as text
        if run.returncode == 1 or binary or "encoding" in str(theirs):
            return []
        return [f"accepted, but Python says: {theirs}"]
    if run.returncode != 0:
        try:
            compile(text, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return []
        return [f"refused (status {run.returncode}): " + errors[:400]]
    comparison = Comparison(text.removeprefix(b"\xef\xbb\xbf"))
    comparison.node("", read_tree(output), theirs)
    return comparison.faults


def compare_one(job):
    sys.setrecursionlimit(20000)
    command, path = job
    try:
        return path, compare_file(command, path)
    except Exception as error:  # a tree that cannot be read is a difference too
        return path, [f"{type(error).__name__}: {error}"]


def python_files(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in ("site-packages", "__pycache__")]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".py"))


def library_files(part):
    root = sysconfig.get_paths()["stdlib"]
    index, count = (int(word) for word in part.split("/"))
    for path in python_files(root):
        if zlib.crc32(os.path.relpath(path, root).encode()) % count == index - 1:
            yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--command", default="build/tilec --emit=ast")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    files = sorted(library_files(options.part) if options.library else [])
    for path in options.files:
        files += sorted(python_files(path)) if os.path.isdir(path) else [path]
    command = shlex.split(options.command)
    different = encoded = 0
    with multiprocessing.Pool(options.jobs) as pool:
        for path, faults in pool.imap(compare_one, [(command, path) for path in files], 8):
            encoded += faults is None
            different += bool(faults)
            for fault in (faults or [])[:options.show]:
                print(f"{path}: {fault}")
    print(f"{len(files)} files, {encoded} in other encodings, {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
