/* verify.c: whether a kernel is what its stage says: rows, stages, types, scopes, links. The rules
 * of single ops are in rules.c. Goes on after a fault, so that one run shows them all. */
#include "ir/layout/bits.h"
#include "ir/rows.h"

#include <string.h>

typedef struct Verifier {
    const Kernel *kernel;
    Arena *scratch;
    Map visible; /* Value -> where it was made: its launch, or the kernel if in the host region */
    Map faulty;  /* values whose types rules cannot look into */
    const Op *launch;
    bool holds;
    int faults;
} Verifier;

enum {
    MOST_FAULTS = 100, /* that are shown */
    MOST_COVERED_BITS = 32
};

static void report(Verifier *verifier, const Op *op, const char *text)
{
    const Kernel *kernel = verifier->kernel;
    verifier->holds = false;
    if (++verifier->faults > MOST_FAULTS) return;
    Buf line = {0};
    op_print(op, &line);
    diag_report(kernel->session->diags, DIAG_ir_invalid, op->span,
                arena_printf(verifier->scratch, "%s: op '%s' of kernel '%s': %s",
                             stage_name(kernel->stage), op_info(op->code)->name, kernel->name,
                             text));
    diag_note(kernel->session->diags, op->span, "the op is: %s", line.data);
    buf_free(&line);
}

static void report_parameter(Verifier *verifier, const Parameter *parameter, const char *text)
{
    const Kernel *kernel = verifier->kernel;
    verifier->holds = false;
    diag_report(kernel->session->diags, DIAG_ir_invalid, parameter->span,
                arena_printf(verifier->scratch, "parameter '%s' of kernel '%s': %s",
                             parameter->name == NULL ? "" : parameter->name, kernel->name, text));
}

/* ---- types ---- */

static bool layout_fits(const Type *type)
{
    if (type->layout->rank != type->rank) return false;
    for (int i = 0; i < type->rank; i++)
        if (type->layout->shape[i] != type->shape[i]) return false;
    return true;
}

/* Of all the elements that the layout covers, those beyond the tile too. */
static int covered_bits(const Layout *layout)
{
    int bits = 0;
    for (int d = 0; d < layout->rank; d++)
        bits += bits_log2(layout->block[d]) + bits_log2_above(layout->repeat[d]);
    return bits;
}

static bool threads_hold(const Layout *layout)
{
    enum { LANE_BITS = 5, WARP_BITS = 5 };
    return layout_registers(layout) <= LAYOUT_REGISTERS && layout->bits[LAYOUT_LANE] <= LANE_BITS &&
           layout->bits[LAYOUT_WARP] <= WARP_BITS;
}

static const char *tile_fault(const Verifier *verifier, const Type *type)
{
    for (int i = 0; i < type->rank; i++)
        if (type->shape[i] < 1) return "a tile's extent is not positive";
    if (type_elements(type) > TILE_LIMIT) return "a tile has more than 2^24 elements";
    if (type->layout != NULL && !layout_fits(type)) return "a layout's shape is not its tile's";
    if (type->layout != NULL && covered_bits(type->layout) > MOST_COVERED_BITS)
        return "a layout covers far more than its tile";
    if (type->layout != NULL && type->kind == TYPE_SHARED && !layout_is_order(type->layout))
        return "a shared tile's layout is no order of its elements";
    if (type->layout == NULL && verifier->kernel->stage >= STAGE_LAID_OUT)
        return "a tile has no layout";
    if (type->layout != NULL && type->kind == TYPE_TILE &&
        verifier->kernel->stage >= STAGE_LAID_OUT && !threads_hold(type->layout))
        return "a thread would hold more than 16384 elements, or there are more than 1024 threads";
    if (verifier->kernel->stage == STAGE_THREADED)
        return "a tile is left in a kernel of thread ops";
    return NULL;
}

/* Which one it is is always known, as it stands for the op that made it. */
static bool is_place(const Type *type)
{
    return type->kind == TYPE_VIEW || type->kind == TYPE_SHARED || type->kind == TYPE_LOCAL;
}

