/* rules.c: the verifier's rules of single ops, one function an op; ops without one have none beside
 * their row and their traits. */
#include "ir/mma.h"
#include "ir/verify/rules.h"

#include <math.h>
#include <string.h>

bool types_agree(const Kernel *kernel, const Type *a, const Type *b)
{
    if (a == b) return true;
    if (kernel->stage >= STAGE_LAID_OUT || a->kind != b->kind || a->dtype != b->dtype) return false;
    if (a->kind == TYPE_VAR) return types_agree(kernel, a->content, b->content);
    return (a->kind == TYPE_TILE || a->kind == TYPE_SHARED) && type_same_shape(a, b);
}

/* ---- values ---- */

bool rule_const(const Check *check)
{
    DType dtype = result_type(check)->dtype;
    const Attr *value = op_attr(check->op, ATTR_value), *number = op_attr(check->op, ATTR_number);
    if (!dtype_is_float(dtype))
        return require(check, value != NULL && number == NULL,
                       "an integer constant has {value} alone") &&
               require(check, dtype_wrap(dtype, value->integer) == value->integer,
                       "{value} is out of the type's range");
    if (!require(check, number != NULL && value == NULL, "a float constant has {number} alone"))
        return false;
    double rounded = dtype_decode(dtype, dtype_encode(dtype, number->number));
    return require(check, isnan(number->number) || rounded == number->number,
                   "{number} is no number of the type");
}

/* Elementwise ops have one shape, and one layout once layouts are chosen. */
static bool check_shapes(const Check *check)
{
    const Op *op = check->op;
    const Type *result = result_type(check);
    for (int i = 0; i < op->operand_count; i++) {
        const Type *type = operand_type_at(check, i);
        if (type->kind != result->kind || !type_same_shape(type, result))
            return broken(check, "operands and result differ in shape");
        if (check->kernel->stage >= STAGE_LAID_OUT && type->layout != result->layout)
            return broken(check, "operands and result differ in layout");
    }
    return true;
}

static bool check_dtypes(const Check *check, int first)
{
    for (int i = first; i < check->op->operand_count; i++)
        if (operand_type_at(check, i)->dtype != operand_type_at(check, first)->dtype)
            return broken(check, "operands differ in element type");
    return true;
}

static bool check_uniform(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, 0) &&
           require(check, result_type(check)->dtype == operand_type_at(check, 0)->dtype,
                   "the result has the operands' element type");
}

static bool check_arithmetic(const Check *check)
{
    return check_uniform(check) && require(check, result_type(check)->dtype != DTYPE_b1,
                                           "booleans have no arithmetic; cast them");
}

static bool check_bits(const Check *check)
{
    return check_uniform(check) && require(check, !dtype_is_float(result_type(check)->dtype),
                                           "floats have no bits of their own; bitcast them");
}

static bool check_shift(const Check *check)
{
    return check_uniform(check) &&
           require(check, dtype_is_integer(result_type(check)->dtype), "only integers are shifted");
}

static bool check_integers(const Check *check)
{
    return check_uniform(check) &&
           require(check, dtype_is_integer(result_type(check)->dtype), "the operands are integers");
}

static bool check_floats(const Check *check)
{
    return check_uniform(check) &&
           require(check, dtype_is_float(result_type(check)->dtype), "the operands are floats");
}

static bool check_approx(const Check *check)
{
    const int count = is_one_of(check->op, ATTR_function, "div") ? 2 : 1;
    return check_uniform(check) &&
           require(check, result_type(check)->dtype == DTYPE_f32, "the operands are f32") &&
           require(check,
                   is_one_of(check->op, ATTR_function,
                             "ex2 lg2 rcp sqrt rsqrt sin cos tanh div exp exp2"),
                   "{function} is ex2, lg2, rcp, sqrt, rsqrt, sin, cos, tanh, div, exp or exp2") &&
           require(check, check->op->operand_count == count,
                   "div has two operands, the others one");
}

