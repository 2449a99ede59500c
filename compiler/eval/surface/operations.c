/* operations.c: what is asked of the builtins. */
#include "eval/surface/surface.h"

/* ---- the table ---- */

static const BuiltinRow ROWS[] = {
#define BUILTIN(module, name, signature, handler) {module, name, signature, handler},
#include "eval/surface/builtins.def"
#undef BUILTIN
};

void surface_offer(Eval *eval, Operations *operations)
{
#define PYTHON(result, name, parameters)
#define STAGING(result, name, parameters)
#define SURFACE(result, name, parameters) operations->name = name;
#define EXPORT(result, name, parameters)
#include "eval/values/operations.def"
#undef PYTHON
#undef STAGING
#undef SURFACE
#undef EXPORT
    builtins_add(eval, ROWS, sizeof ROWS / sizeof *ROWS);
}
