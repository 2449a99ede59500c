/* value.h: what the evaluator computes with, and the evaluator's own state; private to this folder.
 *
 * An Object is a compile-time value, or a handle of an IR value. Operations on compile-time values
 * are done at once (operate.c); where an IR value takes part they are staged (stage.c). Python's
 * names are Bindings; what is bound under run-time control is merged afterwards (variable.c).
 *
 * A function that returns NULL, false or FLOW_ERROR has reported why. */
#ifndef TILEC_EVAL_VALUE_H
#define TILEC_EVAL_VALUE_H

#include "base/vec.h"
#include "eval/eval.h"
#include "eval/host.h"

typedef struct Eval Eval;
typedef struct Object Object;
typedef struct Scope Scope;
typedef struct Unit Unit;
/* kernel.h */
typedef struct Signature Signature;
typedef struct Specialisation Specialisation;
typedef struct TensorType TensorType;
typedef struct Symbol Symbol;
typedef struct Result Result;
typedef struct BuiltinRow BuiltinRow;

/* ---- objects --------------------------------------------------------------------------------- */

/* OBJECT(kind, what messages call it) */
#define OBJECT_KINDS                                                                               \
    OBJECT(NONE, "None")                                                                           \
    OBJECT(BOOL, "bool")                                                                           \
    OBJECT(INT, "int")                                                                             \
    OBJECT(FLOAT, "float")                                                                         \
    OBJECT(TEXT, "str")                                                                            \
    OBJECT(ELLIPSIS, "ellipsis")                                                                   \
    OBJECT(TUPLE, "tuple")                                                                         \
    OBJECT(LIST, "list")                                                                           \
    OBJECT(DICT, "dict")                                                                           \
    OBJECT(SET, "set")                                                                             \
    OBJECT(ITERATOR, "iterator")                                                                   \
    OBJECT(RANGE, "range")                                                                         \
    OBJECT(SLICE, "slice")                                                                         \
    OBJECT(DTYPE, "dtype")                                                                         \
    OBJECT(POINTER_TYPE, "pointer type")                                                           \
    OBJECT(TENSOR_TYPE, "tensor type")                                                             \
    OBJECT(SYMBOL, "extent")                                                                       \
    OBJECT(PLACE, "place in memory")                                                               \
    OBJECT(PARALLEL, "parallel loop")                                                              \
    OBJECT(FUNCTION, "function")                                                                   \
    OBJECT(METHOD, "method")                                                                       \
    OBJECT(PROPERTY, "property")                                                                   \
    OBJECT(STATIC_METHOD, "staticmethod")                                                          \
    OBJECT(CLASS_METHOD, "classmethod")                                                            \
    OBJECT(BUILTIN, "builtin function")                                                            \
    OBJECT(CLASS, "class")                                                                         \
    OBJECT(INSTANCE, "instance")                                                                   \
    OBJECT(SUPER, "super")                                                                         \
    OBJECT(MODULE, "module")                                                                       \
    OBJECT(MISSING, "host module")                                                                 \
    OBJECT(SPECIALISATION, "compiled kernel")                                                      \
    OBJECT(HOST_FUNCTION, "host function")                                                         \
    OBJECT(ARRAY, "array")                                                                         \
    OBJECT(IR, "run-time value")      /* a scalar, pointer, view or shared tile */                 \
    OBJECT(TILE, "register tile")     /* a value, or a variable that can be written in place */    \
    OBJECT(CELL, "run-time variable") /* in bindings alone: a scalar's variable */                 \
    OBJECT(MERGE, "merged value")     /* in bindings alone: by the way taken (variable.c) */       \
    OBJECT(LANES, "values of a parallel loop") /* in bindings alone: one an iteration, gone */     \
    OBJECT(POISON, "unknown value")            /* in bindings alone: the error was reported */

typedef enum ObjectKind {
#define OBJECT(kind, name) OBJECT_##kind,
    OBJECT_KINDS
#undef OBJECT
        OBJECT_COUNT
} ObjectKind;

typedef struct Generator Generator;
/* The next item; *item NULL: there is none. False: reported. */
typedef bool IteratorPull(Eval *eval, Object *iterator, Span at, Object **item);

