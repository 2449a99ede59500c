/* multiply.c: the product of matrices on the CPU, the reference that kernels are held
 * against. Panels of b are decoded once and stay in the cache while all rows of a pass over them.
 */
#include "command/array/arrays.h"

#include <math.h>
#include <stdlib.h>

enum { PANEL_ROWS = 64, PANEL_COLUMNS = 512 };

typedef struct Product {
    const double *a;
    const char *b;
    double *c;
    DType b_dtype;
    int64_t m, n, k;
} Product;

static void decode_numbers(DType dtype, const char *bytes, int64_t count, double *out)
{
    Element elements[PANEL_COLUMNS];
    int64_t step;
    for (int64_t start = 0; start < count; start += step) {
        step = count - start < PANEL_COLUMNS ? count - start : PANEL_COLUMNS;
        elements_decode(dtype, bytes + start * dtype_bytes(dtype), step, elements);
        for (int64_t i = 0; i < step; i++) out[start + i] = element_number(dtype, elements[i]);
    }
}

/* c += a[0] * b[0] + ... + a[3] * b[3]: four rows of b at a time, so that c is read less often. */
static void add_rows(double *restrict c, const double *restrict a, const double *restrict b,
                     int64_t columns)
{
    const double *restrict b0 = b, *restrict b1 = b + PANEL_COLUMNS,
                           *restrict b2 = b + 2 * PANEL_COLUMNS,
                           *restrict b3 = b + 3 * PANEL_COLUMNS;
    for (int64_t j = 0; j < columns; j++)
        c[j] += a[0] * b0[j] + a[1] * b1[j] + (a[2] * b2[j] + a[3] * b3[j]);
}

static void add_row(double *restrict c, double a, const double *restrict b, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) c[j] += a * b[j];
}

/* c[:, column ...] += a[:, row ...] @ panel */
static void add_panel(const Product *product, const double *panel, int64_t row, int64_t rows,
                      int64_t column, int64_t columns)
{
    for (int64_t i = 0; i < product->m; i++) {
        double *c = product->c + i * product->n + column;
        const double *a = product->a + i * product->k + row;
        int64_t p = 0;
        for (; p + 4 <= rows; p += 4) add_rows(c, a + p, panel + p * PANEL_COLUMNS, columns);
        for (; p < rows; p++) add_row(c, a[p], panel + p * PANEL_COLUMNS, columns);
    }
}

static void multiply(const Product *product)
{
    double *panel = bytes_new(PANEL_ROWS * PANEL_COLUMNS, sizeof(double));
    int size = dtype_bytes(product->b_dtype);
    int64_t n = product->n, k = product->k;
    for (int64_t column = 0; column < n; column += PANEL_COLUMNS)
        for (int64_t row = 0; row < k; row += PANEL_ROWS) {
            int64_t columns = n - column < PANEL_COLUMNS ? n - column : PANEL_COLUMNS;
            int64_t rows = k - row < PANEL_ROWS ? k - row : PANEL_ROWS;
            for (int64_t p = 0; p < rows; p++)
                decode_numbers(product->b_dtype, product->b + ((row + p) * n + column) * size,
                               columns, panel + p * PANEL_COLUMNS);
            add_panel(product, panel, row, rows, column, columns);
        }
    free(panel);
}

/* Sums of integers that a double may not hold: modulo 2^64, as NumPy's. */
static void multiply_integers(const Product *product, const Element *a, const Element *b,
                              Element *c)
{
    for (int64_t i = 0; i < product->m; i++)
        for (int64_t p = 0; p < product->k; p++) {
            const uint64_t factor = (uint64_t)a[i * product->k + p].i;
            const Element *row = b + p * product->n;
            Element *sums = c + i * product->n;
            for (int64_t j = 0; j < product->n; j++)
                sums[j].i = (int64_t)((uint64_t)sums[j].i + factor * (uint64_t)row[j].i);
        }
}

static bool are_wide_integers(DType a, DType b, DType out)
{
    return !dtype_is_float(a) && !dtype_is_float(b) && !dtype_is_float(out) &&
           dtype_bits(a) + dtype_bits(b) > 32;
}

static bool run_integer_product(ArrayContext *context, const Array *a, const Array *b,
                                const Array *out)
{
    const Product product = {.m = a->shape[0], .n = b->shape[1], .k = a->shape[1]};
    Elements x = {0}, y = {0}, sums = {0};
    bool fine = array_read(context, a, &x) && array_read(context, b, &y);
    if (fine) {
        sums.count = product.m * product.n;
        sums.items = calloc((size_t)sums.count + 1, sizeof(Element));
        CHECK(sums.items != NULL);
        multiply_integers(&product, x.items, y.items, sums.items);
        fine = array_write(context, out, &sums);
    }
    free(x.items);
    free(y.items);
    free(sums.items);
    return fine;
}

static bool store_product(ArrayContext *context, const Product *product, const Array *out)
{
    int64_t count = product->m * product->n;
    Elements elements = {bytes_new(count, sizeof(Element)), count};
    bool floats = dtype_is_float(out->dtype);
    for (int64_t i = 0; i < count; i++)
        elements.items[i] = floats
                                ? (Element){.f = product->c[i]}
                                : (Element){.i = (int64_t)fmax(fmin(product->c[i], 9e18), -9e18)};
    bool fine = array_write(context, out, &elements);
    free(elements.items);
    return fine;
}

