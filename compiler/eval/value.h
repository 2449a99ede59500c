/* value.h: what the evaluator computes with, and the evaluator's own state; what it does is in
 * evaluate.h. Private to this folder.
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
#include "target/cost.h"

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
typedef struct DictIndex DictIndex;

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

/* What a parameter takes of its argument: its value, a place that it can write to, such a place or
 * a part of one, any place, or a function that evaluates it. */
typedef enum PlaceKind { PLACE_NONE, PLACE_REF, PLACE_PART, PLACE_ANY, PLACE_LAZY } PlaceKind;

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
    Object **bases; /* classes */
    int base_count;
    Object *written; /* the tuple of all bases, Python's own types too, as they are written */
    Object **order;  /* method resolution order, itself first */
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

/* What can be read and written: an object's item or attribute, or all of it; a name; a part of what
 * another place has. */
typedef struct Slot {
    Object *memory;      /* an object; NULL: */
    struct Slot *whole;  /* another place, whose value is a record; NULL: */
    struct Scope *scope; /* the name `name` there */
    Name name;
    Object *index; /* the item of it ... */
    Name field;    /* ... or the attribute; both NULL: all */
    bool assigns;  /* binding the name that stands for it writes to the place */
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
        struct {
            int64_t integer; /* and of BOOL */
            Object *extent;  /* of an INT: the SYMBOL whose number it is, or NULL */
        };
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
            Object *class;    /* of a TUPLE that is a record: its class (record.c) */
            Object *keyed;    /* of a LIST that a DICT's keys(), values() or items() gave */
        } list;
        /* DICT; SET: keys alone */
        struct {
            ObjectVec keys, values;
            DictIndex *index; /* dict.c's, or NULL */
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
            const Object *keyed; /* the DICT or SET that it goes over, or NULL */
            size_t keys;         /* of that, when it began */
        } iterator;
        /* and SLICE: NULL where not written; stages: of a pipelined loop, else 0 */
        struct {
            Object *start, *stop, *step, *unroll;
            int64_t stages;
            Object *map; /* of a range: what a loop's target is at each number, or NULL */
        } range;
        struct {
            DType dtype;         /* and of POINTER_TYPE */
            const char *spelled; /* as its dialect spells it; NULL: as dtype_user_name does */
        };
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
            Name path, module; /* what is named, and which module is not there for it */
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
            Object *whole, *index; /* of a register tile's part: what is written to it goes there */
            bool unseen;           /* a temporary that a function of the library was given */
        } ir;                      /* IR, TILE; CELL: var */
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
/* What a statement of a module made that may be exported (made.c). */
typedef struct Made {
    Name name;      /* what it was assigned to, or NULL */
    Object *object; /* a kernel or a SPECIALISATION */
    Span span;
} Made;
typedef VEC(Made) MadeVec;

typedef struct Thunk {
    ThunkState state;
    Scope *scope;
    MadeVec made;
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
    Map defined;       /* name -> Object: -D of the command line; wins over what the module binds */
    Scope *statements; /* that `run` executes in it: their names are there for its functions */
    bool is_library;   /* of the stdlib: messages and ops take the user's place */
    bool is_eager;     /* executed in order: names are just bindings */
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
    Binding exited;            /* a boolean: those that returned have left the kernel, too */
    /* what jumps lead to the end of: true while it is being staged; NULL outside loops */
    bool *call, *loop, *iteration;
} Jumps;

/* How iterations of a parallel loop return from a call on their own. */
typedef struct LaneExit {
    Region *region; /* where the call began: behind `last`, or at the start */
    Op *last;
    Value *returned; /* a variable: which have, out of a loop; NULL: none can */
    Object *result;  /* tiles that are variables: of those that have; NULL: Frame's */
} LaneExit;

/* A serial loop that iterations of a parallel one may leave on their own. */
typedef struct LaneLoop {
    Value *gone; /* a variable: which have left; NULL: none can */
    int jumps;   /* in its text */
    bool broken, returned;
    struct LaneLoop *outer;
} LaneLoop;

typedef struct Frame { /* of a call */
    Scope *scope;
    const Function *function;
    Object *self;         /* first argument, for super() */
    Generator *generator; /* whose body it is of */
    Object *result;       /* of a `return` that all ways reach */
    Span returned;        /* where that is */
    int control;          /* depth of run-time control at the call */
    bool is_procedure;    /* of a kernel: a `return` in its statements leaves that (jump.c) */
    bool is_entry;        /* of a kernel that returns nothing */
    Object *exits;        /* a boolean: who left the kernel in a call since the statement began */
    const Node *exiting;  /* that call, if there is one alone */
    Span exited;          /* the `return` by which they did */
    bool is_thread_code;  /* effects happen in each thread; integers divide as C's (call.c) */
    bool is_operator;     /* of the library: its operands meet as its caller's do (promote.c) */
    Jumps *jumps;         /* made when it is needed */
    LaneExit exit;        /* in a parallel loop */
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
    bool divided[TYPE_RANK];   /* the body is evaluated for parts of the loop: along these */
    bool whole;                /* which a register tile's elements are all of: it must not be */
    bool all_come;             /* no loop, but the elements of a tile: all threads come here */
    Value *mask;               /* the iterations that do what is staged now; NULL: all */
    Value *entered, *called;   /* the mask where the round, or the call, at hand began */
    LaneLoop *loop;            /* at hand; NULL: none, or one that none leaves */
    int loops;                 /* of the call at hand that are open */
    int control,
        base_control; /* depth of run-time control in the body; where `entered` was noted */
    uint64_t start;   /* bindings older than this are from outside */
    const Frame *frame;
} Parallel;

