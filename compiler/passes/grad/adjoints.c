/* adjoints.c: adjoints of values: where they are kept, and how they grow. */
#include "passes/grad/grad.h"

DType adjoint_dtype(DType dtype)
{
    return dtype_bits(dtype) == 64 ? DTYPE_f64 : DTYPE_f32;
}

bool is_differentiable(const Value *value)
{
    const TypeKind kind = value->type->kind;
    return (kind == TYPE_SCALAR || kind == TYPE_TILE) && dtype_is_float(value->type->dtype);
}

bool takes_adjoint(const Value *value)
{
    const TypeKind kind = value->type->kind;
    return (kind == TYPE_SCALAR || kind == TYPE_TILE) && value->type->dtype != DTYPE_b1;
}

const Type *adjoint_type(Grad *grad, const Value *value)
{
    return type_with_dtype(grad->kernel->types, value->type, adjoint_dtype(value->type->dtype));
}

Value *replayed(Grad *grad, const Value *value)
{
    Value *known = map_get(&grad->primal, value);
    return known ? known : (Value *)(uintptr_t)value; /* a parameter */
}

Value *primal(Grad *grad, const Value *value)
{
    return build_cast(&grad->builder, adjoint_dtype(value->type->dtype), replayed(grad, value));
}

Value *spread(Grad *grad, const Type *type, Value *scalar)
{
    if (type->kind != TYPE_TILE) return scalar;
    type = type_with_dtype(grad->kernel->types, type, scalar->type->dtype);
    return build_op(&grad->builder, OP_splat, 1, &scalar, 1, &type)->results;
}

Value *number_of(Grad *grad, const Type *type, double number)
{
    return spread(grad, type, build_number(&grad->builder, type->dtype, number));
}

Value *integer_of(Grad *grad, const Type *type, int64_t number)
{
    return spread(grad, type, build_const(&grad->builder, type->dtype, number));
}

Value *trips_of(Builder *builder, Value *begin, Value *end, Value *step)
{
    const DType dtype = begin->type->dtype;
    Value *zero = build_const(builder, dtype, 0);
    if (value_is_constant(begin, 0) && value_is_constant(step, 1))
        return build2(builder, OP_max, end, zero);
    Value *span = build2(builder, OP_add, build2(builder, OP_sub, end, begin), step);
    span = build2(builder, OP_sub, span, build_const(builder, dtype, 1));
    return build2(builder, OP_max, build2(builder, OP_floordiv, span, step), zero);
}

bool scalar_depends(const Grad *grad, const Value *value)
{
    return map_has(&grad->depends, value);
}

/* ---- sums ---- */

/* A product that was added to nothing yet is added to the sum. */
static bool joins(Value *sum, Value *product)
{
    Op *dot = product->op;
    if (!dot || dot->code != OP_dot || product->use_count || sum->type != product->type ||
        !value_is_zero(operand(dot, c)))
        return false;
    op_set_operand(dot, operand_index(dot, c), sum);
    return true;
}

/* Whether the value is there where the op is. */
static bool stands_before(const Value *value, const Op *op)
{
    const Region *home = value_home(value);
    if (!home || !region_holds(home, op->parent)) return !home;
    return !value->op || home != op->parent || op_comes_before(value->op, op);
}

Value *value_sum(Grad *grad, Value *a, Value *b)
{
    if (!a || !b) return a ? a : b;
    if (value_is_zero(a)) return b;
    if (b->op && stands_before(a, b->op) && joins(a, b)) return b;
    return build2(&grad->builder, OP_add, a, b);
}

/* ---- adjoints ---- */

void scope_open(Grad *grad, Scope *scope)
{
    *scope = (Scope){.outer = grad->scope};
    grad->scope = scope;
}

void scope_close(Grad *grad)
{
    grad->scope = grad->scope->outer;
}

/* Numbers of the program's text, and of its caller's. */
static bool is_given(const Value *value)
{
    return value->op ? value->op->code == OP_const : !value->region;
}

