/* run.c: tilec run FILE ['STATEMENTS']: host code, with kernels compiled in memory and launched by
 * libtile.
 *
 * A kernel that is called is built like any other, to an object with all its tables; LLVM's LLJIT
 * loads the object, and libtile, which is part of this program, launches what is in it, on the GPU
 * or on the emulator. */
#include "command/arrays.h"
#include "base/vec.h"
#include "driver.h"

#include "abi.h"
#include "emulator/abi.h"
#include "tile/emulator.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Runner {
    Host host; /* first: the evaluator gives it back */
    Session *session;
    const Options *options;
    ArchList archs;
    Map kernels;               /* Kernel * -> const tile_kernel * */
    VEC(LLVMOrcLLJITRef) jits; /* one a kernel, since specialisations of one kernel have its name */
} Runner;

static ArrayContext array_context(const Runner *runner, Span at)
{
    return (ArrayContext){.session = runner->session, .arena = runner->session->arena, .at = at};
}

/* ---- loading what was built ---- */

static bool jit_failed(const Runner *runner, LLVMErrorRef error)
{
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    diag_report(runner->session->diags, DIAG_jit_failed, (Span){0}, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

/* What generated objects refer to, all of it in this program. */
static bool define_runtime(const Runner *runner, LLVMOrcLLJITRef jit)
{
    const struct {
        const char *name;
        LLVMOrcExecutorAddress address;
    } symbols[] = {
        {"tile_launch", (uintptr_t)tile_launch},
        {"tile_plan_launch", (uintptr_t)tile_plan_launch},
        {"tile_prepare", (uintptr_t)tile_prepare},
        {"tile_emulator_run", (uintptr_t)tile_emulator_run},
        {"tile_emu_frame", (uintptr_t)tile_emu_frame},
        {"tile_emu_access", (uintptr_t)tile_emu_access},
        {"tile_emu_argument", (uintptr_t)tile_emu_argument},
        {"memcpy", (uintptr_t)memcpy},
        {"memset", (uintptr_t)memset},
        {"memmove", (uintptr_t)memmove},
    };
    enum { COUNT = sizeof symbols / sizeof symbols[0] };
    LLVMOrcCSymbolMapPair pairs[COUNT];
    for (int i = 0; i < COUNT; i++)
        pairs[i] =
            (LLVMOrcCSymbolMapPair){LLVMOrcLLJITMangleAndIntern(jit, symbols[i].name),
                                    {symbols[i].address, {LLVMJITSymbolGenericFlagsExported, 0}}};
    return !jit_failed(runner, LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                                                     LLVMOrcAbsoluteSymbols(pairs, COUNT)));
}

static LLVMOrcLLJITRef open_jit(Runner *runner)
{
    LLVMOrcLLJITRef jit;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (jit_failed(runner, LLVMOrcCreateLLJIT(&jit, NULL))) return NULL;
    vec_push(runner->session->arena, &runner->jits, jit);
    return define_runtime(runner, jit) ? jit : NULL;
}

static const tile_kernel *load_object(Runner *runner, const Build *build, const char *symbol)
{
    LLVMOrcLLJITRef jit = open_jit(runner);
    if (!jit) return NULL;
    LLVMMemoryBufferRef object =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(build->object, build->object_size, symbol);
    if (jit_failed(runner,
                   LLVMOrcLLJITAddObjectFile(jit, LLVMOrcLLJITGetMainJITDylib(jit), object)))
        return NULL;
    LLVMOrcExecutorAddress address;
    if (jit_failed(runner, LLVMOrcLLJITLookup(jit, &address, symbol))) return NULL;
    return (const tile_kernel *)(uintptr_t)address;
}

static const tile_kernel *build_kernel(Runner *runner, Kernel *kernel)
{
    const tile_kernel *known = map_get(&runner->kernels, kernel);
    if (known) return known;
    Export export = {
        .name = kernel->export_name, .specialisations = &kernel, .specialisation_count = 1};
    const ExportList exports = {&export, 1};
    Build build;
    const tile_kernel *loaded = NULL;
    if (build_exports(runner->session, runner->options, &runner->archs, &exports, &build))
        loaded = load_object(
            runner, &build, arena_printf(runner->session->arena, "%s_kernel", kernel->export_name));
    build_free(&build);
    if (loaded)
        map_set(runner->session->arena, &runner->kernels, kernel, (void *)(uintptr_t)loaded);
    return loaded;
}

/* ---- launching ---- */

static bool refuse_argument(const Runner *runner, Span at, const Parameter *parameter,
                            const char *why)
{
    diag_report(runner->session->diags, DIAG_call_arguments, at,
                arena_printf(runner->session->arena, "argument '%s': %s", parameter->name, why));
    return false;
}

/* The argument's value as the kernel takes it, in `cell`. */
static bool encode_argument(const Runner *runner, const HostLaunch *launch, int index,
                            uint64_t *cell)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const HostValue *value = &launch->arguments[index];
    const Type *type = parameter->value->type;
    bool number = value->kind == HOST_INT || value->kind == HOST_FLOAT || value->kind == HOST_BOOL;
    if (parameter->is_key) {
        *cell = (uint64_t)value->integer;
        return true;
    }
    if (type->kind != TYPE_POINTER) {
        if (!number) return refuse_argument(runner, launch->at, parameter, "a number is needed");
        Element element = {.i = value->integer};
        if (dtype_is_float(type->dtype))
            element.f = value->kind == HOST_FLOAT ? value->number : (double)value->integer;
        else if (value->kind == HOST_FLOAT)
            return refuse_argument(runner, launch->at, parameter, "an integer is needed");
        element_encode(type->dtype, element, cell);
        return true;
    }
    if (value->kind != HOST_ARRAY)
        return refuse_argument(runner, launch->at, parameter, "an array is needed");
    const Array *array = value->array;
    /* a pointer to bytes (void_p) takes any array */
    if (array->dtype != type->dtype && type->dtype != DTYPE_u8)
        return refuse_argument(runner, launch->at, parameter,
                               arena_printf(runner->session->arena,
                                            "the array is of %s, the kernel wants %s",
                                            dtype_name(array->dtype), dtype_name(type->dtype)));
    if (!array_is_contiguous(array))
        return refuse_argument(runner, launch->at, parameter, "the array is not contiguous");
    *cell = (uint64_t)(uintptr_t)array_data(array);
    return true;
}

