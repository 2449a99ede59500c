/* rules_memory.c: adjoints of what reads and writes memory. The adjoint of memory is memory of the
 * same shape (memory.c): a read adds to it, a write takes from it. */
#include "passes/grad/grad.h"

#include <string.h>

static Op *note_effect(Grad *grad, Op *op)
{
    map_set(grad->arena, &grad->effects, op, op);
    return op;
}

/* Of what is overwritten the adjoint is zero. */
static Op *note_clear(Grad *grad, Op *op)
{
    map_set(grad->arena, &grad->clears, op, op);
    return note_effect(grad, op);
}

static Name word(Grad *grad, const char *text)
{
    return intern_text(grad->kernel->session->names, text);
}

static bool is_global(const Value *memory)
{
    return memory->type->kind == TYPE_VIEW;
}

Op *as_sum(Grad *grad, Op *op, const Value *memory)
{
    op_set_text(op, ATTR_order, word(grad, "relaxed"));
    op_set_text(op, ATTR_scope, word(grad, is_global(memory) ? "gpu" : "cta"));
    op_set_text(op, ATTR_mode, word(grad, "add"));
    return note_effect(grad, op);
}

/* The replayed operands from `first` on, behind `head`. */
static ValueVec behind(Grad *grad, int count, Value *const *head, const Op *op, int first)
{
    ValueVec all = {0};
    for (int i = 0; i < count; i++) vec_push(grad->arena, &all, head[i]);
    for (int i = first; i < op->operand_count; i++)
        vec_push(grad->arena, &all, replayed(grad, op->operands[i]));
    return all;
}

/* That of the memory; where it is needed and there is none, NULL, and refused, unless nobody asks
 * for the gradient by memory. */
static Value *adjoint_memory(Grad *grad, const Op *op, Value *memory)
{
    Value *found = memory_adjoint(grad, memory);
    if (!found && !(grad->is_inner && is_global(memory)))
        grad_refuse(grad, op,
                    "this memory has no gradient: it is not a parameter's of its own type");
    return found;
}

static bool holds_floats(const Value *memory)
{
    return dtype_is_float(memory->type->dtype);
}

/* ---- tiles of views ---- */

/* The indices of the tile's elements along each dimension of the view. */
static void indices_of(Grad *grad, const Op *op, const Type *tile, Value **out)
{
    const Type *numbers = type_with_dtype(grad->kernel->types, tile, DTYPE_i64);
    const Attr *dims = op_attr(op, ATTR_dims);
    const int rank = operand(op, view)->type->rank;
    for (int d = 0; d < rank; d++)
        out[d] =
            build_cast(&grad->builder, DTYPE_i64, replayed(grad, operand_list(op, offsets)[d]));
    for (int i = 0; i < tile->rank; i++) {
        const int64_t d = dims ? dims->integers[i] : rank - tile->rank + i;
        const Type *type = type_with_dtype(grad->kernel->types, tile, DTYPE_i32);
        Op *at = build_op(&grad->builder, OP_iota, 0, NULL, 1, &type);
        op_set_int(at, ATTR_dim, i);
        Value *wide =
            build_op(&grad->builder, OP_cast, 1, (Value *[]){at->results}, 1, &numbers)->results;
        out[d] = build2(&grad->builder, OP_add, spread(grad, tile, out[d]), wide);
    }
}

static void add_tile(Grad *grad, const Op *op, Value *adjoint)
{
    Value *memory = adjoint_memory(grad, op, operand(op, view));
    if (!memory) return;
    Value *operands[2 + TYPE_RANK] = {memory,
                                      build_cast(&grad->builder, memory->type->dtype, adjoint)};
    indices_of(grad, op, adjoint->type, operands + 2);
    const Type *type = operands[1]->type;
    Op *sum = build_op(&grad->builder, OP_atomic, 2 + memory->type->rank, operands, 1, &type);
    op_set_int(as_sum(grad, sum, memory), ATTR_lenient, 1);
}

void adjoint_load(Grad *grad, Op *op)
{
    add_tile(grad, op, whole_adjoint(grad, take_adjoint(grad, op->results)));
}

