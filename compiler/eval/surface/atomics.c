/* atomics.c: the part of __core__ that updates memory element by element: atomics, scattered
 * stores. */
#include "eval/surface/surface.h"

/* ---- the memory ---- */

/* A view or a shared tile. NULL: reported. */
static Value *memory_argument(Eval *eval, Object *object, Span at)
{
    const Type *type = argument_type(object);
    if (type != NULL && type->kind == TYPE_SHARED)
        return argument_value(eval, object, TYPE_SHARED, "the memory", NULL, at);
    return argument_value(eval, object, TYPE_VIEW, "the memory", "a global view or a shared tile",
                          at);
}

/* The tile lies on the memory one to one, but for dimension `scattered` (-1: there is none). */
static bool check_shapes(Eval *eval, const Type *memory, const Type *tile, int64_t scattered,
                         Span at)
{
    bool fits = memory->rank == tile->rank;
    for (int d = 0; fits && d < tile->rank; d++)
        fits = d == scattered || memory->shape[d] == TYPE_DYNAMIC ||
               memory->shape[d] == tile->shape[d];
    if (!fits)
        FAIL(eval, shape_mismatch, at, type_text(eval->arena, memory),
             type_text(eval->arena, tile));
    return fits;
}

static bool check_element(Eval *eval, const Type *memory, const Type *tile, const char *what,
                          Span at)
{
    if (memory->dtype == tile->dtype) return true;
    FAIL(eval, dtype_mismatch, at, what, dtype_user_name(tile->dtype),
         dtype_user_name(memory->dtype));
    return false;
}

static bool read_dim(Eval *eval, Object *object, int rank, Span at, int64_t *out)
{
    *out = -1;
    if (argument_absent(object)) return true;
    if (!object_as_int(eval, object, "the dimension", out)) return false;
    if (*out < 0) *out += rank;
    if (*out >= 0 && *out < rank) return true;
    FAIL(eval, no_dimension, at, "the tile", (long long)object->as.integer);
    return false;
}

/* Memory, value and, along a dimension, indices. */
typedef struct Elements {
    Value *memory, *value, *indices; /* indices: NULL: there is no dimension */
    int64_t dim;
} Elements;

static bool read_elements(Eval *eval, Object *memory, Object *value, Object *dim, Object *indices,
                          Span at, Elements *out)
{
    *out = (Elements){.memory = memory_argument(eval, memory, at)};
    if (out->memory == NULL) return false;
    out->value = argument_value(eval, value, TYPE_TILE, "the values", NULL, at);
    if (out->value == NULL || !read_dim(eval, dim, out->value->type->rank, at, &out->dim) ||
        !check_shapes(eval, out->memory->type, out->value->type, out->dim, at) ||
        !check_element(eval, out->memory->type, out->value->type, "the value", at))
        return false;
    if (out->dim < 0) return true;
    out->indices = argument_value(eval, indices, TYPE_TILE, "the indices", NULL, at);
    if (out->indices == NULL) return false;
    if (!dtype_is_integer(out->indices->type->dtype)) {
        FAIL(eval, expected_kind, at, "the indices", "integers", object_repr(eval, indices));
        return false;
    }
    if (type_same_shape(out->indices->type, out->value->type)) return true;
    FAIL(eval, shape_mismatch, at, type_text(eval->arena, out->indices->type),
         type_text(eval->arena, out->value->type));
    return false;
}

/* An index for each dimension: the element's own place, but along `dim`. */
static int add_indices(Eval *eval, const Elements *elements, Value **operands, int count)
{
    const Type *value = elements->value->type;
    for (int d = 0; d < value->rank; d++) {
        Value *index = elements->indices;
        if (d != elements->dim) {
            const Type *type = type_with_dtype(core_types(eval), value, DTYPE_i32);
            index = core_build(eval, OP_iota, 0, NULL, type);
            op_set_int(index->op, ATTR_dim, d);
        }
        operands[count++] = index;
    }
    return count;
}

Object *core_scatter(Eval *eval, const Bound *bound)
{
    Elements elements;
    if (!stage_ready(eval, bound->at) ||
        !read_elements(eval, bound->values[0], bound->values[1], bound->values[2], bound->values[3],
                       bound->at, &elements))
        return NULL;
    if (elements.dim < 0) return FAIL(eval, missing_argument, bound->at, "a scatter", "dim");
    Value *operands[2 + TYPE_RANK] = {elements.memory, elements.value};
    const int count = add_indices(eval, &elements, operands, 2);
    Op *put = build_op(&eval->builder, OP_put, count, operands, 0, NULL);
    op_set_int(put, ATTR_lenient, 1);
    op_set_int(put, ATTR_any, 1);
    return eval->none;
}

/* ---- atomics ---- */

typedef struct Atomic {
    Elements elements;
    Value *compare;
    AtomicWords words;
} Atomic;

static bool read_compare(Eval *eval, Object *object, Span at, Atomic *out)
{
    if (!out->words.compares) return true;
    const Type *type = out->elements.value->type;
    out->compare = argument_value(eval, object, TYPE_TILE, "what is compared", NULL, at);
    if (out->compare == NULL || !check_element(eval, type, out->compare->type, "the comparand", at))
        return false;
    if (type_same_shape(out->compare->type, type)) return true;
    FAIL(eval, shape_mismatch, at, type_text(eval->arena, out->compare->type),
         type_text(eval->arena, type));
    return false;
}

Object *core_atomic(Eval *eval, const Bound *bound)
{
    Atomic atomic = {0};
    if (!stage_ready(eval, bound->at) ||
        !read_elements(eval, bound->values[0], bound->values[1], bound->values[6], bound->values[7],
                       bound->at, &atomic.elements) ||
        !atomic_words(eval, bound->values + 2, atomic.elements.value->type->dtype, bound->at,
                      &atomic.words) ||
        !read_compare(eval, bound->values[5], bound->at, &atomic))
        return NULL;
    Value *operands[3 + TYPE_RANK] = {atomic.elements.memory, atomic.elements.value};
    if (atomic.words.negates) operands[1] = build1(&eval->builder, OP_neg, operands[1]);
    int count = 2;
    if (atomic.compare != NULL) operands[count++] = atomic.compare;
    count = add_indices(eval, &atomic.elements, operands, count);
    Value *old = core_build(eval, OP_atomic, count, operands, atomic.elements.value->type);
    op_set_int(old->op, ATTR_lenient, 1);
    atomic_set_words(old->op, &atomic.words);
    return result_deliver(eval, old, bound->values[8]);
}