static HostStatus report_launch(Runner *runner, const HostLaunch *launch, tile_status status)
{
    if (status == TILE_OK) return HOST_OK;
    bool found = status == TILE_ERROR_FAULT;
    bool wrong_call = status == TILE_ERROR_ARGUMENT;
    diag_report(runner->session->diags,
                found        ? DIAG_run_fault
                : wrong_call ? DIAG_call_arguments
                             : DIAG_device_failed,
                launch->at, tile_last_error());
    return HOST_FAILED;
}

enum { COUNTS = 256 }; /* places in one kernel: more are left out */

static void show_statistics(const Runner *runner)
{
    tile_emulator_count *counts =
        arena_new_array(runner->session->arena, tile_emulator_count, COUNTS);
    size_t count = tile_emulator_statistics(counts, COUNTS);
    for (size_t i = 0; i < count && i < COUNTS; i++)
        printf(
            "%s:%u:%u: %s: %llu executions, %llu transactions, %llu ideal, %llu bank conflicts\n",
            counts[i].file, counts[i].line, counts[i].column,
            tile_emulator_operation_name(counts[i].operation),
            (unsigned long long)counts[i].executions, (unsigned long long)counts[i].transactions,
            (unsigned long long)counts[i].ideal, (unsigned long long)counts[i].bank_conflicts);
    fflush(stdout);
}

static HostStatus host_launch(Host *host, const HostLaunch *launch)
{
    Runner *runner = (Runner *)host;
    const tile_kernel *kernel = build_kernel(runner, launch->kernel);
    if (!kernel) return HOST_FAILED;
    int count = launch->kernel->parameter_count;
    uint64_t *cells = arena_new_array(runner->session->arena, uint64_t, count + 1);
    const void **arguments = arena_new_array(runner->session->arena, const void *, count + 1);
    for (int i = 0; i < count; i++) {
        if (!encode_argument(runner, launch, i, &cells[i])) return HOST_FAILED;
        arguments[i] = &cells[i];
    }
    HostStatus status =
        report_launch(runner, launch, tile_launch(kernel, NULL, NULL, 0, arguments));
    if (runner->options->statistics) show_statistics(runner);
    return status;
}

/* ---- arrays ---- */

