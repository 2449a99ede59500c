"""What the compiler is told values of other libraries are: element types, enums, records."""

import dataclasses
import enum
import functools
import sys
import types
import weakref

from tilec import session, source
from tilec.session import Remote, Text, call_text, text_of

# Element types whose names differ there.
_RENAMED = {"bool": "core.boolean", "float8_e4m3fn": "core.float8_e4m3", "float8_e8m0fnu": "core.float8_e8m0"}


def _dtype_text(value):
    kind = type(value)
    module = kind.__module__.partition(".")[0]
    name = None
    if module == "torch" and kind.__name__ == "dtype":
        name = str(value).removeprefix("torch.")
    elif module == "numpy" and hasattr(value, "itemsize") and hasattr(value, "fields"):
        name = value.name
    elif isinstance(value, type) and value.__module__ in ("numpy", "ml_dtypes"):
        name = value.__name__.removesuffix("_")
    return None if name is None else Text(_RENAMED.get(name, f"core.{name}"))


def _number_text(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return text_of(value.item())
    return None


def _enum_text(value):
    if not isinstance(value, enum.Enum):
        return None
    known = _enum_class_text(type(value)) or source.function_text(type(value))
    if known is None:
        return text_of(value.value)
    return Text(known, f".{value.name}") if value.name in type(value).__members__ else Text(known, "(", text_of(value.value), ")")


_enum_classes = {}


def _enum_class_text(value):
    """Of a class whose members are numbers: by these, as its text may say them by what the compiler knows nothing of."""
    if not source.is_enum_of_numbers(value):
        return None
    if value not in _enum_classes:
        base = "IntFlag" if issubclass(value, enum.Flag) else "IntEnum"
        members = {name: int(member) for name, member in value.__members__.items()}
        of_enums = session.module("enum")
        _enum_classes[value] = session.Remote(
            Text(of_enums, ".made_of(", of_enums, f".{base}, {value.__name__!r}, ", text_of(members), ")"))
    return Text(_enum_classes[value])


_record_classes = {}


def _record_class(kind):
    """A definition stands without its decorators."""
    known = source.function_text(kind)
    if known is None:
        return None
    if kind not in _record_classes or _record_classes[kind][0] is not known.parts[0]:
        said = kind.__dataclass_params__
        options = {name: getattr(said, name) for name in ("init", "repr", "eq", "order", "frozen")}
        decorator = call_text(Text(session.module("dataclasses"), ".dataclass"), (), options)
        _record_classes[kind] = known.parts[0], Remote(Text(decorator, "(", known, ")"))
    return Text(_record_classes[kind][1])


def _record_class_text(value):
    return _record_class(value) if isinstance(value, type) and source.is_record_class(value) else None


_made_tuples = {}


def _named_tuple_class(kind):
    """The program's own class, or what collections.namedtuple() makes of the same names."""
    known = source.function_text(kind)
    if known is not None:
        return known
    if kind not in _made_tuples:
        named = {"defaults": tuple(kind._field_defaults.values())}
        _made_tuples[kind] = Remote(call_text(Text(session.module("collections"), ".namedtuple"), (kind.__name__, kind._fields), named))
    return Text(_made_tuples[kind])


def _record_text(value):
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return call_text(_named_tuple_class(type(value)), tuple(value), {})
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return None
    known = _record_class(type(value))
    if known is None:
        return None
    fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}
    return call_text(known, (), fields)


_objects = {}  # by identity: the object, which may be gone, the key of its attributes, the Remote
_being_told = []


def _object_text(value):
    """An object of a class of the program: its class and those of its attributes that there are words for, as they are now. One object is
    one there, too."""
    if not source.is_object_of_program(value) or any([one is value for one in _being_told]) or source.is_mark(value):
        return None
    known = source.function_text(type(value))
    if known is None:
        return None
    _being_told.append(value)
    try:
        attributes = source.spoken_attributes(value)
    finally:
        _being_told.pop()
    told = Text(known, ", {", *attributes, "}")
    before = _objects.get(id(value))
    if before is None or before[0]() is not value or before[1] != told.key():
        text = Text("(lambda kind, attributes, made: (made.__dict__.update(attributes), made)[1])(", told, ", object.__new__(", known, "))")
        before = _objects[id(value)] = weakref.ref(value), told.key(), Remote(text)
    return Text(before[2])


def _callable_text(value):
    if isinstance(value, types.MethodType):
        return Text(text_of(value.__self__), f".{value.__func__.__name__}")
    if type(value) is functools.partial:
        return call_text(Text(session.module("functools"), ".partial"), (value.func, *value.args), value.keywords)
    return text_of(value.__wrapped__) if type(value) is functools._lru_cache_wrapper else None


def _subclass_text(value):
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return text_of(kind(value))
    if isinstance(value, dict):
        return text_of(dict(value))
    return None


session.speakers += [_dtype_text, _number_text, _enum_text, _enum_class_text, _record_class_text, _record_text, _subclass_text, _callable_text, source.function_text, _object_text]
