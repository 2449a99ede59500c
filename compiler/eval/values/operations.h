/* operations.h: the table of operations.def. A room calls what lies below it by name, and what lies
 * above it by the table of its evaluator: eval->ops->NAME(...). */
#ifndef TILEC_EVAL_OPERATIONS_H
#define TILEC_EVAL_OPERATIONS_H

#include "eval/values/state.h"

struct Operations {
#define PYTHON(result, name, parameters)  result(*name) parameters;
#define STAGING(result, name, parameters) result(*name) parameters;
#define SURFACE(result, name, parameters) result(*name) parameters;
#define EXPORT(result, name, parameters)  result(*name) parameters;
#include "eval/values/operations.def"
#undef PYTHON
#undef STAGING
#undef SURFACE
#undef EXPORT
};

#endif
