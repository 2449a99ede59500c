/* element.c: code of single threads: elements of memory, arrays of a thread's own, the thread's
 * index, what the lanes of a warp tell each other. */
#include "eval/staging/staging.h"
#include "ir/mma.h"

#include <string.h>

/* ---- elements ---- */

/* A store that all threads do alike happens once; in most dialects an update, too. */
static void mark_once(const Eval *eval, Op *op)
{
    const bool each = eval->frame->is_thread_code || eval->staging->by_index;
    if (op->code == OP_element_store || !each) op_set_int(op, ATTR_once, 1);
}

enum { LOOKED_BACK = 64 }; /* ops */

/* An element of a thread's own array that was read before, in the same region with no write since,
 * is the same value: that slices which begin with it have one length is known by that. */
static Value *read_before(const Eval *eval, const Value *array, Value *const *indices)
{
    const Builder *at = &eval->builder;
    const Op *op = at->before != NULL ? at->before->previous : at->region->last;
    for (int looked = 0; op != NULL && looked < LOOKED_BACK; op = op->previous, looked++) {
        if (op->region_count > 0) return NULL;
        if (!op_has(op, ELEMENT) || operand(op, memory) != array) continue;
        if (op->code != OP_element_load) return NULL;
        bool same = true;
        for (int d = 0; d < array->type->rank; d++) {
            int64_t a, b;
            same &= value_constant(operand_list(op, indices)[d], &a) &&
                    value_constant(indices[d], &b) && a == b;
        }
        if (same) return (Value *)op->results;
    }
    return NULL;
}

Object *element_get(Eval *eval, Value *memory, Value *const *indices)
{
    Value *operands[1 + TYPE_RANK] = {memory};
    const int rank = memory->type->rank;
    Value *before = memory->type->kind == TYPE_LOCAL ? read_before(eval, memory, indices) : NULL;
    if (before != NULL) return object_ir(eval, before);
    memcpy(operands + 1, indices, sizeof *indices * (size_t)rank);
    const Type *type = type_scalar(core_types(eval), memory->type->dtype);
    return object_ir(eval, core_build(eval, OP_element_load, 1 + rank, operands, type));
}

static Value *element_value(Eval *eval, Object *object, DType dtype, Span at)
{
    const Type *type = argument_type(object);
    if (type == NULL || type->kind != TYPE_TILE || type_elements(type) != 1)
        return stage_scalar(eval, object, dtype, at);
    Bound item = {.values = {object}, .at = at};
    Object *only = eval->ops->core_item(eval, &item);
    return only != NULL ? stage_scalar(eval, only, dtype, at) : NULL;
}

static bool is_copied(const Op *store)
{
    const Op *from = operand(store, value)->op;
    return operand(store, memory)->type->kind == TYPE_SHARED && from &&
           from->code == OP_element_load && operand(from, memory)->type->kind == TYPE_VIEW;
}

bool element_set(Eval *eval, Value *memory, Value *const *indices, Object *object, Span at)
{
    Value *operands[2 + TYPE_RANK] = {memory};
    const int rank = memory->type->rank;
    operands[1] = element_value(eval, object, memory->type->dtype, at);
    if (operands[1] == NULL) return false;
    memcpy(operands + 2, indices, sizeof *indices * (size_t)rank);
    Op *op = build_op(&eval->builder, OP_element_store, 2 + rank, operands, 0, NULL);
    mark_once(eval, op);
    if (eval->staging->copies_elements && is_copied(op)) op_set_int(op, ATTR_async, 1);
    return true;
}

/* own_copies(whether): from here on what a thread loads and stores in shared memory is a copy of
 * its own, which it waits for; gives whether that was so. */
Object *core_own_copies(Eval *eval, const Bound *bound)
{
    bool copies;
    if (!object_truth(eval, bound->values[0], &copies)) return NULL;
    const bool before = eval->staging->copies_elements;
    eval->staging->copies_elements = copies;
    return object_bool(eval, before);
}

/* The atomic operation that an element of this type is updated by, NULL: none. */
static const char *atomic_update(Operator op, DType dtype)
{
    if (dtype_bits(dtype) < 32 || dtype == DTYPE_tf32) return NULL;
    if (op == OPERATOR_Add || op == OPERATOR_Sub) return op == OPERATOR_Add ? "add" : "sub";
    if (!dtype_is_integer(dtype)) return NULL;
    return op == OPERATOR_BitAnd   ? "and"
           : op == OPERATOR_BitOr  ? "or"
           : op == OPERATOR_BitXor ? "xor"
                                   : NULL;
}

