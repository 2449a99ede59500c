/* variable.c: names that are bound under run-time control.
 *
 * Every change of a binding inside a run-time region is noted in a journal. When the region is left
 * the bindings are put back, and what they held becomes a Merge: the value on either way. A merge
 * that is never read costs nothing; one that is read becomes a `var` op before the control op, set
 * at the end of each region. A name that a loop's body reads from outside and binds anew must be a
 * variable before the loop begins: the body is staged on trial, and again once such names are
 * known. */
#include "eval/value.h"

/* ---- binding ---- */

void binding_note(Eval *eval, Binding *binding)
{
    if (eval->control == 0) return;
    Undo undo = {binding,        binding->object,   binding->at,
                 binding->clock, binding->variable, binding->control};
    vec_push(eval->arena, &eval->journal, undo);
}

void binding_put(Eval *eval, Binding *binding, Object *object, Span at)
{
    binding_note(eval, binding);
    binding->object = object;
    binding->at = at;
    binding->clock = ++eval->clock;
    binding->variable = false;
}

static const char *describe(Eval *eval, const Object *object)
{
    if (object->kind == OBJECT_CELL)
        return type_text(eval->arena, object->as.ir.var->type->content);
    if (object_is_staged(object)) {
        const Value *value = object->as.ir.value;
        return type_text(eval->arena,
                         value != NULL ? value->type : object->as.ir.var->type->content);
    }
    return object_kind_name(object);
}

/* Whether a value of one dtype may be written to a variable of another without being asked. */
static bool may_convert(const Type *from, const Type *to)
{
    DType common;
    if (from->kind != to->kind || !type_same_shape(from, to)) return false;
    return from->dtype == to->dtype ||
           (stage_promote(from->dtype, to->dtype, &common) && common == to->dtype);
}

static bool variable_write(Eval *eval, Binding *binding, Object *object, Span at)
{
    Value *var = binding->object->as.ir.var;
    const Type *type = var->type->content;
    bool fits = object_is_number(object);
    if (object_is_staged(object)) {
        Value *value = stage_value(eval, object);
        fits = value->type == type || may_convert(value->type, type);
    }
    if (!fits ||
        (type->kind != TYPE_SCALAR && type->kind != TYPE_TILE && !object_is_staged(object))) {
        FAIL(eval, variable_type, at, binding->name, type_text(eval->arena, type),
             describe(eval, object));
        diag_note(eval->session->diags, binding->at, "it was given its type here");
        return false;
    }
    Value *value = stage_typed(eval, object, type, at);
    if (value == NULL) return false;
    build2(&eval->builder, OP_var_set, var, value);
    return true;
}

Object *object_hold(Eval *eval, Object *object)
{
    if (object->kind != OBJECT_TILE) return object;
    if (object->fresh && object->as.ir.var != NULL) {
        object->fresh = false;
        return object;
    }
    Value *value = stage_value(eval, object);
    const Type *type = type_var(eval->builder.kernel->types, value->type);
    Object *held = object_new(eval, OBJECT_TILE);
    held->as.ir.var = build_op(&eval->builder, OP_var, 1, &value, 1, &type)->results;
    return held;
}

Object *object_keep(Eval *eval, Object *object)
{
    bool temporary = object->kind == OBJECT_TILE && object->as.ir.var == NULL;
    return temporary ? object_hold(eval, object) : object;
}

bool binding_set(Eval *eval, Binding *binding, Object *object, Span at)
{
    if (binding->variable && eval->control > binding->control)
        return variable_write(eval, binding, object, at);
    Object *held = object_hold(eval, object);
    if (held->kind == OBJECT_TILE && held->as.ir.var->name == NULL)
        held->as.ir.var->name = binding->name;
    if (held->kind == OBJECT_IR && held->as.ir.value->name == NULL && held->as.ir.value->op != NULL)
        held->as.ir.value->name = binding->name;
    binding_put(eval, binding, held, at);
    return true;
}

void trial_note_read(Eval *eval, Binding *binding, uint64_t clock)
{
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (clock <= trial->start) map_set(eval->arena, &trial->reads, binding, binding);
}

