/* gather.c: elements of memory at indices that are tiles: each element of a tile is read from, or
 * written to, a place of its own. In a parallel loop indices that are scalars do too. */
#include "eval/staging/staging.h"

#include <string.h>

typedef struct Elements {
    Value *memory;
    int rank; /* of the tiles */
    int64_t shape[TYPE_RANK];
    Value *indices[TYPE_RANK]; /* one a dimension of the memory */
    Span at;
} Elements;

/* ---- reading the indices ---- */

bool subscript_has_tile(const Object *index)
{
    const Object *const *items = (const Object *const *)&index;
    uint32_t count = 1;
    if (object_is_sequence(index)) {
        items = (const Object *const *)index->as.list.items;
        count = index->as.list.count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const Type *type = argument_type(items[i]);
        if (type != NULL && type->kind == TYPE_TILE) return true;
    }
    return false;
}

bool gather_guard(const Eval *eval, const Object *object, const Object *index)
{
    const Type *type = argument_type(object);
    if (eval->parallel == NULL || eval->parallel->mask == NULL || type->kind != TYPE_SHARED)
        return false;
    const bool many = object_is_sequence(index);
    for (uint32_t i = 0; many && i < index->as.list.count; i++)
        if (index->as.list.items[i]->kind == OBJECT_SLICE) return false;
    return index->kind != OBJECT_SLICE && type->rank == (many ? (int)index->as.list.count : 1);
}

static bool read_index(Eval *eval, Elements *elements, int dim, Object *index)
{
    const int64_t extent = elements->memory->type->shape[dim];
    const Type *type = argument_type(index);
    if (index->kind == OBJECT_INT && index->as.integer < 0 && extent != TYPE_DYNAMIC)
        index = object_int(eval, index->as.integer + extent);
    if (type == NULL || type->kind != TYPE_TILE) {
        if (index->kind == OBJECT_SLICE) {
            FAIL(eval, unsupported, elements->at, "a slice beside an index that is a tile");
            return false;
        }
        return (elements->indices[dim] = stage_index(eval, index, elements->at)) != NULL;
    }
    if (!dtype_is_integer(type->dtype)) {
        FAIL(eval, expected_kind, elements->at, "an index", "an integer", object_repr(eval, index));
        return false;
    }
    const bool narrow = dtype_bits(type->dtype) < 32 || type->dtype == DTYPE_i32;
    elements->indices[dim] =
        stage_cast(eval, stage_value(eval, index), narrow ? DTYPE_i32 : DTYPE_i64);
    return true;
}

/* The shape of the loop, or else that of the tiles together. */
static bool find_shape(Eval *eval, Elements *elements)
{
    Value *sample = NULL;
    for (int d = 0; d < elements->memory->type->rank && eval->parallel == NULL; d++) {
        Value *index = elements->indices[d];
        if (index->type->kind != TYPE_TILE) continue;
        if (sample != NULL && !stage_same_shape(eval, elements->at, &sample, &index)) return false;
        sample = index;
    }
    elements->rank = sample != NULL ? sample->type->rank : eval->parallel->rank;
    for (int d = 0; d < elements->rank; d++)
        elements->shape[d] = sample != NULL ? sample->type->shape[d] : eval->parallel->shape[d];
    return true;
}

static bool read_elements(Eval *eval, Value *memory, Object *index, Span at, Elements *out)
{
    *out = (Elements){.memory = memory, .at = at};
    const bool many = object_is_sequence(index);
    const int given = many ? (int)index->as.list.count : 1;
    if (memory->type->kind == TYPE_LOCAL) {
        if (!subscript_has_tile(index) && parallel_take_share(eval)) return false;
        FAIL(eval, in_parallel, at, "an array of each thread's own");
        return false;
    }
    if (given != memory->type->rank) {
        FAIL(eval, rank_mismatch, at, "indices of single elements", (long long)given,
             (long long)memory->type->rank);
        return false;
    }
    for (int d = 0; d < given; d++)
        if (!read_index(eval, out, d, many ? index->as.list.items[d] : index)) return false;
    if (!find_shape(eval, out)) return false;
    for (int d = 0; d < given; d++) {
        if (out->indices[d]->type->kind != TYPE_TILE) continue;
        out->indices[d] = stage_broadcast(eval, out->indices[d], out->rank, out->shape, at);
        if (out->indices[d] == NULL) return false;
    }
    return true;
}