/* What was read from an array's memory, NULL: it is something else. */
static const Op *element_read(const Object *object)
{
    const Op *load = object->kind == OBJECT_IR ? object->as.ir.value->op : NULL;
    const bool is_read = load != NULL && load->code == OP_element_load &&
                         operand(load, memory)->type->kind == TYPE_VIEW;
    return is_read ? load : NULL;
}

static bool has_items(const Object *object)
{
    return object->kind == OBJECT_TUPLE || object_is_record(object);
}

static bool has_staged(const Object *object)
{
    if (object_is_staged(object)) return true;
    for (uint32_t i = 0; has_items(object) && i < object->as.list.count; i++)
        if (has_staged(object->as.list.items[i])) return true;
    return false;
}

/* Whether the operand has a number for each element that was read: a row of a matrix is several. */
static bool can_update(Operator op, const Object *old, const Object *operand)
{
    const Op *load = element_read(old);
    if (load != NULL)
        return atomic_update(op, operand(load, memory)->type->dtype) != NULL && !has_items(operand);
    if (!has_items(old) || old->kind != operand->kind ||
        old->as.list.count != operand->as.list.count)
        return false;
    bool found = false;
    for (uint32_t i = 0; i < old->as.list.count; i++) {
        const Object *item = old->as.list.items[i];
        if (!has_staged(item)) continue; /* its type */
        if (!can_update(op, item, operand->as.list.items[i])) return false;
        found = true;
    }
    return found;
}

static bool update_element(Eval *eval, Operator op, const Op *load, Object *operand, Span at)
{
    const Type *type = operand(load, memory)->type;
    const char *mode = atomic_update(op, type->dtype);
    Object *index = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int d = 0; d < type->rank; d++)
        list_append(eval, index, object_ir(eval, operand_list(load, indices)[d]));
    static const char *const WORDS[] = {"relaxed", "gpu"};
    Bound bound = {.at = at};
    bound.values[0] = object_ir(eval, operand(load, memory));
    bound.values[1] = index;
    bound.values[2] = operand;
    bound.values[3] = object_text(eval, mode, strlen(mode));
    for (int i = 0; i < 2; i++) bound.values[4 + i] = object_text(eval, WORDS[i], strlen(WORDS[i]));
    return core_element_atomic(eval, &bound) != NULL;
}

static bool update_items(Eval *eval, Operator op, const Object *old, Object *operand, Span at)
{
    const Op *load = element_read(old);
    if (load != NULL) return update_element(eval, op, load, operand, at);
    for (uint32_t i = 0; has_items(old) && i < old->as.list.count; i++)
        if (!update_items(eval, op, old->as.list.items[i], operand->as.list.items[i], at))
            return false;
    return true;
}

bool element_update(Eval *eval, Operator op, const Object *old, Object *operand, Span at,
                    bool *good)
{
    if (!eval->frame->is_thread_code || eval->staging == NULL || !can_update(op, old, operand))
        return false;
    *good = update_items(eval, op, old, operand, at);
    return true;
}

/* An element that was read is a place as well: the part of the memory that holds it alone. */
Value *element_place(Eval *eval, Value *value)
{
    const Op *load = value->op;
    if (load == NULL || load->code != OP_element_load ||
        operand(load, memory)->type->kind == TYPE_LOCAL)
        return NULL;
    Object *items[TYPE_RANK];
    const int rank = operand(load, memory)->type->rank;
    for (int d = 0; d < rank; d++) items[d] = object_ir(eval, operand_list(load, indices)[d]);
    Object *index = object_list(eval, OBJECT_TUPLE, items, (size_t)rank);
    return subscript_part(eval, operand(load, memory), index, load->span);
}

/* ---- indices given apart ---- */

