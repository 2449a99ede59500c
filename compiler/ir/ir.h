/* ir.h: the tile IR: kernels, regions, ops, values, types. The front door of ir/ (with layout.h).
 *
 * One IR in checked stages. A Kernel has a host region (scalar code over the parameters, and
 * `launch` ops in order) and each launch has a device region, which refers to the kernel's
 * parameters and to its own values only. Regions are structured: a region is a list of ops; `for`,
 * `while` and `if` carry theirs. Values are SSA. Everything lives in the kernel's arena. */
#ifndef TILEC_IR_H
#define TILEC_IR_H

#include "base/base.h"
#include "ir/dtype.h"
#include "ir/layout/layout.h"
#include "ir/op.h"
#include "ir/type.h"

/* ---- ops, their operands and attributes ---- */

typedef struct Op Op;
typedef struct Region Region;
typedef struct Value Value;
typedef struct Kernel Kernel;

/* One operand of one op, in the list of all uses of its value, which has no order. */
typedef struct OpUse {
    Op *op;
    struct OpUse *previous, *next;
} OpUse;

struct Value {
    const Type *type;
    Op *op;                  /* that made it; NULL for a parameter or a region's argument */
    Region *region;          /* whose argument it is */
    unsigned of_library : 1; /* its name is the library's, and says nothing to users */
    int index : 31; /* among the op's results, the region's arguments, the kernel's parameters */
    int use_count;  /* by ops that were not erased */
    OpUse *uses;    /* theirs */
    Name name;      /* for people; may be NULL */
    void *scratch;  /* a pass's own; NULL between passes */
};

/* What walks ask for comes first: of a large kernel most ops are in no cache. What belongs to an op
 * lies right behind it (build.c). */
struct Op {
    Op *next, *previous;
    Region *parent;
    OpCode code;
    int operand_count, result_count;
    short region_count, attr_count;
    Region **regions;
    Value *const *operands; /* changed by op_set_operand alone */
    OpUse *uses;            /* theirs, one each */
    Value *results;         /* an array, in place */
    Attr *attrs;
    Span span; /* where in the source */
    void *scratch;
};

/* An operand by the name that the op's row has for it. That there is such a name is checked by the
 * C compiler, that the op has it when it is asked (else: an internal error). */
#define operand(op, name)       op_operand((op), OPERAND_##name)
#define operand_given(op, name) op_operand_given((op), OPERAND_##name)       /* NULL: without it */
#define operand_index(op, name) op_operand_index((op)->code, OPERAND_##name) /* in the row */
/* That operand and those behind it, of a name that stands for any number. */
#define operand_list(op, name) ((op)->operands + operand_index(op, name))
Value *op_operand(const Op *op, OperandName name);
Value *op_operand_given(const Op *op, OperandName name);
int op_operand_index(OpCode code, OperandName name);
bool op_row_names(OpCode code, OperandName name); /* whether its row does */
/* Whether the operands of `a` from `first` on are those of `b` from `other` on, and as many. */
bool op_same_operands(const Op *a, int first, const Op *b, int other);
/* The memory that an access is one of: a view, a shared tile or a local array; NULL: it is none. */
Value *op_memory(const Op *op);

bool op_has(const Op *op, OpTraits traits); /* one of them */
/* Of an ALIAS: what it is another name of; NULL: it is none. */
Value *op_aliased(const Op *op);

struct Region {
    Op *first, *last;
    Value **arguments;
    int argument_count;
    Op *parent; /* NULL for a kernel's host region */
    Kernel *kernel;
};

/* ---- kernels ---- */

typedef struct Parameter {
    Name name;
    Value *value; /* scalar or pointer */
    Span span;
    bool is_key;     /* compile-time: the device never sees it; `key` is its value */
    bool is_dtype;   /* of a key: `key` is a dtype_code */
    int64_t key;     /* of a float the bits of the double */
    Name text;       /* of a key that is text: that text; else NULL */
    bool is_written; /* of a pointer: something stores through it (set by passes_run) */
    bool is_read;
    int64_t multiple;  /* value or address is known to be a multiple of this; 1: nothing known */
    bool is_workspace; /* a pointer that the runtime passes, behind all that the caller does */
    bool is_zeroed;    /* of a workspace: zero when the kernel's first launch begins */
    bool is_kept;      /* of a zeroed one: zero again when its last launch is done */
} Parameter;

enum { WORKSPACE_ALIGN = 256 }; /* bytes */
enum { LOOP_STAGES = 64 };      /* of a pipelined loop, at most */

/* ---- tensors: how a caller's tensor becomes parameters ----
 *
 * A tensor argument is taken apart into a pointer and what is open of its shape, strides and type:
 * parameters like any others, which the caller does not pass by themselves. A number that occurs
 * in several places is one parameter; its first place gives the value, the others are checked. */

typedef enum ExtentKind { EXTENT_LITERAL, EXTENT_PARAMETER } ExtentKind;

typedef struct Extent {
    ExtentKind kind;
    int64_t value; /* of a literal */
    int parameter; /* its index: an integer, perhaps a key */
} Extent;

