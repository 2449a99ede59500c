/* load.h: an object that was built, in this process. */
#ifndef TILEC_BUILD_LOAD_H
#define TILEC_BUILD_LOAD_H

#include "build/build.h"

#include <llvm-c/LLJIT.h>

#include "abi.h"

/* The kernel of that name, as long as *jit lives, which is the caller's to dispose of, and may be
 * NULL. `emulator` is what the code for it refers to, or NULL. NULL: reported. */
const tile_kernel *load_kernel(Session *session, const Build *build, const char *name,
                               const tile_emulator *emulator, LLVMOrcLLJITRef *jit);

/* Builds and loads a kernel. NULL: reported. */
typedef const tile_kernel *KernelLoad(void *context, Kernel *kernel);
/* The kernel as it was loaded before, by `load` else: once for all of one text, which differ in
 * their symbols alone. `loaded` has them, by Kernel * and by the Name of the text. */
const tile_kernel *load_once(Session *session, Map *loaded, Kernel *kernel, KernelLoad *load,
                             void *context);
/* The extents of all results of a call with these arguments, one after the other, as the kernel's
 * host part computes them. False: reported (DIAG_call_refused). */
bool load_result_extents(Session *session, Span at, const tile_kernel *kernel,
                         const void *const *arguments, int64_t *extents);

#endif
