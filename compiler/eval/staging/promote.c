/* promote.c: the element type in which the operands of an operator meet.
 *
 * The library's own code takes numbers of the program as of the other operand's type, as the array
 * interfaces do; so does a kernel that says nothing else. In a kernel of typed numbers, or of
 * ranked ones, such a number is an int32 or float32: tests/exec/promotion has the tables.
 * Comparisons are of the values themselves everywhere. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- numbers of the program ---- */

bool number_fits(int64_t value, DType dtype)
{
    return dtype == DTYPE_u64 ? value >= 0 : dtype_wrap(dtype, value) == value;
}

DType number_dtype(const Object *literal)
{
    DType said;
    if (number_said(literal, &said)) return said;
    if (literal->kind == OBJECT_BOOL) return DTYPE_b1;
    if (literal->kind == OBJECT_FLOAT) return DTYPE_f32;
    return literal->as.integer == (int32_t)literal->as.integer ? DTYPE_i32 : DTYPE_i64;
}

Numbers numbers_here(const Eval *eval)
{
    const bool operates = eval->frame != NULL && eval->frame->is_operator;
    if (eval->staging == NULL || (eval->library > 0 && !operates)) return NUMBERS_WEAK;
    return eval->staging->numbers;
}

/* ---- types that hold both ---- */

static bool promote_floats(DType a, DType b, DType *out)
{
    int bits_a = dtype_bits(a), bits_b = dtype_bits(b);
    if (bits_a <= 8 && bits_b <= 8) return false; /* of two small ones neither holds the other */
    *out = bits_a <= 8 ? b : a;
    if (bits_a <= 8 || bits_b <= 8) return true;
    *out = DTYPE_f32;
    if (a == DTYPE_f64 || b == DTYPE_f64)
        *out = DTYPE_f64;
    else if (bits_a == 16 && bits_b == 16)
        *out = DTYPE_bf16; /* f16 and bf16 */
    return true;
}

static DType signed_of_bits(int bits)
{
    return bits <= 8 ? DTYPE_i8 : bits <= 16 ? DTYPE_i16 : bits <= 32 ? DTYPE_i32 : DTYPE_i64;
}

static DType promote_ints(DType a, DType b)
{
    int bits_a = dtype_bits(a), bits_b = dtype_bits(b);
    if (dtype_is_signed(a) == dtype_is_signed(b)) return bits_a > bits_b ? a : b;
    int bits_signed = dtype_is_signed(a) ? bits_a : bits_b;
    int bits_unsigned = dtype_is_signed(a) ? bits_b : bits_a;
    return signed_of_bits(bits_signed > bits_unsigned ? bits_signed : 2 * bits_unsigned);
}

bool stage_promote(DType a, DType b, DType *out)
{
    *out = a;
    if (a == b || b == DTYPE_b1) return true;
    *out = b;
    if (a == DTYPE_b1) return true;
    if (dtype_is_float(a) && dtype_is_float(b)) return promote_floats(a, b, out);
    if (dtype_is_float(a) || dtype_is_float(b)) {
        *out = dtype_is_float(a) ? a : b;
        return true;
    }
    *out = promote_ints(a, b);
    return true;
}

/* ---- ranks ---- */

/* A lower rank gives way, whatever its bits; of one rank the type of more bits wins. */
static bool promote_ranked(const int8_t *ranks, DType a, DType b, DType *out)
{
    const int bits_a = dtype_bits(a), bits_b = dtype_bits(b);
    *out = ranks[a] != ranks[b] ? (ranks[a] > ranks[b] ? a : b) : bits_a >= bits_b ? a : b;
    if (a == b || ranks[a] != ranks[b]) return true;
    if (dtype_is_integer(a) && bits_a == bits_b) *out = dtype_unsigned(a);
    return dtype_is_integer(a) || bits_a > 8 || bits_b > 8; /* of small floats none holds another */
}

/* ---- integers with floats ---- */

/* The first of the float types that holds another one and, exactly, integers of so many digits: for
 * those of 64 bits, that none holds, float64. */
