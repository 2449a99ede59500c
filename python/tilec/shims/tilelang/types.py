"""Element types, which are texts, too, as TileLang has them."""

import re

from tilec import session
from tilec.arrays import CODES
from tilec.session import Remote, Text, call_text

_TORCH = {"float8_e4m3": "float8_e4m3fn", "boolean": "bool", "int4": "int8", "uint4": "uint8", "tfloat32": "float32", "float4_e2m1fn": "float4_e2m1fn_x2"}
_SHORT = {"short": "int16", "int": "int32", "uint": "uint32", "long": "int64", "half": "float16", "float": "float32", "double": "float64"}
_FLOATS = ("float16", "float32", "float64", "bfloat16", "tfloat32", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
           "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn")
UNPACKED = "float4_e2m1_unpacked"  # each in a byte of its own
_WIDE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *_FLOATS)
NAMES = ("bool", *_SHORT, "int4", "uint4", UNPACKED, *_WIDE, *[f"{name}x{lanes}" for name in _WIDE for lanes in (2, 4, 8, 16, 32, 64)])
_KNOWN = frozenset(NAMES)
_FORM = re.compile(r"([a-z]+)(\d*)(_\w+?)?(?:x(\d+))?$")


class dtype(str):
    """T.float16: equal to "float16". Kernels know fewer of them than host programs may name."""

    def __new__(cls, name="float32"):
        if isinstance(name, dtype):
            return name
        if not isinstance(name, str):
            name = str(name).removeprefix("torch.")
        name = name.removeprefix("custom[").removesuffix("]8")
        return super().__new__(cls, _SHORT.get(name, name))

    @staticmethod
    def is_name(name):
        return name in _KNOWN

    @staticmethod
    def is_one(remote):
        with session.lock:
            statements = []
            bound = remote.bind(statements)
            told = session.the.run("\n".join(statements + [f"give({bound} if core.is_told({bound}) else ...)"]))["values"][0]
        return isinstance(told, dict) and "dtype" in told

    def __tile_remote__(self):
        name = str(self)
        if name not in _remotes:
            _remotes[name] = Remote(Text(session.module("tilelang.language"), f".{name}"))
        return _remotes[name]

    def as_torch(self):
        """What torch keeps such elements in."""
        import torch

        name = _TORCH.get(self.element, self.element)
        if name == "float4_e2m1fn_x2" and not hasattr(torch, name):
            name = "int8"
        return getattr(torch, name)

    @property
    def element(self):
        """Its name without lanes."""
        return self.rpartition("x")[0] if self.lanes > 1 or self.endswith("_x2") else str(self)

    @property
    def bits(self):
        """Of one of its lanes."""
        return 8 if self in ("bool", UNPACKED) else int(_FORM.match(self)[2])

    @property
    def itemsize(self):
        return (self.bits * self.lanes + 7) // 8

    bytes = itemsize

    def is_float4_e2m1fn(self):
        return self.element == "float4_e2m1fn"

    def is_float4_e2m1_unpacked(self):
        return self == UNPACKED

    def is_float4(self):
        return self.is_float4_e2m1fn() or self.is_float4_e2m1_unpacked()

    @property
    def lanes(self):
        found = _FORM.match(self)
        return int(found[4] or 1) if found and not self.endswith("_x2") else 1

    def __call__(self, *args):
        """A number of the type, which kernels alone have."""
        if not args:
            return Remote(Text(self.__tile_remote__(), "(0)"))
        value, *more = args
        if self == "uint64" and isinstance(value, int) and value >> 63:
            value -= 1 << 64
        return Remote(Text(call_text(Text(self.__tile_remote__()), (value, *more), {})))


_remotes = {}


def of_code(code):
    """The type of a type code."""
    return dtype(next(name for name, one in CODES.items() if one == code))
