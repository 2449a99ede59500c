/* evaluate.h: what the evaluator does with value.h's objects, a section a file; private to this
 * folder. */
#ifndef TILEC_EVAL_EVALUATE_H
#define TILEC_EVAL_EVALUATE_H

#include "eval/value.h"

/* ---- program.c ------------------------------------------------------------------------------- */

struct Program {
    Eval eval;
    Unit *unit;
    Map makers; /* makers.c's: what is known of values that names stand for */
};
/* The value of an expression in that scope. */
Object *eval_in(Eval *eval, Scope *scope, const Node *node);

/* ---- expr.c, format.c ------------------------------------------------------------------------ */

Object *eval_expr(Eval *eval, const Node *node);
const char *kind_text(Eval *eval, NodeKind kind); /* what people call it */
/* A function of this scope, its defaults evaluated. NULL: reported. */
Object *function_new(Eval *eval, const Node *node, Name name, const Nodearguments *parameters);
bool assign_target(Eval *eval, const Node *target, Object *object);
/* A `for` of a comprehension or an unrolled loop over what is known now. NULL: reported. */
Object *iterate(Eval *eval, Object *iterable, Span at); /* a LIST or TUPLE of the items */
/* range(start, stop, step); step NULL: 1, stop NULL: from 0 to start. NULL: reported. */
Object *range_new(Eval *eval, Object *const given[3], Span at);
/* How many numbers it has; false: that is not known, or no int64. */
bool range_count(const Object *range, int64_t *out);
uint64_t range_length(const Object *range); /* of three known numbers */
int64_t range_number(const Object *range, uint64_t place);
bool range_has(const Object *range, int64_t number); /* of one whose count is known */
Object *item_get(Eval *eval, Object *object, Object *index, Span at);
bool item_set(Eval *eval, Object *object, Object *index, Object *value, Span at);
bool item_delete(Eval *eval, Object *object, Object *index, Span at);
/* Of register tiles, shared tiles and views of global memory (subscript.c). */
Object *subscript_get(Eval *eval, Object *object, Object *index, Span at);
/* `A[i] += x` of an array in the program of a thread happens at once. False: it is no such one. */
bool element_update(Eval *eval, Operator op, const Object *old, Object *operand, Span at,
                    bool *good);
bool subscript_set(Eval *eval, Object *object, Object *index, Object *value, Span at);
/* As text: by str() for 's', by repr() for 'r' and 'a'. */
Object *object_converted(Eval *eval, Object *object, char conversion);
Object *format_object(Eval *eval, Object *object, const char *spec, Span at);
bool list_may_change(Eval *eval, const Object *list, Span at);
/* The place that an index stands for, among `length`. False: reported. */
bool normal_index(Eval *eval, const Object *object, Object *index, int64_t length, Span at,
                  int64_t *out);
Object *set_new(Eval *eval);
Object *set_from_items(Eval *eval, const Object *items); /* of a list; NULL gives NULL */

/* ---- iterator.c, generator.c -------------------------------------------------------------------
 */

enum { CONTROL_ANY = INT32_MAX, CONTROL_NONE = -1 };
Object *iterator_new(Eval *eval, Object *items);            /* over a list; NULL gives NULL */
Object *iterator_of(Eval *eval, Object *iterable, Span at); /* as iter() */
/* The next item; *item NULL: there is none. False: reported. */
bool iterator_pull(Eval *eval, Object *iterator, Span at, Object **item);
/* Run-time control may decide how far it gets: the depths of control that it may be asked at. */
bool iterator_may_move(Eval *eval, const Object *iterator, Span at);
Object *iterator_drain(Eval *eval, Object *iterator, Span at); /* all that is left, as a list */

/* False: it failed, which was reported. */
typedef bool GeneratorBody(Eval *eval, void *context);
/* An iterator over what the body yields, evaluated in a frame of its own, by degrees. */
Object *generator_new(Eval *eval, GeneratorBody *body, void *context, const Frame *frame,
                      const char *name);
