/* control.c: regions of run-time control: the journal of what is bound in one, the flags of a
 * frame. */
#include "eval/staging/staging.h"

void binding_note(Eval *eval, Binding *binding)
{
    if (eval->control == 0 && eval->tests == 0) return;
    Undo undo = {binding,        binding->object,   binding->at,
                 binding->clock, binding->variable, binding->control};
    vec_push(eval->arena, &eval->journal, undo);
}

void trial_note_read(Eval *eval, Binding *binding, uint64_t clock)
{
    for (LoopTrial *trial = eval->trial; trial != NULL; trial = trial->outer)
        if (clock <= trial->start) map_set(eval->arena, &trial->reads, binding, binding);
}

/* The type that an object has as the content of a variable; NULL: it can't be one. */
const Type *content_type(Eval *eval, const Object *object)
{
    if (object_is_number(object))
        return type_scalar(eval->builder.kernel->types, number_dtype(object));
    if (object->kind == OBJECT_CELL) return object->as.ir.var->type->content;
    if (!object_is_staged(object)) return NULL;
    const Type *type = staged_object_type(object);
    const bool is_memory =
        type->kind == TYPE_VIEW || type->kind == TYPE_SHARED || type->kind == TYPE_LOCAL;
    return is_memory ? NULL : type;
}

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

void bindings_undo(Eval *eval, size_t mark)
{
    while (eval->journal.count > mark) {
        Undo undo = vec_pop(&eval->journal);
        undo.binding->object = undo.object;
        undo.binding->at = undo.at;
        undo.binding->clock = undo.clock;
        undo.binding->variable = undo.variable;
        undo.binding->control = undo.control;
    }
}

void control_leave(Eval *eval, Control control, ChangeVec *changed)
{
    Map seen = {0};
    for (size_t i = control.mark; i < eval->journal.count; i++)
        record_change(eval, &seen, &eval->journal.data[i], changed);
    bindings_undo(eval, control.mark);
    eval->control--;
    eval->builder = control.builder;
}

bool *open_flag(Eval *eval)
{
    bool *flag = arena_new_of(eval->arena, bool);
    *flag = true;
    return flag;
}

static void flag_new(Eval *eval, Binding *flag, const char *name)
{
    flag->name = intern_text(eval->session->names, name);
    flag->object = eval->no;
    flag->clock = ++eval->clock; /* a call in a loop does not go back before it */
    flag->sight = SIGHT_ALL;
}

Jumps *frame_jumps(Eval *eval)
{
    Frame *frame = eval->frame;
    if (frame->jumps != NULL) return frame->jumps;
    static const char *const NAMES[JUMP_COUNT] = {"continued", "broken", "returned"};
    Jumps *jumps = arena_new_of(eval->arena, Jumps);
    for (int i = 0; i < JUMP_COUNT; i++) flag_new(eval, &jumps->taken[i], NAMES[i]);
    flag_new(eval, &jumps->exited, "exited");
    jumps->result.name = intern_text(eval->session->names, "result");
    jumps->result.sight = SIGHT_SET;
    jumps->call = open_flag(eval);
    return frame->jumps = jumps;
}

bool flow_leaves(Flow flow)
{
    return flow == FLOW_RETURN || flow == FLOW_BREAK || flow == FLOW_CONTINUE || flow == FLOW_GONE;
}

const bool *jump_target(Eval *eval, Flow flow)
{
    if (!flow_leaves(flow)) return NULL;
    const Jumps *jumps = frame_jumps(eval);
    if (flow == FLOW_RETURN || jumps->loop == NULL) return jumps->call;
    return flow == FLOW_BREAK ? jumps->loop : jumps->iteration;
}
