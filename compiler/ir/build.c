/* build.c: kernels, and the only way to make an op. An op that breaks its row's counts or kinds is
 * an internal error: whoever builds knows what it builds. What the types have to do with each other
 * is verify.c's. */
#include "ir/rows.h"

#include <string.h>

/* ---- kernels ---- */

Kernel *kernel_new(Session *session, Name name, Span span)
{
    Arena *arena = arena_new();
    Kernel *kernel = arena_new_of(arena, Kernel);
    kernel->arena = arena;
    kernel->ops = arena_new();
    kernel->session = session;
    kernel->types = type_table_new(arena);
    kernel->layouts = layout_table_new(arena);
    kernel->name = name;
    kernel->span = span;
    kernel->host = arena_new_of(arena, Region);
    kernel->host->kernel = kernel;
    return kernel;
}

void kernel_free(Kernel *kernel)
{
    if (kernel == NULL) return;
    arena_free(kernel->ops);
    arena_free(kernel->arena);
}

/* Old storage is left to the arena; lists of operands and parameters are short. */
static void *grow_array(Arena *arena, const void *old, size_t size, int count)
{
    char *larger = arena_alloc(arena, size * ((size_t)count + 1));
    if (count > 0) memcpy(larger, old, size * (size_t)count);
    return larger;
}

static Value *insert_parameter(Kernel *kernel, int index, Parameter parameter, const Type *type)
{
    Value *value = arena_new_of(kernel->arena, Value);
    *value = (Value){.type = type, .name = parameter.name};
    parameter.value = value;
    kernel->parameters =
        grow_array(kernel->arena, kernel->parameters, sizeof(Parameter), kernel->parameter_count);
    kernel->parameter_count++;
    for (int i = kernel->parameter_count - 1; i > index; i--)
        kernel->parameters[i] = kernel->parameters[i - 1];
    kernel->parameters[index] = parameter;
    for (int i = index; i < kernel->parameter_count; i++) kernel->parameters[i].value->index = i;
    return value;
}

Parameter *kernel_parameter_of(const Kernel *kernel, const Value *value)
{
    if (value->op != NULL || value->region != NULL || value->index >= kernel->parameter_count ||
        kernel->parameters[value->index].value != value)
        return NULL;
    return &kernel->parameters[value->index];
}

bool parameter_is_map(const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    return type->kind == TYPE_POINTER && type->space == SPACE_PARAM;
}

int kernel_map_count(const Kernel *kernel)
{
    int count = 0, all = kernel->parameter_count;
    while (count < all && parameter_is_map(&kernel->parameters[all - 1 - count])) count++;
    return count;
}

int kernel_argument_count(const Kernel *kernel)
{
    int count = kernel->parameter_count - kernel_map_count(kernel);
    while (count > 0 && kernel->parameters[count - 1].is_workspace) count--;
    return count;
}

int kernel_workspace_count(const Kernel *kernel)
{
    return kernel->parameter_count - kernel_map_count(kernel) - kernel_argument_count(kernel);
}

Value *kernel_add_parameter(Kernel *kernel, Name name, const Type *type, Span span)
{
    Parameter parameter = {.name = name, .span = span, .multiple = 1};
    const bool is_map = type->kind == TYPE_POINTER && type->space == SPACE_PARAM;
    const int index = is_map ? kernel->parameter_count : kernel_argument_count(kernel);
    return insert_parameter(kernel, index, parameter, type);
}

Value *kernel_add_map(Kernel *kernel, Name name, Span span)
{
    const Type *type = type_pointer(kernel->types, DTYPE_u8, SPACE_PARAM);
    return kernel_add_parameter(kernel, name, type, span);
}

Value *kernel_add_workspace(Kernel *kernel, Name name, const Type *type, bool zeroed, Span span)
{
    Parameter parameter = {.name = name,
                           .span = span,
                           .multiple = WORKSPACE_ALIGN,
                           .is_workspace = true,
                           .is_zeroed = zeroed};
    return insert_parameter(kernel, kernel->parameter_count - kernel_map_count(kernel), parameter,
                            type);
}

Tensor *kernel_add_tensor(Kernel *kernel, int pointer, int rank, Span span)
{
    const Parameter *parameter = &kernel->parameters[pointer];
    CHECK(rank >= 0 && rank <= TYPE_RANK);
    kernel->tensors =
        grow_array(kernel->arena, kernel->tensors, sizeof(Tensor), kernel->tensor_count);
    Tensor *tensor = &kernel->tensors[kernel->tensor_count++];
    *tensor = (Tensor){.name = parameter->name,
                       .span = span,
                       .dtype = parameter->value->type->dtype,
                       .rank = rank,
                       .pointer = pointer,
                       .dtype_key = -1};
    return tensor;
}

