/* builtins.h: the handlers that builtins.def names; private to this folder. */
#ifndef TILEC_EVAL_BUILTINS_H
#define TILEC_EVAL_BUILTINS_H

#include "eval/value.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/builtins.def"
#undef BUILTIN

/* min or max of two: now, or staged. */
Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at);

/* A run-time number as another element type. NULL: reported. */
Object *cast_to(Eval *eval, Object *object, DType dtype, Span at);

#endif
