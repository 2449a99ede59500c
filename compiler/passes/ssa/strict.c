/* strict.c: what is defined here and not where the dialects come from is reported by the emulator:
 * registers that nobody wrote, which are zeros here, and elements outside of a view, which read
 * zero and are not written; needs a TYPED kernel whose variables are as the author has them. Fences
 * that sync would add to the author's own are left to him there. Does nothing unless the kernel is
 * strict.
 *
 * Each variable without a first value gets a flag beside it, which is true once something was set,
 * be it a part of a tile; each array of a thread's own gets a flag an element. */
#include "ir/op_vec.h"
#include "passes/pass.h"

enum { MOST_FLAGS = 256 }; /* of an array: its flags are cleared one by one */

typedef struct Strict {
    Kernel *kernel;
    Map flags; /* variable -> variable of a boolean; local array -> local array of i32 */
    Map names; /* variable -> what the author calls what it holds */
    bool grows;
} Strict;

/* ---- which variables have a flag ---- */

/* The variable whose whole value an op hands on: by var_set, or as a first value. NULL: none. */
static Value *source_of(const Op *op)
{
    const int at = op->code == OP_var_set;
    if ((op->code != OP_var && !at) || op->operand_count <= at) return NULL;
    const Op *get = op->operands[at]->op;
    return get && get->code == OP_var_get ? operand(get, variable) : NULL;
}

static void add_flag(Strict *strict, Value *variable)
{
    const Type *content = variable->type->content;
    if (map_has(&strict->flags, variable) ||
        (content->kind != TYPE_SCALAR && content->kind != TYPE_TILE))
        return;
    Builder at = builder_after(variable->op);
    const Type *type =
        type_var(strict->kernel->types, type_scalar(strict->kernel->types, DTYPE_b1));
    Value *init = build_const(&at, DTYPE_b1, 0);
    map_set(strict->kernel->arena, &strict->flags, variable,
            build_op(&at, OP_var, 1, &init, 1, &type)->results);
    strict->grows = true;
}

static void add_array_flags(Strict *strict, Value *array)
{
    const Type *type = array->type;
    Kernel *kernel = strict->kernel;
    if (type_elements(type) > MOST_FLAGS || type->rank != 1) return;
    Builder at = builder_after(array->op);
    const Type *flags = type_local(kernel->types, DTYPE_i32, 1, type->shape);
    Value *made = build_op(&at, OP_local_alloc, 0, NULL, 1, &flags)->results;
    for (int64_t i = 0; i < type->shape[0]; i++) {
        Value *index = build_const(&at, DTYPE_i32, i), *zero = build_const(&at, DTYPE_i32, 0);
        build_op(&at, OP_element_store, 3, (Value *[]){made, zero, index}, 0, NULL);
    }
    map_set(kernel->arena, &strict->flags, array, made);
}

static void find(Op *op, void *context)
{
    Strict *strict = context;
    const Value *source = source_of(op);
    Arena *arena = strict->kernel->arena;
    if (op->code == OP_var && op->operand_count == 0) {
        add_flag(strict, op->results);
        if (op->results->name)
            map_set(arena, &strict->names, op->results, (void *)op->results->name);
    }
    if (!source || !map_has(&strict->flags, source)) return;
    Value *to = op->code == OP_var ? op->results : operand(op, variable);
    add_flag(strict, to);
    if (map_has(&strict->names, source) && !map_has(&strict->names, to))
        map_set(arena, &strict->names, to, map_get(&strict->names, source));
}

static void find_array(Op *op, void *context)
{
    if (op->code == OP_local_alloc && !map_has(&((Strict *)context)->flags, op->results))
        add_array_flags(context, op->results);
}

/* ---- what is set ---- */

static void set_flag(Strict *strict, Op *op)
{
    Value *variable = op->code == OP_var ? op->results : operand(op, variable);
    Value *flag = map_get(&strict->flags, variable), *source = source_of(op);
    if (!flag || (op->code == OP_var && !op->operand_count)) return;
    Value *of_source = source ? map_get(&strict->flags, source) : NULL;
    Builder at = builder_after(op->code == OP_var ? flag->op : op);
    Value *now = of_source ? build1(&at, OP_var_get, of_source) : build_const(&at, DTYPE_b1, 1);
    build2(&at, OP_var_set, flag, now);
}

