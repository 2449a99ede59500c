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

#endif
