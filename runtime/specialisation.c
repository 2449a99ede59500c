/* specialisation.c: what is said where the object holds nothing for a call: what was asked for,
 * what there is, and the line that would add it. */
#include "c_locale.h"
#include "runtime.h"

#include "tile/dlpack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whose numbers are told: those of a call, or those of a specialisation, whose run-time extents go
 * by their names. */
typedef struct numbers {
    const tile_kernel *kernel;
    const tile_tensor *tensors;
    const int64_t *keys;
    const void *const *arguments; /* of the call, else NULL */
} numbers;

static int64_t key_of(const numbers *from, uint64_t parameter)
{
    const int64_t *key = from->keys;
    for (uint64_t i = 0; i < parameter; i++) key += tile_is_key(&from->kernel->parameters[i]);
    return *key;
}

static void add_extent(tile_text *text, const numbers *from, int64_t extent)
{
    const tile_kernel *kernel = from->kernel;
    const uint64_t k = (uint64_t)extent - (uint64_t)TILE_SYMBOL(0);
    if (k >= kernel->parameter_count)
        tile_text_add(text, "%" PRId64, extent);
    else if (tile_is_key(&kernel->parameters[k]))
        tile_text_add(text, "%" PRId64, key_of(from, k));
    else if (from->arguments)
        tile_text_add(text, "%" PRId64,
                      tile_argument_value(&kernel->parameters[k], from->arguments[k]));
    else
        tile_text_add(text, "%s", kernel->parameters[k].name);
}

static void add_extents(tile_text *text, const numbers *from, const int64_t *extents,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i) tile_text_add(text, ", ");
        add_extent(text, from, extents[i]);
    }
}

static void add_dtype(tile_text *text, const numbers *from, const tile_tensor *tensor)
{
    const uint32_t dtype =
        tensor->dtype_key == UINT32_MAX ? tensor->dtype : (uint32_t)key_of(from, tensor->dtype_key);
    tile_add_dtype(text, dtype);
}

static void add_tuple(tile_text *text, const numbers *from, const int64_t *extents, uint32_t count)
{
    tile_text_add(text, "(");
    add_extents(text, from, extents, count);
    tile_text_add(text, count == 1 ? ",)" : ")");
}

/* "a: float16 [1024, K]", or as the argument of a call of compile. */
static void add_tensor(tile_text *text, const numbers *from, const tile_tensor *tensor, int as_code)
{
    if (as_code) {
        tile_text_add(text, "%s=T.%s(", tensor->name, tensor->strides ? "StridedTensor" : "Tensor");
        add_tuple(text, from, tensor->shape, tensor->ndim);
        if (tensor->strides) tile_text_add(text, ", ");
        if (tensor->strides) add_tuple(text, from, tensor->strides, tensor->ndim);
        tile_text_add(text, ", T.");
        add_dtype(text, from, tensor);
        tile_text_add(text, ")");
        return;
    }
    tile_text_add(text, "%s: ", tensor->name);
    add_dtype(text, from, tensor);
    tile_text_add(text, " [");
    add_extents(text, from, tensor->shape, tensor->ndim);
    if (tensor->strides) tile_text_add(text, "] with strides [");
    if (tensor->strides) add_extents(text, from, tensor->strides, tensor->ndim);
    tile_text_add(text, "]");
}

static int comes_with(const tile_tensor *tensor, uint32_t parameter)
{
    if (tensor->dtype_key == parameter) return 1;
    for (uint32_t i = 0; i < tensor->ndim; i++) {
        if (tensor->shape[i] == TILE_SYMBOL(parameter)) return 1;
        if (tensor->strides && tensor->strides[i] == TILE_SYMBOL(parameter)) return 1;
    }
    return 0;
}

static int comes_with_tensor(const tile_kernel *kernel, uint32_t parameter)
{
    for (uint32_t i = 0; i < kernel->tensor_count; i++) {
        if (!kernel->tensors[i].is_result && comes_with(&kernel->tensors[i], parameter)) return 1;
    }
    return 0;
}

/* As Python writes it: digits enough to read back the same. */
static void add_number(tile_text *text, double number, int as_code)
{
    char digits[40];
    const locale_t before = tile_enter_c_locale();
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, number);
        if (strtod(digits, NULL) == number) break;
    }
    tile_leave_c_locale(before);
    if (number != number || number - number != 0)
        tile_text_add(text, as_code ? "float(\"%s\")" : "%s", digits);
    else
        tile_text_add(text, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void add_quoted(tile_text *text, const char *key)
{
    tile_text_add(text, "\"");
    for (; *key; key++) {
        const unsigned char c = (unsigned char)*key;
        if (c == '"' || c == '\\')
            tile_text_add(text, "\\%c", c);
        else
            tile_text_add(text, c < ' ' ? "\\x%02x" : "%c", c);
    }
    tile_text_add(text, "\"");
}

static void add_key(tile_text *text, const tile_parameter *parameter, int64_t key, int as_code)
{
    double number;
    memcpy(&number, &key, sizeof number);
    if (parameter->kind == TILE_PARAMETER_KEY_FLOAT)
        add_number(text, number, as_code);
    else if (parameter->kind == TILE_PARAMETER_KEY_TEXT)
        add_quoted(text, (const char *)(uintptr_t)key);
    else if (parameter->type && !strcmp(parameter->type, "dtype")) {
        tile_text_add(text, as_code ? "T." : "");
        tile_add_dtype(text, (uint32_t)key);
    } else
        tile_text_add(text, "%" PRId64, key);
}

/* What other tensors are like, a call says. */
static int brings_key(const tile_kernel *kernel, uint32_t tensor)
{
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (tile_is_key(&kernel->parameters[i]) && comes_with(&kernel->tensors[tensor], i))
            return 1;
    }
    return 0;
}

