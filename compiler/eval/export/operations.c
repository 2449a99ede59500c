/* operations.c: what is asked of kernels. */
#include "eval/export/export.h"

/* ---- the table ---- */

static const BuiltinRow ROWS[] = {
#define BUILTIN(module, name, signature, handler) {module, name, signature, handler},
#include "eval/export/builtins.def"
#undef BUILTIN
};

void export_offer(Eval *eval, Operations *operations)
{
#define PYTHON(result, name, parameters)
#define STAGING(result, name, parameters)
#define SURFACE(result, name, parameters)
#define EXPORT(result, name, parameters) operations->name = name;
#include "eval/values/operations.def"
#undef PYTHON
#undef STAGING
#undef SURFACE
#undef EXPORT
    builtins_add(eval, ROWS, sizeof ROWS / sizeof *ROWS);
}
