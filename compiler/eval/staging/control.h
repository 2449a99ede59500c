/* control.h: run-time control, a section a file: regions, what is bound in them, iterations of
 * loops that go their own ways. */
#ifndef TILEC_EVAL_CONTROL_H
#define TILEC_EVAL_CONTROL_H

#include "eval/python/python.h"

/* ---- control.c ---- */

typedef struct Control { /* what control_leave restores */
    Builder builder;
    size_t mark;
} Control;
/* Takes back all bindings that were changed since; what they held goes to *changed. */
typedef struct Change {
    Binding *binding;
    Object *after;
    Span at;
} Change;
typedef VEC(Change) ChangeVec;
/* The type that an object has as the content of a variable; NULL: it can't be one. */
const Type *content_type(Eval *eval, const Object *object);
/* Ops go to the end of `region` from here on, and bindings are noted. */
Control control_enter(Eval *eval, Region *region);
/* Puts back what was bound since the journal was so long. */
void bindings_undo(Eval *eval, size_t mark);
void control_leave(Eval *eval, Control control, ChangeVec *changed);
void binding_note(Eval *eval, Binding *binding); /* before it is changed */
void trial_note_read(Eval *eval, Binding *binding, uint64_t clock);
Jumps *frame_jumps(Eval *eval);
bool flow_leaves(Flow flow); /* on every way */
/* What marks merges for a branch that ends in `flow`. */
const bool *jump_target(Eval *eval, Flow flow);
bool *open_flag(Eval *eval);

/* ---- group.c ---- */

/* group.c: an `if` that divides the threads of a block into some that follow each other and others,
 * whole warps: each part is a group. False: it is another one. */
bool run_group_if(Eval *eval, const Value *condition, const NodeIf *node, Flow *flow);
/* Run by the threads of a range (first, number), relative to those that run it now. */
Flow stage_group(Eval *eval, const Object *range, ThreadsBody *body, const NodeWith *node,
                 uint32_t index);
/* The threads that run what is staged now. False: reported that they are not known. */
bool group_now(Eval *eval, int64_t *begin, int64_t *count);
/* At a kernel's end: of register tiles that several groups set each gets its own. */
void group_tiles_settle(Kernel *kernel, Arena *arena);

/* ---- jump.c ---- */

enum { JUMPS_STOP = 1u << JUMP_BREAK | 1u << JUMP_RETURN, JUMPS_ALL = (1u << JUMP_COUNT) - 1 };
/* What stands around the loop is put back when it is closed. */
typedef struct OpenLoop {
    bool *loop, *iteration;
} OpenLoop;
/* This way through the code leaves. */
void jump_take(Eval *eval, JumpKind kind, Span at);
void jump_clear(Eval *eval, JumpKind kind, Span at);
void jump_clear_all(Eval *eval, Span at);
/* Whether a way that reaches this place may have left like that. */
bool jump_possible(Eval *eval, JumpKind kind);
/* A boolean, known or staged: whether this way has left by one of the kinds (a set of bits). */
Object *jump_taken(Eval *eval, unsigned kinds);
OpenLoop loop_open(Eval *eval);
void loop_close(Eval *eval, OpenLoop outer);
void iteration_open(Eval *eval);
void iteration_close(Eval *eval);
Flow flow_join(Flow a, Flow b);
/* Does the work on the ways that have not left; the others end in flow `other`. */
Flow stage_unless(Eval *eval, Object *left, Flow other, FlowWork *work, void *context);
/* The same where Jumps tell which ways have left. */
Flow stage_rest(Eval *eval, FlowWork *work, void *context);
/* Behind a loop whose iterations ended in `flow`: runs its `else`, unless it was broken; a return
 * that it holds goes on. */
Flow finish_loop(Eval *eval, Flow flow, Nodes orelse, const MaskedLoop *masked);
/* The result of a call whose body ended in `flow`. NULL: reported. */
Object *call_result(Eval *eval, Flow flow, Span at);
/* At the end of a call: the caller's frame notes who left the kernel in it. False: reported. */
bool exits_tell(Eval *eval, Span at);
/* Behind a statement with a call in which some left the kernel (jump.c), which ended in `flow`:
 * those leave, the others go on. */
Flow stage_exits(Eval *eval, const Node *statement, Flow flow, Rest *rest);
/* Behind all that the kernel does, which ended in `flow`: those who left it are here, too. */
Flow end_exits(Eval *eval, Flow flow);
/* `return`, `break` and `continue`, of which run-time control may decide. */
Flow run_return(Eval *eval, const Node *node);
Flow run_break(Eval *eval, const Node *node);
/* Of an expression that is a statement: what its value, if a marker, makes it. */
Flow run_marker(Eval *eval, const Node *statement, const Object *value);
Flow run_continue(Eval *eval, const Node *node);