/* A view, shared tile or local array, and an index for each of its dimensions. */
static Value *read_memory(Eval *eval, Object *object, Object *index, Span at, Value **indices)
{
    Object *items[TYPE_RANK];
    int count;
    const Type *type = argument_type(object);
    const bool fits = type != NULL && (type->kind == TYPE_VIEW || type->kind == TYPE_SHARED ||
                                       type->kind == TYPE_LOCAL);
    if (!fits)
        return FAIL(eval, expected_kind, at, "the memory",
                    "a global view, a shared tile or a local array", object_repr(eval, object));
    if (!argument_items(eval, index, "the indices", at, &count, items)) return NULL;
    if (count != type->rank)
        return FAIL(eval, rank_mismatch, argument_span(eval, index, at), "the indices",
                    (long long)count, (long long)type->rank);
    for (int i = 0; i < count; i++)
        if ((indices[i] = stage_index(eval, items[i], at)) == NULL) return NULL;
    return stage_ready(eval, at) ? stage_value(eval, object) : NULL;
}

Object *core_element_atomic(Eval *eval, const Bound *bound)
{
    AtomicWords words;
    Value *operands[3 + TYPE_RANK];
    Object *compare = bound->values[6], *value = bound->values[2];
    operands[0] = read_memory(eval, bound->values[0], bound->values[1], bound->at, operands + 3);
    if (operands[0] == NULL ||
        !atomic_words(eval, bound->values + 3, operands[0]->type->dtype, bound->at, &words))
        return NULL;
    if (operands[0]->type->kind == TYPE_LOCAL)
        return FAIL(eval, expected_kind, bound->at, "the memory of an atomic",
                    "a view or a shared tile", "a local array");
    const DType dtype = operands[0]->type->dtype;
    operands[1] = element_value(eval, value, dtype, bound->at);
    operands[2] =
        argument_absent(compare) ? operands[1] : element_value(eval, compare, dtype, bound->at);
    if (operands[1] == NULL || operands[2] == NULL) return NULL;
    if (words.negates) operands[1] = build1(&eval->builder, OP_neg, operands[1]);
    Value *old = core_build(eval, OP_element_atomic, 3 + operands[0]->type->rank, operands,
                            type_scalar(core_types(eval), dtype));
    atomic_set_words(old->op, &words);
    if (argument_absent(bound->values[7])) mark_once(eval, old->op);
    return object_ir(eval, old);
}

/* tile_element(tile, indices): of a register tile, at indices that may differ between threads. */
Object *core_tile_element(Eval *eval, const Bound *bound)
{
    Object *items[TYPE_RANK];
    Value *operands[1 + TYPE_RANK];
    int count;
    operands[0] =
        argument_value(eval, bound->values[0], TYPE_TILE, "what has elements", NULL, bound->at);
    if (operands[0] == NULL ||
        !argument_items(eval, bound->values[1], "the indices", bound->at, &count, items))
        return NULL;
    const Type *type = operands[0]->type;
    if (count != type->rank)
        return FAIL(eval, rank_mismatch, argument_span(eval, bound->values[1], bound->at),
                    "the indices", (long long)count, (long long)type->rank);
    for (int i = 0; i < count; i++) {
        Object *index = items[i];
        if (index->kind == OBJECT_INT && index->as.integer < 0)
            index = object_int(eval, index->as.integer + type->shape[i]);
        const bool known = index->kind == OBJECT_INT;
        if (known && (index->as.integer < 0 || index->as.integer >= type->shape[i]))
            return FAIL(eval, index_range, bound->at, (long long)items[i]->as.integer,
                        "this dimension", (long long)type->shape[i]);
        if ((operands[1 + i] = stage_index(eval, index, bound->at)) == NULL) return NULL;
    }
    if (type_elements(type) == 1)
        return object_ir(eval, build1(&eval->builder, OP_item, operands[0]));
    return object_ir(eval, core_build(eval, OP_element_load, 1 + count, operands,
                                      type_scalar(core_types(eval), type->dtype)));
}

/* element_put(memory, indices, value, condition, idle, copied, apart): in the threads where the
 * condition holds; `idle`: in those that are not in the launch, too; `copied`: a thread's own copy,
 * which it waits for; `apart`: no other thread writes there by such writes until they meet. */
