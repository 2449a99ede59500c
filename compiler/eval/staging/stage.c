/* stage.c: operations in which a run-time value takes part become ops. Literals are weakly typed:
 * they take the other side's type. Tiles broadcast as NumPy's arrays do; a scalar is cast to the
 * tile's element type for arithmetic (tile.5, "Types of expressions"). */
#include "eval/staging/staging.h"

#include <math.h>
#include <string.h>

/* ---- values ---- */

Value *stage_value(Eval *eval, Object *object)
{
    if (object->as.ir.var == NULL) return object->as.ir.value;
    Value *value = build1(&eval->builder, OP_var_get, object->as.ir.var);
    return object->as.ir.seen != NULL ? tile_as(eval, value, object->as.ir.seen) : value;
}

Value *stage_cast(Eval *eval, Value *value, DType dtype)
{
    return build_cast(&eval->builder, dtype, value);
}

static Value *stage_literal(Eval *eval, const Object *literal, DType dtype, Span at)
{
    if (dtype_is_float(dtype)) return build_number(&eval->builder, dtype, object_number(literal));
    if (dtype == DTYPE_b1) return build_const(&eval->builder, dtype, object_number(literal) != 0);
    if (literal->kind == OBJECT_FLOAT) {
        double number = literal->as.number;
        if (!(fabs(number) < 9e18) || number != (double)(int64_t)number ||
            !number_fits((int64_t)number, dtype))
            return FAIL(eval, literal_range, at, object_repr(eval, literal),
                        dtype_user_name(dtype));
        return build_const(&eval->builder, dtype, (int64_t)number);
    }
    if (!number_fits(literal->as.integer, dtype) && !number_is_bits(eval, literal, dtype))
        return FAIL(eval, literal_range, at, object_repr(eval, literal), dtype_user_name(dtype));
    return build_const(&eval->builder, dtype, literal->as.integer);
}

Value *stage_operand(Eval *eval, Object *object, Span at)
{
    if (!stage_ready(eval, at)) return NULL;
    if (object_is_staged(object)) return stage_value(eval, object);
    object = instance_number(eval, object);
    if (object == NULL) return NULL;
    if (object_is_number(object)) return stage_literal(eval, object, number_dtype(object), at);
    if (object->kind == OBJECT_WIDE) {
        object = wide_of_dtype(eval, object, DTYPE_u64, false, at);
        return object ? build_const(&eval->builder, DTYPE_u64, object->as.integer) : NULL;
    }
    if (!eval->ops->extent_is_known(eval, object, at)) return NULL;
    return FAIL(eval, expected_kind, at, "the operand", "a number or a run-time value",
                object_kind_name(object));
}

Value *stage_scalar(Eval *eval, Object *object, DType dtype, Span at)
{
    if (!stage_ready(eval, at)) return NULL;
    if (object_is_number(object)) return stage_literal(eval, object, dtype, at);
    Value *value = stage_operand(eval, object, at);
    if (value == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR)
        return FAIL(eval, expected_kind, at, "this value", "a scalar",
                    type_text(eval->arena, value->type));
    return stage_cast(eval, value, dtype);
}

Value *stage_index(Eval *eval, Object *object, Span at)
{
    Value *value = stage_operand(eval, object, at);
    if (value == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR || !dtype_is_integer(value->type->dtype))
        return FAIL(eval, expected_kind, at, "an extent or offset", "an integer",
                    object_repr(eval, object));
    bool narrow = dtype_bits(value->type->dtype) < 32 || value->type->dtype == DTYPE_i32;
    return stage_cast(eval, value, narrow ? DTYPE_i32 : DTYPE_i64);
}

/* Of memory at an address that a number says, whether that is one: NULL: memory that is there. */
Value *view_is_there(Eval *eval, const Value *view)
{
    if (view->op == NULL || view->op->code != OP_view) return NULL;
    Value *pointer = operand(view->op, pointer), *address = NULL;
    const Type *number = type_scalar(eval->builder.kernel->types, DTYPE_i64);
    if (pointer->op != NULL && pointer->op->code == OP_bitcast)
        address = operand(pointer->op, a);
    else if (pointer->op != NULL && pointer->op->code == OP_var_get)
        address = build_op(&eval->builder, OP_bitcast, 1, &pointer, 1, &number)->results;
    else
        return NULL;
    if (address->type->kind != TYPE_SCALAR) return NULL;
    return build_cmp(&eval->builder, "ne", address,
                     build_const(&eval->builder, address->type->dtype, 0));
}

