/* state.h: the evaluator's own state. Private to eval/. */
#ifndef TILEC_EVAL_STATE_H
#define TILEC_EVAL_STATE_H

#include "eval/values/object.h"
#include "target/cost.h"

typedef struct Operations Operations;

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
typedef struct MaskedLoop {
    Value *gone; /* a variable: which have left; NULL: none can */
    int jumps;   /* in its text */
    bool broken, returned;
    struct MaskedLoop *outer;
} MaskedLoop;

typedef struct Frame { /* of a call */
    Scope *scope;
    const Function *function;
    Object *self;                      /* first argument, for super() */
    const struct Arguments *arguments; /* what it was given, without self; NULL: nothing */
    Generator *generator;              /* whose body it is of */
    Object *result;                    /* of a `return` that all ways reach */
    Span returned;                     /* where that is */
    int control;                       /* depth of run-time control at the call */
    bool is_procedure;   /* of a kernel: a `return` in its statements leaves that (jump.c) */
    bool is_entry;       /* of a kernel that returns nothing */
    Object *exits;       /* a boolean: who left the kernel in a call since the statement began */
    const Node *exiting; /* that call, if there is one alone */
    const NodeFor *iterated; /* whose iterable is being evaluated */
    const Node *assigned;    /* the statement that binds what is being evaluated; NULL: none does */
    Span exited;             /* the `return` by which they did */
    bool is_thread_code;     /* effects happen in each thread; integers divide as C's (call.c) */
    bool is_operator;        /* of the library: its operands meet as its caller's do (promote.c) */
    bool is_surveyed;        /* host code, of which statements that fail are left out (survey.c) */
    bool lacks_result;       /* of such: what it returns could not be computed */
    Jumps *jumps;            /* made when it is needed */
    LaneExit exit;           /* in a parallel loop */
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
    Map lacking;        /* bindings that were read where a way gave them no value (merge.c) */
    const Frame *frame; /* whose loop it is */
    int control;        /* depth of run-time control around it */
    bool again;         /* what was staged is not what the loop does */
    struct LoopTrial *outer;
} LoopTrial;

/* A data-parallel loop that is being staged: its body is evaluated once, on tiles of its shape. */
/* How a parallel loop's body is evaluated; if that shows to be wrong, it is evaluated again. */
typedef struct ParallelForm {
    bool whole;                 /* not in parts, as a register tile's elements are all of it */
    bool in_turn;               /* iterations of parallel loops within it follow each other */
    bool by_share;              /* each thread does its share, one iteration after the other */
    int rank;                   /* the loop's own dimensions, and those of the loops within it */
    int64_t extents[TYPE_RANK]; /* of the dimensions */
} ParallelForm;

typedef struct Parallel {
    int rank;
    int64_t shape[TYPE_RANK];  /* 1 along dimensions of loops within it that are not open */
    Value *indices[TYPE_RANK]; /* its variables */
    Value *starts[TYPE_RANK];  /* where the part begins; NULL: the dimension is whole */
    int64_t parts[TYPE_RANK];  /* the extents of a part */
    int own, open;             /* dimensions: of the loop itself, of it and the open loops within */
    const NodeFor *node;       /* the innermost one; NULL: no loop */
    bool has_share;            /* a thread's share of it is known */
    bool has_turns;            /* something came of each thread's turns */
    ParallelForm form, next;
    bool again;              /* the body is to be evaluated again, in the form `next` */
    bool all_come;           /* no loop, but the elements of a tile: all threads come here */
    Value *mask;             /* the iterations that do what is staged now; NULL: all */
    Value *entered, *called; /* the mask where the round, or the call, at hand began */
    MaskedLoop *loop;        /* at hand; NULL: none, or one that none leaves */
    int loops;               /* of the call at hand that are open */
    int control,
        base_control; /* depth of run-time control in the body; where `entered` was noted */
    uint64_t start;   /* bindings older than this are from outside */
    uint64_t inner;   /* the same of the innermost open loop */
    const Frame *frame;
} Parallel;

/* How numbers of the program and run-time values meet (staging/promote.c); the standard library
 * says which kernels do so how. */
typedef enum Numbers {
    NUMBERS_WEAK,   /* a number takes the type of what it meets */
    NUMBERS_TYPED,  /* a number is an int32 or float32, and a scalar keeps its type, as C's do */
    NUMBERS_RANKED, /* it is, and the type of the higher rank wins (Staging.ranks) */
} Numbers;

typedef struct AwaitedExtent { /* of a tensor: computed from what tensors behind it tell */
    const struct KernelParameter *parameter;
    const char *what; /* "shape" or "stride" */
    int dim, pointer; /* which one; the parameter for the tensor's memory */
    const Object *extent;
    Value *given; /* what a call gives */
} AwaitedExtent;