static bool extents_have(const Extent *extents, int rank, int parameter)
{
    for (int i = 0; i < rank; i++)
        if (extents[i].kind == EXTENT_PARAMETER && extents[i].parameter == parameter) return true;
    return false;
}

const Tensor *kernel_tensor_of(const Kernel *kernel, int parameter)
{
    for (int i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].pointer == parameter) return &kernel->tensors[i];
    return NULL;
}

bool kernel_tensor_has(const Kernel *kernel, int parameter)
{
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        if (tensor->pointer == parameter || tensor->dtype_key == parameter) return true;
        if (tensor->is_result) continue;
        if (extents_have(tensor->shape, tensor->rank, parameter)) return true;
        if (tensor->is_strided && extents_have(tensor->strides, tensor->rank, parameter))
            return true;
    }
    return false;
}

Value *region_add_argument(Region *region, const Type *type, Name name)
{
    Arena *arena = region->kernel->ops;
    const int count = region->argument_count;
    Value *value = arena_new_of(arena, Value);
    *value = (Value){.type = type, .region = region, .index = count, .name = name};
    if ((count & (count - 1)) == 0) { /* there is room up to a power of two */
        Value **larger = arena_new_array(arena, Value *, 2 * count + 1);
        if (count) memcpy(larger, region->arguments, sizeof *larger * (size_t)count);
        region->arguments = larger;
    }
    region->arguments[region->argument_count++] = value;
    return value;
}

/* ---- builders ---- */

Builder builder_at_end(Region *region, Span span)
{
    return (Builder){.kernel = region->kernel, .region = region, .span = span};
}

Builder builder_before(Op *op)
{
    return (Builder){
        .kernel = op->parent->kernel, .region = op->parent, .before = op, .span = op->span};
}

Builder builder_after(Op *op)
{
    return (Builder){
        .kernel = op->parent->kernel, .region = op->parent, .before = op->next, .span = op->span};
}

static void link_op(Builder *builder, Op *op)
{
    Region *region = builder->region;
    op->parent = region;
    op->next = builder->before;
    op->previous = builder->before != NULL ? builder->before->previous : region->last;
    *(op->previous != NULL ? &op->previous->next : &region->first) = op;
    *(op->next != NULL ? &op->next->previous : &region->last) = op;
}

static void check_row(const Builder *builder, OpCode code, int operand_count,
                      Value *const *operands, int result_count, const Type *const *result_types)
{
    Buf fault = {0};
    if (row_fits(code, operand_count, operands, result_count, result_types, &fault)) return;
    Location location = builder->span.source == NULL
                            ? (Location){0}
                            : source_location(builder->span.source, builder->span.begin);
    ICE("op %s built in kernel %s for line %u: %s", op_info(code)->name, builder->kernel->name,
        location.line, fault.data);
}

/* An op and what belongs to it in one piece. */
static Op *new_op(Arena *arena, int operand_count, int result_count, int region_count)
{
    const size_t operands = (size_t)operand_count, results = (size_t)result_count,
                 regions = (size_t)region_count;
    Op *op = arena_alloc(arena, sizeof(Op) + results * sizeof(Value) +
                                    operands * (sizeof(Value *) + sizeof(OpUse)) +
                                    regions * (sizeof(Region *) + sizeof(Region)));
    op->operand_count = operand_count;
    op->result_count = result_count;
    op->region_count = (short)region_count;
    op->results = (Value *)(op + 1);
    op->uses = (OpUse *)(op->results + results);
    op->operands = (Value **)(op->uses + operands);
    op->regions = (Region **)(op->operands + operands);
    return op;
}

static void add_results(Op *op, const Type *const *result_types)
{
    for (int i = 0; i < op->result_count; i++)
        op->results[i] = (Value){.type = result_types[i], .op = op, .index = i};
}

static void add_regions(Kernel *kernel, Op *op)
{
    Region *regions = (Region *)(op->regions + op->region_count);
    for (int i = 0; i < op->region_count; i++) {
        regions[i] = (Region){.parent = op, .kernel = kernel};
        op->regions[i] = &regions[i];
    }
}

