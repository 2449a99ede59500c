"""Functions of kernels that a program calls in Python: what they give is computed by a kernel of one block, where it must be."""

import numpy

from tilec import native as _native
from tilec import session as _session
from tilec.calls import Callee as _Callee
from tilec.session import Remote as _Remote
from tilec.session import Text as _Text
from tilec.session import joined as _joined
from tilec.session import text_of as _text_of
from warp import types as _types

MOST = 64  # numbers of all arguments, and of the result
_ONLY_THERE = ("works in a kernel only", "is not known here", "is known at run time only", "run-time", "does not fit in")


def _module():
    return _session.module("warp.hosted")


def _scalar_named(name):
    return _types.bool if name in ("bool", "boolean") else getattr(_types, name)


def _made(form, numbers):
    """A value of a description, of the numbers that come next."""
    if form is None:
        return None
    if isinstance(form, list):
        return tuple([_made(one, numbers) for one in form])
    if len(form) == 1:
        kind, value = _scalar_named(form[0]), next(numbers)
        value = kind(kind._base(value)).value
        return value if kind in (_types.int32, _types.float32, _types.bool) else kind(value)
    family, name, shape = form
    kind = _types._numbers({"vec": "vector", "mat": "matrix", "quat": "quaternion", "transform": "transformation"}[family], tuple(shape),
                           _scalar_named(name))
    count = kind._length_
    return kind(*[next(numbers) for _ in range(count)]) if count > 1 else kind(next(numbers))


def _leaf_forms(form):
    if isinstance(form, list):
        return [leaf for one in form for leaf in _leaf_forms(one)]
    return [form[0]] if len(form) == 1 else [form[1]] * int(numpy.prod(form[2]))


def _wrapped(number):
    """With 64 bits."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


class _Arguments:
    """Numbers in two arrays, and what is made of them."""

    def __init__(self):
        self.reals, self.wholes = numpy.zeros(MOST), numpy.zeros(MOST, numpy.int64)
        self.count = 0

    def take(self, value):
        if isinstance(value, numpy.generic):
            value = _types.as_type(value.dtype)(value.item())
        kind = type(value)
        kind = _types.as_type(kind) if kind in (int, float, bool) else kind
        if isinstance(value, (list, tuple)) and len(value) and all([isinstance(item, (int, float)) for item in value]):
            kind = _types.vector(len(value), float)
            value = kind(*value)
        if not isinstance(kind, _types._Type):
            return _Text("(None, ", _text_of(value), ")")
        numbers = value.data.reshape(-1) if isinstance(value, _types._Numbers) else [getattr(value, "value", value)]
        place = self.count
        for number in numbers:
            self.reals[self.count] = float(number)
            self.wholes[self.count] = _wrapped(int(number)) if numpy.isfinite(float(number)) else 0
            self.count += 1
        return _Text("(", kind.__tile_remote__(), f", {place})")


class _InKernel(_Callee):
    def __init__(self, builtin, texts, named):
        super().__init__(None)
        self.builtin, self.given, self.by_name = builtin, texts, named

    def text(self, given, args, kwargs):
        named = [_Text(f"{name!r}: ", text) for name, text in self.by_name.items()]
        return _Text(_module(), ".called(", self.builtin.remote, ", [", _joined(", ", self.given), "], {", _joined(", ", named), "}, ",
                     _joined(", ", [given.take(value) for value in args]), ")")


def _has_type(value):
    """Whether it is a number, or several, of other types than Python's mean."""
    if isinstance(value, numpy.generic):
        return value.dtype not in (numpy.int32, numpy.float32)
    return isinstance(value, _types._Numbers) or isinstance(value, _types.scalar_base) and type(value) not in (
        _types.int32, _types.float32, _types.bool)


# Whose arguments are numbers of one type.
_ALIKE = frozenset("add sub mul div mod floordiv min max pow atan2 bit_and bit_or bit_xor lshift rshift clamp".split())
_INTEGERS = frozenset(["bit_count"])
_IDENTITIES = frozenset(["quat_identity", "transform_identity"])
_CHECKED = _ALIKE | _INTEGERS | _IDENTITIES


def _is_known(question, value):
    try:
        return question(value)
    except TypeError:  # of what has no hash
        return False


def _number_kind(value):
    kind = type(value)
    if kind in (int, float, bool):
        return _types.as_type(kind)
    if isinstance(value, numpy.generic):
        return _types.as_type(value.dtype)
    return kind if isinstance(value, _types.scalar_base) else None


def _is_real_type(dtype):
    return dtype is None or dtype is float or isinstance(dtype, _types._Type) and dtype in _types.float_types


