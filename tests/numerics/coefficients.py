#!/usr/bin/env python3
"""Computes the numbers of stdlib/math.tile and prints them as its tables; needs mpmath.

A polynomial is the one that interpolates at the Chebyshev nodes of its interval, computed with 400
bits: its greatest error is within a small factor of the minimax one (Muller, Elementary Functions,
3rd edition, chapter 3), which one more degree makes up for. The degree is the lowest whose error,
relative to the function's value, lies `GUARD` bits below the last place of the format (or at `bits`
where the result is used in more than working precision). Coefficients stand highest first and are
rounded to the format.

    coefficients.py > stdlib/_math_tables.tile
"""
from mpmath import atan, atanh, cos, erf, erfc, exp, floor, log, mp, mpf, pi, sin, sqrt, tan, tanh

mp.prec = 400
GUARD = 6
POLYNOMIALS = ("exp", "log", "log2", "sin", "cos", "atan", "erf", "erf_one", "erfc", "cbrt", "exp_wide", "exp2_wide",
               "sin_half", "cos_half", "log_near", "log10_near", "log2_pair_near", "tanh_near", "erf_near", "erf_far",
               "sin_near", "cos_near", "tan_near", "atan_near")
ERFC_END = {"f32": 10.5, "f64": 28.0}  # erfc is zero from here on
FORMATS = {
    "f32": dict(digits=24, exponent=8),
    "f64": dict(digits=53, exponent=11),
}


def rounded(x, digits):
    """To `digits` bits, to nearest."""
    if x == 0:
        return mpf(0)
    saved, mp.prec = mp.prec, digits
    try:
        return +mpf(x)
    finally:
        mp.prec = saved


def text(x):
    """A decimal that reads back exactly as a double."""
    return repr(float(x))


def chebyshev_nodes(low, high, degree):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]


def nodes_above_zero(high, degree):
    """Where x * (x - node) * ... is as small as may be from 0 to `high`: a Chebyshev polynomial's zeros but the last, which is at 0."""
    zeros = [cos(pi * (2 * i + 1) / (2 * degree + 4)) for i in range(degree + 2)]
    return [high * (zeros[0] - zero) / (zeros[0] + 1) for zero in zeros[1:]]


def interpolate(function, nodes):
    """Coefficients, lowest first, by Newton's divided differences."""
    count = len(nodes)
    table = [function(x) for x in nodes]
    for level in range(1, count):
        for i in range(count - 1, level - 1, -1):
            table[i] = (table[i] - table[i - 1]) / (nodes[i] - nodes[i - level])
    result = [mpf(0)]
    for i in range(count - 1, -1, -1):  # Horner on (x - node)
        shifted = [mpf(0)] + result
        result = [shifted[j] - nodes[i] * (result[j] if j < len(result) else 0) for j in range(len(shifted))]
        result[0] += table[i]
    return result[:count]


def greatest(error, low, high, samples=200):
    return max(abs(error(low + (high - low) * (i + mpf(1) / 3) / samples)) for i in range(samples))


def polynomial(function, low, high, weight, bits, linear=False):
    """The lowest degree at which |weight(x) * (p(x) - function(x))| < 2**-bits; linear: the weight is x."""
    low, high = mpf(low), mpf(high)
    for degree in range(2, 60):
        found = interpolate(function, nodes_above_zero(high, degree) if linear else chebyshev_nodes(low, high, degree))
        value = lambda x: sum(c * x**i for i, c in enumerate(found))
        if greatest(lambda x: weight(x) * (value(x) - function(x)), low, high) < mpf(2) ** -bits:
            return found
    raise ValueError("no polynomial of degree below 60")


TINY = mpf(2) ** -90


def safe(function):
    """Differences cancel near zero, where 400 bits leave enough at 2**-90 but nothing at 0."""
    return lambda x: function(x if abs(x) > TINY else TINY)


