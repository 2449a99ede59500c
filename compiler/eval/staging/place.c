/* place.c: what can be read and written: names, items and attributes, and parts of records that
 * they have. A record is a value: to write to a part of one is to write a record with that part
 * changed to where it is. The owner and the index of a place are evaluated once. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- reading ---- */

static Object *selected(Eval *eval, const Slot *slot, Object *owner, Span at)
{
    if (owner == NULL) return NULL;
    if (slot->index != NULL) return item_get(eval, owner, slot->index, at);
    return slot->field != NULL ? attribute_get(eval, owner, slot->field, at) : owner;
}

/* Of a chain of parts: the place that is no part. */
static const Slot *root_of(const Slot *slot)
{
    while (slot->whole != NULL) slot = slot->whole;
    return slot;
}

static Object *read_root(Eval *eval, const Slot *slot, Span at)
{
    bool found;
    if (slot->memory == NULL) return scope_lookup(eval, slot->scope, slot->name, at, &found);
    if (slot->memory->kind == OBJECT_CELL)
        return object_ir(eval, build1(&eval->builder, OP_var_get, slot->memory->as.ir.var));
    return selected(eval, slot, slot->memory, at);
}

/* What a part is where its root has this value. */
static Object *part_of(Eval *eval, const Slot *slot, Object *root, Span at)
{
    return slot->whole == NULL ? root
                               : selected(eval, slot, part_of(eval, slot->whole, root, at), at);
}

/* A container's items are those of the variables that it has under run-time control. */
Object *slot_read(Eval *eval, const Slot *slot, Span at)
{
    Object *object = part_of(eval, slot, read_root(eval, root_of(slot), at), at);
    return object == NULL || content_settle(eval, object) ? object : NULL;
}

/* ---- writing ---- */

/* In a parallel loop: by the iterations at hand. */
static Value *masked_written(Eval *eval, Value *var, Object *object, Span at)
{
    Value *value = masked_number(eval, object, var->type->content->dtype, at);
    Value *mask = eval->parallel != NULL ? eval->parallel->mask : NULL;
    if (value != NULL && parallel_is_nested(eval) && value->type != var->type->content) {
        parallel_take_turns(eval); /* it is of the loop around */
        return NULL;
    }
    if (value == NULL || mask == NULL) return value;
    return build3(&eval->builder, OP_select, mask, value, build1(&eval->builder, OP_var_get, var));
}

static bool write_cell(Eval *eval, Value *var, Object *value, Span at)
{
    Value *written = type_is_tile(var->type->content)
                         ? masked_written(eval, var, value, at)
                         : stage_scalar(eval, value, var->type->content->dtype, at);
    if (written != NULL) build2(&eval->builder, OP_var_set, var, written);
    return written != NULL;
}

/* A number that a name stands for keeps its type. */
static bool write_name(Eval *eval, const Slot *slot, Object *value, Span at)
{
    bool found;
    const Object *old = scope_lookup(eval, slot->scope, slot->name, at, &found);
    const Type *type = old != NULL && old->kind == OBJECT_IR ? argument_type(old) : NULL;
    if (type != NULL && type->kind == TYPE_SCALAR)
        value = object_ir(eval, stage_scalar(eval, value, type->dtype, at));
    return value != NULL && scope_assign(eval, slot->scope, slot->name, value, at);
}

static bool write_root(Eval *eval, const Slot *slot, Object *value, Span at)
{
    if (slot->memory == NULL) return write_name(eval, slot, value, at);
    if (slot->memory->kind == OBJECT_CELL)
        return write_cell(eval, slot->memory->as.ir.var, value, at);
    if (slot->index != NULL) return item_set(eval, slot->memory, slot->index, value, at);
    if (slot->field != NULL) return attribute_set(eval, slot->memory, slot->field, value, at);
    if (slot->memory->kind == OBJECT_TILE) {
        Value *tile = stage_typed(eval, value, argument_type(slot->memory), at);
        return tile != NULL && tile_write(eval, slot->memory, tile);
    }
    FAIL(eval, bad_reference, at,
         object_is_record(slot->memory) ? "what nothing is named" : "all of a view or shared tile");
    return false;
}