void adjoint_copy(Grad *grad, Op *op)
{
    if (!holds_floats(operand(op, tile))) return;
    Value *memory = adjoint_memory(grad, op, operand(op, tile));
    if (!memory) return;
    Value *adjoint = build1(&grad->builder, OP_shared_load, memory);
    build2(&grad->builder, OP_shared_store, memory, number_of(grad, adjoint->type, 0));
    add_tile(grad, op, adjoint);
}

void adjoint_store(Grad *grad, Op *op)
{
    Value *value = operand(op, value), *view = operand(op, view);
    if (!holds_floats(view)) return;
    Value *memory = adjoint_memory(grad, op, view);
    if (!memory) return;
    const int first = operand_index(op, offsets);
    ValueVec operands = behind(grad, 1, &memory, op, first);
    const Type *type = type_with_dtype(grad->kernel->types, value->type, memory->type->dtype);
    Op *load = build_op(&grad->builder, OP_load, (int)operands.count, operands.data, 1, &type);
    op_keep_attr(load, op, ATTR_dims);
    give_total(grad, value, load->results);
    if (!grad->consumes && !memory_is_consumed(grad, view)) return;
    Value *head[] = {memory, number_of(grad, type, 0)};
    operands = behind(grad, 2, head, op, first);
    Op *store = build_op(&grad->builder, OP_store, (int)operands.count, operands.data, 0, NULL);
    op_keep_attr(note_clear(grad, store), op, ATTR_dims);
}

/* ---- elements at indices of their own ---- */

static void keep_bounds(Op *to, const Op *from)
{
    op_keep_attr(to, from, ATTR_dims);
    op_keep_attr(to, from, ATTR_masked);
    op_set_int(to, ATTR_lenient, 1);
}

void adjoint_gather(Grad *grad, Op *op)
{
    Value *adjoint = whole_adjoint(grad, take_adjoint(grad, op->results));
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    Value *head[] = {memory, build_cast(&grad->builder, memory->type->dtype, adjoint)};
    ValueVec all = behind(grad, 2, head, op, operand_index(op, indices));
    const Type *type = head[1]->type;
    Op *sum = build_op(&grad->builder, OP_atomic, (int)all.count, all.data, 1, &type);
    keep_bounds(as_sum(grad, sum, memory), op);
}

/* What stands where the op wrote. */
static Value *gathered(Grad *grad, const Op *op, Value *memory, int first)
{
    ValueVec all = behind(grad, 1, &memory, op, first);
    const Type *type =
        type_with_dtype(grad->kernel->types, operand(op, value)->type, memory->type->dtype);
    Op *gather = build_op(&grad->builder, OP_gather, (int)all.count, all.data, 1, &type);
    keep_bounds(gather, op);
    return gather->results;
}

void adjoint_put(Grad *grad, Op *op)
{
    const int first = operand_index(op, indices);
    if (!holds_floats(operand(op, memory))) return;
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    Value *adjoint = gathered(grad, op, memory, first);
    give_total(grad, operand(op, value), adjoint);
    if (!memory_is_consumed(grad, operand(op, memory))) return;
    Value *head[] = {memory, number_of(grad, adjoint->type, 0)};
    ValueVec all = behind(grad, 2, head, op, first);
    keep_bounds(
        note_clear(grad, build_op(&grad->builder, OP_put, (int)all.count, all.data, 0, NULL)), op);
}

/* Sums alone, or the greatest or least: what is in memory at the end counts. */
static bool is_extreme(const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    return strcmp(mode, "min") == 0 || strcmp(mode, "max") == 0;
}

/* The same number, or NaN both. */
static Value *is_same(Grad *grad, Value *a, Value *b)
{
    Builder *builder = &grad->builder;
    Value *both =
        build2(builder, OP_and, build_cmp(builder, "ne", a, a), build_cmp(builder, "ne", b, b));
    return build2(builder, OP_or, build_cmp(builder, "eq", a, b), both);
}

static bool takes_atomic(Grad *grad, const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    if (!adjoint_is_none(take_adjoint(grad, op->results)))
        grad_refuse(grad, op, "what was there before has no gradient");
    else if (strcmp(mode, "add") != 0 && !is_extreme(op))
        grad_refuse(grad, op, "it is known of sums, min and max alone");
    return !grad->failed;
}