/* What is wrong with a value's type here, or NULL. */
static const char *type_fault(const Verifier *verifier, const Type *type)
{
    bool is_host = verifier->launch == NULL;
    switch (type->kind) {
    case TYPE_SCALAR:
    case TYPE_POINTER:
    case TYPE_VIEW: return NULL;
    case TYPE_VECTOR:
        return is_host           ? "a vector in the host region"
               : type->count < 1 ? "a vector is empty"
                                 : NULL;
    case TYPE_LOCAL: return is_host ? "an array of a thread in the host region" : NULL;
    case TYPE_TILE:
    case TYPE_SHARED: return is_host ? "a tile in the host region" : tile_fault(verifier, type);
    case TYPE_VAR:
        if (type->content->kind == TYPE_VAR || is_place(type->content))
            return "a variable holds what cannot be assigned";
        return type_fault(verifier, type->content);
    }
    return "a type is of no kind";
}

static void check_type(Verifier *verifier, const Op *op, const Value *value)
{
    const Type *type = value->type;
    const bool is_choice = op->region_count > 0 && (is_place(type) || type->kind == TYPE_VAR);
    const char *fault = is_choice ? "which view, array or variable it is depends on the way through"
                                  : type_fault(verifier, type);
    if (fault == NULL) return;
    report(verifier, op, fault);
    map_set(verifier->scratch, &verifier->faulty, value, verifier);
}

static bool is_sound(const Verifier *verifier, const Op *op)
{
    bool sound = true;
    for (int i = 0; i < op->result_count; i++)
        sound &= !map_has(&verifier->faulty, &op->results[i]);
    for (int i = 0; i < op->operand_count; i++)
        sound &= !map_has(&verifier->faulty, op->operands[i]);
    return sound;
}

/* ---- scopes ---- */

static const void *place_now(const Verifier *verifier)
{
    return verifier->launch != NULL ? (const void *)verifier->launch : verifier->kernel;
}

static void show(Verifier *verifier, const Value *value)
{
    map_set(verifier->scratch, &verifier->visible, value, (void *)place_now(verifier));
}

static const char *operand_fault(const Verifier *verifier, const Value *value)
{
    if (value == NULL) return "an operand is missing";
    const Parameter *parameter = kernel_parameter_of(verifier->kernel, value);
    if (parameter != NULL)
        return parameter->is_key && verifier->launch != NULL ? "the device does not see keys"
                                                             : NULL;
    const void *place = map_get(&verifier->visible, value);
    if (place == NULL) return "an operand is not defined here";
    return place == place_now(verifier) ? NULL : "device code refers to a value of the host region";
}

static bool check_operands(Verifier *verifier, const Op *op)
{
    bool holds = true;
    for (int i = 0; i < op->operand_count; i++) {
        const char *fault = operand_fault(verifier, op->operands[i]);
        if (fault == NULL) continue;
        report(verifier, op, arena_printf(verifier->scratch, "%s (operand %d)", fault, i));
        holds = false;
    }
    return holds;
}

/* ---- ops ---- */

static bool check_row(Verifier *verifier, const Op *op)
{
    Buf fault = {0};
    const Type **types = arena_new_array(verifier->scratch, const Type *, op->result_count);
    for (int i = 0; i < op->result_count; i++) types[i] = op->results[i].type;
    bool fits =
        row_fits(op->code, op->operand_count, op->operands, op->result_count, types, &fault);
    if (fits && op->region_count != op_info(op->code)->regions) {
        buf_text(&fault, "the number of regions is wrong");
        fits = false;
    }
    if (!fits) report(verifier, op, fault.data);
    buf_free(&fault);
    return fits;
}

static bool check_attrs(Verifier *verifier, const Op *op)
{
    bool holds = true;
    for (int i = 0; i < op->attr_count; i++) {
        if (attr_is_of(op->attrs[i].key, op->code)) continue;
        report(verifier, op,
               arena_printf(verifier->scratch, "it has no {%s}", attr_name(op->attrs[i].key)));
        holds = false;
    }
    return holds;
}

static void check_stage(Verifier *verifier, const Op *op)
{
    const unsigned stages = op_info(op->code)->stages;
    const Stage stage = verifier->kernel->stage;
    const bool threaded = stage == STAGE_THREADED;
    const unsigned now = threaded ? THREAD
                                  : TILE | (stage == STAGE_TYPED ? TYPED : 0) |
                                        (stage < STAGE_SYNCED ? UNSYNCED : 0);
    if (verifier->launch == NULL && !(stages & HOST))
        report(verifier, op, "this op is not allowed in the host region");
    if (verifier->launch != NULL && !(stages & now))
        report(verifier, op,
               threaded                      ? "this op is not a thread op"
               : stages & (TYPED | UNSYNCED) ? "this op is gone at this stage"
                                             : "this op is a thread op");
}

