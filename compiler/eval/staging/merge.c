/* merge.c: what a name is after run-time control: a Merge, the value on either way. One that is
 * never read costs nothing; one that is read is lifted: it becomes a `var` op before the control
 * op, set at the end of each region. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- merging ---- */

/* By the binding. */
static Map index_changes(Eval *eval, const ChangeVec *changes)
{
    Map index = {0};
    for (size_t i = 0; i < changes->count; i++)
        map_set(eval->arena, &index, changes->data[i].binding, &changes->data[i]);
    return index;
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
    if (objects_same(eval, m.values[0], m.values[1])) {
        binding_put(eval, binding, m.values[0], at);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (m.values[i] != NULL &&
            (m.values[i]->kind == OBJECT_POISON || m.values[i]->kind == OBJECT_LANES)) {
            binding_put(eval, binding, m.values[i], at);
            return;
        }
    Object *object = object_new(eval, OBJECT_MERGE);
    object->as.merge = arena_new_of(eval->arena, Merge);
    *object->as.merge = m;
    binding_put(eval, binding, object, at);
}

/* The items of a list that was made in the region go with it. */
static bool stays_inside(const Eval *eval, const Change *change)
{
    const Object *owner = change->binding->owner;
    if (owner == NULL) return false;
    uint32_t made = owner->kind == OBJECT_DICT ? owner->as.dict.control : owner->as.list.control;
    if (made <= (uint32_t)eval->control) return false;
    change->binding->object = change->after;
    return true;
}

static void merge_one(Eval *eval, Op *control, Binding *binding, const Map changes[2],
                      const Flow flows[2])
{
    Merge merge = {.control = control, .before = UINT64_MAX, .binding = binding};
    for (int i = 0; i < 2; i++) {
        const Change *change = map_get(&changes[i], binding);
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
    const Map index[2] = {index_changes(eval, &changes[0]), index_changes(eval, &changes[1])};
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < changes[i].count; j++)
            if (!stays_inside(eval, &changes[i].data[j]) &&
                (i == 0 || !map_has(&index[0], changes[1].data[j].binding)))
                merge_one(eval, control, changes[i].data[j].binding, index, flows);
}

void merge_group(Eval *eval, Op *group, const ChangeVec *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        if (stays_inside(eval, change)) continue;
        Binding *binding = change->binding;
        const bool is_new = binding->object == NULL;
        Merge merge = {.control = group, .binding = binding, .before = UINT64_MAX};
        for (int j = 0; j < 2; j++) merge.regions[j] = group->regions[j];
        merge.values[0] = change->after;
        merge.values[1] =
            is_new && object_is_known(eval, change->after) ? change->after : binding->object;
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
        if (stays_inside(eval, change)) continue;
        Binding *binding = change->binding;
        Merge merge = {.control = loop, .binding = binding};
        merge.regions[0] = loop->regions[loop->region_count - 1];
        merge.values[0] = change->after;
        merge.at[0] = change->at;
        merge.alone = runs_once && binding->object == NULL;
        merge.values[1] =
            merge.alone && object_is_known(eval, change->after) ? change->after : binding->object;
        merge.at[1] = binding->at;
        merge.before = binding->object != NULL ? binding->clock : UINT64_MAX;
        bind_merge(eval, binding, &merge);
    }
}

bool change_is_carried(Eval *eval, const LoopTrial *trial, const Change *change)
{
    const Binding *binding = change->binding; /* put back to what it was before the loop */
    if (binding->object == NULL) return map_has(&trial->lacking, binding);
    if (binding->object->kind == OBJECT_POISON || binding->object->kind == OBJECT_LANES)
        return false;
    if (objects_same(eval, binding->object, change->after)) return false;
    if (map_has(&trial->reads, binding)) return true;
    const Object *after = change->after;
    return after != NULL && after->kind == OBJECT_MERGE && after->as.merge->before <= trial->start;
}

/* ---- lifting: a merge that is read ---- */

enum { MERGE_DEPTH = 4000 }; /* a merge of merges of merges ... */

static Builder builder_at_exit(Region *region, Span at)
{
    Op *last = region->last;
    if (last != NULL && op_has(last, TERM)) return builder_before(last);
    return builder_at_end(region, at);
}

static const char *told_name(Eval *eval, const Binding *binding)
{
    for (const Frame *frame = eval->frame; frame != NULL; frame = frame->caller)
        if (frame->jumps != NULL && binding == &frame->jumps->result)
            return "what the function returns";
    return arena_printf(eval->arena, "'%s'", binding->name);
}