void give(Grad *grad, Value *value, Part part, Value *adjoint)
{
    if (!adjoint || !takes_adjoint(value) || is_given(value)) return;
    adjoint = build_cast(&grad->builder, adjoint_dtype(value->type->dtype), adjoint);
    Adjoint *both = map_get(&grad->scope->adjoints, value);
    if (!both) {
        both = arena_new_of(grad->arena, Adjoint);
        map_set(grad->arena, &grad->scope->adjoints, value, both);
        vec_push(grad->arena, &grad->scope->touched, value);
    }
    both->parts[part] = value_sum(grad, both->parts[part], adjoint);
}

/* Where threads have different values it is one of them whose value was taken. */
void give_total(Grad *grad, Value *value, Value *adjoint)
{
    if (!adjoint || !takes_adjoint(value)) return;
    if (!scalar_depends(grad, value)) {
        give(grad, value, PART_TOTAL, adjoint);
        return;
    }
    Value *zero = build_const(&grad->builder, DTYPE_i32, 0);
    Value *first = build_cmp(&grad->builder, "eq", thread_of(grad), zero);
    Value *none = number_of(grad, adjoint->type, 0);
    give(grad, value, PART_OWN, build3(&grad->builder, OP_select, first, adjoint, none));
}

void give_both(Grad *grad, Value *value, Adjoint both)
{
    give_total(grad, value, both.parts[PART_TOTAL]);
    give(grad, value, PART_OWN, both.parts[PART_OWN]);
}

Adjoint take_adjoint(Grad *grad, const Value *value)
{
    Adjoint *both = map_get(&grad->scope->adjoints, value);
    const Adjoint taken = both ? *both : (Adjoint){0};
    if (both) *both = (Adjoint){0};
    return taken;
}

bool adjoint_is_none(Adjoint both)
{
    return !both.parts[PART_TOTAL] && !both.parts[PART_OWN];
}

/* ---- sums over threads ---- */

Value *thread_of(Grad *grad)
{
    return build(&grad->builder, OP_thread_id, 0, NULL);
}

/* In the order of the threads' numbers, always the same one. Threads beyond the launch's end have
 * nothing to add. */
static Value *sum_over_threads(Grad *grad, Value *own)
{
    Builder *builder = &grad->builder;
    TypeTable *types = grad->kernel->types;
    const DType dtype = own->type->dtype;
    const Type *shared = type_shared(types, dtype, 1, &grad->threads, NULL);
    const Type *each = type_tile(types, dtype, 1, &grad->threads, NULL);
    Value *memory = build_op(builder, OP_shared_alloc, 0, NULL, 1, &shared)->results;
    build2(builder, OP_shared_store, memory, number_of(grad, each, 0));
    build_op(builder, OP_element_store, 3, (Value *[]){memory, own, thread_of(grad)}, 0, NULL);
    Value *tile = build1(builder, OP_shared_load, memory);
    const int64_t one = 1, dim = 0;
    const Type *type = type_tile(types, dtype, 1, &one, NULL);
    Op *reduce = build_op(builder, OP_reduce, 1, &tile, 1, &type);
    op_set_ints(reduce, ATTR_dims, 1, &dim);
    op_set_text(reduce, ATTR_mode, intern_text(grad->kernel->session->names, "add"));
    return build1(builder, OP_item, reduce->results);
}

Value *whole_adjoint(Grad *grad, Adjoint both)
{
    Value *own = both.parts[PART_OWN];
    return value_sum(grad, both.parts[PART_TOTAL], own ? sum_over_threads(grad, own) : NULL);
}

void grad_refuse(Grad *grad, const Op *op, const char *why)
{
    if (grad->failed) return;
    grad->failed = true;
    diag_report(grad->kernel->session->diags, DIAG_not_differentiable, op->span,
                op_info(op->code)->name, why);
}