/* What a number of the program is beside a run-time value (promote.c). */
typedef enum Numbers { NUMBERS_WEAK, NUMBERS_SCRIPT, NUMBERS_TILELANG } Numbers;

typedef struct Staging { /* of the kernel that is being staged */
    Kernel *kernel;
    Op *launch; /* that is open; NULL in the host part of a kernel function */
    Specialisation *specialisation;
    bool is_function;   /* which opens its launches itself */
    Numbers numbers;    /* of a function */
    int64_t threads[3]; /* of the open launch */
    VEC(Result) results;
    const Signature *signature;
    VEC(int) parameter_arguments, tensor_arguments; /* of the Specialisation, as they come */
    Map symbols;                                    /* names of extents -> Object: what they are */
    /* Names of extents of tensors that are declared in the body -> what a look ahead found: an INT,
     * or None where that is known at the call. */
    Map ahead;
    bool looks_ahead;                 /* to fill that */
    Object *attributes;               /* what the kernel function set: blocks, warps */
    Span at;                          /* what asked for it */
    int64_t group_begin, group_count; /* the threads of the group at hand; count 0: all */
    bool by_index;                    /* within an `if` by the thread's index that is a group */
    struct {
        Value *row; /* NULL: it was not used */
        int64_t count;
    } named[NAMED_BARRIERS]; /* barriers that the open launch knows by number */
    /* of the kernel function: after an error its other statements are still looked at */
    const Frame *frame;
    int failures; /* of its statements */
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
    int control;       /* depth of run-time control there */
    const Value *mask; /* of the iterations of a parallel loop that it happens in */
} Fault;

/* A `try` that is running: its body is silent, and what went wrong is kept. */
typedef struct Attempt {
    int quiet;
    bool failed;
    Fault fault;
    const Frame *frame; /* where it stands */
    const Value *mask;  /* of the iterations of a parallel loop that begin it */
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
    VEC(const Source *) inputs;
    const char *folder;          /* of the program's own source */
    const Specialisation *model; /* whose values stand for what a specialisation leaves open */
    Frame *frame;
    Span at;     /* the user's place: of messages and ops */
    int library; /* > 0 inside stdlib code */
    int quiet;   /* > 0: nothing is reported */
    int depth;   /* of calls and nested expressions */
    Attempt *attempt;
    bool equal_failed;   /* an error was reported in an __eq__ that object_agrees() called */
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
    MadeVec *made;               /* by the module's statement that runs; NULL: nobody asks */
    Map warned;                  /* places of warnings, which are given once */
    Object *needed_missing;      /* the host module that was needed last; NULL: none */
    uint64_t steps_left;         /* compile-time loop iterations: no input may run forever */
    uint64_t calls_left;         /* of functions; as above, for the whole program */
    uint64_t work_left;          /* of everything, as above; 0: nothing is evaluated any more */
    Span spent_at;               /* where none was left */
    int plain;                   /* > 0: what is compared is, without __eq__ */
    VEC(Generator *) generators; /* that have begun and not ended */
    VEC(Kernel *) kernels;       /* staged by run; freed with the program */
};

enum { CALL_LIMIT = 200, UNROLL_LIMIT = 100000, CALLS_LIMIT = 5000000, INSTANCES_LIMIT = 4096 };
/* The work of an item that is looked at, or of so many bytes of text, is 1. */
enum { WORK_BYTES = 64, WORK_OF_EXPRESSION = 2, WORK_OF_PRINTING = 16, WORK_OF_STAGED = 100 };
enum { WORK_OF_LOOP = 4000 /* of a trial */ };
enum { WORK_OF_CALL = 200 /* with all that it does, on average */ };
enum { TEXT_LIMIT = 1 << 28, ITEM_LIMIT = 1 << 20 };
#define MEMORY_LIMIT ((size_t)2 << 30) /* bytes, of what is evaluated */

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
Span eval_move_to(Eval *eval, const Node *node); /* moves to the node, and says where that is */

/* ---- value.c --------------------------------------------------------------------------------- */

