/* run.c: tilec run FILE ['STATEMENTS']: host code, with kernels compiled in memory and launched by
 * libtile.
 *
 * A kernel that is called is built like any other, to an object with all its tables; LLVM's LLJIT
 * loads the object, and libtile, which is part of this program, launches what is in it, on the GPU
 * or on the emulator. */
#include "command/array/arrays.h"
#include "build/host_gradients.h"
#include "command/object_calls.h"
#include "command/fault_injection.h"
#include "command/run.h"
#include "base/vec.h"
#include "build/load.h"

#include "tile/dlpack.h"
#include "tile/emulator.h"

#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Runner {
    Host host; /* first: the evaluator gives it back */
    Session *session;
    const Options *options;
    ArchList archs;
    bool is_emulator; /* which does not tune: the first configuration is built alone */
    Map kernels;      /* of load_once */
    const RunWish *wish;
    ObjectKernels *objects; /* of the file, if it is one; else NULL */
    Kernel *launched;       /* whose launch is being made; NULL: an object's */
    Span launched_at;
    Gradients gradients;
    UnusedLoads *unused_loads; /* or NULL */
    MutantVec mutants;         /* if ops are to be left out */
    VEC(LLVMOrcLLJITRef) jits; /* one a kernel, since specialisations of one kernel have its name */
} Runner;

static ArrayContext array_context(const Runner *runner, Span at)
{
    return (ArrayContext){.session = runner->session,
                          .arena = runner->session->arena,
                          .at = at,
                          .shapes_only = runner->wish->survey != NULL};
}

/* ---- building ---- */

static const tile_kernel *build_new(void *context, Kernel *kernel)
{
    Runner *runner = context;
    Export export = {
        .name = kernel->export_name, .specialisations = &kernel, .specialisation_count = 1};
    const ExportList exports = {&export, 1};
    const BuildWish wish = {.emit = {.tables_only = true},
                            .first_only = runner->is_emulator,
                            .general_only = runner->options->general,
                            .mutants = wants_mutants(runner->options) ? &runner->mutants : NULL};
    unused_loads_see(runner->unused_loads, kernel);
    Build build;
    const tile_kernel *loaded = NULL;
    LLVMOrcLLJITRef jit = NULL;
    if (build_exports(runner->session, runner->options, &runner->archs, &exports, &wish, &build))
        loaded =
            load_kernel(runner->session, &build, build.exports[0].name, &tile_the_emulator, &jit);
    if (jit) vec_push(runner->session->arena, &runner->jits, jit);
    build_free(&build);
    return loaded;
}

static const tile_kernel *build_kernel(Runner *runner, Kernel *kernel)
{
    return load_once(runner->session, &runner->kernels, kernel, build_new, runner);
}

/* ---- tuning ---- */

/* The kernel with these classes of sizes. */
static Tuning new_tuning(const Runner *runner, const Kernel *kernel, const int64_t *classes)
{
    Arena *arena = runner->session->arena;
    const char **names = arena_new_array(arena, const char *, kernel->parameter_count + 1);
    const int count = tuning_sizes(kernel, names);
    Tuning tuning;
    tuning_of(arena, kernel, &tuning);
    for (int i = 0; i < count; i++)
        vec_push(arena, &tuning.sizes, ((Named){.name = names[i], .number = (double)classes[i]}));
    return tuning;
}

static void hear_tuned(const tile_tuned *tuned, void *context)
{
    Runner *runner = context;
    Arena *arena = runner->session->arena;
    const tile_specialisation *row = &tuned->kernel->specialisations[tuned->specialisation];
    Tuning tuning;
    if (runner->launched)
        tuning = new_tuning(runner, runner->launched, tuned->classes);
    else
        object_tuning(arena, tuned, &tuning);
    tuning.device = arena_copy_text(arena, tuned->device, strlen(tuned->device));
    tuning.compute = (int)tuned->compute;
    tuning.driver = tuned->driver;
    for (uint32_t i = 0; i < row->configuration_count; i++) {
        const double time = tuned->measured[i].nanoseconds;
        const char *name =
            arena_copy_text(arena, row[i].configuration, strlen(row[i].configuration));
        vec_push(arena, &tuning.times,
                 ((Named){.name = name, .number = time < 0 ? -1 : time / 1e6}));
        if (i == tuned->configuration) tuning.choice = name;
    }
    tunings_add(arena, runner->wish->tunings, &tuning);
}

