/* export.h: kernels: what their functions take, specialisations, launches.
 *
 * A kernel is an instance of a class that says `__kernel__ = True`. Its kernel function is the
 * class's `__call__`, which describes its one launch by attributes; or, where the instance has
 * `__kernel_function__`, that plain function, which opens its launches itself. */
#ifndef TILEC_EVAL_EXPORT_H
#define TILEC_EVAL_EXPORT_H

#include "eval/surface/surface.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/export/builtins.def"
#undef BUILTIN

/* Enters what this room has of operations.def, and its builtins. */
void export_offer(Eval *eval, Operations *operations);

/* ---- what objects are of kernels ---- */

struct Specialisation {
    Object *instance;
    Object **keys; /* one a parameter; NULL: a run-time parameter; of a tensor: tensor_key() */
    bool *is_tensor;
    int key_count;
    Object *told;   /* DICT: extents that were given by name, for tensors that were not given */
    Kernel *kernel; /* once it is staged; of one with configurations the first one's */
    /* What tuning chooses from (tuning.c), or empty: names with their values, each of a constructor
     * or of keys; and the instances that the former made. */
    ObjectVec configurations, members;
    bool *is_tuned; /* one a parameter: a key that the configurations give; NULL: none is */
    /* Which argument of the function gives a parameter's value, or that of a tensor's parameters;
     * -1: none does. */
    int *parameter_arguments, *tensor_arguments;
    bool gives_tuple;                /* how it gives its results */
    struct Specialisation *gradient; /* the same, staged for its gradient; NULL: not yet */
    bool has_gradient;               /* its gradient is exported, too */
    Span at;
};

/* What a tensor's annotation says; or, with all extents known, what stands for a tensor. */
struct TensorType {
    int rank;
    DType dtype;
    bool any_dtype, is_strided;
    /* an INT; a SYMBOL; else it is a key of the specialisation */
    Object *shape[TYPE_RANK], *strides[TYPE_RANK];
    Object *seen; /* what makes of the view what the parameter is; NULL: it is the view */
    Span at;
};

/* An extent or stride that is not known where it is written. */
struct Symbol {
    Name name; /* or NULL: it has none of its own */
    DType dtype;
    bool is_key;   /* known when the kernel is specialised, else at the call */
    bool is_asked; /* it is, as the kernel allocates by it; others may be computed from it */
    Span at;
    const Symbol *base; /* or NULL; else it is base * scale + offset, or by `by` base // by, */
    int64_t by;         /* or what is left of that (is_rest); 0: not so */
    bool is_rest;
    int64_t scale, offset;
    const Symbol *other; /* or NULL; else it is what `code` makes of base and this one */
    OpCode code;
    bool is_number; /* an operand of one that is computed: `offset` */
};

/* What a kernel function made to be returned. */
struct Result {
    Value *view; /* of its memory: of a pointer of its own */
    Span at;
    int position; /* among those that are returned; -1: it is not */
};

typedef enum ParameterKind {
    PARAMETER_KEY, /* a value that is part of the specialisation */
    PARAMETER_SCALAR,
    PARAMETER_POINTER,
    PARAMETER_TENSOR,
} ParameterKind;

typedef struct KernelParameter {
    Name name;
    Span span;
    ParameterKind kind;
    DType dtype;
    bool is_plain; /* of a key: an int, bool, float or str, as key_kind says */
    ObjectKind key_kind;
    bool is_open;   /* unannotated: a key, or a tensor if it is given one */
    bool is_result; /* made for the call: a tensor, whose extents the others tell */
    int result_order;
    bool is_declared;   /* in the function's body: what a tensor's extents are is said there */
    TensorType *tensor; /* of a tensor; NULL: as it is given */
    Object *convert;    /* what makes the value of what is given, or NULL */
    Object *otherwise;  /* the default, or NULL */
} KernelParameter;

struct Signature {
    Object *instance, *function;
    bool is_function; /* opens its launches itself */
    Object *told; /* DICT that gets what arguments name that is no parameter: extents; or NULL */
    /* Of one whose function is `f(..., *rest)`: the function whose parameters are the rest, and
     * what becomes of their annotations; NULL: there is none. */
    Object *body, *annotate;
    Name rest;
    size_t rest_first, rest_count;
    Object *configurations; /* a list of dicts that tuning chooses from, or NULL */
    VEC(KernelParameter) parameters;
};

/* What is known of a tensor that is given: an array, or what stands for one. */
typedef struct TensorSpec {
    DType dtype;
    int rank;
    int64_t shape[TYPE_RANK], strides[TYPE_RANK];
    bool is_placeholder;
} TensorSpec;

/* What a statement of the module may do, for all that its text tells. */
typedef enum Makes { MAKES_NOTHING, MAKES_KERNELS, MAKES_COMPILED } Makes;