Object *object_new(Eval *eval, ObjectKind kind);
/* The element type of a tensor or of a value, as TileLang spells it, but in Script kernels. */
Object *object_dtype(Eval *eval, DType dtype);
const char *dtype_spelling(const Object *dtype);
Object *object_bool(Eval *eval, bool value);
Object *object_int(Eval *eval, int64_t value);
Object *object_float(Eval *eval, double value);
Object *object_text(Eval *eval, const char *data, size_t length);
Object *object_list(Eval *eval, ObjectKind kind, Object *const *items, size_t count);
void list_append(Eval *eval, Object *list, Object *item);
Object *object_ir(Eval *eval, Value *value); /* TILE for a register tile */
const char *object_kind_name(const Object *object);
bool object_is_number(const Object *object); /* compile-time BOOL, INT or FLOAT */
/* Of UTF-8. */
size_t count_characters(const char *text, size_t length);
bool object_is_staged(const Object *object); /* IR or TILE */
double object_number(const Object *object);
/* Exactly, of numbers: -1, 0, 1; 2: a NaN is not ordered. */
int object_order_numbers(const Object *a, const Object *b);
bool object_is_sequence(const Object *object); /* TUPLE or LIST */
/* Instances: the same one. eval NULL: it is known that they hold little. */
bool object_equal(Eval *eval, const Object *a, const Object *b);
/* As the language has it: __eq__ of instances decides, wherever they lie. */
bool object_agrees(Eval *eval, const Object *a, const Object *b);
/* What was found by such comparisons; NULL: one of them was reported. */
Object *unless_equal_failed(Eval *eval, Object *found);
bool object_is(Eval *eval, const Object *a, const Object *b); /* the same object */
/* kind: a type, or a tuple of kinds. False: reported. */
bool object_is_instance(Eval *eval, const Object *object, const Object *kind, bool *out);
/* dict.c */
Object *dict_new(Eval *eval);
Object *dict_get(Eval *eval, const Object *dict, const Object *key);
/* The key's place, or how many there are. */
size_t dict_place(Eval *eval, const Object *dict, const Object *key);
uint64_t object_hash(Eval *eval, const Object *object);
/* Whether Python would hash it, so that it may be a key. False: reported. */
bool key_is_fit(Eval *eval, const Object *key, Span at);
void dict_set(Eval *eval, Object *dict, Object *key, Object *value);
void dict_remove(Eval *eval, Object *dict, const Object *key); /* if it is there */
void dict_clear(Object *dict);
typedef enum TextStyle { TEXT_STR, TEXT_REPR } TextStyle;
void object_print(Eval *eval, const Object *object, TextStyle style, Buf *out);
const char *object_repr(Eval *eval, const Object *object); /* in the arena */
/* Truth of a compile-time value; false: reported. */
bool object_truth(Eval *eval, Object *object, bool *out);
/* Whether it is what __len__ may return. False: reported. */
bool length_is_fit(Eval *eval, const Object *length, Span at);
/* Of a call's results: an int that fits, else reported as `what`. */
bool object_as_int(Eval *eval, Object *object, const char *what, int64_t *out);

/* ---- nearest.c ------------------------------------------------------------------------------- */

void nearest_try_scope(Eval *eval, Nearest *nearest, const Scope *scope);
void nearest_try_attributes(Eval *eval, Nearest *nearest, const Object *object);
void nearest_try_parameters(Nearest *nearest, const Nodearguments *parameters);
/* As a hint of what was reported last. NULL. */
void *nearest_hint(Eval *eval, const Nearest *nearest);

/* ---- made.c ---------------------------------------------------------------------------------- */

/* A kernel was compiled: by a statement of a module, perhaps. */
void made_note(Eval *eval, Object *object, Span at);
/* The statement stands in a module's scope, and ended so: what it gave names to is noted. The flow
 * that is to be. */
Flow made_by_statement(Eval *eval, const Node *statement, Flow flow);

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
/* Runs the module's statement, if it has not run; `name` is what asks for it. False: reported. */
bool thunk_force(Eval *eval, Unit *unit, uint32_t index, Name name, Span at);
/* A module's name as statements after `index` see it (UINT32_MAX: all). */
Object *unit_lookup(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found);
/* What belongs to the code that is being evaluated, not to what it happens to need: a module's
 * statement, a kernel. */
typedef struct Aside {
    Frame *frame;
    Staging *staging;
    Builder builder;
    LoopTrial *trial;
    Parallel *parallel;
    Span at;
    int control, library;
} Aside;
Aside step_aside(Eval *eval);
void step_back(Eval *eval, const Aside *aside);
void unit_index(Eval *eval, Unit *unit);
Scope *scope_for_closure(Scope *scope);
void names_bound(Eval *eval, const Node *statement, void (*visit)(void *, Name), void *context);

/* ---- structure.c: tuples, lists and views under run-time control ------------------------------
 */

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
bool change_is_carried(Eval *eval, const LoopTrial *trial, const Change *change);
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
/* Writes a register tile in place. False: reported. */
bool tile_write(Eval *eval, Object *tile, Value *value);
/* The same where the author says so (out=): not a tile that nothing else sees. */
bool tile_write_out(Eval *eval, Object *tile, Value *value);

#endif
