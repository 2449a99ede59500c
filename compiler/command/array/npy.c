/* npy.c: NumPy's .npy files: a magic, a header that is a Python dict as text, the elements in C
 * order. */
#include "command/array/arrays.h"

#include "tile/tile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    DType dtype;
    const char *descr;
} descriptors[] = {{DTYPE_b1, "|b1"},  {DTYPE_i8, "|i1"},  {DTYPE_u8, "|u1"},  {DTYPE_i16, "<i2"},
                   {DTYPE_u16, "<u2"}, {DTYPE_i32, "<i4"}, {DTYPE_u32, "<u4"}, {DTYPE_i64, "<i8"},
                   {DTYPE_u64, "<u8"}, {DTYPE_f16, "<f2"}, {DTYPE_f32, "<f4"}, {DTYPE_f64, "<f8"}};
enum { DESCRIPTOR_TOTAL = sizeof descriptors / sizeof descriptors[0], PREFIX = 10, ALIGN = 64 };

static Array *refuse(ArrayContext *context, const char *path, const char *why)
{
    diag_report(context->session->diags, DIAG_bad_npy, context->at, path, why);
    return NULL;
}

/* The text behind 'key': in the header, or NULL. */
static const char *find_field(const char *header, const char *key)
{
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == ':' || *at == '\'') at++;
    return at;
}

static bool read_descr(const char *header, DType *dtype)
{
    const char *at = find_field(header, "'descr'");
    for (int i = 0; at && i < DESCRIPTOR_TOTAL; i++) {
        if (strncmp(at, descriptors[i].descr, 3) != 0) continue;
        *dtype = descriptors[i].dtype;
        return true;
    }
    return false;
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\n");
}

/* A tuple of numbers that are not negative. */
static bool read_shape(const char *header, int *rank, int64_t *shape)
{
    const char *at = find_field(header, "'shape'");
    if (!at || *at++ != '(') return false;
    for (*rank = 0; *(at = skip_blanks(at)) != ')';) {
        if (*rank == ARRAY_RANK || !isdigit((unsigned char)*at)) return false;
        char *end;
        errno = 0;
        shape[(*rank)++] = strtoll(at, &end, 10);
        if (errno) return false;
        at = skip_blanks(*end == 'L' ? end + 1 : end); /* Python 2's */
        if (*at == ',')
            at++;
        else if (*at != ')' || *rank == 1) /* (5) is a number */
            return false;
    }
    return true;
}

Array *npy_load(ArrayContext *context, const char *path)
{
    size_t size;
    char *bytes = os_read_file(context->arena, path, &size);
    if (!bytes) return refuse(context, path, strerror(errno));
    if (size < PREFIX + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return refuse(context, path, "it is no .npy file");
    const unsigned char *raw = (const unsigned char *)bytes;
    bool wide = raw[6] > 1; /* the header's length has four bytes from version 2 on */
    size_t start = wide ? 12 : PREFIX;
    size_t length =
        raw[8] | (size_t)raw[9] << 8 | (wide ? (size_t)raw[10] << 16 | (size_t)raw[11] << 24 : 0);
    if (length > size - start) return refuse(context, path, "its header is cut off");
    const char *header = arena_copy_text(context->arena, bytes + start, length);
    DType dtype;
    int rank;
    int64_t shape[ARRAY_RANK];
    if (!read_descr(header, &dtype))
        return refuse(context, path, "its element type is not supported");
    if (!read_shape(header, &rank, shape)) return refuse(context, path, "its shape cannot be read");
    const char *fortran = find_field(header, "'fortran_order'");
    if (fortran && strncmp(fortran, "True", 4) == 0)
        return refuse(context, path, "it is in Fortran order");
    Array *array = array_new(context, dtype, rank, shape);
    if (!array) return NULL;
    size_t wanted = (size_t)array_count(array) * (size_t)dtype_bytes(dtype);
    if (size - start - length < wanted) return refuse(context, path, "its data is cut off");
    tile_copy_in(array->storage, bytes + start + length, wanted, NULL);
    tile_synchronize(NULL);
    return array;
}

static const char *descr_of(DType dtype)
{
    for (int i = 0; i < DESCRIPTOR_TOTAL; i++)
        if (descriptors[i].dtype == dtype) return descriptors[i].descr;
    return NULL;
}

static void print_header(const Array *array, const char *descr, Buf *out)
{
    Buf text = {0};
    buf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < array->rank; i++)
        buf_printf(&text, "%lld,%s", (long long)array->shape[i], i + 1 < array->rank ? " " : "");
    buf_text(&text, "), }");
    while ((PREFIX + text.length + 1) % ALIGN) buf_char(&text, ' ');
    buf_char(&text, '\n');
    buf_bytes(out, "\x93NUMPY\x01\x00", 8);
    buf_char(out, (char)(text.length & 255));
    buf_char(out, (char)(text.length >> 8));
    buf_bytes(out, text.data, text.length);
    buf_free(&text);
}

bool npy_save(ArrayContext *context, const char *path, const Array *array)
{
    const char *descr = descr_of(array->dtype);
    if (!descr) return refuse(context, path, "NumPy has no such element type") != NULL;
    Elements elements;
    if (!array_read(context, array, &elements)) return false;
    Buf file = {0};
    print_header(array, descr, &file);
    for (int64_t i = 0; i < elements.count; i++) {
        char bytes[8];
        element_encode(array->dtype, elements.items[i], bytes);
        buf_bytes(&file, bytes, (size_t)dtype_bytes(array->dtype));
    }
    free(elements.items);
    bool fine = os_write_file(path, file.data, file.length);
    buf_free(&file);
    return fine || refuse(context, path, strerror(errno)) != NULL;
}
