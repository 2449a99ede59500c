/* launches.c: the host part of a kernel function.
 *
 * A plain function that is a kernel is evaluated in the host region. It opens its launches one
 * after the other, and makes the tensors that it returns. What a launch uses of the host part is
 * scalar code over the parameters, and views: it is computed again there. */
#include "eval/export/export.h"

#include <string.h>

static bool host_ready(Eval *eval, const char *what, Span at)
{
    if (!stage_ready(eval, at)) return false;
    if (in_host_part(eval) && !eval->staging->looks_ahead) return true;
    FAIL(eval, host_only, at, what,
         eval->staging->is_function ? "inside a launch"
                                    : "in a kernel that is the method of a class");
    if (eval->quiet == 0 && eval->staging->launch != NULL && eval->staging->is_function)
        diag_note(eval->session->diags, eval->staging->launch->span, "the launch begins here");
    return false;
}

bool extents_agree(Eval *eval, const Binding *binding, Object *extent, Span at)
{
    Object *old = binding->object;
    if (old->kind == OBJECT_INT && extent->kind == OBJECT_INT) {
        if (old->as.integer == extent->as.integer) return true;
        FAIL(eval, extents_differ, at, binding->name, (long long)extent->as.integer,
             (long long)old->as.integer);
        if (eval->quiet == 0)
            diag_note(eval->session->diags, binding->at, "'%s' is %lld here", binding->name,
                      (long long)old->as.integer);
        return false;
    }
    if (old->kind == OBJECT_IR && extent->kind == OBJECT_IR &&
        old->as.ir.value == extent->as.ir.value)
        return true;
    Value *a = stage_index(eval, old, at), *b = a != NULL ? stage_index(eval, extent, at) : NULL;
    if (b == NULL) return false;
    Value *same = build_cmp(&eval->builder, "eq", stage_cast(eval, a, DTYPE_i64),
                            stage_cast(eval, b, DTYPE_i64));
    const char *text =
        arena_printf(eval->arena, "'%s' differs between the shapes of two tensors", binding->name);
    op_set_text(build_op(&eval->builder, OP_require, 1, &same, 0, NULL), ATTR_text,
                intern_text(eval->session->names, text));
    return true;
}

/* ---- launches ---- */

static bool read_threads(Eval *eval, Object *object, Span at, bool any, int64_t threads[3])
{
    int64_t given[TYPE_RANK], product = 1;
    int rank;
    if (!argument_ints(eval, object, "threads", at, &rank, given)) return false;
    for (int i = 0; i < 3; i++) threads[i] = i < rank ? given[i] : 1;
    bool counts = rank >= 1 && rank <= 3;
    for (int i = 0; counts && i < rank; i++) {
        counts = given[i] >= 1;
        if (product <= MAX_BLOCK_THREADS)
            product *= given[i] <= MAX_BLOCK_THREADS ? given[i] : MAX_BLOCK_THREADS + 1;
    }
    if (counts && product <= MAX_BLOCK_THREADS && (any || product % WARP_SIZE == 0)) return true;
    const char *what = any ? arena_printf(eval->arena, "%d threads", MAX_BLOCK_THREADS)
                           : arena_printf(eval->arena, "a multiple of %d threads, %d", WARP_SIZE,
                                          MAX_BLOCK_THREADS);
    const char *how = !counts                       ? "one to three numbers from 1 on"
                      : product > MAX_BLOCK_THREADS ? "give each thread more elements"
                                                    : "round it up, and leave the others idle";
    FAIL(eval, block_threads, at, what, object_repr(eval, object), how);
    return false;
}

static bool read_blocks(Eval *eval, Object *object, Span at, Value *extents[3])
{
    Object *items[TYPE_RANK];
    int rank;
    if (!argument_items(eval, object, "the grid", at, &rank, items)) return false;
    if (rank < 1 || rank > 3) {
        FAIL(eval, grid_rank, at, rank);
        return false;
    }
    for (int i = 0; i < 3; i++) {
        extents[i] =
            i < rank ? stage_index(eval, items[i], at) : build_const(&eval->builder, DTYPE_i32, 1);
        if (extents[i] == NULL) return false;
    }
    return true;
}

