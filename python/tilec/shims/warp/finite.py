"""wp.config.verify_fp: after each launch it is told which of the kernel's arrays have numbers that are not finite."""

import numpy

_MOST = 4  # that are told of each array


def _floats(numbers, name=""):
    """The parts of elements that are floats, with their names."""
    if numbers.dtype.names is not None:
        for field in numbers.dtype.names:
            yield from _floats(numbers[field], f"{name}.{field}")
    elif numbers.dtype.kind == "f" or numbers.dtype.name == "bfloat16":
        yield name, numbers.astype(numpy.float64)


def report(kernel, named):
    """`named`: the arguments that are arrays."""
    code = kernel.func.__code__
    for name, array in named:
        for field, numbers in _floats(array.numpy()):
            wrong = numpy.argwhere(~numpy.isfinite(numbers)).tolist()
            for index in wrong[:_MOST]:
                value = numbers[tuple(index)]
                print(f"{code.co_filename}:{code.co_firstlineno}: {kernel.key} leaves {name}{index[: array.ndim]}{field}{index[array.ndim :] or ''} "
                      f"{'nan' if numpy.isnan(value) else 'inf' if value > 0 else '-inf'}", flush=True)
            if len(wrong) > _MOST:
                print(f"... and {len(wrong) - _MOST} more of {name}{field}", flush=True)
