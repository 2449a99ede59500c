/* differ.c: differ [--passes] [--hash] [--cached] [--do=STATEMENTS]... [OPTION...] FILE...:
 * runs each program as `tilec run` does (with several statement lists, once for each), and has the
 * reference interpreter do each launch, too.
 *
 * The TYPED IR of a launch is interpreted on a copy of its arrays; what the kernel leaves in them
 * must be the same bits (one NaN is like another). So must be what the IR leaves of the pass before
 * the one that makes products and sums one rounding; the kernel is compared with the IR behind it.
 * Where it is not, the IR after each pass up to PIPELINED is interpreted, and the first pass that
 * makes a difference is named; with --passes always. --hash: nothing is interpreted, the arrays'
 * contents are hashed, for a comparison of devices and of runs. --cached: code may come from the
 * cache. OPTIONs are tilec's. A line a program: "same FILE", "differs FILE: why", "fails FILE:
 * why", with "skipped N" behind where N launches could not be interpreted, "has atomic dot approx"
 * where a kernel has such ops, and "hash H". Exit status: 0 if all went well. */
#include "command/run.h"
#include "interpret.h"
#include "passes/passes.h"
#include "passes/properties.h"
#include "build/units.h"

#include "command/array/arrays.h"

#include "tile/tile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ops whose results two devices, or two runs, need not agree on. */
typedef enum Loose { HAS_ATOMIC = 1, HAS_DOT = 2, HAS_APPROX = 4 } Loose;

typedef struct Memory { /* what arrays that share storage hold */
    const char *storage, *low, *high;
    char *bytes; /* the copy of [low, high) that is interpreted on */
} Memory;

typedef struct Differ {
    RunWatch watch; /* first */
    bool each_pass, only_hash, cached;
    const Target *target;
    Memory *memories;
    int memory_count;
    Argument *arguments;
    Buffer *buffers;
    char *before;   /* all memories, one after the other, as they were */
    char *as_typed; /* as the TYPED IR leaves them */
    bool interpreted;
    const char *trouble; /* the first one */
    int skipped;
    unsigned loose; /* Loose */
    uint64_t hash;
} Differ;

/* ---- arguments ---- */

static const Array *array_of(const HostLaunch *launch, int parameter)
{
    const Kernel *kernel = launch->kernel;
    int result = 0;
    for (int i = 0; i < kernel->tensor_count; i++) {
        if (!kernel->tensors[i].is_result) continue;
        if (kernel->tensors[i].pointer == parameter) return launch->results[result].array;
        result++;
    }
    return launch->arguments[parameter].kind == HOST_ARRAY ? launch->arguments[parameter].array
                                                           : NULL;
}

static void array_reach(const Array *array, const char **low, const char **high)
{
    int64_t first = 0, last = 0;
    for (int i = 0; i < array->rank; i++) {
        const int64_t reach = (array->shape[i] - 1) * array->strides[i];
        *(reach < 0 ? &first : &last) += reach;
    }
    if (array_count(array) == 0) last = first - 1;
    *low = array_data(array) - dtype_memory_bytes(array->dtype, -first);
    *high = array_data(array) + dtype_memory_bytes(array->dtype, last + 1);
}

static Memory *memory_of(Differ *differ, const Array *array)
{
    Memory *memory = differ->memories;
    const char *low, *high;
    array_reach(array, &low, &high);
    while (memory < differ->memories + differ->memory_count && memory->storage != array->storage)
        memory++;
    if (memory == differ->memories + differ->memory_count) {
        *memory = (Memory){.storage = array->storage, .low = low, .high = high};
        differ->memory_count++;
    }
    if (low < memory->low) memory->low = low;
    if (high > memory->high) memory->high = high;
    return memory;
}

