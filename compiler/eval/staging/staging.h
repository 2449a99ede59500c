/* staging.h: run-time values, a section a file: what becomes IR. Run-time control is in control.h.
 */
#ifndef TILEC_EVAL_STAGING_H
#define TILEC_EVAL_STAGING_H

#include "eval/staging/control.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/staging/builtins.def"
#undef BUILTIN

/* Enters what this room has of operations.def, and its builtins. */
void staging_offer(Eval *eval, Operations *operations);

/* ---- arguments.c ---- */

Value *argument_value(Eval *eval, Object *object, TypeKind kind, const char *what,
                      const char *wanted, Span at);
Object *result_deliver(Eval *eval, Value *value, Object *out);

/* ---- atomic.c ---- */

typedef struct AtomicWords {
    Name mode, order, scope;
    bool negates, compares;
} AtomicWords;
/* Operation, order and scope, from the first three of the arguments. False: reported. */
bool atomic_words(Eval *eval, Object *const *arguments, DType dtype, Span at, AtomicWords *out);
void atomic_set_words(Op *op, const AtomicWords *words);

/* ---- bits.c ---- */

/* The same bits as a tile of another type. */
Value *tile_as(Eval *eval, Value *value, const Type *type);
/* The same elements, in order, as a tile of that shape. */
Value *stage_reshape(Eval *eval, Value *value, int rank, const int64_t *shape);

/* ---- element.c ---- */

/* `A[i] += x` of an array in the program of a thread happens at once. False: it is no such one. */
bool element_update(Eval *eval, Operator op, const Object *old, Object *operand, Span at,
                    bool *good);
Object *element_get(Eval *eval, Value *memory, Value *const *indices);
bool element_set(Eval *eval, Value *memory, Value *const *indices, Object *object, Span at);
/* The op reads, or writes, that value as one element of a register tile. */
void fragment_note(Eval *eval, const Op *op, Value *const *indices, Value *value);
/* At a kernel's end: of fragments whose elements alone are used, and depend on the thread, each
 * thread has its own. */
void fragments_settle(Eval *eval);
/* Where a value was read from, as a view or shared tile of one element; NULL: from no such place.
 */
Value *element_place(Eval *eval, Value *value);

/* ---- gather.c ---- */

bool subscript_has_tile(const Object *index);
/* An element of shared memory that only some iterations of a parallel loop may read. */
bool gather_guard(const Eval *eval, const Object *object, const Object *index);
Object *gather_get(Eval *eval, Object *object, Object *index, Span at);
bool scatter_set(Eval *eval, Object *object, Object *index, Object *given, Span at);

/* ---- operand.c ---- */

Object *object_ir(Eval *eval, Value *value);          /* TILE for a register tile */
bool stage_ready(Eval *eval, Span at);                /* a kernel is being staged; else reported */
const Type *staged_object_type(const Object *object); /* of a run-time value */
bool argument_absent(const Object *object);
const Type *argument_type(const Object *object);
bool argument_items(Eval *eval, Object *object, const char *what, Span at, int *rank,
                    Object **items);
bool argument_ints(Eval *eval, Object *object, const char *what, Span at, int *rank, int64_t *out);
bool argument_shape(Eval *eval, Object *object, Span at, int *rank, int64_t *shape);
/* One of as many elements as `type` has. */
bool argument_reshape(Eval *eval, const Type *type, Object *object, Span at, int *rank,
                      int64_t *shape);
Value *core_build(Eval *eval, OpCode code, int count, Value *const *operands, const Type *type);
TypeTable *core_types(Eval *eval);

/* ---- operations.c ---- */

/* `a if test else b` whose test is a run-time value. */
Object *stage_ifexp(Eval *eval, const NodeIfExp *node, Object *test);
/* An `if` whose test is one. */
Flow stage_if(Eval *eval, const NodeIf *node, Object *test, Rest *rest);
/* The type of a run-time value, as messages have it. */
const char *staged_type_text(Eval *eval, const Object *object);
/* Whether it is a constant of the IR. */
bool staged_constant(const Object *object, int64_t *out);
/* Whether it is an integer, or one for each iteration of a parallel loop. */
bool staged_is_integer(const Eval *eval, const Object *object);
/* The element type of a scalar or register tile; NULL: it is neither. */
Object *staged_dtype(Eval *eval, const Object *object);
/* What len() gives of it; NULL: it has no length. */
Object *staged_length(Eval *eval, Object *object, Span at);
/* The smaller one (wins: <) or the larger one of two. */
Object *stage_extreme(Eval *eval, Operator wins, Object *a, Object *b, Span at);
/* Writes a register tile in place. False: reported. */
bool tile_update(Eval *eval, Object *tile, Object *value);
/* shape, dtype and the like. */
Object *staged_attribute(Eval *eval, Object *object, Name name, Span at, bool *found);
const char *staged_attribute_name(size_t index); /* NULL: there are no more */
/* `assert` of a run-time value. */
Flow stage_assertion(Eval *eval, const NodeAssert *node, Object *test);

/* ---- place.c ---- */

