/* fake_cuda.h: what a test sets and reads of the driver that fake_cuda.c pretends to be. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stddef.h>
#include <stdint.h>

enum {
    FAKE_DEVICES = 16,
    FAKE_CONTEXTS = 32,
    FAKE_LOG = 4096,
    FAKE_ERROR = 999, /* what a call that is told to fail returns */
    FAKE_CONTEXT_IS_DESTROYED = 709,
    FAKE_PARAMETERS = 16
};

typedef struct fake_context {
    int device;
    int destroyed;
} fake_context;

typedef struct fake_stream {
    fake_context *context;
    unsigned long long id;
    int capturing;
} fake_stream;

typedef struct fake_launch {
    char kernel[64];
    uint32_t grid[3], block[3], shared_bytes;
    uint32_t cluster[3], cooperative, early; /* 0: the launch says nothing of it */
    const fake_context *context;             /* in which the kernel ran */
    int64_t parameters[FAKE_PARAMETERS];
    int device;
} fake_launch;

/* What a launch of a kernel takes, and does to memory; NULL: nothing. */
typedef struct fake_cost {
    char kernel[64];
    float milliseconds;
    int fails;  /* its launch does */
    int device; /* on this one alone, counted from 1; 0: on each */
} fake_cost;

typedef void fake_work(const char *kernel, void **parameters);
/* Where the driver waits for a device. */
typedef void fake_wait(int device);

typedef struct fake_cuda_state {
    /* set by the test */
    fake_cost costs[16]; /* ends with an empty name; others take no time */
    fake_work *work;     /* done by each launch */
    fake_wait *wait;     /* in stream synchronisation and allocation, without the fake's lock */
    size_t memory;       /* more in one piece is refused; 0: nothing is */
    int device_count;
    int compute[FAKE_DEVICES];            /* 90 for 9.0 */
    int fail_at;                          /* the n-th call fails; 0: none does */
    const char *fail_name;                /* every call of this name fails, NULL: none */
    int parameter_bytes[FAKE_PARAMETERS]; /* what a launch copies; ends with 0 */
    /* kept by the driver */
    int calls;
    int libraries, kernels_made, retained, allocations;
    int launches, attributes, settled;
    uint64_t cleared; /* bytes, by cuMemsetD8Async */
    uint64_t copied;  /* bytes, by cuMemcpyDtoDAsync */
    int events;
    float clock; /* milliseconds, of all launches */
    fake_launch last;
    char log[FAKE_LOG]; /* names of calls, each followed by a space */
} fake_cuda_state;

/* Exported by the library: */
typedef fake_cuda_state *fake_cuda_state_function(void);
/* The calling thread's context stack: its depth, and the context on top. */
typedef int fake_cuda_depth_function(void);
typedef fake_context *fake_cuda_current_function(void);
/* Pushes a new context of a device, as a program would that uses the driver itself. */
typedef fake_context *fake_cuda_push_function(int device);

#endif