Object *core_element_put(Eval *eval, const Bound *bound)
{
    Value *operands[2 + TYPE_RANK];
    operands[0] = read_memory(eval, bound->values[0], bound->values[1], bound->at, operands + 2);
    if (operands[0] == NULL) return NULL;
    operands[1] = element_value(eval, bound->values[2], operands[0]->type->dtype, bound->at);
    if (operands[1] == NULL) return NULL;
    Builder at = eval->builder;
    if (!argument_absent(bound->values[3])) {
        Value *condition = stage_condition(eval, bound->values[3], bound->at);
        if (condition == NULL) return NULL;
        at = builder_before(build_branch(&eval->builder, condition)->regions[0]->first);
    }
    Op *op = build_op(&at, OP_element_store, 2 + operands[0]->type->rank, operands, 0, NULL);
    mark_once(eval, op);
    if (!argument_absent(bound->values[4])) op_set_int(op, ATTR_idle, 1);
    if (!argument_absent(bound->values[5])) op_set_int(op, ATTR_async, 1);
    if (!argument_absent(bound->values[6])) op_set_int(op, ATTR_apart, 1);
    return eval->none;
}

Object *core_element_type(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    const Value *value = stage_operand(eval, bound->values[0], bound->at);
    if (value == NULL) return NULL;
    return object_dtype(eval, value->type->dtype);
}

Object *core_local(Eval *eval, const Bound *bound)
{
    DType dtype;
    int rank;
    int64_t shape[TYPE_RANK], elements = 1;
    if (!stage_ready(eval, bound->at) ||
        !argument_dtype(eval, bound->values[0], bound->at, &dtype) ||
        !argument_shape(eval, bound->values[1], bound->at, &rank, shape))
        return NULL;
    for (int i = 0; i < rank; i++) elements *= shape[i];
    if (elements > 1 << 16)
        return FAIL(eval, count_range, bound->at, "the number of a local array's elements", 1LL,
                    65536LL, (long long)elements);
    return object_ir(eval, core_build(eval, OP_local_alloc, 0, NULL,
                                      type_local(core_types(eval), dtype, rank, shape)));
}

/* ---- threads ---- */

/* The thread's index in the block, or in the group at hand. */
static Value *index_in_group(Eval *eval, int64_t *count)
{
    int64_t begin;
    if (!group_now(eval, &begin, count)) return NULL;
    Value *index =
        core_build(eval, OP_thread_id, 0, NULL, type_scalar(core_types(eval), DTYPE_i32));
    if (begin == 0) return index;
    return build2(&eval->builder, OP_sub, index, build_const(&eval->builder, DTYPE_i32, begin));
}

Object *core_thread_index(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    return object_ir(
        eval, core_build(eval, OP_thread_id, 0, NULL, type_scalar(core_types(eval), DTYPE_i32)));
}

static Value *scratch(Eval *eval, DType dtype, int64_t count)
{
    return core_build(eval, OP_shared_alloc, 0, NULL,
                      type_shared(core_types(eval), dtype, 1, &count, NULL));
}

/* A tile that holds what each thread has. */
Object *core_spread(Eval *eval, const Bound *bound)
{
    int64_t count;
    if (!stage_ready(eval, bound->at)) return NULL;
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    Value *index = value != NULL ? index_in_group(eval, &count) : NULL;
    if (index == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR)
        return FAIL(eval, expected_kind, bound->at, "what each thread gives", "a scalar",
                    object_repr(eval, bound->values[0]));
    Value *shared = scratch(eval, value->type->dtype, count);
    build_op(&eval->builder, OP_element_store, 3, (Value *[]){shared, value, index}, 0, NULL);
    return object_ir(eval, build1(&eval->builder, OP_shared_load, shared));
}

/* Each thread's element of a tile that has one for each. */
Object *core_collect(Eval *eval, const Bound *bound)
{
    int64_t count;
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is dealt out", NULL, bound->at);
    Value *index = tile != NULL ? index_in_group(eval, &count) : NULL;
    if (index == NULL) return NULL;
    if (type_elements(tile->type) != count)
        return FAIL(eval, tile_threads, bound->at, (long long)type_elements(tile->type),
                    (long long)count);
    if (tile->type->rank != 1)
        tile = core_build(eval, OP_reshape, 1, &tile,
                          type_tile(core_types(eval), tile->type->dtype, 1, &count, NULL));
    Value *shared = scratch(eval, tile->type->dtype, count);
    build2(&eval->builder, OP_shared_store, shared, tile);
    return element_get(eval, shared, &index);
}

