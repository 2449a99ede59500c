#!/usr/bin/env python3
"""Writes compiler/syntax/unicode.def: which characters a name may have, and NFKC for them.

    python3 grammar/unicode.py > compiler/syntax/unicode.def

Only characters beyond ASCII that a name may hold are in the tables. Hangul syllables are composed by
arithmetic and have no rows.
"""
import sys
import unicodedata

CHARACTERS = [c for c in range(0x80, 0x110000) if not 0xD800 <= c < 0xE000]
HANGUL = range(0xAC00, 0xAC00 + 11172)


def name_class(c):
    """2: may start a name, 1: may continue one, 0: neither."""
    return 2 if chr(c).isidentifier() else 1 if ("a" + chr(c)).isidentifier() else 0


def nfkc(c):
    return unicodedata.normalize("NFKC", chr(c))


def ranges(values, step):
    """[first, last, value] for runs of characters; `step` is what a value grows by in a run."""
    runs = []
    for c, value in values:
        if runs and runs[-1][1] == c - 1 and runs[-1][2] + step * (c - runs[-1][0]) == value:
            runs[-1][1] = c
        else:
            runs.append([c, c, value])
    return runs


def print_rows(table, comment, rows):
    print(f"\n#ifdef {table} /* {comment} */")
    line = ""
    for row in rows:
        if len(line) + len(row) > 130:
            print(line)
            line = ""
        line += row + ","
    print(line)
    print("#endif")


def main():
    names = [c for c in CHARACTERS if name_class(c)]
    changed = {c: nfkc(c) for c in names if nfkc(c) != chr(c)}
    single = [(c, ord(text)) for c, text in changed.items() if len(text) == 1]
    several = [(c, text) for c, text in changed.items() if len(text) > 1]
    classes = [(c, unicodedata.combining(chr(c))) for c in names if unicodedata.combining(chr(c))]
    pairs = []
    for c in names:
        parts = unicodedata.decomposition(chr(c)).split()
        if c not in changed and c not in HANGUL and len(parts) == 2 and parts[0][0] != "<":
            pairs.append((c, int(parts[0], 16), int(parts[1], 16)))
    order = sorted(range(len(pairs)), key=lambda i: pairs[i][1:])
    print(f"/* unicode.def: names beyond ASCII, by Unicode {unicodedata.unidata_version}. Written by "
          "grammar/unicode.py; see there. */")
    print_rows("NAME_RANGES", "first, last, 2: starts a name or 1: continues one",
               [f"{{0x{a:x},0x{b:x},{k}}}"
                for a, b, k in ranges([(c, name_class(c)) for c in names], 0)])
    print_rows("NFKC_RANGES", "first, last, what the first one stands for; the next for the next",
               [f"{{0x{a:x},0x{b:x},0x{k:x}}}" for a, b, k in ranges(single, 1)])
    print_rows("NFKC_TEXTS", "character, what it stands for, in UTF-8",
               [f'{{0x{c:x},"' + "".join(f"\\{b:o}" for b in text.encode()) + '"}'
                for c, text in several])
    print_rows("COMBINING_RANGES", "first, last, combining class",
               [f"{{0x{a:x},0x{b:x},{k}}}" for a, b, k in ranges(classes, 0)])
    print_rows("PAIRS", "character, its two parts", [f"{{0x{c:x},0x{a:x},0x{b:x}}}" for c, a, b in pairs])
    print_rows("PAIR_ORDER", "where the pairs stand, in the order of their parts",
               [str(i) for i in order])


if __name__ == "__main__":
    sys.exit(main())
