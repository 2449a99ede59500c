/* gpu.c: the driver's functions are found at run time, so that the program starts without a GPU,
 * and is built without CUDA. */
#include "gpu.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS(CALL)                                                                                \
    CALL(init, cuInit, (unsigned))                                                                 \
    CALL(error_name, cuGetErrorName, (int, const char **))                                         \
    CALL(device, cuDeviceGet, (int *, int))                                                        \
    CALL(retain, cuDevicePrimaryCtxRetain, (void **, int))                                         \
    CALL(set_current, cuCtxSetCurrent, (void *))                                                   \
    CALL(priorities, cuCtxGetStreamPriorityRange, (int *, int *))                                  \
    CALL(new_stream, cuStreamCreateWithPriority, (void **, unsigned, int))                         \
    CALL(free_stream, cuStreamDestroy_v2, (void *))                                                \
    CALL(query, cuStreamQuery, (void *))                                                           \
    CALL(wait_event, cuStreamWaitEvent, (void *, void *, unsigned))                                \
    CALL(new_event, cuEventCreate, (void **, unsigned))                                            \
    CALL(free_event, cuEventDestroy_v2, (void *))                                                  \
    CALL(record_event, cuEventRecord, (void *, void *))                                            \
    CALL(elapsed, cuEventElapsedTime, (float *, void *, void *))                                   \
    CALL(begin_capture, cuStreamBeginCapture_v2, (void *, int))                                    \
    CALL(end_capture, cuStreamEndCapture, (void *, void **))                                       \
    CALL(instantiate, cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))          \
    CALL(launch, cuGraphLaunch, (void *, void *))                                                  \
    CALL(free_graph, cuGraphDestroy, (void *))                                                     \
    CALL(free_exec, cuGraphExecDestroy, (void *))

static struct {
#define FIELD(field, symbol, parameters) int(*field) parameters;
    CALLS(FIELD)
} cuda;

enum { NOT_READY = 600, NON_BLOCKING = 1, NO_TIMING = 2, OF_THIS_THREAD = 1, NODE_PRIORITIES = 8 };

/* ISO C has no cast from an object pointer to a function pointer: the bytes are copied. */
static int find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

int gpu_find(void)
{
    const char *named = getenv("TILE_CUDA_LIBRARY");
    void *library = dlopen(named && *named ? named : "libcuda.so.1", RTLD_NOW);
    int found = library != NULL;
#define FIND(field, symbol, parameters) found = found && find(library, #symbol, &cuda.field);
    CALLS(FIND)
    return found && cuda.init(0) == 0;
}

static void must(Rank *rank, int result, const char *call)
{
    const char *name = NULL;
    if (result && cuda.error_name(result, &name)) name = NULL;
    if (result) rank_fail(rank, "%s: %s (%d)", call, name ? name : "an unknown error", result);
}

static int is_emulated(const Rank *rank)
{
    return rank->device < 0;
}

/* ---- context and streams --------------------------------------------------------------------- */

static tile_stream new_stream(Rank *rank, int priority)
{
    void *stream = NULL;
    must(rank, cuda.new_stream(&stream, NON_BLOCKING, priority), "cuStreamCreateWithPriority");
    return stream;
}

/* The primary context stays: code that is loaded into it is for the next team, too. */
void gpu_open(Rank *rank)
{
    int device, least, most;
    void *context = NULL;
    rank->compute = rank->reduce = NULL;
    for (int i = 0; i < LANES; i++) rank->lanes[i] = NULL;
    if (is_emulated(rank)) return;
    must(rank, cuda.device(&device, rank->device), "cuDeviceGet");
    must(rank, cuda.retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(rank, cuda.set_current(context), "cuCtxSetCurrent");
    must(rank, cuda.priorities(&least, &most), "cuCtxGetStreamPriorityRange");
    rank->compute = new_stream(rank, least);
    rank->reduce = new_stream(rank, most);
    for (int i = 0; i < LANES; i++)
        rank->lanes[i] = new_stream(rank, most + 1 + i < least ? most + 1 + i : least);
}

void gpu_close(Rank *rank)
{
    if (is_emulated(rank)) return;
    must(rank, cuda.free_stream(rank->compute), "cuStreamDestroy");
    must(rank, cuda.free_stream(rank->reduce), "cuStreamDestroy");
    for (int i = 0; i < LANES; i++) must(rank, cuda.free_stream(rank->lanes[i]), "cuStreamDestroy");
}

void gpu_follow(Rank *rank, tile_stream later, tile_stream earlier)
{
    void *event = NULL;
    if (is_emulated(rank)) return;
    must(rank, cuda.new_event(&event, NO_TIMING), "cuEventCreate");
    must(rank, cuda.record_event(event, earlier), "cuEventRecord");
    must(rank, cuda.wait_event(later, event, 0), "cuStreamWaitEvent");
    must(rank, cuda.free_event(event), "cuEventDestroy"); /* when it is no more needed */
}

/* A thread that slept in the driver would not hear that another rank has failed. */
static void wait_for(Rank *rank, tile_stream stream)
{
    const struct timespec nap = {0, 20000};
    int result;
    while ((result = cuda.query(stream)) == NOT_READY) {
        rank_check(rank);
        nanosleep(&nap, NULL);
    }
    must(rank, result, "cuStreamQuery");
}

void gpu_wait(Rank *rank)
{
    if (!is_emulated(rank)) wait_for(rank, rank->compute);
    if (!is_emulated(rank)) wait_for(rank, rank->reduce);
    rank_check(rank);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

struct Graph {
    void *graph, *exec;
};

void gpu_record(Rank *rank)
{
    must(rank, cuda.begin_capture(rank->compute, OF_THIS_THREAD), "cuStreamBeginCapture");
}

Graph *gpu_recorded(Rank *rank)
{
    Graph *graph = calloc(1, sizeof *graph);
    if (!graph) rank_fail(rank, "out of memory");
    must(rank, cuda.end_capture(rank->compute, &graph->graph), "cuStreamEndCapture");
    /* else all of it has the priority of the stream that it is launched on */
    must(rank, cuda.instantiate(&graph->exec, graph->graph, NODE_PRIORITIES), "cuGraphInstantiate");
    return graph;
}

void gpu_launch(Rank *rank, Graph *graph)
{
    must(rank, cuda.launch(graph->exec, rank->compute), "cuGraphLaunch");
}

void gpu_free(Rank *rank, Graph *graph)
{
    must(rank, cuda.free_exec(graph->exec), "cuGraphExecDestroy");
    must(rank, cuda.free_graph(graph->graph), "cuGraphDestroy");
    free(graph);
}

/* ---- times ----------------------------------------------------------------------------------- */

static _Thread_local void *start;

static void *now(Rank *rank)
{
    void *event = NULL;
    must(rank, cuda.new_event(&event, 0), "cuEventCreate");
    must(rank, cuda.record_event(event, rank->compute), "cuEventRecord");
    return event;
}

void gpu_time(Rank *rank)
{
    start = now(rank);
}

float gpu_timed(Rank *rank)
{
    void *end = now(rank);
    float milliseconds = 0;
    wait_for(rank, rank->compute);
    must(rank, cuda.elapsed(&milliseconds, start, end), "cuEventElapsedTime");
    must(rank, cuda.free_event(start), "cuEventDestroy");
    must(rank, cuda.free_event(end), "cuEventDestroy");
    return milliseconds;
}
