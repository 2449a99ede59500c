/* ir.h: the tile IR: kernels, regions, ops, values, types. The front door of ir/ (with layout.h).
 *
 * One IR in checked stages. A Kernel has a host region (scalar code over the parameters, and
 * `launch` ops in order) and each launch has a device region, which refers to the kernel's
 * parameters and to its own values only. Regions are structured: a region is a list of ops; `for`,
 * `while` and `if` carry theirs. Values are SSA. Everything lives in the kernel's arena. */
#ifndef TILEC_IR_H
#define TILEC_IR_H

#include "base/base.h"
#include "ir/layout/layout.h"

/* ---- element types (dtypes.def) ---- */

typedef enum DType {
#define DTYPE(name, class, bits, exponent, mantissa) DTYPE_##name,
#include "ir/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
} DType;

typedef enum DTypeClass {
    DTYPE_CLASS_BOOL,
    DTYPE_CLASS_INT,
    DTYPE_CLASS_UINT,
    DTYPE_CLASS_FLOAT
} DTypeClass;

const char *dtype_name(DType dtype);      /* "f16" */
const char *dtype_user_name(DType dtype); /* as programs name it: "float16" */
bool dtype_find(const char *name, DType *out);
DTypeClass dtype_class(DType dtype);
int dtype_bits(DType dtype);
bool dtype_is_packed(DType dtype);                      /* several to a byte of memory */
int dtype_memory_bits(DType dtype);                     /* of an element in memory: a bool has 8 */
int dtype_bytes(DType dtype);                           /* likewise: at least 1 */
int64_t dtype_memory_bytes(DType dtype, int64_t count); /* of so many elements in a row */
bool dtype_is_float(DType dtype);
bool dtype_holds(DType dtype, DType other); /* memory of the one is memory of the other */
bool dtype_is_integer(DType dtype);         /* INT or UINT */
bool dtype_is_signed(DType dtype);          /* INT */
/* The bits of a number rounded to the type (to nearest even), and back. */
uint64_t dtype_encode(DType dtype, double number);
double dtype_decode(DType dtype, uint64_t bits);
/* DLPack's code, bits and lanes as one number (TILE_DTYPE): a key that says a tensor's type. */
int64_t dtype_code(DType dtype);
const char *dtype_code_name(int64_t code); /* of the type with that code; NULL: there is none */
/* The unsigned integer of the same width; of a bool, whose bits nobody sees, u8. */
DType dtype_unsigned(DType dtype);
/* An integer brought into the type's range by wrapping. */
int64_t dtype_wrap(DType dtype, int64_t value);
/* Whether an integer type has the number; one below 0 stands for the same bits without a sign. */
bool dtype_takes(DType dtype, int64_t number);
/* Of a float type: how many binary digits of an integer it holds. */
int dtype_digits(DType dtype);

/* ---- types: interned in a TypeTable, equal types are equal pointers ---- */

enum { TYPE_RANK = LAYOUT_RANK, TILE_LIMIT = 1 << 24 /* elements of a tile */ };
enum { TENSOR_RANK = 5, TENSOR_ROWS = 256 /* of a box of a tensor map */ };
#define TYPE_DYNAMIC INT64_MIN /* an extent or stride known at run time only */

typedef enum TypeKind {
    TYPE_SCALAR,
    TYPE_VECTOR,
    TYPE_POINTER,
    TYPE_VIEW,
    TYPE_TILE,
    TYPE_SHARED,
    TYPE_LOCAL, /* an array of each thread's own */
    TYPE_VAR
} TypeKind;
typedef enum Space {
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CLUSTER,
    SPACE_COUNT
} Space;

typedef struct Type Type;
struct Type {
    TypeKind kind;
    DType dtype;
    Space space;                /* of a pointer */
    uint8_t rank;               /* of a view or tile */
    int32_t count;              /* elements of a vector */
    int64_t shape[TYPE_RANK];   /* of a view or tile */
    int64_t strides[TYPE_RANK]; /* of a view, in elements */
    const Layout *layout;       /* of a register or shared tile; NULL until it is laid out */
    const Type *content;        /* of a variable */
};