typedef VEC(Object *) ObjectVec;

/* Which ways' values what is staged later can see. */
typedef enum Sight {
    SIGHT_NAME, /* not those of ways that have left */
    SIGHT_ALL,  /* of the evaluator's own flags */
    SIGHT_SET,  /* those where it was set */
} Sight;

typedef struct Binding {
    Name name;
    Object *object;
    Span at;        /* where it was bound last */
    uint64_t clock; /* when */
    /* object is a CELL, or a TILE of its own: binding anew in deeper control writes it */
    bool variable;
    bool is_extent; /* given with others that a tensor's shape was unpacked to */
    Sight sight;
    int control;   /* of a variable: depth of run-time control where it was made */
    Object *owner; /* of the items of a list or dict: that one (structure.c) */
    Value *lanes;  /* in a parallel loop: the iterations that have had it all along; NULL: all */
} Binding;

typedef VEC(Binding *) BindingVec;

typedef struct Bindings { /* in order of first binding */
    Map map;
    BindingVec list;
} Bindings;

/* What a parameter takes of its argument: its value, a place that it can write to, any place, or a
 * function that evaluates it. */
typedef enum PlaceKind { PLACE_NONE, PLACE_REF, PLACE_ANY, PLACE_LAZY } PlaceKind;

typedef struct Function {
    Name name;
    const Node *node; /* FunctionDef or Lambda */
    Scope *closure;
    Object **defaults;    /* of the last positional parameters */
    Object **kw_defaults; /* one a keyword-only parameter; NULL: none */
    bool yields;
    bool places_known;
    PlaceKind *places;    /* one a parameter; NULL: values alone (reference.c) */
    Bindings *attributes; /* that were given to it, or NULL */
    Object *owner;        /* the class in whose body it stands, for super() */
    Unit *unit;
} Function;

typedef struct Class {
    Name name;
    Object **bases;
    int base_count;
    Object **order; /* method resolution order, itself first */
    int order_count;
    Bindings attributes;
    Span at;
} Class;

typedef struct Instance {
    Object *class;
    Bindings attributes;
    Object *dict;          /* its __dict__, once that was asked for */
    Object *arguments;     /* of its constructor, positional and named, to tell instances apart */
    ObjectVec specialised; /* of a kernel: its SPECIALISATIONs, staged or not */
} Instance;

/* An element or part of memory, or a variable, that an argument names. */
typedef struct Slot {
    Object *memory, *index; /* index NULL: all of it */
    bool assigns;           /* binding the name that stands for it writes to the place */
} Slot;

/* A name's value after run-time control: on the way through region i it was values[i] (NULL:
 * unbound). */
typedef struct Merge {
    Op *control;
    Region *regions[2]; /* of `if`: both; of a loop: the body, and NULL for no iteration */
    Object *values[2];
    Span at[2];
    /* Set while what the way has left to is being staged: nobody there reads this value. */
    const bool *left[2];
    bool alone;      /* the second way is never taken, or nobody sees that it was */
    uint64_t before; /* clock of the older value, if one of the values is it; else UINT64_MAX */
    Binding *binding;
    Object *lifted; /* once it was needed */
} Merge;