/* ---- lanes of a warp ---- */

static Value *bits_of_width(Eval *eval, Value *value, DType dtype)
{
    return core_build(eval, OP_bitcast, 1, &value, type_scalar(core_types(eval), dtype));
}

static Value *shuffled_word(Eval *eval, Value *word, Value *lane, Name mode)
{
    Value *operands[2] = {word, lane};
    Value *moved = core_build(eval, OP_shuffle, 2, operands, word->type);
    op_set_text(moved->op, ATTR_mode, mode);
    return moved;
}

static Value *shuffled_pair(Eval *eval, Value *value, Value *lane, Name mode)
{
    Builder *at = &eval->builder;
    Value *bits = bits_of_width(eval, value, DTYPE_u64), *half = build_const(at, DTYPE_u64, 32);
    Value *low = shuffled_word(eval, stage_cast(eval, bits, DTYPE_u32), lane, mode);
    Value *high = stage_cast(eval, build2(at, OP_shr, bits, half), DTYPE_u32);
    high = stage_cast(eval, shuffled_word(eval, high, lane, mode), DTYPE_u64);
    Value *both =
        build2(at, OP_or, build2(at, OP_shl, high, half), stage_cast(eval, low, DTYPE_u64));
    return bits_of_width(eval, both, value->type->dtype);
}

static Value *shuffled(Eval *eval, Value *value, Value *lane, Name mode)
{
    const DType dtype = value->type->dtype;
    const int bits = dtype_bits(dtype);
    if (bits == 64) return shuffled_pair(eval, value, lane, mode);
    if (dtype == DTYPE_b1)
        return stage_cast(eval, shuffled_word(eval, stage_cast(eval, value, DTYPE_u32), lane, mode),
                          DTYPE_b1);
    if (bits == 32) {
        Value *word = shuffled_word(eval, bits_of_width(eval, value, DTYPE_u32), lane, mode);
        return bits_of_width(eval, word, dtype);
    }
    const DType narrow = dtype_unsigned(dtype);
    Value *word = stage_cast(eval, bits_of_width(eval, value, narrow), DTYPE_u32);
    word = shuffled_word(eval, word, lane, mode);
    return bits_of_width(eval, stage_cast(eval, word, narrow), dtype);
}

Object *core_shuffle(Eval *eval, const Bound *bound)
{
    static const char *const MODES[] = {"idx", "up", "down", "xor"};
    const Object *given = bound->values[2];
    Name mode = NULL;
    if (!stage_ready(eval, bound->at)) return NULL;
    for (int i = 0; given->kind == OBJECT_TEXT && i < 4; i++)
        if (strcmp(given->as.text.data, MODES[i]) == 0)
            mode = intern_text(eval->session->names, MODES[i]);
    if (mode == NULL)
        return FAIL(eval, unknown_choice, bound->at, "the mode of a shuffle",
                    "'idx', 'up', 'down', 'xor'");
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    Value *lane = value != NULL ? stage_scalar(eval, bound->values[1], DTYPE_i32, bound->at) : NULL;
    if (lane == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR)
        return FAIL(eval, expected_kind, bound->at, "what is shuffled", "a scalar",
                    object_repr(eval, bound->values[0]));
    return object_ir(eval, shuffled(eval, value, lane, mode));
}

Object *core_vote(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    Value *condition = stage_condition(eval, bound->values[0], bound->at);
    if (condition == NULL) return NULL;
    return object_ir(
        eval, core_build(eval, OP_vote, 1, &condition, type_scalar(core_types(eval), DTYPE_u32)));
}

/* The instruction for such elements, of a and b, and of the sum; NULL: there is none. */
static const MmaKind *find_mma(DType inputs, DType sums)
{
    const MmaKind *kind;
    for (int i = 0; (kind = mma_kind_at(i)) != NULL; i++)
        if (mma_takes(kind, inputs) && kind->accumulator == sums) return kind;
    return NULL;
}

/* As many scalars of one type as a thread has of an operand. */
static bool mma_fragment(Eval *eval, const Object *given, int count, DType dtype, Value **out,
                         Span at)
{
    if (!object_is_sequence(given) || (int)given->as.list.count != count)
        return FAIL(eval, expected_kind, at, "what a thread has of an operand",
                    arena_printf(eval->arena, "a list of %d numbers", count),
                    object_repr(eval, given)) != NULL;
    for (int i = 0; i < count; i++) {
        out[i] = stage_scalar(eval, given->as.list.items[i], dtype, at);
        if (out[i] == NULL) return false;
    }
    return true;
}