static const Type *tile_type(Eval *eval, const Elements *elements, DType dtype)
{
    return type_tile(core_types(eval), dtype, elements->rank, elements->shape, NULL);
}

/* ---- memory ---- */

static int add_elements(Eval *eval, const Elements *elements, Value **operands, int count,
                        bool *masked)
{
    for (int d = 0; d < elements->memory->type->rank; d++) operands[count++] = elements->indices[d];
    *masked = eval->parallel != NULL && eval->parallel->mask != NULL;
    if (*masked) operands[count++] = eval->parallel->mask;
    return count;
}

/* Tiles of indices say by what is outside that there is nothing; a loop's indices are its own. */
static void mark_access(const Eval *eval, Op *op, bool masked)
{
    if (masked) op_set_int(op, ATTR_masked, 1);
    if (eval->parallel == NULL) op_set_int(op, ATTR_lenient, 1);
}

static Value *build_gather(Eval *eval, const Elements *elements)
{
    bool masked;
    Value *operands[2 + TYPE_RANK] = {elements->memory};
    const int count = add_elements(eval, elements, operands, 1, &masked);
    Value *tile = core_build(eval, OP_gather, count, operands,
                             tile_type(eval, elements, elements->memory->type->dtype));
    mark_access(eval, tile->op, masked);
    return tile;
}

static void build_put(Eval *eval, const Elements *elements, Value *value)
{
    bool masked;
    Value *operands[3 + TYPE_RANK] = {elements->memory, value};
    const int count = add_elements(eval, elements, operands, 2, &masked);
    Op *put = build_op(&eval->builder, OP_put, count, operands, 0, NULL);
    mark_access(eval, put, masked);
}

/* ---- register tiles ---- */

/* Which variable of the loop each dimension of a tile goes along; -1: its only element. */
typedef struct Match {
    int dims[TYPE_RANK];
    bool uses[TYPE_RANK]; /* of the loop's dimensions */
} Match;

/* What else a subscript may have: FIXED, the same index in all iterations. */
typedef enum Others { NO_OTHERS, FIXED } Others;

/* A loop's variable may be stretched over the dimensions of loops within it. */
static bool is_variable(const Value *index, const Value *variable)
{
    const Op *op = index->op;
    return index == variable ||
           (op != NULL && op->code == OP_broadcast && operand(op, a) == variable);
}

/* Whether the subscript is made of the loop's own variables, over the whole tile. */
static bool match_tile(const Eval *eval, const Elements *elements, Others others, Match *out)
{
    const Parallel *parallel = eval->parallel;
    const Type *type = elements->memory->type;
    *out = (Match){0};
    if (parallel == NULL) return false;
    for (int d = 0; d < type->rank; d++) {
        out->dims[d] = -1;
        for (int i = 0; i < parallel->open; i++)
            if (is_variable(elements->indices[d], parallel->indices[i])) out->dims[d] = i;
        const int dim = out->dims[d];
        if (dim < 0 && type->shape[d] == 1 && value_is_constant(elements->indices[d], 0)) continue;
        if (dim < 0 && others == FIXED && !type_is_tile(elements->indices[d]->type)) continue;
        if (dim >= 0 && parallel->starts[dim] != NULL)
            eval->parallel->next.whole = eval->parallel->again = true;
        if (dim < 0 || out->uses[dim] || type->shape[d] != parallel->shape[dim]) return false;
        out->uses[dim] = true;
    }
    return true;
}

/* ---- indices of several variables ---- */

enum { INDEX_DEPTH = 16 /* expressions that are followed */ };

/* Adds to `factors` by how much the index grows with each of the loop's variables. False: it is
 * something else than a sum of their multiples. */
static bool add_factors(const Parallel *parallel, const Value *index, int64_t times, int depth,
                        int64_t *factors)
{
    int64_t number;
    const Op *op = index->op;
    for (int i = 0; i < parallel->open; i++)
        if (is_variable(index, parallel->indices[i])) {
            factors[i] += times;
            return true;
        }
    if (value_repeated_constant(index, &number)) return number == 0;
    if (op == NULL || depth == 0) return false;
    switch (op->code) {
    case OP_cast:
    case OP_broadcast: return add_factors(parallel, operand(op, a), times, depth - 1, factors);
    case OP_add:
        return add_factors(parallel, operand(op, a), times, depth - 1, factors) &&
               add_factors(parallel, operand(op, b), times, depth - 1, factors);
    case OP_mul: {
        const bool first = value_repeated_constant(operand(op, a), &number);
        if (!first && !value_repeated_constant(operand(op, b), &number)) return false;
        const Value *other = first ? operand(op, b) : operand(op, a);
        return number > 0 && number <= INT32_MAX / times &&
               add_factors(parallel, other, times * number, depth - 1, factors);
    }
    default: return false;
    }
}

