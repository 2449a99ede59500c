"""Element types as the language defines them, on Python's numbers: integers are int, floats are float
(each already rounded to its type), booleans are bool."""
import math
import struct
from fractions import Fraction

# name in the language, kind, bits, struct format, .npy descriptor (bfloat16 travels as its bits)
ROWS = [
    ("float16", "float", 16, "e", "<f2"), ("bfloat16", "float", 16, "H", "<u2"),
    ("float32", "float", 32, "f", "<f4"), ("float64", "float", 64, "d", "<f8"),
    ("int8", "int", 8, "b", "|i1"), ("int16", "int", 16, "h", "<i2"),
    ("int32", "int", 32, "i", "<i4"), ("int64", "int", 64, "q", "<i8"),
    ("uint8", "uint", 8, "B", "|u1"), ("uint16", "uint", 16, "H", "<u2"),
    ("uint32", "uint", 32, "I", "<u4"), ("uint64", "uint", 64, "Q", "<u8"),
    ("boolean", "bool", 8, "?", "|b1"),
]
KIND = {row[0]: row[1] for row in ROWS}
BITS = {row[0]: row[2] for row in ROWS}
FORMAT = {row[0]: row[3] for row in ROWS}
DESCR = {row[0]: row[4] for row in ROWS}
FLOATS = [row[0] for row in ROWS if row[1] == "float"]
INTS = [row[0] for row in ROWS if row[1] in ("int", "uint")]
# significant bits, smallest exponent of a subnormal's last bit, largest finite number
PRECISION = {"float16": (11, -24, 65504.0), "bfloat16": (8, -133, (2 - 2.0 ** -7) * 2.0 ** 127),
             "float32": (24, -149, (2 - 2.0 ** -23) * 2.0 ** 127)}


def is_float(dtype):
    return KIND[dtype] == "float"


def round_exact(dtype, number):
    """A finite int or float to the nearest float of the type, ties to even."""
    if dtype == "float64":
        try:
            return float(number)
        except OverflowError:
            return math.inf if number > 0 else -math.inf
    digits, lowest, largest = PRECISION[dtype]
    if number == 0:
        return float(number)
    exact = Fraction(number)
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent - digits + 1, lowest)
    result = float(round(size / Fraction(2) ** unit)) * 2.0 ** unit
    result = math.inf if result > largest else result
    return -result if number < 0 else result


def round_packed(code):
    pack, unpack = struct.Struct("<" + code).pack, struct.Struct("<" + code).unpack

    def rounded(number):
        try:
            return unpack(pack(number))[0]
        except OverflowError:
            return math.inf if number > 0 else -math.inf
    return rounded


def round_bfloat16(number):
    if math.isinf(number) or math.isnan(number):
        return number
    return round_exact("bfloat16", number)


def wrap_unsigned(bits):
    mask = (1 << bits) - 1
    return lambda number: number & mask


def wrap_signed(bits):
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    return lambda number: ((number + half) & mask) - half


FIT = {"float16": round_packed("e"), "float32": round_packed("f"), "float64": lambda number: number,
       "bfloat16": round_bfloat16, "boolean": bool}
for _name in INTS:
    FIT[_name] = (wrap_signed if KIND[_name] == "int" else wrap_unsigned)(BITS[_name])


def cast(source, target):
    """A function from elements of one type to those of another; floats to integers are in range."""
    fit = FIT[target]
    if target == "boolean":
        return lambda x: x != 0
    if not is_float(target):
        return (lambda x: fit(int(x)))
    if is_float(source):
        return fit
    return lambda x: round_exact(target, int(x))


def smaller(a, b):
    return b if a != a else a if b != b else min(a, b)


def larger(a, b):
    return b if a != a else a if b != b else max(a, b)


def divide_toward_zero(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def encode(dtype, elements):
    if dtype == "bfloat16":
        bits = [struct.unpack("<I", struct.pack("<f", x))[0] >> 16 for x in elements]
        return struct.pack("<%dH" % len(bits), *bits)
    return struct.pack("<%d%s" % (len(elements), FORMAT[dtype]), *elements)


def decode(dtype, data):
    count = len(data) // (BITS[dtype] // 8)
    items = struct.unpack("<%d%s" % (count, FORMAT[dtype]), data)
    if dtype == "bfloat16":
        return [struct.unpack("<f", struct.pack("<I", x << 16))[0] for x in items]
    return list(items)


def write_npy(path, dtype, elements):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (DESCR[dtype], len(elements))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(encode(dtype, elements))


def read_npy(path, dtype):
    with open(path, "rb") as file:
        data = file.read()
    return decode(dtype, data[10 + struct.unpack("<H", data[8:10])[0]:])
