"""Compiled programs."""


class CompiledProgram:
    def __init__(self, kernel):
        self.kernel = kernel

    def __call__(self, *args):
        return self.kernel(*args)