/* "n_size = 4096, k_size = 4096", tensors first. */
static void describe(tile_text *text, const numbers *from, int as_code)
{
    const tile_kernel *kernel = from->kernel;
    const char *separator = "";
    for (uint32_t i = 0; i < kernel->tensor_count; i++) {
        if (kernel->tensors[i].is_result || (as_code && !brings_key(kernel, i))) continue;
        tile_text_add(text, "%s", separator);
        add_tensor(text, from, &from->tensors[i], as_code);
        separator = ", ";
    }
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const tile_parameter *parameter = &kernel->parameters[i];
        if (!tile_is_key(parameter) || parameter->kind == TILE_PARAMETER_KEY_FIXED ||
            comes_with_tensor(kernel, i))
            continue;
        tile_text_add(text, "%s%s%s", separator, parameter->name, as_code ? "=" : " = ");
        add_key(text, parameter, key_of(from, i), as_code);
        separator = ", ";
    }
}

static const char *plain_name(const tile_kernel *kernel)
{
    return kernel->plain_name ? kernel->plain_name : kernel->name;
}

static void add_compile(tile_text *text, const numbers *asked)
{
    tile_text_add(text, "%s.compile(", plain_name(asked->kernel));
    describe(text, asked, 1);
    tile_text_add(text, ")");
}

void tile_add_call(tile_text *text, const tile_kernel *kernel, const int64_t *keys,
                   const void *const *arguments)
{
    const numbers asked = {kernel, kernel->tensors, keys, arguments};
    tile_text_add(text, "%s = ", plain_name(kernel));
    add_compile(text, &asked);
}

void tile_record_call(const tile_kernel *kernel, const int64_t *keys, const void *const *arguments)
{
    tile_text text = {0};
    tile_add_call(&text, kernel, keys, arguments);
    tile_text_add(&text, "\n");
    tile_record(text.bytes);
}

/* The line that adds it to the file, if there can be one, and the option that does. */
static void add_advice(tile_text *text, const numbers *asked, const int64_t *keys,
                       const void *const *arguments)
{
    const tile_kernel *kernel = asked->kernel;
    const uint32_t lacks = kernel->specialisation_count ? kernel->specialisations[0].lacks : 0;
    tile_text line = {0};
    add_compile(&line, asked);
    const int needs_language = strstr(line.bytes, "T.") && lacks & TILE_LACKS_LANGUAGE;
    tile_text_add(text, "; add ");
    if (!(lacks & TILE_LACKS_NAME))
        tile_text_add(text, "the line%s%s'%s' to the kernel's file, or ",
                      needs_language ? "s " : " ",
                      needs_language ? "'import tilelang.language as T' and " : "", line.bytes);
    tile_text_add(text, "--export '");
    tile_add_call(text, kernel, keys, arguments);
    tile_text_add(text, "' to tilec's command line, which names all that is built then");
}

tile_status tile_missing_specialisation(const tile_kernel *kernel, const int64_t *keys,
                                        const void *const *arguments, const char *more)
{
    enum { SHOWN = 8 };
    const numbers asked = {kernel, kernel->tensors, keys, arguments};
    tile_text text = {0};
    tile_text_add(&text, "%s: no specialisation for ", kernel->name);
    describe(&text, &asked, 0);
    tile_text_add(&text, "; the object holds ");
    if (!kernel->specialisation_count) tile_text_add(&text, "none");
    uint32_t count = 0; /* configurations of one count as one */
    for (uint32_t i = 0; i < kernel->specialisation_count; i++) {
        const tile_specialisation *specialisation = &kernel->specialisations[i];
        if (specialisation->configuration && !specialisation->configuration_count) continue;
        if (++count > SHOWN) continue;
        const numbers held = {kernel, specialisation->tensors, specialisation->keys, NULL};
        tile_text_add(&text, "%s(", count > 1 ? ", " : "");
        describe(&text, &held, 0);
        tile_text_add(&text, ")");
    }
    if (count > SHOWN) tile_text_add(&text, " and %u more", count - SHOWN);
    add_advice(&text, &asked, keys, arguments);
    tile_text_add(&text, "%s", more);
    return tile_error(TILE_ERROR_NO_SPECIALISATION, "%s", text.bytes);
}