static bool check_dp4a(const Check *check)
{
    const DType sum = result_type(check)->dtype;
    if (!check_shapes(check) ||
        !require(check, check->op->operand_count == 1 + 2 * DP4A_BYTES, "a sum and eight bytes") ||
        !require(check, sum == DTYPE_i32 || sum == DTYPE_u32, "the sum is an i32 or a u32") ||
        !require(check, operand_type(check, c)->dtype == sum, "the result has the sum's type"))
        return false;
    for (int i = 1; i < check->op->operand_count; i++) {
        const DType byte = operand_type_at(check, i)->dtype;
        if (byte != operand_type_at(check, (i - 1) / DP4A_BYTES * DP4A_BYTES + 1)->dtype ||
            (byte != DTYPE_i8 && byte != DTYPE_u8))
            return broken(check, "each four bytes are all i8 or all u8");
    }
    return true;
}

static bool check_cmp(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, operand_index(check->op, a)) &&
           require(check, result_type(check)->dtype == DTYPE_b1, "the result is boolean") &&
           require(check, is_one_of(check->op, ATTR_predicate, "eq ne lt le gt ge"),
                   "{predicate} is eq, ne, lt, le, gt or ge");
}

static bool check_select(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, operand_index(check->op, a)) &&
           require(check, operand_type(check, condition)->dtype == DTYPE_b1,
                   "the condition is boolean") &&
           require(check, result_type(check)->dtype == operand_type(check, a)->dtype,
                   "the result has the operands' element type");
}

/* -1 for what has no bits to see. */
static int64_t bits_of(const Type *type)
{
    switch (type->kind) {
    case TYPE_POINTER: return 64;
    case TYPE_SCALAR:
    case TYPE_VECTOR:
    case TYPE_TILE: {
        int64_t bits;
        return __builtin_mul_overflow(type_elements(type), (int64_t)dtype_bits(type->dtype), &bits)
                   ? -1
                   : bits;
    }
    case TYPE_VIEW:
    case TYPE_SHARED:
    case TYPE_LOCAL:
    case TYPE_VAR: break;
    }
    return -1;
}

static bool check_bitcast(const Check *check)
{
    const Type *from = operand_type(check, a), *to = result_type(check);
    bool tiles = type_is_tile(from) || type_is_tile(to);
    return require(check, bits_of(from) >= 0 && bits_of(from) == bits_of(to), "the sizes differ") &&
           require(check,
                   !tiles || (type_is_tile(from) && type_is_tile(to) && type_same_shape(from, to)),
                   "a tile keeps its shape") &&
           require(check,
                   !tiles || check->kernel->stage < STAGE_LAID_OUT || from->layout == to->layout,
                   "a tile keeps its layout");
}

/* ---- pointers ---- */

static bool check_ptr_add(const Check *check)
{
    return require(check, result_type(check) == operand_type(check, pointer),
                   "the result has the pointer's type") &&
           require(check, dtype_is_integer(operand_type(check, index)->dtype),
                   "the index is an integer");
}

static bool check_with_adjoint(const Check *check)
{
    return require(check, result_type(check) == operand_type(check, pointer),
                   "the result has the pointer's type") &&
           require(check, operand_type(check, address)->dtype == DTYPE_i64,
                   "the address is an i64");
}

static bool check_ptr_cast(const Check *check)
{
    return require(check, result_type(check)->space == operand_type(check, pointer)->space,
                   "the address space stays");
}

/* ---- one thread ---- */

static bool check_local_base(const Check *check)
{
    return require(check, result_type(check)->space == SPACE_LOCAL,
                   "the address is in the thread's own memory") &&
           require(check, in_range(check->op, ATTR_bytes, 1, 1 << 24), "{bytes} is missing");
}

static bool check_check_index(const Check *check)
{
    return check_integers(check);
}

static bool check_shared_base(const Check *check)
{
    return require(check, result_type(check)->space == SPACE_SHARED,
                   "the address is in shared memory") &&
           require(check, in_range(check->op, ATTR_offset, 0, INT32_MAX), "{offset} is missing");
}

static bool check_word(const Check *check, const Type *word)
{
    const Op *op = check->op;
    const int predicate = operand_index(op, predicate);
    return require(check, word->kind == TYPE_SCALAR || word->kind == TYPE_VECTOR,
                   "a scalar or a vector is moved") &&
           require(check, word->dtype == operand_type(check, pointer)->dtype,
                   "the pointer is to another element type") &&
           require(check, op->operand_count <= predicate + 1, "there is one predicate at most") &&
           require(check,
                   op->operand_count == predicate ||
                       operand_type_at(check, predicate)->dtype == DTYPE_b1,
                   "the predicate is boolean");
}