struct Program {
    Eval eval;
    Unit *unit;
    Map makers; /* makers.c's: what is known of values that names stand for */
};

/* ---- dialects.c ---- */

void dialects_read(Eval *eval);
/* Modules that a line which adds a specialisation sees though the program imports none. */
void line_modules_bind(Program *program, const char *text, Bindings *bindings);
/* Whether the program has all of them by those names, or something else by one. */
typedef struct LineModules {
    bool are_there, are_hidden;
} LineModules;
LineModules line_modules_of(Program *program);

/* ---- shadow.c ---- */

/* Reports names of a function that is called, or of a module's own level, that hide a dialect's. */
void shadows_of_call(Eval *eval, const Function *function);
void shadows_of_module(Eval *eval, const Unit *unit);

/* ---- host_branches.c ---- */

/* host_branches.c: the host part without branches. False: reported. */
bool host_branches_flatten(Eval *eval, Kernel *kernel);

/* ---- invoke.c ---- */

Object *launch_instance(Eval *eval, Object *instance, const Arguments *arguments);
typedef struct GradientLaunch {
    Object *arrays; /* that it adds to */
    bool consumes, each;
    const char *retained; /* as HostLaunch has them */
} GradientLaunch;

/* The same of its gradient. */
Object *launch_gradient(Eval *eval, Object *instance, const Arguments *arguments,
                        const GradientLaunch *gradient);

/* ---- gradients.c ---- */

/* The same specialisation, not staged yet. */
Specialisation unstaged_copy(Eval *eval, const Specialisation *specialisation);
/* The same one staged for its gradient; NULL: reported. */
Specialisation *specialisation_differentiated(Eval *eval, Specialisation *specialisation);
/* Stages it for itself or for its gradient, under a name. */
bool stage_named(Eval *eval, Specialisation *specialisation, Name name, bool is_gradient);

/* ---- kernel.c ---- */

bool kernel_warps(Eval *eval, int64_t *out); /* 1 to 32; false: reported */
/* Stages it under a symbol, if it is not yet. False: reported. */
bool specialisation_stage(Eval *eval, Specialisation *specialisation, Name export_name,
                          Name symbol);
/* Where host code of the kernel at hand goes: before the launch that is open. */
Builder stage_host_builder(Eval *eval, Span at);
/* A scalar computed there once more; `wanted` is what needs it ("the grid"). NULL: reported. */
Value *stage_on_host(Eval *eval, Value *value, const char *wanted);

/* ---- launches.c ---- */

/* A name that stands for an extent of two tensors: equal now, or the call is refused. */
bool extents_agree(Eval *eval, const Binding *binding, Object *extent, Span at);
/* A tensor that is made for the call: the one that is returned at that place; -1: that is said
 * later. */
Object *result_new(Eval *eval, Name name, DType dtype, int rank, Value *const *extents, Span at,
                   int order);
/* What follows is of the host again. */
void launch_close(Eval *eval);
/* Copies scalar code that a launch uses into it, checks what is left; orders results. */
bool launches_finish(Eval *eval, Object *returned);

/* ---- made.c ---- */

/* A kernel was compiled: by a statement of a module, perhaps. */
void made_note(Eval *eval, Object *object, Span at);
/* The statement stands in a module's scope, and ended so: what it gave names to is noted. The flow
 * that is to be. */
Flow made_by_statement(Eval *eval, const Node *statement, Flow flow);

/* ---- makers.c ---- */

/* What sees the names of the module that stand above its statement `index`. */
Scope *statement_scope(Eval *eval, Unit *unit, uint32_t index);
const Nodes *parts_of(const Node *node); /* of a tuple or list that is written out; or NULL */
bool names_compile(Name name);           /* "compile", "par_compile" */
/* Whether the expression, of the module's statement `index`, gives or compiles kernels. */
bool node_makes_kernel(Program *program, const Node *node, uint32_t index);
Makes statement_makes(Program *program, uint32_t index);

/* ---- program.c ---- */

/* The value of an expression in that scope. */
Object *eval_in(Eval *eval, Scope *scope, const Node *node);

/* ---- signature.c ---- */

/* Its keys without a value, as a call of `.compile` tells them. */
const char *open_keys(Eval *eval, Object *instance);
bool kernel_has_open_key(Eval *eval, Object *instance, bool *out);
bool instances_same(Eval *eval, const Object *a, const Object *b);
bool signature_read(Eval *eval, Object *instance, Span at, Signature *out);
/* Whether it needs no argument to be specialised. */
bool parameter_is_settled(const KernelParameter *parameter);
size_t signature_find(const Signature *signature, Name name);
const char *kernel_name(const Object *instance);
Object *instance_attribute(Eval *eval, const Object *instance, const char *name); /* or NULL */

/* ---- specialise.c ---- */