Object *binding_get(Eval *eval, Binding *binding, Span at)
{
    Object *object = binding->object;
    if (object->kind == OBJECT_POISON) return NULL;
    if (object->kind == OBJECT_MERGE) {
        object = merge_lift(eval, object, at);
        if (object == NULL) return NULL;
        if (object->kind == OBJECT_POISON) return NULL;
        /* What is read while a way has left is no answer for what is read where it went. */
        if (binding->object->as.merge->lifted == object) binding->object = object;
    }
    if (!binding->variable) trial_note_read(eval, binding, binding->clock);
    if (object->kind == OBJECT_CELL)
        return object_ir(eval, build1(&eval->builder, OP_var_get, object->as.ir.var));
    return object;
}

bool tile_write(Eval *eval, Object *tile, Value *value)
{
    if (tile->as.ir.var == NULL) {
        FAIL(eval, bad_value, eval->at,
             "this tile has no name, so that nothing could see what is written to it");
        return false;
    }
    if (value->type != tile->as.ir.var->type->content) {
        FAIL(eval, expected_kind, eval->at, "what is written to the tile",
             type_text(eval->arena, tile->as.ir.var->type->content),
             type_text(eval->arena, value->type));
        return false;
    }
    build2(&eval->builder, OP_var_set, tile->as.ir.var, value);
    return true;
}

/* ---- making variables ---- */

static bool is_known(const Object *object)
{
    return !object_is_staged(object) && object->kind != OBJECT_CELL && object->kind != OBJECT_MERGE;
}

static const Type *literal_type(Eval *eval, const Object *literal)
{
    DType dtype = literal->kind == OBJECT_FLOAT  ? DTYPE_f32
                  : literal->kind == OBJECT_BOOL ? DTYPE_b1
                                                 : DTYPE_i32;
    if (literal->kind == OBJECT_INT && literal->as.integer != (int32_t)literal->as.integer)
        dtype = DTYPE_i64;
    return type_scalar(eval->builder.kernel->types, dtype);
}

/* The type that an object has as the content of a variable; NULL: it can't be one. */
static const Type *content_type(Eval *eval, const Object *object)
{
    if (object_is_number(object)) return literal_type(eval, object);
    if (object->kind == OBJECT_CELL) return object->as.ir.var->type->content;
    if (!object_is_staged(object)) return NULL;
    const Type *type =
        object->as.ir.value != NULL ? object->as.ir.value->type : object->as.ir.var->type->content;
    return type->kind == TYPE_VIEW || type->kind == TYPE_SHARED ? NULL : type;
}

static Object *variable_object(Eval *eval, const Type *content, Value *init, Name name)
{
    const Type *type = type_var(eval->builder.kernel->types, content);
    Op *op = build_op(&eval->builder, OP_var, init != NULL ? 1 : 0, &init, 1, &type);
    op->results[0].name = name;
    Object *object = object_new(eval, type_is_tile(content) ? OBJECT_TILE : OBJECT_CELL);
    object->as.ir.var = op->results;
    return object;
}

/* A value that tells the type of what a merge gives. */
static const Object *merge_sample(const Object *object)
{
    while (object != NULL && object->kind == OBJECT_MERGE) {
        const Merge *merge = object->as.merge;
        bool second =
            merge->values[0] == NULL || (is_known(merge->values[0]) && merge->values[1] != NULL);
        object = merge->values[second];
    }
    return object;
}

bool binding_make_variable(Eval *eval, Binding *binding, const Object *next)
{
    Object *object = binding_get(eval, binding, eval->at);
    if (object == NULL) return false;
    const Type *type = content_type(eval, object);
    next = merge_sample(next);
    const Type *wanted = next != NULL && object_is_number(object) ? content_type(eval, next) : NULL;
    if (wanted != NULL && !(object->kind == OBJECT_FLOAT && object_is_number(next))) type = wanted;
    if (type == NULL) {
        FAIL(eval, no_variable, eval->at, binding->name, describe(eval, object));
        diag_note(eval->session->diags, binding->at, "it was bound here");
        return false;
    }
    Value *init = stage_typed(eval, object, type, eval->at);
    if (init == NULL) return false;
    binding_note(eval, binding);
    binding->object = variable_object(eval, type, init, binding->name);
    binding->variable = true;
    binding->control = eval->control;
    return true;
}

/* ---- regions ---- */