/* Of an index that counts through all of a dimension in the order of several of the loop's
 * variables: these, from the slowest on. 0: it is no such index. */
static int variables_of(Eval *eval, const Value *index, int64_t extent, int *variables)
{
    Parallel *parallel = eval->parallel;
    int64_t factors[TYPE_RANK] = {0}, next = 1;
    int count = 0;
    bool parts = false;
    if (!type_is_tile(index->type) || !add_factors(parallel, index, 1, INDEX_DEPTH, factors))
        return 0;
    for (int i = 0; i < parallel->open; i++) /* a variable of one value is 0 */
        if (factors[i] != 0 && parallel->form.extents[i] == 1) factors[i] = 0;
    for (bool more = true; more;) { /* from the fastest on */
        more = false;
        for (int i = 0; i < parallel->open && !more; i++)
            if (factors[i] == next) {
                for (int k = count; k > 0; k--) variables[k] = variables[k - 1];
                variables[0] = i;
                count++;
                factors[i] = 0;
                next *= parallel->form.extents[i];
                parts |= parallel->starts[i] != NULL;
                more = true;
            }
    }
    for (int i = 0; i < parallel->open; i++)
        if (factors[i] != 0) return 0;
    if (next != extent || count < 2) return 0;
    if (parts) parallel->next.whole = parallel->again = true;
    return parts ? 0 : count;
}

static Value *reshaped(Eval *eval, Value *tile, int rank, const int64_t *shape)
{
    const Type *type = type_tile(core_types(eval), tile->type->dtype, rank, shape, NULL);
    return tile->type == type ? tile : core_build(eval, OP_reshape, 1, &tile, type);
}

static Value *transposed(Eval *eval, Value *tile, const int64_t *dims)
{
    int64_t shape[TYPE_RANK];
    const int rank = tile->type->rank;
    bool same = true;
    for (int d = 0; d < rank; d++) {
        shape[d] = tile->type->shape[dims[d]];
        same &= dims[d] == d;
    }
    if (same) return tile;
    Value *result = core_build(eval, OP_transpose, 1, &tile,
                               type_tile(core_types(eval), tile->type->dtype, rank, shape, NULL));
    op_set_ints(result->op, ATTR_dims, rank, dims);
    return result;
}

/* A dimension that several variables count through becomes one for each of them, in the order of
 * memory: x[i * 8 + j] is x[i, j] of another shape. False: there is none. */
static bool split_dimensions(Eval *eval, const Elements *elements, Elements *out)
{
    const Type *type = elements->memory->type;
    int64_t shape[TYPE_RANK];
    int rank = 0;
    bool any = false;
    *out = *elements;
    if (eval->parallel == NULL) return false;
    for (int d = 0; d < type->rank; d++) {
        int variables[TYPE_RANK];
        const int count = variables_of(eval, elements->indices[d], type->shape[d], variables);
        if (rank + (count > 0 ? count : 1) > TYPE_RANK) return false;
        any |= count > 0;
        for (int k = 0; k < count; k++) {
            shape[rank] = eval->parallel->shape[variables[k]];
            out->indices[rank++] = eval->parallel->indices[variables[k]];
        }
        if (count > 0) continue;
        shape[rank] = type->shape[d];
        out->indices[rank++] = elements->indices[d];
    }
    if (any) out->memory = reshaped(eval, elements->memory, rank, shape);
    return any;
}

