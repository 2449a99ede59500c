/* structure.c: values of several parts under run-time control: tuples, lists, views of memory. In a
 * variable each part that changes is a variable of its own (a CELL); one that does not stays what
 * it is. A view's parts are its pointer, extents and strides.
 *
 * A list or dict that is changed under run-time control keeps its items in a binding, so that they
 * are merged and carried as a name's value is. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- asking ---- */

enum { KNOWN_DEPTH = 50 }; /* a list may hold itself */

static bool is_known_at(Eval *eval, const Object *object, int depth)
{
    if (!eval_work(eval, 1)) return false;
    if (object_is_staged(object) || object->kind == OBJECT_CELL || object->kind == OBJECT_MERGE)
        return false;
    if (!object_is_sequence(object)) return true;
    for (uint32_t i = 0; depth < KNOWN_DEPTH && i < object->as.list.count; i++)
        if (!is_known_at(eval, object->as.list.items[i], depth + 1)) return false;
    return depth < KNOWN_DEPTH;
}

bool object_is_known(Eval *eval, const Object *object)
{
    return is_known_at(eval, object, 0);
}

bool objects_same(Eval *eval, const Object *a, const Object *b)
{
    if (a == NULL || b == NULL) return false;
    if (a == b) return true;
    if (a->kind == OBJECT_IR && b->kind == OBJECT_IR) return a->as.ir.value == b->as.ir.value;
    return a->kind == b->kind && object_is_known(eval, a) && object_is_known(eval, b) &&
           object_equal(eval, a, b);
}

enum { DESCRIBED_DEPTH = 4 };

static void describe_at(Eval *eval, const Object *object, int depth, Buf *out);

static void describe_parts(Eval *eval, const Object *object, int depth, Buf *out)
{
    bool list = object->kind == OBJECT_LIST;
    buf_text(out, list ? "list [" : "tuple (");
    for (uint32_t i = 0; i < object->as.list.count; i++) {
        if (i > 0) buf_text(out, ", ");
        if (i == 8) {
            buf_text(out, "...");
            break;
        }
        describe_at(eval, object->as.list.items[i], depth, out);
    }
    buf_text(out, list ? "]" : ")");
}

static void describe_at(Eval *eval, const Object *object, int depth, Buf *out)
{
    const bool is_sequence = object_is_sequence(object);
    if (object->kind == OBJECT_CELL || object_is_staged(object))
        buf_text(out, type_text(eval->arena, staged_object_type(object)));
    else if (is_sequence && object->as.list.view != NULL)
        buf_text(out, type_text(eval->arena, object->as.list.view));
    else if (is_sequence && depth < DESCRIBED_DEPTH)
        describe_parts(eval, object, depth + 1, out);
    else
        buf_text(out, object_kind_name(object));
}