/* ---- masked_jumps.c ---- */

/* Whether a way leaves a parallel loop's iteration, or a call in it: then masks say who does. */
bool masked_leave_by(const Eval *eval, const Nodes bodies[2]);
bool block_jumps(Nodes statements); /* out of themselves, wherever in them that is said */
/* Before a serial loop with that body, and behind it; does nothing outside of parallel loops. */
MaskedLoop masked_open(Eval *eval, Nodes body);
void masked_close(Eval *eval, const MaskedLoop *loop);
/* The loop's `else`, for those that have not left it. */
Flow masked_orelse(Eval *eval, const MaskedLoop *loop, Nodes orelse);
MaskedFrame masked_enter(Eval *eval, MaskedLoop *loop);
void masked_leave(Eval *eval, MaskedFrame outer);
/* Those that have not left a loop: the mask; NULL: all. */
Value *masked_left_in(Eval *eval, const MaskedLoop *loop);
/* Whether some may have left it. */
bool masked_left(const MaskedLoop *loop);
/* True if the jump, a break or continue, is one of some iterations of a parallel loop; *flow: how
 * it ends. */
bool masked_jump(Eval *eval, JumpKind kind, Span at, Flow *flow);
/* The same of a return of that value. */
bool masked_return(Eval *eval, Object *value, Span at, Flow *flow);
/* What a call gives whose iterations have returned so; NULL: they have not. */
Object *masked_result(Eval *eval);

/* ---- logic.c ---- */

Object *stage_choice(Eval *eval, const NodeIfExp *node, Value *condition);
/* The item of a tuple of numbers at a run-time index. */
Object *stage_chosen(Eval *eval, const Object *tuple, Object *index, Span at);
Object *stage_truth(Eval *eval, Object *object, Span at);
/* `left and ...`, `left or ...`: the work gives what stands on the right. */
Object *stage_logic(Eval *eval, Operator op, Object *left, LogicWork *work, const void *context,
                    Span at);

/* ---- loop.c ---- */

Flow stage_for(Eval *eval, const NodeFor *node, Object *range);
Flow stage_while(Eval *eval, const NodeWhile *node);
bool is_literal_true(const Node *node);
Flow stage_ways(Eval *eval, Value *condition, const Way ways[2], Rest *rest);

/* ---- merge.c ---- */

/* flows: how each branch ended. */
void merge_branches(Eval *eval, Op *control, const ChangeVec changes[2], const Flow flows[2]);
/* After a region that some threads skip: a name that was bound in it has that value for them too if
 * it had none before. */
void merge_group(Eval *eval, Op *group, const ChangeVec *changes);
void merge_loop(Eval *eval, Op *loop, const ChangeVec *changes, bool runs_once);
/* Whether a change must be carried round the loop, by a variable made before it. */
bool change_is_carried(Eval *eval, const LoopTrial *trial, const Change *change);
Object *merge_lift(Eval *eval, Object *merge, Span at);

/* ---- parallel.c ---- */

Flow stage_parallel(Eval *eval, const NodeFor *node, const Object *extents);
/* The body is evaluated again, loops within the loop one iteration after the other. */
void parallel_take_turns(Eval *eval);
/* Instead each thread does its share, one iteration after the other; false: that is not known. */
bool parallel_take_share(Eval *eval);
bool parallel_is_nested(const Eval *eval); /* such a loop is dimensions of it, and open */
/* Whether iterations of open loops within the parallel loop have elements of their own, by these
 * indices; if not, those loops take turns. */
bool parallel_tells_apart(Eval *eval, int count, Value *const *indices);
/* Whether iterations of a parallel loop have values of their own for this. */
bool masked_differ(const Eval *eval, const Object *object);
/* A number for each iteration. NULL: reported. */
Value *masked_number(Eval *eval, Object *object, DType dtype, Span at);
/* A boolean of the loop's shape; outside of one as stage_condition. */
Value *masked_condition(Eval *eval, Object *object, Span at);
/* What a binding holds once some iterations have set it to the object. NULL: reported. */
Object *masked_bind(Eval *eval, Binding *binding, Object *object, Span at);
Object *masked_hold(Eval *eval, Object *object);
/* Whether the test holds in some of the iterations at hand: a boolean; NULL as the test: whether
 * there are any, which a mask says. NULL: reported. */
