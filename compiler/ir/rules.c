/* rules.c: the verifier's rules of single ops, one function an op; ops without one have none beside
 * their row and their traits. */
#include "ir/rows.h"

#include <math.h>
#include <string.h>

typedef struct Check {
    const Kernel *kernel;
    const Op *op;
    Buf *out;
} Check;

static bool broken(const Check *check, const char *text)
{
    buf_text(check->out, text);
    return false;
}

static bool require(const Check *check, bool condition, const char *text)
{
    return condition || broken(check, text);
}

bool types_agree(const Kernel *kernel, const Type *a, const Type *b)
{
    if (a == b) return true;
    if (kernel->stage >= STAGE_LAID_OUT || a->kind != b->kind || a->dtype != b->dtype) return false;
    if (a->kind == TYPE_VAR) return types_agree(kernel, a->content, b->content);
    return (a->kind == TYPE_TILE || a->kind == TYPE_SHARED) && type_same_shape(a, b);
}

static const Type *operand_type(const Check *check, int index)
{
    return check->op->operands[index]->type;
}

static const Type *result_type(const Check *check)
{
    return check->op->results[0].type;
}

static bool agree(const Check *check, const Type *a, const Type *b)
{
    return types_agree(check->kernel, a, b);
}

static bool in_range(const Op *op, AttrKey key, int64_t least, int64_t most)
{
    const Attr *attr = op_attr(op, key);
    return attr != NULL && attr->integer >= least && attr->integer <= most;
}