Op *build_op(Builder *builder, OpCode code, int operand_count, Value *const *operands,
             int result_count, const Type *const *result_types)
{
    check_row(builder, code, operand_count, operands, result_count, result_types);
    Op *op = new_op(builder->kernel->ops, operand_count, result_count, op_info(code)->regions);
    op->code = code;
    builder->kernel->built[code / 64] |= UINT64_C(1) << code % 64;
    op->span = builder->span;
    add_results(op, result_types);
    add_regions(builder->kernel, op);
    link_op(builder, op);
    uses_add(op, operands);
    return op;
}

/* ---- ops by their operands ---- */

static _Noreturn void fail_inference(const Builder *builder, OpCode code, int count,
                                     Value *const *operands)
{
    Buf text = {0};
    for (int i = 0; i < count; i++) {
        buf_text(&text, i == 0 ? "" : ", ");
        type_print(operands[i]->type, &text);
    }
    ICE("op %s in kernel %s has no type for (%s)", op_info(code)->name, builder->kernel->name,
        text.data == NULL ? "" : text.data);
}

Value *build(Builder *builder, OpCode code, int operand_count, Value *const *operands)
{
    if (op_info(code)->results[0] == '\0') {
        build_op(builder, code, operand_count, operands, 0, NULL);
        return NULL;
    }
    const Type *type = infer_type(builder->kernel->types, code, operand_count, operands);
    if (type == NULL) fail_inference(builder, code, operand_count, operands);
    return &build_op(builder, code, operand_count, operands, 1, &type)->results[0];
}

Value *build1(Builder *builder, OpCode code, Value *a)
{
    return build(builder, code, 1, (Value *[]){a});
}

Value *build2(Builder *builder, OpCode code, Value *a, Value *b)
{
    return build(builder, code, 2, (Value *[]){a, b});
}

Value *build3(Builder *builder, OpCode code, Value *a, Value *b, Value *c)
{
    return build(builder, code, 3, (Value *[]){a, b, c});
}

Value *build_const(Builder *builder, DType dtype, int64_t value)
{
    CHECK(!dtype_is_float(dtype));
    const Type *type = type_scalar(builder->kernel->types, dtype);
    Op *op = build_op(builder, OP_const, 0, NULL, 1, &type);
    op_set_int(op, ATTR_value, dtype_wrap(dtype, value));
    return &op->results[0];
}

Value *build_number(Builder *builder, DType dtype, double number)
{
    CHECK(dtype_is_float(dtype));
    const Type *type = type_scalar(builder->kernel->types, dtype);
    Op *op = build_op(builder, OP_const, 0, NULL, 1, &type);
    op_set_number(op, ATTR_number, dtype_decode(dtype, dtype_encode(dtype, number)));
    return &op->results[0];
}

Value *build_null(Builder *builder, const Type *pointer)
{
    Value *zero = build_const(builder, DTYPE_i64, 0);
    return build_op(builder, OP_bitcast, 1, &zero, 1, &pointer)->results;
}

Op *build_branch(Builder *builder, Value *condition)
{
    Op *branch = build_op(builder, OP_if, 1, &condition, 0, NULL);
    for (int i = 0; i < branch->region_count; i++) {
        Builder end = builder_at_end(branch->regions[i], builder->span);
        build_op(&end, OP_yield, 0, NULL, 0, NULL);
    }
    return branch;
}

Value *build_cmp(Builder *builder, const char *predicate, Value *a, Value *b)
{
    Value *result = build2(builder, OP_cmp, a, b);
    op_set_text(result->op, ATTR_predicate,
                intern_text(builder->kernel->session->names, predicate));
    return result;
}

Value *build_of_grid(Builder *builder, OpCode code, int dim)
{
    const Type *type = type_scalar(builder->kernel->types, DTYPE_i32);
    Op *op = build_op(builder, code, 0, NULL, 1, &type);
    op_set_int(op, ATTR_dim, dim);
    return &op->results[0];
}

Value *build_cast(Builder *builder, DType dtype, Value *a)
{
    if (a->type->dtype == dtype) return a;
    const Type *type = type_with_dtype(builder->kernel->types, a->type, dtype);
    return &build_op(builder, OP_cast, 1, &a, 1, &type)->results[0];
}

Value *build_view(Builder *builder, Value *pointer, int rank, Value *const *extents,
                  Value *const *strides)
{
    CHECK(rank >= 0 && rank <= TYPE_RANK);
    Value *operands[1 + 2 * TYPE_RANK] = {pointer};
    int64_t facts[2 * TYPE_RANK];
    for (int i = 0; i < 2 * rank; i++) {
        operands[1 + i] = i < rank ? extents[i] : strides[i - rank];
        if (!value_constant(operands[1 + i], &facts[i])) facts[i] = TYPE_DYNAMIC;
    }
    const Type *type =
        type_view(builder->kernel->types, pointer->type->dtype, rank, facts, facts + rank);
    return &build_op(builder, OP_view, 1 + 2 * rank, operands, 1, &type)->results[0];
}