def tables(name):
    form = FORMATS[name]
    p = form["digits"]
    bits = p + GUARD
    half = log(2) / 2 * mpf("1.001")
    w_most = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")
    z_most = (pi / 4 * mpf("1.001")) ** 2
    t_most = (sqrt(2) - 1) * mpf("1.001")
    erfc_most = mpf(ERFC_END[name])

    root = lambda f: (lambda z: f(sqrt(z)))
    twice = lambda f: (lambda h: f(sqrt(2 * h)))
    rows = {}
    rows["exp"] = polynomial(safe(lambda r: (exp(r) - 1 - r) / r**2), -half, half, lambda r: r**2, bits)
    if name == "f32":  # over two binades, where two places will do
        wide = log(2) * mpf("1.001")
        tail = safe(lambda r: (exp(r) - 1 - r) / r**2)
        rows["exp_wide"] = polynomial(tail, -wide, wide, lambda r: r**2 / exp(r), p + 2)
        power = safe(lambda f: (2**f - 1) / f)
        rows["exp2_wide"] = polynomial(power, mpf("-1.001"), mpf("1.001"), lambda f: f / 2**f, p + 2)
    log_tail = safe(root(lambda s: ((2 * atanh(s) - 2 * s) / s**3 - mpf(2) / 3) / s**2))
    rows["log"] = polynomial(log_tail, 0, w_most, lambda w: w**2 / 2, bits + form["exponent"] + 3)
    if name == "f32":  # of log2(1 + f) without its first term, within one place
        near = safe(lambda f: (log(1 + f) / f - 1) / f / log(2))
        rows["log2"] = polynomial(near, (sqrt(mpf(2)) / 2 - 1) * mpf("1.001"), t_most, lambda f: f**2 / log(1 + f) * log(2) if f else f, p + 3)
    if name == "f32":  # of log(1 + f) by f alone, and of tanh(x) by x**2 below what 2 / (exp(2 x) + 1) is taken from 1 for
        near, least = safe(lambda f: (log(1 + f) - f) / f**2), (sqrt(mpf(2)) / 2 - 1) * mpf("1.001")
        rows["log_near"] = polynomial(near, mpf("-0.251"), mpf("0.501"), lambda f: f, p + 2)
        # Of base 10 without its first term, and of base 2 by s = f / (2 + f), from s**3 on, for pairs.
        rows["log10_near"] = polynomial(lambda f: near(f) / log(10), least, t_most, lambda f: f * log(10), p + 2)
        tail = safe(root(lambda s: (2 * atanh(s) - 2 * s) / s**3 / log(2)))
        rows["log2_pair_near"] = polynomial(tail, 0, w_most, lambda w: w * log(2) / 2, p + 8)
        near = safe(root(lambda x: (tanh(x) / x - 1) / x**2))
        rows["tanh_near"] = polynomial(near, 0, mpf("0.751") ** 2, lambda z: z, p + 2, True)
        # Of erf(x) by x**2, and what erf(x) is less than 1 by as a power of 2, up to where that is nothing.
        rows["erf_near"] = polynomial(safe(root(lambda x: erf(x) / x - 1)), 0, mpf("1.001") ** 2, lambda z: mpf(1), p + 3)
        rows["erf_far"] = polynomial(lambda a: log(erfc(a)) / log(2), mpf("0.999"), mpf(4), lambda a: erfc(a), p + 2)
    if name == "f32":  # for one rounding behind the first term
        for key, function, most in (("sin_near", sin, z_most), ("tan_near", tan, z_most), ("atan_near", atan, mpf(1))):
            rows[key] = polynomial(safe(root(lambda x: (function(x) / x - 1) / x**2)), 0, most, lambda z: z, p + 1, True)
        rows["cos_near"] = [mpf(-1) / 2] + polynomial(safe(root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4)), 0, z_most, lambda z: z**2, p + 3)
    rows["sin"] = polynomial(safe(root(lambda r: (sin(r) - r) / r**3)), 0, z_most, lambda z: z, bits)
    rows["cos"] = polynomial(safe(root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4)), 0, z_most, lambda z: z**2, bits)
    if name == "f32":  # of half of the square, within one place
        rows["sin_half"] = polynomial(safe(twice(lambda r: 2 * (sin(r) / r - 1) / r**2)), 0, z_most / 2, lambda h: h, p + 3, True)
        tail = polynomial(safe(twice(lambda r: 4 * (cos(r) - 1 + r**2 / 2) / r**4)), 0, z_most / 2, lambda h: h**2, p + 3)
        rows["cos_half"] = [mpf(-1)] + tail
    rows["atan"] = polynomial(safe(root(lambda t: (atan(t) - t) / t**3)), 0, t_most**2, lambda z: z, bits)
    near = polynomial(safe(root(lambda x: erf(x) / x - 1)), 0, mpf("0.601") ** 2, lambda z: mpf(1), bits)
    one = polynomial(safe(lambda s: (erf(1 + s) - erf(1)) / s), mpf("-0.401"), mpf("0.451"), lambda s: s, bits)
    rows["erf"] = near + [mpf(0)] * (len(one) - len(near))  # of one length: they are chosen from
    rows["erf_one"] = one

    def scaled(t):  # erfc(x) exp(x^2) (1 + 2 x) for x = 4 (1 + t) / (1 - t)
        x = 4 * (1 + t) / (1 - t)
        return erfc(x) * exp(x * x) * (1 + 2 * x)

    rows["erfc"] = polynomial(scaled, -1, (erfc_most - 4) / (erfc_most + 4), lambda t: mpf(1), bits - 2)
    rows["cbrt"] = interpolate(lambda m: m ** (mpf(1) / 3), chebyshev_nodes(mpf(1) / 2, mpf(1), 4))

    split = p - form["exponent"] - 1  # so that an exponent times this part is exact
    parts = {
        "ln2": log(2),
        "log10_2": log(2) / log(10),
    }
    for key, value in parts.items():
        high = rounded(value, split)
        rows[key] = [high, rounded(value - high, p)]
    pairs = {
        "half_pi": pi / 2,
        "quarter_pi": pi / 4,
        "pi": pi,
        "log2_e": 1 / log(2),
        "log10_e": 1 / log(10),
        "ln2_pair": log(2),
        "ln10_pair": log(10),
        "two_thirds": mpf(2) / 3,
        "cbrt_2": mpf(2) ** (mpf(1) / 3),
        "cbrt_4": mpf(4) ** (mpf(1) / 3),
        "erf_of_one": erf(mpf(1)),
    }
    for key, value in pairs.items():
        high = rounded(value, p)
        rows[key] = [high, rounded(value - high, p)]
    return rows