static bool check_ld(const Check *check)
{
    return check_word(check, result_type(check));
}

static bool check_st(const Check *check)
{
    return check_word(check, operand_type(check, value));
}

static bool check_bits_of_byte(const Check *check, DType number)
{
    const Op *op = check->op;
    const Value *predicate = operand_given(op, predicate);
    return require(check, dtype_is_packed(number), "the number has less than a byte") &&
           require(check, operand_type(check, pointer)->dtype == DTYPE_u8,
                   "the pointer is to a byte") &&
           require(check, operand_type(check, bit)->dtype == DTYPE_i32, "the bit is an i32") &&
           require(check, op->operand_count <= operand_index(op, predicate) + 1,
                   "there is one predicate at most") &&
           require(check, predicate == NULL || predicate->type->dtype == DTYPE_b1,
                   "the predicate is boolean");
}

static bool check_ld_bits(const Check *check)
{
    return check_bits_of_byte(check, result_type(check)->dtype);
}

static bool check_st_bits(const Check *check)
{
    return check_bits_of_byte(check, operand_type(check, value)->dtype);
}

static bool check_vec_cast(const Check *check)
{
    const Type *from = operand_type(check, vector), *to = result_type(check);
    const int from_bits = dtype_bits(from->dtype), to_bits = dtype_bits(to->dtype);
    const int narrower = from_bits < to_bits ? from_bits : to_bits;
    return require(check, from->count == to->count, "the vector has another length") &&
           require(check, dtype_is_float(to->dtype), "the result is of floats") &&
           require(check, from->count * narrower <= 32,
                   "the narrower of the vectors is a word at most");
}

static bool check_vec_pack(const Check *check)
{
    return require(check, check->op->operand_count == result_type(check)->count,
                   "the vector has another length") &&
           check_dtypes(check, operand_index(check->op, elements)) && rule_same_dtype(check);
}

static bool check_vec_get(const Check *check)
{
    return rule_same_dtype(check) &&
           require(
               check,
               in_range(check->op, ATTR_index, 0, (int64_t)operand_type(check, vector)->count - 1),
               "{index} is not within the vector");
}

static bool check_shuffle(const Check *check)
{
    return require(check, result_type(check) == operand_type(check, value), "the type changes") &&
           require(check, dtype_bits(result_type(check)->dtype) == 32, "the value has 32 bits") &&
           require(check, dtype_is_integer(operand_type(check, lane)->dtype),
                   "the lane is an integer") &&
           require(check, is_one_of(check->op, ATTR_mode, "idx up down xor"),
                   "{mode} is idx, up, down or xor");
}

static bool check_redux(const Check *check)
{
    const DType dtype = result_type(check)->dtype;
    return require(check, result_type(check) == operand_type(check, value), "the type changes") &&
           require(check, dtype == DTYPE_i32 || dtype == DTYPE_u32,
                   "the value is an i32 or a u32") &&
           require(check, is_one_of(check->op, ATTR_mode, "add min max and or xor"),
                   "{mode} is add, min, max, and, or or xor");
}

static bool is_pair(const Type *type)
{
    return type->count == 2 && dtype_bits(type->dtype) == 16;
}

static bool check_matrices(const Check *check, int count)
{
    return require(check,
                   op_int(check->op, ATTR_count, 0) == count &&
                       (count == 1 || count == 2 || count == 4),
                   "{count} is 1, 2 or 4, and the number of matrices") &&
           require(check, operand_type(check, pointer)->space == SPACE_SHARED,
                   "the rows lie in shared memory");
}

static bool check_ldmatrix(const Check *check)
{
    for (int i = 0; i < check->op->result_count; i++)
        if (!is_pair(check->op->results[i].type))
            return broken(check, "the results are vectors of two 16-bit elements");
    return check_matrices(check, check->op->result_count);
}

static bool check_stmatrix(const Check *check)
{
    for (int i = operand_index(check->op, words); i < check->op->operand_count; i++)
        if (!is_pair(operand_type_at(check, i)))
            return broken(check, "the words are vectors of two 16-bit elements");
    return check_matrices(check, check->op->operand_count - operand_index(check->op, words));
}

