/* symbol.c: extents by their names, which are known later than where they are written: what they
 * stand for in a kernel, and what a look ahead at a body that declares its tensors finds of them.
 */
#include "eval/export/export.h"

#include <string.h>

/* ---- extents that are computed from others ---- */

static bool may_be_base(const Object *object)
{
    return object->kind == OBJECT_SYMBOL && object->as.symbol->name != NULL &&
           (!object->as.symbol->is_key || object->as.symbol->is_asked);
}

static bool is_extent(const Object *object)
{
    return object->kind == OBJECT_SYMBOL &&
           (object->as.symbol->base != NULL || may_be_base(object));
}

/* base * scale + offset; NULL: that is too large. */
static Object *extent_of(Eval *eval, const Symbol *base, int64_t scale, int64_t offset)
{
    if (scale < 1 || scale > INT32_MAX || offset < INT32_MIN || offset > INT32_MAX) return NULL;
    Object *object = object_new(eval, OBJECT_SYMBOL);
    Symbol *symbol = arena_new_of(eval->arena, Symbol);
    *symbol = (Symbol){
        .dtype = base->dtype, .at = base->at, .base = base, .scale = scale, .offset = offset};
    object->as.symbol = symbol;
    return object;
}

/* base // by or base % by. */
static Object *extent_divided(Eval *eval, const Symbol *base, Operator op, int64_t by)
{
    if (by < 1 || by > INT32_MAX) return NULL;
    Object *object = extent_of(eval, base, 1, 0);
    Symbol *symbol = arena_new_of(eval->arena, Symbol);
    *symbol = *object->as.symbol;
    symbol->by = by;
    symbol->is_rest = op == OPERATOR_Mod;
    object->as.symbol = symbol;
    return object;
}

static const Symbol *operand_symbol(Eval *eval, const Object *object)
{
    if (is_extent(object)) return object->as.symbol;
    if (object->kind != OBJECT_INT) return NULL;
    Symbol *symbol = arena_new_of(eval->arena, Symbol);
    *symbol = (Symbol){.dtype = DTYPE_i32, .is_number = true, .offset = object->as.integer};
    return symbol;
}

static Object *extent_of_two(Eval *eval, OpCode code, const Object *a, const Object *b)
{
    if (!is_extent(a) && !is_extent(b)) return NULL;
    const Symbol *base = operand_symbol(eval, a), *other = operand_symbol(eval, b);
    if (base == NULL || other == NULL) return NULL;
    Object *object = object_new(eval, OBJECT_SYMBOL);
    Symbol *symbol = arena_new_of(eval->arena, Symbol);
    const bool is_wide = base->dtype == DTYPE_i64 || other->dtype == DTYPE_i64;
    *symbol = (Symbol){.dtype = is_wide ? DTYPE_i64 : DTYPE_i32,
                       .at = is_extent(a) ? base->at : other->at,
                       .base = base,
                       .other = other,
                       .code = code};
    object->as.symbol = symbol;
    return object;
}

/* A sum or product with a number, from which the extent can be told, or a quotient by one. */
static Object *extent_of_number(Eval *eval, Operator op, const Symbol *symbol, int64_t number)
{
    if (number < INT32_MIN || number > INT32_MAX) return NULL;
    if (op == OPERATOR_FloorDiv || op == OPERATOR_Mod)
        return extent_divided(eval, symbol, op, number);
    const bool is_sum = symbol->base != NULL && symbol->by == 0 && symbol->other == NULL;
    const Symbol *base = is_sum ? symbol->base : symbol;
    const int64_t scale = is_sum ? symbol->scale : 1, offset = is_sum ? symbol->offset : 0;
    if (op == OPERATOR_Mult) return extent_of(eval, base, scale * number, offset * number);
    if (op == OPERATOR_Add) return extent_of(eval, base, scale, offset + number);
    return op == OPERATOR_Sub ? extent_of(eval, base, scale, offset - number) : NULL;
}

Object *extent_computed(Eval *eval, Operator op, const Object *a, const Object *b)
{
    static const OpCode CODES[] = {
        [OPERATOR_Add] = OP_add,           [OPERATOR_Sub] = OP_sub,      [OPERATOR_Mult] = OP_mul,
        [OPERATOR_FloorDiv] = OP_floordiv, [OPERATOR_Mod] = OP_floormod,
    };
    const bool swaps = a->kind == OBJECT_INT && (op == OPERATOR_Add || op == OPERATOR_Mult);
    const Object *extent = swaps ? b : a, *number = swaps ? a : b;
    Object *found = NULL;
    if (number->kind == OBJECT_INT && is_extent(extent))
        found = extent_of_number(eval, op, extent->as.symbol, number->as.integer);
    if (found != NULL || op >= sizeof CODES / sizeof *CODES || CODES[op] == 0) return found;
    return extent_of_two(eval, CODES[op], a, b);
}