static bool is_one_of(const Op *op, AttrKey key, const char *words)
{
    const Attr *attr = op_attr(op, key);
    if (attr == NULL || strchr(attr->text, ' ') != NULL || *attr->text == '\0') return false;
    size_t length = strlen(attr->text);
    for (const char *at = words; (at = strstr(at, attr->text)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* ---- values ---- */

static bool check_const(const Check *check)
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
        const Type *type = operand_type(check, i);
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
        if (operand_type(check, i)->dtype != operand_type(check, first)->dtype)
            return broken(check, "operands differ in element type");
    return true;
}

static bool check_uniform(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, 0) &&
           require(check, result_type(check)->dtype == operand_type(check, 0)->dtype,
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

static bool check_cmp(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, 0) &&
           require(check, result_type(check)->dtype == DTYPE_b1, "the result is boolean") &&
           require(check, is_one_of(check->op, ATTR_predicate, "eq ne lt le gt ge"),
                   "{predicate} is eq, ne, lt, le, gt or ge");
}

static bool check_select(const Check *check)
{
    return check_shapes(check) && check_dtypes(check, 1) &&
           require(check, operand_type(check, 0)->dtype == DTYPE_b1, "the condition is boolean") &&
           require(check, result_type(check)->dtype == operand_type(check, 1)->dtype,
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
    case TYPE_VAR: break;
    }
    return -1;
}

static bool check_bitcast(const Check *check)
{
    const Type *from = operand_type(check, 0), *to = result_type(check);
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
    return require(check, result_type(check) == operand_type(check, 0),
                   "the result has the pointer's type") &&
           require(check, dtype_is_integer(operand_type(check, 1)->dtype),
                   "the index is an integer");
}

static bool check_ptr_cast(const Check *check)
{
    return require(check, result_type(check)->space == operand_type(check, 0)->space,
                   "the address space stays");
}

/* ---- the launch ---- */

static bool check_launch(const Check *check)
{
    const Op *op = check->op;
    for (int i = 0; i < 3; i++)
        if (!dtype_is_integer(operand_type(check, i)->dtype))
            return broken(check, "the grid's extents are integers");
    return require(check, op->parent == check->kernel->host,
                   "a launch stands in the host region itself") &&
           require(check, op->regions[0]->argument_count == 0,
                   "a launch's region has no arguments") &&
           require(check, in_range(op, ATTR_warps, 1, 32), "{warps} is from 1 to 32");
}

static bool check_i32(const Check *check)
{
    return require(check, result_type(check)->dtype == DTYPE_i32, "the result is an i32");
}

static bool check_block(const Check *check)
{
    return check_i32(check) &&
           require(check, in_range(check->op, ATTR_dim, 0, 2), "{dim} is 0, 1 or 2");
}

static bool check_in_group(const Check *check)
{
    const int64_t begin = op_int(check->op, ATTR_begin, -1);
    const int64_t count = op_int(check->op, ATTR_count, 0);
    return require(check, result_type(check)->dtype == DTYPE_b1, "the result is boolean") &&
           require(check, begin >= 0 && count > 0 && begin + count <= 1024,
                   "{begin} and {count} are no threads of a block") &&
           require(check, count == 1 || (begin % 32 == 0 && count % 32 == 0),
                   "a group is one thread or whole warps");
}

static bool check_print(const Check *check)
{
    for (int i = 0; i < check->op->operand_count; i++)
        if (dtype_bits(operand_type(check, i)->dtype) != 64)
            return broken(check, "what is printed is not 64 bits wide");
    return require(check, op_attr(check->op, ATTR_text) != NULL, "{text} is missing") &&
           require(check, check->op->operand_count <= 12, "there are 12 values at most");
}

static bool check_barrier(const Check *check)
{
    const bool is_named = op_attr(check->op, ATTR_index) != NULL;
    return require(check, is_named == (op_attr(check->op, ATTR_count) != NULL),
                   "{index} and {count} come together") &&
           require(check,
                   !is_named || (in_range(check->op, ATTR_index, 1, 15) &&
                                 in_range(check->op, ATTR_count, 32, 1024) &&
                                 op_int(check->op, ATTR_count, 0) % 32 == 0),
                   "{index} is from 1 to 15, {count} whole warps");
}

static bool check_assume(const Check *check)
{
    return require(check, dtype_is_integer(operand_type(check, 0)->dtype),
                   "the value is an integer") &&
           require(check, in_range(check->op, ATTR_multiple, 1, INT64_MAX),
                   "{multiple} is positive");
}

/* ---- control ---- */

static bool check_values(const Check *check, int count, Value *const *values, int wanted_count,
                         const Type *const *wanted, const char *what)
{
    bool fits = count == wanted_count;
    for (int i = 0; fits && i < count; i++)
        fits = values[i] != NULL && agree(check, values[i]->type, wanted[i]);
    return require(check, fits, what);
}

/* The region ends in `code`, whose operands from `first` on have those types. */
static bool check_end(const Check *check, const Region *region, OpCode code, int first, int count,
                      const Type *const *types)
{
    const Op *end = region->last;
    if (end == NULL || end->code != code || end->operand_count < first) {
        buf_printf(check->out, "a region does not end in '%s'", op_info(code)->name);
        return false;
    }
    return check_values(check, end->operand_count - first, end->operands + first, count, types,
                        code == OP_yield ? "a region yields other types than those carried"
                                         : "'condition' passes on other types than those carried");
}

static bool check_for_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    const Region *body = op->regions[0];
    const Type *index = operand_type(check, 0);
    if (!dtype_is_integer(index->dtype) || operand_type(check, 1) != index ||
        operand_type(check, 2) != index)
        return broken(check, "begin, end and step are integers of one type");
    if (body->argument_count == 0 || body->arguments[0]->type != index)
        return broken(check, "the region's first argument is the index");
    return check_values(check, op->operand_count - 3, op->operands + 3, op->result_count, types,
                        "initial values and results differ in type or number") &&
           check_values(check, body->argument_count - 1, body->arguments + 1, op->result_count,
                        types, "the region's arguments and the results differ in type or number") &&
           check_end(check, body, OP_yield, 0, op->result_count, types);
}

static bool check_while_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    if (!check_values(check, op->operand_count, op->operands, op->result_count, types,
                      "initial values and results differ in type or number"))
        return false;
    for (int i = 0; i < 2; i++)
        if (!check_values(check, op->regions[i]->argument_count, op->regions[i]->arguments,
                          op->result_count, types,
                          "a region's arguments and the results differ in type or number"))
            return false;
    return check_end(check, op->regions[0], OP_condition, 1, op->result_count, types) &&
           check_end(check, op->regions[1], OP_yield, 0, op->result_count, types);
}

