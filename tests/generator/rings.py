"""What the generators of rings of tiles share: types, and what the streams hold."""

BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "int8": 8, "uint8": 8, "int16": 16, "int32": 32}
PRODUCTS = {"float16": ("float32", 16), "bfloat16": ("float32", 16), "int8": ("int32", 32)}  # sums, least depth
SHARED_BYTES = 75000  # for the rings


def filled(random, name, extents, dtype, module=""):
    """Lines that make an array of small whole numbers; `module` is what names of types stand behind."""
    rows, columns = extents
    yield f"{name} = zeros(({rows}, {columns}), {module}{dtype})"
    yield (f"{name}[:, :] = ((arange({rows * columns}, {module}int32) * {random.randrange(1, 90)} + {random.randrange(50)}) % 7 - "
           f"{0 if dtype == 'uint8' else 3}).reshape(({rows}, {columns}))")


def some_rounds(random, most):
    """How many there are, call by call."""
    return sorted({random.randrange(most + 1) for _ in range(2)} | {most})
