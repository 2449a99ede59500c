/* host_gradients.h: launches of gradients by host code. */
#ifndef TILEC_BUILD_HOST_GRADIENTS_H
#define TILEC_BUILD_HOST_GRADIENTS_H

#include "base/vec.h"
#include "eval/host.h"
#include "target/target.h"

/* What it was made of, and how. */
typedef struct MadeGradient {
    const Kernel *of;
    bool consumes;
    const char *retained;
    Kernel *kernel;
} MadeGradient;

/* Those that were made, by the kernels that were staged for them. */
typedef struct Gradients {
    Session *session;
    struct Host *host; /* whose arrays are given */
    const Target *target;
    VEC(MadeGradient) all;
} Gradients;

/* A launch of a kernel that is staged for its gradient becomes one of the gradient. False:
 * reported. */
bool launch_as_gradient(Gradients *gradients, HostLaunch *launch);
void gradients_free(Gradients *gradients);

#endif
