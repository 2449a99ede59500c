/* uniform.c: what threads do together they have to reach together, with the same values; needs and
 * leaves a TYPED kernel in SSA, behind groups. What the lanes of a warp do together those reach.
 *
 * An op of all threads under control by which they may part comes before that if it can; else it is
 * an error that shows both places. So is one that depends on a value that differs. An effect that
 * is to happen once happens in every thread where they differ on its place or value, or do not all
 * come there; what an atomic found that happens once goes to the others through shared memory. */
#include "base/vec.h"
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/block_stride.h"
#include "ir/rebuild.h"

#include <ctype.h>
#include <string.h>

typedef struct Uniform {
    Kernel *kernel;
    PassContext *context;
    Agreement *agreement;
    Arena *arena;
    Map joint; /* op with regions -> what threads do together within it: find_joint */
    Map wide;  /* the same of what more than a warp's threads do: find_wide */
    bool failed;
} Uniform;

static void agree_anew(Uniform *uniform)
{
    analysis_invalidate(uniform->context);
    uniform->agreement = analysis_uniformity(uniform->context);
    uniform->joint = uniform->wide = (Map){0};
}

/* ---- control that threads agree on ---- */

/* Control by what threads found in memory, around what they do together, in launches that say
 * {agree}: whether they go one way is known only when they do. The first thread says where all go,
 * and the emulator looks whether the others would have gone elsewhere. */

/* The value follows from what a thread found, not from its index alone. */
static bool is_found(Map *seen, Arena *arena, const Value *value)
{
    if (map_has(seen, value)) return false;
    map_set(arena, seen, value, seen);
    const Op *op = value->op ? value->op : value->region ? value->region->parent : NULL;
    if (!op || op->code == OP_launch) return false;
    if (op_has(op, ELEMENT) && op_has(op, READS)) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (is_found(seen, arena, op->operands[i])) return true;
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        for (int i = 0; end && i < end->operand_count; i++)
            if (is_found(seen, arena, end->operands[i])) return true;
    }
    return false;
}

/* What decides the way: operands of the op, or of the end of a loop's test. */
static Op *decider(Op *control, int *count)
{
    *count = control->code == OP_for ? 3 : 1;
    return control->code == OP_while ? region_terminator(control->regions[0]) : control;
}

/* The first thread's value, for all. */
static Value *told(Kernel *kernel, Builder *at, Value *value, Name text)
{
    const int64_t one = 1;
    const Type *type = type_shared(kernel->types, value->type->dtype, 1, &one, NULL);
    Value *cell = build_op(at, OP_shared_alloc, 0, NULL, 1, &type)->results;
    Value *zero = build_const(at, DTYPE_i32, 0);
    Op *store = build_op(at, OP_element_store, 3, (Value *[]){cell, value, zero}, 0, NULL);
    op_set_int(store, ATTR_once, 1);
    Value *said = build2(at, OP_element_load, cell, zero);
    Value *same = value->type->dtype == DTYPE_b1
                      ? build1(at, OP_not, build2(at, OP_xor, said, value))
                      : build_cmp(at, "eq", said, value);
    Op *check = build_op(at, OP_check, 1, &same, 0, NULL);
    op_set_int(check, ATTR_emulated, 1);
    op_set_text(check, ATTR_text, text);
    return said;
}

static Name complaint(Kernel *kernel, Span joint)
{
    const char *text = "threads of a block part here, around what all of them do together";
    if (!joint.source) return intern_text(kernel->session->names, text);
    return intern_printf(kernel->session->names, "%s in line %u", text,
                         source_location(joint.source, joint.begin).line);
}

/* Makes all threads go the way of the first one through `control`, by which they may part, as they
 * do `joint` together in it. False: they part by their index. */
static bool control_agree(Agreement *agreement, Kernel *kernel, Op *control, const Op *joint)
{
    int count;
    Op *op = decider(control, &count);
    bool found = false;
    Arena *arena = arena_new();
    for (int i = 0; i < count; i++) {
        Map seen = {0};
        if (!threads_differ(agreement, op->operands[i], op_threads(control))) continue;
        found = is_found(&seen, arena, op->operands[i]);
        if (!found) break;
        Builder at = builder_before(op);
        at.span = control->span;
        op_set_operand(op, i, told(kernel, &at, op->operands[i], complaint(kernel, joint->span)));
    }
    arena_free(arena);
    return found;
}