static bool check_rules(Verifier *verifier, const Op *op)
{
    Buf fault = {0};
    const bool hold = rules_hold(verifier->kernel, op, &fault);
    if (!hold) report(verifier, op, fault.data);
    buf_free(&fault);
    return hold;
}

static bool uses_are_linked(const Kernel *kernel, const Value *value)
{
    int count = 0;
    for (const OpUse *use = value->uses; use != NULL; use = use->next, count++)
        if (use->op->operands[use - use->op->uses] != value ||
            !region_holds(kernel->host, use->op->parent))
            return false;
    return count == value->use_count;
}

static void check_links(Verifier *verifier, const Op *op, const Region *region)
{
    bool linked = op->parent == region &&
                  (op->next != NULL ? op->next->previous : region->last) == op &&
                  (op->previous != NULL ? op->previous->next : region->first) == op;
    for (int i = 0; i < op->result_count; i++)
        linked = linked && op->results[i].op == op && op->results[i].index == i &&
                 uses_are_linked(verifier->kernel, &op->results[i]);
    for (int i = 0; i < op->operand_count; i++) linked = linked && op->uses[i].op == op;
    for (int i = 0; i < op->region_count; i++)
        linked =
            linked && op->regions[i]->parent == op && op->regions[i]->kernel == verifier->kernel;
    if (!linked) report(verifier, op, "the lists of ops are damaged");
}

static void check_region(Verifier *verifier, const Region *region);

static void check_regions(Verifier *verifier, const Op *op)
{
    const Op *outer = verifier->launch;
    if (op->code == OP_launch) verifier->launch = op;
    for (int i = 0; i < op->region_count; i++) check_region(verifier, op->regions[i]);
    verifier->launch = outer;
}

static void check_op(Verifier *verifier, const Op *op, const Region *region)
{
    bool visible = check_operands(verifier, op);
    check_links(verifier, op, region);
    check_stage(verifier, op);
    for (int i = 0; i < op->result_count; i++) check_type(verifier, op, &op->results[i]);
    /* A rule may look at any operand, and at the ops around, so what is wrong ends it here. */
    if (check_row(verifier, op) && check_attrs(verifier, op) && visible && is_sound(verifier, op) &&
        check_rules(verifier, op))
        check_regions(verifier, op);
    for (int i = 0; i < op->result_count; i++) show(verifier, &op->results[i]);
}

static void hide_region(Verifier *verifier, const Region *region)
{
    for (int i = 0; i < region->argument_count; i++)
        map_remove(&verifier->visible, region->arguments[i]);
    for (const Op *op = region->first; op != NULL; op = op_next(op))
        for (int i = 0; i < op->result_count; i++) map_remove(&verifier->visible, &op->results[i]);
}

static void check_region(Verifier *verifier, const Region *region)
{
    for (int i = 0; i < region->argument_count; i++) {
        check_type(verifier, region->parent, region->arguments[i]);
        show(verifier, region->arguments[i]);
    }
    for (const Op *op = region->first; op != NULL; op = op_next(op)) check_op(verifier, op, region);
    hide_region(verifier, region);
}

static void check_parameter(Verifier *verifier, const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    if (type->kind != TYPE_SCALAR && type->kind != TYPE_POINTER) {
        report_parameter(verifier, parameter, "it is neither a scalar nor a pointer");
        map_set(verifier->scratch, &verifier->faulty, parameter->value, verifier);
    }
    if (parameter->is_key &&
        (type->kind != TYPE_SCALAR || (dtype_is_float(type->dtype) && type->dtype != DTYPE_f64)))
        report_parameter(verifier, parameter, "a key is an integer, a boolean, an f64 or a text");
    else if (parameter->is_key && dtype_wrap(type->dtype, parameter->key) != parameter->key)
        report_parameter(verifier, parameter, "the key is out of the type's range");
    if (parameter->is_workspace &&
        (type->kind != TYPE_POINTER || type->space == SPACE_PARAM || parameter->is_key))
        report_parameter(verifier, parameter, "a workspace is a pointer to memory");
    if (parameter->multiple < 1)
        report_parameter(verifier, parameter, "it is a multiple of nothing positive");
}