typedef struct TypeTable TypeTable;
TypeTable *type_table_new(Arena *arena);
const Type *type_intern(TypeTable *table, const Type *type);
const Type *type_scalar(TypeTable *table, DType dtype);
const Type *type_vector(TypeTable *table, DType dtype, int count);
const char *space_name(Space space);
const Type *type_pointer(TypeTable *table, DType dtype, Space space);
const Type *type_tile(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const Layout *layout);
const Type *type_shared(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                        const Layout *layout);
const Type *type_local(TypeTable *table, DType dtype, int rank, const int64_t *shape);
const Type *type_view(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const int64_t *strides);
const Type *type_var(TypeTable *table, const Type *content);
const Type *type_with_dtype(TypeTable *table, const Type *type, DType dtype); /* scalar, tile */
const Type *type_with_layout(TypeTable *table, const Type *type, const Layout *layout);
int64_t type_elements(const Type *type); /* 1 for a scalar */
/* The rows of each box in which TMA moves one of {slices} of a tile; 0: it cannot. */
int32_t type_box_rows(const Type *tile, int64_t parts);
bool type_is_scalar(const Type *type);
bool type_is_tile(const Type *type);                /* register tile */
bool type_same_shape(const Type *a, const Type *b); /* of scalars and tiles */
/* f32 | vec<f16, 8> | ptr<f16, global> | view<f16, [?, 4096], [4096, 1]> | tile<f32, [64, 128]> |
 * tile<f32, [64, 128], {layout}> | shared<...> | local<f32, [4]> | var<tile<...>> */
void type_print(const Type *type, Buf *out);
const char *type_text(Arena *arena, const Type *type);

/* ---- ops (ops.def), their operands (operands.def), attributes (attrs.def) ---- */

typedef enum OpCode {
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} OpCode;

typedef enum OpTrait {
    PURE = 1 << 0,
    READS = 1 << 1,
    WRITES = 1 << 2,
    COOP = 1 << 3,
    TERM = 1 << 4,
    ELEM = 1 << 5,
    COMMUTES = 1 << 6,
    QUOTIENT = 1 << 7,
    REMAINDER = 1 << 8,
    LOOP = 1 << 9,
    ALIAS = 1 << 10,
    REMAT = 1 << 11,
    DERIVES = 1 << 12,
    DOT = 1 << 13,
    ELEMENT = 1 << 14,
    SCATTERED = 1 << 15,
    ATOMIC = 1 << 16,
    COPY = 1 << 17,
    STORES = 1 << 18,
    SHARED = 1 << 19,
    ASYNC = 1 << 20,
    TMA = 1 << 21,
    WGMMA = 1 << 22,
    WAITS = 1 << 23,
    BARRIER = 1 << 24,
    PIPELINE_BARRIER = 1 << 25,
    MBARRIER = 1 << 26,
    INITS = 1 << 27,
    ARRIVES = 1 << 28,
    ACQUIRES = 1 << 29,
    LOCAL = 1 << 30,
    ASYNC_PROXY = TMA | WGMMA
} OpTrait;

/* Each stage has all that the ones before it have. */
typedef enum Stage {
    STAGE_TYPED,
    STAGE_LAID_OUT,
    STAGE_PIPELINED,
    STAGE_PLACED,
    STAGE_SYNCED,
    STAGE_THREADED
} Stage;

typedef enum StageMask {
    TILE = 1,
    THREAD = 2,
    BOTH = 3,
    HOST = 4,
    TYPED = 8,    /* in STAGE_TYPED alone */
    UNSYNCED = 16 /* up to STAGE_PLACED */
} StageMask;

typedef struct OpInfo {
    const char *name, *results, *operands, *text;
    int regions;
    unsigned traits, stages;
} OpInfo;
const OpInfo *op_info(OpCode code);
bool op_find(const char *name, OpCode *out);
const char *stage_name(Stage stage);

typedef enum OperandName {
    OPERAND_, /* none */
#define OPERAND(name) OPERAND_##name,
#include "ir/operands.def"
#undef OPERAND
    OPERAND_COUNT
} OperandName;

typedef enum AttrKey {
#define ATTR(name, kind, text) ATTR_##name,
#include "ir/attrs.def"
#undef ATTR
    ATTR_COUNT
} AttrKey;