/* launch_begin(blocks, threads, any): what follows runs on that grid, until launch_end(); with
 * `any` number of threads, blocks have whole warps all the same. */
Object *core_launch_begin(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    Value *extents[3];
    int64_t threads[3];
    bool any = false;
    if (!host_ready(eval, "a launch", bound->at) ||
        (!argument_absent(bound->values[2]) && !object_truth(eval, bound->values[2], &any)) ||
        !read_threads(eval, bound->values[1], bound->at, any, threads) ||
        !read_blocks(eval, bound->values[0], bound->at, extents))
        return NULL;
    memcpy(staging->threads, threads, sizeof threads);
    memset(staging->named, 0, sizeof staging->named);
    staging->launch = build_op(&eval->builder, OP_launch, 3, extents, 0, NULL);
    op_set_int(staging->launch, ATTR_warps,
               (threads[0] * threads[1] * threads[2] + WARP_SIZE - 1) / WARP_SIZE);
    staging->launch->span = bound->at;
    eval->builder = builder_at_end(launch_region(staging->launch), bound->at);
    return eval->none;
}

void launch_close(Eval *eval)
{
    Staging *staging = eval->staging;
    eval->builder = builder_at_end(staging->launch->parent, eval->at);
    staging->launch = NULL;
}

Object *core_launch_end(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!staging->is_function || staging->launch == NULL)
        return FAIL(eval, outside_launch, bound->at);
    eval->at = bound->at;
    launch_close(eval);
    return eval->none;
}

/* launch_rasterize(panel, by): how the grid's blocks follow each other. */
Object *core_launch_rasterize(Eval *eval, const Bound *bound)
{
    int64_t panel;
    const Staging *staging = eval->staging;
    const Object *by = bound->values[1];
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[0], "the height of a panel", &panel))
        return NULL;
    if (staging->launch == NULL) return FAIL(eval, outside_launch, bound->at);
    const bool known = by->kind == OBJECT_TEXT && (strcmp(by->as.text.data, "row") == 0 ||
                                                   strcmp(by->as.text.data, "column") == 0);
    if (panel < 1 || panel > INT16_MAX || !known)
        return FAIL(eval, unknown_choice, bound->at, "the order of blocks",
                    "a panel of 1 to 32767 blocks, by 'row' or by 'column'");
    op_set_int(staging->launch, ATTR_panel, panel);
    op_set_text(staging->launch, ATTR_rasterize,
                intern_text(eval->session->names, by->as.text.data));
    return eval->none;
}

/* Whether device code is being staged. */
Object *core_in_launch(Eval *eval, const Bound *bound)
{
    (void)bound;
    return object_bool(eval, eval->staging != NULL && !in_host_part(eval));
}

Object *core_staged_kernel(Eval *eval, const Bound *bound)
{
    (void)bound;
    return eval->staging != NULL ? eval->staging->specialisation->instance : eval->none;
}

/* Where threads do something together they are taken to go the same way. */
Object *core_launch_agrees(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    if (eval->staging->launch == NULL) return FAIL(eval, outside_launch, bound->at);
    op_set_int(eval->staging->launch, ATTR_agree, 1);
    if (bound->values[1] == eval->yes) op_set_int(eval->staging->launch, ATTR_aliases, 1);
    eval->builder.kernel->has_whole_tiles |= bound->values[0] == eval->yes;
    return eval->none;
}

/* The block's extents in threads, as the launch was given them. */
Object *core_block_extents(Eval *eval, const Bound *bound)
{
    const Staging *staging = eval->staging;
    if (!stage_ready(eval, bound->at)) return NULL;
    if (staging->launch == NULL || !staging->is_function)
        return FAIL(eval, outside_launch, bound->at);
    Object *extents = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < 3; i++) list_append(eval, extents, object_int(eval, staging->threads[i]));
    return extents;
}

/* ---- results ---- */