/* `instance.compile(...)`: keys from arguments. */
Object *specialise(Eval *eval, Object *instance, const Arguments *arguments);
bool lacks_argument(Eval *eval, Span at, const char *name); /* false: reported */
/* Names with their values, as a dict has them. False: reported. */
bool take_named(Eval *eval, const Object *dict, Arguments *arguments);
/* False: one is of a host module; reported. */
bool arguments_are_here(Eval *eval, const Arguments *arguments);
/* One value a parameter, from positional and named arguments; NULL where none is given. */
bool spread_arguments(Eval *eval, const Signature *signature, const Arguments *arguments,
                      Object **values);
/* The key that a parameter gets from what is given for it; NULL: reported. */
Object *specialise_key(Eval *eval, const KernelParameter *parameter, Object *value, Span at);
Object *specialise_values(Eval *eval, const Signature *signature, Object **values, Span at);
/* Whether a call gives the function's parameter: it is no key. */
bool specialisation_takes(const Signature *signature, const Specialisation *specialisation,
                          size_t parameter);
/* Stages it under a name of its own, if it is not yet. False: reported. */
bool specialisation_build(Eval *eval, Specialisation *specialisation);
const char *specialisation_title(Eval *eval, const Signature *signature,
                                 const Specialisation *specialisation, const char *name);

/* ---- symbol.c ---- */

/* In a look ahead: what is computed from an extent that is not known yet; or NULL. */
Object *extent_ahead(Eval *eval, const Object *a, const Object *b);
/* False: it is an extent that nothing has told yet; reported. */
bool extent_is_known(Eval *eval, const Object *object, Span at);
/* What is computed of extents and numbers, as an extent; NULL: it is none. */
Object *extent_computed(Eval *eval, Operator op, const Object *a, const Object *b);
/* The smaller of both, if Lt wins, or the larger; NULL: there is no extent among them. */
Object *extent_extreme(Eval *eval, Operator wins, const Object *a, const Object *b);
Object *symbol_read(Eval *eval, Object *symbol); /* what it is in this kernel, if that is known */
Object *symbol_value(Eval *eval, const Symbol *symbol); /* in this kernel; NULL: not known yet */
/* What an extent that a tensor has tells of the symbol that it is computed from. */
bool symbol_is_solvable(const Symbol *symbol); /* if an extent is computed so */
void symbol_solve(Eval *eval, const Symbol *symbol, Value *extent);
/* Its number, where a look ahead found that; or NULL. */
const Object *number_ahead(Eval *eval, const Object *extent);
/* The extents that were told by name, for a look ahead. */
void tensors_told_ahead(Eval *eval, const Object *told, Map *ahead);
/* A look ahead: which names the tensor's extents have, and what is known of it tells of them. */
void tensor_look_ahead(Eval *eval, const TensorType *tensor, const Object *key);

/* ---- tensors.c ---- */

bool tensor_is_awaited(Eval *eval, Name name);
bool tensor_declare(Eval *eval, Name name, Object *type, Span at);
bool object_is_tensor(const Object *object); /* an array, or what stands for one */
/* False: reported. */
bool tensor_spec(Eval *eval, Object *object, Name name, Span at, TensorSpec *out);
void spec_unpack(TensorSpec *spec, DType wanted, const Object *extent);
/* The part of a specialisation that a tensor makes: (dtype, shape, strides), None where it is not
 * part of it. `given` NULL: nothing is known. NULL: reported. */
Object *tensor_key(Eval *eval, const KernelParameter *parameter, Object *given, Span at);
/* Whether a key that was made with all that is known is the one that a specialisation needs. */
bool tensor_key_matches(Eval *eval, const Object *needed, const Object *known);
/* Of a parameter that is a result. False: reported. */
bool tensor_extents(Eval *eval, const KernelParameter *parameter, Value **out);
/* Adds the parameters of a tensor; gives its view in the host region. NULL: reported. */
Object *tensor_stage(Eval *eval, const KernelParameter *parameter, int argument, Object *key);
/* The extents that were told by name are those of tensors. False: reported. */
bool tensors_settle_extents(Eval *eval); /* all that tell extents are staged; false: reported */
bool tensors_take_told(Eval *eval, const Specialisation *specialisation);

/* ---- tuning.c ---- */

/* Which configurations the specialisation chooses from, given the arguments; false: reported. */
bool tuning_plan(Eval *eval, const Signature *signature, Object *const *values,
                 Specialisation *specialisation);
/* The values of a tuned parameter, as its key; NULL: it is not tuned. */
Object *tuning_key(Eval *eval, const Specialisation *specialisation, Name parameter);
/* Stages one that has configurations: those that can be built, as a chain of kernels. */
bool tuning_stage(Eval *eval, const Signature *signature, Specialisation *specialisation,
                  Name export_name, Name symbol);

#endif