Control control_enter(Eval *eval, Region *region)
{
    Control control = {eval->builder, eval->journal.count};
    eval->builder = builder_at_end(region, eval->at);
    eval->control++;
    return control;
}

static void record_change(Eval *eval, Map *seen, const Undo *undo, ChangeVec *changed)
{
    if (map_has(seen, undo->binding)) return;
    map_set(eval->arena, seen, undo->binding, undo->binding);
    Change change = {undo->binding, undo->binding->object, undo->binding->at};
    vec_push(eval->arena, changed, change);
}

void control_leave(Eval *eval, Control control, ChangeVec *changed)
{
    Map seen = {0};
    for (size_t i = control.mark; i < eval->journal.count; i++)
        record_change(eval, &seen, &eval->journal.data[i], changed);
    while (eval->journal.count > control.mark) {
        Undo undo = vec_pop(&eval->journal);
        undo.binding->object = undo.object;
        undo.binding->at = undo.at;
        undo.binding->clock = undo.clock;
        undo.binding->variable = undo.variable;
        undo.binding->control = undo.control;
    }
    eval->control--;
    eval->builder = control.builder;
}

/* ---- merging ---- */

static const Change *find_change(const ChangeVec *changes, const Binding *binding)
{
    for (size_t i = 0; i < changes->count; i++)
        if (changes->data[i].binding == binding) return &changes->data[i];
    return NULL;
}

static bool same_on_both(const Object *a, const Object *b)
{
    if (a == NULL || b == NULL) return false;
    return a == b || (is_known(a) && is_known(b) && a->kind == b->kind && object_equal(a, b));
}

/* The older value's clock, if this value is it or was merged from it. */
static uint64_t older_clock(const Object *value, const Binding *binding)
{
    if (value == binding->object) return binding->clock;
    if (value != NULL && value->kind == OBJECT_MERGE && value->as.merge->binding == binding)
        return value->as.merge->before;
    return UINT64_MAX;
}

static void bind_merge(Eval *eval, Binding *binding, const Merge *merge)
{
    const Merge m = *merge;
    Span at = m.at[0].source != NULL ? m.at[0] : m.at[1];
    if (same_on_both(m.values[0], m.values[1])) {
        binding_put(eval, binding, m.values[0], at);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (m.values[i] != NULL && m.values[i]->kind == OBJECT_POISON) {
            binding_put(eval, binding, m.values[i], at);
            return;
        }
    Object *object = object_new(eval, OBJECT_MERGE);
    object->as.merge = arena_new_of(eval->arena, Merge);
    *object->as.merge = m;
    binding_put(eval, binding, object, at);
}

static void merge_one(Eval *eval, Op *control, Binding *binding, const ChangeVec changes[2],
                      const Flow flows[2])
{
    Merge merge = {.control = control, .before = UINT64_MAX, .binding = binding};
    for (int i = 0; i < 2; i++) {
        const Change *change = find_change(&changes[i], binding);
        merge.regions[i] = control->regions[i];
        merge.values[i] = change != NULL ? change->after : binding->object;
        merge.at[i] = change != NULL ? change->at : binding->at;
        merge.left[i] = jump_target(eval, flows[i]);
        uint64_t clock = older_clock(merge.values[i], binding);
        merge.before = clock < merge.before ? clock : merge.before;
    }
    bind_merge(eval, binding, &merge);
}

void merge_branches(Eval *eval, Op *control, const ChangeVec changes[2], const Flow flows[2])
{
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < changes[i].count; j++)
            if (i == 0 || find_change(&changes[0], changes[1].data[j].binding) == NULL)
                merge_one(eval, control, changes[i].data[j].binding, changes, flows);
}

void merge_group(Eval *eval, Op *group, const ChangeVec *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        Binding *binding = change->binding;
        const bool is_new = binding->object == NULL;
        Merge merge = {.control = group, .binding = binding, .before = UINT64_MAX};
        for (int j = 0; j < 2; j++) merge.regions[j] = group->regions[j];
        merge.values[0] = change->after;
        merge.values[1] = is_new && is_known(change->after) ? change->after : binding->object;
        merge.alone = is_new;
        merge.at[0] = change->at;
        merge.at[1] = is_new ? change->at : binding->at;
        if (!is_new) merge.before = binding->clock;
        bind_merge(eval, binding, &merge);
    }
}