Object *generator_yield(Eval *eval, Object *item, Span at); /* NULL: the body must end */
/* What the body of an iterator that has ended returned. */
Object *generator_result(Eval *eval, const Object *iterator);
void generators_abandon(Eval *eval);

/* ---- operate.c ------------------------------------------------------------------------------- */

Object *operate_binary(Eval *eval, Operator op, Object *left, Object *right, Span at);
/* `left op= right`: by the class's own method (__iadd__ and the like) if it has one. */
Object *operate_in_place(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *operate_unary(Eval *eval, Operator op, Object *operand, Span at);
Object *operate_compare(Eval *eval, Operator op, Object *left, Object *right, Span at);
/* Reports that the operands have no such operator; NULL. */
Object *no_operator(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *operate_not(Eval *eval, Object *operand, Span at);

/* ---- stage.c: operations on IR values -------------------------------------------------------- */

bool stage_ready(Eval *eval, Span at);          /* a kernel is being staged; else reported */
Value *stage_value(Eval *eval, Object *object); /* of an IR or TILE, read now */
/* A compile-time number or run-time value as a scalar of the type. NULL: reported. */
Value *stage_scalar(Eval *eval, Object *object, DType dtype, Span at);
/* An operand of a pair, in the type in which both meet; `value`: of a run-time one, else NULL. */
Value *pair_side(Eval *eval, Object *object, Value *value, DType dtype, Span at);
Value *stage_operand(Eval *eval, Object *object, Span at); /* a number becomes i32, f32 or b1 */
Value *stage_cast(Eval *eval, Value *value, DType dtype);
/* an extent, stride or offset: i32 or i64 */
Value *stage_index(Eval *eval, Object *object, Span at);
Value *stage_condition(Eval *eval, Object *object, Span at); /* b1 */
Value *stage_broadcast(Eval *eval, Value *value, int rank, const int64_t *shape, Span at);
/* to a scalar or tile type */
Value *stage_typed(Eval *eval, Object *object, const Type *type, Span at);
Object *stage_binary(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *stage_compare(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *stage_unary(Eval *eval, Operator op, Object *operand, Span at);
/* By the quick instruction, of b too if it is not NULL; both are f32. */
Value *stage_approximate(Eval *eval, const char *function, Value *a, Value *b);
/* Brings two operands to one type and shape, a literal to the other's; NULL: reported. */
bool stage_pair(Eval *eval, Object *left, Object *right, Span at, Value **a, Value **b);
/* stretches both; false: reported */
bool stage_same_shape(Eval *eval, Span at, Value **a, Value **b);
/* ---- promote.c ---- */
bool stage_promote(DType a, DType b, DType *out);
DType number_dtype(const Object *number); /* of itself */
bool number_fits(int64_t value, DType dtype);
Numbers numbers_here(const Eval *eval);
typedef enum PairStyle { PAIR_ARITHMETIC, PAIR_COMPARE, PAIR_BITS } PairStyle;
/* What an assignment gives its target: a scalar keeps the type of the variable, in Script. */
Object *assigned_value(Eval *eval, const Node *target, Object *object);
/* The element type in which two operands meet; a type is NULL of a number of the program. False:
 * there is none. */
bool pair_dtype(const Eval *eval, PairStyle style, Object *left, Object *right, const Type *a,
                const Type *b, DType *out);
const Type *staged_object_type(const Object *object); /* of a run-time value */
/* A shared tile, or one index of it, as one of another tile's element type and shape. */
Object *shared_as(Eval *eval, Object *tile, const Type *seen, Span at);
/* The same bits as a tile of another type. */
Value *tile_as(Eval *eval, Value *value, const Type *type);
bool dtype_by_user_name(const char *name, DType *out); /* and by what else it is called */

/* ---- jump.c: break, continue and return that run-time control decides ------------------------ */

Jumps *frame_jumps(Eval *eval);
/* This way through the code leaves. */
void jump_take(Eval *eval, JumpKind kind, Span at);
void jump_clear(Eval *eval, JumpKind kind, Span at);
void jump_clear_all(Eval *eval, Span at);
/* Whether a way that reaches this place may have left like that. */
bool jump_possible(Eval *eval, JumpKind kind);
/* A boolean, known or staged: whether this way has left by one of the kinds (a set of bits). */
Object *jump_taken(Eval *eval, unsigned kinds);
enum { JUMPS_STOP = 1u << JUMP_BREAK | 1u << JUMP_RETURN, JUMPS_ALL = (1u << JUMP_COUNT) - 1 };
/* What stands around the loop is put back when it is closed. */
typedef struct OpenLoop {
    bool *loop, *iteration;
} OpenLoop;
OpenLoop loop_open(Eval *eval);
void loop_close(Eval *eval, OpenLoop outer);
void iteration_open(Eval *eval);
void iteration_close(Eval *eval);
bool flow_leaves(Flow flow); /* on every way */
Flow flow_join(Flow a, Flow b);
/* What marks merges for a branch that ends in `flow`. */
const bool *jump_target(Eval *eval, Flow flow);

typedef Flow FlowWork(Eval *eval, void *context);
/* Does the work on the ways that have not left; the others end in flow `other`. */
Flow stage_unless(Eval *eval, Object *left, Flow other, FlowWork *work, void *context);
/* The same where Jumps tell which ways have left. */
Flow stage_rest(Eval *eval, FlowWork *work, void *context);
/* Behind a loop whose iterations ended in `flow`: runs its `else`, unless it was broken; a return
 * that it holds goes on. */
Flow finish_loop(Eval *eval, Flow flow, Nodes orelse, const LaneLoop *lanes);
/* The result of a call whose body ended in `flow`. NULL: reported. */
Object *call_result(Eval *eval, Flow flow, Span at);
/* Whether a `return` leaves the kernel. */
bool return_exits(const Eval *eval, const Node *node);
void exit_take(Eval *eval, Span at);
/* At the end of a call: the caller's frame notes who left the kernel in it. False: reported. */
bool exits_tell(Eval *eval, Span at);

/* ---- match.c --------------------------------------------------------------------------------- */

Flow run_match(Eval *eval, const Node *node);

/* ---- raise.c --------------------------------------------------------------------------------- */

/* The body of `with` from that item on, and then the context's __exit__, whatever happens. */
typedef Flow WithBody(Eval *eval, const NodeWith *node, uint32_t index);
Flow guard_context(Eval *eval, WithBody *body, const NodeWith *node, uint32_t index,
                   Object *context, Object *method);
Flow run_raise(Eval *eval, const Node *node);
Flow run_assert(Eval *eval, const Node *node);
Flow run_try(Eval *eval, const Node *node);
/* An instance of one of Python's own exceptions. */
Object *exception_new(Eval *eval, const char *name, const char *text);
/* Raises one; give NULL. */
void *raise_python(Eval *eval, const char *name, const char *text, Span at);
void *raise_no_key(Eval *eval, const Object *dict, Object *key, Span at);

/* ---- limits.c: false is reported but by eval_work() -------------------------------------------
 */

void eval_begin_work(Eval *eval);
/* Counts an iteration of a compile-time loop. */
bool eval_step(Eval *eval, Span at);
bool eval_may_call(Eval *eval, Span at); /* as often as this */
/* Whether what is evaluated, or is walked on the stack, may be nested deeper. */
bool eval_may_nest(Eval *eval, Span at);
/* Whether a kernel that has so many specialisations, or configurations, may get another. */
bool eval_may_add(Eval *eval, size_t count, const char *what, Span at);
/* Counts so many steps of work. False: there are none left, and whatever is evaluated next fails;
 * a walk that cannot fail itself just ends. */
bool eval_work(Eval *eval, uint64_t amount);
bool eval_goes_on(Eval *eval, Span at);                /* whether work and memory are left */
bool eval_works(Eval *eval, uint64_t amount, Span at); /* both */
bool eval_has_room(Eval *eval, size_t bytes, Span at);
/* Whether a text that is made may become so much longer. */
bool text_grows(Eval *eval, const Buf *text, size_t more, Span at);
/* Whether there is room for a list that is so long. */
bool list_fits(Eval *eval, size_t length, Span at);
bool text_add(Eval *eval, Buf *text, const char *data, size_t length, Span at);

/* ---- stmt.c, loop.c, unroll.c ---------------------------------------------------------------- */

Flow eval_block(Eval *eval, Nodes statements);
/* What follows a statement in its block. Where one branch of an `if` leaves, the other takes it. */
typedef struct Rest {
    Nodes statements;
    uint32_t index;
    bool taken;
} Rest;
Flow eval_rest(Eval *eval, Rest *rest);
Flow eval_statement(Eval *eval, const Node *statement);
/* The rest of a `with`: its items from `index` on, then its body. */
typedef Flow ThreadsBody(Eval *eval, const NodeWith *node, uint32_t index);
/* group.c: an `if` that divides the threads of a block into some that follow each other and others,
 * whole warps: each part is a group. False: it is another one. */
bool run_group_if(Eval *eval, const Value *condition, const NodeIf *node, Flow *flow);
/* threads.c: by the threads alone for which that holds, but for what all do together. */
Flow stage_guarded(Eval *eval, Object *inside, ThreadsBody *body, const NodeWith *node,
                   uint32_t index);
/* Run by the threads of a range (first, number), relative to those that run it now. */
Flow stage_group(Eval *eval, const Object *range, ThreadsBody *body, const NodeWith *node,
                 uint32_t index);
/* What the kernel function set of self.attrs; NULL: reported that it did not. */
/* clusters.c: how many blocks make a cluster. False: reported. */
bool launch_set_cluster(Eval *eval, Op *launch, Object *object, Span at);
/* Zero at first; NULL: reported. */
Value *workspace_pointer(Eval *eval, DType dtype, int64_t count, Span at);
void workspaces_settle(Kernel *kernel); /* drops those that nothing uses */
Object *kernel_attribute(Eval *eval, const char *name);
bool kernel_warps(Eval *eval, int64_t *out); /* 1 to 32; false: reported */
Flow stage_for(Eval *eval, const NodeFor *node, Object *range);
Flow stage_while(Eval *eval, const NodeWhile *node);
bool is_literal_true(const Node *node);
/* One branch of run-time control. */
typedef struct Way {
    FlowWork *run;
    void *context;
    bool leaves; /* its text ends in a jump */
} Way;
Flow stage_ways(Eval *eval, Value *condition, const Way ways[2], Rest *rest);
bool block_leaves(Nodes statements);
/* Behind a statement with a call in which some left the kernel (jump.c), which ended in `flow`: those leave, the others go on. */
Flow stage_exits(Eval *eval, const Node *statement, Flow flow, Rest *rest);
Flow run_for(Eval *eval, const Node *node);
Flow run_while(Eval *eval, const Node *node);

/* ---- logic.c ----------------------------------------------------------------------------------
 */

Object *stage_choice(Eval *eval, const NodeIfExp *node, Value *condition);
typedef Object *LogicWork(Eval *eval, const void *context);
/* `left and ...`, `left or ...`: the work gives what stands on the right. */
Object *stage_logic(Eval *eval, Operator op, Object *left, LogicWork *work, const void *context,
                    Span at);

/* ---- parallel.c: data-parallel loops ---- */

Flow stage_parallel(Eval *eval, const NodeFor *node, const Object *extents);
/* Whether iterations of a parallel loop have values of their own for this. */
bool lanes_differ(const Eval *eval, const Object *object);
/* A number for each iteration. NULL: reported. */
Value *lanes_number(Eval *eval, Object *object, DType dtype, Span at);
/* A boolean of the loop's shape; outside of one as stage_condition. */
Value *lanes_condition(Eval *eval, Object *object, Span at);
/* What a binding holds once some iterations have set it to the object. NULL: reported. */
Object *lanes_bind(Eval *eval, Binding *binding, Object *object, Span at);
Object *lanes_hold(Eval *eval, Object *object);
/* Whether the test holds in some of the iterations at hand: a boolean; NULL as the test: whether
 * there are any, which a mask says. NULL: reported. */
Value *lanes_any(Eval *eval, Object *test, Span at);
/* What follows is done by those alone where the test holds. False: reported. */
bool lanes_narrow(Eval *eval, Object *test, Span at);
/* An `if` whose test is a tile: both ways are evaluated, under masks. */
Flow stage_lanes(Eval *eval, Object *test, const Nodes bodies[2]);
Object *lanes_choice(Eval *eval, const NodeIfExp *node, Object *test);
Object *lanes_right(Eval *eval, Operator op, Object *left, const Node *right);
/* Masks: NULL is all iterations. a where the mask is true, else b; of tuples part by part. */
Value *lanes_both(Eval *eval, Value *a, Value *b);
Value *lanes_either(Eval *eval, Value *a, Value *b);
Value *lanes_others(Eval *eval, Value *mask);
Object *lanes_choose(Eval *eval, Value *mask, Object *a, Object *b, Span at);
/* A number as a tile of the loop's shape, a tuple part by part; what is known of a record stays so.
 * NULL: reported. */
Object *lanes_stretch(Eval *eval, Object *object, bool of_record, Span at);
Op *builder_last(const Builder *builder); /* before it; NULL: none */
/* What a function gives for the elements of a tile, whose coordinates it takes; evaluated once. */
Object *lanes_init(Eval *eval, Object *function, int rank, Value *const *indices, Span at);
/* A loop's variable is the same for all iterations of a parallel one, whichever run the loop. */
bool lanes_assign_all(Eval *eval, const Node *target, Object *object);
/* Whether a builtin may stand in a parallel loop; false: reported. */
bool lanes_allow(Eval *eval, const BuiltinRow *row, Span at);

/* ---- lane_jumps.c: iterations of a parallel loop that leave on their own ---- */

/* Whether a way leaves a parallel loop's iteration, or a call in it: then masks say who does. */
bool lanes_leave_by(const Eval *eval, const Nodes bodies[2]);
bool block_jumps(Nodes statements); /* out of themselves, wherever in them that is said */
/* Before a serial loop with that body, and behind it; does nothing outside of parallel loops. */
LaneLoop lanes_open(Eval *eval, Nodes body);
void lanes_close(Eval *eval, const LaneLoop *loop);
/* The loop's `else`, for those that have not left it. */
Flow lanes_orelse(Eval *eval, const LaneLoop *loop, Nodes orelse);
/* Around the loop's rounds (NULL: a call): who leaves comes back behind it. */
typedef struct Lanes {
    Value *mask, *entered, *called;
    LaneLoop *loop;
    int loops, control;
} Lanes;
Lanes lanes_enter(Eval *eval, LaneLoop *loop);
void lanes_leave(Eval *eval, Lanes outer);
/* Those that have not left a loop: the mask; NULL: all. */
Value *lanes_left_in(Eval *eval, const LaneLoop *loop);
/* Whether some may have left it. */
bool lanes_left(const LaneLoop *loop);
/* True if the jump, a break or continue, is one of some iterations of a parallel loop; *flow: how
 * it ends. */
bool lanes_jump(Eval *eval, JumpKind kind, Span at, Flow *flow);
/* The same of a return of that value. */
bool lanes_return(Eval *eval, Object *value, Span at, Flow *flow);
/* What a call gives whose iterations have returned so; NULL: they have not. */
Object *lanes_result(Eval *eval);

/* ---- call.c, object.c ------------------------------------------------------------------------ */

typedef struct Arguments {
    ObjectVec positional;
    VEC(Name) names;
    ObjectVec named;
    Span at;
} Arguments;

Object *call_object(Eval *eval, Object *callee, const Arguments *arguments);
/* An instance of the class, whatever hook it has. */
Object *call_class_itself(Eval *eval, Object *class, const Arguments *arguments);
Object *call_simple(Eval *eval, Object *callee, int count, Object *const *positional, Span at);
Object *call_function(Eval *eval, Object *function, Object *self, const Arguments *arguments);
/* Binds the arguments to the parameters of a function in `scope`. */
bool bind_arguments(Eval *eval, const Function *function, Object *self, const Arguments *arguments,
                    Scope *scope);
Object *attribute_get(Eval *eval, Object *object, Name name, Span at);
/* absent: not reported */
Object *attribute_find(Eval *eval, Object *object, Name name, Span at, bool *found);
/* A method of an instance's class, to be called with the instance first; NULL: there is none. */
Object *special_method(Eval *eval, const Object *object, const char *name);
bool attribute_set(Eval *eval, Object *object, Name name, Object *value, Span at);
bool attribute_put(Eval *eval, Object *object, Name name, Object *value, Span at); /* as it is */
bool attribute_delete(Eval *eval, Object *object, Name name, Span at);
/* Setting and removing items of an object's __dict__. False: reported. */
bool mirror_set(Eval *eval, const Object *dict, const Object *key, Object *value, Span at);
bool mirror_delete(Eval *eval, const Object *dict, const Object *key, Span at);
/* A class from its parts: `type(name, bases, dict)`. */
Object *class_make(Eval *eval, Name name, const ObjectVec *bases, const Object *attributes,
                   Span at);
/* along the method resolution order; NULL if absent */
Object *class_find(const Object *class, Name name);
bool class_derives(const Object *class, const Object *base);
Object *class_new(Eval *eval, const NodeClassDef *node);
Object *instance_new(Eval *eval, Object *class);
/* Of an instance or a record; NULL: it has none. */
Object *object_class(const Object *object);

/* ---- record.c: tuples of a class of their own, which are values --------------------------------
 */

bool object_is_record(const Object *object);
Object *record_new(Eval *eval, Object *class, Object *const *parts, size_t count);
/* A part by its name in the class's `__fields__`; NULL: there is none of that name. */
Object *record_field(Eval *eval, const Object *record, Name name);
/* Like it, but for one thing: an item or a part by name. NULL: reported. */
Object *record_with_item(Eval *eval, Object *record, Object *index, Object *value, Span at);
Object *record_with_field(Eval *eval, Object *record, Name name, Object *value, Span at);
/* As a name keeps it: with register tiles of its own, unless its class is a `__reference__`. */
Object *record_hold(Eval *eval, Object *record, bool temporaries);

/* ---- builtins.c, core.c ---------------------------------------------------------------------- */

typedef struct Bound {  /* a builtin's arguments, in the order of its signature */
    Object *values[12]; /* NULL: not given */
    Object *rest;       /* TUPLE of `*rest` */
    Span at;
} Bound;

typedef Object *BuiltinHandler(Eval *eval, const Bound *bound);
struct BuiltinRow {
    const char *module, *name, *signature;
    BuiltinHandler *handler;
};

Object *builtin_call(Eval *eval, const BuiltinRow *row, const Arguments *arguments);
void builtins_bind(Eval *eval, const char *module, Bindings *bindings); /* all of a module's */
bool builtin_is(const Object *object, const char *name);
/* of text, lists, dicts, dtypes; NULL if absent */
Object *builtin_method(Eval *eval, Object *self, Name name);
/* Such a method as `str.upper` or `dict.fromkeys` is it, whose object is an argument. */
Object *builtin_of_kind(Eval *eval, const BuiltinRow *kind, Name name);

/* The standard library's files, as the build embeds them. */
typedef struct StdlibFile {
    const char *name, *text;
    size_t length;
} StdlibFile;
extern const StdlibFile stdlib_files[];
extern const size_t stdlib_file_count;

/* ---- import.c -------------------------------------------------------------------------------- */

Object *import_module(Eval *eval, Name path, Span at); /* MODULE or MISSING; NULL: reported */
Unit *unit_new(Eval *eval, Name name, const Source *source, bool is_library);
Flow eval_import(Eval *eval, const NodeImport *node);
Flow eval_import_from(Eval *eval, const NodeImportFrom *node);
/* What is known of a host module without a host, else reports; NULL. */
Object *missing_attribute(Eval *eval, const Object *missing, Name name, Span at);
/* reports; NULL */
Object *missing_needed(Eval *eval, const Object *missing, Name attribute, Span at);

/* ---- place.c ----------------------------------------------------------------------------------
 */

Object *slot_read(Eval *eval, const Slot *slot, Span at);
bool slot_write(Eval *eval, const Slot *slot, Object *value, Span at); /* false: reported */
/* What the target of an assignment names; its owner and index are evaluated. NULL: reported. */
Slot *target_place(Eval *eval, const Node *target);
Object *place_new(Eval *eval, Object *memory, Object *index, bool assigns);
Object *place_object(Eval *eval, Slot *slot);
bool object_is_variable(const Object *object); /* a place that assigning to its name writes to */
Object *place_attribute(Eval *eval, const Object *place, Name name, Span at, bool *found);

/* ---- reference.c ------------------------------------------------------------------------------
 */

/* What a name stands for as an annotation, in silence; NULL: it is no name, or stands for nothing.
 */
Object *annotation_value(Eval *eval, const Function *function, const Node *annotation);
/* Whether it is a library's own object with memory in its attribute of this name. */
bool holds_memory(Eval *eval, const Object *object);
Name memory_name(Eval *eval);
/* An argument as the parameter takes it: of that index, or of that name. */
Object *eval_argument_of(Eval *eval, Object *callee, uint32_t index, Name name, const Node *node);
/* Whether what is evaluated stands outside the launches of a kernel function (launches.c). */
bool in_host_part(const Eval *eval);
bool host_part_refuses_loop(Eval *eval, Span at); /* reported, if we are there */
/* A name that stands for an extent of two tensors: equal now, or the call is refused. */
bool extents_agree(Eval *eval, const Binding *binding, Object *extent, Span at);
/* ---- tensors.c ---- */
/* In a look ahead: what is computed from an extent that is not known yet; or NULL. */
Object *extent_ahead(Eval *eval, const Object *a, const Object *b);
/* False: it is an extent that nothing has told yet; reported. */
bool extent_is_known(Eval *eval, const Object *object, Span at);
Object *symbol_read(Eval *eval, Object *symbol); /* what it is in this kernel, if that is known */
bool tensor_is_awaited(Eval *eval, Name name);
bool tensor_declare(Eval *eval, Name name, Object *type, Span at);

/* ---- specialise.c, export.c ------------------------------------------------------------------ */

bool is_kernel(const Object *object); /* an instance of a class that is marked as a kernel */
bool class_is_kernel(const Object *class);
/* What gives kernels: one itself, or what is called or compiled for one. */
bool makes_kernels(const Object *object);
/* `instance.compile(...)`: keys from arguments. */
Object *specialise(Eval *eval, Object *instance, const Arguments *arguments);
/* Stages it under a symbol, if it is not yet. False: reported. */
bool specialisation_stage(Eval *eval, Specialisation *specialisation, Name export_name,
                          Name symbol);
bool kernel_has_open_key(Eval *eval, Object *instance, bool *out);
bool instances_same(Eval *eval, const Object *a, const Object *b);
Object *launch_instance(Eval *eval, Object *instance, const Arguments *arguments);

/* ---- hosting.c: the crossing to the host ----------------------------------------------------- */

/* false: it can't cross, not reported */
bool host_value(Eval *eval, Object *object, HostValue *out);
Object *host_object(Eval *eval, const HostValue *value);
Object *host_function_named(Eval *eval, const char *name); /* of tile.host */
Object *host_call(Eval *eval, Name name, const Arguments *arguments);
Object *host_binary(Eval *eval, const char *op, Object *left, Object *right, Span at);
Object *host_unary(Eval *eval, const char *op, Object *operand, Span at);
Object *host_attribute(Eval *eval, Object *array, Name name, Span at, bool *found);
Object *host_item(Eval *eval, Object *array, Object *index, Span at);
bool host_set_item(Eval *eval, Object *array, Object *index, Object *value, Span at);

#endif