static bool check_if_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    return require(check, operand_type(check, 0)->dtype == DTYPE_b1, "the condition is boolean") &&
           require(check,
                   op->regions[0]->argument_count == 0 && op->regions[1]->argument_count == 0,
                   "the regions have no arguments") &&
           check_end(check, op->regions[0], OP_yield, 0, op->result_count, types) &&
           check_end(check, op->regions[1], OP_yield, 0, op->result_count, types);
}

/* What a loop carries has the results' types at its start, in its regions and at their ends. */
static bool check_carried(const Check *check, bool (*rule)(const Check *, const Type *const *))
{
    Arena *arena = arena_new();
    const Type **types = arena_new_array(arena, const Type *, check->op->result_count);
    for (int i = 0; i < check->op->result_count; i++) types[i] = check->op->results[i].type;
    bool holds = rule(check, types);
    arena_free(arena);
    return holds;
}

static bool check_for(const Check *check)
{
    return check_carried(check, check_for_types);
}

static bool check_while(const Check *check)
{
    return check_carried(check, check_while_types);
}

static bool check_if(const Check *check)
{
    return check_carried(check, check_if_types);
}

/* The region's op is the one that the terminator belongs to, and nothing follows. */
static bool check_yield(const Check *check)
{
    const Op *op = check->op, *around = op->parent->parent;
    bool belongs =
        around != NULL && (around->code == OP_for || around->code == OP_if ||
                           (around->code == OP_while && op->parent == around->regions[1]));
    return require(check, belongs, "'yield' ends regions of for, if, and the second of while") &&
           require(check, op->next == NULL, "ops follow the end of the region");
}

static bool check_condition(const Check *check)
{
    const Op *op = check->op, *around = op->parent->parent;
    return require(check,
                   around != NULL && around->code == OP_while && op->parent == around->regions[0],
                   "'condition' ends the first region of while") &&
           require(check, op->next == NULL, "ops follow the end of the region") &&
           require(check, operand_type(check, 0)->dtype == DTYPE_b1, "the condition is boolean");
}

static bool check_var(const Check *check)
{
    const Op *op = check->op;
    return require(check, op->operand_count <= 1, "a variable has one initial value at most") &&
           require(check,
                   op->operand_count == 0 ||
                       agree(check, operand_type(check, 0), result_type(check)->content),
                   "the initial value is not of the variable's type");
}

static bool check_var_get(const Check *check)
{
    return require(check, agree(check, result_type(check), operand_type(check, 0)->content),
                   "the result is not of the variable's type");
}

static bool check_var_set(const Check *check)
{
    return require(check, agree(check, operand_type(check, 1), operand_type(check, 0)->content),
                   "the value is not of the variable's type");
}

/* ---- tiles ---- */

static bool check_same_dtype(const Check *check)
{
    return require(check, result_type(check)->dtype == operand_type(check, 0)->dtype,
                   "the element type changes");
}

static bool check_iota(const Check *check)
{
    return check_i32(check) &&
           require(check, in_range(check->op, ATTR_dim, 0, (int64_t)result_type(check)->rank - 1),
                   "{dim} is a dimension of the tile");
}

static bool check_broadcast(const Check *check)
{
    const Type *from = operand_type(check, 0), *to = result_type(check);
    if (from->rank != to->rank) return broken(check, "the rank changes");
    for (int i = 0; i < to->rank; i++)
        if (from->shape[i] != to->shape[i] && from->shape[i] != 1)
            return broken(check, "an extent that is not 1 changes");
    return check_same_dtype(check);
}

static bool check_reshape(const Check *check)
{
    return check_same_dtype(check) &&
           require(check,
                   type_elements(operand_type(check, 0)) == type_elements(result_type(check)),
                   "the number of elements changes");
}

/* {dims} names `rank` different dimensions of 0 to limit - 1. */
static bool are_dimensions(const Attr *dims, int rank, int limit)
{
    unsigned seen = 0;
    if (dims == NULL || dims->count != rank) return false;
    for (int i = 0; i < rank; i++) {
        if (dims->integers[i] < 0 || dims->integers[i] >= limit || seen & 1u << dims->integers[i])
            return false;
        seen |= 1u << dims->integers[i];
    }
    return true;
}