void adjoint_atomic(Grad *grad, Op *op)
{
    Value *value = operand(op, value);
    const int first = operand_index(op, more);
    if (!holds_floats(operand(op, memory)) || !takes_atomic(grad, op)) return;
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    Value *adjoint = gathered(grad, op, memory, first);
    if (is_extreme(op)) {
        Value *now = gathered(grad, op, replayed(grad, operand(op, memory)), first);
        map_set(grad->arena, &grad->settled, now->op, op);
        Value *is_it = is_same(grad, replayed(grad, value), now);
        adjoint =
            build3(&grad->builder, OP_select, is_it, adjoint, number_of(grad, adjoint->type, 0));
    }
    give_total(grad, value, adjoint);
}

/* ---- elements ---- */

static void add_element(Grad *grad, Value *memory, Value *adjoint, const Op *op, bool once)
{
    Value *value = build_cast(&grad->builder, memory->type->dtype, adjoint);
    Value *head[] = {memory, value, value};
    ValueVec all = behind(grad, 3, head, op, operand_index(op, indices));
    const Type *type = value->type;
    Op *sum = build_op(&grad->builder, OP_element_atomic, (int)all.count, all.data, 1, &type);
    as_sum(grad, sum, memory);
    if (once) op_set_int(sum, ATTR_once, 1);
}

/* A thread's own array: nobody else adds to it. */
static void add_to_local(Grad *grad, Value *memory, Value *adjoint, const Op *op)
{
    const int first = operand_index(op, indices);
    ValueVec operands = behind(grad, 1, &memory, op, first);
    Value *before = build(&grad->builder, OP_element_load, (int)operands.count, operands.data);
    Value *sum = build2(&grad->builder, OP_add, before,
                        build_cast(&grad->builder, before->type->dtype, adjoint));
    Value *head[] = {memory, sum};
    operands = behind(grad, 2, head, op, first);
    build_op(&grad->builder, OP_element_store, (int)operands.count, operands.data, 0, NULL);
}

