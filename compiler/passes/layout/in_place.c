/* in_place.c: operands of a dot that it can read where they lie in shared memory. */
#include "passes/analysis/access.h"
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"
#include "target/cost.h"

static bool is_write(const Op *op, const void *context)
{
    (void)context;
    return !op->region_count && op_has(op, WRITES) && op->code != OP_copy_commit;
}

/* Nothing is written between the load and the dot, so that the dot may read in its place. */
static bool is_still_there(Op *load, const Op *dot)
{
    if (load->parent != dot->parent) return false;
    for (const Op *op = load; op && op != dot; op = op->next)
        if (op_find_within(op, is_write, NULL)) return false;
    return true;
}

bool find_in_place(const Op *dot, DotOperand operand, InPlace *out)
{
    *out = (InPlace){0};
    Op *load = op_unswapped(operand_list(dot, a)[operand]->op, &out->transposed);
    if (!load || load->code != OP_shared_load || !is_still_there(load, dot)) return false;
    out->tile = operand(load, tile);
    return true;
}

Value *build_in_place(const Kernel *kernel, Builder *builder, const InPlace *place)
{
    const Type *type = place->tile->type;
    if (!place->transposed) return place->tile;
    const int64_t shape[2] = {type->shape[1], type->shape[0]}, dims[2] = {1, 0};
    Value *zero = build_const(builder, DTYPE_i32, 0);
    const Type *turned = type_shared(kernel->types, type->dtype, 2, shape, NULL);
    Op *view =
        build_op(builder, OP_shared_view, 3, (Value *[]){place->tile, zero, zero}, 1, &turned);
    op_set_ints(view, ATTR_dims, 2, dims);
    return &view->results[0];
}

/* What both operands would take of a thread's registers, which need all of k, where the sums lie as
 * they do if nothing else is asked for. */
static int64_t operand_registers(const Kernel *kernel, const Op *dot)
{
    const Type *c = operand(dot, c)->type;
    const int32_t shape[2] = {(int32_t)c->shape[0], (int32_t)c->shape[1]};
    const int dim_order[2] = {1, 0};
    int64_t words = 0;
    const Layout *sums =
        layout_blocked(kernel->layouts, 2, shape, dim_order, 1, group_warps(op_threads(dot)));
    for (int o = 0; o < 2; o++) {
        const Type *type = operand_list(dot, a)[o]->type;
        const Layout *layout =
            layout_fma_operand(kernel->layouts, sums, (int32_t)type->shape[1 - o], o, false);
        words += ((int64_t)layout_registers(layout) * dtype_bits(type->dtype) + 31) / 32;
    }
    return words;
}

/* A copy in shared memory of what is in registers. */
static InPlace put_in_place(const Kernel *kernel, Op *dot, DotOperand number)
{
    Value *value = operand_list(dot, a)[number];
    const Type *type = type_shared(kernel->types, value->type->dtype, 2, value->type->shape, NULL);
    Builder builder = builder_before(dot);
    Value *tile = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
    build_op(&builder, OP_shared_store, 2, (Value *[]){tile, value}, 0, NULL);
    return (InPlace){.tile = tile};
}

static bool fits_shared(const Target *target, const Op *dot)
{
    const Type *a = operand(dot, a)->type, *b = operand(dot, b)->type;
    return dtype_memory_bytes(a->dtype, type_elements(a)) +
               dtype_memory_bytes(b->dtype, type_elements(b)) <=
           target->shared_bytes / 2;
}

/* ---- a few of k at a time ---- */

/* A thread's multiply-adds, one behind the other. */
static bool is_long(const Op *dot)
{
    const Type *c = dot->results[0].type;
    const int64_t sums = type_elements(c) / op_threads(dot).count;
    return sums * operand(dot, a)->type->shape[1] > COST_STRAIGHT_PRODUCTS;
}

/* Of k, from `first` on. */
static Value *part_along_k(Builder *builder, Value *tile, DotOperand number, Value *first)
{
    const int k = number == DOT_A ? 1 : 0;
    int64_t shape[2] = {tile->type->shape[0], tile->type->shape[1]};
    const int64_t dims[2] = {0, 1};
    Value *operands[3] = {tile, build_const(builder, DTYPE_i32, 0),
                          build_const(builder, DTYPE_i32, 0)};
    shape[k] = COST_ROLLED_DEPTH;
    operands[1 + k] = first;
    const Type *part = type_shared(builder->kernel->types, tile->type->dtype, 2, shape, NULL);
    Op *view = build_op(builder, OP_shared_view, 3, operands, 1, &part);
    op_set_ints(view, ATTR_dims, 2, dims);
    return &view->results[0];
}

static Op *build_slices(Builder *builder, Value *a, Value *b, Value *c)
{
    return build_op(builder, OP_dot_slices, 3, (Value *[]){a, b, c}, 1, &c->type);
}

/* What is read is read in its iteration then, and ptxas looks at less at a time. */
static Op *build_rolled(Builder *builder, Value *a, Value *b, Value *c)
{
    Value *operands[4] = {build_const(builder, DTYPE_i32, 0),
                          build_const(builder, DTYPE_i32, a->type->shape[1]),
                          build_const(builder, DTYPE_i32, COST_ROLLED_DEPTH), c};
    Op *loop = loop_build(builder, 4, operands);
    op_set_int(loop, ATTR_unroll, 1);
    Region *body = loop->regions[0];
    Builder at = builder_at_end(body, builder->span);
    Value *k = body->arguments[0];
    Value *part_a = part_along_k(&at, a, DOT_A, k), *part_b = part_along_k(&at, b, DOT_B, k);
    Value *sums = build_slices(&at, part_a, part_b, body->arguments[1])->results;
    build_op(&at, OP_yield, 1, &sums, 0, NULL);
    return loop;
}

bool choose_slices(Kernel *kernel, const Target *target, Op *dot)
{
    InPlace a, b;
    if (operand(dot, c)->type->rank != 2) return false;
    const bool is_a = find_in_place(dot, DOT_A, &a), is_b = find_in_place(dot, DOT_B, &b);
    if (!is_a || !is_b) {
        if (operand_registers(kernel, dot) <= target->registers_per_thread ||
            !fits_shared(target, dot))
            return false;
        /* what is in place is no more where the other one is stored */
        a = put_in_place(kernel, dot, DOT_A);
        b = put_in_place(kernel, dot, DOT_B);
    }
    Builder builder = builder_before(dot);
    Value *from_a = build_in_place(kernel, &builder, &a),
          *from_b = build_in_place(kernel, &builder, &b), *c = operand(dot, c);
    const bool may_roll = is_long(dot) && from_a->type->shape[1] % COST_ROLLED_DEPTH == 0;
    if (may_roll) kernel->uses |= MAY_UNROLL;
    Op *slices = may_roll && !target_has(target, MAY_UNROLL)
                     ? build_rolled(&builder, from_a, from_b, c)
                     : build_slices(&builder, from_a, from_b, c);
    slices->results[0].name = dot->results[0].name;
    value_replace(&dot->results[0], &slices->results[0]);
    op_erase(dot);
    return true;
}
