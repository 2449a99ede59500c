/* emulator.h: what the files that make code for the emulator share: the thread's record
 * (runtime/emulator/abi.h), calls of the runtime, and ops that suspend. */
#ifndef TILEC_CODEGEN_EMULATOR_H
#define TILEC_CODEGEN_EMULATOR_H

#include "codegen/llvm.h"

#include <stddef.h>

/* Of the image, all launches together. */
typedef struct Sites {
    VEC(Site) items;
    VEC(size_t) before; /* 1 + the one before it whose text begins at the same byte; 0: none */
    Map last;           /* such a byte -> 1 + the last of them */
} Sites;

typedef struct EmulatorFunction {
    LLVMValueRef thread;
    LLVMValueRef resumption; /* the switch that each resumption begins with */
    LLVMBasicBlockRef suspended;
    int states; /* of the switch */
    int accesses; /* of memory, so far */
    Sites *sites;
} EmulatorFunction;

/* A field of the thread's record. */
LLVMValueRef emu_field(Gen *gen, size_t offset);
LLVMValueRef emu_load(Gen *gen, size_t offset, LLVMTypeRef type);
void emu_store(Gen *gen, size_t offset, LLVMValueRef value);
/* A word that goes into a cooperative op, or comes out of it. */
void emu_in(Gen *gen, int index, LLVMValueRef word);
LLVMValueRef emu_out(Gen *gen, int index);
/* The number of the op's place in the source. */
int64_t emu_site(Gen *gen, const Op *op);
/* Suspends the thread, for the scheduler to do the op with those of others. */
void emu_cooperate(Gen *gen, tile_emu_op op, int mode);
/* A function that is not in the module. */
LLVMValueRef emu_function(Gen *gen, const char *name, LLVMTypeRef result, int count,
                          LLVMTypeRef *types);
/* A function of the emulator's runtime is called with the thread, then the arguments. */
LLVMValueRef emu_call(Gen *gen, const char *name, LLVMTypeRef result, int count,
                      const LLVMValueRef *arguments);
/* What LLVM is told of all code that the emulator runs. */
void emu_attributes(LLVMValueRef function);

#endif