Object *slot_read(Eval *eval, const Slot *slot, Span at);
/* Whether the array has done it by that method of its class: write value, or update by it, to a
 * part of one of its elements which the run tells. *good: false: reported. */
bool slot_part(Eval *eval, const Slot *slot, const char *method, Object *op, Object *value, Span at,
               bool *good);
bool slot_write(Eval *eval, const Slot *slot, Object *value, Span at); /* false: reported */
/* What the target of an assignment names; its owner and index are evaluated. NULL: reported. */
Slot *target_place(Eval *eval, const Node *target);
/* The variable that a name stands for, or NULL. */
Object *named_variable(Eval *eval, Name name);
/* The variable that array[index] is, where a name or an instance's attribute stands for one that is
 * an array of one element, too. NULL: it is none. */
Slot *first_element(Eval *eval, const Node *array, const Object *index);
bool object_is_one_variable(const Object *object); /* a variable of the thread: not one for each
                                                      iteration, nor an element of memory */
Object *place_new(Eval *eval, Object *memory, Object *index, bool assigns);
Object *place_object(Eval *eval, Slot *slot);
Object *place_attribute(Eval *eval, const Object *place, Name name, Span at, bool *found);

/* ---- promote.c ---- */

typedef enum PairStyle { PAIR_ARITHMETIC, PAIR_COMPARE, PAIR_BITS } PairStyle;
bool stage_promote(DType a, DType b, DType *out);
DType number_dtype(const Object *number); /* of itself */
/* A negative number is a uint64's with the same bits in a thread's program, as in C's: numbers
 * beyond those with a sign are written so. */
bool number_is_bits(const Eval *eval, const Object *number, DType dtype);
bool number_fits(int64_t value, DType dtype);
Numbers numbers_here(const Eval *eval);
/* What an assignment gives its target: a scalar keeps the type of the variable, with typed
 * numbers. */
Object *assigned_value(Eval *eval, const Node *target, Object *object);
/* The element type in which two operands meet; a type is NULL of a number of the program. False:
 * there is none. */
bool pair_dtype(const Eval *eval, PairStyle style, Object *left, Object *right, const Type *a,
                const Type *b, DType *out);
/* What `x: type = value` gives to x. NULL: reported. */
Object *declared_value(Eval *eval, const NodeAnnAssign *node, Object *value);

/* ---- reference.c ---- */

/* Whether it is a library's own object with memory in its attribute of this name. */
bool holds_memory(Eval *eval, const Object *object);
Name memory_name(Eval *eval);
/* An argument as the parameter takes it: of that index, or of that name. */
Object *eval_argument_of(Eval *eval, Object *callee, uint32_t index, Name name, const Node *node);
/* An argument as the annotation of its parameter has it, in a kernel. NULL: reported. */
Object *argument_converted(Eval *eval, const Function *function, const Nodearg *parameter,
                           Object *value);

/* ---- stage.c ---- */

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
Value *view_is_there(Eval *eval, const Value *view);
Value *stage_broadcast(Eval *eval, Value *value, int rank, const int64_t *shape, Span at);
/* to a scalar or tile type */
Value *stage_typed(Eval *eval, Object *object, const Type *type, Span at);
Object *stage_binary(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *stage_compare(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *stage_unary(Eval *eval, Operator op, Object *operand, Span at);
/* Whether the kernel at hand computes f32 by approximate instructions. */
bool uses_fast_math(const Eval *eval);
/* By the quick instruction, of b too if it is not NULL; both are f32. */
Value *stage_approximate(Eval *eval, const char *function, Value *a, Value *b);
/* Brings two operands to one type and shape, a literal to the other's; NULL: reported. */
bool stage_pair(Eval *eval, Object *left, Object *right, Span at, Value **a, Value **b);
/* stretches both; false: reported */
bool stage_same_shape(Eval *eval, Span at, Value **a, Value **b);
/* A run-time number as another element type. NULL: reported. */
Object *cast_to(Eval *eval, Object *object, DType dtype, Span at);

/* ---- lanes.c ---- */

/* What a subscript gives, or whether it was written, where an index or the value is several side by
 * side; false: none is. */
bool lanes_get(Eval *eval, Object *memory, Object *index, Span at, Object **out);
bool lanes_set(Eval *eval, Object *memory, Object *index, Object *value, Span at, bool *out);

/* ---- subscript.c ---- */

/* Of register tiles, shared tiles and views of global memory (subscript.c). */
Object *subscript_get(Eval *eval, Object *object, Object *index, Span at);
bool subscript_set(Eval *eval, Object *object, Object *index, Object *value, Span at);
/* The part of a view or shared tile that the subscript means; NULL: reported. */
Value *subscript_part(Eval *eval, Value *memory, Object *index, Span at);
Value *tile_through_shared(Eval *eval, Value *tile); /* a copy of it in shared memory */
/* A view of one element, as subscripts of all dimensions give. */
bool view_is_element(const Value *view);
Value *view_load_element(Eval *eval, Value *view); /* a tile of one element */

#endif
