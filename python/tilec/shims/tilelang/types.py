"""Element types, which are texts, too, as TileLang has them."""

from tilec import session
from tilec.arrays import CODES
from tilec.session import Remote, Text

_TORCH = {"float8_e4m3": "float8_e4m3fn", "boolean": "bool"}


class dtype(str):
    """T.float16: equal to "float16"."""

    def __new__(cls, name="float32"):
        if isinstance(name, dtype):
            return name
        if not isinstance(name, str):
            name = str(name).removeprefix("torch.")
        return super().__new__(cls, name)

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
        import torch

        return getattr(torch, _TORCH.get(str(self), str(self)))

    @property
    def bits(self):
        return self.__tile_remote__().nbits

    @property
    def bytes(self):
        return max(1, self.bits // 8)

    itemsize = bytes

    @property
    def lanes(self):
        return 1

    def __call__(self, *args):
        return self.__tile_remote__()(*args) if args else self


_remotes = {}


def torch_type(code):
    """torch's of a type code."""
    import torch

    return getattr(torch, next(name for name, one in CODES.items() if one == code))