Object *extent_extreme(Eval *eval, Operator wins, const Object *a, const Object *b)
{
    return extent_of_two(eval, wins == OPERATOR_Lt ? OP_min : OP_max, a, b);
}

static Value *times(Eval *eval, Value *value, int64_t factor)
{
    return build2(&eval->builder, OP_mul, value, build_const(&eval->builder, DTYPE_i64, factor));
}

/* The extent where the one it is computed from is a number. */
static int64_t number_computed(const Symbol *symbol, int64_t base)
{
    if (symbol->by == 0) return base * symbol->scale + symbol->offset;
    const int64_t rest = (base % symbol->by + symbol->by) % symbol->by;
    return symbol->is_rest ? rest : (base - rest) / symbol->by;
}

static bool number_of_two(OpCode code, int64_t a, int64_t b, int64_t *out)
{
    switch ((int)code) {
    case OP_add: return !__builtin_add_overflow(a, b, out);
    case OP_sub: return !__builtin_sub_overflow(a, b, out);
    case OP_mul: return !__builtin_mul_overflow(a, b, out);
    case OP_min: *out = a < b ? a : b; return true;
    case OP_max: *out = a > b ? a : b; return true;
    default: break;
    }
    if (b <= 0) return false;
    const int64_t rest = (a % b + b) % b;
    *out = code == OP_floormod ? rest : (a - rest) / b;
    return true;
}

/* In 64 bits: a stride, which is one of two extents, may be of as many. */
static Object *value_of_two(Eval *eval, const Symbol *symbol)
{
    Object *base = symbol_value(eval, symbol->base), *other = symbol_value(eval, symbol->other);
    int64_t number;
    if (base == NULL || other == NULL) return NULL;
    if (base->kind == OBJECT_INT && other->kind == OBJECT_INT &&
        number_of_two(symbol->code, base->as.integer, other->as.integer, &number))
        return object_int(eval, number);
    Value *a = stage_operand(eval, base, eval->at), *b = stage_operand(eval, other, eval->at);
    if (a == NULL || b == NULL) return NULL;
    a = stage_cast(eval, a, DTYPE_i64);
    b = stage_cast(eval, b, DTYPE_i64);
    return object_ir(eval, build2(&eval->builder, symbol->code, a, b));
}

static Object *computed_value(Eval *eval, const Symbol *symbol)
{
    if (symbol->other != NULL) return value_of_two(eval, symbol);
    Object *base = symbol_value(eval, symbol->base);
    if (base == NULL) return NULL;
    if (base->kind == OBJECT_INT)
        return object_int(eval, number_computed(symbol, base->as.integer));
    Value *of_base = stage_cast(eval, stage_value(eval, base), DTYPE_i64), *value = of_base;
    if (symbol->by == 0) {
        value = build2(&eval->builder, OP_add, times(eval, value, symbol->scale),
                       build_const(&eval->builder, DTYPE_i64, symbol->offset));
    } else {
        value = build2(&eval->builder, OP_floordiv, value,
                       build_const(&eval->builder, DTYPE_i64, symbol->by));
        if (symbol->is_rest)
            value = build2(&eval->builder, OP_sub, of_base, times(eval, value, symbol->by));
    }
    return object_ir(eval, stage_cast(eval, value, symbol->dtype));
}

bool symbol_is_solvable(const Symbol *symbol)
{
    return symbol->other == NULL && symbol->by == 0 && symbol->base->base == NULL;
}