static bool check_transpose(const Check *check)
{
    const Type *from = operand_type(check, 0), *to = result_type(check);
    const Attr *dims = op_attr(check->op, ATTR_dims);
    if (from->rank != to->rank || !are_dimensions(dims, to->rank, to->rank))
        return broken(check, "{dims} is no permutation of the dimensions");
    for (int i = 0; i < to->rank; i++)
        if (to->shape[i] != from->shape[dims->integers[i]])
            return broken(check, "the result's shape is not the transposed one");
    return check_same_dtype(check);
}

static bool check_convert(const Check *check)
{
    return check_same_dtype(check) &&
           require(check, type_same_shape(operand_type(check, 0), result_type(check)),
                   "the shape changes");
}

#define COMBINATIONS "add mul max min and or xor"

static bool check_combination(const Check *check, const Type *tile)
{
    const bool number = is_one_of(check->op, ATTR_mode, "add mul max min"),
               bits = is_one_of(check->op, ATTR_mode, "and or xor");
    return require(check, number || bits, "{mode} is one of " COMBINATIONS) &&
           require(check, number ? tile->dtype != DTYPE_b1 : !dtype_is_float(tile->dtype),
                   "{mode} does not go with the element type");
}

static bool check_reduce(const Check *check)
{
    const Type *from = operand_type(check, 0), *to = result_type(check);
    const Attr *dims = op_attr(check->op, ATTR_dims);
    if (from->rank != to->rank || dims == NULL || !are_dimensions(dims, dims->count, to->rank))
        return broken(check, "{dims} does not name dimensions of the tile");
    bool fine = true;
    for (int d = 0; d < to->rank; d++) {
        bool reduced = false;
        for (int i = 0; i < dims->count; i++) reduced |= dims->integers[i] == d;
        fine &= reduced ? to->shape[d] == 1 || check->kernel->stage >= STAGE_LAID_OUT
                        : to->shape[d] == from->shape[d];
    }
    return require(check, fine, "extents of {dims} become 1 and the others stay") &&
           check_same_dtype(check) && check_combination(check, from);
}

static bool check_scan(const Check *check)
{
    const Type *tile = operand_type(check, 0);
    return require(check, in_range(check->op, ATTR_dim, 0, (int64_t)tile->rank - 1),
                   "{dim} is a dimension of the tile") &&
           require(check, type_same_shape(tile, result_type(check)), "the shape changes") &&
           check_same_dtype(check) && check_combination(check, tile);
}

static bool check_item(const Check *check)
{
    return require(check, type_elements(operand_type(check, 0)) == 1,
                   "the tile has more than one element") &&
           check_same_dtype(check);
}

static bool check_dot(const Check *check)
{
    const Type *a = operand_type(check, 0), *b = operand_type(check, 1),
               *c = operand_type(check, 2);
    bool shapes = a->rank == 2 && b->rank == 2 && c->rank == 2 && a->shape[0] == c->shape[0] &&
                  a->shape[1] == b->shape[0] && b->shape[1] == c->shape[1];
    return require(check, shapes, "the shapes are not [m, k], [k, n] and [m, n]") &&
           require(check, a->dtype != DTYPE_b1 && b->dtype != DTYPE_b1 && c->dtype != DTYPE_b1,
                   "the operands are numbers") &&
           require(check, agree(check, result_type(check), c), "the result is not of c's type");
}

/* ---- memory ---- */

static bool check_view(const Check *check)
{
    const Type *view = result_type(check);
    if (check->op->operand_count != 1 + 2 * view->rank)
        return broken(check, "a view has an extent and a stride for each dimension");
    for (int i = 0; i < 2 * view->rank; i++) {
        int64_t said = i < view->rank ? view->shape[i] : view->strides[i - view->rank], value;
        DType dtype = operand_type(check, 1 + i)->dtype;
        if (dtype != DTYPE_i32 && dtype != DTYPE_i64)
            return broken(check, "extents and strides are i32 or i64");
        if (said != TYPE_DYNAMIC && value_constant(check->op->operands[1 + i], &value) &&
            value != said)
            return broken(check, "an extent or stride contradicts the view's type");
    }
    return require(check, operand_type(check, 0)->space == SPACE_GLOBAL,
                   "a view is of global memory") &&
           check_same_dtype(check);
}

