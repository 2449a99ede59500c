/* operations.c: what the other rooms, and this one itself, ask of the language. */
#include "eval/python/python.h"

/* ---- the table ---- */

static const BuiltinRow ROWS[] = {
#define BUILTIN(module, name, signature, handler) {module, name, signature, handler},
#include "eval/python/builtins.def"
#undef BUILTIN
};

void python_offer(Eval *eval, Operations *operations)
{
#define PYTHON(result, name, parameters) operations->name = name;
#define STAGING(result, name, parameters)
#define SURFACE(result, name, parameters)
#define EXPORT(result, name, parameters)
#include "eval/values/operations.def"
#undef PYTHON
#undef STAGING
#undef SURFACE
#undef EXPORT
    builtins_add(eval, ROWS, sizeof ROWS / sizeof *ROWS);
}