static bool run_product(ArrayContext *context, const Array *a, const Array *b, const Array *out)
{
    Product product = {.b_dtype = b->dtype, .m = a->shape[0], .n = b->shape[1], .k = a->shape[1]};
    char *a_bytes = array_bytes(context, a), *b_bytes = a_bytes ? array_bytes(context, b) : NULL;
    bool fine = false;
    if (a_bytes && b_bytes) {
        double *numbers = bytes_new(product.m * product.k, sizeof(double));
        decode_numbers(a->dtype, a_bytes, product.m * product.k, numbers);
        product.c = calloc((size_t)(product.m * product.n) + 1, sizeof(double));
        CHECK(product.c != NULL);
        product.a = numbers;
        product.b = b_bytes;
        multiply(&product);
        fine = store_product(context, &product, out);
        free(numbers);
        free(product.c);
    }
    free(a_bytes);
    free(b_bytes);
    return fine;
}

static bool refuse(ArrayContext *context, DiagCode code)
{
    diag_report(context->session->diags, code, context->at);
    return false;
}

static bool multiply_matrices(ArrayContext *context, const Array *a, const Array *b,
                              const Array *out)
{
    return (are_wide_integers(a->dtype, b->dtype, out->dtype) ? run_integer_product
                                                              : run_product)(context, a, b, out);
}

/* ---- vectors, and stacks of matrices ---- */

/* A vector as a matrix of one row or column. */
static Array *as_matrix(ArrayContext *context, const Array *array, bool is_row)
{
    Array *view = array_view(context, array);
    if (array->rank > 1) return view;
    view->rank = 2;
    view->shape[is_row] = array->shape[0];
    view->strides[is_row] = array->strides[0];
    view->shape[!is_row] = 1;
    view->strides[!is_row] = 0;
    return view;
}

/* The matrix number `index` of a stack of the shape `outer`, whose last two axes are its own. */
static Array matrix_at(const Array *stack, int64_t index)
{
    const int outer = stack->rank - 2;
    Array matrix = *stack;
    matrix.rank = 2;
    for (int i = 0; i < 2; i++) {
        matrix.shape[i] = stack->shape[outer + i];
        matrix.strides[i] = stack->strides[outer + i];
    }
    for (int d = outer - 1; d >= 0; d--) {
        matrix.offset += index % stack->shape[d] * stack->strides[d];
        index /= stack->shape[d];
    }
    return matrix;
}

static Array *stretched(ArrayContext *context, const Array *array, int outer, const int64_t *shape)
{
    int64_t whole[ARRAY_RANK];
    for (int d = 0; d < outer; d++) whole[d] = shape[d];
    for (int i = 0; i < 2; i++) whole[outer + i] = array->shape[array->rank - 2 + i];
    return array_broadcast(context, array, outer + 2, whole);
}

static bool multiply_stacks(ArrayContext *context, const Array *a, const Array *b, const Array *out)
{
    const int outer = out->rank - 2;
    int64_t count = 1;
    for (int d = 0; d < outer; d++) count *= out->shape[d];
    const Array *left = stretched(context, a, outer, out->shape),
                *right = stretched(context, b, outer, out->shape);
    for (int64_t i = 0; i < count; i++) {
        const Array x = matrix_at(left, i), y = matrix_at(right, i), made = matrix_at(out, i);
        if (!multiply_matrices(context, &x, &y, &made)) return false;
    }
    return true;
}

typedef struct Factors {
    Array *a, *b;        /* matrices, or stacks of them */
    bool a_line, b_line; /* was a vector, of which the product has no axis */
    int rank;            /* of the product, with these axes */
    int64_t shape[ARRAY_RANK];
} Factors;

static bool take_factors(ArrayContext *context, const Array *a, const Array *b, Factors *out)
{
    *out = (Factors){.a_line = a->rank == 1, .b_line = b->rank == 1};
    out->a = as_matrix(context, a, true);
    out->b = as_matrix(context, b, false);
    const int x = out->a->rank, y = out->b->rank;
    if (a->rank == 0 || b->rank == 0 || out->a->shape[x - 1] != out->b->shape[y - 2])
        return refuse(context, DIAG_product_shapes);
    if (!shape_broadcast(context, x - 2, out->a->shape, y - 2, out->b->shape, &out->rank,
                         out->shape))
        return false;
    out->shape[out->rank++] = out->a->shape[x - 2];
    out->shape[out->rank++] = out->b->shape[y - 1];
    return true;
}

/* The same elements without the axes that were made of vectors. */
static void drop_lines(Array *view, const Factors *factors)
{
    const int last = view->rank - 1;
    if (factors->a_line) {
        view->shape[last - 1] = view->shape[last];
        view->strides[last - 1] = view->strides[last];
    }
    view->rank -= factors->a_line + factors->b_line;
}

static bool has_shape(const Array *array, const Array *wanted)
{
    bool same = array->rank == wanted->rank;
    for (int d = 0; same && d < array->rank; d++) same = array->shape[d] == wanted->shape[d];
    return same;
}

Array *array_multiply(ArrayContext *context, const Array *a, const Array *b, Array *out)
{
    const ArrayFamily family = a->family > b->family ? a->family : b->family;
    Factors factors;
    if (!take_factors(context, a, b, &factors)) return NULL;
    if (family != FAMILY_TILE && a->dtype != b->dtype) {
        refuse(context, DIAG_product_types);
        return NULL;
    }
    const DType dtype = out ? out->dtype : family == FAMILY_TILE ? DTYPE_f64 : a->dtype;
    Array *made = array_new(context, dtype, factors.rank, factors.shape);
    if (!made) return NULL;
    array_take_after(made, 2, (const Array *const[]){a, b});
    if (made->storage && !multiply_stacks(context, factors.a, factors.b, made)) return NULL;
    drop_lines(made, &factors);
    if (!out) return made;
    const HostValue value = {.kind = HOST_ARRAY, .array = made};
    if (has_shape(out, made)) return array_assign(context, out, &value) ? out : NULL;
    refuse(context, DIAG_product_out);
    return NULL;
}
