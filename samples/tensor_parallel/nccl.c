/* nccl.c: sums by NCCL, whose library is found at run time: NCCL_LIBRARY in the environment, the
 * system's, or the one that the Makefile found. Without its header the program is for one GPU and
 * for the emulator. */
#include "team.h"

#include <stdio.h>

#if __has_include(<nccl.h>) && __has_include(<cuda_runtime.h>)

#include <nccl.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef NCCL_FOUND
#define NCCL_FOUND "libnccl.so.2"
#endif

#define CALLS(CALL)                                                                                \
    CALL(ncclGetVersion)                                                                           \
    CALL(ncclCommInitAll)                                                                          \
    CALL(ncclAllReduce)                                                                            \
    CALL(ncclCommGetAsyncError)                                                                    \
    CALL(ncclCommAbort)                                                                            \
    CALL(ncclCommDestroy)                                                                          \
    CALL(ncclGetErrorString)

static struct {
#define FIELD(name) __typeof__(name) *name;
    CALLS(FIELD)
} calls;
static ncclComm_t communicators[MOST_RANKS];

/* ---- the library ----------------------------------------------------------------------------- */

static void *open_library(void)
{
    const char *places[] = {getenv("NCCL_LIBRARY"), "libnccl.so.2", NCCL_FOUND};
    void *library = NULL;
    for (int i = 0; !library && i < 3; i++)
        if (places[i] && *places[i]) library = dlopen(places[i], RTLD_NOW);
    return library;
}

static int find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static int find_calls(char *why, size_t room)
{
    int version = 0;
    if (calls.ncclGetVersion) return 1;
    void *library = open_library();
    if (!library) return snprintf(why, room, "%s", dlerror()), 0;
#define FIND(name)                                                                                 \
    if (!find(library, #name, &calls.name)) return snprintf(why, room, "it has no " #name), 0;
    CALLS(FIND)
    calls.ncclGetVersion(&version);
    fprintf(stderr, "tensor_parallel: NCCL %d.%d.%d\n", version / 10000, version / 100 % 100,
            version % 100);
    return 1;
}

/* ---- the reducer ----------------------------------------------------------------------------- */

/* Those of the last team serve the next one of that size. */
static int opened;

static void close_nccl(void)
{
    for (int i = 0; i < opened; i++) calls.ncclCommDestroy(communicators[i]);
    opened = 0;
}

static int open_nccl(int ranks, const int *devices, char *why, size_t room)
{
    if (opened == ranks) return 1;
    close_nccl();
    if (!find_calls(why, room)) return 0;
    const ncclResult_t result = calls.ncclCommInitAll(communicators, ranks, devices);
    if (result != ncclSuccess)
        snprintf(why, room, "ncclCommInitAll: %s", calls.ncclGetErrorString(result));
    opened = result == ncclSuccess ? ranks : 0;
    return opened;
}

static const char *sum(Rank *rank, void *halves, size_t count, tile_stream stream)
{
    const ncclResult_t result = calls.ncclAllReduce(
        halves, halves, count, ncclHalf, ncclSum, communicators[rank->index], (cudaStream_t)stream);
    return result == ncclSuccess ? NULL : calls.ncclGetErrorString(result);
}

static const char *fault(const Rank *rank)
{
    ncclResult_t now = ncclSuccess;
    const ncclResult_t result = calls.ncclCommGetAsyncError(communicators[rank->index], &now);
    if (result != ncclSuccess) return calls.ncclGetErrorString(result);
    return now == ncclSuccess || now == ncclInProgress ? NULL : calls.ncclGetErrorString(now);
}

static void stop(const Rank *rank)
{
    calls.ncclCommAbort(communicators[rank->index]);
}

#else

static int open_nccl(int ranks, const int *devices, char *why, size_t room)
{
    (void)ranks, (void)devices;
    return snprintf(why, room, "the program was built without nccl.h and cuda_runtime.h"), 0;
}

static const char *sum(Rank *rank, void *halves, size_t count, tile_stream stream)
{
    (void)rank, (void)halves, (void)count, (void)stream;
    return "there is none";
}

static const char *fault(const Rank *rank)
{
    (void)rank;
    return NULL;
}

static void stop(const Rank *rank)
{
    (void)rank;
}

static void close_nccl(void)
{
}

#endif

const Reducer nccl = {"NCCL", 1, open_nccl, sum, fault, stop, close_nccl};
