/* main.c: interpret OUT INSTANCE 'NAME=VALUE ...' [=]FILE.ir...
 *
 * Runs the kernel of each IR text that is exported as `reference`, or else the last one, on the
 * same arguments: VALUE is a number, or the extents of an array ("65x72") of random elements, or
 * "65x72:VALUE" of equal ones. What the first text leaves in the arrays is what the others must
 * leave, bit for bit; behind one with a = before its name, what that one leaves. OUT gets the
 * arrays before and after as NAME.in.npy and NAME.out.npy, and `statements`, which have `tilec run`
 * do the same with the whole compiler. Exit status: 0 all agree, 1 they do not, 2 something could
 * not be run. */
#include "interpret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

typedef struct Run {
    Session *session;
    Kernel *kernel;
    Argument *arguments;
    char **shapes; /* as written, of arrays */
} Run;

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "interpret: %s: %s\n", what, why);
    return false;
}

/* ---- files ---- */

static const char *npy_type(DType dtype)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_b1] = "|b1",  [DTYPE_i8] = "|i1",  [DTYPE_u8] = "|u1",  [DTYPE_i16] = "<i2",
        [DTYPE_u16] = "<u2", [DTYPE_i32] = "<i4", [DTYPE_u32] = "<u4", [DTYPE_i64] = "<i8",
        [DTYPE_u64] = "<u8", [DTYPE_f16] = "<f2", [DTYPE_f32] = "<f4", [DTYPE_f64] = "<f8"};
    return names[dtype];
}

static bool npy_write(const char *folder, const Buffer *buffer, const char *when, const char *shape)
{
    char path[PATH_SIZE], header[128], extents[64] = "";
    if (!npy_type(buffer->dtype)) return fail(buffer->name, ".npy has no such element type");
    size_t length = strcspn(shape, ":");
    if (length + 2 > sizeof extents) return fail(shape, "these are too many extents");
    for (size_t i = 0; i < length; i++) extents[i] = shape[i] == 'x' ? ',' : shape[i];
    extents[length] = ',';
    snprintf(path, sizeof path, "%s/%s.%s.npy", folder, buffer->name, when);
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
             npy_type(buffer->dtype), extents);
    FILE *file = fopen(path, "wb");
    if (!file) return fail(path, "cannot be written");
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fprintf(file, "%-117s\n", header);
    fwrite(buffer->bytes, 1, (size_t)buffer->size, file);
    return fclose(file) == 0 || fail(path, "cannot be written");
}

/* ---- arguments ---- */

/* Small multiples of 1/8: sums of their products are exact, in whatever order they are added. */
static Number random_number(DType dtype, uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t small = (int64_t)(*state >> 59) - 16;
    if (dtype_is_float(dtype)) return (Number){.f = (double)small / 8};
    return (Number){.i = dtype_wrap(dtype, small)};
}

static bool fill_buffer(Arena *arena, Buffer *buffer, const char *shape, uint64_t seed)
{
    char *end;
    buffer->elements = 1;
    for (const char *at = shape;; at = end + 1) {
        buffer->elements *= strtoll(at, &end, 10);
        if (*end != 'x') break;
    }
    if (end == shape || (*end != '\0' && *end != ':')) return fail(shape, "these are no extents");
    int size = dtype_bytes(buffer->dtype);
    buffer->size = buffer->elements * size;
    buffer->bytes = arena_alloc(arena, (size_t)buffer->size + 1);
    double same = *end == ':' ? strtod(end + 1, NULL) : 0;
    for (int64_t i = 0; i < buffer->elements; i++) {
        Number number =
            dtype_is_float(buffer->dtype) ? (Number){.f = same} : (Number){.i = (int64_t)same};
        if (*end != ':') number = random_number(buffer->dtype, &seed);
        uint64_t bits = number_encode(buffer->dtype, number);
        memcpy(buffer->bytes + i * size, &bits, (size_t)size);
    }
    return true;
}

/* The VALUE of NAME=VALUE; NULL if there is none. */
static char *find_value(Arena *arena, const char *settings, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = settings; (at = strstr(at, name)) != NULL; at += length)
        if ((at == settings || at[-1] == ' ') && at[length] == '=')
            return arena_copy_text(arena, at + length + 1, strcspn(at + length + 1, " "));
    return NULL;
}

static bool make_argument(Run *run, int index, const char *settings)
{
    const Parameter *parameter = &run->kernel->parameters[index];
    const Type *type = parameter->value->type;
    Argument *argument = &run->arguments[index];
    Arena *arena = run->session->arena;
    char *value = find_value(arena, settings, parameter->name);
    if (parameter->is_key) {
        argument->number.i = parameter->key;
        return true;
    }
    if (!value) return fail(parameter->name, "the case gives no value");
    run->shapes[index] = value;
    if (type->kind == TYPE_POINTER) {
        argument->buffer = arena_new_of(arena, Buffer);
        *argument->buffer = (Buffer){.name = parameter->name, .dtype = type->dtype};
        return fill_buffer(arena, argument->buffer, value, (uint64_t)index + 1);
    }
    if (dtype_is_float(type->dtype))
        argument->number.f = number_round(type->dtype, strtod(value, NULL));
    else
        argument->number.i = dtype_wrap(type->dtype, strtoll(value, NULL, 10));
    return true;
}