/* The tile with its dimensions in the order of the loop's, stretched over the others. */
static Value *tile_along(Eval *eval, const Elements *elements, const Match *match)
{
    const Parallel *parallel = eval->parallel;
    Value *tile = elements->memory;
    int64_t kept[TYPE_RANK], permutation[TYPE_RANK], apart[TYPE_RANK];
    int axis[TYPE_RANK], count = 0, at = 0;
    for (int d = 0; d < tile->type->rank; d++)
        if (match->dims[d] >= 0) {
            axis[match->dims[d]] = count;
            kept[count++] = tile->type->shape[d];
        }
    for (int i = 0; i < parallel->rank; i++) {
        apart[i] = match->uses[i] ? parallel->shape[i] : 1;
        if (match->uses[i]) permutation[at++] = axis[i];
    }
    if (count > 0) tile = transposed(eval, reshaped(eval, tile, count, kept), permutation);
    tile = reshaped(eval, tile, parallel->rank, apart);
    return stage_broadcast(eval, tile, parallel->rank, parallel->shape, elements->at);
}

/* The other way round: what the loop has for each iteration, as the tile has it. */
static Value *tile_back(Eval *eval, const Elements *elements, const Match *match, Value *value)
{
    const Parallel *parallel = eval->parallel;
    const Type *type = elements->memory->type;
    int64_t kept[TYPE_RANK], permutation[TYPE_RANK], shape[TYPE_RANK];
    int axis[TYPE_RANK], count = 0, at = 0;
    for (int i = 0; i < parallel->rank; i++)
        if (match->uses[i]) {
            axis[i] = count;
            kept[count++] = parallel->shape[i];
        }
    for (int d = 0; d < type->rank; d++) {
        shape[d] = match->dims[d] >= 0 ? type->shape[d] : 1;
        if (match->dims[d] >= 0) permutation[at++] = axis[match->dims[d]];
    }
    if (count > 0) value = transposed(eval, reshaped(eval, value, count, kept), permutation);
    return reshaped(eval, value, type->rank, shape);
}

/* Whether an element has the index that all iterations have along a dimension. */
static Value *is_at(Eval *eval, const Elements *elements, int dim)
{
    const Type *type = elements->memory->type;
    Value *index = stage_cast(eval, elements->indices[dim], DTYPE_i32);
    Value *coordinates =
        core_build(eval, OP_iota, 0, NULL, type_with_dtype(core_types(eval), type, DTYPE_i32));
    op_set_int(coordinates->op, ATTR_dim, dim);
    index = build2(&eval->builder, OP_check_index, index,
                   build_const(&eval->builder, DTYPE_i32, type->shape[dim]));
    return build_cmp(&eval->builder, "eq", coordinates,
                     stage_broadcast(eval, index, type->rank, type->shape, elements->at));
}

/* True in the elements at the fixed indices; NULL: in all. */
static Value *fixed_elements(Eval *eval, const Elements *elements, const Match *match)
{
    const Type *type = elements->memory->type;
    Value *mask = NULL;
    for (int d = 0; d < type->rank; d++) {
        if (match->dims[d] >= 0 || type->shape[d] == 1) continue;
        Value *one = is_at(eval, elements, d);
        mask = mask == NULL ? one : build2(&eval->builder, OP_and, mask, one);
    }
    return mask;
}

static Value *over_tile(Eval *eval, const Elements *elements, Value *value)
{
    const Type *type = elements->memory->type;
    return stage_broadcast(eval, value, type->rank, type->shape, elements->at);
}

/* A value of the elements at the fixed indices, stretched over the tile: `none` elsewhere. */
static Value *at_fixed(Eval *eval, const Elements *elements, const Match *match, Value *value,
                       Value *none)
{
    Value *mask = fixed_elements(eval, elements, match);
    value = over_tile(eval, elements, value);
    return mask == NULL ? value : build3(&eval->builder, OP_select, mask, value, none);
}

/* Each element of the tile is one iteration's. */
static bool covers_loop(const Eval *eval, const Match *match)
{
    for (int i = 0; i < eval->parallel->rank; i++)
        if (!match->uses[i] && eval->parallel->shape[i] != 1) return false;
    return true;
}

/* The loop's variables begin at 0, as far as is known. */
static bool has_all(const Eval *eval)
{
    const Parallel *parallel = eval->parallel;
    for (int i = 0; parallel != NULL && i < parallel->open; i++)
        if (parallel->starts[i] != NULL) return false;
    return parallel != NULL;
}

static bool write_shaped(Eval *eval, Object *object, Value *value, const Type *type)
{
    return tile_write(eval, object, reshaped(eval, value, type->rank, type->shape));
}