/* The root's value, once the part has this one. */
static Object *root_with(Eval *eval, const Slot *slot, Object *root, Object *value, Span at)
{
    for (; value != NULL && slot->whole != NULL; slot = slot->whole) {
        Object *owner = part_of(eval, slot->whole, root, at);
        if (owner == NULL) return NULL;
        value = slot->index != NULL ? record_with_item(eval, owner, slot->index, value, at)
                                    : record_with_field(eval, owner, slot->field, value, at);
    }
    return value;
}

/* An item's owner may say how one value takes the place of another, of which it is a part. */
static bool replace_root(Eval *eval, const Slot *slot, Object *old, Object *value, Span at)
{
    Object *method = slot->memory != NULL && slot->index != NULL
                         ? special_method(eval, slot->memory, "__replace_item__")
                         : NULL;
    if (method == NULL) return write_root(eval, slot, value, at);
    Object *const given[] = {slot->memory, slot->index, old, value};
    return call_simple(eval, method, 4, given, at) != NULL;
}

/* ---- parts that only the run tells ---- */

static bool is_computed(const Object *index)
{
    if (object_is_staged(index)) return true;
    for (uint32_t i = 0; object_is_sequence(index) && i < index->as.list.count; i++)
        if (is_computed(index->as.list.items[i])) return true;
    return false;
}

/* From the root's element to the part: fields by their names, and indices. */
static void list_path(Eval *eval, const Slot *slot, Object *path)
{
    if (slot->whole == NULL) return;
    list_path(eval, slot->whole, path);
    list_append(eval, path,
                slot->field != NULL ? object_text(eval, slot->field, strlen(slot->field))
                                    : slot->index);
}

bool slot_part(Eval *eval, const Slot *slot, const char *name, Object *op, Object *value, Span at,
               bool *good)
{
    bool computed = false;
    for (const Slot *part = slot; part->whole != NULL; part = part->whole)
        computed |= part->index != NULL && is_computed(part->index);
    const Slot *root = root_of(slot);
    Object *method = computed && root->memory != NULL && root->index != NULL
                         ? special_method(eval, root->memory, name)
                         : NULL;
    if (method == NULL) return false;
    Object *path = object_list(eval, OBJECT_TUPLE, NULL, 0);
    list_path(eval, slot, path);
    Object *given[] = {root->memory, root->index, path, value, op};
    const Object *done = call_simple(eval, method, op != NULL ? 5 : 4, given, at);
    *good = done != NULL;
    return done != eval->no;
}

bool slot_write(Eval *eval, const Slot *slot, Object *value, Span at)
{
    if (slot->whole == NULL) return write_root(eval, slot, value, at);
    bool good;
    if (slot_part(eval, slot, "__put_part__", NULL, value, at, &good)) return good;
    const Slot *root = root_of(slot);
    Object *old = read_root(eval, root, at);
    value = old != NULL ? root_with(eval, slot, old, value, at) : NULL;
    return value != NULL && replace_root(eval, root, old, value, at);
}

/* ---- targets ---- */

static bool is_part_of(Eval *eval, const Slot *slot, const Object *owner)
{
    return object_is_record(owner) &&
           (slot->index == NULL || special_method(eval, owner, "__setitem__") == NULL);
}

static Slot *root_place(Eval *eval, const Node *node, Object *object)
{
    Slot *slot = arena_new_of(eval->arena, Slot);
    if (node->kind == NODE_Name)
        *slot = (Slot){.scope = eval->frame->scope, .name = NODE_AS(Name, node)->id};
    else
        *slot = (Slot){.memory = object};
    return slot;
}

