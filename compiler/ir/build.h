/* build.h: how IR is made, walked and changed. A part of ir.h, which includes it at its end. */
#ifndef TILEC_BUILD_H
#define TILEC_BUILD_H

#include "ir/ir.h"

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
Value *build_null(Builder *builder, const Type *pointer);
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
void op_drop_attr(Op *op, AttrKey key); /* if it has one */
/* What the other op has; nothing: none. */
void op_keep_attr(Op *op, const Op *from, AttrKey key);
void op_keep_attrs(Op *op, const Op *from);     /* all of them, in place of its own */
const Attr *op_attr(const Op *op, AttrKey key); /* NULL if absent */
bool op_same_attr(const Op *a, const Op *b, AttrKey key);
int64_t op_int(const Op *op, AttrKey key, int64_t otherwise);
unsigned op_dims_mask(const Op *op); /* bit d: dimension d is among its `dims` */
bool op_has_tiles(const Op *op);     /* a register tile among its operands or results */
bool value_constant(const Value *value, int64_t *out); /* a `const` of an integer or boolean type */
bool value_is_constant(const Value *value, int64_t number); /* that one */
/* The result type that `code` has for these operands; NULL if there is none (infer.c). */
const Type *infer_type(TypeTable *types, OpCode code, int operand_count, Value *const *operands);

/* ---- match.c ---- */

bool value_is_widened(const Value *value); /* a cast of integers that loses no bits */
Value *value_uncast(const Value *value);   /* without such casts of scalars */
/* Without any such casts, splats and broadcasts: what all elements of a tile are, if that is one
 * scalar. */
Value *value_repeated(const Value *value);
/* Whether that is a `const` of an integer, or of a float. */
bool value_repeated_constant(const Value *value, int64_t *out);
bool value_repeated_number(const Value *value, double *out);
bool value_is_zero(const Value *value); /* 0 or 0.0, not -0.0, or a tile of it */
/* Of iota == index along a dimension, either way round: the index; NULL: it is something else. */
Value *value_chosen_index(const Value *mask, int *dim);
/* Of one code, with the same attributes and types of results, and as many operands. */
bool op_alike(const Op *a, const Op *b);
bool value_same_number(const Value *a, const Value *b); /* one value, or the same constant */
/* What stands for a value where two are compared, as the number that a cast is of. */
typedef const Value *ValueStandIn(const Value *value, void *context);
/* One value, or computed alike by pure ops of what is the same; false, too, where that takes long
 * to see. Which iteration it is computed in is not asked. NULL is the same as NULL alone, and
 * without `stand_in` each value stands for itself. */
bool value_same(const Value *a, const Value *b, ValueStandIn *stand_in, void *context);

/* ---- combine.c: of a reduction or a scan ---- */

OpCode op_combination(const Op *op); /* what combines two elements */
bool op_combines(const Op *op);      /* is such an op */
/* What combining with changes nothing, of floats and of integers. */
double combination_identity_number(OpCode code);
int64_t combination_identity(OpCode code, DType dtype);

/* ---- walk.c ---- */

/* For walks. Of a large kernel ops are in no cache; those that a walk comes to soon, which mostly
 * lie behind the one where it is, or before it, are asked for ahead. */
enum { CACHE_LINE = 64, LINES_AHEAD = 16, LINES_OF_OP = 4 };
#define OP_FETCH(op, lines) /* no function: gcc would drop it */                                   \
    for (int i = 0; i < LINES_OF_OP; i++)                                                          \
    __builtin_prefetch((const char *)(op) + ((lines) + i) * CACHE_LINE)
static inline Op *op_next(const Op *op)
{
    OP_FETCH(op, LINES_AHEAD);
    return op->next;
}
static inline Op *op_previous(const Op *op)
{
    OP_FETCH(op, -LINES_AHEAD);
    return op->previous;
}

typedef void OpVisitor(Op *op, void *context);
void region_visit(Region *region, OpVisitor *visit,
                  void *context); /* before its regions' ops; the op may be erased */
/* Behind its regions' ops. */
void region_visit_inner_first(Region *region, OpVisitor *visit, void *context);
void op_visit(Op *op, OpVisitor *visit, void *context); /* it and all ops in its regions */
/* What messages call a dimension of memory, as "dimension 1 of 'a'"; NULL: it has no name. */
Name dimension_name(const Value *memory, int dim);
void kernel_visit(Kernel *kernel, OpVisitor *visit, void *context);
/* Those of one code. A kernel that never had one is not walked through: that costs as much as all
 * else that a pass does which has nothing to do there, as ops of a large kernel are in no cache. */