/* The tile's adjoint by way of shared memory, to which each thread adds its own. */
static Value *tile_of_own(Grad *grad, Value *own, const Op *op)
{
    const Type *tile = adjoint_type(grad, operand(op, memory));
    const Type *type = type_shared(grad->kernel->types, tile->dtype, tile->rank, tile->shape, NULL);
    Value *memory = build_op(&grad->builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
    build2(&grad->builder, OP_shared_store, memory, number_of(grad, tile, 0));
    add_element(grad, memory, own, op, false);
    return build1(&grad->builder, OP_shared_load, memory);
}

/* The adjoint at the element's place, zero elsewhere. */
static Value *tile_of_total(Grad *grad, Value *total, const Op *op)
{
    const Type *tile = adjoint_type(grad, operand(op, memory));
    Value *is_it = NULL;
    for (int d = 0; d < tile->rank; d++) {
        const Type *type = type_with_dtype(grad->kernel->types, tile, DTYPE_i32);
        Op *at = build_op(&grad->builder, OP_iota, 0, NULL, 1, &type);
        op_set_int(at, ATTR_dim, d);
        Value *index =
            build_cast(&grad->builder, DTYPE_i32, replayed(grad, operand_list(op, indices)[d]));
        Value *here = build_cmp(&grad->builder, "eq", at->results, spread(grad, type, index));
        is_it = is_it ? build2(&grad->builder, OP_and, is_it, here) : here;
    }
    return build3(&grad->builder, OP_select, is_it, spread(grad, tile, total),
                  number_of(grad, tile, 0));
}

static void read_tile_element(Grad *grad, Op *op, Adjoint both)
{
    Value *tile = operand(op, memory);
    if (both.parts[PART_TOTAL])
        give_total(grad, tile, tile_of_total(grad, both.parts[PART_TOTAL], op));
    if (both.parts[PART_OWN]) give_total(grad, tile, tile_of_own(grad, both.parts[PART_OWN], op));
}

/* Where all threads read one place, one adds the sum. */
void adjoint_element_load(Grad *grad, Op *op)
{
    const Adjoint both = take_adjoint(grad, op->results);
    if (type_is_tile(operand(op, memory)->type)) {
        read_tile_element(grad, op, both);
        return;
    }
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    if (memory->type->kind == TYPE_LOCAL)
        add_to_local(grad, memory, both.parts[PART_OWN], op);
    else if (scalar_depends(grad, op->results))
        add_element(grad, memory, both.parts[PART_OWN], op, false);
    else
        add_element(grad, memory, whole_adjoint(grad, both), op, true);
}

/* Whether all threads do the same. */
static bool is_alike(const Grad *grad, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (scalar_depends(grad, op->operands[i])) return false;
    return true;
}

static bool in_parted(const Grad *grad, const Op *op)
{
    for (const Op *at = op->parent->parent; at && at->code != OP_launch; at = at->parent->parent)
        if (at->code == OP_if && !op_int(at, ATTR_idle, 0) &&
            scalar_depends(grad, operand(at, condition)))
            return true;
    return false;
}

void adjoint_element_store(Grad *grad, Op *op)
{
    const int first = operand_index(op, indices);
    if (!holds_floats(operand(op, memory))) return;
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    ValueVec operands = behind(grad, 1, &memory, op, first);
    Value *adjoint = build(&grad->builder, OP_element_load, (int)operands.count, operands.data);
    const bool alike =
        memory->type->kind != TYPE_LOCAL && is_alike(grad, op) && !in_parted(grad, op);
    give(grad, operand(op, value), alike ? PART_TOTAL : PART_OWN, adjoint);
    if (!memory_is_consumed(grad, operand(op, memory))) return;
    Value *head[] = {memory, number_of(grad, adjoint->type, 0)};
    operands = behind(grad, 2, head, op, first);
    Op *store =
        build_op(&grad->builder, OP_element_store, (int)operands.count, operands.data, 0, NULL);
    op_keep_attr(store, op, ATTR_once);
    op_keep_attr(note_clear(grad, store), op, ATTR_idle);
}

void adjoint_element_atomic(Grad *grad, Op *op)
{
    Value *value = operand(op, value);
    if (!holds_floats(operand(op, memory)) || !takes_atomic(grad, op)) return;
    Value *memory = adjoint_memory(grad, op, operand(op, memory));
    if (!memory) return;
    const int first = operand_index(op, indices);
    ValueVec operands = behind(grad, 1, &memory, op, first);
    Value *adjoint = build(&grad->builder, OP_element_load, (int)operands.count, operands.data);
    if (is_extreme(op)) {
        Value *at = replayed(grad, operand(op, memory));
        operands = behind(grad, 1, &at, op, first);
        Value *now = build(&grad->builder, OP_element_load, (int)operands.count, operands.data);
        map_set(grad->arena, &grad->settled, now->op, op);
        Value *is_it = is_same(grad, replayed(grad, value), now);
        adjoint =
            build3(&grad->builder, OP_select, is_it, adjoint, number_of(grad, adjoint->type, 0));
    }
    const bool alike = op_int(op, ATTR_once, 0) && is_alike(grad, op) && !in_parted(grad, op);
    give(grad, value, alike ? PART_TOTAL : PART_OWN, adjoint);
}

/* ---- shared tiles as a whole ---- */

void adjoint_shared_load(Grad *grad, Op *op)
{
    Value *adjoint = whole_adjoint(grad, take_adjoint(grad, op->results));
    Value *memory = adjoint_memory(grad, op, operand(op, tile));
    if (!memory) return;
    Value *before = build1(&grad->builder, OP_shared_load, memory);
    Value *sum = build2(&grad->builder, OP_add, before,
                        build_cast(&grad->builder, before->type->dtype, adjoint));
    build2(&grad->builder, OP_shared_store, memory, sum);
}

void adjoint_shared_store(Grad *grad, Op *op)
{
    if (!holds_floats(operand(op, tile))) return;
    Value *memory = adjoint_memory(grad, op, operand(op, tile));
    if (!memory) return;
    Value *adjoint = build1(&grad->builder, OP_shared_load, memory);
    give_total(grad, operand(op, value), adjoint);
    build2(&grad->builder, OP_shared_store, memory, number_of(grad, adjoint->type, 0));
}
