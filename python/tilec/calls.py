"""Calls of what the compiler knows, with the arrays of a program."""

from tilec import arrays, native, session, speech  # noqa: F401 (speech adds to the session's speakers)
from tilec.plan import Plan
from tilec.quick import MISS, quick
from tilec.session import Remote, Text, joined, text_of


def frozen(value, of_changing=id):
    """Equal where the compiler would be told the same; what can change is known by `of_changing`, which hash refuses by a TypeError."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, tuple([frozen(item, of_changing) for item in value])
    if kind is dict:
        return kind, tuple([(frozen(key, of_changing), frozen(item, of_changing)) for key, item in value.items()])
    if kind in (int, float, bool, str, type(None)):
        return kind, value
    try:
        hash(value)
    except TypeError:
        return kind, of_changing(value)
    return kind, value


class Given:
    """A call's arguments: the facts of arrays, wherever they stand, and a key that calls like it share."""

    __slots__ = ("facts", "key")

    def __init__(self):
        self.facts = []
        self.key = []

    def take(self, value):
        """The Text of an argument."""
        facts = arrays.facts_of(value)
        if facts is not None:
            self.facts.append(facts)
            return Text(f"array({len(self.facts) - 1})")
        kind = type(value)
        if hasattr(kind, "__tile_take__"):
            return value.__tile_take__(self)
        if kind in (list, tuple):
            items = [Text(self.take(item), ", ") for item in value]
            return Text("(", *items, ")") if kind is tuple else Text("[", *items, "]")
        return text_of(value)

    def look(self, value):
        """The same for the key alone."""
        facts = arrays.facts_of(value)
        if facts is not None:
            self.facts.append(facts)
            return facts.code, facts.shape, facts.strides
        kind = type(value)
        if hasattr(kind, "__tile_look__"):
            return value.__tile_look__(self)
        if kind in (list, tuple):
            return kind, tuple([self.look(item) for item in value])
        return frozen(value)


class Callee:
    """Something that is called with arrays: plans are made for each kind of call, once."""

    def __init__(self, remote, parameters=()):
        self.remote = remote
        self.parameters = tuple(parameters)
        self.plans = {}
        self.open = frozenset()  # parameters whose numbers calls share a plan for
        self.last = None
        self.short, self.tried = [], []

    MOST_SHORT = 4  # ways that are tried one after the other

    def __call__(self, *args, **kwargs):
        if not kwargs:
            given = len(args)
            for count, call in self.short:
                if count == given and call(*args) is not MISS:
                    return None
        return self.call(args, kwargs)

    def named(self, args, kwargs):
        found = dict(zip(self.parameters, args))
        found.update(kwargs)
        return found

    def plan(self, args, kwargs):
        """The plan, and the facts of the call's arrays."""
        look = Given()
        key = []
        scalars = {}
        named = self.named(args, kwargs) if self.open else None
        for i, value in enumerate(args):
            name = self.parameters[i] if i < len(self.parameters) else None
            key.append((name, type(value)) if name in self.open else look.look(value))
        for name, value in kwargs.items():
            key.append((name, (name, type(value)) if name in self.open else look.look(value)))
        key = tuple(key)
        plan = self.plans.get(key)
        if plan is None:
            plan, facts, key = self.make(args, kwargs)
            self.plans[key] = plan
            return plan, facts
        if plan.scalars:
            plan.set_scalars(named)
        return plan, look.facts

    def text(self, given, args, kwargs):
        texts = [given.take(value) for value in args]
        texts += [Text(f"{name}=", given.take(value)) for name, value in kwargs.items()]
        return Text(self.remote, "(", joined(", ", texts), ")")

    def make(self, args, kwargs):
        given = Given()
        with session.lock:
            text = self.text(given, args, kwargs)
            statements = []
            bound = text.bound(statements)
            statements.append(f"give({bound})")
            answer = session.the.run("\n".join(statements), [facts.tensor() for facts in given.facts])
        return self.finish(Plan(answer, len(given.facts)), args, kwargs, given.facts)

    def finish(self, plan, args, kwargs, facts):
        """Which numbers of the call change from call to call; with the key of such calls."""
        numbers = {name: value for name, value in self.named(args, kwargs).items() if type(value) in (int, float)}
        found = plan.find_scalars(numbers)
        if not self.plans:
            self.open = frozenset(found)
        elif not self.open.issubset(found):
            self.open = self.open & frozenset(found)
            self.plans.clear()
            self.short, self.tried = [], []
        plan.scalars = [one for one in plan.scalars if one[0] in self.open]
        look = Given()
        key = [((self.parameters[i], type(value)) if i < len(self.parameters) and self.parameters[i] in self.open else look.look(value))
               for i, value in enumerate(args)]
        key += [(name, (name, type(value)) if name in self.open else look.look(value)) for name, value in kwargs.items()]
        return plan, facts, tuple(key)

    def call(self, args, kwargs, stream=None):
        plan, facts = self.plan(args, kwargs)
        self.last = plan
        given = plan.run(facts, None, stream)
        if stream is None and not kwargs and plan not in self.tried:
            self.shorten(plan, args, facts)
        return given

    def shorten(self, plan, args, facts):
        self.tried.append(plan)
        call = quick(plan, args, self.parameters, facts)
        if call is not None:
            self.short.insert(0, (len(args), call))  # a way for calls of so many arguments
            del self.short[self.MOST_SHORT :]


def compile_only(remote, args, kwargs):
    """What a compiled kernel is, without a launch: the Remote of kernel.compile(...)."""
    given = Given()
    texts = [given.take(value) for value in args] + [Text(f"{name}=", given.take(value)) for name, value in kwargs.items()]
    return Remote(Text(remote, ".compile(", joined(", ", texts), ")")), given


__all__ = ["Callee", "Given", "compile_only", "native"]