static Object *lift_error(Eval *eval, const Merge *merge, const Object *a, const Object *b, Span at)
{
    const char *texts[2] = {object_describe(eval, a), object_describe(eval, b)};
    if (strcmp(texts[0], texts[1]) == 0)
        FAIL(eval, run_time_choice, at, texts[0], merge->binding->name);
    else
        FAIL(eval, merge_types, at, told_name(eval, merge->binding), texts[0], texts[1]);
    if (eval->quiet == 0) {
        diag_note(eval->session->diags, merge->at[0], "%s here", object_describe(eval, a));
        diag_note(eval->session->diags, merge->at[1], "%s here", object_describe(eval, b));
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
    if (eval->parallel != NULL && (left->kind == TYPE_TILE) != (right->kind == TYPE_TILE))
        return type_with_dtype(eval->builder.kernel->types, left->kind == TYPE_TILE ? left : right,
                               common);
    if (left->kind != right->kind || !type_same_shape(left, right)) return NULL;
    return type_with_dtype(eval->builder.kernel->types, left, common);
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

static Object *lift_parts(Eval *eval, const Merge *merge, Object *const parts[2], Span at)
{
    const Object *model = parts[parts[0] == NULL];
    Object *made = parts_new(eval, model);
    for (uint32_t i = 0; i < model->as.list.count; i++) {
        Object *item = object_new(eval, OBJECT_MERGE);
        Merge *inner = item->as.merge = arena_new_of(eval->arena, Merge);
        *inner = *merge;
        inner->lifted = NULL;
        for (int j = 0; j < 2; j++) {
            inner->values[j] = parts[j] != NULL ? parts[j]->as.list.items[i] : NULL;
            inner->any[j] |= inner->values[j] == NULL;
        }
        Object *lifted = objects_same(eval, inner->values[0], inner->values[1])
                             ? inner->values[0]
                             : merge_lift(eval, item, at);
        if (lifted == NULL) return NULL;
        list_append(eval, made, lifted);
    }
    return made;
}

/* The value at the end of region i, or before the control op where there is no such region. */
static Value *value_at_exit(Eval *eval, const Merge *merge, int i, Object *value, const Type *type)
{
    eval->builder = merge->regions[i] != NULL
                        ? builder_at_exit(merge->regions[i], merge->control->span)
                        : builder_before(merge->control);
    return stage_typed(eval, structure_read(eval, value), type, merge->at[i]);
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
    if (value->kind == OBJECT_MERGE) return merge_lift(eval, value, at);
    if (value->kind != OBJECT_LIST || value->content == NULL) return value;
    const Object *items = resolve_value(eval, value->content->object, at);
    Object *list = items != NULL ? parts_new(eval, value) : NULL;
    for (uint32_t i = 0; list != NULL && i < items->as.list.count; i++)
        list_append(eval, list, items->as.list.items[i]);
    return list;
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

static Object *lift_seen(Eval *eval, Merge *merge, Object *values[2], Span at)
{
    if (objects_same(eval, values[0], values[1])) return values[0];
    for (int i = 0; i < 2; i++)
        if (values[i] != NULL) values[i] = instance_number(eval, values[i]);
    const Object *one = values[0] != NULL ? values[0] : values[1];
    const Object *other = values[1] != NULL ? values[1] : values[0];
    Object *parts[2] = {NULL, NULL};
    bool whole = true;
    for (int i = 0; i < 2; i++) {
        if (values[i] != NULL) parts[i] = object_parts(eval, values[i]);
        whole = whole && (values[i] == NULL || parts[i] != NULL);
    }
    if (whole && parts_alike(parts[parts[0] == NULL], parts[parts[1] != NULL]))
        return lift_parts(eval, merge, parts, at);
    const Type *type = join_types(eval, one, other);
    if (type == NULL) return lift_error(eval, merge, one, other, at);
    return lift_values(eval, merge, values, type);
}

/* In the program of a thread a variable may be read where a way gave it no value, as in C: what is
 * there then is not told. In a loop it is what an iteration before gave it. */
static bool may_lack_value(Eval *eval, const Merge *merge, int way)
{
    if (merge->any[way]) return true;
    if (!eval->frame->is_thread_code || merge->values[!way] == NULL) return false;
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (trial->frame == eval->frame)
            map_set(eval->arena, &trial->lacking, merge->binding, merge->binding);
    return true;
}

/* Instances of a class that says `__absent__` stand for a value that is not there: merged with one
 * that is, they are any. */
static bool gives_way(const Object *value, const Object *other)
{
    return value != NULL && other != NULL && object_is_absent(value) && !object_is_absent(other);
}

static Object *lift(Eval *eval, Merge *merge, Span at)
{
    if (merge->before != UINT64_MAX) trial_note_read(eval, merge->binding, merge->before);
    Object *values[2];
    bool partial = false;
    Object *known = merge->lifted;
    if (known == NULL && merge->passed == eval->passed) known = merge->partial;
    for (int i = 0; i < 2; i++) {
        bool unseen = is_unseen(merge, i);
        values[i] = NULL;
        if (unseen && (merge->values[i] == NULL || object_is_known(eval, merge->values[i]))) {
            partial |= merge->left[i] != NULL;
            continue;
        }
        if (merge->values[i] == NULL && may_lack_value(eval, merge, i)) continue;
        if (merge->values[i] == NULL) return FAIL(eval, maybe_unbound, at, merge->binding->name);
        if (known != NULL) continue;
        values[i] = resolve_value(eval, merge->values[i], at);
        if (values[i] == NULL) return NULL;
        const Object *inner = merge->values[i];
        partial |= inner->kind == OBJECT_MERGE && inner->as.merge->lifted == NULL;
    }
    if (known != NULL) return known;
    for (int i = 0; i < 2; i++)
        if (gives_way(values[i], values[!i])) values[i] = NULL;
    if (values[0] == NULL && values[1] == NULL) {
        Object *unseen = merge->values[merge->values[0] == NULL];
        return unseen != NULL ? unseen : FAIL(eval, maybe_unbound, at, merge->binding->name);
    }
    const Object *only = values[0] == NULL ? values[1] : values[1] == NULL ? values[0] : NULL;
    if (only != NULL && object_is_known(eval, only) && !object_is_sequence(only))
        return values[values[0] == NULL];
    Object *lifted = lift_seen(eval, merge, values, at);
    if (!partial) {
        merge->lifted = lifted;
    } else {
        merge->partial = lifted;
        merge->passed = eval->passed;
    }
    return lifted;
}

Object *merge_lift(Eval *eval, Object *object, Span at)
{
    if (eval->depth >= MERGE_DEPTH || stack_is_low()) return FAIL(eval, recursion, at, MERGE_DEPTH);
    if (!eval_works(eval, WORK_OF_STAGED, at)) return NULL;
    eval->depth++;
    Object *lifted = lift(eval, object->as.merge, at);
    eval->depth--;
    return lifted;
}
