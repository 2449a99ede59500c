/* object_calls.h: the kernels of an object that was compiled before, for host code to call. */
#ifndef TILEC_COMMAND_OBJECT_CALLS_H
#define TILEC_COMMAND_OBJECT_CALLS_H

#include "command/array/arrays.h"
#include "build/tunings.h"

#include "abi.h"

typedef struct ObjectKernels ObjectKernels;

bool is_object_file(const char *path);
/* Loads all that are in the object. NULL: reported. */
ObjectKernels *object_kernels_open(Session *session, const char *path);
void object_kernels_close(ObjectKernels *kernels);
/* NULL: there is none of that name. */
const tile_kernel *object_kernel(const ObjectKernels *kernels, const char *name);

/* A call with what the C entry takes, by place or by name; what it returns is made for it. */
HostStatus object_kernel_call(ArrayContext *context, const tile_kernel *kernel, bool on_emulator,
                              const HostCall *call, HostValue *result);
/* What is said where a launch failed. */
HostStatus launch_status(Session *session, Span at, tile_status status);
/* What was measured of such a kernel, without the times. */
void object_tuning(Arena *arena, const tile_tuned *tuned, Tuning *out);

#endif