static bool check_access(const Check *check, const Type *tile, int first_offset)
{
    const Op *op = check->op;
    const Type *view = operand_type(check, 0);
    const Attr *dims = op_attr(op, ATTR_dims), *bounds = op_attr(op, ATTR_bounds);
    if (op->operand_count - first_offset != view->rank)
        return broken(check, "the view has not as many dimensions as there are offsets");
    for (int i = first_offset; i < op->operand_count; i++)
        if (!dtype_is_integer(operand_type(check, i)->dtype))
            return broken(check, "offsets are integers");
    if (tile->rank > view->rank) return broken(check, "the tile has more dimensions than the view");
    if (dims != NULL && !are_dimensions(dims, tile->rank, view->rank))
        return broken(check, "{dims} does not name a dimension of the view for each of the tile");
    if (bounds != NULL && bounds->count != view->rank)
        return broken(check, "{bounds} has not one entry for each dimension of the view");
    for (int i = 0; bounds != NULL && i < bounds->count; i++)
        if (bounds->integers[i] < 0 || bounds->integers[i] > 3)
            return broken(check, "{bounds} has entries from 0 to 3");
    return require(check, tile->dtype == view->dtype, "tile and view differ in element type");
}

static bool check_load(const Check *check)
{
    return check_access(check, result_type(check), 1);
}

static bool check_store(const Check *check)
{
    return check_access(check, operand_type(check, 1), 2);
}

/* Element types that the machine updates at once. */
static bool has_atomic(const Check *check, DType dtype)
{
    if (is_one_of(check->op, ATTR_mode, "min max"))
        return dtype_is_integer(dtype) && dtype_bits(dtype) >= 32;
    return dtype_bits(dtype) >= 32 && dtype_bits(dtype) <= 64;
}

static bool check_atomic_words(const Check *check)
{
    return require(check, is_one_of(check->op, ATTR_mode, "add min max exch cas"),
                   "{mode} is add, min, max, exch or cas") &&
           require(check, is_one_of(check->op, ATTR_order, "relaxed acquire release acq_rel"),
                   "{order} is relaxed, acquire, release or acq_rel") &&
           require(check, is_one_of(check->op, ATTR_scope, "cta gpu sys"),
                   "{scope} is cta, gpu or sys") &&
           require(check, has_atomic(check, operand_type(check, 1)->dtype),
                   "there is no such atomic of this element type");
}

/* Operand 0 is memory of the tiles' rank; with {dim}, the last operand holds indices. */
static bool check_places(const Check *check)
{
    const Op *op = check->op;
    const Type *memory = operand_type(check, 0), *value = operand_type(check, 1);
    const bool scatters = op_attr(op, ATTR_dim) != NULL;
    for (int i = 2; i < op->operand_count; i++)
        if (!type_same_shape(operand_type(check, i), value))
            return broken(check, "the tiles differ in shape");
    return require(check, memory->kind == TYPE_VIEW || memory->kind == TYPE_SHARED,
                   "the memory is a view or a shared tile") &&
           require(check, memory->rank == value->rank && memory->dtype == value->dtype,
                   "memory and value differ in rank or element type") &&
           require(check, !scatters || in_range(op, ATTR_dim, 0, value->rank - 1),
                   "{dim} is no dimension of the tile") &&
           require(check,
                   !scatters || dtype_is_integer(operand_type(check, op->operand_count - 1)->dtype),
                   "the indices are integers");
}

static bool check_atomic(const Check *check)
{
    const int wanted =
        2 + (op_attr(check->op, ATTR_dim) != NULL) + is_one_of(check->op, ATTR_mode, "cas");
    return require(check, check->op->operand_count == wanted, "operands are missing") &&
           check_places(check) && check_atomic_words(check) &&
           require(check, agree(check, result_type(check), operand_type(check, 1)),
                   "the result has the value's type");
}

static bool check_scatter(const Check *check)
{
    return require(check, op_attr(check->op, ATTR_dim) != NULL, "{dim} is missing") &&
           check_places(check);
}