void merge_loop(Eval *eval, Op *loop, const ChangeVec *changes, bool runs_once)
{
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        Binding *binding = change->binding;
        Merge merge = {.control = loop, .binding = binding};
        merge.regions[0] = loop->regions[loop->region_count - 1];
        merge.values[0] = change->after;
        merge.at[0] = change->at;
        merge.alone = runs_once && binding->object == NULL;
        merge.values[1] = merge.alone && is_known(change->after) ? change->after : binding->object;
        merge.at[1] = binding->at;
        merge.before = binding->object != NULL ? binding->clock : UINT64_MAX;
        bind_merge(eval, binding, &merge);
    }
}

bool change_is_carried(const LoopTrial *trial, const Change *change)
{
    const Binding *binding = change->binding; /* put back to what it was before the loop */
    if (binding->object == NULL || binding->object->kind == OBJECT_POISON) return false;
    if (same_on_both(binding->object, change->after)) return false;
    if (map_has(&trial->reads, binding)) return true;
    const Object *after = change->after;
    return after != NULL && after->kind == OBJECT_MERGE && after->as.merge->before <= trial->start;
}

/* ---- lifting: a merge that is read ---- */

enum { MERGE_DEPTH = 4000 }; /* a merge of merges of merges ... */

static Builder builder_at_exit(Region *region, Span at)
{
    Op *last = region->last;
    if (last != NULL && (op_info(last->code)->traits & TERM)) return builder_before(last);
    return builder_at_end(region, at);
}

static Object *lift_error(Eval *eval, const Merge *merge, const Object *a, const Object *b, Span at)
{
    FAIL(eval, merge_types, at, merge->binding->name, describe(eval, a), describe(eval, b));
    if (eval->quiet == 0) {
        diag_note(eval->session->diags, merge->at[0], "%s here", describe(eval, a));
        diag_note(eval->session->diags, merge->at[1], "%s here", describe(eval, b));
    }
    return NULL;
}

static const Type *join_types(Eval *eval, const Object *a, const Object *b)
{
    const Type *left = content_type(eval, a), *right = content_type(eval, b);
    if (left == NULL || right == NULL || left == right) return left == NULL ? NULL : right;
    DType common;
    if (!stage_promote(left->dtype, right->dtype, &common) || left->kind == TYPE_POINTER)
        return NULL;
    if (object_is_number(a) &&
        (object_is_number(b) || a->kind != OBJECT_FLOAT || dtype_is_float(right->dtype)))
        return object_is_number(b) ? type_with_dtype(eval->builder.kernel->types, left, common)
                                   : right;
    if (object_is_number(b) && (b->kind != OBJECT_FLOAT || dtype_is_float(left->dtype)))
        return left;
    if (left->kind != right->kind || !type_same_shape(left, right)) return NULL;
    return type_with_dtype(eval->builder.kernel->types, left, common);
}

static Object *lift_items(Eval *eval, const Merge *merge, Object *const values[2], Span at)
{
    const Object *model = values[values[0] == NULL];
    Object *tuple = object_list(eval, model->kind, NULL, 0);
    for (uint32_t i = 0; i < model->as.list.count; i++) {
        Object *item = object_new(eval, OBJECT_MERGE);
        item->as.merge = arena_new_of(eval->arena, Merge);
        *item->as.merge = *merge;
        item->as.merge->lifted = NULL;
        for (int j = 0; j < 2; j++)
            item->as.merge->values[j] = values[j] != NULL ? values[j]->as.list.items[i] : NULL;
        Object *lifted = same_on_both(item->as.merge->values[0], item->as.merge->values[1])
                             ? item->as.merge->values[0]
                             : merge_lift(eval, item, at);
        if (lifted == NULL) return NULL;
        if (lifted->kind == OBJECT_CELL)
            lifted = object_ir(eval, build1(&eval->builder, OP_var_get, lifted->as.ir.var));
        list_append(eval, tuple, lifted);
    }
    return tuple;
}