static void set_element_flag(const Strict *strict, Op *op)
{
    Value *flags = map_get(&strict->flags, operand(op, memory));
    if (!flags) return;
    Builder at = builder_after(op);
    Value *set = build_const(&at, DTYPE_i32, 1);
    build_op(&at, OP_element_store, 3, (Value *[]){flags, set, *operand_list(op, indices)}, 0,
             NULL);
}

/* ---- reads of memory ---- */

static bool only_sets(const Value *value, const Value *variable)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code != OP_var_set || operand(use->op, variable) != variable) return false;
    return value->uses != NULL;
}

static bool is_written_to(const Value *shared)
{
    for (const OpUse *use = shared->uses; use; use = use->next)
        if (use->op->code == OP_put || use->op->code == OP_atomic ||
            use->op->code == OP_element_store || use->op->code == OP_shared_view)
            return true;
    return false;
}

/* Whether the use hands the value on, or keeps of it what a part that is written leaves. */
static bool keeps(const Op *get, const Op *use)
{
    if (source_of(use) == operand(get, variable)) return true;
    if (use->code == OP_select) return only_sets(use->results, operand(get, variable));
    return use->code == OP_shared_store && is_written_to(operand(use, tile));
}

static bool is_read(const Op *get)
{
    for (const OpUse *use = get->results->uses; use; use = use->next)
        if (!keeps(get, use->op)) return true;
    return false;
}

static void require(const Strict *strict, Builder *at, Value *condition, Name name)
{
    Op *check = build_op(at, OP_check, 1, &condition, 0, NULL);
    op_set_int(check, ATTR_emulated, 1);
    op_set_text(
        check, ATTR_text,
        intern_printf(
            strict->kernel->session->names,
            "registers%s%s%s are read that nobody wrote: what they hold is defined here alone",
            name ? " of '" : "", name ? name : "", name ? "'" : ""));
}

static void check_get(const Strict *strict, Op *get)
{
    Value *flag = map_get(&strict->flags, operand(get, variable));
    if (!flag || !is_read(get)) return;
    Builder at = builder_after(get);
    require(strict, &at, build1(&at, OP_var_get, flag),
            map_get(&strict->names, operand(get, variable)));
}

static void check_element(const Strict *strict, Op *load)
{
    Value *flags = map_get(&strict->flags, operand(load, memory));
    if (!flags) return;
    Builder at = builder_after(load);
    Value *flag = build2(&at, OP_element_load, flags, *operand_list(load, indices));
    require(strict, &at, build_cmp(&at, "ne", flag, build_const(&at, DTYPE_i32, 0)),
            operand(load, memory)->name);
}

/* ---- elements outside of views ---- */

static void check_indices(const Strict *strict, Op *op)
{
    const int first = operand_index(op, indices);
    const Value *view = operand(op, memory);
    if (view->type->kind != TYPE_VIEW || strict->kernel->guards_elements) return;
    for (int d = 0; d < view->type->rank; d++) {
        Builder at = builder_before(op);
        Value *index = op->operands[first + d];
        Value *extent = view->op ? operand_list(view->op, extents)[d] : NULL;
        if (!extent || (index->op && index->op->code == OP_const)) continue;
        Value *checked = build2(&at, OP_check_index, build_cast(&at, DTYPE_i64, index),
                                build_cast(&at, DTYPE_i64, extent));
        const Name name = dimension_name(view, d);
        if (name) op_set_text(checked->op, ATTR_text, name);
        op_set_operand(op, first + d, checked);
    }
}

static void watch(Op *op, void *context)
{
    Strict *strict = context;
    switch (op->code) {
    case OP_var:
    case OP_var_set: set_flag(strict, op); return;
    case OP_var_get: check_get(strict, op); return;
    case OP_element_load:
        check_element(strict, op);
        check_indices(strict, op);
        return;
    case OP_element_store:
        set_element_flag(strict, op);
        check_indices(strict, op);
        return;
    case OP_element_atomic: check_indices(strict, op); return;
    default: return;
    }
}

bool pass_strict(Kernel *kernel, PassContext *context)
{
    (void)context;
    if (!kernel->is_strict) return true;
    Strict strict = {.kernel = kernel, .grows = true};
    const OpVec ops = region_list(kernel->arena, kernel->host, NULL, NULL);
    while (strict.grows) {
        strict.grows = false;
        for (size_t i = 0; i < ops.count; i++) find(ops.data[i], &strict);
    }
    for (size_t i = 0; i < ops.count; i++) find_array(ops.data[i], &strict);
    for (size_t i = 0; i < ops.count; i++) watch(ops.data[i], &strict);
    return true;
}
