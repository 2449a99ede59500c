/* arguments.c: arguments of builtins that are memory, and where results go. */
#include "eval/staging/staging.h"

/* A staged argument of one kind of type. NULL: reported. */
Value *argument_value(Eval *eval, Object *object, TypeKind kind, const char *what,
                      const char *wanted, Span at)
{
    static const char *const NAMES[] = {
        [TYPE_SCALAR] = "a scalar",      [TYPE_VECTOR] = "a vector",
        [TYPE_POINTER] = "a pointer",    [TYPE_VIEW] = "a global view",
        [TYPE_TILE] = "a register tile", [TYPE_SHARED] = "a shared tile",
        [TYPE_LOCAL] = "a local array",  [TYPE_VAR] = "a variable",
    };
    const Type *type = argument_type(object);
    if (type != NULL && type->kind == TYPE_SCALAR && object->kind == OBJECT_IR &&
        (kind == TYPE_VIEW || kind == TYPE_SHARED)) {
        Value *place = element_place(eval, object->as.ir.value);
        if (place != NULL && place->type->kind == kind) return place;
    }
    if (type == NULL || type->kind != kind)
        return FAIL(eval, expected_kind, at, what, wanted != NULL ? wanted : NAMES[kind],
                    object != NULL ? object_repr(eval, object) : "missing");
    return stage_ready(eval, at) ? stage_value(eval, object) : NULL;
}

/* Hands the result out, or writes it where `out=` says. */
Object *result_deliver(Eval *eval, Value *value, Object *out)
{
    if (value == NULL) return NULL;
    if (argument_absent(out)) return object_ir(eval, value);
    const Type *type = argument_type(out);
    if (type == NULL || type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, eval->at, "out", "a register tile",
                    object_repr(eval, out));
    return tile_write_out(eval, out, value) ? out : NULL;
}