static void fill_argument(Differ *differ, const HostLaunch *launch, int index, uint64_t cell)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const DType dtype = parameter->value->type->dtype;
    const Array *array = array_of(launch, index);
    Argument *argument = &differ->arguments[index];
    if (parameter->is_key)
        argument->number.i = parameter->key;
    else if (!array)
        argument->number = number_decode(dtype, cell);
    if (!array) return;
    const Memory *memory = memory_of(differ, array);
    const int64_t offset = array_data(array) - memory->low;
    differ->buffers[index] = (Buffer){.name = parameter->name,
                                      .dtype = dtype,
                                      .bytes = memory->bytes + offset,
                                      .size = memory->high - memory->low - offset};
    argument->buffer = &differ->buffers[index];
}

/* Copies of all memories that the launch reaches, and the arguments that name them. */
static void take_arguments(Differ *differ, Arena *arena, const HostLaunch *launch,
                           const uint64_t *cells)
{
    const int count = kernel_argument_count(launch->kernel);
    differ->memories = arena_new_array(arena, Memory, count + 1);
    differ->memory_count = 0;
    differ->arguments = arena_new_array(arena, Argument, launch->kernel->parameter_count + 1);
    differ->buffers = arena_new_array(arena, Buffer, count + 1);
    for (int i = 0; i < count; i++)
        if (array_of(launch, i)) memory_of(differ, array_of(launch, i));
    for (int i = 0; i < differ->memory_count; i++) {
        Memory *memory = &differ->memories[i];
        memory->bytes = arena_alloc(arena, (size_t)(memory->high - memory->low) + 1);
    }
    for (int i = 0; i < count; i++) fill_argument(differ, launch, i, cells[i]);
}

static size_t memory_size(const Memory *memory)
{
    return (size_t)(memory->high - memory->low);
}

/* Memories one after the other: as they are in the copies, or, `real`, on the emulator. */
static char *keep_memories(const Differ *differ, Arena *arena, bool real)
{
    size_t size = 1, at = 0;
    for (int i = 0; i < differ->memory_count; i++) size += memory_size(&differ->memories[i]);
    char *kept = arena_alloc(arena, size);
    for (int i = 0; i < differ->memory_count; at += memory_size(&differ->memories[i++])) {
        const Memory *memory = &differ->memories[i];
        memcpy(kept + at, real ? memory->low : memory->bytes, memory_size(memory));
    }
    return kept;
}

static void put_copies(Differ *differ, const char *kept)
{
    size_t at = 0;
    for (int i = 0; i < differ->memory_count; at += memory_size(&differ->memories[i++]))
        memcpy(differ->memories[i].bytes, kept + at, memory_size(&differ->memories[i]));
}

static bool same_copies(const Differ *differ, const char *kept)
{
    size_t at = 0;
    for (int i = 0; i < differ->memory_count; at += memory_size(&differ->memories[i++]))
        if (memcmp(differ->memories[i].bytes, kept + at, memory_size(&differ->memories[i])) != 0)
            return false;
    return true;
}

/* ---- comparing ---- */

/* Bits of one element; of all NaNs the same. */
static uint64_t element_bits(DType dtype, const char *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, (size_t)dtype_bytes(dtype));
    if (!dtype_is_float(dtype) || dtype_is_packed(dtype)) return bits;
    const double number = dtype_decode(dtype, bits);
    return number == number ? bits : UINT64_MAX;
}

/* The first element in which the kernel's results and the interpreter's differ, or NULL. */
static const char *find_difference(const Differ *differ, Arena *arena, const HostLaunch *launch)
{
    for (int i = 0; i < kernel_argument_count(launch->kernel); i++) {
        const Buffer *buffer = differ->arguments[i].buffer;
        if (!buffer) continue;
        const char *real = array_data(array_of(launch, i));
        const int size = dtype_bytes(buffer->dtype);
        for (int64_t j = 0; j + size <= buffer->size; j += size) {
            const uint64_t got = element_bits(buffer->dtype, real + j);
            const uint64_t wanted = element_bits(buffer->dtype, buffer->bytes + j);
            if (got == wanted) continue;
            return arena_printf(arena, "%s[%lld] is %#llx, should be %#llx", buffer->name,
                                (long long)(j / size), (unsigned long long)got,
                                (unsigned long long)wanted);
        }
    }
    return NULL;
}