/* What a loop's own variables are the indices of. *good: whether it could be written, if it is. */
static bool set_matched(Eval *eval, Object *object, const Elements *elements, Value *value,
                        const Type *type, bool *good)
{
    Match match;
    Value *tile = elements->memory, *mask = eval->parallel != NULL ? eval->parallel->mask : NULL;
    if (match_tile(eval, elements, NO_OTHERS, &match) && covers_loop(eval, &match)) {
        value = tile_back(eval, elements, &match, value);
        if (mask != NULL) mask = tile_back(eval, elements, &match, mask);
        if (mask != NULL) value = build3(&eval->builder, OP_select, mask, value, tile);
        *good = write_shaped(eval, object, value, type);
        return true;
    }
    if (has_all(eval) && match_tile(eval, elements, FIXED, &match) && covers_loop(eval, &match)) {
        value = tile_back(eval, elements, &match, value);
        if (mask != NULL) {
            mask = over_tile(eval, elements, tile_back(eval, elements, &match, mask));
            value = build3(&eval->builder, OP_select, mask, over_tile(eval, elements, value), tile);
        }
        value = at_fixed(eval, elements, &match, value, tile);
        *good = write_shaped(eval, object, value, type);
        return true;
    }
    return false;
}

static bool set_register(Eval *eval, Object *object, Elements *elements, Value *value)
{
    Elements split;
    bool good;
    Value *tile = elements->memory;
    if (set_matched(eval, object, elements, value, tile->type, &good) ||
        (split_dimensions(eval, elements, &split) &&
         set_matched(eval, object, &split, value, tile->type, &good)))
        return good;
    if (!parallel_tells_apart(eval, tile->type->rank, elements->indices)) return false;
    elements->memory = tile_through_shared(eval, tile);
    build_put(eval, elements, value);
    return tile_write(eval, object, build1(&eval->builder, OP_shared_load, elements->memory));
}

/* A tile that nobody has used yet, and that began as nothing, is as large as the loop that writes
 * to it with its own variables: an element is a register of whoever has the iteration. */
static void widen_unused(Eval *eval, const Object *object, Object *index, Span at)
{
    const Parallel *parallel = eval->parallel;
    Value *var =
        object->kind == OBJECT_TILE && object->as.ir.whole == NULL ? object->as.ir.var : NULL;
    if (parallel == NULL || var == NULL || var->use_count > 0 || var->op->operand_count > 0 ||
        object->as.ir.seen != NULL)
        return;
    const Type *type = var->type->content;
    int64_t shape[TYPE_RANK];
    const bool many = object_is_sequence(index);
    if (!type_is_tile(type) || type->rank != (many ? (int)index->as.list.count : 1)) return;
    for (int d = 0; d < type->rank; d++) {
        Object *one = many ? index->as.list.items[d] : index;
        shape[d] = type->shape[d];
        const Type *of = argument_type(one);
        const bool is_tile = of != NULL && of->kind == TYPE_TILE;
        for (int i = 0; is_tile && i < parallel->own; i++)
            if (stage_value(eval, one) == parallel->indices[i] &&
                parallel->form.extents[i] > shape[d]) {
                diag_report(eval->session->diags, DIAG_widened, at, (long long)shape[d],
                            (long long)parallel->form.extents[i]);
                shape[d] = parallel->form.extents[i];
            }
    }
    TypeTable *types = core_types(eval);
    var->type = type_var(types, type_tile(types, type->dtype, type->rank, shape, NULL));
}

/* ---- the operators ---- */

Object *gather_get(Eval *eval, Object *object, Object *index, Span at)
{
    Elements elements, split;
    Match match;
    if (!stage_ready(eval, at) ||
        !read_elements(eval, stage_value(eval, object), index, at, &elements))
        return NULL;
    if (type_is_tile(elements.memory->type)) {
        if (match_tile(eval, &elements, NO_OTHERS, &match))
            return object_ir(eval, tile_along(eval, &elements, &match));
        if (split_dimensions(eval, &elements, &split) &&
            match_tile(eval, &split, NO_OTHERS, &match))
            return object_ir(eval, tile_along(eval, &split, &match));
        elements.memory = tile_through_shared(eval, elements.memory);
    }
    return object_ir(eval, build_gather(eval, &elements));
}