struct Object {
    ObjectKind kind;
    bool fresh;       /* of a TILE: nothing is bound to it yet */
    bool is_shape;    /* of a TUPLE: a tensor's */
    uint64_t made;    /* of a LIST or DICT: when */
    Binding *content; /* of one that is changed under run-time control: its items */
    union {
        int64_t integer; /* and of BOOL */
        double number;
        struct {
            const char *data;
            size_t length;
        } text;
        /* TUPLE, LIST; PARALLEL: the extents */
        struct {
            Object **items;
            uint32_t count, capacity;
            uint32_t control;
            bool has_cells;   /* in bindings alone: parts that are variables are CELLs */
            bool is_frozen;   /* a reading of such: what is written to it would be lost */
            const Type *view; /* of a TUPLE that is the parts of a view */
        } list;
        /* DICT; SET: keys alone */
        struct {
            ObjectVec keys, values;
            uint32_t control;
            bool frozen;
            Object *mirrored; /* whose __dict__ it is, or NULL */
        } dict;
        struct { /* ITERATOR: over a LIST of its own, or what `pull` makes */
            Object *items;
            uint32_t next;
            int control; /* depth of run-time control where it was made */
            bool ended;
            IteratorPull *pull;
            Generator *generator;
        } iterator;
        /* and SLICE: NULL where not written; stages: of a pipelined loop, else 0 */
        struct {
            Object *start, *stop, *step, *unroll;
            int64_t stages;
            Object *map; /* of a range: what a loop's target is at each number, or NULL */
        } range;
        DType dtype; /* and of POINTER_TYPE */
        Function function;
        /* PROPERTY and the like: function; SUPER: self, class */
        struct {
            Object *self, *function;
        } method;
        const BuiltinRow *builtin;
        Class *class;
        Instance *instance;
        Unit *unit;
        struct {
            Name path;
            Span at;
        } missing;
        Specialisation *specialisation;
        TensorType *tensor;
        Symbol *symbol;
        Slot *place;
        Name host;
        void *array;
        struct {
            Value *value, *var;
            const Type *seen; /* NULL, or how another name sees the variable's tile (alias.c) */
        } ir;                 /* IR, TILE; CELL: var */
        Merge *merge;
    } as;
};

/* ---- scopes, units --------------------------------------------------------------------------- */

typedef enum ScopeKind {
    SCOPE_BUILTINS,
    SCOPE_UNIT,      /* a module's names: evaluated when needed */
    SCOPE_STATEMENT, /* one statement of a module: sees what stands above it */
    SCOPE_CLASS,
    SCOPE_FUNCTION,
    SCOPE_INNER, /* of a comprehension */
    SCOPE_TOP,   /* statements that `run` executes in order */
} ScopeKind;

struct Scope {
    ScopeKind kind;
    Scope *parent;
    Unit *unit;
    uint32_t index; /* of a statement */
    Bindings bindings;
    Map outside;     /* names declared global or nonlocal -> the scope where they live */
    bool host_names; /* of SCOPE_TOP: tile.host's names are seen */
};

typedef enum ThunkState { THUNK_NEW, THUNK_RUNNING, THUNK_DONE, THUNK_FAILED } ThunkState;
typedef struct Thunk {
    ThunkState state;
    Scope *scope;
} Thunk;

/* A module: its text and names. */
struct Unit {
    Name name;   /* dotted */
    Name folder; /* of a package: prefix of its modules; else NULL */
    Module *tree;
    Scope *scope;
    Thunk *thunks;   /* one a statement */
    Map definitions; /* name -> IndexVec: statements that bind it, in order */
    Object *object;
    Map defined;     /* name -> Object: -D of the command line; wins over what the module binds */
    Scope *statements; /* that `run` executes in it: their names are there for its functions */
    bool is_library; /* of the stdlib: messages and ops take the user's place */
    bool is_eager;   /* executed in order: names are just bindings */
};

typedef VEC(uint32_t) IndexVec;

/* ---- the evaluator --------------------------------------------------------------------------- */

typedef enum Flow {
    FLOW_NEXT,
    FLOW_RETURN,
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_GONE,  /* every way through has left, but not all of them to the same place */
    FLOW_MAYBE, /* some ways through have left: Jumps.taken tell which */
    FLOW_ERROR,
} Flow;

typedef enum JumpKind { JUMP_CONTINUE, JUMP_BREAK, JUMP_RETURN, JUMP_COUNT } JumpKind;

/* How the ways through a frame's code have left it, where run-time control decides (jump.c). */
typedef struct Jumps {
    Binding taken[JUMP_COUNT]; /* booleans, merged as any name is */
    Binding result;            /* of `return` */
    /* what jumps lead to the end of: true while it is being staged; NULL outside loops */
    bool *call, *loop, *iteration;
} Jumps;

typedef struct Frame { /* of a call */
    Scope *scope;
    const Function *function;
    Object *self;         /* first argument, for super() */
    Generator *generator; /* whose body it is of */
    Object *result;       /* of a `return` that all ways reach */
    Span returned;        /* where that is */
    int control;          /* depth of run-time control at the call */
    bool is_thread_code;  /* effects happen in each thread; integers divide as C's (call.c) */
    Jumps *jumps;         /* made when it is needed */
    struct Frame *caller;
} Frame;