static void hear_library(const char *text, void *context)
{
    const Runner *runner = context;
    diag_report(runner->session->diags, DIAG_library_says, runner->launched_at, text);
}

/* What would be measured for a launch. */
static void plan_launch(Runner *runner, const HostLaunch *launch)
{
    const Kernel *kernel = launch->kernel;
    Arena *arena = runner->session->arena;
    int64_t *classes = arena_new_array(arena, int64_t, kernel->parameter_count + 1);
    int count = 0;
    for (int i = 0; i < kernel_argument_count(kernel); i++) {
        const Type *type = kernel->parameters[i].value->type;
        if (!kernel->parameters[i].is_key && type->kind == TYPE_SCALAR &&
            dtype_is_integer(type->dtype))
            classes[count++] = tile_size_class(launch->arguments[i].integer);
    }
    if (!kernel->next_configuration) return;
    Tuning tuning = new_tuning(runner, kernel, classes);
    tuning.choice = kernel->configuration;
    for (; kernel; kernel = kernel->next_configuration)
        vec_push(arena, &tuning.times, ((Named){.name = kernel->configuration}));
    tunings_add(arena, runner->wish->tunings, &tuning);
}

/* ---- launching ---- */

static bool refuse_array(const Runner *runner, Span at, const Parameter *parameter, DiagCode code)
{
    diag_report(runner->session->diags, code, at, parameter->name);
    return false;
}

static bool is_stride(const Kernel *kernel, int parameter)
{
    for (int i = 0; i < kernel->tensor_count; i++)
        for (int d = 0; d < kernel->tensors[i].rank; d++)
            if (kernel->tensors[i].is_strided &&
                kernel->tensors[i].strides[d].kind == EXTENT_PARAMETER &&
                kernel->tensors[i].strides[d].parameter == parameter)
                return true;
    return false;
}

/* A number as the call is made: another one if no size is to be larger. */
static HostValue number_of(const Runner *runner, const HostLaunch *launch, int index)
{
    const char *at_most = runner->options->at_most;
    HostValue number = launch->arguments[index];
    const int64_t most = at_most ? strtoll(at_most, NULL, 10) : number.integer;
    if (number.integer > most && !is_stride(launch->kernel, index)) number.integer = most;
    return number;
}

/* The argument's value as the kernel takes it, in `cell`. */
static bool encode_argument(const Runner *runner, const HostLaunch *launch, int index,
                            uint64_t *cell)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const HostValue *value = &launch->arguments[index];
    const Type *type = parameter->value->type;
    if (parameter->is_key) {
        *cell = parameter->text ? (uint64_t)(uintptr_t)parameter->text : (uint64_t)parameter->key;
        return true;
    }
    if (type->kind != TYPE_POINTER) {
        const HostValue number = number_of(runner, launch, index);
        return value_encode(runner->session, launch->at, parameter->name, type->dtype, &number,
                            cell);
    }
    const Tensor *tensor = kernel_tensor_of(launch->kernel, index);
    if (tensor && tensor->is_result) return true; /* its address is not known yet */
    if (value->kind != HOST_ARRAY) {
        diag_report(runner->session->diags, DIAG_argument_kind, launch->at, parameter->name,
                    "an array");
        return false;
    }
    const Array *array = value->array;
    if (array->offset * dtype_memory_bits(array->dtype) % 8 != 0)
        return refuse_array(runner, launch->at, parameter, DIAG_argument_offset);
    if (tensor) { /* the evaluator has looked at its type and shape */
        *cell = (uint64_t)(uintptr_t)array_data(array);
        return true;
    }
    /* a pointer to bytes (void_p) takes any array */
    if (!dtype_holds(type->dtype, array->dtype) && type->dtype != DTYPE_u8) {
        diag_report(runner->session->diags, DIAG_argument_dtype, launch->at, parameter->name,
                    dtype_user_name(array->dtype), dtype_user_name(type->dtype));
        return false;
    }
    if (!array_is_contiguous(array))
        return refuse_array(runner, launch->at, parameter, DIAG_argument_strides);
    *cell = (uint64_t)(uintptr_t)array_data(array);
    return true;
}

