/* gradient.h: the front door of passes/grad: the kernel that computes another one's gradient. */
#ifndef TILEC_PASSES_GRAD_GRADIENT_H
#define TILEC_PASSES_GRAD_GRADIENT_H

#include "ir/ir.h"
#include "target/target.h"

/* Of a TYPED kernel that was staged for it: one of the same name whose parameters are the kernel's
 * without its results and, behind them, a pointer for each of them that is to floating-point
 * numbers, in the shape of what that points to, and for each result. It adds to what is there the
 * gradient by what the kernel read, from that by what it wrote. `consumes`: of what the kernel
 * overwrote it then is zero, but in parameters of `retained` (their names with spaces between; "":
 * none) where it wrote elements, not tiles of views. NULL: reported. The caller's to free. */
Kernel *kernel_gradient(const Kernel *kernel, const Target *target, bool consumes,
                        const char *retained);

#endif