static DType float_for(DType dtype, int digits)
{
    if (dtype_digits(dtype) >= digits) return dtype;
    return dtype != DTYPE_f64 && dtype_digits(DTYPE_f32) >= digits ? DTYPE_f32 : DTYPE_f64;
}

static int integer_digits(DType dtype)
{
    return dtype_bits(dtype) - dtype_is_signed(dtype);
}

static int number_digits(int64_t number)
{
    const uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    return size ? 64 - __builtin_clzll(size) : 1;
}

/* True where an integer is compared with a float, in the type that is given: one that holds both if
 * there is one. A number of the program is as exact as it needs. */
static bool compare_dtype(const Object *left, const Object *right, const Type *a, const Type *b,
                          DType *out)
{
    const DType first = a ? a->dtype : number_dtype(left),
                second = b ? b->dtype : number_dtype(right);
    if (dtype_is_integer(first) && dtype_is_float(second))
        return compare_dtype(right, left, b, a, out);
    if (!dtype_is_float(first) || !dtype_is_integer(second)) return false;
    const int digits = b ? integer_digits(second) : number_digits(right->as.integer);
    *out = float_for(a ? first : (DType)DTYPE_f64, digits);
    return true;
}

/* ---- pairs ---- */

/* A number takes the type of what it meets, unless that cannot hold it. `exact` is for comparisons,
 * where it keeps its own. */
static bool pair_weak(Object *left, Object *right, const Type *a, const Type *b, bool exact,
                      DType *out)
{
    if (a == NULL || b == NULL) {
        const Type *staged = a != NULL ? a : b;
        const Object *literal = a != NULL ? right : left;
        bool float_literal = literal->kind == OBJECT_FLOAT && !dtype_is_float(staged->dtype);
        bool wide_literal = literal->kind == OBJECT_INT && dtype_is_integer(staged->dtype) &&
                            !number_fits(literal->as.integer, staged->dtype) &&
                            (exact || staged->kind == TYPE_SCALAR);
        bool keeps = staged->kind == TYPE_TILE && !exact && staged->dtype != DTYPE_b1;
        *out = staged->dtype;
        if ((float_literal && !keeps) || wide_literal ||
            (staged->dtype == DTYPE_b1 && literal->kind != OBJECT_BOOL))
            return stage_promote(staged->dtype, number_dtype(literal), out);
        return true;
    }
    bool mixed = (a->kind == TYPE_TILE) != (b->kind == TYPE_TILE);
    const Type *tile = a->kind == TYPE_TILE ? a : b, *scalar = a->kind == TYPE_TILE ? b : a;
    if (mixed && !exact && dtype_is_float(tile->dtype) >= dtype_is_float(scalar->dtype) &&
        tile->dtype != DTYPE_b1) {
        *out = tile->dtype;
        return true;
    }
    return stage_promote(a->dtype, b->dtype, out);
}

static DType side_dtype(const Object *object, const Type *type)
{
    return type != NULL ? type->dtype : number_dtype(object);
}

bool number_is_bits(const Eval *eval, const Object *number, DType dtype)
{
    if (dtype != DTYPE_u64 || number->kind != OBJECT_INT || number->as.integer >= 0) return false;
    const Frame *frame = eval->frame;
    while (frame != NULL && !frame->is_thread_code) frame = frame->caller;
    return frame != NULL;
}