/* ---- tensors ---- */

static const char *extents_fault(const Kernel *kernel, const Extent *extents, int rank)
{
    for (int i = 0; i < rank; i++) {
        if (extents[i].kind == EXTENT_LITERAL && extents[i].value < 0)
            return "an extent or stride is negative";
        if (extents[i].kind == EXTENT_LITERAL) continue;
        if (extents[i].parameter < 0 || extents[i].parameter >= kernel->parameter_count)
            return "an extent or stride is no parameter";
        const Type *type = kernel->parameters[extents[i].parameter].value->type;
        if (type->kind != TYPE_SCALAR || !dtype_is_integer(type->dtype))
            return "an extent or stride is no integer";
    }
    return NULL;
}

static const char *dtype_key_fault(const Kernel *kernel, const Tensor *tensor)
{
    if (tensor->dtype_key < 0) return NULL;
    if (tensor->dtype_key >= kernel->parameter_count ||
        !kernel->parameters[tensor->dtype_key].is_key)
        return "its type is no key";
    return kernel->parameters[tensor->dtype_key].key == dtype_code(tensor->dtype)
               ? NULL
               : "its key is of another type";
}

static bool pointer_is_taken(const Kernel *kernel, const Tensor *tensor)
{
    for (const Tensor *other = kernel->tensors; other < tensor; other++)
        if (other->pointer == tensor->pointer) return true;
    return false;
}

static bool has_shape(const Kernel *kernel, int result)
{
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_result_shape && op_int(op, ATTR_index, -1) == result) return true;
    return false;
}

static const char *tensor_fault(const Kernel *kernel, const Tensor *tensor, int result)
{
    if (tensor->pointer < 0 || tensor->pointer >= kernel->parameter_count ||
        kernel->parameters[tensor->pointer].value->type->kind != TYPE_POINTER)
        return "its parameter is no pointer";
    if (kernel->parameters[tensor->pointer].value->type->dtype != tensor->dtype)
        return "its pointer has another element type";
    if (pointer_is_taken(kernel, tensor)) return "its pointer is another tensor's";
    if (tensor->is_result)
        return tensor->is_strided           ? "a result has no strides"
               : !has_shape(kernel, result) ? "no result_shape says its extents"
                                            : NULL;
    if (result > 0) return "it comes behind a result";
    const char *fault = extents_fault(kernel, tensor->shape, tensor->rank);
    if (fault == NULL && tensor->is_strided)
        fault = extents_fault(kernel, tensor->strides, tensor->rank);
    return fault != NULL ? fault : dtype_key_fault(kernel, tensor);
}

static void check_tensors(Verifier *verifier)
{
    const Kernel *kernel = verifier->kernel;
    int results = 0;
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        const char *fault = tensor_fault(kernel, tensor, results);
        results += tensor->is_result;
        if (fault == NULL) continue;
        verifier->holds = false;
        diag_report(kernel->session->diags, DIAG_ir_invalid, tensor->span,
                    arena_printf(verifier->scratch, "tensor '%s' of kernel '%s': %s",
                                 tensor->name == NULL ? "" : tensor->name, kernel->name, fault));
    }
}

/* ---- sums ---- */

static void find_async(Op *op, void *context)
{
    InFlightSums *early = context;
    for (int i = 0; op_is_async(op) && i < op->result_count; i++)
        in_flight_add(early, &op->results[i]);
}

static void check_sums(Verifier *verifier)
{
    InFlightSums early = {.arena = verifier->scratch};
    region_visit(verifier->kernel->host, find_async, &early);
    const Op *reader = in_flight_reader(&early, verifier->kernel->host);
    if (reader)
        report(verifier, reader,
               "it reads the sums of an open product before something waits for it");
}

bool kernel_verify(const Kernel *kernel)
{
    Verifier verifier = {.kernel = kernel, .scratch = arena_new(), .holds = true};
    for (int i = 0; i < kernel->parameter_count; i++)
        check_parameter(&verifier, &kernel->parameters[i]);
    check_tensors(&verifier);
    check_region(&verifier, kernel->host);
    if (verifier.holds) check_sums(&verifier);
    arena_free(verifier.scratch);
    return verifier.holds;
}