Object *result_new(Eval *eval, Name name, DType dtype, int rank, Value *const *extents, Span at,
                   int position)
{
    Staging *staging = eval->staging;
    Value *pointer = kernel_add_parameter(
        staging->kernel, name, type_pointer(staging->kernel->types, dtype, SPACE_GLOBAL), at);
    vec_push(eval->arena, &staging->parameter_arguments, -1);
    Result result = {
        .view = view_new(eval, pointer, rank, extents, NULL), .at = at, .position = position};
    vec_push(eval->arena, &staging->results, result);
    return object_ir(eval, result.view);
}

/* result(dtype, shape): memory that is made for the call, to be returned. */
Object *core_result(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    Object *items[TYPE_RANK];
    Value *extents[TYPE_RANK];
    DType dtype;
    int rank;
    if (!host_ready(eval, "a tensor to be returned", bound->at) ||
        !argument_dtype(eval, bound->values[0], bound->at, &dtype) ||
        !argument_items(eval, bound->values[1], "the shape", bound->at, &rank, items))
        return NULL;
    if (rank == 0) return FAIL(eval, no_dimensions, bound->at, "a tensor");
    if (eval->control > 0) return FAIL(eval, result_under_control, bound->at);
    for (int i = 0; i < rank; i++) {
        extents[i] = items[i]->kind == OBJECT_INT
                         ? build_const(&eval->builder, DTYPE_i64, items[i]->as.integer)
                         : stage_index(eval, items[i], bound->at);
        if (extents[i] == NULL) return NULL;
    }
    Name name = intern_printf(eval->session->names, "result_%zu", staging->results.count);
    return result_new(eval, name, dtype, rank, extents, bound->at, -1);
}

static const Result *result_at(const Staging *staging, int position)
{
    for (size_t i = 0; i < staging->results.count; i++)
        if (staging->results.data[i].position == position) return &staging->results.data[i];
    return NULL;
}

static bool take_returned(Eval *eval, Object *given, int position)
{
    Staging *staging = eval->staging;
    const Object *object =
        holds_memory(eval, given) ? attribute_get(eval, given, memory_name(eval), eval->at) : given;
    if (object == NULL) return false;
    for (size_t i = 0; i < staging->results.count; i++) {
        Result *result = &staging->results.data[i];
        if (object->kind != OBJECT_IR || object->as.ir.value != result->view) continue;
        if (result->position < 0 && result_at(staging, position) != NULL) {
            FAIL(eval, results_given, eval->at);
            return false;
        }
        if (result->position < 0) {
            result->position = position;
            return true;
        }
        FAIL(eval, returned_twice, eval->at);
        return false;
    }
    FAIL(eval, foreign_result, eval->at, object_repr(eval, object));
    return false;
}

static bool take_all_returned(Eval *eval, Object *returned)
{
    Staging *staging = eval->staging;
    if (returned->kind == OBJECT_NONE) return true;
    staging->specialisation->gives_tuple = object_is_sequence(returned);
    if (!object_is_sequence(returned)) return take_returned(eval, returned, 0);
    for (uint32_t i = 0; i < returned->as.list.count; i++)
        if (!take_returned(eval, returned->as.list.items[i], (int)i)) return false;
    return true;
}

static void add_result(Eval *eval, const Result *result, int position)
{
    Staging *staging = eval->staging;
    Kernel *kernel = staging->kernel;
    const Op *view = result->view->op;
    const int rank = result->view->type->rank;
    Value *pointer = operand(view, pointer);
    Parameter *parameter = &kernel->parameters[pointer->index];
    if (result->view->name != NULL) parameter->name = pointer->name = result->view->name;
    Tensor *tensor = kernel_add_tensor(kernel, pointer->index, rank, result->at);
    tensor->is_result = true;
    vec_push(eval->arena, &staging->tensor_arguments, -1);
    Builder builder = builder_at_end(kernel->host, result->at);
    op_set_int(build_op(&builder, OP_result_shape, rank, operand_list(view, extents), 0, NULL),
               ATTR_index, position);
}

static int moved(const int *indices, int parameter)
{
    return parameter >= 0 ? indices[parameter] : parameter;
}