typedef struct Undo {
    Binding *binding;
    Object *object;
    Span at;
    uint64_t clock;
    bool variable;
    int control;
} Undo;

/* A run-time loop that is being staged. */
typedef struct LoopTrial {
    /* bindings older than this that are read need a variable if they are written too */
    uint64_t start;
    Map reads;
    int control; /* depth of run-time control around it */
    bool again;  /* what was staged is not what the loop does */
    struct LoopTrial *outer;
} LoopTrial;

/* A data-parallel loop that is being staged: its body is evaluated once, on tiles of its shape. */
typedef struct Parallel {
    int rank;
    int64_t shape[TYPE_RANK];
    Value *indices[TYPE_RANK]; /* its variables */
    Value *mask;               /* the iterations that do what is staged now; NULL: all */
    int depth;                 /* of ways that a tile decides */
    int base, loops;           /* depth where the loop or call at hand began; its loops */
    int control, base_control; /* depth of run-time control in the body; where `base` was noted */
    uint64_t start;            /* bindings older than this are from outside */
    const Frame *frame;
} Parallel;

typedef struct Staging { /* of the kernel that is being staged */
    Kernel *kernel;
    Op *launch; /* that is open; NULL in the host part of a kernel function */
    Specialisation *specialisation;
    bool is_function;   /* which opens its launches itself */
    int64_t threads[3]; /* of the open launch */
    VEC(Result) results;
    const Signature *signature;
    VEC(int) parameter_arguments, tensor_arguments; /* of the Specialisation, as they come */
    Map symbols;                                    /* names of extents -> Object: what they are */
    Object *attributes;               /* what the kernel function set: blocks, warps */
    Span at;                          /* what asked for it */
    int64_t group_begin, group_count; /* the threads of the group at hand; count 0: all */
    /* of the kernel function: after an error its other statements are still looked at */
    const Frame *frame;
    bool failed;
} Staging;

typedef struct CallStep {
    Span at;
    const char *text;
} CallStep;

typedef struct Fault { /* what went wrong */
    DiagCode code;
    Span at;
    const char *text;
    Object *exception;
    int control; /* depth of run-time control there */
} Fault;

/* A `try` that is running: its body is silent, and what went wrong is kept. */
typedef struct Attempt {
    int quiet;
    bool failed;
    Fault fault;
    const Frame *frame; /* where it stands */
    struct Attempt *outer;
} Attempt;

struct Eval {
    Session *session;
    Arena *arena;
    EvalOptions options;
    Host *host;
    Object *none, *yes, *no, *ellipsis, *poison;
    Object *root_class; /* `object` */
    Scope *builtins;
    Map units; /* dotted name -> MODULE or MISSING */
    VEC(const char *) inputs;
    const char *folder; /* of the program's own source */
    Frame *frame;
    Span at;     /* the user's place: of messages and ops */
    int library; /* > 0 inside stdlib code */
    int quiet;   /* > 0: nothing is reported */
    int depth;   /* of calls and nested expressions */
    Attempt *attempt;
    Object *raised;      /* by `raise`, until its fault is noted */
    Object *handling;    /* by the handler that runs */
    VEC(CallStep) steps; /* for notes */
    Staging *staging;
    Builder builder;
    int control;       /* run-time regions that are open */
    VEC(Undo) journal; /* bindings changed under run-time control */
    LoopTrial *trial;
    Parallel *parallel; /* NULL: no parallel loop is being staged */
    uint64_t clock;
    Map warned;                  /* places of warnings, which are given once */
    bool needed_missing;         /* a host module was needed */
    uint64_t steps_left;         /* compile-time loop iterations: no input may run forever */
    VEC(Generator *) generators; /* that have begun and not ended */
    VEC(Kernel *) kernels;       /* staged by run; freed with the program */
};

enum { CALL_LIMIT = 200, UNROLL_LIMIT = 100000 };