typedef struct Attr {
    AttrKey key;
    int64_t integer;
    double number;
    Name text;
    const int64_t *integers;
    int count;
} Attr;

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
    Op *op;         /* that made it; NULL for a parameter or a region's argument */
    Region *region; /* whose argument it is */
    int index;      /* among the op's results, the region's arguments, the kernel's parameters */
    int use_count;  /* by ops that were not erased */
    OpUse *uses;    /* theirs */
    Name name;      /* for people; may be NULL */
    void *scratch;  /* a pass's own; NULL between passes */
};

struct Op {
    OpCode code;
    int operand_count, result_count, region_count, attr_count;
    Value *const *operands; /* changed by op_set_operand alone */
    OpUse *uses;            /* theirs, one each */
    Value *results;         /* an array, in place */
    Region **regions;
    Attr *attrs;
    Span span; /* where in the source */
    Op *previous, *next;
    Region *parent;
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
/* The memory that an access is one of: a view, a shared tile or a local array; NULL: it is none. */
Value *op_memory(const Op *op);

bool op_has(const Op *op, unsigned traits); /* one of them */
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
    unsigned uses;           /* features that it may be compiled without: MAY_OVERLAP, MAY_PLAN */
    bool wants_remarks;
    bool is_strict;       /* the emulator is to report what is defined here alone (ssa/strict.c) */
    bool has_own_fences;  /* the fences of the asynchronous proxy are the author's where he comes
                             from */
    bool guards_elements; /* those outside of a tensor are, where it comes from, too */
    Remark *remarks;      /* the latest first */
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

/* ---- build.c: the only way to make an op ---- */

/* Where ops go: before `before`, or at the end of `region` if it is NULL. */
typedef struct Builder {
    Kernel *kernel;
    Region *region;
    Op *before;
    Span span; /* given to every op made */
} Builder;

Builder builder_at_end(Region *region, Span span);
Builder builder_before(Op *op); /* takes the op's span */
Builder builder_after(Op *op);

/* The general form: checks counts and kinds against the row (a broken rule is an internal error).
 * Result types are given; attributes are added with op_set_*. */
Op *build_op(Builder *builder, OpCode code, int operand_count, Value *const *operands,
             int result_count, const Type *const *result_types);
/* Ops whose result type follows from the operands (infer.c): elementwise, cmp, var_get, dot, ... */
Value *build(Builder *builder, OpCode code, int operand_count, Value *const *operands);
Value *build1(Builder *builder, OpCode code, Value *a);
Value *build2(Builder *builder, OpCode code, Value *a, Value *b);
Value *build3(Builder *builder, OpCode code, Value *a, Value *b, Value *c);
Value *build_const(Builder *builder, DType dtype, int64_t value);
Value *build_number(Builder *builder, DType dtype, double number); /* a float type */
Value *build_cmp(Builder *builder, const char *predicate, Value *a, Value *b);
/* An `if` without results, whose sides do nothing yet. */
Op *build_branch(Builder *builder, Value *condition);
/* block_idx or grid_dim, an i32 */
Value *build_of_grid(Builder *builder, OpCode code, int dim);
Value *build_cast(Builder *builder, DType dtype, Value *a); /* `a` itself if it has that type */
/* ptr, then rank extents and rank strides; the type's static parts come from `const` operands. */
Value *build_view(Builder *builder, Value *pointer, int rank, Value *const *extents,
                  Value *const *strides);
/* The regions of an op that has some are made empty by build_op: op->regions[i]. */
Value *region_add_argument(Region *region, const Type *type, Name name);

void op_set_int(Op *op, AttrKey key, int64_t value);
void op_set_number(Op *op, AttrKey key, double value);
void op_set_text(Op *op, AttrKey key, Name text);
void op_set_ints(Op *op, AttrKey key, int count, const int64_t *values);
void op_keep_attr(Op *op, const Op *from, AttrKey key); /* what the other op has; nothing: none */
const Attr *op_attr(const Op *op, AttrKey key);         /* NULL if absent */
int64_t op_int(const Op *op, AttrKey key, int64_t otherwise);
unsigned op_dims_mask(const Op *op); /* bit d: dimension d is among its `dims` */
bool op_has_tiles(const Op *op);     /* a register tile among its operands or results */
bool value_constant(const Value *value, int64_t *out); /* a `const` of an integer or boolean type */
/* The result type that `code` has for these operands; NULL if there is none (infer.c). */
const Type *infer_type(TypeTable *types, OpCode code, int operand_count, Value *const *operands);

/* ---- walk.c ---- */

typedef void OpVisitor(Op *op, void *context);
void region_visit(Region *region, OpVisitor *visit,
                  void *context); /* before its regions' ops; the op may be erased */
void op_visit(Op *op, OpVisitor *visit, void *context); /* it and all ops in its regions */
void kernel_visit(Kernel *kernel, OpVisitor *visit, void *context);
/* Those of one code. A kernel that never had one is not walked through: that costs as much as all
 * else that a pass does which has nothing to do there, as ops of a large kernel are in no cache. */
void region_visit_those(Region *region, OpCode code, OpVisitor *visit, void *context);
void kernel_visit_those(Kernel *kernel, OpCode code, OpVisitor *visit, void *context);
bool region_has(const Region *region, OpCode code); /* anywhere in it */
bool kernel_had(const Kernel *kernel, OpCode code); /* ever */
/* ---- host_value.c ---- */
/* Whether the host can compute the value. */
bool value_is_on_host(const Value *value);
bool op_is_on_host(const Op *op); /* all that it is made of */
/* The value in the host region, its scalar code copied to the builder's place; NULL: the host
 * cannot know it. `copied` says what is there already, and is extended. */
Value *value_on_host(Builder *builder, Value *value, Map *copied);
void op_erase(Op *op); /* unlinks it; nothing may use its results */
void op_move_before(Op *op, Op *before);
/* Copies an op with its regions to the builder's place; operands and results through `map`, which
 * is extended. */
Op *op_clone(Builder *builder, const Op *op, Map *map);
Region *launch_region(const Op *launch);
Op *op_enclosing(const Op *op, OpCode code);    /* the nearest one around it, or NULL */
Region *value_home(const Value *value);         /* where it is defined; NULL of a parameter */
bool op_comes_before(const Op *a, const Op *b); /* in one region */
bool region_holds(const Region *outer, const Region *inner); /* or is it; `inner` may be NULL */

/* ---- uses.c ---- */

void op_set_operand(Op *op, int index, Value *value);
void op_set_operands(Op *op, int count, Value *const *operands); /* more or fewer than it had */
void op_add_operands(Op *op, int count, Value *const *values);   /* behind those that it has */
void op_remove_operand(Op *op, int index);
/* Every use of `value` becomes one of `other`. */
void value_replace(Value *value, Value *other);
/* Many at once: each operand is looked up in `to` (Value* -> Value*), chains followed. */
void region_replace(Region *region, const Map *to);
int region_count_uses(const Region *region, const Value *value); /* those in it alone */
int op_count_uses(const Op *op, const Value *value);             /* its own, and in its regions */
/* Whether the answer for the value, or for one that it is made of, is VALUE_FOUND. Each is asked
 * once, from left to right. */
typedef enum ValueAnswer {
    VALUE_OPERANDS, /* ask its operands */
    VALUE_ENOUGH,   /* do not */
    VALUE_FOUND
} ValueAnswer;
typedef ValueAnswer ValueQuestion(const Value *value, void *context);
bool value_finds(const Value *value, ValueQuestion *ask, void *context);

/* ---- sums.c: sums of open wgmma ops, before somebody has waited for them ---- */

typedef struct InFlightSums {
    Arena *arena;
    Map values; /* Value * -> itself */
    bool changed;
    const Op *reader;
} InFlightSums;
bool op_is_async(const Op *op); /* a product that something later waits for */
void in_flight_add(InFlightSums *early, const Value *value);
/* An op that reads one of them, or what another wgmma makes of it; NULL: there is none. */
const Op *in_flight_reader(InFlightSums *early, Region *region);

/* ---- print.c, read.c, verify.c ---- */

void kernel_print(const Kernel *kernel, Buf *out);
void op_print(const Op *op, Buf *out); /* one line, for messages */
/* All kernels of a text; NULL: reported (DIAG_ir_syntax). */
Kernel **kernel_read(Session *session, const Source *source, int *count);
/* Rows, stages, types, definitions before uses. What is broken is reported (DIAG_ir_invalid) and
 * false returned. */
bool kernel_verify(const Kernel *kernel);

#endif