/* The element type of what a thread has of an operand. */
static bool mma_dtype(Eval *eval, const Object *given, DType *out, Span at)
{
    Value *first = object_is_sequence(given) && given->as.list.count > 0
                       ? stage_operand(eval, given->as.list.items[0], at)
                       : NULL;
    if (first == NULL || first->type->kind != TYPE_SCALAR)
        return FAIL(eval, expected_kind, at, "what a thread has of an operand", "a list of numbers",
                    object_repr(eval, given)) != NULL;
    *out = first->type->dtype;
    return true;
}

Object *core_mma_sync(Eval *eval, const Bound *bound)
{
    Value *operands[MMA_MOST];
    DType inputs, sums;
    int count = 0;
    if (!stage_ready(eval, bound->at) || !mma_dtype(eval, bound->values[0], &inputs, bound->at) ||
        !mma_dtype(eval, bound->values[2], &sums, bound->at))
        return NULL;
    const MmaKind *kind = find_mma(inputs, sums);
    if (kind == NULL)
        return FAIL(eval, no_sum, bound->at, dtype_user_name(inputs), dtype_user_name(inputs),
                    dtype_user_name(sums));
    for (int i = 0; i < 3; i++) {
        const int elements = mma_elements(kind, (DotOperand)i);
        CHECK(count + elements <= MMA_MOST);
        if (!mma_fragment(eval, bound->values[i], elements, i < 2 ? inputs : sums, operands + count,
                          bound->at))
            return NULL;
        count += elements;
    }
    const Type *type = type_scalar(core_types(eval), sums);
    const Type *types[MMA_SUMS] = {type, type, type, type};
    Op *op = build_op(&eval->builder, OP_mma_sync, count, operands, MMA_SUMS, types);
    op_set_text(op, ATTR_instruction, intern_text(eval->session->names, kind->name));
    Object *results = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int i = 0; i < MMA_SUMS; i++) list_append(eval, results, object_ir(eval, &op->results[i]));
    return results;
}

/* texture(handle, level, coordinates): (red, green, blue, alpha), as the texture has them. */
Object *core_texture(Eval *eval, const Bound *bound)
{
    enum { DIMS = 3, CHANNELS = 4 };
    Object *items[TYPE_RANK];
    Value *operands[2 + DIMS];
    int dims;
    if (!stage_ready(eval, bound->at) ||
        !argument_items(eval, bound->values[2], "the coordinates", bound->at, &dims, items))
        return NULL;
    if (dims < 1 || dims > DIMS)
        return FAIL(eval, rank_mismatch, bound->at, "the coordinates", (long long)dims, 3LL);
    operands[0] = stage_scalar(eval, bound->values[0], DTYPE_u64, bound->at);
    operands[1] = stage_scalar(eval, bound->values[1], DTYPE_f32, bound->at);
    for (int i = 0; i < dims; i++)
        operands[2 + i] = stage_scalar(eval, items[i], DTYPE_f32, bound->at);
    for (int i = 0; i < 2 + dims; i++)
        if (operands[i] == NULL) return NULL;
    const Type *f32 = type_scalar(core_types(eval), DTYPE_f32);
    const Type *types[CHANNELS] = {f32, f32, f32, f32};
    Op *op = build_op(&eval->builder, OP_texture, 2 + dims, operands, CHANNELS, types);
    for (int i = 0; i < CHANNELS; i++) items[i] = object_ir(eval, &op->results[i]);
    return object_list(eval, OBJECT_TUPLE, items, CHANNELS);
}

/* In a parallel loop: what each iteration that comes here says, together. */
static Value *holds_in_all(Eval *eval, Object *condition, Span at)
{
    Value *all = masked_condition(eval, condition, at), *mask = eval->parallel->mask;
    if (all == NULL) return NULL;
    if (mask != NULL) all = masked_either(eval, all, masked_others(eval, mask));
    Object *dims = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int i = 0; i < eval->parallel->rank; i++) list_append(eval, dims, object_int(eval, i));
    Bound bound = {.values = {object_ir(eval, all), object_text(eval, "and", 3), dims, eval->yes},
                   .at = at};
    Object *one = eval->ops->core_reduce(eval, &bound);
    return one != NULL ? build1(&eval->builder, OP_item, stage_value(eval, one)) : NULL;
}

