/* infer.c: the result type of ops whose operands determine it. */
#include "ir/ir.h"

/* One type for elements of one shape; where the layouts differ, none is chosen yet. */
static const Type *join_elements(TypeTable *types, int count, Value *const *operands)
{
    const Type *joined = operands[0]->type;
    for (int i = 1; i < count; i++) {
        const Type *other = operands[i]->type;
        if (other->kind != joined->kind || other->dtype != joined->dtype ||
            !type_same_shape(other, joined))
            return NULL;
        if (other->layout != joined->layout) joined = type_with_layout(types, joined, NULL);
    }
    return joined;
}

static const Type *infer_cmp(TypeTable *types, int count, Value *const *operands)
{
    const Type *joined = join_elements(types, count, operands);
    return joined == NULL ? NULL : type_with_dtype(types, joined, DTYPE_b1);
}

static const Type *infer_select(TypeTable *types, int count, Value *const *operands)
{
    const Type *condition = operands[0]->type;
    const Type *joined = join_elements(types, count - 1, operands + 1);
    if (joined == NULL || condition->dtype != DTYPE_b1 || condition->kind != joined->kind ||
        !type_same_shape(condition, joined))
        return NULL;
    return condition->layout == joined->layout ? joined : type_with_layout(types, joined, NULL);
}

static const Type *infer_vec_pack(TypeTable *types, int count, Value *const *operands)
{
    if (count == 0 || join_elements(types, count, operands) == NULL) return NULL;
    return type_vector(types, operands[0]->type->dtype, count);
}

/* Sums and bytes differ in type; where the layouts differ, none is chosen yet. */
static const Type *infer_dp4a(TypeTable *types, int count, Value *const *operands)
{
    const Type *sum = operands[0]->type;
    for (int i = 1; i < count; i++) {
        const Type *byte = operands[i]->type;
        if (byte->kind != sum->kind || !type_same_shape(byte, sum)) return NULL;
        if (byte->layout != sum->layout) sum = type_with_layout(types, sum, NULL);
    }
    return sum;
}

/* Operands that do not fit the row have no type; the counts are checked before their kinds are
 * read. */
static bool operands_fit(OpCode code, int count)
{
    const char *letters = op_info(code)->operands;
    int least = 0;
    for (; letters[least] != '\0'; least++)
        if (letters[least] == '*') return count >= least - 1;
    return count == least;
}

const Type *infer_type(TypeTable *types, OpCode code, int operand_count, Value *const *operands)
{
    if (!operands_fit(code, operand_count)) return NULL;
    switch ((int)code) { /* the ops that are named have a rule of their own */
    case OP_cmp: return infer_cmp(types, operand_count, operands);
    case OP_select: return infer_select(types, operand_count, operands);
    case OP_dp4a: return infer_dp4a(types, operand_count, operands);
    case OP_cast: return NULL;
    case OP_ptr_add: return operands[0]->type;
    case OP_block_idx:
    case OP_grid_dim:
    case OP_cluster_rank:
    case OP_thread_id: return type_scalar(types, DTYPE_i32);
    case OP_var_get: return operands[0]->type->content;
    case OP_scan: return operands[0]->type;
    case OP_item: return type_scalar(types, operands[0]->type->dtype);
    case OP_dot_shared:
    case OP_dot_slices:
    case OP_dot: return operands[2]->type;
    case OP_shared_peer: return operands[0]->type;
    case OP_cluster_address: return type_pointer(types, operands[0]->type->dtype, SPACE_CLUSTER);
    case OP_shared_load:
        return type_tile(types, operands[0]->type->dtype, operands[0]->type->rank,
                         operands[0]->type->shape, NULL);
    case OP_vec_pack: return infer_vec_pack(types, operand_count, operands);
    case OP_vec_get: return type_scalar(types, operands[0]->type->dtype);
    case OP_redux:
    case OP_shuffle:
    case OP_check_index: return operands[0]->type;
    case OP_vote: return type_scalar(types, DTYPE_u32);
    case OP_consumer_try_wait:
    case OP_elect: return type_scalar(types, DTYPE_b1);
    case OP_element_load:
    case OP_element_atomic: return type_scalar(types, operands[0]->type->dtype);
    default: break;
    }
    return op_info(code)->traits & ELEM ? join_elements(types, operand_count, operands) : NULL;
}
