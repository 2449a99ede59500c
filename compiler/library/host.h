/* host.h: the host of an interpreter: arrays without memory, and launches that are told of. */
#ifndef TILEC_LIBRARY_HOST_H
#define TILEC_LIBRARY_HOST_H

#include "base/vec.h"
#include "build/build.h"
#include "build/host_gradients.h"
#include "eval/host.h"

#include "abi.h"
#include "tile/dlpack.h"

/* What stands for an array: of the caller's, or of a launch's results. */
typedef struct Shadow {
    HostArray is;
    int number;
} Shadow;

typedef struct Library {
    Host host; /* first: the evaluator gives it back */
    Session *session;
    const Options *options;
    const ArchList *archs;
    const tile_emulator *emulator;
    Gradients gradients;
    Map kernels;          /* of load_once */
    VEC(Shadow *) arrays; /* of the statements that run */
    size_t given;         /* the first so many are the caller's */
    Buf printed, values, built, launches;
} Library;

void library_host(Library *library);
/* Before statements run. False: reported. */
bool library_take_arrays(Library *library, const DLTensor *const *arrays, uint32_t count);
/* What there is to say of the statements that ran, but for messages. */
void library_answer(Library *library, Buf *out);

/* ---- code.c ---- */

/* The kernel's code, made once for all of one text. NULL: reported. */
const tile_kernel *library_code(Library *library, Kernel *kernel);

#endif