/* The value at the end of region i, or before the control op where there is no such region. */
static Value *value_at_exit(Eval *eval, const Merge *merge, int i, Object *value, const Type *type)
{
    eval->builder = merge->regions[i] != NULL
                        ? builder_at_exit(merge->regions[i], merge->control->span)
                        : builder_before(merge->control);
    if (value->kind == OBJECT_CELL)
        value = object_ir(eval, build1(&eval->builder, OP_var_get, value->as.ir.var));
    return stage_typed(eval, value, type, merge->at[i]);
}

static Object *lift_values(Eval *eval, const Merge *merge, Object *const values[2],
                           const Type *type)
{
    Builder saved = eval->builder;
    Value *init = NULL;
    bool before = merge->regions[1] == NULL && values[1] != NULL;
    if (before) init = value_at_exit(eval, merge, 1, values[1], type);
    eval->builder = builder_before(merge->control);
    Object *variable = variable_object(eval, type, init, merge->binding->name);
    bool good = !before || init != NULL;
    for (int i = 0; good && i < 2; i++) {
        if (merge->regions[i] == NULL || values[i] == NULL) continue;
        Value *value = value_at_exit(eval, merge, i, values[i], type);
        good = value != NULL;
        if (good) build2(&eval->builder, OP_var_set, variable->as.ir.var, value);
    }
    eval->builder = saved;
    return good ? variable : NULL;
}

/* A value on one way, itself lifted if it is a merge. */
static Object *resolve_value(Eval *eval, Object *value, Span at)
{
    return value->kind == OBJECT_MERGE ? merge_lift(eval, value, at) : value;
}

/* Whether nothing that is staged now can see the value of this way. */
static bool is_unseen(const Merge *merge, int i)
{
    if (merge->alone && i == 1) return true;
    switch (merge->binding->sight) {
    case SIGHT_ALL: return false;
    case SIGHT_SET: return merge->values[i] == NULL;
    case SIGHT_NAME: break;
    }
    return merge->left[i] != NULL && *merge->left[i];
}

static Object *lift_seen(Eval *eval, Merge *merge, Object *const values[2], Span at)
{
    const Object *one = values[0] != NULL ? values[0] : values[1];
    const Object *other = values[1] != NULL ? values[1] : values[0];
    if (same_on_both(values[0], values[1])) return values[0];
    if (object_is_sequence(one) && one->kind == other->kind &&
        one->as.list.count == other->as.list.count)
        return lift_items(eval, merge, values, at);
    const Type *type = join_types(eval, one, other);
    if (type == NULL) return lift_error(eval, merge, one, other, at);
    return lift_values(eval, merge, values, type);
}

static Object *lift(Eval *eval, Merge *merge, Span at)
{
    if (merge->before != UINT64_MAX) trial_note_read(eval, merge->binding, merge->before);
    Object *values[2];
    bool partial = false;
    for (int i = 0; i < 2; i++) {
        bool unseen = is_unseen(merge, i);
        values[i] = NULL;
        if (unseen && (merge->values[i] == NULL || is_known(merge->values[i]))) {
            partial |= merge->left[i] != NULL;
            continue;
        }
        if (merge->values[i] == NULL) return FAIL(eval, maybe_unbound, at, merge->binding->name);
        if (merge->lifted != NULL) continue;
        values[i] = resolve_value(eval, merge->values[i], at);
        if (values[i] == NULL) return NULL;
        const Object *inner = merge->values[i];
        partial |= inner->kind == OBJECT_MERGE && inner->as.merge->lifted == NULL;
    }
    if (merge->lifted != NULL) return merge->lifted;
    if (values[0] == NULL && values[1] == NULL) {
        Object *unseen = merge->values[merge->values[0] == NULL];
        return unseen != NULL ? unseen : FAIL(eval, maybe_unbound, at, merge->binding->name);
    }
    const Object *only = values[0] == NULL ? values[1] : values[1] == NULL ? values[0] : NULL;
    if (only != NULL && is_known(only) && !object_is_sequence(only))
        return values[values[0] == NULL];
    Object *lifted = lift_seen(eval, merge, values, at);
    if (!partial) merge->lifted = lifted;
    return lifted;
}

Object *merge_lift(Eval *eval, Object *object, Span at)
{
    if (eval->depth >= MERGE_DEPTH) return FAIL(eval, recursion, at, MERGE_DEPTH);
    eval->depth++;
    Object *lifted = lift(eval, object->as.merge, at);
    eval->depth--;
    return lifted;
}
