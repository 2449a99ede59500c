#!/usr/bin/env python3
"""cross_check.py CHECK [POINTS]: the 128-bit reference of check.c against mpmath with 2500 bits, at some points of each
function. They agree to 2**-95, relatively; needs mpmath."""
import subprocess
import sys

import mpmath as m

m.mp.prec = 2500
CHECK, POINTS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
ENDS = 58 * 58  # as many points come first
FUNCTIONS = {
    "exp": m.exp, "exp2": lambda x: m.mpf(2) ** x, "expm1": m.expm1, "log": m.log, "log2": lambda x: m.log(x) / m.log(2),
    "log10": lambda x: m.log(x) / m.log(10), "log1p": m.log1p, "sin": m.sin, "cos": m.cos, "tan": m.tan, "asin": m.asin,
    "acos": m.acos, "atan": m.atan, "sinh": m.sinh, "cosh": m.cosh, "tanh": m.tanh, "erf": m.erf, "erfc": m.erfc,
    "asinh": m.asinh, "acosh": m.acosh, "atanh": m.atanh, "sqrt": m.sqrt, "rsqrt": lambda x: 1 / m.sqrt(x),
    "cbrt": lambda x: m.sign(x) * abs(x) ** (m.mpf(1) / 3), "atan2": m.atan2, "hypot": m.hypot, "pow": lambda x, y: x ** y,
}
TWO = ("atan2", "hypot", "pow")


def is_usual(words):
    """Of finite numbers, whose result is far from the ends of the formats."""
    return all(abs(w) < m.mpf(10) ** 300 for w in words) and words[2] != 0 and abs(words[2]) > m.mpf(10) ** -270


def number(text):
    return m.mpf(float.fromhex(text)) if "n" not in text else m.inf


compared, worst = 0, m.mpf(0)
for line in subprocess.run([CHECK, "--dump", "--points", str(ENDS + POINTS), *FUNCTIONS], capture_output=True, text=True, check=True).stdout.splitlines():
    name, *words = line.split()
    x, y, *parts = [number(word) for word in words]
    if not is_usual([x, y, sum(parts)]) or (name in ("erf", "erfc", "exp", "sinh", "cosh", "tanh", "expm1", "exp2") and abs(x) > 1500):
        continue
    with m.workprec(2500 if name in ("sin", "cos", "tan") else 400):
        exact = FUNCTIONS[name](x, y) if name in TWO else FUNCTIONS[name](x)
        error = abs(sum(parts) / exact - 1)
    compared += 1
    if not error < m.mpf(2) ** -95:
        print(line, "is not", m.nstr(exact, 40), "but off by", m.nstr(error, 5))
        sys.exit(1)
    worst = max(worst, error)
print(f"{compared} points agree; the greatest relative difference is 2^{float(m.log(worst) / m.log(2)):.1f}")
sys.exit(compared < POINTS * len(FUNCTIONS) // 3)