static bool open_kernel(Run *run, const char *path, const char *settings)
{
    *run = (Run){.session = session_new()};
    const Source *source = source_from_file(run->session, path);
    int count = 0;
    Kernel **kernels = source ? kernel_read(run->session, source, &count) : NULL;
    int chosen = count - 1;
    for (int i = 0; i < count; i++)
        if (kernels[i]->export_name && strcmp(kernels[i]->export_name, "reference") == 0)
            chosen = i;
    if (!kernels || count == 0 || !kernel_verify(kernels[chosen])) {
        Buf text = {0};
        diag_render(run->session->diags, DIAG_TEXT, false, &text);
        fprintf(stderr, "%s", text.data ? text.data : "no kernel\n");
        buf_free(&text);
        return false;
    }
    run->kernel = kernels[chosen];
    for (int i = 0; i < count; i++)
        if (i != chosen) kernel_free(kernels[i]);
    run->arguments =
        arena_new_array(run->session->arena, Argument, run->kernel->parameter_count + 1);
    run->shapes = arena_new_array(run->session->arena, char *, run->kernel->parameter_count + 1);
    for (int i = 0; i < run->kernel->parameter_count; i++)
        if (!make_argument(run, i, settings)) return false;
    return true;
}

static void close_run(Run *run)
{
    if (run->kernel) kernel_free(run->kernel);
    session_free(run->session);
}

/* ---- outputs ---- */

static bool write_arrays(const Run *run, const char *folder, const char *when)
{
    for (int i = 0; i < run->kernel->parameter_count; i++)
        if (run->arguments[i].buffer &&
            !npy_write(folder, run->arguments[i].buffer, when, run->shapes[i]))
            return false;
    return true;
}

static bool write_statements(const Run *run, const char *folder, const char *instance)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/statements", folder);
    FILE *file = fopen(path, "w");
    if (!file) return fail(path, "cannot be written");
    const Kernel *kernel = run->kernel;
    for (int i = 0; i < kernel->parameter_count; i++)
        if (run->arguments[i].buffer)
            fprintf(file, "%s = load(\"%s/%s.in.npy\"); ", kernel->parameters[i].name, folder,
                    kernel->parameters[i].name);
    fprintf(file, "(%s)(", instance);
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (parameter->is_key)
            fprintf(file, "%s%lld", i ? ", " : "", (long long)parameter->key);
        else
            fprintf(file, "%s%s", i ? ", " : "",
                    run->arguments[i].buffer ? parameter->name : run->shapes[i]);
    }
    fprintf(file, ")");
    for (int i = 0; i < kernel->parameter_count; i++)
        if (run->arguments[i].buffer)
            fprintf(file, "; assert allclose(%s, load(\"%s/%s.out.npy\"), 0, 0), \"%s\"",
                    kernel->parameters[i].name, folder, kernel->parameters[i].name,
                    kernel->parameters[i].name);
    fprintf(file, "\n");
    return fclose(file) == 0;
}

static bool same_arrays(const Run *first, const Run *other, const char *path)
{
    if (first->kernel->parameter_count != other->kernel->parameter_count)
        return fail(path, "the parameters differ");
    for (int i = 0; i < first->kernel->parameter_count; i++) {
        const Buffer *want = first->arguments[i].buffer, *got = other->arguments[i].buffer;
        if (!want) continue;
        int size = dtype_bytes(want->dtype);
        for (int64_t j = 0; j < want->elements; j++) {
            uint64_t x = 0, y = 0;
            memcpy(&x, got->bytes + j * size, (size_t)size);
            memcpy(&y, want->bytes + j * size, (size_t)size);
            if (x == y) continue;
            fprintf(stderr, "%s: %s[%lld] is %#llx, before the pass it was %#llx\n", path,
                    want->name, (long long)j, (unsigned long long)x, (unsigned long long)y);
            return false;
        }
    }
    return true;
}

static bool run(Run *run, const char *path, const char *settings)
{
    return open_kernel(run, path, settings) && interpret_kernel(run->kernel, run->arguments, NULL);
}

static int run_first(Run *first, const char *path, const char *settings, const char *folder,
                     const char *instance)
{
    bool fine = open_kernel(first, path, settings) && write_arrays(first, folder, "in") &&
                interpret_kernel(first->kernel, first->arguments, NULL) &&
                write_statements(first, folder, instance);
    return fine ? 0 : 2;
}

static int run_other(const Run *wanted, const char *path, const char *settings)
{
    Run other;
    int status = 2;
    if (run(&other, path, settings))
        status = same_arrays(wanted, &other, path) ? 0 : 1;
    else
        fail(path, "it cannot be run");
    close_run(&other);
    return status;
}

/* What the file's kernel leaves is what the next ones must leave. */
static int run_anew(Run *wanted, const char *path, const char *settings)
{
    close_run(wanted);
    return run(wanted, path, settings) || fail(path, "it cannot be run") ? 0 : 2;
}

int main(int count, char **words)
{
    if (count < 5) {
        fprintf(stderr, "usage: interpret OUT INSTANCE 'NAME=VALUE ...' [=]FILE.ir...\n");
        return 2;
    }
    Run wanted;
    int status = run_first(&wanted, words[4], words[3], words[1], words[2]);
    for (int i = 5; i < count && status == 0; i++)
        status = *words[i] == '=' ? run_anew(&wanted, words[i] + 1, words[3])
                                  : run_other(&wanted, words[i], words[3]);
    if (status == 0 && !write_arrays(&wanted, words[1], "out")) status = 2;
    close_run(&wanted);
    return status;
}