static void show_statistics(const Runner *runner)
{
    const size_t most = tile_emulator_statistics(NULL, 0);
    tile_emulator_count *counts =
        arena_new_array(runner->session->arena, tile_emulator_count, most + 1);
    const size_t count = tile_emulator_statistics(counts, most);
    for (size_t i = 0; i < count && i < most; i++)
        printf(
            "%s:%u:%u: %s: %llu executions, %llu transactions, %llu ideal, %llu bank conflicts\n",
            counts[i].file, counts[i].line, counts[i].column,
            tile_emulator_operation_name(counts[i].operation),
            (unsigned long long)counts[i].executions, (unsigned long long)counts[i].transactions,
            (unsigned long long)counts[i].ideal, (unsigned long long)counts[i].bank_conflicts);
    fflush(stdout);
}

static const Array *first_array(const HostLaunch *launch)
{
    for (int i = 0; i < launch->kernel->parameter_count; i++)
        if (launch->arguments[i].kind == HOST_ARRAY) return launch->arguments[i].array;
    return NULL;
}

/* Makes the arrays that the call gives; their addresses go to the cells. */
static bool make_results(Runner *runner, const HostLaunch *launch, const tile_kernel *kernel,
                         const void **arguments, uint64_t *cells)
{
    ArrayContext context = array_context(runner, launch->at);
    const Kernel *typed = launch->kernel;
    int64_t *extents =
        arena_new_array(runner->session->arena, int64_t, TYPE_RANK * (typed->tensor_count + 1));
    const Array *model = first_array(launch);
    int count = 0, first = 0;
    for (int i = 0; i < typed->tensor_count; i++) {
        const Tensor *tensor = &typed->tensors[i];
        if (!tensor->is_result) continue;
        if (count == 0 && !load_result_extents(runner->session, launch->at, kernel,
                                               (const void *const *)arguments, extents))
            return false;
        Array *array = array_new(&context, tensor->dtype, tensor->rank, extents + first);
        if (!array) return false;
        if (model) array->family = model->family;
        cells[tensor->pointer] = (uint64_t)(uintptr_t)array_data(array);
        launch->results[count++] = (HostValue){.kind = HOST_ARRAY, .array = array};
        first += tensor->rank;
    }
    return true;
}

static HostStatus host_build(Host *host, Kernel *kernel)
{
    if (((Runner *)host)->wish->survey) return HOST_OK;
    return build_kernel((Runner *)host, kernel) ? HOST_OK : HOST_FAILED;
}

static void host_progress(Host *host, size_t done, size_t total)
{
    (void)host;
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, done < total ? "\rcompiling: %zu of %zu" : "\r\033[K", done, total);
    fflush(stderr);
}

/* The results of a launch that is not made, as far as the call tells their shapes. */
static HostStatus survey_launch(const Runner *runner, const HostLaunch *launch)
{
    ArrayContext context = array_context(runner, launch->at);
    int count = 0;
    for (int i = 0; i < launch->kernel->tensor_count; i++) {
        const Tensor *tensor = &launch->kernel->tensors[i];
        int64_t shape[TYPE_RANK];
        if (!tensor->is_result) continue;
        if (!surveyed_extents(launch, count, shape)) return HOST_FAILED;
        Array *array = array_new(&context, tensor->dtype, tensor->rank, shape);
        if (!array) return HOST_FAILED;
        array->family = FAMILY_TORCH;
        launch->results[count++] = (HostValue){.kind = HOST_ARRAY, .array = array};
    }
    return HOST_OK;
}