static bool check_atom(const Check *check)
{
    const Type *value = operand_type(check, 1);
    return require(check, value->dtype == operand_type(check, 0)->dtype,
                   "the pointer is to another element type") &&
           require(check, value == operand_type(check, 2) && value == result_type(check),
                   "value, comparand and result differ in type") &&
           check_atomic_words(check);
}

static bool check_copy_async(const Check *check)
{
    return check_access(check, operand_type(check, 1), 2) &&
           require(check, operand_type(check, 1)->kind == TYPE_SHARED, "it goes to a shared tile");
}

static bool check_cp_async(const Check *check)
{
    const int64_t bytes = op_int(check->op, ATTR_bytes, 0);
    return require(check, bytes == 4 || bytes == 8 || bytes == 16, "{bytes} is 4, 8 or 16") &&
           require(check,
                   operand_type(check, 0)->space == SPACE_SHARED &&
                       operand_type(check, 1)->space == SPACE_GLOBAL,
                   "it goes from global to shared memory");
}

static bool check_shared_alloc(const Check *check)
{
    return require(check,
                   check->kernel->stage < STAGE_PLACED ||
                       in_range(check->op, ATTR_offset, 0, INT32_MAX),
                   "shared memory is placed, but this has no {offset}");
}

static bool check_shared_reshape(const Check *check)
{
    const Op *alloc = check->op->operands[0]->op;
    return require(check, alloc && alloc->code == OP_shared_alloc, "the operand is a whole tile") &&
           require(check,
                   type_elements(operand_type(check, 0)) == type_elements(result_type(check)),
                   "the shapes hold different numbers of elements") &&
           check_same_dtype(check);
}

static bool check_shared_view(const Check *check)
{
    const Op *op = check->op;
    const Type *whole = operand_type(check, 0), *part = result_type(check);
    const Attr *dims = op_attr(op, ATTR_dims);
    if (op->operand_count != 1 + whole->rank)
        return broken(check, "the tile has not as many dimensions as there are offsets");
    for (int i = 1; i < op->operand_count; i++)
        if (!dtype_is_integer(operand_type(check, i)->dtype))
            return broken(check, "offsets are integers");
    if (!are_dimensions(dims, part->rank, whole->rank))
        return broken(check, "{dims} does not name a dimension of the tile for each of the part");
    for (int d = 0; d < part->rank; d++)
        if (part->shape[d] > whole->shape[dims->integers[d]])
            return broken(check, "the part is larger than the tile");
    return check_same_dtype(check);
}

static bool same_elements(const Check *check, const Type *tile)
{
    const Type *shared = operand_type(check, 0);
    return require(check, tile->dtype == shared->dtype && type_same_shape(tile, shared),
                   "tile and shared tile differ in shape or element type");
}

static bool check_shared_load(const Check *check)
{
    return same_elements(check, result_type(check));
}

static bool check_shared_store(const Check *check)
{
    return same_elements(check, operand_type(check, 1));
}

/* ---- one thread ---- */

static bool check_shared_base(const Check *check)
{
    return require(check, result_type(check)->space == SPACE_SHARED,
                   "the address is in shared memory") &&
           require(check, in_range(check->op, ATTR_offset, 0, INT32_MAX), "{offset} is missing");
}

static bool check_word(const Check *check, const Type *word, int predicate)
{
    const Op *op = check->op;
    return require(check, word->kind == TYPE_SCALAR || word->kind == TYPE_VECTOR,
                   "a scalar or a vector is moved") &&
           require(check, word->dtype == operand_type(check, 0)->dtype,
                   "the pointer is to another element type") &&
           require(check, op->operand_count <= predicate + 1, "there is one predicate at most") &&
           require(check,
                   op->operand_count == predicate ||
                       operand_type(check, predicate)->dtype == DTYPE_b1,
                   "the predicate is boolean");
}

static bool check_ld(const Check *check)
{
    return check_word(check, result_type(check), 1);
}

static bool check_st(const Check *check)
{
    return check_word(check, operand_type(check, 1), 2);
}

static bool check_vec_pack(const Check *check)
{
    return require(check, check->op->operand_count == result_type(check)->count,
                   "the vector has another length") &&
           check_dtypes(check, 0) && check_same_dtype(check);
}

