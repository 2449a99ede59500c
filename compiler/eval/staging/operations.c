/* operations.c: what the language asks of staging, where it meets a run-time value. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- conditions ---- */

Object *stage_ifexp(Eval *eval, const NodeIfExp *node, Object *test)
{
    const Span at = eval_move_to(eval, node->test);
    if (masked_differ(eval, test)) return masked_choice(eval, node, test);
    Value *condition = stage_condition(eval, test, at);
    return condition != NULL ? stage_choice(eval, node, condition) : NULL;
}

static Flow run_branch(Eval *eval, void *context)
{
    return eval_block(eval, *(const Nodes *)context);
}

Flow stage_if(Eval *eval, const NodeIf *node, Object *test, Rest *rest)
{
    Nodes bodies[2] = {node->body, node->orelse};
    if (masked_differ(eval, test) || masked_leave_by(eval, bodies))
        return stage_masked(eval, test, bodies);
    Value *condition = stage_condition(eval, test, eval->at);
    const Way ways[2] = {{run_branch, &bodies[0], block_leaves(bodies[0])},
                         {run_branch, &bodies[1], block_leaves(bodies[1])}};
    Flow flow;
    if (condition == NULL) return FLOW_ERROR;
    return run_group_if(eval, condition, node, &flow) ? flow
                                                      : stage_ways(eval, condition, ways, rest);
}

/* ---- what a run-time value is ---- */

const char *staged_type_text(Eval *eval, const Object *object)
{
    return type_text(eval->arena, staged_object_type(object));
}

bool staged_constant(const Object *object, int64_t *out)
{
    return value_constant(object->as.ir.value, out);
}

bool staged_is_integer(const Eval *eval, const Object *object)
{
    const Type *type = staged_object_type(object);
    return (type_is_scalar(type) || masked_differ(eval, object)) && dtype_is_integer(type->dtype);
}

Object *staged_dtype(Eval *eval, const Object *object)
{
    const Type *type = staged_object_type(object);
    return type_is_scalar(type) || type_is_tile(type) ? object_dtype(eval, type->dtype) : NULL;
}

/* The first extent of a view or tile, as NumPy has it. */
Object *staged_length(Eval *eval, Object *object, Span at)
{
    const Type *type = staged_object_type(object);
    if (type->kind == TYPE_SCALAR || type->kind == TYPE_POINTER) return NULL;
    Object *shape = attribute_get(eval, object, intern_text(eval->session->names, "shape"), at);
    return shape != NULL && object_is_sequence(shape) && shape->as.list.count > 0
               ? shape->as.list.items[0]
               : NULL;
}

/* ---- operators and statements ---- */

Object *stage_extreme(Eval *eval, Operator wins, Object *a, Object *b, Span at)
{
    Value *left, *right;
    if (!stage_pair(eval, a, b, at, &left, &right)) return NULL;
    if (left->type->dtype == DTYPE_b1) { /* booleans have no order in the IR */
        left = stage_cast(eval, left, DTYPE_i32);
        right = stage_cast(eval, right, DTYPE_i32);
    }
    return object_ir(eval,
                     build2(&eval->builder, wins == OPERATOR_Lt ? OP_min : OP_max, left, right));
}

bool tile_update(Eval *eval, Object *tile, Object *value)
{
    return tile_write(eval, tile, stage_value(eval, value));
}

static bool is_name(Name name, const char *text)
{
    return strcmp(name, text) == 0;
}

/* ---- attributes ---- */

/* Extents, or strides: what is known at run time only comes from the view that was made with it. */
static Object *extents_of(Eval *eval, const Op *view, int first, const int64_t *known, int rank,
                          Span at)
{
    Object *extents = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < rank; i++) {
        const bool dynamic = known[i] == TYPE_DYNAMIC;
        if (dynamic && view == NULL)
            return FAIL(eval, not_static, at, "this extent", "a run-time value");
        list_append(eval, extents,
                    dynamic ? object_ir(eval, operand_list(view, extents)[first + i])
                            : object_int(eval, known[i]));
    }
    return extents;
}

static Object *shape_of(Eval *eval, const Op *view, const Type *type, Span at)
{
    Object *shape = extents_of(eval, view, 0, type->shape, type->rank, at);
    if (shape != NULL) shape->is_shape = view != NULL;
    return shape;
}

static const char *const ATTRIBUTES[] = {"shape", "ndim", "strides", "data", "ptr", "dtype"};
enum { SHAPE, NDIM, STRIDES, DATA, PTR, DTYPE, ATTRIBUTE_COUNT };

const char *staged_attribute_name(size_t index)
{
    return index < ATTRIBUTE_COUNT ? ATTRIBUTES[index] : NULL;
}