static void hash_arrays(Differ *differ, Session *session, const HostLaunch *launch)
{
    ArrayContext context = {.session = session, .arena = session->arena, .at = launch->at};
    for (int i = 0; i < kernel_argument_count(launch->kernel); i++) {
        const Array *array = array_of(launch, i);
        char *bytes = array ? array_bytes(&context, array) : NULL;
        if (!bytes) continue;
        const int size = dtype_bytes(array->dtype);
        for (int64_t j = 0; j < array_count(array); j++)
            differ->hash = (differ->hash ^ element_bits(array->dtype, bytes + j * size)) *
                           UINT64_C(0x100000001b3);
        free(bytes);
    }
}

/* ---- interpreting ---- */

/* What the interpreter says goes to standard error: kept out of the way. */
static bool interpret_quietly(Kernel *kernel, const Argument *arguments, bool *broken)
{
    fflush(stderr);
    const int kept = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bool quiet = !getenv("DIFFER_VERBOSE");
    if (quiet) dup2(nowhere, STDERR_FILENO);
    const bool done = interpret_kernel(kernel, arguments, broken);
    fflush(stderr);
    if (quiet) dup2(kept, STDERR_FILENO);
    close(kept);
    close(nowhere);
    return done;
}

static bool interpret_copy(Differ *differ, const Kernel *kernel, bool *broken)
{
    Kernel *copy = kernel_clone(kernel);
    Argument *arguments = arena_new_array(copy->arena, Argument, copy->parameter_count + 1);
    memcpy(arguments, differ->arguments, sizeof *arguments * (size_t)kernel_argument_count(kernel));
    const bool done = interpret_quietly(copy, arguments, broken);
    kernel_free(copy);
    return done;
}

/* Of elements that each thread sets the IR says so once variables are SSA values. */
static bool interpret_in_ssa(Differ *differ, const Kernel *kernel)
{
    Kernel *copy = kernel_clone(kernel);
    const char *name;
    bool done = true;
    for (int i = 0; done && (name = pass_name_at(i)) && strcmp(name, "function_gradients") != 0;
         i++)
        done = pass_run_named(copy, differ->target, name, &(PassOptions){.verify_each = true});
    put_copies(differ, differ->before);
    done = done && interpret_copy(differ, copy, NULL);
    kernel_free(copy);
    return done;
}

/* The passes up to this property may not change bits, nor may those behind it; the one that gives
 * it does, where it makes one rounding of two. */
static bool is_contracted(Kernel *kernel)
{
    return (properties_of(kernel) & 1u << PROPERTY_CONTRACTED) != 0;
}

/* A copy of the kernel behind so many passes, or, of a negative number, behind the one that
 * contracts; NULL: one of them fails. `count` gets how many that were. */
static Kernel *run_passes(const Differ *differ, const Kernel *typed, int most, int *count)
{
    Kernel *kernel = kernel_clone(typed);
    const char *name;
    bool fine = true;
    for (*count = 0; fine && *count != most && (name = pass_name_at(*count)); ++*count) {
        if (most < 0 && is_contracted(kernel)) break;
        fine = pass_run_named(kernel, differ->target, name, &(PassOptions){0});
    }
    if (fine) return kernel;
    kernel_free(kernel);
    return NULL;
}

/* Leaves in the copies what the kernel's results should be: of one that has fmas by then those of
 * its IR behind the pass that contracts. `same`: whether the passes before that one keep the bits.
 * False: it is not interpreted. */
static bool interpret_contracted(Differ *differ, const HostLaunch *launch, bool *same)
{
    int count;
    bool fine = true, broken = false;
    Kernel *after = run_passes(differ, launch->kernel, -1, &count);
    if (!after) return false;
    if (kernel_had(after, OP_fma)) {
        Kernel *before = run_passes(differ, launch->kernel, count - 1, &count);
        put_copies(differ, differ->before);
        fine = interpret_copy(differ, before, &broken);
        *same = !broken && (!fine || same_copies(differ, differ->as_typed));
        kernel_free(before);
        put_copies(differ, differ->before);
        fine = fine && interpret_copy(differ, after, NULL);
    }
    kernel_free(after);
    return fine;
}

