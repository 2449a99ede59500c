/* builtins.h: the handlers that builtins.def names; private to this folder. */
#ifndef TILEC_EVAL_BUILTINS_H
#define TILEC_EVAL_BUILTINS_H

#include "eval/evaluate.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/builtins.def"
#undef BUILTIN

/* min or max of two: now, or staged. */
Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at);

const Object *text_argument(Eval *eval, const Object *object, const char *what, Span at);
/* Where the text first stands from `data` on; NULL: nowhere. */
const char *find_part(const char *data, const char *end, const Object *part);
/* A dict of a mapping or of pairs; a dict is that itself. NULL: reported. */
Object *dict_from(Eval *eval, Object *other, Span at);
/* `text % values` */
Object *text_percent(Eval *eval, const Object *text, Object *values, Span at);
/* Sets, and what may stand beside them: NULL with *known false where the operator is none of
 * theirs.
 */
Object *operate_sets(Eval *eval, Operator op, Object *left, Object *right, bool *known);

/* A run-time number as another element type. NULL: reported. */
Object *cast_to(Eval *eval, Object *object, DType dtype, Span at);

/* ---- core.c: reading the arguments of core ops; what fails has reported ---- */

bool argument_absent(const Object *object);
const Type *argument_type(const Object *object);
Value *argument_value(Eval *eval, Object *object, TypeKind kind, const char *what,
                      const char *wanted, Span at);
bool argument_dtype(Eval *eval, const Object *object, Span at, DType *out);
bool argument_items(Eval *eval, Object *object, const char *what, Span at, int *rank,
                    Object **items);
bool argument_ints(Eval *eval, Object *object, const char *what, Span at, int *rank, int64_t *out);
bool argument_shape(Eval *eval, Object *object, Span at, int *rank, int64_t *shape);
/* One of as many elements as `type` has. */
bool argument_reshape(Eval *eval, const Type *type, Object *object, Span at, int *rank,
                      int64_t *shape);
Object *result_deliver(Eval *eval, Value *value, Object *out);
Value *core_build(Eval *eval, OpCode code, int count, Value *const *operands, const Type *type);
TypeTable *core_types(Eval *eval);
/* What core_view() gives, of memory of any type. */
Object *view_as(Eval *eval, const Bound *bound);
/* strides NULL: row-major */
Value *view_new(Eval *eval, Value *pointer, int rank, Value *const *extents, Value *const *strides);

/* ---- specialise.c: scalars of the host region ---- */

/* Where host code of the kernel at hand goes: before the launch that is open. */
Builder stage_host_builder(Eval *eval, Span at);
/* A scalar computed there once more; `wanted` is what needs it ("the grid"). NULL: reported. */
Value *stage_on_host(Eval *eval, Value *value, const char *wanted);

/* ---- gather.c: elements at indices of their own ---- */

bool subscript_has_tile(const Object *index);
/* An element of shared memory that only some iterations of a parallel loop may read. */
bool places_guard(const Eval *eval, const Object *object, const Object *index);
Object *places_get(Eval *eval, Object *object, Object *index, Span at);
bool places_set(Eval *eval, Object *object, Object *index, Object *given, Span at);

/* ---- atomics.c ---- */

typedef struct AtomicWords {
    Name mode, order, scope;
    bool negates, compares;
} AtomicWords;
/* Operation, order and scope, from the first three of the arguments. False: reported. */
bool atomic_words(Eval *eval, Object *const *arguments, DType dtype, Span at, AtomicWords *out);
void atomic_set_words(Op *op, const AtomicWords *words);

/* ---- element.c: single elements; of indices, one a dimension ---- */

Object *element_get(Eval *eval, Value *memory, Value *const *indices);
bool element_set(Eval *eval, Value *memory, Value *const *indices, Object *object, Span at);
/* Where a value was read from, as a view or shared tile of one element; NULL: from no such place.
 */
Value *element_place(Eval *eval, Value *value);

/* ---- group.c ---- */

/* The threads that run what is staged now. False: reported that they are not known. */
bool group_now(Eval *eval, int64_t *begin, int64_t *count);

/* ---- subscript.c ---- */

/* The part of a view or shared tile that the subscript means; NULL: reported. */
Value *subscript_part(Eval *eval, Value *memory, Object *index, Span at);

Value *tile_through_shared(Eval *eval, Value *tile); /* a copy of it in shared memory */

/* A view of one element, as subscripts of all dimensions give. */
bool view_is_element(const Value *view);
Value *view_load_element(Eval *eval, Value *view); /* a tile of one element */

#endif