/* ---- what threads do together ---- */

static bool is_cooperative(const Op *op)
{
    return op_has(op, COOP);
}

static bool is_joint(const Op *op)
{
    return is_cooperative(op) || op_has_tiles(op);
}

/* Of two, one that is cooperative by itself, else the first; either may be NULL. */
static const Op *better_joint(const Op *a, const Op *b)
{
    return !a || (b && is_cooperative(b) && !is_cooperative(a)) ? b : a;
}

/* What threads do together within the op: the first that is cooperative by itself, else the first
 * of all; NULL: nothing. It is kept, as ops around and within each other are asked about. */
static const Op *find_joint(Uniform *uniform, const Op *op)
{
    const Op *found = NULL;
    if (!op->region_count) return NULL;
    if (map_has(&uniform->joint, op)) return map_get(&uniform->joint, op);
    for (int i = 0; i < op->region_count; i++)
        for (const Op *at = op->regions[i]->first; at; at = op_next(at))
            found = better_joint(better_joint(found, is_joint(at) ? at : NULL),
                                 find_joint(uniform, at));
    map_set(uniform->arena, &uniform->joint, op, (void *)found);
    return found;
}

static const Op *joint_inside(Uniform *uniform, const Op *op)
{
    return is_group(op) ? NULL : find_joint(uniform, op);
}

static bool is_of_warp(const Op *op)
{
    return (is_cooperative(op) && op_has(op, ANY_LANE)) || op->code == OP_warp_sync;
}

/* Whether there is something within the op that more threads than a warp's do together. */
static bool find_wide(Uniform *uniform, const Op *op)
{
    bool found = false;
    if (map_has(&uniform->wide, op)) return map_get(&uniform->wide, op);
    for (int i = 0; i < op->region_count && !found; i++)
        for (const Op *at = op->regions[i]->first; at && !found; at = op_next(at))
            found = (is_joint(at) && !is_of_warp(at)) || find_wide(uniform, at);
    if (op->region_count) map_set(uniform->arena, &uniform->wide, op, found ? uniform : NULL);
    return found;
}

