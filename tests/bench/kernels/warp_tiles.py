# Tile kernels of the Warp dialect, for warp.py: the same text is compiled by tilec and by Warp.
import warp as wp


def product(tile_m, tile_n, tile_k, dtype):
    @wp.kernel(enable_backward=False, module="unique", module_options={"fast_math": True})
    def gemm(A: wp.array2d(dtype=dtype), B: wp.array2d(dtype=dtype), C: wp.array2d(dtype=dtype)):
        i, j = wp.tid()
        total = wp.tile_zeros(shape=(tile_m, tile_n), dtype=wp.float32)
        count = A.shape[1] // tile_k
        for k in range(count):
            a = wp.tile_load(A, shape=(tile_m, tile_k), offset=(i * tile_m, k * tile_k), storage="shared")
            b = wp.tile_load(B, shape=(tile_k, tile_n), offset=(k * tile_k, j * tile_n), storage="shared")
            wp.tile_matmul(a, b, total)
        wp.tile_store(C, wp.tile_astype(total, dtype=dtype), offset=(i * tile_m, j * tile_n))

    return gemm


# B is given transposed.
def product_nt(tile_m, tile_n, tile_k, dtype):
    @wp.kernel(enable_backward=False, module="unique", module_options={"fast_math": True})
    def gemm(A: wp.array2d(dtype=dtype), B: wp.array2d(dtype=dtype), C: wp.array2d(dtype=dtype)):
        i, j = wp.tid()
        total = wp.tile_zeros(shape=(tile_m, tile_n), dtype=wp.float32)
        count = A.shape[1] // tile_k
        for k in range(count):
            a = wp.tile_load(A, shape=(tile_m, tile_k), offset=(i * tile_m, k * tile_k), storage="shared")
            b = wp.tile_load(B, shape=(tile_n, tile_k), offset=(j * tile_n, k * tile_k), storage="shared")
            wp.tile_matmul(a, wp.tile_transpose(b), total)
        wp.tile_store(C, wp.tile_astype(total, dtype=dtype), offset=(i * tile_m, j * tile_n))

    return gemm


def copy(size, dtype):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array(dtype=dtype), y: wp.array(dtype=dtype)):
        i = wp.tid()
        wp.tile_store(y, wp.tile_load(x, shape=size, offset=i * size), offset=i * size)

    return kernel


def copy_2d(m, n, dtype):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array2d(dtype=dtype), y: wp.array2d(dtype=dtype)):
        i, j = wp.tid()
        t = wp.tile_load(x, shape=(m, n), offset=(i * m, j * n))
        wp.tile_store(y, t, offset=(i * m, j * n))

    return kernel


@wp.kernel(enable_backward=False, module="unique")
def add_threads(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float)):
    i = wp.tid()
    c[i] = a[i] + b[i]


def add(size):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(a: wp.array(dtype=float), b: wp.array(dtype=float), c: wp.array(dtype=float)):
        i = wp.tid()
        x = wp.tile_load(a, shape=size, offset=i * size)
        y = wp.tile_load(b, shape=size, offset=i * size)
        wp.tile_store(c, x + y, offset=i * size)

    return kernel


def row_sums(columns, dtype):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array2d(dtype=dtype), sums: wp.array(dtype=dtype)):
        i = wp.tid()
        wp.tile_store(sums, wp.tile_sum(wp.tile_load(x[i], shape=columns)), offset=i)

    return kernel


# A whole tile of rows at once, summed along the second dimension.
def axis_sums(rows, columns):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array2d(dtype=float), sums: wp.array(dtype=float)):
        i = wp.tid()
        t = wp.tile_load(x, shape=(rows, columns), offset=(i * rows, 0))
        wp.tile_store(sums, wp.tile_sum(t, axis=1), offset=i * rows)

    return kernel


@wp.func
def exponential(x: float):
    return wp.exp(x)


def softmax(columns):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array2d(dtype=wp.float16), y: wp.array2d(dtype=wp.float16)):
        i = wp.tid()
        t = wp.tile_astype(wp.tile_load(x[i], shape=columns), dtype=wp.float32)
        largest = wp.tile_max(t)
        e = wp.tile_map(exponential, t - wp.tile_broadcast(largest, shape=(columns,)))
        total = wp.tile_sum(e)
        r = wp.tile_map(wp.div, e, wp.tile_broadcast(total, shape=(columns,)))
        wp.tile_store(y[i], wp.tile_astype(r, dtype=wp.float16))

    return kernel


@wp.func
def first_step(x: float):
    return wp.sin(x) * 0.5 + x


@wp.func
def second_step(x: float, y: float):
    return wp.exp(-x * x) + wp.sqrt(wp.abs(y))


@wp.func
def third_step(x: float, s: float):
    if x > s:
        return x * 2.0
    return x - s


def chain(size):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        t = wp.tile_load(x, shape=size, offset=i * size)
        u = wp.tile_map(first_step, t)
        v = wp.tile_map(second_step, u, t)
        wp.tile_store(y, wp.tile_map(third_step, v, 0.5), offset=i * size)

    return kernel


def sort(size, dtype):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(keys: wp.array(dtype=dtype), values: wp.array(dtype=int), keys_out: wp.array(dtype=dtype), values_out: wp.array(dtype=int)):
        i = wp.tid()
        k = wp.tile_load(keys, shape=size, offset=i * size, storage="shared")
        v = wp.tile_load(values, shape=size, offset=i * size, storage="shared")
        wp.tile_sort(k, v)
        wp.tile_store(keys_out, k, offset=i * size)
        wp.tile_store(values_out, v, offset=i * size)

    return kernel


def scan_rows(columns, dtype):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array2d(dtype=dtype), y: wp.array2d(dtype=dtype)):
        i = wp.tid()
        t = wp.tile_load(x[i], shape=columns)
        wp.tile_store(y[i], wp.tile_scan_inclusive(t))

    return kernel


# Elements of three numbers.
def scale_vectors(size):
    @wp.kernel(enable_backward=False, module="unique")
    def kernel(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3)):
        i = wp.tid()
        t = wp.tile_load(x, shape=size, offset=i * size)
        wp.tile_store(y, t * 2.0, offset=i * size)

    return kernel