typedef struct Tensor {
    Name name; /* its pointer's */
    Span span;
    DType dtype; /* that this specialisation is for */
    int rank;
    int pointer;     /* index of the parameter */
    int dtype_key;   /* of the key that holds dtype_code of the type; -1: the type is given */
    bool is_result;  /* returned: behind the others; result_shape says its extents, it is packed */
    bool is_strided; /* else packed: row-major strides follow from the shape */
    Extent shape[TYPE_RANK], strides[TYPE_RANK]; /* in elements; of a result nothing */
} Tensor;

/* What a pass says of how fast the kernel will be, to who asked. */
typedef struct Remark {
    struct Remark *next;
    Span span;
    const char *text;
} Remark;

struct Kernel {
    Arena *arena;
    Arena *ops; /* these and theirs alone: those side by side in the program are so in memory */
    Session *session;
    TypeTable *types;
    LayoutTable *layouts;
    Name name;        /* symbol, unique in the object */
    Name export_name; /* the C name */
    Name source_name; /* what the source calls it; NULL: it was read as IR */
    /* Of one of several that tuning chooses from, which are alike to callers: what tells it from
     * the others, "block_m=64, num_warps=4", and the next one; else NULL. */
    Name configuration;
    Kernel *next_configuration;
    Span span;
    Stage stage;
    unsigned properties; /* that the passes know of (passes/properties.def); 0: none has run yet */
    Parameter *parameters;
    int parameter_count;
    Tensor *tensors; /* arguments in order, then results */
    int tensor_count;
    Region *host;
    const Source *read_from; /* the IR text, if it was read; places in it are not printed */
    unsigned uses;           /* features that it may be compiled without: MAY_PLAN and others */
    int registers_held; /* most that a thread's values fill at a time, where remarks are wanted */
    bool wants_remarks;
    bool is_strict;      /* the emulator is to report what is defined here alone (ssa/strict.c) */
    bool has_own_fences; /* the fences of the asynchronous proxy are the author's where he comes
                            from */
    bool is_differentiated; /* it is staged for its gradient: slopes are kept */
    bool has_whole_tiles;   /* when it is staged: register tiles are of all threads of the block */
    bool guards_elements;   /* those outside of a tensor are, where it comes from, too */
    bool rounds_products;   /* before they are added to: no product and sum become an fma */
    Remark *remarks;        /* the latest first */
    uint64_t built[(OP_COUNT + 63) / 64]; /* a bit for each code of which there ever was an op */
};

Kernel *kernel_new(Session *session, Name name,
                   Span span); /* with an arena of its own and an empty host region */
void kernel_free(Kernel *kernel);
/* Behind the others, but before workspaces and tensor maps, which stay last. A pointer to
 * SPACE_PARAM is a tensor map. */
Value *kernel_add_parameter(Kernel *kernel, Name name, const Type *type, Span span);
/* A workspace: a hidden parameter, whose size the host op workspace_size says. */
Value *kernel_add_workspace(Kernel *kernel, Name name, const Type *type, bool zeroed, Span span);
/* A tensor map, which the runtime makes as the host op tensor_map says: behind all others. */
Value *kernel_add_map(Kernel *kernel, Name name, Span span);
bool parameter_is_map(const Parameter *parameter);
Parameter *kernel_parameter_of(const Kernel *kernel, const Value *value); /* NULL: it is none */
int kernel_map_count(const Kernel *kernel);
int kernel_workspace_count(const Kernel *kernel);
int kernel_argument_count(const Kernel *kernel); /* parameters that the caller passes */
/* A tensor of no strides whose extents are the caller's to fill in, before the next is added. */
Tensor *kernel_add_tensor(Kernel *kernel, int pointer, int rank, Span span);
/* The tensor whose address the parameter is; NULL: it is no such. */
const Tensor *kernel_tensor_of(const Kernel *kernel, int parameter);
bool kernel_tensor_has(const Kernel *kernel, int parameter); /* comes with a tensor */

/* A key as the dialects write it: 128, 0.5, "fast", float16. */
void key_print(const Parameter *parameter, Buf *out);
bool keys_equal(const Parameter *a, const Parameter *b);
/* A type that no tensor has: a call cannot say it. */
bool kernel_key_is_fixed(const Kernel *kernel, int parameter);
/* Of specialisations of one export: a type that tells them apart is that of a tensor wherever it
 * can be. */
void kernels_tie_dtypes(Kernel *const *kernels, int count);
/* Nothing, unless the kernel wants remarks. */
void kernel_remark(Kernel *kernel, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A deep copy with its own arena, for another target or variant; it wants no remarks. */
Kernel *kernel_clone(const Kernel *kernel);

/* ---- print.c, read.c, verify.c ---- */

void kernel_print(const Kernel *kernel, Buf *out);
void op_print(const Op *op, Buf *out); /* one line, for messages */
/* All kernels of a text; NULL: reported (DIAG_ir_syntax). */
Kernel **kernel_read(Session *session, const Source *source, int *count);
/* Rows, stages, types, definitions before uses. What is broken is reported (DIAG_ir_invalid) and
 * false returned. */
bool kernel_verify(const Kernel *kernel);

#include "ir/build.h"

#endif