/* Of the extent that it is computed from: the call is refused where there is none. */
void symbol_solve(Eval *eval, const Symbol *symbol, Value *extent)
{
    Value *scale = build_const(&eval->builder, DTYPE_i64, symbol->scale);
    Value *rest = build2(&eval->builder, OP_sub, stage_cast(eval, extent, DTYPE_i64),
                         build_const(&eval->builder, DTYPE_i64, symbol->offset));
    Value *base = build2(&eval->builder, OP_floordiv, rest, scale);
    Value *exact =
        build_cmp(&eval->builder, "eq", build2(&eval->builder, OP_mul, base, scale), rest);
    const char *text =
        arena_printf(eval->arena, "an extent is no '%s' * %lld + %lld", symbol->base->name,
                     (long long)symbol->scale, (long long)symbol->offset);
    op_set_text(build_op(&eval->builder, OP_require, 1, &exact, 0, NULL), ATTR_text,
                intern_text(eval->session->names, text));
    map_set(eval->arena, &eval->staging->symbols, symbol->base->name,
            object_ir(eval, stage_cast(eval, base, symbol->base->dtype)));
}

/* ---- names ---- */

Object *symbol_value(Eval *eval, const Symbol *symbol)
{
    if (symbol->is_number) return object_int(eval, symbol->offset);
    if (symbol->base != NULL) return computed_value(eval, symbol);
    return symbol->name != NULL ? map_get(&eval->staging->symbols, symbol->name) : NULL;
}

const Object *number_ahead(Eval *eval, const Object *extent)
{
    if (extent->kind != OBJECT_SYMBOL || extent->as.symbol->name == NULL) return NULL;
    const Object *number = map_get(&eval->staging->ahead, extent->as.symbol->name);
    return number != NULL && number->kind == OBJECT_INT ? number : NULL;
}

/* In a body that declares its tensors a name stands for its number from the start, which is still
 * that of the extent where it is one; what is known at the call is a parameter. */
static Object *symbol_ahead(Eval *eval, Object *object, Span at)
{
    Staging *staging = eval->staging;
    const Symbol *symbol = object->as.symbol;
    if (staging == NULL || symbol->name == NULL) return object;
    const Object *found = map_get(&staging->ahead, symbol->name);
    Object *known = map_get(&staging->symbols, symbol->name);
    if (found == NULL || symbol->is_key != (found->kind == OBJECT_INT)) return object;
    if (symbol->is_key) {
        Object *number = object_int(eval, found->as.integer);
        number->as.extent = object;
        map_set(eval->arena, &staging->asked, symbol->name, number);
        return number;
    }
    if (known != NULL || !in_host_part(eval)) return object;
    const Type *type = type_scalar(staging->kernel->types, symbol->dtype);
    Object *value = object_ir(eval, kernel_add_parameter(staging->kernel, symbol->name, type, at));
    vec_push(eval->arena, &staging->parameter_arguments, -1);
    map_set(eval->arena, &staging->symbols, symbol->name, value);
    return value;
}

/* symbol(name, dtype, key): an extent that is known later, by its name if it has one. */
Object *core_symbol(Eval *eval, const Bound *bound)
{
    Symbol *symbol = arena_new_of(eval->arena, Symbol);
    *symbol = (Symbol){.dtype = DTYPE_i32, .at = bound->at};
    if (!argument_absent(bound->values[0])) {
        const Object *name = text_argument(eval, bound->values[0], "the name", bound->at);
        if (name == NULL) return NULL;
        symbol->name = intern(eval->session->names, name->as.text.data, name->as.text.length);
    }
    if (!argument_absent(bound->values[1]) &&
        (!argument_dtype(eval, bound->values[1], bound->at, &symbol->dtype) ||
         !dtype_is_integer(symbol->dtype)))
        return FAIL(eval, expected_kind, bound->at, "the type of an extent", "an integer type",
                    object_repr(eval, bound->values[1]));
    if (!argument_absent(bound->values[2]) &&
        !object_truth(eval, bound->values[2], &symbol->is_key))
        return NULL;
    Object *object = object_new(eval, OBJECT_SYMBOL);
    object->as.symbol = symbol;
    return symbol_ahead(eval, object, bound->at);
}

Object *symbol_read(Eval *eval, Object *symbol)
{
    Object *value = eval->staging != NULL ? symbol_value(eval, symbol->as.symbol) : NULL;
    if (value == NULL) return symbol;
    if (symbol->as.symbol->other == NULL || value->kind == OBJECT_INT) return value;
    return object_ir(eval, stage_cast(eval, stage_value(eval, value), symbol->as.symbol->dtype));
}

Object *extent_ahead(Eval *eval, const Object *a, const Object *b)
{
    const bool ahead = eval->staging != NULL && eval->staging->looks_ahead;
    if (!ahead || (a->kind != OBJECT_SYMBOL && b->kind != OBJECT_SYMBOL)) return NULL;
    Object *object = object_new(eval, OBJECT_SYMBOL);
    object->as.symbol = arena_new_of(eval->arena, Symbol);
    return object;
}