/* The first pass after which the interpreter leaves something else in the copies than what is there
 * now, or an op promises what does not hold, or that fails. NULL: there is none up to PIPELINED, or
 * up to what is not interpreted. */
static const char *guilty_pass(Differ *differ, Session *session, const HostLaunch *launch,
                               bool aligned)
{
    Kernel *kernel = kernel_clone(launch->kernel);
    const int64_t *multiples = aligned ? variant_multiples(session->arena, kernel) : NULL;
    const char *kept = keep_memories(differ, session->arena, false), *wanted = differ->as_typed;
    const char *name, *guilty = NULL;
    bool broken = false;
    for (int i = 0; multiples && i < kernel->parameter_count; i++)
        if (kernel->parameters[i].multiple < multiples[i])
            kernel->parameters[i].multiple = multiples[i];
    for (int i = 0; !guilty && (name = pass_name_at(i)) && kernel->stage < STAGE_PIPELINED; i++) {
        put_copies(differ, differ->before);
        const bool was_contracted = is_contracted(kernel);
        if (!pass_run_named(kernel, differ->target, name, &(PassOptions){.verify_each = true}))
            guilty = name;
        else if (!interpret_copy(differ, kernel, &broken) && !broken)
            break;
        else if (was_contracted != is_contracted(kernel) && !broken)
            wanted = keep_memories(differ, session->arena, false);
        else if (broken || !same_copies(differ, wanted))
            guilty = name;
    }
    put_copies(differ, kept);
    kernel_free(kernel);
    return guilty;
}

static void name_pass(Differ *differ, Session *session, const HostLaunch *launch, const char *what)
{
    for (int aligned = 0; aligned < 2; aligned++) {
        const char *guilty = guilty_pass(differ, session, launch, aligned);
        if (!guilty) continue;
        differ->trouble = arena_printf(session->arena, "%s%sthe pass %s%s", what ? what : "",
                                       what ? ": " : "", guilty, aligned ? " (aligned)" : "");
        return;
    }
    if (what) differ->trouble = arena_printf(session->arena, "%s: no pass up to PIPELINED", what);
}

static void find_loose(Op *op, void *context)
{
    unsigned *loose = context;
    if (op->code == OP_atomic || op->code == OP_element_atomic) *loose |= HAS_ATOMIC;
    if (op->code == OP_approx) *loose |= HAS_APPROX;
    if ((op->code == OP_dot || op->code == OP_dot_shared) &&
        dtype_is_float(op->results[0].type->dtype))
        *loose |= HAS_DOT;
}

/* What a kernel leaves out of its results is not of the kernel's making. */
static bool clear_results(Session *session, const HostLaunch *launch)
{
    bool fine = true;
    for (int i = 0; fine && i < launch->kernel->tensor_count; i++) {
        const char *low, *high;
        if (!launch->kernel->tensors[i].is_result) continue;
        array_reach(array_of(launch, launch->kernel->tensors[i].pointer), &low, &high);
        const size_t bytes = high > low ? (size_t)(high - low) : 0;
        const void *zeros = arena_alloc(session->arena, bytes + 1); /* which clears it */
        fine = !bytes || tile_copy_in((void *)(uintptr_t)low, zeros, bytes, NULL) == TILE_OK;
    }
    return fine;
}

static bool watch_before(RunWatch *watch, Session *session, const HostLaunch *launch,
                         const uint64_t *cells)
{
    Differ *differ = (Differ *)watch;
    if (differ->only_hash) return clear_results(session, launch);
    if (differ->trouble) return true;
    take_arguments(differ, session->arena, launch, cells);
    differ->before = keep_memories(differ, session->arena, true);
    put_copies(differ, differ->before);
    differ->interpreted =
        interpret_copy(differ, launch->kernel, NULL) || interpret_in_ssa(differ, launch->kernel);
    differ->as_typed = keep_memories(differ, session->arena, false);
    bool same = true;
    differ->interpreted = differ->interpreted && interpret_contracted(differ, launch, &same);
    if (!differ->interpreted) differ->skipped++;
    if (!same) name_pass(differ, session, launch, "before the pass that contracts");
    if (differ->interpreted && differ->each_pass) name_pass(differ, session, launch, NULL);
    return true;
}