def two_over_pi_words(name):
    """2/pi in words of 64 (f64) or 32 bits, after as many zero bits: see _turns in math.tile."""
    width, count = (64, 20) if name == "f64" else (32, 8)
    mp.prec = 2000
    bits = int(floor(2 / pi * mpf(2) ** (width * (count - 1))))
    mp.prec = 400
    words = [(bits >> (width * (count - 2 - i))) & ((1 << width) - 1) for i in range(count - 1)]
    signed = lambda w: w - (1 << 64) if w >= 1 << 63 else w
    return [0] + [signed(w) for w in words]


HEAD = """# The numbers behind math.tile, one class a format. Written by tests/numerics/coefficients.py,
# which says how they were found; polynomials stand highest coefficient first.
from __core__ import float32, float64, int32, int64
"""
FACTS = """

class {name}:
    dtype = {dtype}
    ints = {ints}
    digits = {digits}
    bias = {bias}
    sign_bit = {sign}
    root_half = {root_half}  # the bits of sqrt(1/2)
    least_normal = {least_normal}
    exp_most = {exp_most}  # exp overflows above
    exp_least = {exp_least}  # and gives zero below
    expm1_most = {expm1_most}  # the same for exp(x) - 1, within the range of 2**k
    erfc_end = {erfc_end}
"""


def wrapped(key, words):
    """Assigns a list, in lines of at most 96 columns."""
    line, lines = "   ", [f"    {key} = ["]
    for word in words:
        if len(line) + len(word) > 92:
            lines.append("    " + line)
            line = "   "
        line += f" {word},"
    return "\n".join(lines + ["    " + line, "    ]"])


def root_half_bits(form, bias):
    p = form["digits"]
    mantissa = int(rounded(sqrt(mpf(2)), p) * mpf(2) ** (p - 1)) - (1 << (p - 1))
    return ((bias - 1) << (p - 1)) + mantissa


def print_format(name):
    form = FORMATS[name]
    p, bias = form["digits"], (1 << (form["exponent"] - 1)) - 1
    bits = name[1:]
    print(FACTS.format(name=name, dtype="float" + bits, ints="int" + bits, digits=p, bias=bias,
                       sign=f"-{(1 << (int(bits) - 1)) - 1} - 1",
                       root_half=root_half_bits(form, bias), least_normal=text(mpf(2) ** (1 - bias)),
                       exp_most=text(rounded(log(2) * (bias + 2), 24)),
                       exp_least=text(rounded(-log(2) * (bias + p + 2), 24)),
                       expm1_most=text(rounded(log(2) * (bias + 1) + mpf("0.01"), 24)),
                       erfc_end=text(ERFC_END[name])), end="")
    for key, values in tables(name).items():
        if key in POLYNOMIALS:
            values = [rounded(c, p) for c in reversed(values)]
        print(wrapped(key, [text(v) for v in values]))
    print(wrapped("two_over_pi", [str(word) for word in two_over_pi_words(name)]))


print(HEAD, end="")
for each in FORMATS:
    print_format(each)