/* ---- attributes: in the order of their keys, so that equal ops print the same ---- */

static Attr *attr_slot(Op *op, AttrKey key)
{
    Arena *arena = op->parent->kernel->ops;
    int index = 0;
    while (index < op->attr_count && op->attrs[index].key < key) index++;
    if (index < op->attr_count && op->attrs[index].key == key) return &op->attrs[index];
    op->attrs = grow_array(arena, op->attrs, sizeof(Attr), op->attr_count);
    memmove(&op->attrs[index + 1], &op->attrs[index],
            (size_t)(op->attr_count - index) * sizeof(Attr));
    op->attr_count++;
    return &op->attrs[index];
}

void op_set_int(Op *op, AttrKey key, int64_t value)
{
    CHECK(attr_kind(key) == ATTR_KIND_INT);
    *attr_slot(op, key) = (Attr){.key = key, .integer = value};
}

void op_set_number(Op *op, AttrKey key, double value)
{
    CHECK(attr_kind(key) == ATTR_KIND_FLOAT);
    *attr_slot(op, key) = (Attr){.key = key, .number = value};
}

void op_set_text(Op *op, AttrKey key, Name text)
{
    CHECK(attr_kind(key) == ATTR_KIND_TEXT && text != NULL);
    *attr_slot(op, key) = (Attr){.key = key, .text = text};
}

void op_set_ints(Op *op, AttrKey key, int count, const int64_t *values)
{
    CHECK(attr_kind(key) == ATTR_KIND_INTS && count >= 0);
    int64_t *copy = count ? arena_new_array(op->parent->kernel->ops, int64_t, count) : NULL;
    for (int i = 0; i < count; i++) copy[i] = values[i];
    *attr_slot(op, key) = (Attr){.key = key, .integers = copy, .count = count};
}

void op_drop_attr(Op *op, AttrKey key)
{
    Attr *left = arena_new_array(op->parent->kernel->ops, Attr, op->attr_count + 1);
    int count = 0;
    for (int i = 0; i < op->attr_count; i++)
        if (op->attrs[i].key != key) left[count++] = op->attrs[i];
    op->attrs = left;
    op->attr_count = count;
}

void op_keep_attr(Op *op, const Op *from, AttrKey key)
{
    const Attr *attr = op_attr(from, key);
    if (attr != NULL) *attr_slot(op, key) = *attr;
}

void op_keep_attrs(Op *op, const Op *from)
{
    op->attrs = from->attrs;
    op->attr_count = from->attr_count;
}

const Attr *op_attr(const Op *op, AttrKey key)
{
    for (int i = 0; i < op->attr_count; i++)
        if (op->attrs[i].key == key) return &op->attrs[i];
    return NULL;
}

/* The same key and value, or both NULL. */
static bool attr_same(const Attr *a, const Attr *b)
{
    if (!a || !b) return a == b;
    if (a->key != b->key || a->count != b->count) return false;
    if (a->count == 0) return a->integer == b->integer; /* bits: -0.0 is not 0.0 */
    return memcmp(a->integers, b->integers, sizeof *a->integers * (size_t)a->count) == 0;
}

bool op_same_attr(const Op *a, const Op *b, AttrKey key)
{
    return attr_same(op_attr(a, key), op_attr(b, key));
}

int64_t op_int(const Op *op, AttrKey key, int64_t otherwise)
{
    const Attr *attr = op_attr(op, key);
    return attr == NULL ? otherwise : attr->integer;
}

unsigned op_dims_mask(const Op *op)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    unsigned mask = 0;
    for (int i = 0; i < dims->count; i++) mask |= 1u << dims->integers[i];
    return mask;
}

bool op_has_tiles(const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_TILE) return true;
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i].type->kind == TYPE_TILE) return true;
    return false;
}

bool value_is_constant(const Value *value, int64_t number)
{
    int64_t is;
    return value_constant(value, &is) && is == number;
}

bool value_constant(const Value *value, int64_t *out)
{
    const Attr *attr =
        value->op == NULL || value->op->code != OP_const ? NULL : op_attr(value->op, ATTR_value);
    if (attr == NULL) return false;
    *out = attr->integer;
    return true;
}