static void move_extents(Extent *extents, int count, const int *indices)
{
    for (int i = 0; i < count; i++)
        if (extents[i].kind == EXTENT_PARAMETER)
            extents[i].parameter = moved(indices, extents[i].parameter);
}

/* `indices`: where each of the first parameters goes. */
static void move_parameters(Eval *eval, Kernel *kernel, const int *indices, int count)
{
    int *arguments = eval->staging->parameter_arguments.data;
    Parameter *parameters = arena_new_array(eval->arena, Parameter, count + 1);
    int *given = arena_new_array(eval->arena, int, count + 1);
    memcpy(parameters, kernel->parameters, sizeof *parameters * (size_t)count);
    memcpy(given, arguments, sizeof *given * (size_t)count);
    for (int i = 0; i < count; i++) {
        kernel->parameters[indices[i]] = parameters[i];
        parameters[i].value->index = indices[i];
        arguments[indices[i]] = given[i];
    }
    for (int i = 0; i < kernel->tensor_count; i++) {
        Tensor *tensor = &kernel->tensors[i];
        tensor->pointer = moved(indices, tensor->pointer);
        tensor->dtype_key = moved(indices, tensor->dtype_key);
        move_extents(tensor->shape, tensor->rank, indices);
        move_extents(tensor->strides, tensor->is_strided ? tensor->rank : 0, indices);
    }
}

/* Brings the results' parameters behind the others, in the order in which they are returned. */
static void move_results_behind(Eval *eval, Kernel *kernel)
{
    const Staging *staging = eval->staging;
    const int count = kernel_argument_count(kernel), results = (int)staging->results.count;
    if (results == 0) return;
    int *indices = arena_new_array(eval->arena, int, count + 1);
    memset(indices, -1, sizeof *indices * (size_t)count);
    for (int i = 0; i < results; i++)
        indices[operand(result_at(staging, i)->view->op, pointer)->index] = count - results + i;
    for (int i = 0, next = 0; i < count; i++)
        if (indices[i] < 0) indices[i] = next++;
    move_parameters(eval, kernel, indices, count);
}

static bool finish_results(Eval *eval, Object *returned)
{
    Staging *staging = eval->staging;
    bool good = take_all_returned(eval, returned);
    for (size_t i = 0; good && i < staging->results.count; i++) {
        if (staging->results.data[i].position >= 0) continue;
        FAIL(eval, never_returned, staging->results.data[i].at);
        good = false;
    }
    if (!good) return false;
    move_results_behind(eval, staging->kernel);
    for (int i = 0; i < (int)staging->results.count; i++)
        add_result(eval, result_at(staging, i), i);
    return true;
}

/* ---- what launches use of the host part ---- */

typedef struct Import {
    Eval *eval;
    Op *launch;
    Builder builder;
    Map copies;
    int depth;
    bool failed;
} Import;

enum { IMPORT_DEPTH = 10000 };

static const char *value_text(Eval *eval, const Value *value)
{
    if (value->name != NULL) return arena_printf(eval->arena, "'%s'", value->name);
    return value->op != NULL
               ? arena_printf(eval->arena, "the result of '%s'", op_info(value->op->code)->name)
               : "a loop's counter";
}

/* The launch that a value belongs to; NULL: it is the host's. */
static const Op *launch_of(const Value *value)
{
    const Op *op = value->op != NULL       ? value->op
                   : value->region != NULL ? value->region->parent
                                           : NULL;
    if (op == NULL) return NULL;
    return op->code == OP_launch ? op : op_enclosing(op, OP_launch);
}