static bool check_wait(const Check *check)
{
    const Op *op = check->op;
    if (op->operand_count != op->result_count)
        return broken(check, "there is not a result for each operand");
    for (int i = 0; i < op->operand_count; i++)
        if (operand_type_at(check, i) != op->results[i].type)
            return broken(check, "a result is not of its operand's type");
    return true;
}

static bool check_matrix_unit(const Check *check)
{
    const Attr *instruction = op_attr(check->op, ATTR_instruction);
    return require(check, instruction && mma_kind(instruction->text),
                   "{instruction} is none of the matrix unit");
}

static bool check_mma(const Check *check)
{
    return check_matrix_unit(check) && require(check,
                                               check->op->operand_count == MMA_INPUTS + MMA_SUMS &&
                                                   check->op->result_count == MMA_SUMS,
                                               "it has not 4 words of a, 2 of b and 4 sums");
}

/* The elements of a thread. */
static bool check_mma_sync(const Check *check)
{
    if (!check_matrix_unit(check)) return false;
    const Op *op = check->op;
    const MmaKind *kind = mma_kind(op_attr(op, ATTR_instruction)->text);
    const int inputs = mma_elements(kind, DOT_A) + mma_elements(kind, DOT_B);
    if (op->operand_count != inputs + MMA_SUMS || op->result_count != MMA_SUMS)
        return broken(check, "it has not the instruction's elements of a, b and c");
    for (int i = 0; i < inputs; i++)
        if (!mma_takes(kind, operand_type_at(check, i)->dtype))
            return broken(check, "an element of a or b is not of the instruction's type");
    for (int i = 0; i < MMA_SUMS; i++)
        if (operand_type_at(check, inputs + i)->dtype != kind->accumulator ||
            op->results[i].type->dtype != kind->accumulator)
            return broken(check, "a sum is not of the instruction's type");
    return true;
}

/* ---- the host region ---- */

static bool names_pointer(const Check *check)
{
    const int64_t index = op_int(check->op, ATTR_index, -1);
    return require(check,
                   in_range(check->op, ATTR_index, 0, check->kernel->parameter_count - 1) &&
                       check->kernel->parameters[index].value->type->kind == TYPE_POINTER,
                   "the kernel has no pointer {index}");
}

static bool check_require(const Check *check)
{
    return require(check, operand_type(check, condition)->dtype == DTYPE_b1,
                   "the condition is a boolean") &&
           require(check, op_attr(check->op, ATTR_text) != NULL, "{text} is missing") &&
           (!op_attr(check->op, ATTR_index) || names_pointer(check));
}

/* The tensor of result `index`, or NULL. */
static const Tensor *result_tensor(const Kernel *kernel, int64_t index)
{
    int64_t results = 0;
    for (int i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].is_result && results++ == index) return &kernel->tensors[i];
    return NULL;
}

static bool check_workspace_size(const Check *check)
{
    const Op *op = check->op;
    const int count = kernel_workspace_count(check->kernel);
    return require(check, operand_type(check, bytes)->dtype == DTYPE_i64, "a size is an i64") &&
           require(check, in_range(op, ATTR_index, 0, count - 1),
                   "the kernel has no workspace {index}") &&
           require(check, op->parent == check->kernel->host, "it stands in no region of an op");
}

static bool check_tensor_map(const Check *check)
{
    enum { MOST = 5 };
    const Op *op = check->op;
    const Attr *box = op_attr(op, ATTR_dims);
    for (int i = operand_index(op, extents); i < op->operand_count; i++)
        if (operand_type_at(check, i)->dtype != DTYPE_i64)
            return broken(check, "extents and strides are i64");
    return require(check, box != NULL && box->count >= 1 && box->count <= MOST,
                   "a box has 1 to 5 dimensions") &&
           require(check, op->operand_count == 2 * box->count,
                   "there is an extent a dimension and a stride for each but the first") &&
           require(check, in_range(op, ATTR_index, 0, kernel_map_count(check->kernel) - 1),
                   "the kernel has no tensor map {index}") &&
           require(check, op->parent == check->kernel->host, "it stands in no region of an op");
}