static size_t attribute_index(Name name)
{
    size_t index = 0;
    while (index < ATTRIBUTE_COUNT && !is_name(name, ATTRIBUTES[index])) index++;
    return index;
}

static Object *element_type_of(Eval *eval, const Type *type)
{
    if (type->kind != TYPE_POINTER) return object_dtype(eval, type->dtype);
    Object *dtype = object_new(eval, OBJECT_POINTER_TYPE);
    dtype->as.dtype = type->dtype;
    return dtype;
}

Object *staged_attribute(Eval *eval, Object *object, Name name, Span at, bool *found)
{
    const Value *value = object->as.ir.value;
    const Type *type = staged_object_type(object);
    const Op *view =
        value != NULL && value->op != NULL && value->op->code == OP_view ? value->op : NULL;
    *found = true;
    switch (attribute_index(name)) {
    case SHAPE: return shape_of(eval, view, type, at);
    case NDIM: return object_int(eval, type->rank);
    case STRIDES:
        if (view == NULL) break;
        return extents_of(eval, view, type->rank, type->strides, type->rank, at);
    case DATA:
    case PTR:
        if (type->kind == TYPE_SCALAR) break;
        return view != NULL ? object_ir(eval, operand(view, pointer)) : object;
    case DTYPE: return element_type_of(eval, type);
    default: break;
    }
    *found = false;
    return NULL;
}

typedef enum Assertions {
    ASSERTIONS_EMULATED, /* the emulator checks them */
    ASSERTIONS_NONE,
    ASSERTIONS_ALL, /* a GPU checks them, too */
} Assertions;

/* As the attribute `assertions` of the kernel at hand says: None, False or True. */
static Assertions assertions_of(Eval *eval)
{
    const Instance *attributes = eval->staging->attributes->as.instance;
    const Binding *binding =
        bindings_get(&attributes->attributes, intern_text(eval->session->names, "assertions"));
    const Object *said = binding != NULL ? binding->object : NULL;
    if (said == eval->yes) return ASSERTIONS_ALL;
    return said == eval->no ? ASSERTIONS_NONE : ASSERTIONS_EMULATED;
}

static void print_statement(const NodeAssert *node, Buf *text)
{
    const Span said = node->base.span;
    const Location at = source_location(said.source, said.begin);
    buf_printf(text, "Assertion failed: %s:%u: %.*s", said.source->path, at.line,
               (int)(said.end - said.begin), said.source->text + said.begin);
}

/* In the host part of a kernel function the call is refused unless it holds; in the device part
 * the emulator checks it. */
Flow stage_assertion(Eval *eval, const NodeAssert *node, Object *test)
{
    const Span said = node->test->span;
    const bool on_host = in_host_part(eval);
    const Assertions checked = on_host ? ASSERTIONS_EMULATED : assertions_of(eval);
    if (checked == ASSERTIONS_NONE) return FLOW_NEXT;
    Object *message = node->msg != NULL ? eval_expr(eval, node->msg) : eval->none;
    Value *condition = message != NULL ? stage_condition(eval, test, eval->at) : NULL;
    if (condition == NULL) return FLOW_ERROR;
    Buf text = {0};
    if (checked == ASSERTIONS_ALL)
        print_statement(node, &text);
    else if (node->msg != NULL)
        object_print(eval, message, TEXT_STR, &text);
    else
        buf_printf(&text, "the kernel asserts %.*s", (int)(said.end - said.begin),
                   said.source->text + said.begin);
    Op *op = build_op(&eval->builder, on_host ? OP_require : OP_check, 1, &condition, 0, NULL);
    op_set_text(op, ATTR_text,
                intern(eval->session->names, text.data != NULL ? text.data : "", text.length));
    if (!on_host && checked == ASSERTIONS_EMULATED) op_set_int(op, ATTR_emulated, 1);
    buf_free(&text);
    return FLOW_NEXT;
}

/* ---- the table ---- */

static const BuiltinRow ROWS[] = {
#define BUILTIN(module, name, signature, handler) {module, name, signature, handler},
#include "eval/staging/builtins.def"
#undef BUILTIN
};

void staging_offer(Eval *eval, Operations *operations)
{
#define PYTHON(result, name, parameters)
#define STAGING(result, name, parameters) operations->name = name;
#define SURFACE(result, name, parameters)
#define EXPORT(result, name, parameters)
#include "eval/values/operations.def"
#undef PYTHON
#undef STAGING
#undef SURFACE
#undef EXPORT
    builtins_add(eval, ROWS, sizeof ROWS / sizeof *ROWS);
}