static Value *import_value(Import *import, Value *value, Span at)
{
    Eval *eval = import->eval;
    const Op *launch = launch_of(value);
    if (launch == import->launch || (value->op == NULL && value->region == NULL)) return value;
    Value *known = map_get(&import->copies, value);
    if (known != NULL) return known;
    if (launch != NULL) return FAIL(eval, other_launch, at, value_text(eval, value));
    if (!op_has(value->op, PURE)) return FAIL(eval, outside_launch, value->op->span);
    if (import->depth == IMPORT_DEPTH) return FAIL(eval, recursion, at, IMPORT_DEPTH);
    import->depth++;
    bool good = true;
    for (int i = 0; good && i < value->op->operand_count; i++) {
        Value *operand = import_value(import, value->op->operands[i], at);
        good = operand != NULL;
        if (good) map_set(eval->arena, &import->copies, value->op->operands[i], operand);
    }
    import->depth--;
    if (!good) return NULL;
    Op *copy = op_clone(&import->builder, value->op, &import->copies);
    Value *result = &copy->results[value->index];
    map_set(eval->arena, &import->copies, value, result);
    return result;
}

static void import_operands(Op *op, void *context)
{
    Import *import = context;
    for (int i = 0; i < op->operand_count && !import->failed; i++) {
        Value *value = import_value(import, op->operands[i], op->span);
        import->failed = value == NULL;
        if (value != NULL) op_set_operand(op, i, value);
    }
}

/* What is assumed of host values holds of their copies. */
static void import_facts(Import *import)
{
    for (const Op *op = import->launch->parent->first; op != import->launch; op = op->next) {
        bool used = op->code == OP_assume;
        for (int i = 0; i < op->operand_count && used; i++)
            used = op->operands[i]->op == NULL || map_has(&import->copies, op->operands[i]);
        for (int i = 0, copied = 0; i < op->operand_count && used; i++) {
            copied += op->operands[i]->op != NULL;
            if (i + 1 == op->operand_count && copied)
                op_clone(&import->builder, op, &import->copies);
        }
    }
}

static bool import_into(Eval *eval, Op *launch)
{
    Region *region = launch_region(launch);
    if (region->first == NULL) return true;
    Import import = {.eval = eval, .launch = launch, .builder = builder_before(region->first)};
    region_visit(region, import_operands, &import);
    if (!import.failed) import_facts(&import);
    return !import.failed;
}

/* ---- the host region itself ---- */

typedef struct Uses {
    Arena *arena;
    Map used; /* by what stands behind */
} Uses;

static void note_operands(Op *op, void *context)
{
    Uses *uses = context;
    for (int i = 0; i < op->operand_count; i++)
        map_set(uses->arena, &uses->used, op->operands[i], uses);
}

static bool is_used(const Uses *uses, const Op *op)
{
    for (int i = 0; i < op->result_count; i++)
        if (map_has(&uses->used, &op->results[i])) return true;
    return false;
}

static bool check_host_op(Eval *eval, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (launch_of(op->operands[i]) != NULL) {
            FAIL(eval, device_grid, op->span, "what happens outside launches",
                 value_text(eval, op->operands[i]));
            return false;
        }
    if (op_info(op->code)->stages & HOST) return true;
    if (op_has(op, PURE))
        FAIL(eval, device_grid, op->span, "what happens outside launches",
             value_text(eval, &op->results[0]));
    else
        FAIL(eval, outside_launch, op->span);
    return false;
}

/* Backwards, so that what is needed by nothing any more goes with what needed it. */
static bool check_host(Eval *eval, Kernel *kernel)
{
    bool good = true;
    Uses uses = {.arena = eval->arena};
    for (Op *op = kernel->host->last, *previous; op != NULL; op = previous) {
        previous = op->previous;
        if (op_has(op, PURE) && !is_used(&uses, op)) {
            op_erase(op);
            continue;
        }
        op_visit(op, note_operands, &uses);
        good &= check_host_op(eval, op);
    }
    return good;
}

bool launches_finish(Eval *eval, Object *returned)
{
    Kernel *kernel = eval->staging->kernel;
    bool good = finish_results(eval, returned) && host_branches_flatten(eval, kernel), any = false;
    for (Op *op = kernel->host->first; good && op != NULL; op = op->next) {
        any |= op->code == OP_launch;
        if (op->code == OP_launch) good = import_into(eval, op);
    }
    if (good && !any) {
        FAIL(eval, no_launch, kernel->span);
        return false;
    }
    return good && check_host(eval, kernel);
}
