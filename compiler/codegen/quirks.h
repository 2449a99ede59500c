/* quirks.h: what is done for the sake of LLVM or ptxas alone, because of what a version of them
 * does not do, or does wrong. Each has a test in tests/golden/quirks that asks the tool itself and
 * says when the quirk is gone. */
#ifndef TILEC_CODEGEN_QUIRKS_H
#define TILEC_CODEGEN_QUIRKS_H

#include "codegen/llvm.h"

/* LLVM 22, passes by name: `instcombine` ends the process where one round of it does not do all
 * that there is to do, unless it is told not to look. (tests/golden/quirks/instcombine.sh) */
#define QUIRK_INSTCOMBINE "instcombine<no-verify-fixpoint>"

/* LLVM 22, C interface: the emission kind "debug directives only" has no name there. Full tables
 * ptxas 13.0 refuses together with optimisation. (debug_tables.sh) */
enum { QUIRK_LINES_ONLY = 3 };

/* LLVM 22: parts of it take the square of a block's length, so the emulator's blocks are cut behind
 * so many ops: a number that was chosen. tests/bench/growth.py shows the growth. */
enum { QUIRK_SEGMENT_OPS = 300 };

/* LLVM 22: memory dependence, global value numbering, loop passes and instruction selection take
 * time that grows with the square of what a function has of one kind (comparisons of one value,
 * sums, blocks), or nest as deep as loops follow each other. A large kernel gets passes that do
 * not. tests/bench/growth.py shows it. */
bool quirk_is_large(LLVMModuleRef module);
/* Blocks of a large kernel are cut before instructions are selected for them. */
enum { QUIRK_BLOCK = 500 };
void quirk_cut_blocks(LLVMModuleRef module);
/* The same of one of a module's functions, for the host. */
bool quirk_has_large_function(LLVMModuleRef module);

/* What LLVM 22 is told once a process, as no call of its API says it: that pointers to shared memory
 * have 32 bits (short_pointers.sh); and that the iterations which are left over where a loop is
 * unrolled are no loop, in which what was loaded ahead would move from register to register, each
 * move waiting for the load (golden/codegen/remainders.sh). */
void quirk_set_options(void);

/* LLVM 22, NVPTX: a select of 0 around a shift of 64 bits by what may be too far is taken for PTX's
 * own clamping, but the amount is cut to 32 bits before: x << (1 << 32) becomes x. So it goes in
 * two halves. (wide_shift.sh) */
typedef LLVMValueRef ShiftBuilder(LLVMBuilderRef builder, LLVMValueRef a, LLVMValueRef b,
                                  const char *name);
LLVMValueRef quirk_shift_wide(Gen *gen, ShiftBuilder *build, LLVMValueRef a, LLVMValueRef b);

/* LLVM 22 moves what is computed before a loop and used behind it to the start of the block behind
 * the loop, before the wait for the last wgmma (sunk_code.sh). ptxas then took the sums for read
 * too early, had each wgmma wait for the one before (C7514), and the kernel was refused
 * (tests/golden/codegen/transposed_result.sh): so such waits go first. With ptxas 13.0.88 no
 * program of the tests shows that any more. */
void quirk_last_waits_first(LLVMModuleRef module);

/* ptxas 13.0 makes two LOP3 of (word & mask) ^ flip where both are constants; lop3.b32 takes both.
 * (two_constants.sh) */
LLVMValueRef quirk_masked(Gen *gen, LLVMValueRef word, uint32_t mask, uint32_t flip);

/* ptxas 13.0 schedules fma of different sums between each other, so that they read more registers
 * than their banks give at once: a kernel that is mostly fma keeps the order in which neighbours
 * share operands (-O1). f32 products of 4096^3 by 128x256x16 tiles on an H200: 0.99 of cuBLAS, 0.91
 * before. No tool but a GPU shows it: tests/bench/compare.sh. */
bool quirk_is_in_order(Kernel *kernel);

/* ptxas 13.0 takes time that grows with the square of a kernel's predicated instructions: accesses
 * whose bounds are checked, which it moves past each other. Of many (12 s for 2,500) it keeps the
 * order (-O1: 2.4 s, and 17 registers, not 254) and is not asked again; of too many it is not asked
 * at all. (predicated.sh, tests/golden/cli/predicated.sh) */
enum { QUIRK_MANY_PREDICATED = 1000, QUIRK_MOST_PREDICATED = 2500 };
int quirk_predicated(const char *ptx);

/* ptxas 13.0 writes the beginning of a cubin where a disk is full, and exits with 0. (full_disk.sh)
 */
bool quirk_is_whole(const char *cubin, size_t size);

#endif