static HostStatus host_launch(Host *host, const HostLaunch *asked)
{
    Runner *runner = (Runner *)host;
    if (runner->wish->survey) return survey_launch(runner, asked);
    HostLaunch own = *asked, *launch = &own;
    if (launch->kernel->is_differentiated && !launch_as_gradient(&runner->gradients, launch))
        return HOST_FAILED;
    if (runner->wish->only_plans) {
        plan_launch(runner, launch);
        return HOST_OK;
    }
    const tile_kernel *kernel = build_kernel(runner, launch->kernel);
    if (!kernel) return HOST_FAILED;
    runner->launched = launch->kernel;
    runner->launched_at = launch->at;
    int count = kernel_argument_count(launch->kernel);
    uint64_t *cells = arena_new_array(runner->session->arena, uint64_t, count + 1);
    const void **arguments = arena_new_array(runner->session->arena, const void *, count + 1);
    for (int i = 0; i < count; i++) {
        if (!encode_argument(runner, launch, i, &cells[i])) return HOST_FAILED;
        arguments[i] = &cells[i];
    }
    if (!make_results(runner, launch, kernel, arguments, cells)) return HOST_FAILED;
    RunWatch *watch = runner->wish->watch;
    if (watch && !watch->before(watch, runner->session, launch, cells)) return HOST_FAILED;
    HostStatus status =
        launch_status(runner->session, launch->at, tile_launch(kernel, NULL, NULL, 0, arguments));
    if (watch && status == HOST_OK && !watch->after(watch, runner->session, launch, cells))
        status = HOST_FAILED;
    if (runner->options->statistics) show_statistics(runner);
    return status;
}

/* ---- arrays ---- */

static bool host_find(Host *host, const char *name)
{
    return array_function_exists(name) || object_kernel(((Runner *)host)->objects, name);
}

static const char *host_name(Host *host, size_t index)
{
    (void)host;
    return array_function_name(index);
}

static HostStatus host_call(Host *host, const HostCall *call, HostValue *result)
{
    Runner *runner = (Runner *)host;
    ArrayContext context = array_context(runner, call->at);
    const tile_kernel *kernel = object_kernel(runner->objects, call->name);
    if (!kernel) return array_call(&context, call, result);
    runner->launched = NULL;
    runner->launched_at = call->at;
    return object_kernel_call(&context, kernel, runner->is_emulator, call, result);
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
    if (context.shapes_only) return HOST_FAILED;
    if (array_count(array->array) != 1) {
        diag_report(context.session->diags, DIAG_array_truth, at);
        return HOST_FAILED;
    }
    if (!array_read(&context, array->array, &elements)) return HOST_FAILED;
    *result = element_number(((const Array *)array->array)->dtype, elements.items[0]) != 0;
    free(elements.items);
    return HOST_OK;
}

static void host_describe(Host *host, const void *array, HostArray *out)
{
    const Array *given = array;
    (void)host;
    *out = (HostArray){.dtype = given->dtype, .rank = given->rank};
    for (int i = 0; i < given->rank; i++) {
        out->shape[i] = given->shape[i];
        out->strides[i] = given->strides[i];
    }
}

static void host_repr(Host *host, const HostValue *array, Buf *out)
{
    ArrayContext context = array_context((Runner *)host, (Span){0});
    array_repr(&context, array->array, out);
}

static void host_print(Host *host, const char *text, size_t length)
{
    if (((Runner *)host)->wish->survey) return;
    fwrite(text, 1, length, stdout);
    fflush(stdout);
}

/* ---- the command ---- */