Object *named_variable(Eval *eval, Name name)
{
    for (Scope *scope = eval->frame->scope; scope != NULL; scope = scope->parent) {
        Binding *binding = bindings_get(&scope->bindings, name);
        if (binding != NULL && binding->object != NULL)
            return object_is_variable(binding->object) ? binding->object : NULL;
    }
    return NULL;
}

Slot *first_element(Eval *eval, const Node *array, const Object *index)
{
    const Object *variable = NULL;
    if (index->kind != OBJECT_INT || index->as.integer != 0) return NULL;
    if (array->kind == NODE_Name) variable = named_variable(eval, NODE_AS(Name, array)->id);
    if (array->kind == NODE_Attribute) {
        const Object *owner = eval_expr(eval, NODE_AS(Attribute, array)->value);
        const Binding *binding =
            owner != NULL && owner->kind == OBJECT_INSTANCE
                ? bindings_get(&owner->as.instance->attributes, NODE_AS(Attribute, array)->attr)
                : NULL;
        variable = binding != NULL ? binding->object : NULL;
    }
    return object_is_variable(variable) && variable->as.place->is_array ? variable->as.place : NULL;
}

Slot *target_place(Eval *eval, const Node *target)
{
    const bool is_item = target->kind == NODE_Subscript;
    if (!is_item && target->kind != NODE_Attribute) {
        Object *object = eval_expr(eval, target);
        return object != NULL ? root_place(eval, target, object) : NULL;
    }
    const Node *node =
        is_item ? NODE_AS(Subscript, target)->value : NODE_AS(Attribute, target)->value;
    const bool has_whole = node->kind == NODE_Subscript || node->kind == NODE_Attribute;
    if (!eval_may_nest(eval, target->span)) return NULL;
    Slot *slot = arena_new_of(eval->arena, Slot),
         *whole = has_whole ? target_place(eval, node) : NULL;
    Object *owner = !has_whole      ? eval_expr(eval, node)
                    : whole != NULL ? slot_read(eval, whole, node->span)
                                    : NULL;
    observe(eval, node->span, owner);
    if (owner == NULL) return NULL;
    *slot = (Slot){.field = is_item ? NULL : NODE_AS(Attribute, target)->attr,
                   .index = is_item ? eval_expr(eval, NODE_AS(Subscript, target)->slice) : NULL};
    if (is_item && slot->index == NULL) return NULL;
    Slot *variable =
        is_item && owner->kind == OBJECT_IR ? first_element(eval, node, slot->index) : NULL;
    if (variable != NULL) return variable;
    if (!is_part_of(eval, slot, owner))
        slot->memory = owner;
    else
        slot->whole = whole != NULL ? whole : root_place(eval, node, owner);
    return slot;
}

/* ---- places as objects ---- */

Object *place_object(Eval *eval, Slot *slot)
{
    Object *object = object_new(eval, OBJECT_PLACE);
    object->as.place = slot;
    return object;
}

Object *place_new(Eval *eval, Object *memory, Object *index, bool assigns)
{
    Slot *slot = arena_new_of(eval->arena, Slot);
    *slot = (Slot){.memory = memory, .index = index, .assigns = assigns};
    return place_object(eval, slot);
}

bool object_is_one_variable(const Object *object)
{
    if (!object_is_variable(object)) return false;
    const Object *memory = object->as.place->memory;
    const Type *type = argument_type(memory);
    if (memory->kind == OBJECT_CELL) return memory->as.ir.var->type->content->kind != TYPE_TILE;
    return type != NULL && type->kind == TYPE_LOCAL;
}

Object *place_attribute(Eval *eval, const Object *object, Name name, Span at, bool *found)
{
    const Slot *place = object->as.place;
    *found = true;
    if (strcmp(name, "memory") == 0) return place->memory;
    if (strcmp(name, "index") == 0) return place->index != NULL ? place->index : eval->none;
    if (strcmp(name, "value") == 0) return slot_read(eval, place, at);
    *found = false;
    return NULL;
}