def _check_kinds(name, args, named):
    """What a kernel would refuse is refused: a number with a type beside one of another, vectors of two types."""
    kinds = [_number_kind(value) for value in args]
    several = {type(value) for value in args if isinstance(value, _types._Numbers)}
    wrong = name in _ALIKE and None not in kinds and len(set(kinds)) > 1 and any([_has_type(value) for value in args])
    wrong = wrong or name in ("min", "max", "add", "sub") and len(several) > 1
    wrong = wrong or name in _IDENTITIES and not _is_known(_is_real_type, named.get("dtype"))
    if wrong or name in _INTEGERS and any([kind not in _types.int_types for kind in kinds]):
        args = [*args, *named.values()]
        raise RuntimeError(f"Couldn't find a function '{name}' compatible with the arguments "
                           f"'{', '.join([type(value).__name__ for value in args])}'")


def _narrowed(value):
    """A number that was computed with all of Python's bits, with those that it has there."""
    if type(value) is float:
        return float(numpy.float32(value)) if numpy.isfinite(value) else value
    return int(numpy.array([value & 0xFFFFFFFF], numpy.uint32).view(numpy.int32)[0]) if type(value) is int else value


def transform_expand(t):
    """Of seven numbers in a row."""
    return _types.transformation(float)(*t)


def transform_set_translation(t, p):
    t.p = p


def transform_set_rotation(t, q):
    t.q = q


def call_kind(function, kinds, structs=()):
    """The type of what it gives for arguments of these types, a tuple of several."""
    texts = [_Text("(", kind.__tile_remote__(), ", 0)") for kind in kinds]

    class Kind(_Callee):
        def text(self, given, args, kwargs):
            return _Text(_module(), ".called(", function.__tile_remote__(), ", [", _joined(", ", texts), "], {}, ",
                         _joined(", ", [given.take(value) for value in args]), ")")

    from warp.arrays import array

    form = Kind(None)(*[array(numpy.zeros(MOST), dtype=kind) for kind in (_types.float64, _types.int64, _types.float64, _types.int64)])
    structs = {kind.key: kind for kind in (*kinds, *structs) if isinstance(kind, _types.Struct)}
    return tuple([_kind_made(one, structs) for one in form]) if isinstance(form, list) else _kind_made(form, structs)


def _kind_made(form, structs):
    if form is None:
        return None
    if len(form) == 1 and form[0] in structs:
        return structs[form[0]]
    if len(form) == 1:
        return _scalar_named(form[0])
    return type(_made(form, iter([0] * MOST)))


class Builtin:
    __tile_plain__ = True  # a name of a program's that it is bound to means it in kernels, too

    def __init__(self, name, remote):
        self.key = self.__name__ = name
        self.remote = remote
        self.only_there = False
        self.calls = {}

    def __tile_remote__(self):
        return self.remote

    def __repr__(self):
        return f"<builtin function {self.__name__}>"

    def __call__(self, *args, **kwargs):
        if self.key in _CHECKED:
            _check_kinds(self.key, args, kwargs)
            kwargs = {name: value for name, value in kwargs.items() if name != "dtype" or value is not None}
        found = self.computed(args, kwargs)
        return found.value if isinstance(found, _types.scalar_base) and _types._legacy() else found

    def computed(self, args, kwargs):
        if not self.only_there and not any([_has_type(value) for value in (*args, *kwargs.values())]):
            try:
                return _narrowed(self.converted(self.remote(*args, **kwargs)))
            except _native.CompileError as error:
                if not any([words in str(error) for words in _ONLY_THERE]):
                    raise
                self.only_there = True
        return self.in_kernel(args, kwargs)

    def converted(self, value):
        if not isinstance(value, _Remote):
            return value
        try:
            (form, numbers), plain = _session.give(_Text(_module(), ".told(", value, ")"))
        except _native.CompileError:
            return value
        return _made(form, iter(numbers)) if plain else self.in_kernel((value,), {}, _Text("(lambda x: x)"))

    def in_kernel(self, args, kwargs):
        from warp.arrays import array

        given = _Arguments()
        texts, named = [given.take(value) for value in args], {name: given.take(value) for name, value in kwargs.items()}
        key = tuple([text.key() for text in texts]), tuple([(name, text.key()) for name, text in named.items()])
        if key not in self.calls:
            self.calls[key] = _InKernel(self, texts, named)
        reals, wholes = array(given.reals, dtype=_types.float64), array(given.wholes, dtype=_types.int64)
        results = array(numpy.zeros(MOST), dtype=_types.float64), array(numpy.zeros(MOST, numpy.int64), dtype=_types.int64)
        form = self.calls[key](reals, wholes, *results)
        if form is None:
            return None
        reals, wholes = results[0].numpy(), results[1].numpy()
        leaves = _leaf_forms(form)
        return _made(form, iter([reals[i] if "float" in leaf else int(wholes[i]) for i, leaf in enumerate(leaves)]))


class Builtins:
    """The functions of kernels, by their names."""

    def __getitem__(self, name):
        import warp

        found = getattr(warp, name, None)
        if not isinstance(found, Builtin):
            raise KeyError(name)
        return found

    def get(self, name, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name):
        return self.get(name) is not None
