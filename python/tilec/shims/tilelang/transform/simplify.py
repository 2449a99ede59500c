"""What makes kernels simpler before they are compiled: tilec does so itself, and tells which tensors are not used."""


def simplify_prim_func(function):
    def simple(*args, **kwargs):
        return apply_simplify(function(*args, **kwargs))

    return simple


def apply_simplify(function):
    return function.simplified() if hasattr(function, "simplified") else function
