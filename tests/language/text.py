# Text: methods, slices, the three ways of formatting.
s = "Hello, World"
print(s.upper(), s.lower(), s.replace("o", "0"), s.split(", "), s.find("World"), s.find("z"), s.count("l"), s.startswith("He"), s.endswith(("x", "ld")), s[::-1], s[1:4], s[-1], len(s))
print("  a b ".strip(), "xxaxx".strip("x"), "xxa".lstrip("x"), "axx".rstrip("x"), "a,b,,c".split(","), " a  b ".split(), "a b c".split(" ", 1), "a.b.c".rsplit(".", 1), "l1\nl2".splitlines())
print("-".join(["a", "b"]), "ab" * 2, "a" + "b", "a" in "abc", "abc" < "abd", "a=b=c".partition("="), "a=b=c".rpartition("="), "x".partition("="))
print("ab".ljust(5) + "|", "ab".rjust(5, "*"), "ab".center(5, "-"), "abc".center(6, "."), "42".zfill(5), "-42".zfill(5), "hello world".title(), "hELLO".capitalize())
print("12".isdigit(), "ab".isalpha(), "a1".isalnum(), "AB".isupper(), "ab".islower(), " ".isspace(), "a_1".isidentifier(), "1a".isidentifier(), "prefix_x".removeprefix("prefix_"), "x.py".removesuffix(".py"))
v, w, n = 3.14159, 42, "name"
print(f"{v:.2f} {v:8.3f}| {v:<8.1f}| {v:e} {v:g} {w:5d}| {w:<5}| {w:^5}| {w:05d} {w:x} {w:#x} {w:b} {w:o} {w:+d} {n!r} {n:>6}| {n:*^8} {w:,} {1234567:,} {0.25:.0%} {1e6:,.1f}")
print(f"{w=} {v + 1 = :.1f} {{}} {[1, 2]} {'a' if w else 'b'} {n[0]}{n[-1]} {w:{5}d} {v:.{2}f}")
print("{} {} {}".format(1, "a", [1]), "{1} {0}".format("a", "b"), "{x} {y:.1f}".format(x=1, y=2.5), "{0:>4}|{0:<4}|".format("z"), "{{}} {}".format(1), "{0[1]} {1.imag}".format([5, 6], 1) if False else "")
print("%d %s %r %5.2f %x %05d %-4d| %+d %% %c" % (1, "a", "b", 3.14159, 255, 42, 7, 5, "z"), "%s" % [1], "%(k)s" % {"k": 1}, "%3s|%-3s|" % ("a", "b"))
print(str(1), str(2.5), str(None), str([1, "a"]), repr("it's"), repr('a"b'), repr("a\nb\t\\"), str((1,)), str(True), repr("x"), str({"a": 1}))
print("a" "b", """multi
line""", r"\n", "\x41\u00e9\t|", len("é"), "tab\there")
print(format(3.14159, ".3f"), format(10, "b"), "abc"[1], "abc"[-2:], ord("A"), chr(97))
print("a\\b", 'single "double"', "don't", "%s and %s" % ("x", "y"), "".join(chr(ord("a") + i) for i in range(5)), sep="|", end="!\n")
word = "größe"
print(len(word), word[2], word[-1], word[::-1], word[1:4], word[2:2], word[10:], word.find("e"), word.rfind("ö"), word.index("ß"))
print(word.center(9, "*"), word.ljust(7, "."), word.rjust(7, "."), "ä".zfill(3), len("x".ljust(5000)), "äöü"[True], "a日b本"[1::2])
print("äaä".strip("ö"), "öaäö".strip("öä"), "  x\t\n".strip(), "xaxbx".lstrip("x"), "xaxbx".rstrip("x"), "日本日".strip("日"), "".strip(), "aaa".strip("a") + "|")

# widths and counts below 0
print("ab".ljust(-5), "ab".zfill(-(2**62) * 2), "a b c".split(None, -(2**62) * 2), "aaa".replace("a", "b", -3))

# from behind, and parts of long texts
print("aaaa".rfind("aa"), "abcabc".rfind("abc"), "abc".rfind("x"), "abc".rfind(""), "".rfind(""), "ab".rfind("abc"))
print("a,b,,c".rsplit(",", 1), "a,b,,c".rsplit(",", 2), "a,b,,c".rsplit(",", 9), "aaaaa".rsplit("aa", 1), "aaaaa".rsplit("aa", 2), "abc".rsplit("x", 1), "".rsplit(",", 1), "a--b--c".rsplit("--", 0))
print("a=b=c".rpartition("="), "abc".rpartition("="), "aaa".rpartition("aa"), "größe ö".rsplit("ö", 1))
print(len(("ab" * 500000).rsplit("b", 400000)), ("a" * 1000000).rfind("a" * 500000), len(("xa" * 3).strip("x" * 100000)))
print("größe"[1:3], "größe"[::2], "größe"[-2:], "größe"[3:1:-1], "größe"[:0], "größe"[::-2], "abc"[5:], "abc"[-9:2], len(("ö" * 400000)[3:]))
print("a\tb".expandtabs(4), "a\tb".expandtabs(0), "a\tb".expandtabs(-3), "äöü".replace("", "."), "x".join("abc"))