bool pair_dtype(const Eval *eval, PairStyle style, Object *left, Object *right, const Type *a,
                const Type *b, DType *out)
{
    const Numbers numbers = numbers_here(eval);
    const bool tiles = (a != NULL && a->kind == TYPE_TILE) || (b != NULL && b->kind == TYPE_TILE);
    const DType first = side_dtype(left, a), second = side_dtype(right, b);
    const bool compares = style == PAIR_COMPARE;
    if ((a == NULL && number_is_bits(eval, left, second)) ||
        (b == NULL && number_is_bits(eval, right, first))) {
        *out = DTYPE_u64;
        return true;
    }
    if (compares && compare_dtype(left, right, a, b, out)) return true;
    if (compares && numbers != NUMBERS_WEAK && dtype_is_float(first) && dtype_is_float(second))
        return stage_promote(first, second, out);
    if (compares || numbers == NUMBERS_WEAK || (numbers == NUMBERS_TYPED && tiles))
        return pair_weak(left, right, a, b, compares, out);
    if (numbers == NUMBERS_RANKED) return promote_ranked(eval->staging->ranks, first, second, out);
    if (style == PAIR_BITS && dtype_is_integer(first) && dtype_is_integer(second)) {
        *out = first;
        return true;
    }
    return stage_promote(first, second, out);
}

/* One rank: element types. False: reported. */
static bool read_rank(Eval *eval, const Object *types, int rank, Span at)
{
    for (uint32_t i = 0; object_is_sequence(types) && i < types->as.list.count; i++) {
        DType dtype;
        if (!argument_dtype(eval, types->as.list.items[i], at, &dtype)) return false;
        eval->staging->ranks[dtype] = (int8_t)rank;
    }
    return true;
}

/* numbers_ranked(ranks): in the kernel at hand, tuples of element types from the lowest rank on. */
Object *core_numbers_ranked(Eval *eval, const Bound *bound)
{
    const Object *ranks = bound->values[0];
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!object_is_sequence(ranks) || ranks->as.list.count > DTYPE_COUNT)
        return FAIL(eval, expected_kind, bound->at, "the ranks", "a tuple of tuples",
                    object_repr(eval, ranks));
    for (uint32_t i = 0; i < ranks->as.list.count; i++)
        if (!read_rank(eval, ranks->as.list.items[i], (int)i, bound->at)) return NULL;
    eval->staging->numbers = NUMBERS_RANKED;
    eval->staging->kernel->guards_elements = true; /* as it does, too */
    return eval->none;
}

/* ---- variables ---- */

/* With typed numbers a scalar keeps the type that it was made with, as a variable of C does. */
static Object *as_it_was(Eval *eval, Name name, Object *object)
{
    const Binding *binding = bindings_get(&eval->frame->scope->bindings, name);
    if (binding == NULL || binding->object == NULL || numbers_here(eval) != NUMBERS_TYPED)
        return object;
    const Object *old = binding->object;
    if (!object_is_staged(object) || (old->kind != OBJECT_IR && old->kind != OBJECT_CELL))
        return object;
    const Type *type = staged_object_type(old), *given = staged_object_type(object);
    if (type->kind != TYPE_SCALAR || given->kind != TYPE_SCALAR || type == given) return object;
    return object_ir(eval, stage_cast(eval, stage_value(eval, object), type->dtype));
}

Object *assigned_value(Eval *eval, const Node *target, Object *object)
{
    if (target->kind == NODE_Name) return as_it_was(eval, NODE_AS(Name, target)->id, object);
    if (target->kind != NODE_Tuple || !object_is_sequence(object) ||
        numbers_here(eval) != NUMBERS_TYPED)
        return object;
    const Nodes targets = NODE_AS(Tuple, target)->elts;
    if (targets.count != object->as.list.count) return object;
    Object *items = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (uint32_t i = 0; i < targets.count; i++)
        list_append(eval, items, assigned_value(eval, targets.items[i], object->as.list.items[i]));
    return items;
}

/* In a kernel `x: int32 = e` makes a scalar of that type; any other annotation is for readers. */
Object *declared_value(Eval *eval, const NodeAnnAssign *node, Object *value)
{
    bool scalar = object_is_number(value) ||
                  (value->kind == OBJECT_IR && type_is_scalar(value->as.ir.value->type));
    if (eval->staging == NULL || !scalar) return value;
    eval->quiet++;
    Object *type = eval_expr(eval, node->annotation);
    eval->quiet--;
    if (type == NULL || type->kind != OBJECT_DTYPE) return value;
    return object_ir(eval,
                     stage_scalar(eval, value, type->as.dtype, eval_move_to(eval, &node->base)));
}
