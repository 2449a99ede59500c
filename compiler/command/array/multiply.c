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

static Array *refuse(ArrayContext *context, DiagCode code)
{
    diag_report(context->session->diags, code, context->at);
    return NULL;
}

Array *array_multiply(ArrayContext *context, const Array *a, const Array *b, Array *out)
{
    ArrayFamily family = a->family > b->family ? a->family : b->family;
    if (a->rank != 2 || b->rank != 2 || a->shape[1] != b->shape[0])
        return refuse(context, DIAG_product_shapes);
    if (family != FAMILY_TILE && a->dtype != b->dtype) return refuse(context, DIAG_product_types);
    const int64_t shape[] = {a->shape[0], b->shape[1]};
    if (out && (out->rank != 2 || out->shape[0] != shape[0] || out->shape[1] != shape[1]))
        return refuse(context, DIAG_product_out);
    if (!out) out = array_new(context, family == FAMILY_TILE ? DTYPE_f64 : a->dtype, 2, shape);
    if (!out) return NULL;
    out->family = family;
    if (!out->storage) return out;
    return (are_wide_integers(a->dtype, b->dtype, out->dtype) ? run_integer_product
                                                              : run_product)(context, a, b, out)
               ? out
               : NULL;
}