/* check(condition, text): the kernel ends with an error where the condition does not hold. */
Object *core_check(Eval *eval, const Bound *bound)
{
    bool truth;
    const Object *text = bound->values[1];
    if (!stage_ready(eval, bound->at)) return NULL;
    if (text->kind != OBJECT_TEXT)
        return FAIL(eval, expected_kind, bound->at, "what a check says", "a text",
                    object_repr(eval, text));
    if (!object_is_staged(bound->values[0])) {
        if (!object_truth(eval, bound->values[0], &truth)) return NULL;
        if (truth) return eval->none;
    }
    Value *condition = eval->parallel != NULL ? holds_in_all(eval, bound->values[0], bound->at)
                                              : stage_condition(eval, bound->values[0], bound->at);
    if (condition == NULL) return NULL;
    op_set_text(build_op(&eval->builder, OP_check, 1, &condition, 0, NULL), ATTR_text,
                intern(eval->session->names, text->as.text.data, text->as.text.length));
    return eval->none;
}

Object *core_warp_sync(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_warp_sync, 0, NULL, 0, NULL);
    return eval->none;
}

enum { DIGIT_DEPTH = 64 };

/* The value as a digit of the thread's index: index / *stride % *extent. */
static bool read_digit(const Value *value, int64_t threads, int depth, int64_t *stride,
                       int64_t *extent)
{
    int64_t by;
    const Op *op = value->op;
    *stride = 1;
    *extent = threads;
    if (op == NULL) return false;
    if (op->code == OP_thread_id) return true;
    if (depth == 0 || !op_has(op, ELEM) || op->operand_count != 2 ||
        !value_constant(operand(op, b), &by) || by < 1 ||
        !read_digit(operand(op, a), threads, depth - 1, stride, extent))
        return false;
    if (op_has(op, QUOTIENT)) {
        if (__builtin_mul_overflow(*stride, by, stride)) return false;
        *extent = *extent % by == 0 ? *extent / by : *extent / by + 1;
        return true;
    }
    if (!op_has(op, REMAINDER)) return false;
    if (by < *extent) *extent = by;
    return true;
}

/* thread_digit(index): (stride, extent): the threads that differ in this index alone are stride
 * apart, and as many as extent. */
Object *core_thread_digit(Eval *eval, const Bound *bound)
{
    int64_t begin, count, digit[2];
    const Type *type = argument_type(bound->values[0]);
    if (!stage_ready(eval, bound->at) || !group_now(eval, &begin, &count)) return NULL;
    if (type == NULL || type->kind != TYPE_SCALAR ||
        !read_digit(stage_value(eval, bound->values[0]), count, DIGIT_DEPTH, &digit[0], &digit[1]))
        return FAIL(eval, expected_kind, bound->at, "what counts threads",
                    "one of the thread's indices", object_repr(eval, bound->values[0]));
    Object *items[2] = {object_int(eval, digit[0]), object_int(eval, digit[1])};
    return object_list(eval, OBJECT_TUPLE, items, 2);
}

/* ---- fragments whose elements alone are used ---- */

/* A register tile is spread over its threads. Where only elements of it are read and written, by
 * their indices, each thread with numbers of its own, it stands for an array of each thread's. */

typedef struct ElementAccess {
    Value *indices[TYPE_RANK];
    Value *value; /* that is read, or written; NULL: a read that is part of a write */
} ElementAccess;

void fragment_note(Eval *eval, const Op *op, Value *const *indices, Value *value)
{
    const bool is_known = op != NULL && (op->code == OP_var_get || op->code == OP_var_set) &&
                          (value == NULL || value->type->kind == TYPE_SCALAR) &&
                          eval->parallel == NULL;
    if (!is_known || eval->staging->fragments.count == 0) return;
    ElementAccess *access = arena_new_of(eval->arena, ElementAccess);
    memcpy(access->indices, indices,
           sizeof *indices * (size_t)operand(op, variable)->type->content->rank);
    access->value = value;
    map_set(eval->arena, &eval->staging->fragment_elements, op, access);
}