bool extent_is_known(Eval *eval, const Object *object, Span at)
{
    if (object->kind != OBJECT_SYMBOL) return true;
    const Symbol *symbol = object->as.symbol;
    while (symbol->base != NULL) {
        const bool has_base =
            symbol->base->is_number || (symbol->other != NULL && eval->staging != NULL &&
                                        symbol_value(eval, symbol->base) != NULL);
        symbol = has_base ? symbol->other : symbol->base;
    }
    const Name name = symbol->name != NULL ? symbol->name : "an extent without a name";
    const char *how = symbol->name == NULL ? "give it one"
                      : symbol->is_key     ? arena_printf(eval->arena,
                                                          ".compile(%s=...) tells it, or a tensor "
                                                              "that is given and has it",
                                                          name)
                                           : "a tensor that the kernel takes has to have it";
    FAIL(eval, unknown_extent, at, name, how);
    return false;
}

void tensors_told_ahead(Eval *eval, const Object *told, Map *ahead)
{
    for (size_t i = 0; told != NULL && i < told->as.dict.keys.count; i++) {
        const Object *name = told->as.dict.keys.data[i];
        map_set(eval->arena, ahead,
                intern(eval->session->names, name->as.text.data, name->as.text.length),
                told->as.dict.values.data[i]);
    }
}

void tensor_look_ahead(Eval *eval, const TensorType *tensor, const Object *key)
{
    Map *ahead = &eval->staging->ahead;
    const bool is_given = key != NULL && key->kind == OBJECT_TUPLE;
    for (int i = 0; i < tensor->rank * (tensor->is_strided ? 2 : 1); i++) {
        const int dim = i % tensor->rank;
        const Object *extent = i < tensor->rank ? tensor->shape[dim] : tensor->strides[dim];
        if (extent->kind != OBJECT_SYMBOL || extent->as.symbol->name == NULL) continue;
        const Name name = extent->as.symbol->name;
        const Object *known = is_given ? key->as.list.items[i < tensor->rank ? 1 : 2] : eval->none;
        const bool has = known->kind == OBJECT_TUPLE && (int)known->as.list.count == tensor->rank;
        if (map_has(ahead, name)) continue;
        if (!extent->as.symbol->is_key)
            map_set(eval->arena, ahead, name, eval->none);
        else if (has)
            map_set(eval->arena, ahead, name, known->as.list.items[dim]);
    }
}

/* ---- extents of what a kernel allocates ---- */

typedef struct Allocations {
    Eval *eval;
    const Function *function;
    bool found;
} Allocations;

/* Names in a shape. */
static void make_keys(void *context, const Node *node)
{
    Allocations *all = context;
    node_visit_children(node, make_keys, all);
    if (node->kind != NODE_Name) return;
    bool found;
    const Object *object = scope_lookup(all->eval, all->function->closure, NODE_AS(Name, node)->id,
                                        node->span, &found);
    if (object == NULL || object->kind != OBJECT_SYMBOL || object->as.symbol->name == NULL) return;
    if (!object->as.symbol->is_key) object->as.symbol->is_asked = true;
    object->as.symbol->is_key = true;
    all->found = true;
}

static void find_allocations(void *context, const Node *node)
{
    static const char PREFIX[] = "alloc_";
    Allocations *all = context;
    node_visit_children(node, find_allocations, all);
    if (node->kind != NODE_Call || NODE_AS(Call, node)->args.count == 0) return;
    const Node *called = NODE_AS(Call, node)->func, *shape = NODE_AS(Call, node)->args.items[0];
    if (called->kind == NODE_Attribute &&
        strncmp(NODE_AS(Attribute, called)->attr, PREFIX, sizeof PREFIX - 1) == 0)
        shape->kind == NODE_Name ? make_keys(all, shape)
                                 : node_visit_children(shape, make_keys, all);
}

/* key_extents(function): of the extents that are known at a call those that the shapes of what the
 * function allocates name become keys; whether there are any. */
Object *core_key_extents(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0];
    if (function->kind != OBJECT_FUNCTION) return eval->no;
    Allocations all = {.eval = eval, .function = &function->as.function};
    eval->quiet++;
    node_visit_children(function->as.function.node, find_allocations, &all);
    eval->quiet--;
    return object_bool(eval, all.found);
}