static bool host_find(Host *host, const char *name)
{
    (void)host;
    return array_function_exists(name);
}

static HostStatus host_call(Host *host, const HostCall *call, HostValue *result)
{
    ArrayContext context = array_context((Runner *)host, call->at);
    return array_call(&context, call, result);
}

static HostStatus host_binary(Host *host, const char *op, const HostValue *left,
                              const HostValue *right, Span at, HostValue *result)
{
    ArrayContext context = array_context((Runner *)host, at);
    return array_binary(&context, op, left, right, result);
}

static HostStatus host_unary(Host *host, const char *op, const HostValue *operand, Span at,
                             HostValue *result)
{
    ArrayContext context = array_context((Runner *)host, at);
    return array_unary(&context, op, operand, result);
}

static HostStatus host_get_item(Host *host, const HostValue *array, const HostValue *index, Span at,
                                HostValue *result)
{
    ArrayContext context = array_context((Runner *)host, at);
    return array_get_item(&context, array, index, result);
}

static HostStatus host_set_item(Host *host, const HostValue *array, const HostValue *index,
                                const HostValue *value, Span at)
{
    ArrayContext context = array_context((Runner *)host, at);
    return array_set_item(&context, array, index, value);
}

static HostStatus host_attribute(Host *host, const HostValue *array, const char *name, Span at,
                                 HostValue *result)
{
    ArrayContext context = array_context((Runner *)host, at);
    return array_attribute(&context, array->array, name, result);
}

static HostStatus host_truth(Host *host, const HostValue *array, Span at, bool *result)
{
    ArrayContext context = array_context((Runner *)host, at);
    Elements elements;
    if (array_count(array->array) != 1) {
        diag_report(context.session->diags, DIAG_bad_array, at,
                    "only an array of one element is true or false");
        return HOST_FAILED;
    }
    if (!array_read(&context, array->array, &elements)) return HOST_FAILED;
    *result = element_number(((const Array *)array->array)->dtype, elements.items[0]) != 0;
    free(elements.items);
    return HOST_OK;
}

static void host_repr(Host *host, const HostValue *array, Buf *out)
{
    ArrayContext context = array_context((Runner *)host, (Span){0});
    array_repr(&context, array->array, out);
}

static void host_print(Host *host, const char *text, size_t length)
{
    (void)host;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

/* ---- the command ---- */

/* The device asked for, else TILE_DEVICE's, else a GPU if there is one, else the emulator. */
static bool choose_device(Runner *runner)
{
    const char *device = runner->options->device ? runner->options->device : getenv("TILE_DEVICE");
    if (!device || !*device) device = tile_device_count() > 0 ? "cuda" : "emulator";
    tile_status status = tile_set_device(device);
    if (status != TILE_OK) {
        diag_report(runner->session->diags,
                    status == TILE_ERROR_DEVICE ? DIAG_bad_device : DIAG_device_failed, (Span){0},
                    tile_last_error());
        return false;
    }
    if (runner->options->fast_emulator) tile_emulator_set_checked(0);
    bool emulator = strcmp(device, "emulator") == 0;
    const char *archs = runner->options->arch ? runner->options->arch
                        : emulator            ? "emulator"
                                              : ARCH_DEFAULT;
    return choose_archs(runner->session, archs, &runner->archs);
}

ExitStatus command_run(Session *session, const Options *options)
{
    if (options->inputs.count < 1 || options->inputs.count > 2) {
        diag_report(session->diags, DIAG_usage, (Span){0},
                    "run needs a file, and may take statements");
        return EXIT_USAGE;
    }
    Runner runner = {.host = {.find = host_find,
                              .call = host_call,
                              .binary = host_binary,
                              .unary = host_unary,
                              .get_item = host_get_item,
                              .set_item = host_set_item,
                              .attribute = host_attribute,
                              .truth = host_truth,
                              .repr = host_repr,
                              .launch = host_launch,
                              .print = host_print},
                     .session = session,
                     .options = options};
    if (!choose_device(&runner)) return session_status(session);
    Program *program = open_program(session, options, &runner.host);
    if (program) {
        program_run(program, options->inputs.count == 2 ? options->inputs.items[1] : NULL);
        program_free(program);
    }
    for (size_t i = 0; i < runner.jits.count; i++)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(runner.jits.data[i]));
    return session_status(session);
}
