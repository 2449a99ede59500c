# Arithmetic and comparisons on what is known at compile time.
for a in [7, -7, 0, 13]:
    for b in [3, -3, 5]:
        print(a // b, a % b, divmod(a, b), a / b, a * b - b, a & b, a | b, a ^ b, ~a)
for a in [7.5, -7.5, 0.25]:
    for b in [2, -2, 0.5]:
        print(a // b, a % b, a / b, a ** 2, a < b, a >= b)
print(2 ** 10, 2 ** -1, (-2) ** 3, 9 ** 0.5, -2 ** 2, 1 << 20, -17 >> 2, 5 >> 1)
print(1 < 2 < 3, 1 < 3 < 2, 3 > 2 == 2, 1 == 1.0, True + True, True == 1, False < True)
print(0 or "x", 1 and "y", None or 0 or [], not 0, not "a", 1 if [] else 2)
print(abs(-3), abs(2.5), round(2.5), round(3.5), round(2.675, 2), round(-1.25, 1), round(1234, -2), round(7, 2))
print(min(3, 1, 2), max([4, 9, 2]), min("b", "a"), max([1, 2, 3], key=lambda x: -x), min([], default=7), sum([1, 2, 3], 10))
print(pow(3, 4), pow(3, 4, 5), int("12"), int("-0x1f", 16), int("101", 2), int(3.9), int(-3.9), float("1.5"), float(3))
print(0.1 + 0.2, 1e16, 1e-5, 123456789.0, 1e100, 2.0, -0.0, float("inf"), float("-inf"), float("nan"))
print(hex(255), oct(8), bin(10), hex(-1), ord("a"), chr(98), (5).bit_length(), (2.0).is_integer())
print(bool(0), bool([]), bool({}), bool("a"), bool(0.0), bool(None), bool(range(0)), bool(range(2)))
x = 5
x += 2; x -= 1; x *= 3; x //= 2; x %= 5; x <<= 3; x |= 1; x ^= 2; x &= 0xFF; x **= 2
print(x)
a = b = c = 4
print(a, b, c)
import math
print(math.sqrt(16), math.floor(2.7), math.ceil(2.1), math.gcd(12, 18), math.prod([2, 3, 4]), math.lcm(4, 6), math.pi, math.log2(8))
if (n := 10) > 5:
    print(n, (y := n * 2), y)
print(1_000_000, 0xFF, 0b101, 0o17, 1.5e3, .5)
print(isinstance(True, int), isinstance(1, bool), isinstance(1.0, (int, float)), isinstance("a", str), isinstance([], (tuple, list)))
print([round(x, -1) for x in (15, 25, -15, -25, 14, -16, 9007199254740995, 9223372036854775804)], round(9223372036854775807, -18), round(-7, -20), round(7, -19), round(7, 400))
print(round(1e16, -20), round(-1.5, -400), round(12345.678, -2), round(float("inf"), -3))
print(range(10**15)[5], range(10**15)[-1], range(0, 10**18, 10**17)[2:7:2], range(5)[::-1], range(10, 0, -3)[1:], range(3)[5:])
print(2**53 + 1 == 2.0**53, 2**53 + 1 > 2.0**53, 2.0**53 < 2**53 + 1, max(2.0**53, 2**53 + 1), sorted([2**53 + 1, 2.0**53]))
print(2**62 == float(2**62), 2**62 + 1 == float(2**62), 5 < float("inf"), -5 > float("-inf"), 1 < 1.5 < 2, -1 > -1.5, 9223372036854775807 < 9223372036854775808.0)
print({2**53 + 1: "a", 2.0**53: "b"}, {3: 1, 3.0: 2}, {k / 2: k for k in range(60)}[4], 1 < float("nan"), 1 == float("nan"))

# remainders at the ends of int64
print(9223372036854775807 % -5, (-9223372036854775807 - 1) % 3, 5 % (-9223372036854775807 - 1), 9223372036854775807 % 2**62, -7 % 3, 7 % -3)

# ints beyond 64 bits: masks, and hashes by them
MASK, FIRST = 0xFFFFFFFFFFFFFFFF, 0xCBF29CE484222325
print(MASK, -MASK, ~MASK, MASK == FIRST, MASK > FIRST, MASK > 1.5, MASK == 2**64 - 1, (1 << 64) - 1 == MASK, MASK >> 60, MASK & 255, MASK % 1000, MASK // 7)
print(-MASK // 7, -MASK % 7, MASK % -7, FIRST ^ 0x123456789, (FIRST * 0x100000001B3) & MASK, MASK / 2, MASK * 0.5, MASK + 1, 2**63, -2**63, -(-2**63), 1 << 63, 3**75 >> 70)
print([MASK], {MASK: 1}[2**64 - 1], {2**64: 1}[2.0**64], MASK in (1, MASK), [2**64] == [2.0**64], 2**63 == -2**63, 9223372036854775807 + 1 - 1, -1 * -2**63, 2**64 == float(2**64), 2**64 < float("inf"))
print(isinstance(MASK, int), int(MASK), float(MASK), hex(MASK), bin(FIRST), f"{MASK:x} {MASK:,} {MASK:>24} {-MASK:e}", "%d %x" % (MASK, MASK), abs(-MASK), max(MASK, 3), sum([MASK, 1]), divmod(MASK, 10), round(MASK), bool(MASK), str(2**100))


def hashed(text):
    found = FIRST
    for letter in text:
        found = ((found ^ ord(letter)) * 0x100000001B3) & MASK
    return found


print([hashed(word) for word in ("", "a", "hello")])
print(int("18446744073709551615"), int("-9223372036854775808"), int("-0xFFFFFFFFFFFFFFFFFF", 16), int("1_000"), int(" +12 "), int(1e30), int(-1.5e20), round(1e25), round(9223372036854775807, -18))
for wrong in ("", "-", "0x", "12a", "1 2", "--1"):
    try:
        print(int(wrong, 0))
    except ValueError as e:
        print(e)
print(*[2.0**-k for k in range(0, 1075, 7)], *[2.0**k for k in range(0, 1023, 7)], -2.0**-24, -2.0**-44)
print(2**64 + 1 == float(2**64), 2**64 + 1 > float(2**64), 2.0**64 < 2**64 + 1, {2**64 + 1: "a", 2.0**64: "b"}, 2**65 < float("inf"), -2**65 > float("-inf"), 2**65 == float("nan"))