/* The device asked for, else TILE_DEVICE's, else a GPU if there is one, else the emulator. */
static bool choose_device(Runner *runner)
{
    const char *device = runner->options->device ? runner->options->device : getenv("TILE_DEVICE");
    if (!device || !*device) device = tile_device_count() > 0 ? "cuda" : "emulator";
    Diags *diags = runner->session->diags;
    const tile_status status = tile_set_device(device);
    if (status == TILE_ERROR_DEVICE)
        diag_report(diags, DIAG_bad_device, (Span){0}, device, tile_last_error());
    else if (status != TILE_OK)
        diag_report(diags, DIAG_device_failed, (Span){0}, tile_last_error());
    if (status != TILE_OK) return false;
    if (runner->options->fast_emulator) tile_emulator_set_checked(0);
    const bool emulator = runner->is_emulator = strcmp(device, "emulator") == 0;
    if (!emulator && wants_mutants(runner->options)) {
        diag_report(diags, DIAG_faults_on_device, (Span){0}, device);
        return false;
    }
    /* What runs here is built for this GPU alone. */
    const char *archs = runner->options->arch ? runner->options->arch
                        : emulator            ? "emulator"
                                              : "native";
    return choose_archs(runner->session, archs, &runner->archs);
}

/* A source, or an object, whose kernels are then names beside those of tile.host. */
static Program *open_file(Runner *runner)
{
    const char *path = runner->options->inputs.items[0];
    if (!is_object_file(path)) return open_program(runner->session, runner->options, &runner->host);
    runner->objects = object_kernels_open(runner->session, path);
    if (!runner->objects) return NULL;
    return open_source(runner->session, runner->options,
                       source_from_text(runner->session, path, "", 0), NULL, &runner->host);
}

ExitStatus run_file(Session *session, const Options *options, const char *statements,
                    const RunWish *wish)
{
    Runner runner = {.host = {.find = host_find,
                              .name = host_name,
                              .call = host_call,
                              .binary = host_binary,
                              .unary = host_unary,
                              .get_item = host_get_item,
                              .set_item = host_set_item,
                              .attribute = host_attribute,
                              .describe = host_describe,
                              .truth = host_truth,
                              .repr = host_repr,
                              .build = host_build,
                              .progress = host_progress,
                              .launch = host_launch,
                              .print = host_print,
                              .asserts_nothing = options->at_most != NULL || wish->survey,
                              .surveys = wish->survey != NULL},
                     .session = session,
                     .options = options,
                     .wish = wish};
    if (!choose_device(&runner)) return session_status(session);
    runner.gradients = (Gradients){
        .session = session, .host = &runner.host, .target = runner.archs.items[0].target};
    if (wish->tunings) tile_set_tuned(hear_tuned, &runner);
    tile_set_log(options->verbose || wish->tunings ? hear_library : NULL, &runner);
    runner.unused_loads = unused_loads_new(session);
    Program *program = open_file(&runner);
    if (program) {
        if (wish->survey)
            program_survey(program, wish->survey);
        else if (wants_mutants(options))
            run_mutants(session, options, program, statements, &runner.mutants);
        else
            program_run(program, statements);
        unused_loads_report(runner.unused_loads);
        program_free(program);
    }
    if (tile_record_fault())
        diag_report(session->diags, DIAG_not_recorded, (Span){0}, tile_record_fault());
    tile_set_tuned(NULL, NULL);
    tile_set_log(NULL, NULL);
    gradients_free(&runner.gradients);
    if (runner.objects) object_kernels_close(runner.objects);
    for (size_t i = 0; i < runner.jits.count; i++)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(runner.jits.data[i]));
    return session_status(session);
}

ExitStatus command_run(Session *session, const Options *options)
{
    const RunWish nothing = {0};
    if (options->inputs.count < 1 || options->inputs.count > 2) {
        diag_report(session->diags, DIAG_command_words, (Span){0}, "run",
                    "a file, and statements if it is to run some");
        return EXIT_USAGE;
    }
    return run_file(session, options, options->inputs.count == 2 ? options->inputs.items[1] : NULL,
                    &nothing);
}