static bool check_vec_get(const Check *check)
{
    return check_same_dtype(check) &&
           require(check,
                   in_range(check->op, ATTR_index, 0, (int64_t)operand_type(check, 0)->count - 1),
                   "{index} is not within the vector");
}

static bool check_shuffle(const Check *check)
{
    return require(check, result_type(check) == operand_type(check, 0), "the type changes") &&
           require(check, dtype_bits(result_type(check)->dtype) == 32, "the value has 32 bits") &&
           require(check, dtype_is_integer(operand_type(check, 1)->dtype),
                   "the lane is an integer") &&
           require(check, is_one_of(check->op, ATTR_mode, "idx up down xor"),
                   "{mode} is idx, up, down or xor");
}

static bool check_ldmatrix(const Check *check)
{
    const Op *op = check->op;
    int64_t count = op_int(op, ATTR_count, 0);
    if (count != op->result_count || (count != 1 && count != 2 && count != 4))
        return broken(check, "{count} is 1, 2 or 4, and the number of results");
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i].type->count != 2 || dtype_bits(op->results[i].type->dtype) != 16)
            return broken(check, "the results are vectors of two 16-bit elements");
    return require(check, operand_type(check, 0)->space == SPACE_SHARED,
                   "the rows lie in shared memory");
}

static bool check_mma(const Check *check)
{
    return require(check, op_attr(check->op, ATTR_instruction) != NULL, "{instruction} is missing");
}

/* ---- the table ---- */

typedef bool Rule(const Check *check);

static Rule *const rules[OP_COUNT] = {
    [OP_const] = check_const,
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
    [OP_cmp] = check_cmp,
    [OP_select] = check_select,
    [OP_cast] = check_shapes,
    [OP_bitcast] = check_bitcast,
    [OP_ptr_add] = check_ptr_add,
    [OP_ptr_cast] = check_ptr_cast,
    [OP_launch] = check_launch,
    [OP_block_idx] = check_block,
    [OP_grid_dim] = check_block,
    [OP_in_group] = check_in_group,
    [OP_barrier] = check_barrier,
    [OP_print] = check_print,
    [OP_assume] = check_assume,
    [OP_for] = check_for,
    [OP_while] = check_while,
    [OP_if] = check_if,
    [OP_yield] = check_yield,
    [OP_condition] = check_condition,
    [OP_var] = check_var,
    [OP_var_get] = check_var_get,
    [OP_var_set] = check_var_set,
    [OP_splat] = check_same_dtype,
    [OP_iota] = check_iota,
    [OP_broadcast] = check_broadcast,
    [OP_reshape] = check_reshape,
    [OP_transpose] = check_transpose,
    [OP_convert] = check_convert,
    [OP_reduce] = check_reduce,
    [OP_scan] = check_scan,
    [OP_item] = check_item,
    [OP_dot] = check_dot,
    [OP_view] = check_view,
    [OP_load] = check_load,
    [OP_store] = check_store,
    [OP_atomic] = check_atomic,
    [OP_scatter] = check_scatter,
    [OP_atom] = check_atom,
    [OP_copy_async] = check_copy_async,
    [OP_cp_async] = check_cp_async,
    [OP_shared_alloc] = check_shared_alloc,
    [OP_shared_reshape] = check_shared_reshape,
    [OP_shared_view] = check_shared_view,
    [OP_shared_load] = check_shared_load,
    [OP_shared_store] = check_shared_store,
    [OP_thread_id] = check_i32,
    [OP_shared_base] = check_shared_base,
    [OP_ld] = check_ld,
    [OP_st] = check_st,
    [OP_vec_pack] = check_vec_pack,
    [OP_vec_get] = check_vec_get,
    [OP_shuffle] = check_shuffle,
    [OP_ldmatrix] = check_ldmatrix,
    [OP_mma] = check_mma,
};

bool rules_hold(const Kernel *kernel, const Op *op, Buf *out)
{
    Check check = {kernel, op, out};
    Rule *rule = rules[op->code];
    if (rule != NULL) return rule(&check);
    return (op_info(op->code)->traits & ELEM) == 0 || check_uniform(&check);
}