void region_visit_those(Region *region, OpCode code, OpVisitor *visit, void *context);
void kernel_visit_those(Kernel *kernel, OpCode code, OpVisitor *visit, void *context);
/* Those that have one of the traits, likewise. */
void region_visit_with(Region *region, OpTraits traits, OpVisitor *visit, void *context);
void kernel_visit_with(Kernel *kernel, OpTraits traits, OpVisitor *visit, void *context);
/* The first op of which the test holds, in the region or in those within; of the op itself and its
 * regions. NULL: there is none. */
typedef bool OpTest(const Op *op, const void *context);
Op *region_find(const Region *region, OpTest *test, const void *context);
Op *op_find_within(const Op *op, OpTest *test, const void *context);
bool region_has(const Region *region, OpCode code);          /* anywhere in it */
bool region_has_with(const Region *region, OpTraits traits); /* likewise */
bool kernel_had(const Kernel *kernel, OpCode code);          /* ever */
bool kernel_had_any(const Kernel *kernel, OpTraits traits);
/* All ops of the region and of those within, each before those in its own regions; or those of one
 * code. None may be erased on the way. */
#define region_each(op, region)                                                                    \
    for (Op *op = region_next((region), NULL); op; op = region_next((region), op))
#define region_each_of(op, region, code)                                                           \
    for (Op *op = region_next_of((region), NULL, (code)); op;                                      \
         op = region_next_of((region), op, (code)))
Op *region_next(const Region *region, const Op *op); /* behind NULL the first one */
Op *region_next_of(const Region *region, const Op *op, OpCode code);
void op_erase(Op *op); /* unlinks it; nothing may use its results */
void op_move_before(Op *op, Op *before);
/* Copies an op with its regions to the builder's place; operands and results through `map`, which
 * is extended. */
Op *op_clone(Builder *builder, const Op *op, Map *map);
Value *value_copied(const Map *map, Value *value); /* what the map has for it; nothing: itself */
Region *launch_region(const Op *launch);
/* The kernel's launches, one after the other. */
#define kernel_each_launch(launch, kernel)                                                         \
    for (Op *launch = launch_from((kernel)->host->first); launch;                                  \
         launch = launch_from((launch)->next))
Op *launch_from(Op *op); /* it, or the next one behind it; NULL: none is */
/* A copy to shared memory that goes on beside the threads of the loop that waits for it, or of the
 * author's: of a tile, or of what is gathered. */
bool op_begins_copy(const Op *op);
Op *op_enclosing(const Op *op, OpCode code); /* the nearest one around it, or NULL */
bool op_is_in_loop(const Op *op);
Region *value_home(const Value *value);         /* where it is defined; NULL of a parameter */
bool op_comes_before(const Op *a, const Op *b); /* in one region */
/* The op of the region that holds this one, or is it. */
Op *region_find_ancestor(const Region *region, const Op *op);
bool region_holds(const Region *outer, const Region *inner); /* or is it; `inner` may be NULL */

/* ---- host_value.c ---- */
/* Whether the host can compute the value. */
bool value_is_on_host(const Value *value);
bool op_is_on_host(const Op *op); /* all that it is made of */
/* The value in the host region, its scalar code copied to the builder's place; NULL: the host
 * cannot know it. `copied` says what is there already, and is extended. */
Value *value_on_host(Builder *builder, Value *value, Map *copied);

/* ---- uses.c ---- */

void op_set_operand(Op *op, int index, Value *value);
void op_add_operands(Op *op, int count, Value *const *values); /* behind those that it has */
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
    VALUE_RESULTS,  /* of a use: ask those of the op's results */
    VALUE_ENOUGH,   /* do not */
    VALUE_FOUND
} ValueAnswer;
typedef ValueAnswer ValueQuestion(const Value *value, void *context);
bool value_finds(const Value *value, ValueQuestion *ask, void *context);
/* The same of its uses, and of those of what is made of it. */
typedef ValueAnswer UseQuestion(const Value *value, const Op *user, void *context);
bool value_finds_use(const Value *value, UseQuestion *ask, void *context);

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

#endif