static bool check_coordinates(const Check *check)
{
    const int first = operand_index(check->op, coordinates);
    enum { MOST = 5 };
    const int cast = op_attr(check->op, ATTR_multicast) != NULL; /* behind them, an i32 too */
    const int count = check->op->operand_count - cast;
    for (int i = first; i < count + cast; i++)
        if (operand_type_at(check, i)->dtype != DTYPE_i32)
            return broken(check, "coordinates are i32");
    return require(check, count > first && count <= first + MOST, "there are 1 to 5 coordinates") &&
           require(check, operand_type(check, map)->space == SPACE_PARAM,
                   "the first operand is a tensor map") &&
           require(check, operand_type(check, shared)->space == SPACE_SHARED,
                   "the second operand is in shared memory");
}

static bool check_st_bulk_tensor(const Check *check)
{
    return check_coordinates(check);
}

static bool check_cp_bulk_tensor(const Check *check)
{
    return evict_is_known(check) && check_coordinates(check) &&
           require(check, operand_type(check, barrier)->space == SPACE_SHARED,
                   "the barrier is in shared memory") &&
           require(check, in_range(check->op, ATTR_bytes, 1, INT32_MAX), "it has {bytes}");
}

static bool check_span(const Check *check)
{
    return require(check, operand_type(check, bytes)->dtype == DTYPE_i64, "a size is an i64") &&
           names_pointer(check) &&
           require(check, check->op->parent == check->kernel->host,
                   "it stands in no region of an op");
}

static bool check_result_shape(const Check *check)
{
    const Op *op = check->op;
    const Tensor *tensor = result_tensor(check->kernel, op_int(op, ATTR_index, -1));
    for (int i = 0; i < op->operand_count; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "an extent is an integer");
    return require(check, tensor != NULL, "the kernel has no result {index}") &&
           require(check, tensor->rank == op->operand_count,
                   "a result has one extent a dimension") &&
           require(check, op->parent == check->kernel->host, "it stands in no region of an op");
}

/* ---- the table ---- */