typedef struct Staging { /* of the kernel that is being staged */
    Kernel *kernel;
    Op *launch; /* that is open; NULL in the host part of a kernel function */
    Specialisation *specialisation;
    bool is_function; /* which opens its launches itself */
    Numbers numbers;
    int8_t ranks[DTYPE_COUNT]; /* of NUMBERS_RANKED */
    bool plain_types;          /* element types go by their own names */
    bool four_extents;         /* a shape has four: 0 behind the last dimension */
    bool fast_math;            /* f32 arithmetic by approximate instructions */
    bool block_syncs;          /* the whole block meets where a thread group synchronises */
    bool fast_math_told;       /* whoever made the kernel says whether, whatever its text says */
    bool fuse_fp_told;         /* likewise, of Kernel.rounds_products */
    int64_t threads[3];        /* of the open launch */
    VEC(Result) results;
    const Signature *signature;
    Object *rest; /* what the function takes as *arguments: a tuple */
    VEC(int) parameter_arguments, tensor_arguments; /* of the Specialisation, as they come */
    VEC(AwaitedExtent) awaited;
    Map symbols; /* names of extents -> Object: what they are */
    /* Names of extents of tensors that are declared in the body -> what a look ahead found: an INT,
     * or None where that is known at the call. */
    Map ahead;
    Map asked; /* of those, names that the body asked for where it was to be known at compile time
                */
    bool looks_ahead;                 /* to fill that */
    Object *attributes;               /* what the kernel function set: blocks, warps */
    Span at;                          /* what asked for it */
    int64_t group_begin, group_count; /* the threads of the group at hand; count 0: all */
    bool by_index;                    /* within an `if` by the thread's index that is a group */
    bool copies_elements;             /* what is stored in shared memory is a thread's own copy */
    bool in_share;                    /* in a parallel loop of which each thread does its share */
    struct {
        Value *row; /* NULL: it was not used */
        int64_t count;
    } named[NAMED_BARRIERS]; /* barriers that the open launch knows by number */
    VEC(Object *) settings;  /* to be set back at the end of scopes; NULL: one begins */
    VEC(Value *) fragments;  /* variables of register tiles that may become each thread's own */
    Map fragment_elements;   /* ops that read or write an element of those -> ElementAccess */
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

typedef struct TypeName {
    const char *name;
    DType dtype;
} TypeName;

struct Eval {
    Session *session;
    const Operations *ops;            /* of the rooms above */
    const char *spelled[DTYPE_COUNT]; /* how element types are called; NULL: by their own names */
    VEC(TypeName) type_names;         /* what else they are called in texts */
    const Object *line_modules;       /* DICT: name -> module, for lines of exports */
    const Object *kernel_makers;      /* DICT: a decorator or base -> what it is an attribute of */
    VEC(BuiltinRow) rows;             /* the builtins of all rooms */
    Arena *arena;
    EvalOptions options;
    Host *host;
    Object *none, *yes, *no, *ellipsis, *poison;
    Object *root_class; /* `object` */
    Scope *builtins;
    Map units;            /* dotted name -> MODULE or MISSING */
    Map files;            /* path -> MODULE, of those of files */
    Map told;             /* dotted name -> DICT: what a host says of a module's names */
    Map classes_of_texts; /* by file and text: those that are one for all its modules */
    VEC(Unit *) untold;   /* of which functions have assigned some anew */
    VEC(const Source *) inputs;
    const char *folder;        /* of the program's own source */
    VEC(const char *) folders; /* of modules that a host named: imports are looked for there, too */
    const Specialisation *model; /* whose values stand for what a specialisation leaves open */
    Frame *frame;
    Span at;             /* the user's place: of messages and ops */
    int library;         /* > 0 inside stdlib code */
    bool differentiates; /* what is staged is staged for its gradient */
    int quiet;           /* > 0: nothing is reported */
    int depth;           /* of calls and nested expressions */
    Attempt *attempt;
    const struct ActiveCall *calling; /* the innermost call of a builtin */
    const Object *dialects;           /* DICT: the packages of the dialects */
    Map shadows;                      /* the functions whose names were looked at (shadow.c) */
    const Object *imported_as;        /* the modules by the names that programs give them */
    const Object *described;          /* by the message that is being made, last */
    bool equal_failed; /* an error was reported in an __eq__ that object_agrees() called */
    Object *raised;    /* by `raise`, until its fault is noted */
    bool has_ended;    /* the program has ended itself, and not for a fault: nothing is reported */
    Object *handling;  /* by the handler that runs */
    VEC(CallStep) steps; /* for notes */
    Staging *staging;
    Builder builder;
    int control;       /* run-time regions that are open */
    int tests;         /* of loops, which may be taken back: what is bound is noted */
    VEC(Undo) journal; /* bindings changed under run-time control */
    LoopTrial *trial;
    Parallel *parallel; /* NULL: no parallel loop is being staged */
    uint64_t passed;    /* places that ways leave to, as the ends of loops and calls */
    uint64_t clock;
    bool glances;     /* a name is looked at for what it is: what changes it does not run */
    Attempt *changes; /* a statement runs for what it changes alone: what it lacks is not told */
    Scope *running;   /* of the module's statement that runs; NULL: none does */
    MadeVec *made;    /* by the module's statement that runs; NULL: nobody asks */
    Map warned;       /* places of warnings, which are given once */
    Object *needed_missing;      /* the host module that was needed last; NULL: none */
    uint64_t steps_left;         /* compile-time loop iterations: no input may run forever */
    uint64_t calls_left;         /* of functions; as above, for the whole program */
    uint64_t work_left;          /* of everything, as above; 0: nothing is evaluated any more */
    Span spent_at;               /* where none was left */
    int plain;                   /* > 0: what is compared is, without __eq__ */
    VEC(Generator *) generators; /* that have begun and not ended */
    VEC(Kernel *) kernels;       /* staged by run; freed with the program */
    ObjectVec surveyed;          /* kernels that there are, if they are looked for */
    Map *observed;               /* Node -> Observation (observe.c); NULL: nobody asks */
    const Source *observed_source;
    uint32_t until_asked; /* calls until EvalOptions.interrupts is asked again */
    size_t asked;         /* how often one was asked for, made before or not */
    ObjectVec refusable;  /* instances that host code launches in order to see it fail */
    Map called;           /* nodes of functions that surveyed code called */
};

enum { CALL_LIMIT = 200, UNROLL_LIMIT = 100000, CALLS_LIMIT = 5000000, INSTANCES_LIMIT = 4096 };
/* The work of an item that is looked at is 1, as is that of so many bytes of text, or items of a
 * list, that are copied or compared as a whole, and of so many letters looked at one by one. */
enum { WORK_BYTES = 64, WORK_ITEMS = 8, WORK_LETTERS = 4 };
enum { WORK_OF_ITEM = 4 /* of an iterator */, WORK_OF_ADDING = 4 /* to a text */ };
enum { WORK_OF_EXPRESSION = 2, WORK_OF_PRINTING = 16, WORK_OF_STAGED = 100 };
enum { WORK_OF_LOOP = 4000 /* of a trial */ };
enum {
    WORK_OF_CHANGE = 50000000 /* of what may change a name, and may have nothing to do with it */
};
enum { WORK_OF_CALL = 200 /* with all that it does, on average */ };
enum { TEXT_LIMIT = 1 << 28, ITEM_LIMIT = 1 << 20 };
#define MEMORY_LIMIT     ((size_t)2 << 30) /* bytes, of what is evaluated */
#define RUN_MEMORY_LIMIT ((size_t)4 << 30) /* and of a run, its kernels included */

/* Reports DIAG_<name> at a place with its arguments, with the chain of calls; gives NULL. */
#define FAIL(eval, name, ...)                                                                      \
    (report_begin(eval) ? diag_report((eval)->session->diags, DIAG_##name, __VA_ARGS__)            \
                        : fault_note(eval, DIAG_##name, __VA_ARGS__),                              \
     report_end(eval))

/* ---- what the operations of operations.def take ---- */

typedef Flow FlowWork(Eval *eval, void *context);

/* What follows a statement in its block. Where one branch of an `if` leaves, the other takes it. */
typedef struct Rest {
    Nodes statements;
    uint32_t index;
    bool taken;
} Rest;

/* The rest of a `with`: its items from `index` on, then its body. */
typedef Flow ThreadsBody(Eval *eval, const NodeWith *node, uint32_t index);

/* One branch of run-time control. */
typedef struct Way {
    FlowWork *run;
    void *context;
    bool leaves; /* its text ends in a jump */
} Way;

typedef Object *LogicWork(Eval *eval, const void *context);

/* Around the loop's rounds (NULL: a call): who leaves comes back behind it. */
typedef struct MaskedFrame {
    Value *mask, *entered, *called;
    MaskedLoop *loop;
    int loops, control;
} MaskedFrame;

typedef struct Arguments {
    ObjectVec positional;
    VEC(Name) names;
    ObjectVec named;
    Span at;
    const struct NodeCall *node; /* where they are written down; NULL: nowhere */
    uint32_t selves; /* of the positional ones the first, which stand there before the call */
} Arguments;

/* A call of a builtin that has not returned. */
typedef struct ActiveCall {
    const Arguments *arguments;
    const Frame *frame; /* of its text */
    const char *name;
    Span at; /* where its messages stand */
    const struct ActiveCall *outer;
} ActiveCall;

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

#endif
