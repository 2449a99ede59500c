"""Instructions that programs make by hand: what their create() refuses is what kernels refuse."""


class InstructionError(Exception):
    """Operands that do not fit."""


class Instruction:
    """`output` and `inputs` are tensors, `attributes` all else."""

    is_pure = False  # nothing is left of it where nobody uses the output
    may_drop_output = False  # of those that change memory

    def __init__(self, output, inputs=(), **attributes):
        self.output, self.inputs, self.attributes = output, tuple(inputs), attributes

    def __getattr__(self, name):
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no {name!r}") from None

    def with_output(self, output):
        return type(self)(output, self.inputs, **self.attributes)


def require(fits, words):
    if not fits:
        raise InstructionError(words)


def require_one_of(what, name, names):
    require(name in names, f"{what} must be one of {tuple(names)}, got {name!r}")
