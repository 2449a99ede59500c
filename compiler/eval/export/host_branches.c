/* host_branches.c: branches of the host part. What stands in one is done either way, since it is
 * arithmetic, and chosen from afterwards: the host region is straight-line code again. A launch of
 * the way that is not taken has no blocks, a requirement of it always holds. */
#include "eval/export/export.h"

typedef struct Variable {
    Value *variable, *value; /* NULL: nothing yet */
} Variable;

typedef VEC(Variable) VariableVec;

typedef struct Flatten {
    Eval *eval;
    VariableVec variables;
    Map known;       /* what a var_get gives -> its value */
    VEC(Op *) spent; /* whose uses are gone once `known` has been put in */
    bool failed;
} Flatten;

static Variable *variable_of(const Flatten *flatten, const Value *value)
{
    for (size_t i = 0; i < flatten->variables.count; i++)
        if (flatten->variables.data[i].variable == value) return &flatten->variables.data[i];
    return NULL;
}

static void read_variable(Op *op, void *context)
{
    Flatten *flatten = context;
    if (op->code != OP_var_get) return;
    const Variable *variable = variable_of(flatten, operand(op, variable));
    if (variable == NULL) return;
    Builder builder = builder_before(op);
    const Type *type = op->results[0].type;
    Value *value = variable->value;
    if (value == NULL && type->kind != TYPE_SCALAR) { /* a tile, which a launch alone has */
        FAIL(flatten->eval, outside_launch, op->span);
        flatten->failed = true;
        return;
    }
    if (value == NULL)
        value = dtype_is_float(type->dtype) ? build_number(&builder, type->dtype, 0)
                                            : build_const(&builder, type->dtype, 0);
    map_set(flatten->eval->arena, &flatten->known, &op->results[0], value);
    vec_push(flatten->eval->arena, &flatten->spent, op);
}

static Value *zero_of(Builder *builder, const Value *value)
{
    return build_const(builder, value->type->dtype, 0);
}

/* What a host op does on the way of `path`. */
static void guard(Op *op, Value *path)
{
    Builder builder = builder_before(op);
    if (op->code == OP_launch || op->code == OP_workspace_size) {
        const int size = op->code == OP_launch ? operand_index(op, x) : operand_index(op, bytes);
        Value *zero = zero_of(&builder, op->operands[size]);
        op_set_operand(op, size, build3(&builder, OP_select, path, op->operands[size], zero));
    } else if (op->code == OP_require) {
        Value *condition = operand(op, condition);
        op_set_operand(op, operand_index(op, condition),
                       build2(&builder, OP_or, build1(&builder, OP_not, path), condition));
    }
}

static void flatten_region(Flatten *flatten, Region *region, Op *before, Value *path);

static Value *choose(Flatten *flatten, Builder *builder, Value *condition, Value *a, Value *b,
                     const Value *variable)
{
    if (a == NULL || a == b) return b;
    if (b == NULL) return a;
    if (a->type == b->type && a->type->kind == TYPE_SCALAR)
        return build3(builder, OP_select, condition, a, b);
    FAIL(flatten->eval, host_choice, builder->span,
         variable->name != NULL ? variable->name : "this value");
    flatten->failed = true;
    return a;
}

static void flatten_if(Flatten *flatten, Op *op, Op *before, Value *path)
{
    Arena *arena = flatten->eval->arena;
    Value *condition = operand(op, condition);
    VariableVec start = {0}, ends[2] = {{0}, {0}};
    for (size_t i = 0; i < flatten->variables.count; i++)
        vec_push(arena, &start, flatten->variables.data[i]);
    for (int i = 0; i < 2; i++) {
        Builder builder = builder_before(before);
        Value *way = i == 0 ? condition : build1(&builder, OP_not, condition);
        if (path != NULL) way = build2(&builder, OP_and, path, way);
        for (size_t j = 0; j < start.count; j++) flatten->variables.data[j] = start.data[j];
        flatten_region(flatten, op->regions[i], before, way);
        for (size_t j = 0; j < start.count; j++)
            vec_push(arena, &ends[i], flatten->variables.data[j]);
    }
    Builder builder = builder_before(before);
    builder.span = op->span;
    for (size_t j = 0; j < start.count; j++)
        flatten->variables.data[j].value =
            choose(flatten, &builder, condition, ends[0].data[j].value, ends[1].data[j].value,
                   start.data[j].variable);
    vec_push(arena, &flatten->spent, op);
}

static void flatten_op(Flatten *flatten, Op *op, Op *before, Value *path)
{
    Arena *arena = flatten->eval->arena;
    if (before != NULL && op->code != OP_if) op_move_before(op, before);
    switch ((int)op->code) {
    case OP_if: flatten_if(flatten, op, before != NULL ? before : op, path); break;
    case OP_var: {
        Variable variable = {&op->results[0], operand_given(op, init)};
        vec_push(arena, &flatten->variables, variable);
        vec_push(arena, &flatten->spent, op);
        break;
    }
    case OP_var_set: {
        Variable *variable = variable_of(flatten, operand(op, variable));
        if (variable != NULL) variable->value = operand(op, value);
        vec_push(arena, &flatten->spent, op);
        break;
    }
    case OP_assume: /* of one way alone: its requirement stays */
        if (path != NULL) vec_push(arena, &flatten->spent, op);
        break;
    case OP_launch: region_visit(launch_region(op), read_variable, flatten); break;
    default: read_variable(op, flatten);
    }
    if (path != NULL) guard(op, path);
}

static void flatten_region(Flatten *flatten, Region *region, Op *before, Value *path)
{
    for (Op *op = region->first, *next; op != NULL; op = next) {
        next = op->next;
        if (op->code != OP_yield) flatten_op(flatten, op, before, path);
    }
}

bool host_branches_flatten(Eval *eval, Kernel *kernel)
{
    Flatten flatten = {.eval = eval};
    flatten_region(&flatten, kernel->host, NULL, NULL);
    region_replace(kernel->host, &flatten.known);
    for (size_t i = flatten.spent.count; i-- > 0;)
        if (flatten.spent.data[i]->code != OP_var ||
            flatten.spent.data[i]->results[0].use_count == 0)
            op_erase(flatten.spent.data[i]);
    return !flatten.failed;
}