bool scatter_set(Eval *eval, Object *object, Object *index, Object *given, Span at)
{
    Elements elements;
    widen_unused(eval, object, index, at);
    if (!stage_ready(eval, at) ||
        !read_elements(eval, stage_value(eval, object), index, at, &elements))
        return false;
    const bool one = type_elements(tile_type(eval, &elements, DTYPE_b1)) == 1;
    if (!subscript_has_tile(index) && eval->parallel->mask == NULL && !one) {
        FAIL(eval, parallel_element, at);
        return false;
    }
    Value *value =
        stage_typed(eval, given, tile_type(eval, &elements, elements.memory->type->dtype), at);
    if (value == NULL) return false;
    if (type_is_tile(elements.memory->type)) return set_register(eval, object, &elements, value);
    if (!parallel_tells_apart(eval, elements.memory->type->rank, elements.indices)) return false;
    build_put(eval, &elements, value);
    return true;
}

/* ---- sums of all iterations ---- */

/* Along the dimensions of the loop that the subscript leaves out. */
static Value *folded(Eval *eval, const Match *match, Value *value, Object *mode, Span at)
{
    Object *dims = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int i = 0; i < eval->parallel->rank; i++)
        if (!match->uses[i]) list_append(eval, dims, object_int(eval, i));
    if (dims->as.list.count == 0) return value;
    Bound bound = {.values = {object_ir(eval, value), mode, dims, eval->yes}, .at = at};
    Object *result = eval->ops->core_reduce(eval, &bound);
    return result != NULL ? stage_value(eval, result) : NULL;
}

enum { MOST_FOLDS = 32 }; /* for an update: each is of all iterations */

/* What an update of a register tile is made of. */
typedef struct Fold {
    Value *value, *none; /* of each iteration */
    Value *unchanged;    /* of the tile's elements */
    Object *mode;
    OpCode code;
} Fold;

static OpCode fold_code(const Object *mode)
{
    static const struct {
        const char *mode;
        OpCode code;
    } MODES[] = {{"add", OP_add}, {"max", OP_max}, {"min", OP_min},
                 {"and", OP_and}, {"or", OP_or},   {"xor", OP_xor}};
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++)
        if (strcmp(mode->as.text.data, MODES[i].mode) == 0) return MODES[i].code;
    return OP_COUNT;
}

/* What the iterations make of the elements that their subscripts mean, `unchanged` elsewhere. */
static Value *fold_matched(Eval *eval, const Elements *elements, const Match *match,
                           const Fold *fold, Value *value)
{
    value = folded(eval, match, value, fold->mode, elements->at);
    if (value == NULL) return NULL;
    value = tile_back(eval, elements, match, value);
    return at_fixed(eval, elements, match, value, fold->unchanged);
}

static bool is_loop_variable(const Eval *eval, const Value *index)
{
    for (int i = 0; i < eval->parallel->open; i++)
        if (is_variable(index, eval->parallel->indices[i])) return true;
    return false;
}

/* Along which dimensions each iteration has an index of its own that is no variable; how many
 * elements those have. */
static int64_t varying_dims(const Eval *eval, const Elements *elements, bool *varies)
{
    int64_t count = 1;
    for (int d = 0; d < elements->memory->type->rank; d++) {
        varies[d] = type_is_tile(elements->indices[d]->type) &&
                    !is_loop_variable(eval, elements->indices[d]);
        if (varies[d]) count *= elements->memory->type->shape[d];
    }
    return count;
}

/* Element by element: what the iterations that mean it make of it. */
static Value *fold_varying(Eval *eval, const Elements *elements, const Fold *fold)
{
    bool varies[TYPE_RANK];
    const int64_t count = varying_dims(eval, elements, varies);
    Value *total = NULL;
    Match match;
    for (int64_t i = 0; count <= MOST_FOLDS && i < count; i++) {
        Elements one = *elements;
        Value *means = NULL;
        int64_t left = i;
        for (int d = elements->memory->type->rank; d-- > 0;) {
            if (!varies[d]) continue;
            const int64_t extent = elements->memory->type->shape[d];
            Value *index = elements->indices[d],
                  *at = build_const(&eval->builder, index->type->dtype, left % extent);
            at = stage_broadcast(eval, at, elements->rank, elements->shape, elements->at);
            at = build_cmp(&eval->builder, "eq", index, at);
            means = means == NULL ? at : build2(&eval->builder, OP_and, means, at);
            one.indices[d] = build_const(&eval->builder, DTYPE_i32, left % extent);
            left /= extent;
        }
        if (means == NULL || !match_tile(eval, &one, FIXED, &match)) return NULL;
        Value *value = build3(&eval->builder, OP_select, means, fold->value, fold->none);
        value = fold_matched(eval, &one, &match, fold, value);
        if (value == NULL) return NULL;
        total = total == NULL ? value : build2(&eval->builder, fold->code, total, value);
    }
    return total;
}