/* Whether it is made of the thread's index. */
static bool is_by_thread(Eval *eval, const Value *value, Map *seen)
{
    const Op *op = value->op != NULL       ? value->op
                   : value->region != NULL ? value->region->parent
                                           : NULL;
    if (op == NULL || map_has(seen, value)) return false;
    map_set(eval->arena, seen, value, seen);
    if (op->code == OP_thread_id) return true;
    for (int i = 0; i < op->operand_count; i++) {
        const Value *operand = op->operands[i];
        if (is_by_thread(eval, operand, seen)) return true;
        for (const OpUse *use = operand->uses; op->code == OP_var_get && use; use = use->next)
            if (use->op->code == OP_var_set && is_by_thread(eval, operand(use->op, value), seen))
                return true;
    }
    return false;
}

static bool becomes_each_threads(Eval *eval, const Value *fragment)
{
    bool by_thread = false;
    Map seen = {0};
    if (fragment->op->operand_count > 0) return false;
    for (const OpUse *use = fragment->uses; use != NULL; use = use->next) {
        if (use->op->code == OP_var_get && use->op->results[0].uses == NULL) continue;
        const ElementAccess *access = map_get(&eval->staging->fragment_elements, use->op);
        if (access == NULL) return false;
        if (access->value == NULL) continue;
        for (int d = 0; d < fragment->type->content->rank; d++)
            by_thread |= is_by_thread(eval, access->indices[d], &seen);
        by_thread |= use->op->code == OP_var_set && is_by_thread(eval, access->value, &seen);
    }
    return by_thread;
}

/* Of what is not used any more nothing stays that reads the variable. */
static void erase_unused(Eval *eval, Op *op)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i].uses != NULL) return;
    const int count = op->operand_count;
    Value **operands = arena_new_array(eval->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) operands[i] = op->operands[i];
    op_erase(op);
    for (int i = 0; i < count; i++) {
        Op *inner = operands[i]->op;
        bool is_pure = inner != NULL && (inner->code == OP_var_get || op_has(inner, PURE));
        if (is_pure && inner->parent != NULL) erase_unused(eval, inner);
    }
}

static void make_each_threads(Eval *eval, Value *fragment)
{
    const Type *type = fragment->type->content;
    VEC(Op *) users = {0};
    for (const OpUse *use = fragment->uses; use != NULL; use = use->next)
        vec_push(eval->arena, &users, use->op);
    Builder start = builder_before(fragment->op);
    Value *operands[2 + TYPE_RANK];
    const Type *array = type_local(core_types(eval), type->dtype, type->rank, type->shape);
    operands[0] = build_op(&start, OP_local_alloc, 0, NULL, 1, &array)->results;
    operands[0]->name = fragment->name;
    for (size_t i = 0; i < users.count; i++) {
        Op *op = users.data[i];
        const ElementAccess *access = map_get(&eval->staging->fragment_elements, op);
        const bool is_read = op->code == OP_var_get;
        if (op->parent == NULL || (access != NULL && access->value == NULL)) continue;
        if (access == NULL) {
            op_erase(op); /* a read that nobody uses */
            continue;
        }
        Builder at = builder_before(is_read ? access->value->op : op);
        operands[1] = access->value;
        Value **indices = operands + (is_read ? 1 : 2);
        memcpy(indices, access->indices, sizeof *indices * (size_t)type->rank);
        if (is_read) {
            const Type *element = type_scalar(core_types(eval), type->dtype);
            Op *load = build_op(&at, OP_element_load, 1 + type->rank, operands, 1, &element);
            load->results[0].name = access->value->name;
            value_replace(access->value, load->results);
            erase_unused(eval, access->value->op);
        } else {
            Op *store = build_op(&at, OP_element_store, 2 + type->rank, operands, 0, NULL);
            op_set_int(store, ATTR_once, 1);
            erase_unused(eval, op);
        }
    }
    op_erase(fragment->op);
}

void fragments_settle(Eval *eval)
{
    for (size_t i = 0; i < eval->staging->fragments.count; i++) {
        Value *fragment = eval->staging->fragments.data[i];
        if (fragment->op->parent != NULL && becomes_each_threads(eval, fragment))
            make_each_threads(eval, fragment);
    }
}