static bool watch_after(RunWatch *watch, Session *session, const HostLaunch *launch,
                        const uint64_t *cells)
{
    Differ *differ = (Differ *)watch;
    (void)cells;
    kernel_visit(launch->kernel, find_loose, &differ->loose);
    hash_arrays(differ, session, launch);
    if (differ->only_hash || differ->trouble || !differ->interpreted) return true;
    const char *what = find_difference(differ, session->arena, launch);
    if (what) name_pass(differ, session, launch, what);
    return true;
}

/* ---- programs ---- */

static void print_end(const Differ *differ, const Session *session, ExitStatus status,
                      const char *path)
{
    static const char *const names[] = {"atomic", "dot", "approx"};
    const char *end = differ->trouble ? "differs" : status != EXIT_DONE ? "fails" : "same";
    printf("%s %s", end, path);
    if (differ->trouble) printf(": %s", differ->trouble);
    if (!differ->trouble && status != EXIT_DONE) {
        Buf text = {0};
        diag_render(session->diags, DIAG_TEXT, false, &text);
        printf(": status %d: %.*s", (int)status, (int)(text.length < 2000 ? text.length : 2000),
               text.data ? text.data : "");
        buf_free(&text);
    }
    if (differ->skipped) printf(" skipped %d", differ->skipped);
    if (differ->loose) printf(" has");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (differ->loose & 1u << i) printf(" %s", names[i]);
    printf(" hash %016llx\n", (unsigned long long)differ->hash);
    fflush(stdout);
}

static bool run_program(Differ *differ, int count, char **words, char *path, const char *statements)
{
    Session *session = session_new();
    Options options;
    char *all[64] = {words[0], "run", "--no-cache"};
    int total = differ->cached ? 2 : 3;
    for (int i = 0; i < count && total < 62; i++) all[total++] = words[i + 1];
    all[total++] = path;
    differ->trouble = NULL;
    differ->skipped = 0;
    differ->loose = 0;
    differ->hash = UINT64_C(0xcbf29ce484222325);
    ExitStatus status = EXIT_USAGE;
    if (options_parse(session, total, all, &options)) {
        const char *arch = options.arch ? strchr(options.arch, ':') : NULL;
        const RunWish wish = {.watch = &differ->watch};
        differ->target = target_find(arch ? arch + 1 : "sm_90a");
        status = run_file(session, &options, statements, &wish);
    }
    print_end(differ, session, status, path);
    session_free(session);
    return !differ->trouble && status == EXIT_DONE;
}

int main(int count, char **words)
{
    enum { MOST = 64 };
    Differ differ = {.watch = {watch_before, watch_after}};
    char *options[32] = {words[0]};
    const char *lists[MOST] = {NULL}; /* run in the file's scope; NULL: the file as __main__ */
    int option_count = 0, list_count = 0, first = 1;
    bool fine = true;
    for (; first < count && words[first][0] == '-' && option_count < 30; first++) {
        if (strcmp(words[first], "--passes") == 0)
            differ.each_pass = true;
        else if (strcmp(words[first], "--hash") == 0)
            differ.only_hash = true;
        else if (strcmp(words[first], "--cached") == 0)
            differ.cached = true;
        else if (strncmp(words[first], "--do=", 5) == 0 && list_count < MOST)
            lists[list_count++] = words[first] + 5;
        else
            options[++option_count] = words[first];
    }
    for (int i = first; i < count; i++)
        for (int j = 0; j == 0 || j < list_count; j++) {
            printf("run %s\n", words[i]); /* who reads this knows which one did not come back */
            fflush(stdout);
            fine &= run_program(&differ, option_count, options, words[i], lists[j]);
        }
    return fine ? 0 : 1;
}
