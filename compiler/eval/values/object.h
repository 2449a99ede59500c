/* object.h: what the evaluator computes with: objects, scopes, modules. Private to eval/.
 *
 * An Object is a compile-time value, or a handle of an IR value. Operations on compile-time values
 * are done at once (python/operate.c); where an IR value takes part they are staged
 * (staging/stage.c). Python's names are Bindings; what is bound under run-time control is merged
 * afterwards (staging/variable.c). */
#ifndef TILEC_EVAL_OBJECT_H
#define TILEC_EVAL_OBJECT_H

#include "base/vec.h"
#include "eval/eval.h"
#include "eval/host.h"

typedef struct Eval Eval;
typedef struct Object Object;
typedef struct Scope Scope;
typedef struct Unit Unit;
/* export/export.h */
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
    OBJECT(WIDE, "int") /* one that 64 bits with a sign do not hold */                             \
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
    Value *masked; /* in a parallel loop: the iterations that have had it all along; NULL: all */
} Binding;

typedef VEC(Binding *) BindingVec;

typedef struct Bindings { /* in order of first binding */
    Map map;
    BindingVec list;
} Bindings;

/* What a parameter takes of its argument: its value, a place that it can write to, such a place or
 * a part of one, any place, a name of the caller's own, a function that evaluates it, or
 * what it is to a module's statement. */
typedef enum PlaceKind {
    PLACE_NONE,
    PLACE_REF,
    PLACE_PART,
    PLACE_ANY,
    PLACE_NAME,
    PLACE_LAZY,
    PLACE_AHEAD
} PlaceKind;

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
    Object **mro;    /* method resolution order, itself first */
    int mro_count;
    Bindings attributes;
    Span at;
    Name file; /* where `at` is a statement of a module of the program itself, else NULL */
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
    bool is_array; /* a variable that is also an array of one element: x, or x[0] */
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
    bool any[2];     /* what a way without a value has there is not told */
    bool alone;      /* the second way is never taken, or nobody sees that it was */
    uint64_t before; /* clock of the older value, if one of the values is it; else UINT64_MAX */
    Binding *binding;
    Object *lifted; /* once it was needed */
    /* The same without what nobody read there: as long as no place that ways leave to is passed. */
    Object *partial;
    uint64_t passed; /* Eval.passed then */
} Merge;

struct Object {
    ObjectKind kind;
    bool fresh;       /* of a TILE: nothing is bound to it yet */
    bool is_shape;    /* of a TUPLE: a tensor's */
    uint8_t said;     /* of an INT or FLOAT that a type was called for: that DType + 1, else 0 */
    uint64_t made;    /* of a LIST or DICT: when */
    Binding *content; /* of one that is changed under run-time control: its items */
    union {
        struct {
            int64_t integer; /* and of BOOL */
            Object *extent;  /* of an INT: the SYMBOL whose number it is, or NULL */
        };
        double number;
        const Wide *wide;
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
            Object *share;    /* of a PARALLEL: the function that gives a thread's range, or NULL */
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
    Map outside;         /* names declared global or nonlocal -> the scope where they live */
    bool host_names;     /* of SCOPE_TOP: tile.host's names are seen */
    const Object *calls; /* of a definition and what is in it: a list of calls that a host
                            evaluated, or NULL */
};

typedef enum ThunkState { THUNK_NEW, THUNK_RUNNING, THUNK_DONE, THUNK_FAILED } ThunkState;
/* What a statement of a module made that may be exported (made.c). */
typedef struct Made {
    Name name;      /* what it was assigned to, or NULL */
    Object *object; /* a kernel or a SPECIALISATION */
    Span span;
} Made;
typedef VEC(Made) MadeVec;

/* A statement that was left out, as it needs a host module or fails. */
typedef struct LeftOut {
    const struct Node *node;
    const Object *missing; /* NULL: it fails, */
    const char *fault;     /* as this says; NULL: nobody heard */
} LeftOut;

typedef struct Thunk {
    ThunkState state;
    Scope *scope;
    MadeVec made;
    VEC(LeftOut) left; /* in it, or it itself */
} Thunk;

/* A module: its text and names. */
struct Unit {
    Name name;   /* dotted */
    Name folder; /* of a package: prefix of its modules; else NULL */
    Module *tree;
    Scope *scope;
    Thunk *thunks;           /* one a statement */
    Map definitions;         /* name -> IndexVec: statements that bind it, in order */
    struct ModuleText *text; /* what its statements change; NULL: nobody asked */
    Map settled; /* name -> number: the statements above have changed what it is bound to */
    Object *object;
    Map defined;       /* name -> Object: -D of the command line; wins over what the module binds */
    Scope *statements; /* that `run` executes in it: their names are there for its functions */
    bool is_library;   /* of the stdlib: messages and ops take the user's place */
    bool is_exact;     /* of the stdlib: what it computes with floats is rounded op by op */
    bool is_eager;     /* executed in order: names are just bindings */
};

typedef VEC(uint32_t) IndexVec;

#endif
