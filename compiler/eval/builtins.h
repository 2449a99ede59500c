/* builtins.h: the handlers that builtins.def names; private to this folder. */
#ifndef TILEC_EVAL_BUILTINS_H
#define TILEC_EVAL_BUILTINS_H

#include "eval/value.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/builtins.def"
#undef BUILTIN

/* min or max of two: now, or staged. */
Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at);

const Object *text_argument(Eval *eval, const Object *object, const char *what, Span at);
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
Object *result_deliver(Eval *eval, Value *value, Object *out);
Value *core_build(Eval *eval, OpCode code, int count, Value *const *operands, const Type *type);
TypeTable *core_types(Eval *eval);

/* ---- subscript.c ---- */

/* A view of one element, as subscripts of all dimensions give. */
bool view_is_element(const Value *view);
Value *view_load_element(Eval *eval, Value *view); /* a tile of one element */

#endif
