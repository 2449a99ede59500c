#!/usr/bin/env python3
"""coverage.py BUILD [--least PERCENT ROOM...]: the lines that ran, by room, of a build with gcov's counters (`make coverage`), and the
files with most lines that did not. Exit status 1 if one of the rooms has less than PERCENT.

What a process did that ends by `_exit` or a signal is not counted."""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys


def counts(build):
    """(file, lines executed, lines) of each source file of the project."""
    for notes in glob.glob(f"{build}/obj/**/*.gcno", recursive=True):
        data = notes[:-5] + ".gcda"
        report = subprocess.run(["gcov", "-n", "-r", "-s", os.getcwd(), "-o", os.path.dirname(notes), data if os.path.exists(data) else notes],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        for file, percent, lines in re.findall(r"File '([^']+)'\nLines executed:([\d.]+)% of (\d+)", report):
            if not file.endswith(".h") and not file.startswith("/"):
                yield file, float(percent) * int(lines) / 100, int(lines)


def room_of(file):
    parts = file.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 and parts[0] == "compiler" else parts[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--least", nargs="+", default=["0"], metavar="PERCENT ROOM")
    options = parser.parse_args()
    files = sorted(counts(options.build))
    rooms = collections.defaultdict(lambda: [0.0, 0])
    for file, ran, lines in files:
        rooms[room_of(file)][0] += ran
        rooms[room_of(file)][1] += lines
    for room, (ran, lines) in sorted(rooms.items()):
        print(f"{room:24} {100 * ran / lines:5.1f} % of {lines}")
    print("most lines that did not run:")
    for file, ran, lines in sorted(files, key=lambda file: file[1] - file[2])[:12]:
        print(f"  {file:38} {lines - ran:4.0f} of {lines}")
    least, *asked = options.least
    low = [room for room in asked if room not in rooms or 100 * rooms[room][0] < float(least) * rooms[room][1]]
    if low:
        print(f"less than {least} %:", *low)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