const char *object_describe(Eval *eval, const Object *object)
{
    Buf buf = {0};
    describe_at(eval, object, 0, &buf);
    const char *text = arena_copy_text(eval->arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

/* ---- parts ---- */

static Object *view_parts(Eval *eval, const Object *object)
{
    const Op *op = object->as.ir.value->op;
    Object *parts = object_list(eval, OBJECT_TUPLE, NULL, 0);
    parts->as.list.view = op->results[0].type;
    for (int i = 0; i < op->operand_count; i++) {
        int64_t constant;
        list_append(eval, parts,
                    i > 0 && value_constant(op->operands[i], &constant)
                        ? object_int(eval, constant)
                        : object_ir(eval, op->operands[i]));
    }
    return parts;
}

Object *object_parts(Eval *eval, Object *object)
{
    if (object_is_sequence(object)) return object;
    bool is_view = object->kind == OBJECT_IR && object->as.ir.value->op != NULL &&
                   object->as.ir.value->op->code == OP_view;
    return is_view ? view_parts(eval, object) : NULL;
}

bool parts_alike(const Object *a, const Object *b)
{
    return a != NULL && b != NULL && a->kind == b->kind && a->as.list.count == b->as.list.count &&
           a->as.list.view == b->as.list.view && a->as.list.class == b->as.list.class;
}

Object *parts_new(Eval *eval, const Object *model)
{
    Object *parts = object_list(eval, model->kind, NULL, 0);
    parts->as.list.view = model->as.list.view;
    parts->as.list.class = model->as.list.class;
    parts->as.list.has_cells = true;
    return parts;
}

static Object *rebuild_view(Eval *eval, const Object *parts)
{
    const Type *type = parts->as.list.view;
    Value *operands[1 + 2 * TYPE_RANK];
    for (uint32_t i = 0; i < parts->as.list.count; i++) {
        Object *part = parts->as.list.items[i];
        operands[i] =
            object_is_staged(part) ? stage_value(eval, part) : stage_index(eval, part, eval->at);
        if (operands[i] == NULL) return NULL;
    }
    return object_ir(
        eval,
        build_op(&eval->builder, OP_view, (int)parts->as.list.count, operands, 1, &type)->results);
}

static Object *read_cell(Eval *eval, const Object *cell)
{
    Object *object = object_ir(eval, build1(&eval->builder, OP_var_get, cell->as.ir.var));
    if (object->kind == OBJECT_TILE) object->fresh = false;
    return object;
}

/* A tile in a record is the variable itself: it can be written in place. */
static Object *read_part(Eval *eval, Object *part, bool of_record)
{
    if (!of_record || part->kind != OBJECT_CELL || !type_is_tile(part->as.ir.var->type->content))
        return structure_read(eval, part);
    Object *tile = object_new(eval, OBJECT_TILE);
    tile->as.ir.var = part->as.ir.var;
    return tile;
}

Object *structure_read(Eval *eval, Object *object)
{
    if (object->kind == OBJECT_CELL) return read_cell(eval, object);
    if (!object_is_sequence(object) || !object->as.list.has_cells) return object;
    Object *read = object_list(eval, object->kind, NULL, 0);
    read->as.list.is_frozen = object->kind == OBJECT_LIST;
    for (uint32_t i = 0; i < object->as.list.count; i++)
        list_append(eval, read,
                    read_part(eval, object->as.list.items[i], object_is_record(object)));
    read->as.list.class = object->as.list.class;
    if (object->as.list.view == NULL) return read;
    read->as.list.view = object->as.list.view;
    return rebuild_view(eval, read);
}

/* ---- variables ---- */

/* All that a value may be, merges opened. */
static void collect(Eval *eval, Object *value, Map *seen, ObjectVec *out)
{
    ObjectVec next = {0};
    vec_push(eval->arena, &next, value);
    while (next.count > 0) {
        Object *object = next.data[--next.count];
        if (object == NULL || map_has(seen, object)) continue;
        map_set(eval->arena, seen, object, object);
        for (int i = 2; object->kind == OBJECT_MERGE && i-- > 0;)
            vec_push(eval->arena, &next, object->as.merge->values[i]);
        if (object->kind != OBJECT_MERGE) vec_push(eval->arena, out, object);
    }
}

static ObjectVec part_of_each(Eval *eval, const ObjectVec *nexts, const Object *parts, uint32_t i)
{
    ObjectVec found = {0};
    for (size_t j = 0; j < nexts->count; j++) {
        Object *next = object_parts(eval, nexts->data[j]);
        if (parts_alike(parts, next)) vec_push(eval->arena, &found, next->as.list.items[i]);
    }
    return found;
}

static bool is_unchanged(Eval *eval, const Object *object, const ObjectVec *nexts)
{
    for (size_t i = 0; i < nexts->count; i++)
        if (!objects_same(eval, object, nexts->data[i])) return false;
    return true;
}

/* The type of a variable that holds the object now, and one of `nexts` later. NULL: there is none.
 */
static const Type *variable_type(Eval *eval, Object *object, const ObjectVec *given)
{
    object = instance_number(eval, object);
    ObjectVec numbers = {0};
    for (size_t i = 0; i < given->count; i++)
        vec_push(eval->arena, &numbers, instance_number(eval, given->data[i]));
    const ObjectVec *nexts = &numbers;
    const Type *type = content_type(eval, object);
    const bool spreads = eval->parallel != NULL && type != NULL && type->kind == TYPE_SCALAR;
    if ((!object_is_number(object) && !spreads) || nexts->count == 0) return type;
    const Object *next = nexts->data[0];
    for (size_t i = 1; i < nexts->count && object_is_known(eval, next); i++) next = nexts->data[i];
    for (size_t i = 0; i < nexts->count && eval->parallel != NULL; i++)
        if (masked_differ(eval, nexts->data[i])) next = nexts->data[i];
    const Type *wanted = content_type(eval, next);
    if (!object_is_number(object) && wanted != NULL && wanted->kind != TYPE_TILE) return type;
    bool keeps = object->kind == OBJECT_FLOAT && object_is_number(next);
    return wanted != NULL && !keeps ? wanted : type;
}

/* object: NULL where it has no value yet. */
static Object *make_cell(Eval *eval, const Type *type, Object *object, Name name)
{
    if (object != NULL) object = instance_number(eval, object);
    Value *init = object != NULL ? stage_typed(eval, object, type, eval->at) : NULL;
    if (object != NULL && init == NULL) return NULL;
    const Type *var = type_var(eval->builder.kernel->types, type);
    Op *op = build_op(&eval->builder, OP_var, object != NULL ? 1 : 0, &init, 1, &var);
    op->results[0].name = name;
    Object *cell = object_new(eval, OBJECT_CELL);
    cell->as.ir.var = op->results;
    return cell;
}

typedef struct Maker {
    Eval *eval;
    Binding *binding;
} Maker;

static Object *make_parts(const Maker *maker, Object *object, const ObjectVec *nexts, int depth);

static Object *no_variable(const Maker *maker, const Object *object)
{
    Eval *eval = maker->eval;
    FAIL(eval, no_variable, eval->at, maker->binding->name, object_describe(eval, object));
    diag_note(eval->session->diags, maker->binding->at, "it was bound here");
    return NULL;
}

/* That one of them that says most: what is there before what is not, staged before known. */
static Object *model_of(Eval *eval, const ObjectVec *nexts)
{
    Object *model = nexts->data[0];
    for (size_t i = 1; i < nexts->count; i++) {
        Object *next = nexts->data[i];
        const bool comes = object_is_absent(model) && !object_is_absent(next);
        if (comes || (object_is_known(eval, model) && !object_is_known(eval, next) &&
                      !object_is_absent(next)))
            model = next;
    }
    return model;
}

/* What has no value before the loop that is staged next, and will have one of these in it. */
static Object *make_unset(const Maker *maker, const ObjectVec *nexts, int depth)
{
    Eval *eval = maker->eval;
    if (depth > KNOWN_DEPTH) return FAIL(eval, recursion, eval->at, KNOWN_DEPTH);
    if (nexts->count == 0 || !eval_works(eval, WORK_OF_STAGED, eval->at)) return NULL;
    Object *model = model_of(eval, nexts);
    if (object_is_known(eval, model) && is_unchanged(eval, model, nexts)) return model;
    const Object *parts = object_parts(eval, model);
    const Type *type = parts == NULL ? variable_type(eval, model, nexts) : NULL;
    if (parts == NULL && type == NULL) return no_variable(maker, model);
    if (parts == NULL) return make_cell(eval, type, NULL, maker->binding->name);
    Object *made = parts_new(eval, parts);
    for (uint32_t i = 0; i < parts->as.list.count; i++) {
        ObjectVec part_nexts = part_of_each(eval, nexts, parts, i);
        Object *part = make_unset(maker, &part_nexts, depth + 1);
        if (part == NULL) return NULL;
        list_append(eval, made, part);
    }
    return made;
}

static bool any_present(Eval *eval, const ObjectVec *nexts)
{
    return nexts->count > 0 && !object_is_absent(model_of(eval, nexts));
}

static Object *make_part(const Maker *maker, Object *object, const ObjectVec *nexts, int depth)
{
    Eval *eval = maker->eval;
    if (is_unchanged(eval, object, nexts)) return object;
    if (object_is_absent(object) && any_present(eval, nexts))
        return make_unset(maker, nexts, depth);
    if (object_parts(eval, object) != NULL) return make_parts(maker, object, nexts, depth + 1);
    const Type *type = variable_type(eval, object, nexts);
    if (type != NULL) return make_cell(eval, type, object, maker->binding->name);
    FAIL(eval, no_variable, eval->at, maker->binding->name,
         arena_printf(eval->arena, "%s in part", object_describe(eval, object)));
    diag_note(eval->session->diags, maker->binding->at, "it was bound here");
    return NULL;
}

static Object *make_parts(const Maker *maker, Object *object, const ObjectVec *nexts, int depth)
{
    Eval *eval = maker->eval;
    const Object *parts = object_parts(eval, object);
    if (depth > KNOWN_DEPTH) return FAIL(eval, recursion, eval->at, KNOWN_DEPTH);
    if (!eval_works(eval, WORK_OF_STAGED, eval->at)) return NULL;
    Object *made = parts_new(eval, parts);
    for (uint32_t i = 0; i < parts->as.list.count; i++) {
        ObjectVec part_nexts = part_of_each(eval, nexts, parts, i);
        Object *part = make_part(maker, parts->as.list.items[i], &part_nexts, depth);
        if (part == NULL) return NULL;
        list_append(eval, made, part);
    }
    return made;
}

bool binding_make_variable(Eval *eval, Binding *binding, Object *next)
{
    Object *object = binding->object != NULL ? binding_get(eval, binding, eval->at) : NULL;
    if (object == NULL && binding->object != NULL) return false;
    const Maker maker = {eval, binding};
    ObjectVec nexts = {0};
    Map seen = {0};
    collect(eval, next, &seen, &nexts);
    Object *made = NULL;
    if (object == NULL || (object_is_absent(object) && any_present(eval, &nexts))) {
        made = make_unset(&maker, &nexts, 0);
    } else if (object_parts(eval, object) != NULL) {
        made = make_parts(&maker, object, &nexts, 0);
    } else {
        const Type *type = variable_type(eval, object, &nexts);
        made = type != NULL ? make_cell(eval, type, object, binding->name)
                            : no_variable(&maker, object);
    }
    if (made == NULL) return false;
    if (made->kind == OBJECT_CELL && type_is_tile(made->as.ir.var->type->content))
        made->kind = OBJECT_TILE;
    binding_note(eval, binding);
    binding->object = made;
    binding->variable = true;
    binding->control = eval->control;
    return true;
}

/* ---- writing to a variable ---- */

typedef struct Writer {
    Eval *eval;
    Binding *binding;
    Object *whole; /* that is written */
    Span at;
} Writer;

/* Whether a value of one dtype may be written to a variable of another without being asked: where
 * numbers of the program make results wider, they would make them wider in each iteration. */
static bool may_convert(const Eval *eval, const Type *from, const Type *to)
{
    DType common;
    if (from->kind != to->kind || !type_same_shape(from, to)) return false;
    const bool alike = dtype_is_float(from->dtype) == dtype_is_float(to->dtype);
    return from->dtype == to->dtype || (alike && numbers_here(eval) == NUMBERS_RANKED) ||
           (stage_promote(from->dtype, to->dtype, &common) && common == to->dtype);
}

static bool differs(const Writer *writer)
{
    Eval *eval = writer->eval;
    const Binding *binding = writer->binding;
    FAIL(eval, variable_type, writer->at, binding->name, object_describe(eval, binding->object),
         object_describe(eval, writer->whole));
    if (eval->quiet == 0)
        diag_note(eval->session->diags, binding->at, "it was given its type here");
    return false;
}

static bool write_cell(const Writer *writer, Value *var, Object *object)
{
    Eval *eval = writer->eval;
    const Type *type = var->type->content;
    object = instance_number(eval, object);
    bool fits = object_is_number(object);
    if (object_is_staged(object)) {
        Value *value = stage_value(eval, object);
        fits = value->type == type || may_convert(eval, value->type, type);
    }
    if (!fits ||
        (type->kind != TYPE_SCALAR && type->kind != TYPE_TILE && !object_is_staged(object)))
        return differs(writer);
    Value *value = stage_typed(eval, object, type, writer->at);
    if (value == NULL) return false;
    build2(&eval->builder, OP_var_set, var, value);
    return true;
}

static bool write_part(const Writer *writer, Object **held, Object *object);

/* Before the region at that depth of control that is open. */
static Builder builder_outside(const Eval *eval, int control)
{
    Op *op = eval->builder.region->parent;
    for (int depth = eval->control - 1; depth > control; depth--) op = op->parent->parent;
    return builder_before(op);
}

/* A part that was the same until now becomes a variable; the loop that is being staged begins anew,
 * as it may have read it. */
static bool widen(const Writer *writer, Object **part, Object *object)
{
    Eval *eval = writer->eval;
    int control = writer->binding->control;
    ObjectVec nexts = {0};
    vec_push(eval->arena, &nexts, object);
    const Type *type = variable_type(eval, *part, &nexts);
    if (type == NULL || content_type(eval, object) == NULL) return differs(writer);
    Builder saved = eval->builder;
    eval->builder = builder_outside(eval, control);
    Object *cell = make_cell(eval, type, *part, writer->binding->name);
    eval->builder = saved;
    if (cell == NULL) return false;
    *part = cell;
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (trial->control == control) trial->again = true;
    return write_cell(writer, cell->as.ir.var, object);
}

/* What was not there comes: it becomes variables; the loop that is being staged begins anew. */
static bool fill(const Writer *writer, Object **held, Object *object)
{
    Eval *eval = writer->eval;
    const int control = writer->binding->control;
    const Maker maker = {eval, writer->binding};
    ObjectVec nexts = {0};
    vec_push(eval->arena, &nexts, object);
    Builder saved = eval->builder;
    eval->builder = builder_outside(eval, control);
    Object *made = make_unset(&maker, &nexts, 0);
    eval->builder = saved;
    if (made == NULL) return false;
    *held = made;
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (trial->control == control) trial->again = true;
    return write_part(writer, held, object);
}

/* What was there goes: zeros are left, and no address. */
static bool clear(const Writer *writer, const Object *held)
{
    Eval *eval = writer->eval;
    for (uint32_t i = 0; object_is_sequence(held) && i < held->as.list.count; i++)
        if (!clear(writer, held->as.list.items[i])) return false;
    if (held->kind != OBJECT_CELL) return true;
    Value *var = held->as.ir.var;
    const Type *type = var->type->content;
    Value *zero = type->kind == TYPE_POINTER
                      ? build_null(&eval->builder, type)
                      : stage_typed(eval, object_int(eval, 0), type, writer->at);
    if (zero != NULL) build2(&eval->builder, OP_var_set, var, zero);
    return zero != NULL;
}

static bool write_part(const Writer *writer, Object **held, Object *object)
{
    Eval *eval = writer->eval;
    if ((*held)->kind == OBJECT_CELL) return write_cell(writer, (*held)->as.ir.var, object);
    if (objects_same(eval, *held, object)) return true;
    if (object_is_absent(object) && !object_is_absent(*held)) return clear(writer, *held);
    if (object_is_absent(*held) && !object_is_absent(object)) return fill(writer, held, object);
    if (!eval_works(eval, WORK_OF_STAGED, writer->at)) return false;
    if (!object_is_sequence(*held) || !(*held)->as.list.has_cells) {
        if (object_parts(eval, *held) == NULL) return widen(writer, held, object);
        *held = object_parts(eval, *held);
        Object *copy = parts_new(eval, *held);
        for (uint32_t i = 0; i < (*held)->as.list.count; i++)
            list_append(eval, copy, (*held)->as.list.items[i]);
        *held = copy;
    }
    const Object *parts = object_parts(eval, object);
    if (!parts_alike(*held, parts)) return differs(writer);
    for (uint32_t i = 0; i < parts->as.list.count; i++)
        if (!write_part(writer, &(*held)->as.list.items[i], parts->as.list.items[i])) return false;
    return true;
}

/* In a parallel loop iterations may come to differ in what was one number for all. */
static bool spread(const Writer *writer, Object *object)
{
    Eval *eval = writer->eval;
    Binding *binding = writer->binding;
    const Type *type = content_type(eval, object);
    DType dtype;
    if (!stage_promote(binding->object->as.ir.var->type->content->dtype, type->dtype, &dtype))
        return differs(writer);
    type = type_with_dtype(eval->builder.kernel->types, type, dtype);
    Builder saved = eval->builder;
    eval->builder = builder_outside(eval, binding->control);
    Object *tile = make_cell(eval, type, structure_read(eval, binding->object), binding->name);
    eval->builder = saved;
    if (tile == NULL) return false;
    tile->kind = OBJECT_TILE;
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (trial->control == binding->control) trial->again = true;
    binding->object = tile;
    return write_cell(writer, tile->as.ir.var, object);
}

bool variable_write(Eval *eval, Binding *binding, Object *object, Span at)
{
    const Writer writer = {eval, binding, object, at};
    if (binding->object->kind == OBJECT_CELL && masked_differ(eval, object))
        return spread(&writer, object);
    if (binding->object->kind == OBJECT_TILE)
        return write_cell(&writer, binding->object->as.ir.var, object);
    return write_part(&writer, &binding->object, object);
}

/* ---- lists and dicts that are changed under run-time control ---- */

typedef struct Items {
    Object **items;
    size_t count;
    uint32_t control;
} Items;

static Items items_of(Object *object)
{
    if (object->kind == OBJECT_DICT)
        return (Items){object->as.dict.values.data, object->as.dict.values.count,
                       object->as.dict.control};
    return (Items){object->as.list.items, object->as.list.count, object->as.list.control};
}

static Binding *make_content(Eval *eval, Object *object)
{
    if (object->content != NULL) return object->content;
    Items items = items_of(object);
    Binding *content = arena_new_of(eval->arena, Binding);
    content->name = intern_text(eval->session->names, "an item");
    content->object = object_list(eval, OBJECT_TUPLE, items.items, items.count);
    content->clock = object->made;
    content->at = eval->at;
    content->owner = object;
    return object->content = content;
}

bool content_settle(Eval *eval, Object *object)
{
    bool holds = object->kind == OBJECT_LIST || object->kind == OBJECT_DICT;
    if (!holds || eval->staging == NULL) return true;
    Items items = items_of(object);
    if (object->content == NULL) {
        if (eval->trial == NULL || (uint32_t)eval->control <= items.control || items.count == 0)
            return true;
        make_content(eval, object); /* the loop may change it: its reading is to be known */
    }
    const Object *now = binding_get(eval, object->content, eval->at);
    for (size_t i = 0; now != NULL && i < items.count && i < now->as.list.count; i++)
        items.items[i] = now->as.list.items[i];
    return now != NULL;
}

bool content_owns(const Eval *eval, const Object *object)
{
    return object->content != NULL || (uint32_t)eval->control > items_of((Object *)object).control;
}

bool content_set(Eval *eval, Object *object, size_t index, Object *value, Span at)
{
    Binding *content = make_content(eval, object);
    if (!content_settle(eval, object)) return false;
    Items items = items_of(object);
    Object *next = object_list(eval, OBJECT_TUPLE, items.items, items.count);
    next->as.list.items[index] = object_hold(eval, value);
    return binding_set(eval, content, next, at) && content_settle(eval, object);
}

bool content_release(Eval *eval, Object *object)
{
    if (object->content == NULL) return true;
    if (!content_settle(eval, object)) return false;
    object->content = NULL;
    return true;
}