/* Reports DIAG_<name> at a place with its arguments, with the chain of calls; gives NULL. */
#define FAIL(eval, name, ...)                                                                      \
    (report_begin(eval) ? diag_report((eval)->session->diags, DIAG_##name, __VA_ARGS__)            \
                        : fault_note(eval, DIAG_##name, __VA_ARGS__),                              \
     report_end(eval))
bool report_begin(Eval *eval);
/* In silence: a `try` around it may want to know (raise.c). */
void fault_note(Eval *eval, DiagCode code, Span at, ...);
/* Whether what ended the attempt is such an exception; what is not is passed on. */
bool attempt_raised(Eval *eval, Attempt *attempt, const char *name);
void *report_end(Eval *eval);
/* The place of ops and messages is `at` from here on, unless library code is running. */
void eval_move(Eval *eval, Span at);

/* ---- value.c --------------------------------------------------------------------------------- */

Object *object_new(Eval *eval, ObjectKind kind);
Object *object_bool(Eval *eval, bool value);
Object *object_int(Eval *eval, int64_t value);
Object *object_float(Eval *eval, double value);
Object *object_text(Eval *eval, const char *data, size_t length);
Object *object_list(Eval *eval, ObjectKind kind, Object *const *items, size_t count);
void list_append(Eval *eval, Object *list, Object *item);
Object *object_ir(Eval *eval, Value *value); /* TILE for a register tile */
const char *object_kind_name(const Object *object);
bool object_is_number(const Object *object); /* compile-time BOOL, INT or FLOAT */
bool object_is_staged(const Object *object); /* IR or TILE */
double object_number(const Object *object);
bool object_is_sequence(const Object *object); /* TUPLE or LIST */
bool object_equal(const Object *a, const Object *b);
bool object_is_instance(const Object *object, const Object *kind); /* kind: a type, or a tuple */
Object *dict_new(Eval *eval);
Object *dict_get(const Object *dict, const Object *key);
void dict_set(Eval *eval, Object *dict, Object *key, Object *value);
void dict_remove(Object *dict, const Object *key); /* if it is there */
typedef enum TextStyle { TEXT_STR, TEXT_REPR } TextStyle;
void object_print(Eval *eval, const Object *object, TextStyle style, Buf *out);
const char *object_repr(Eval *eval, const Object *object); /* in the arena */
/* Truth of a compile-time value; false: reported. */
bool object_truth(Eval *eval, Object *object, bool *out);
/* Of a call's results: an int that fits, else reported as `what`. */
bool object_as_int(Eval *eval, Object *object, const char *what, int64_t *out);

/* ---- scope.c --------------------------------------------------------------------------------- */

Scope *scope_new(Eval *eval, ScopeKind kind, Scope *parent, Unit *unit);
Binding *bindings_get(const Bindings *bindings, Name name);
Binding *bindings_make(Eval *eval, Bindings *bindings, Name name);
/* Makes `binding` hold `object`, with what run-time control asks for. False: reported. */
bool binding_set(Eval *eval, Binding *binding, Object *object, Span at);
Object *binding_get(Eval *eval, Binding *binding, Span at); /* reads it as a value */
bool scope_assign(Eval *eval, Scope *scope, Name name, Object *object, Span at);
/* NULL with *found false: there is none (not reported). */
Object *scope_lookup(Eval *eval, Scope *scope, Name name, Span at, bool *found);
Object *name_read(Eval *eval, Name name, Span at);
/* A module's name as statements after `index` see it (UINT32_MAX: all). */
Object *unit_lookup(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found);
void unit_index(Eval *eval, Unit *unit);
Scope *scope_for_closure(Scope *scope);
void names_bound(Eval *eval, const Node *statement, void (*visit)(void *, Name), void *context);

/* ---- structure.c: tuples, lists and views under run-time control ------------------------------
 */

bool object_is_known(const Object *object);          /* at compile time, with all that it holds */
bool objects_same(const Object *a, const Object *b); /* for certain */
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

/* ---- variable.c, merge.c: what is bound under run-time control ---------------------------------
 */

/* The type that an object has as the content of a variable; NULL: it can't be one. */
const Type *content_type(Eval *eval, const Object *object);

typedef struct Control { /* what control_leave restores */
    Builder builder;
    size_t mark;
} Control;
/* Ops go to the end of `region` from here on, and bindings are noted. */
Control control_enter(Eval *eval, Region *region);
/* Takes back all bindings that were changed since; what they held goes to *changed. */
typedef struct Change {
    Binding *binding;
    Object *after;
    Span at;
} Change;
typedef VEC(Change) ChangeVec;
void control_leave(Eval *eval, Control control, ChangeVec *changed);
/* flows: how each branch ended. */
void merge_branches(Eval *eval, Op *control, const ChangeVec changes[2], const Flow flows[2]);
/* After a region that some threads skip: a name that was bound in it has that value for them too if
 * it had none before. */
void merge_group(Eval *eval, Op *group, const ChangeVec *changes);
void merge_loop(Eval *eval, Op *loop, const ChangeVec *changes, bool runs_once);
/* Whether a change must be carried round the loop, by a variable made before it. */
bool change_is_carried(const LoopTrial *trial, const Change *change);
/* Turns the binding into a run-time variable here; a literal takes the type of `next`, which it is
 * given later (NULL: unknown). False: reported. */
bool binding_make_variable(Eval *eval, Binding *binding, Object *next);
void binding_note(Eval *eval, Binding *binding); /* before it is changed */
/* by reference, as parameters are */
void binding_put(Eval *eval, Binding *binding, Object *object, Span at);
Object *merge_lift(Eval *eval, Object *merge, Span at);
void trial_note_read(Eval *eval, Binding *binding, uint64_t clock);
/* The object for a new binding: a fresh tile as it is, another register tile copied. */
Object *object_hold(Eval *eval, Object *object);
/* The object for a list, a parameter or a loop's target: a named tile by reference, a temporary
 * held. */
Object *object_keep(Eval *eval, Object *object);
/* Writes a register tile in place (out=). False: reported. */
bool tile_write(Eval *eval, Object *tile, Value *value);

/* ---- expr.c, format.c ------------------------------------------------------------------------ */

Object *eval_expr(Eval *eval, const Node *node);
bool assign_target(Eval *eval, const Node *target, Object *object);
/* A `for` of a comprehension or an unrolled loop over what is known now. NULL: reported. */
Object *iterate(Eval *eval, Object *iterable, Span at); /* a LIST or TUPLE of the items */
/* range(start, stop, step); step NULL: 1, stop NULL: from 0 to start. NULL: reported. */
Object *range_new(Eval *eval, Object *const given[3], Span at);
/* How many numbers it has; false: that is not known, or no int64. */
bool range_count(const Object *range, int64_t *out);
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
Object *set_new(Eval *eval);

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
Object *operate_unary(Eval *eval, Operator op, Object *operand, Span at);
Object *operate_compare(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *operate_not(Eval *eval, Object *operand, Span at);

/* ---- stage.c: operations on IR values -------------------------------------------------------- */

bool stage_ready(Eval *eval, Span at);          /* a kernel is being staged; else reported */
Value *stage_value(Eval *eval, Object *object); /* of an IR or TILE, read now */
/* A compile-time number or run-time value as a scalar of the type. NULL: reported. */
Value *stage_scalar(Eval *eval, Object *object, DType dtype, Span at);
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
bool stage_promote(DType a, DType b, DType *out);
const char *dtype_user_name(DType dtype);
const Type *staged_object_type(const Object *object); /* of a run-time value */
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
Flow finish_loop(Eval *eval, Flow flow, Nodes orelse);
/* The result of a call whose body ended in `flow`. NULL: reported. */
Object *call_result(Eval *eval, Flow flow, Span at);

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
void *raise_no_key(Eval *eval, Object *key, Span at);

/* ---- stmt.c, loop.c, unroll.c ---------------------------------------------------------------- */

Flow eval_block(Eval *eval, Nodes statements);
/* What follows a statement in its block. Where one branch of an `if` leaves, the other takes it. */
typedef struct Rest {
    Nodes statements;
    uint32_t index;
    bool taken;
} Rest;
Flow eval_rest(Eval *eval, Rest *rest);
/* counts an iteration of a compile-time loop; false: too many, reported */
bool eval_step(Eval *eval, Span at);
Flow eval_statement(Eval *eval, const Node *statement);
/* The rest of a `with`: its items from `index` on, then its body. */
typedef Flow ThreadsBody(Eval *eval, const NodeWith *node, uint32_t index);
/* group.c: run by the threads of a range (first, number), relative to those that run it now. */
Flow stage_group(Eval *eval, const Object *range, ThreadsBody *body, const NodeWith *node,
                 uint32_t index);
/* What the kernel function set of self.attrs; NULL: reported that it did not. */
void workspaces_settle(Kernel *kernel); /* drops those that nothing uses */
Object *kernel_attribute(Eval *eval, const char *name);
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
/* What a loop in a parallel one runs by is the same in all iterations; else reported. */
bool lanes_agree(Eval *eval, const Object *object, Span at);
/* A boolean of the loop's shape; outside of one as stage_condition. */
Value *lanes_condition(Eval *eval, Object *object, Span at);
/* What a binding holds once some iterations have set it to the object. NULL: reported. */
Object *lanes_bind(Eval *eval, Binding *binding, Object *object, Span at);
Object *lanes_hold(Eval *eval, Object *object);
/* An `if` whose test is a tile: both ways are evaluated, under masks. */
Flow stage_lanes(Eval *eval, Object *test, const Nodes bodies[2]);
/* Whether a way leaves a parallel loop's iteration, or a call in it: then masks say who does. */
bool lanes_leave_by(const Eval *eval, const Nodes bodies[2]);
Object *lanes_choice(Eval *eval, const NodeIfExp *node, Object *test);
Object *lanes_right(Eval *eval, Operator op, Object *left, const Node *right);
/* Around a loop's iteration and a call: what leaves it comes back behind it. */
typedef struct Lanes {
    Value *mask;
    int base, loops, control;
} Lanes;
Lanes lanes_enter(Eval *eval, bool loops);
void lanes_leave(Eval *eval, Lanes outer);
/* True if the jump is one of some iterations of a parallel loop; *flow: how it ends. */
bool lanes_jump(Eval *eval, JumpKind kind, Span at, Flow *flow);
/* A `return` behind those that some iterations took. */
Object *lanes_result(Eval *eval, Object *value, Span at);
/* A loop's variable is the same for all iterations of a parallel one, whichever run the loop. */
bool lanes_assign_all(Eval *eval, const Node *target, Object *object);
/* Whether a builtin may stand in a parallel loop; false: reported. */
bool lanes_allow(Eval *eval, const BuiltinRow *row, Span at);

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
/* reports; NULL */
Object *missing_needed(Eval *eval, const Object *missing, Name attribute, Span at);

/* ---- reference.c ------------------------------------------------------------------------------
 */

bool object_is_variable(const Object *object); /* a place that assigning to its name writes to */
Object *place_read(Eval *eval, const Object *place, Span at);
bool place_write(Eval *eval, const Object *place, Object *value, Span at);
Object *place_attribute(Eval *eval, const Object *place, Name name, Span at, bool *found);
/* An argument as the parameter takes it: of that index, or of that name. */
Object *eval_argument_of(Eval *eval, Object *callee, uint32_t index, Name name, const Node *node);
/* Whether what is evaluated stands outside the launches of a kernel function (launches.c). */
bool in_host_part(const Eval *eval);
bool host_part_refuses(Eval *eval, const char *what, Span at); /* reported, if we are there */
/* A name that stands for an extent of two tensors: equal now, or the call is refused. */
bool extents_agree(Eval *eval, const Binding *binding, Object *extent, Span at);
/* ---- tensors.c ---- */
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
bool instances_same(const Object *a, const Object *b);
Object *launch_instance(Eval *eval, Object *instance, const Arguments *arguments);

/* ---- hosting.c: the crossing to the host ----------------------------------------------------- */

/* false: it can't cross, not reported */
bool host_value(Eval *eval, Object *object, HostValue *out);
Object *host_object(Eval *eval, const HostValue *value);
Object *host_call(Eval *eval, Name name, const Arguments *arguments);
Object *host_binary(Eval *eval, const char *op, Object *left, Object *right, Span at);
Object *host_unary(Eval *eval, const char *op, Object *operand, Span at);
Object *host_attribute(Eval *eval, Object *array, Name name, Span at, bool *found);
Object *host_item(Eval *eval, Object *array, Object *index, Span at);
bool host_set_item(Eval *eval, Object *array, Object *index, Object *value, Span at);

#endif