static Rule *const rules[OP_COUNT] = {
    [OP_const] = rule_const,
    [OP_add] = check_arithmetic,
    [OP_sub] = check_arithmetic,
    [OP_mul] = check_arithmetic,
    [OP_div] = check_arithmetic,
    [OP_rem] = check_arithmetic,
    [OP_floordiv] = check_integers,
    [OP_floormod] = check_integers,
    [OP_min] = check_arithmetic,
    [OP_max] = check_arithmetic,
    [OP_and] = check_bits,
    [OP_or] = check_bits,
    [OP_xor] = check_bits,
    [OP_shl] = check_shift,
    [OP_shr] = check_shift,
    [OP_neg] = check_arithmetic,
    [OP_not] = check_bits,
    [OP_abs] = check_arithmetic,
    [OP_sqrt] = check_floats,
    [OP_floor] = check_floats,
    [OP_ceil] = check_floats,
    [OP_trunc] = check_floats,
    [OP_round] = check_floats,
    [OP_fma] = check_floats,
    [OP_slope] = check_floats,
    [OP_dp4a] = check_dp4a,
    [OP_approx] = check_approx,
    [OP_cmp] = check_cmp,
    [OP_select] = check_select,
    [OP_cast] = check_shapes,
    [OP_bitcast] = check_bitcast,
    [OP_ptr_add] = check_ptr_add,
    [OP_ptr_cast] = check_ptr_cast,
    [OP_with_adjoint] = check_with_adjoint,
    [OP_adjoint_pointer] = check_ptr_cast,
    [OP_launch] = rule_launch,
    [OP_block_idx] = rule_block,
    [OP_grid_dim] = rule_block,
    [OP_in_group] = rule_in_group,
    [OP_barrier] = rule_barrier,
    [OP_require] = check_require,
    [OP_result_shape] = check_result_shape,
    [OP_workspace_size] = check_workspace_size,
    [OP_buffer_extent] = check_span,
    [OP_tensor_map] = check_tensor_map,
    [OP_cluster_rank] = rule_i32,
    [OP_setmaxnreg] = rule_setmaxnreg,
    [OP_cluster_address] = rule_cluster_address,
    [OP_shared_peer] = rule_shared_peer,
    [OP_grid_sync] = rule_grid_sync,
    [OP_cp_bulk_tensor] = check_cp_bulk_tensor,
    [OP_st_bulk_tensor] = check_st_bulk_tensor,
    [OP_tma_store] = rule_tma_store,
    [OP_tma_store_wait] = rule_tma_store_wait,
    [OP_part] = rule_part,
    [OP_tma_load] = rule_tma_load,
    [OP_print] = rule_print,
    [OP_anchor] = rule_anchor,
    [OP_assume] = rule_assume,
    [OP_for] = rule_for,
    [OP_while] = rule_while,
    [OP_if] = rule_if,
    [OP_custom_vjp] = rule_custom_vjp,
    [OP_grad] = rule_grad,
    [OP_yield] = rule_yield,
    [OP_condition] = rule_condition,
    [OP_var] = rule_var,
    [OP_var_get] = rule_var_get,
    [OP_var_set] = rule_var_set,
    [OP_splat] = rule_same_dtype,
    [OP_iota] = rule_iota,
    [OP_broadcast] = rule_broadcast,
    [OP_reshape] = rule_reshape,
    [OP_transpose] = rule_transpose,
    [OP_convert] = rule_convert,
    [OP_reduce] = rule_reduce,
    [OP_scan] = rule_scan,
    [OP_item] = rule_item,
    [OP_dot] = rule_dot,
    [OP_dot_shared] = rule_dot,
    [OP_dot_slices] = rule_dot,
    [OP_view] = rule_view,
    [OP_load] = rule_load,
    [OP_store] = rule_store,
    [OP_atomic] = rule_atomic,
    [OP_gather] = rule_gather,
    [OP_put] = rule_put,
    [OP_atom] = rule_atom,
    [OP_red] = rule_red,
    [OP_copy] = rule_copy,
    [OP_copy_async] = rule_copy,
    [OP_cp_async] = rule_cp_async,
    [OP_shared_alloc] = rule_shared_alloc,
    [OP_shared_reshape] = rule_shared_reshape,
    [OP_pipeline_init] = rule_stage,
    [OP_producer_acquire] = rule_stage,
    [OP_producer_commit] = rule_stage,
    [OP_consumer_wait] = rule_stage,
    [OP_consumer_try_wait] = rule_stage,
    [OP_consumer_release] = rule_stage,
    [OP_order_wait] = rule_stage,
    [OP_order_arrive] = rule_stage,
    [OP_mbarrier_init] = rule_mbarrier,
    [OP_mbarrier_arrive] = rule_mbarrier,
    [OP_mbarrier_expect_tx] = rule_mbarrier,
    [OP_mbarrier_arrive_on_copies] = rule_mbarrier,
    [OP_mbarrier_arrive_and_wait] = rule_mbarrier,
    [OP_mbarrier_wait] = rule_mbarrier,
    [OP_shared_view] = rule_shared_view,
    [OP_shared_load] = rule_shared_load,
    [OP_shared_store] = rule_shared_store,
    [OP_local_alloc] = rule_local_alloc,
    [OP_element_load] = rule_element_load,
    [OP_element_store] = rule_element_store,
    [OP_element_atomic] = rule_element_atomic,
    [OP_local_base] = check_local_base,
    [OP_check_index] = check_check_index,
    [OP_vote] = rule_vote,
    [OP_texture] = rule_texture,
    [OP_thread_id] = rule_i32,
    [OP_shared_base] = check_shared_base,
    [OP_ld] = check_ld,
    [OP_st] = check_st,
    [OP_vec_pack] = check_vec_pack,
    [OP_vec_get] = check_vec_get,
    [OP_vec_cast] = check_vec_cast,
    [OP_ld_bits] = check_ld_bits,
    [OP_st_bits] = check_st_bits,
    [OP_shuffle] = check_shuffle,
    [OP_redux] = check_redux,
    [OP_ldmatrix] = check_ldmatrix,
    [OP_stmatrix] = check_stmatrix,
    [OP_mma] = check_mma,
    [OP_mma_sync] = check_mma_sync,
    [OP_wgmma] = check_matrix_unit,
    [OP_wgmma_wait] = check_wait,
    [OP_dot_wait] = check_wait,
};

bool rules_hold(const Kernel *kernel, const Op *op, Buf *out)
{
    Check check = {kernel, op, out};
    Rule *rule = rules[op->code];
    if (rule != NULL) return rule(&check);
    return !op_has(op, ELEM) || check_uniform(&check);
}