Value *masked_any(Eval *eval, Object *test, Span at);
/* What follows is done by those alone where the test holds. False: reported. */
bool masked_narrow(Eval *eval, Object *test, Span at);
/* An `if` whose test is a tile: both ways are evaluated, under masks. */
Flow stage_masked(Eval *eval, Object *test, const Nodes bodies[2]);
Object *masked_choice(Eval *eval, const NodeIfExp *node, Object *test);
/* Masks: NULL is all iterations. a where the mask is true, else b; of tuples part by part. */
Value *masked_both(Eval *eval, Value *a, Value *b);
Value *masked_either(Eval *eval, Value *a, Value *b);
Value *masked_others(Eval *eval, Value *mask);
Object *masked_choose(Eval *eval, Value *mask, Object *a, Object *b, Span at);
/* A number as a tile of the loop's shape, a tuple part by part; what is known of a record stays so.
 * NULL: reported. */
Object *masked_stretch(Eval *eval, Object *object, bool of_record, Span at);
Op *builder_last(const Builder *builder); /* before it; NULL: none */
/* What a function gives for the elements of a tile, whose coordinates it takes; evaluated once. */
Object *masked_init(Eval *eval, Object *function, int rank, Value *const *indices, Span at);
/* A loop's variable is the same for all iterations of a parallel one, whichever run the loop. */
bool masked_assign_all(Eval *eval, const Node *target, Object *object);
/* Whether a builtin may stand in a parallel loop; false: reported. */
bool masked_allow(Eval *eval, const BuiltinRow *row, Span at);
/* `and` or `or` of two, for each iteration of a parallel loop. */
Object *masked_join(Eval *eval, Operator op, Object *left, Object *right, Span at);
/* The same of the operands from `index` on, behind `result`. */
Object *masked_operands(Eval *eval, const NodeBoolOp *node, Object *result, uint32_t index);

/* ---- structure.c ---- */

bool object_is_known(Eval *eval, const Object *object); /* at compile time, with all it holds */
bool objects_same(Eval *eval, const Object *a, const Object *b); /* for certain */
const char *object_describe(Eval *eval, const Object *object); /* its type or kind, for messages */
/* The parts of a tuple, list or view, as a tuple or list; NULL: it has none. */
Object *object_parts(Eval *eval, Object *object);
bool parts_alike(const Object *a, const Object *b);
Object *parts_new(Eval *eval, const Object *model); /* like it, still empty, to hold CELLs */
/* What a binding holds as a value: CELLs are read. NULL: reported. */
Object *structure_read(Eval *eval, Object *object);
/* Writes to the variable that the binding is. False: reported. */
bool variable_write(Eval *eval, Binding *binding, Object *object, Span at);
/* A list or dict shows what it holds here. False: reported. */
bool content_settle(Eval *eval, Object *object);
bool content_owns(const Eval *eval, const Object *object); /* its items are set by content_set() */
bool content_set(Eval *eval, Object *object, size_t place, Object *value, Span at);
/* It may be changed as a whole where it was made. */
bool content_release(Eval *eval, Object *object);
/* Turns the binding into a run-time variable here; a literal takes the type of `next`, which it is
 * given later (NULL: unknown). False: reported. */
bool binding_make_variable(Eval *eval, Binding *binding, Object *next);

/* ---- threads.c ---- */

/* threads.c: by the threads alone for which that holds, but for what all do together. */
Flow stage_guarded(Eval *eval, Object *inside, ThreadsBody *body, const NodeWith *node,
                   uint32_t index);

/* ---- unroll.c ---- */

Flow run_for(Eval *eval, const Node *node);
Flow run_while(Eval *eval, const Node *node);
bool host_part_refuses_loop(Eval *eval, Span at); /* reported, if we are there */

/* ---- variable.c ---- */

/* Makes `binding` hold `object`, with what run-time control asks for. False: reported. */
bool binding_set(Eval *eval, Binding *binding, Object *object, Span at);
Object *binding_get(Eval *eval, Binding *binding, Span at); /* reads it as a value */
/* by reference, as parameters are */
void binding_put(Eval *eval, Binding *binding, Object *object, Span at);
/* The object for a new binding: a fresh tile as it is, another register tile copied. */
Object *object_hold(Eval *eval, Object *object);
/* The object for a list, a parameter or a loop's target: a named tile by reference, a temporary
 * held. */
Object *object_keep(Eval *eval, Object *object);
/* Writes a register tile in place. False: reported. */
bool tile_write(Eval *eval, Object *tile, Value *value);
/* The same where the author says so (out=): not a tile that nothing else sees. */
bool tile_write_out(Eval *eval, Object *tile, Value *value);

#endif