/* fold_at(tile, indices, value, mode, none): in a parallel loop, the element of a register tile
 * becomes what it and the values of all iterations that mean it make; `none` changes nothing. */
Object *core_fold_at(Eval *eval, const Bound *bound)
{
    Elements elements;
    Match match;
    const Span at = bound->at;
    Object *tile = bound->values[0], *mode = bound->values[3];
    const Type *type = argument_type(tile);
    if (eval->parallel == NULL || type == NULL || type->kind != TYPE_TILE)
        return FAIL(eval, reducer_use, at);
    if (mode->kind != OBJECT_TEXT || type->dtype == DTYPE_b1)
        return FAIL(eval, expected_kind, at, "what a reducer is made of", "numbers",
                    type_text(eval->arena, type));
    if (!read_elements(eval, stage_value(eval, tile), bound->values[1], at, &elements)) return NULL;
    const bool matches = match_tile(eval, &elements, FIXED, &match);
    if (!matches && eval->parallel->again) return NULL;
    const Type *along = tile_type(eval, &elements, type->dtype);
    Value *mask = eval->parallel->mask;
    Fold fold = {.value = stage_typed(eval, bound->values[2], along, at),
                 .none = stage_typed(eval, bound->values[4], along, at),
                 .unchanged = stage_typed(eval, bound->values[4], type, at),
                 .mode = mode,
                 .code = fold_code(mode)};
    if (fold.value == NULL || fold.none == NULL) return NULL;
    if (mask != NULL) fold.value = build3(&eval->builder, OP_select, mask, fold.value, fold.none);
    const size_t errors = diag_error_count(eval->session->diags);
    Value *value = matches ? fold_matched(eval, &elements, &match, &fold, fold.value)
                           : fold_varying(eval, &elements, &fold);
    if (value == NULL && errors == diag_error_count(eval->session->diags))
        return FAIL(eval, reducer_use, at);
    if (value == NULL) return NULL;
    if (fold.code != OP_COUNT) value = build2(&eval->builder, fold.code, elements.memory, value);
    return tile_write(eval, tile, value) ? eval->none : NULL;
}

/* ---- atomics ---- */

/* atomic_at(memory, indices, value, mode, order, scope, compare): the old elements. */
Object *core_atomic_at(Eval *eval, const Bound *bound)
{
    Elements elements;
    const Type *type = argument_type(bound->values[0]);
    const bool in_memory = type != NULL && (type->kind == TYPE_VIEW || type->kind == TYPE_SHARED);
    if (!in_memory || !stage_ready(eval, bound->at))
        return FAIL(eval, expected_kind, bound->at, "the memory", "a view or a shared tile",
                    object_repr(eval, bound->values[0]));
    if (eval->parallel == NULL && !subscript_has_tile(bound->values[1]))
        return FAIL(eval, expected_kind, bound->at, "an index", "a tile",
                    object_repr(eval, bound->values[1]));
    if (!read_elements(eval, stage_value(eval, bound->values[0]), bound->values[1], bound->at,
                       &elements))
        return NULL;
    const Type *tile = tile_type(eval, &elements, type->dtype);
    Value *value = stage_typed(eval, bound->values[2], tile, bound->at), *compare = NULL;
    AtomicWords words;
    if (value == NULL || !atomic_words(eval, bound->values + 3, type->dtype, bound->at, &words))
        return NULL;
    if (words.compares) {
        if (argument_absent(bound->values[6]))
            return FAIL(eval, missing_argument, bound->at, "cas", "compare");
        compare = stage_typed(eval, bound->values[6], tile, bound->at);
        if (compare == NULL) return NULL;
    }
    if (words.negates) value = build1(&eval->builder, OP_neg, value);
    bool masked;
    Value *operands[4 + TYPE_RANK] = {elements.memory, value, compare};
    const int count = add_elements(eval, &elements, operands, 2 + (compare != NULL), &masked);
    Value *old = core_build(eval, OP_atomic, count, operands, tile);
    atomic_set_words(old->op, &words);
    mark_access(eval, old->op, masked);
    return object_ir(eval, old);
}
