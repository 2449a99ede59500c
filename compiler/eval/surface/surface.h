/* surface.h: what `__core__` offers, a section a file. */
#ifndef TILEC_EVAL_SURFACE_H
#define TILEC_EVAL_SURFACE_H

#include "eval/staging/staging.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/surface/builtins.def"
#undef BUILTIN

/* Enters what this room has of operations.def, and its builtins. */
void surface_offer(Eval *eval, Operations *operations);

/* ---- clusters.c ---- */

/* What the kernel function set of self.attrs; NULL: reported that it did not. */
/* clusters.c: how many blocks make a cluster. False: reported. */
bool launch_set_cluster(Eval *eval, Op *launch, Object *object, Span at);

/* ---- core.c ---- */

/* What core_view() gives, of memory of any type. */
Object *view_as(Eval *eval, const Bound *bound);
/* strides NULL: row-major */
Value *view_new(Eval *eval, Value *pointer, int rank, Value *const *extents, Value *const *strides);

/* ---- shared_shape.c ---- */

/* A shared tile, or one index of it, as one of another tile's element type and shape. */
Object *shared_as(Eval *eval, Object *tile, const Type *seen, Span at);

/* ---- workspace.c ---- */

/* Zero at first; NULL: reported. */
Value *workspace_pointer(Eval *eval, DType dtype, int64_t count, Span at);

#endif