static bool is_of_name(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

static bool is_thread_group(const Op *op)
{
    return op->code == OP_in_group || is_group(op);
}

/* Of the library's own code there is nothing to show. */
static bool is_shown(const Op *op)
{
    return op->span.source && op->span.source->path[0] != '<';
}

/* `told`: the value of which that was said already, or NULL. */
static void note_source(const Uniform *uniform, const Op *source, const Op *user, const Value *told)
{
    const uint32_t at = source->span.begin;
    const bool is_new = at != user->span.begin && !(told && told->op->span.begin == at);
    if (is_shown(source) && is_new && !is_thread_group(source))
        diag_note(uniform->kernel->session->diags, source->span, "the threads differ from here on");
    else if (is_thread_group(source))
        diag_note(uniform->kernel->session->diags, source->span,
                  "this thread group sets a value for its own threads alone");
}

/* Whether the name stands in the program's text: the library has names of its own. */
static bool is_written(const Value *value)
{
    const Source *source = value->op ? value->op->span.source : NULL;
    const size_t length = strlen(value->name);
    if (!source) return false;
    for (const char *at = source->text; (at = strstr(at, value->name)); at += length)
        if ((at == source->text || !is_of_name(at[-1])) && !is_of_name(at[length])) return true;
    return false;
}

/* The one that differs which is nearest to what needs it to be the same; NULL: none has a name. */
static const Value *value_named(const Uniform *uniform)
{
    const NamedValues *names = difference_names(uniform->agreement);
    for (size_t i = names->count; i-- > 0;)
        if (is_written(names->data[i])) return names->data[i];
    return NULL;
}

static void note_value(const Uniform *uniform, const Value *value, const Op *user, const Op *source)
{
    if (value && !is_thread_group(source) && is_shown(value->op) &&
        value->op->span.begin != user->span.begin)
        diag_note(uniform->kernel->session->diags, value->op->span,
                  "'%s' is set here, and varies from thread to thread", value->name);
}

/* By which the threads part, or have iterations of different indices. */
static const Op *iterations_part(const Uniform *uniform, const Op *op)
{
    const Op *source = threads_part(uniform->agreement, op);
    const int bounds = op->code == OP_for ? operand_index(op, init) : 0;
    for (int i = 0; i < bounds && !source; i++)
        source = threads_differ(uniform->agreement, op->operands[i], op_threads(op));
    return source;
}

static void check_control(Uniform *uniform, const Op *op)
{
    const Op *joint = joint_inside(uniform, op), *source = NULL;
    if (joint) source = iterations_part(uniform, op);
    if (source && !find_wide(uniform, op)) source = warps_part(uniform->agreement, op);
    if (!source) return;
    diag_report(uniform->kernel->session->diags, DIAG_threads_part, joint->span);
    const Value *value = value_named(uniform);
    if (value)
        diag_note(uniform->kernel->session->diags, op->span,
                  "here they may go different ways, by '%s'", value->name);
    else
        diag_note(uniform->kernel->session->diags, op->span, "here they may go different ways");
    note_value(uniform, value, op, source);
    note_source(uniform, source, op, value);
    uniform->failed = true;
}

static void check_values(Uniform *uniform, const Op *op)
{
    const Op *source = NULL;
    if (!is_joint(op) || op->region_count || op_has(op, ANY_LANE | TERM)) return;
    for (int i = 0; i < op->operand_count && !source; i++)
        source = threads_differ(uniform->agreement, op->operands[i], op_threads(op));
    if (!source) return;
    const Value *value = value_named(uniform);
    diag_report(uniform->kernel->session->diags, DIAG_threads_differ, op->span,
                value ? arena_printf(uniform->kernel->arena, "'%s', which", value->name)
                      : "a value that");
    note_value(uniform, value, op, source);
    note_source(uniform, source, op, value);
    uniform->failed = true;
}

static void check_op(Op *op, void *context)
{
    if (op->region_count && op->code != OP_launch)
        check_control(context, op);
    else
        check_values(context, op);
}

/* ---- as many iterations, each thread from its own index on ---- */

static void settle_iterations(Op *op, void *context)
{
    Uniform *uniform = context;
    if (!joint_inside(uniform, op) || !iterations_part(uniform, op) ||
        !block_stride_settle(uniform->context, op))
        return;
    agree_anew(uniform);
}

/* ---- what can be done before the threads part ---- */

typedef struct Hoist {
    Arena *arena;
    Op *control;
    VEC(Op *) joint;
    Map able; /* values that can come before it */
} Hoist;

static void collect_joint(Op *op, void *context)
{
    Hoist *hoist = context;
    if (is_joint(op) && op_has(op, PURE)) vec_push(hoist->arena, &hoist->joint, op);
}

static bool is_outside(const Op *control, const Value *value)
{
    const Region *region = value->op ? value->op->parent : value->region;
    for (; region && region->parent; region = region->parent->parent)
        if (region->parent == control) return false;
    return true;
}

enum { HOIST_DEPTH = 64 };

/* It follows from what is known before the control op by ops without effects. */
static bool can_come_before(Hoist *hoist, const Value *value, int depth)
{
    if (is_outside(hoist->control, value) || map_has(&hoist->able, value)) return true;
    const Op *op = value->op;
    if (!op || depth == 0 || op->region_count || !op_has(op, PURE)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!can_come_before(hoist, op->operands[i], depth - 1)) return false;
    map_set(hoist->arena, &hoist->able, value, hoist);
    return true;
}

/* Tiles that follow from others are made where all threads are. */
static void hoist_joint(Op *op, void *context)
{
    Uniform *uniform = context;
    if (!op->region_count || op->code == OP_launch || !joint_inside(uniform, op) ||
        !threads_part(uniform->agreement, op))
        return;
    Hoist hoist = {.arena = uniform->kernel->arena, .control = op};
    for (int r = 0; r < op->region_count; r++) region_visit(op->regions[r], collect_joint, &hoist);
    for (size_t i = 0; i < hoist.joint.count; i++)
        for (int j = 0; j < hoist.joint.data[i]->result_count; j++)
            if (can_come_before(&hoist, &hoist.joint.data[i]->results[j], HOIST_DEPTH))
                value_move_before(&hoist.joint.data[i]->results[j], op);
    uniform->joint = uniform->wide = (Map){0};
}

/* ---- what is done once ---- */

/* An `if` whose first region runs in the block's first threads, by their number. */
static bool is_for_first(const Op *op)
{
    int64_t count;
    const Op *condition = op->code == OP_if ? operand(op, condition)->op : NULL;
    if (!condition || condition->code != OP_cmp ||
        strcmp(op_attr(condition, ATTR_predicate)->text, "lt") != 0)
        return false;
    const Op *index = operand(condition, a)->op;
    return index && index->code == OP_thread_id && value_constant(operand(condition, b), &count) &&
           count > 0;
}

/* Also if some do not that could not be the one to do it for all: that is the first thread. */
static bool all_come(const Uniform *uniform, const Op *op)
{
    for (const Region *at = op->parent; at->parent->code != OP_launch; at = at->parent->parent) {
        if (is_group(at->parent) && at == at->parent->regions[0]) return true;
        if (is_for_first(at->parent) && at == at->parent->regions[0]) continue;
        if (threads_part(uniform->agreement, at->parent)) return false;
    }
    return true;
}

static bool all_agree(const Uniform *uniform, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (threads_differ(uniform->agreement, op->operands[i], op_threads(op))) return false;
    return all_come(uniform, op);
}

/* The thread that has it tells the others. */
static void share_result(Kernel *kernel, Op *op)
{
    const int64_t one = 1;
    Value *result = &op->results[0];
    const Type *type = type_shared(kernel->types, result->type->dtype, 1, &one, NULL);
    Builder after = builder_after(op);
    Value *shared = build_op(&after, OP_shared_alloc, 0, NULL, 1, &type)->results;
    Value *zero = build_const(&after, DTYPE_i32, 0);
    Value *told = build2(&after, OP_element_load, shared, zero);
    value_replace(result, told);
    Builder before = builder_before(told->op);
    Op *store = build_op(&before, OP_element_store, 3, (Value *[]){shared, result, zero}, 0, NULL);
    op_set_int(store, ATTR_once, 1);
}

static void settle_once(Op *op, void *context)
{
    Uniform *uniform = context;
    if (!op_int(op, ATTR_once, 0)) return;
    if (operand(op, memory)->type->kind == TYPE_LOCAL || !all_agree(uniform, op)) {
        op_set_int(op, ATTR_once, 0);
        if (op_has(op, ATOMIC)) /* what followed from its result may differ now */
            agreement_forget(uniform->agreement);
    } else if (op_has(op, ATOMIC) && op_threads(op).count > 1 && op->results[0].use_count > 0) {
        share_result(uniform->kernel, op);
        uniform->joint = uniform->wide = (Map){0};
    }
}

/* ---- control by what threads found ---- */

static void agree_control(Op *op, void *context)
{
    Uniform *uniform = context;
    const Op *launch = op->region_count ? op_enclosing(op, OP_launch) : NULL;
    if (!launch || !op_int(launch, ATTR_agree, 0) || is_group(op)) return;
    const Op *joint = joint_inside(uniform, op);
    if (!joint || !threads_part(uniform->agreement, op) ||
        !control_agree(uniform->agreement, uniform->kernel, op, joint))
        return;
    agree_anew(uniform);
}

/* ---- the pass ---- */

bool pass_uniform(Kernel *kernel, PassContext *context)
{
    if (!region_has_with(kernel->host, DIVERGES)) return true;
    Uniform uniform = {.kernel = kernel,
                       .context = context,
                       .agreement = analysis_uniformity(context),
                       .arena = arena_new()};
    kernel_visit_those(kernel, OP_for, settle_iterations, &uniform);
    kernel_visit_with(kernel, ELEMENT, settle_once, &uniform);
    kernel_visit(kernel, hoist_joint, &uniform);
    kernel_visit(kernel, agree_control, &uniform);
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) region_visit(launch_region(op), check_op, &uniform);
    arena_free(uniform.arena);
    return !uniform.failed;
}