Value *stage_condition(Eval *eval, Object *object, Span at)
{
    Value *value = stage_operand(eval, object, at);
    if (value == NULL) return NULL;
    if (value->type->kind == TYPE_VIEW) {
        Value *is_there = view_is_there(eval, value);
        return is_there != NULL ? is_there : build_const(&eval->builder, DTYPE_b1, 1);
    }
    if (value->type->kind == TYPE_SCALAR) return stage_cast(eval, value, DTYPE_b1);
    FAIL(eval, expected_kind, at, "a condition", "a scalar", type_text(eval->arena, value->type));
    if (value->type->kind == TYPE_TILE && eval->quiet == 0)
        diag_hint(eval->session->diags, "of tiles, '&' and '|' combine conditions and where() "
                                        "chooses; any() and all() make one of many");
    return NULL;
}

/* ---- shapes ---- */

static const char *shape_text(Eval *eval, const Type *type)
{
    Buf buf = {0};
    buf_char(&buf, '[');
    for (int i = 0; i < type->rank; i++)
        buf_printf(&buf, i == 0 ? "%lld" : ", %lld", (long long)type->shape[i]);
    buf_char(&buf, ']');
    const char *text = arena_copy_text(eval->arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

/* NumPy's rule: aligned at the last dimension, 1 stretches. */
static bool join_shapes(const Type *a, const Type *b, int *rank, int64_t *shape)
{
    *rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < *rank; i++) {
        int from_a = i - (*rank - a->rank), from_b = i - (*rank - b->rank);
        int64_t left = from_a >= 0 ? a->shape[from_a] : 1,
                right = from_b >= 0 ? b->shape[from_b] : 1;
        if (left != right && left != 1 && right != 1) return false;
        shape[i] = left == 1 ? right : left;
    }
    return true;
}

static Value *build_typed(Eval *eval, OpCode code, Value *value, const Type *type)
{
    return build_op(&eval->builder, code, 1, &value, 1, &type)->results;
}

Value *stage_broadcast(Eval *eval, Value *value, int rank, const int64_t *shape, Span at)
{
    TypeTable *types = eval->builder.kernel->types;
    const Type *target = type_tile(types, value->type->dtype, rank, shape, NULL);
    if (value->type->kind == TYPE_SCALAR) return build_typed(eval, OP_splat, value, target);
    if (value->type == target) return value;
    int64_t joined[TYPE_RANK];
    int joined_rank;
    if (!join_shapes(value->type, target, &joined_rank, joined) || joined_rank != rank ||
        memcmp(joined, shape, sizeof *shape * (size_t)rank) != 0)
        return FAIL(eval, shape_mismatch, at, shape_text(eval, value->type),
                    shape_text(eval, target));
    if (value->type->rank < rank) {
        int missing = rank - value->type->rank;
        int64_t padded[TYPE_RANK];
        for (int i = 0; i < rank; i++)
            padded[i] = i < missing ? 1 : value->type->shape[i - missing];
        value = build_typed(eval, OP_reshape, value,
                            type_tile(types, value->type->dtype, rank, padded, NULL));
    }
    return value->type == target ? value : build_typed(eval, OP_broadcast, value, target);
}

Value *stage_typed(Eval *eval, Object *object, const Type *type, Span at)
{
    if (type->kind == TYPE_SCALAR) return stage_scalar(eval, object, type->dtype, at);
    if (type->kind == TYPE_TILE && object_is_number(object)) {
        Value *scalar = stage_literal(eval, object, type->dtype, at);
        return scalar == NULL ? NULL : stage_broadcast(eval, scalar, type->rank, type->shape, at);
    }
    Value *value = stage_operand(eval, object, at);
    if (value == NULL || value->type == type) return value;
    if (type->kind == TYPE_TILE &&
        (value->type->kind == TYPE_SCALAR || value->type->kind == TYPE_TILE))
        return stage_broadcast(eval, stage_cast(eval, value, type->dtype), type->rank, type->shape,
                               at);
    return FAIL(eval, expected_kind, at, "this value", type_text(eval->arena, type),
                type_text(eval->arena, value->type));
}

/* ---- pairs ---- */

static bool is_arithmetic(const Type *type)
{
    return type->kind == TYPE_SCALAR || type->kind == TYPE_TILE;
}

bool stage_same_shape(Eval *eval, Span at, Value **a, Value **b)
{
    if ((*a)->type->kind == TYPE_SCALAR && (*b)->type->kind == TYPE_SCALAR) return true;
    int rank;
    int64_t shape[TYPE_RANK];
    if (!join_shapes((*a)->type, (*b)->type, &rank, shape)) {
        FAIL(eval, shape_mismatch, at, shape_text(eval, (*a)->type), shape_text(eval, (*b)->type));
        if (eval->quiet == 0)
            diag_hint(eval->session->diags,
                      "counted from the last one, extents are equal or one of them is 1");
        return false;
    }
    *a = stage_broadcast(eval, *a, rank, shape, at);
    *b = stage_broadcast(eval, *b, rank, shape, at);
    return *a != NULL && *b != NULL;
}

Value *pair_side(Eval *eval, Object *object, Value *value, DType dtype, Span at)
{
    if (value != NULL) return stage_cast(eval, value, dtype);
    if (object->kind == OBJECT_INT && dtype_is_integer(dtype) &&
        numbers_here(eval) != NUMBERS_WEAK && dtype_takes(dtype, object->as.integer))
        return build_const(&eval->builder, dtype, dtype_wrap(dtype, object->as.integer));
    return stage_literal(eval, object, dtype, at);
}

/* Whether it has a type of its own: a number takes that of the other side. */
static bool has_type(const Object *object)
{
    return object_is_staged(object) || object->kind == OBJECT_WIDE;
}

static bool pair_values(Eval *eval, PairStyle style, Object *left, Object *right, Span at,
                        Value **a, Value **b)
{
    if (!stage_ready(eval, at)) return false;
    *a = has_type(left) ? stage_operand(eval, left, at) : NULL;
    *b = has_type(right) ? stage_operand(eval, right, at) : NULL;
    if ((has_type(left) && !*a) || (has_type(right) && !*b)) return false;
    bool good = (*a != NULL ? is_arithmetic((*a)->type) : object_is_number(left)) &&
                (*b != NULL ? is_arithmetic((*b)->type) : object_is_number(right));
    if (!good || (*a == NULL && *b == NULL)) {
        FAIL(eval, not_numbers, at, object_repr(eval, left), object_repr(eval, right));
        return false;
    }
    DType dtype;
    if (!pair_dtype(eval, style, left, right, *a ? (*a)->type : NULL, *b ? (*b)->type : NULL,
                    &dtype)) {
        FAIL(eval, no_common_type, at, object_repr(eval, left), object_repr(eval, right));
        return false;
    }
    *a = pair_side(eval, left, *a, dtype, at);
    *b = pair_side(eval, right, *b, dtype, at);
    return *a != NULL && *b != NULL && stage_same_shape(eval, at, a, b);
}

bool stage_pair(Eval *eval, Object *left, Object *right, Span at, Value **a, Value **b)
{
    return pair_values(eval, PAIR_ARITHMETIC, left, right, at, a, b);
}

/* ---- operators ---- */

typedef struct BinaryRow {
    OpCode ints, floats; /* OP_COUNT: there is none */
    bool bits;           /* boolean operands stay boolean */
} BinaryRow;

static const BinaryRow BINARY[OPERATOR_COUNT] = {
    [OPERATOR_Add] = {OP_add, OP_add, false},
    [OPERATOR_Sub] = {OP_sub, OP_sub, false},
    [OPERATOR_Mult] = {OP_mul, OP_mul, false},
    [OPERATOR_Div] = {OP_div, OP_div, false},
    [OPERATOR_FloorDiv] = {OP_floordiv, OP_COUNT, false},
    [OPERATOR_Mod] = {OP_floormod, OP_COUNT, false},
    [OPERATOR_BitAnd] = {OP_and, OP_COUNT, true},
    [OPERATOR_BitOr] = {OP_or, OP_COUNT, true},
    [OPERATOR_BitXor] = {OP_xor, OP_COUNT, true},
    [OPERATOR_LShift] = {OP_shl, OP_COUNT, false},
    [OPERATOR_RShift] = {OP_shr, OP_COUNT, false},
};

/* What operators on run-time floats are in the library's `math`. */
static const char *const MATH[OPERATOR_COUNT] = {
    [OPERATOR_FloorDiv] = "floor_quotient",
    [OPERATOR_Mod] = "modulo",
    [OPERATOR_Pow] = "pow",
};

static Object *call_math(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    const bool as_c = op == OPERATOR_Mod && eval->frame->is_thread_code;
    /* What kernels write is the origins' own pow; the library's functions need a closer one. */
    const bool of_kernel = op == OPERATOR_Pow && eval->library == 0;
    const char *name = as_c ? "fmod" : of_kernel ? "device_pow" : MATH[op];
    Name function = intern_text(eval->session->names, name);
    Object *module = import_module(eval, intern_text(eval->session->names, "math"), at);
    Object *called = module != NULL ? attribute_get(eval, module, function, at) : NULL;
    return called != NULL ? call_simple(eval, called, 2, (Object *[]){left, right}, at) : NULL;
}

static const Type *staged_type(const Object *object)
{
    return object_is_staged(object) ? staged_object_type(object) : NULL;
}

static Object *stage_pointer(Eval *eval, Operator op, Object *pointer, Object *index, Span at)
{
    Value *offset = stage_index(eval, index, at);
    if (offset == NULL) return NULL;
    if (op == OPERATOR_Sub) offset = build1(&eval->builder, OP_neg, offset);
    return object_ir(eval, build2(&eval->builder, OP_ptr_add, stage_value(eval, pointer), offset));
}

static bool is_float(const Object *object)
{
    const Type *type = staged_type(object);
    return type != NULL ? dtype_is_float(type->dtype) : object->kind == OBJECT_FLOAT;
}

/* Whether a function of the library runs, for the program, that is right only if each of its ops is
 * rounded: the one at hand, or one that called it. */
static bool is_exact(const Eval *eval)
{
    for (const Frame *frame = eval->frame; frame != NULL; frame = frame->caller) {
        const Unit *unit = frame->function != NULL ? frame->function->unit : NULL;
        if (unit == NULL || !unit->is_library) return false;
        if (unit->is_exact) return true;
    }
    return false;
}

static Value *stage_arithmetic(Eval *eval, OpCode code, Value *a, Value *b)
{
    Value *value = build2(&eval->builder, code, a, b);
    const bool rounds = code == OP_add || code == OP_sub || code == OP_mul;
    if (rounds && dtype_is_float(value->type->dtype) && is_exact(eval))
        op_set_int(value->op, ATTR_exact, 1);
    return value;
}

/* x ** n for a small literal n: as few multiplications as squaring needs. */
static Object *stage_power(Eval *eval, Object *left, Object *right, Span at)
{
    const Type *type = staged_type(left);
    const bool few = right->kind == OBJECT_INT && right->as.integer >= 1 && right->as.integer <= 64;
    if (!few && (type == NULL || dtype_is_float(type->dtype) || is_float(right)))
        return call_math(eval, OPERATOR_Pow, left, right, at);
    if (!few) return no_operator(eval, OPERATOR_Pow, left, right, at);
    Value *base = stage_value(eval, left), *result = NULL;
    for (int64_t n = right->as.integer; n > 0; n >>= 1) {
        if (n & 1) result = result == NULL ? base : stage_arithmetic(eval, OP_mul, result, base);
        if (n > 1) base = stage_arithmetic(eval, OP_mul, base, base);
    }
    return object_ir(eval, result);
}

static bool is_pointer(const Type *type)
{
    return type != NULL && type->kind == TYPE_POINTER;
}

/* Arithmetic on booleans is arithmetic on 0 and 1. */
static void widen_booleans(Eval *eval, const BinaryRow *row, Value **a, Value **b)
{
    if (row->bits || (*a)->type->dtype != DTYPE_b1) return;
    *a = stage_cast(eval, *a, DTYPE_i32);
    *b = stage_cast(eval, *b, DTYPE_i32);
}

/* What an approximate function is of need not be rounded twice: a product, and something added to
 * it or taken from it, is one fma. */
static Value *stage_fused(Eval *eval, Value *value)
{
    const Op *sum = value->op;
    if (sum == NULL || (sum->code != OP_add && sum->code != OP_sub)) return value;
    const Op *product = operand(sum, a)->op;
    if (product == NULL || product->code != OP_mul) return value;
    Value *rest = operand(sum, b);
    if (sum->code == OP_sub) rest = build1(&eval->builder, OP_neg, rest);
    return build3(&eval->builder, OP_fma, operand(product, a), operand(product, b), rest);
}

bool uses_fast_math(const Eval *eval)
{
    return eval->staging != NULL ? eval->staging->fast_math : eval->options.fast_math;
}

Value *stage_approximate(Eval *eval, const char *function, Value *a, Value *b)
{
    Value *value = b != NULL ? build2(&eval->builder, OP_approx, a, b)
                             : build1(&eval->builder, OP_approx, stage_fused(eval, a));
    op_set_text(value->op, ATTR_function, intern_text(eval->session->names, function));
    return value;
}

Object *stage_binary(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    if (!stage_ready(eval, at)) return NULL;
    const Type *left_type = staged_type(left), *right_type = staged_type(right);
    if (is_pointer(left_type) && (op == OPERATOR_Add || op == OPERATOR_Sub) &&
        !is_pointer(right_type))
        return stage_pointer(eval, op, left, right, at);
    if (is_pointer(right_type) && op == OPERATOR_Add && !is_pointer(left_type))
        return stage_pointer(eval, op, right, left, at);
    if (op == OPERATOR_Pow &&
        (left_type == NULL || (is_arithmetic(left_type) && left_type->dtype != DTYPE_b1)))
        return stage_power(eval, left, right, at);
    const BinaryRow *row = &BINARY[op];
    if (row->ints == 0) return no_operator(eval, op, left, right, at);
    Value *a, *b;
    const bool shifts = op == OPERATOR_LShift || op == OPERATOR_RShift;
    if (!pair_values(eval, row->bits || shifts ? PAIR_BITS : PAIR_ARITHMETIC, left, right, at, &a,
                     &b))
        return NULL;
    if (a->type->dtype == DTYPE_f8e8m0) return no_operator(eval, op, left, right, at);
    widen_booleans(eval, row, &a, &b);
    OpCode code = dtype_is_float(a->type->dtype) ? row->floats : row->ints;
    if (code == OP_floormod && eval->frame->is_thread_code) code = OP_rem;
    if (code == OP_COUNT && MATH[op] != NULL)
        return call_math(eval, op, object_ir(eval, a), object_ir(eval, b), at);
    if (code == OP_COUNT) return no_operator(eval, op, left, right, at);
    /* The library's own divisions are what makes its functions right. */
    if (code == OP_div && a->type->dtype == DTYPE_f32 && uses_fast_math(eval) && eval->library == 0)
        return object_ir(eval, stage_approximate(eval, "div", a, b));
    return object_ir(eval, stage_arithmetic(eval, code, a, b));
}

/* An integer that no float holds is compared as the float next to it, and where that is equal as
 * the integer that the float then is, unless that is beyond its type. */
static Object *compare_wide(Eval *eval, Operator op, Object *integer, Object *number, Span at)
{
    Value *exact = object_is_staged(integer)
                       ? stage_value(eval, integer)
                       : build_const(&eval->builder, DTYPE_i64, integer->as.integer);
    const DType wide = exact->type->dtype;
    const bool is_signed = dtype_is_signed(wide);
    Object *rounded = object_ir(eval, stage_cast(eval, exact, DTYPE_f64)), *parts[4];
    if (object_is_staged(number))
        number = object_ir(eval, stage_cast(eval, stage_value(eval, number), DTYPE_f64));
    else
        number = object_ir(eval, stage_literal(eval, number, DTYPE_f64, at));
    Object *whole = object_ir(eval, stage_cast(eval, stage_value(eval, number), wide));
    const bool less = op == OPERATOR_Lt || op == OPERATOR_LtE || op == OPERATOR_NotEq;
    parts[0] = stage_compare(eval, op, rounded, number, at);
    parts[1] = stage_compare(eval, OPERATOR_Eq, rounded, number, at);
    parts[2] = stage_compare(eval, op, object_ir(eval, exact), whole, at);
    parts[3] = stage_compare(eval, OPERATOR_GtE, number,
                             object_float(eval, is_signed ? 0x1p63 : 0x1p64), at);
    for (int i = 0; i < 4; i++)
        if (parts[i] == NULL) return NULL;
    Object *equal = less ? stage_binary(eval, OPERATOR_BitOr, parts[2], parts[3], at)
                         : stage_binary(eval, OPERATOR_BitAnd, parts[2],
                                        stage_unary(eval, OPERATOR_Not, parts[3], at), at);
    Object *unequal = stage_binary(eval, OPERATOR_BitAnd, parts[0],
                                   stage_unary(eval, OPERATOR_Not, parts[1], at), at);
    return stage_binary(eval, OPERATOR_BitOr, unequal,
                        stage_binary(eval, OPERATOR_BitAnd, parts[1], equal, at), at);
}

static bool is_wide(Eval *eval, Object *object)
{
    const int64_t most = INT64_C(1) << dtype_digits(DTYPE_f64);
    if (!object_is_staged(object))
        return object->kind == OBJECT_INT &&
               (object->as.integer > most || object->as.integer < -most);
    const Type *type = stage_value(eval, object)->type;
    return is_arithmetic(type) && dtype_is_integer(type->dtype) && dtype_bits(type->dtype) == 64;
}

static Operator turned(Operator op)
{
    switch (op) {
    case OPERATOR_Lt: return OPERATOR_Gt;
    case OPERATOR_LtE: return OPERATOR_GtE;
    case OPERATOR_Gt: return OPERATOR_Lt;
    case OPERATOR_GtE: return OPERATOR_LtE;
    default: return op;
    }
}

Object *stage_compare(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    static const char *const PREDICATES[OPERATOR_COUNT] = {
        [OPERATOR_Eq] = "eq",  [OPERATOR_NotEq] = "ne", [OPERATOR_Lt] = "lt",
        [OPERATOR_LtE] = "le", [OPERATOR_Gt] = "gt",    [OPERATOR_GtE] = "ge",
    };
    if (PREDICATES[op] == NULL) return no_operator(eval, op, left, right, at);
    if (stage_ready(eval, at) && is_wide(eval, left) && is_float(right))
        return compare_wide(eval, op, left, right, at);
    if (stage_ready(eval, at) && is_float(left) && is_wide(eval, right))
        return compare_wide(eval, turned(op), right, left, at);
    Value *a, *b;
    if (!pair_values(eval, PAIR_COMPARE, left, right, at, &a, &b)) return NULL;
    return object_ir(eval, build_cmp(&eval->builder, PREDICATES[op], a, b));
}

static Object *no_unary(Eval *eval, Operator op, Object *operand, Span at)
{
    const char *what = arena_printf(eval->arena, "the operand of '%s'", operator_text(op));
    return FAIL(eval, expected_kind, at, what, "an integer or boolean", object_repr(eval, operand));
}

Object *stage_unary(Eval *eval, Operator op, Object *operand, Span at)
{
    if (!stage_ready(eval, at)) return NULL;
    Value *value = stage_value(eval, operand);
    if (op == OPERATOR_Not && value->type->kind == TYPE_VIEW) {
        Value *is_there = view_is_there(eval, value);
        return is_there == NULL ? eval->no
                                : object_ir(eval, build1(&eval->builder, OP_not, is_there));
    }
    if (!is_arithmetic(value->type)) return no_unary(eval, op, operand, at);
    DType dtype = value->type->dtype;
    if (op == OPERATOR_UAdd) return object_ir(eval, value);
    if (op == OPERATOR_Not)
        return object_ir(eval, build1(&eval->builder, OP_not, stage_cast(eval, value, DTYPE_b1)));
    if (op == OPERATOR_USub && dtype != DTYPE_f8e8m0)
        return object_ir(eval,
                         build1(&eval->builder, OP_neg,
                                dtype == DTYPE_b1 ? stage_cast(eval, value, DTYPE_i32) : value));
    if (dtype_is_float(dtype)) return no_unary(eval, op, operand, at);
    return object_ir(eval, build1(&eval->builder, OP_not, value));
}

Object *cast_to(Eval *eval, Object *object, DType dtype, Span at)
{
    /* A literal is rounded once, to the type that is asked for. */
    bool literal = dtype_is_float(dtype) && object_is_number(object);
    Value *value =
        literal ? stage_scalar(eval, object, dtype, at) : stage_operand(eval, object, at);
    if (value == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR && value->type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, at, "what is cast", "a number", object_repr(eval, object));
    return object_ir(eval, stage_cast(eval, value, dtype));
}
