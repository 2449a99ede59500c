/* fake_graphs.c: the driver of fake_cuda.c with what programs use beside libtile: contexts, streams
 * and graphs. A captured stream that does not join the one that is captured fails there, as in the
 * driver. FAKE_CUDA_BUSY=N: streams of device N are never done. */
#include "fake_cuda.c"

enum {
    STREAM_IS_CAPTURED = 900,
    NOT_READY = 600,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    STREAMS = 64
};

/* A stream that a capture took in by an event. */
typedef struct Taken {
    fake_stream *origin; /* whose capture it is; NULL: it is in none */
    int is_joined;       /* its own event was waited for since */
} Taken;

static fake_stream streams[STREAMS];
static Taken taken[STREAMS];
static int stream_count;

#define CALLS(CALL)                                                                                \
    CALL(cuCtxSetCurrent, (CUcontext context))                                                     \
    CALL(cuCtxGetStreamPriorityRange, (int *least, int *most))                                     \
    CALL(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority))        \
    CALL(cuStreamDestroy_v2, (CUstream stream))                                                    \
    CALL(cuStreamQuery, (CUstream stream))                                                         \
    CALL(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))                  \
    CALL(cuStreamBeginCapture_v2, (CUstream stream, int mode))                                     \
    CALL(cuStreamEndCapture, (CUstream stream, void **graph))                                      \
    CALL(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags))        \
    CALL(cuGraphLaunch, (void *exec, CUstream stream))                                             \
    CALL(cuGraphDestroy, (void *graph))                                                            \
    CALL(cuGraphExecDestroy, (void *exec))
#define EXPORTED(name, parameters) EXPORT CUresult name parameters;
CALLS(EXPORTED)

static __attribute__((constructor)) void two_devices(void)
{
    state.device_count = 2;
    state.compute[1] = 90;
}

static fake_stream *of(CUstream stream)
{
    return (fake_stream *)(void *)stream;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    ENTER();
    depth = 0;
    push((fake_context *)(void *)context);
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *most)
{
    ENTER();
    *least = 0;
    *most = -5;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    ENTER();
    if (flags > 1 || priority > 0 || priority < -5 || stream_count == STREAMS || !depth)
        return leave(1);
    fake_stream *made = &streams[stream_count++];
    *made = (fake_stream){.context = stack[depth - 1], .id = 5000 + (unsigned)stream_count};
    *stream = (CUstream)(void *)made;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    ENTER();
    return leave(of(stream)->capturing ? 1 : CUDA_SUCCESS);
}

CUresult cuStreamQuery(CUstream stream)
{
    const char *busy = getenv("FAKE_CUDA_BUSY");
    ENTER();
    if (of(stream)->capturing) return leave(STREAM_IS_CAPTURED);
    return leave(busy && atoi(busy) == of(stream)->context->device ? NOT_READY : CUDA_SUCCESS);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    ENTER();
    fake_stream *on = of(stream), *from = ((fake_event *)(void *)event)->captured;
    if (flags) return leave(1);
    if (!from) return leave(on->capturing ? CAPTURE_ISOLATION : CUDA_SUCCESS);
    Taken *giver = &taken[from - streams], *taker = &taken[on - streams];
    if (!on->capturing) taker->origin = giver->origin ? giver->origin : from;
    on->capturing = 1;
    taker->is_joined = 0;
    giver->is_joined = 1;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    ENTER();
    if (mode < 0 || mode > 2 || of(stream)->capturing) return leave(1);
    of(stream)->capturing = 1;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamEndCapture(CUstream stream, void **graph)
{
    ENTER();
    CUresult result = of(stream)->capturing ? CUDA_SUCCESS : 1;
    of(stream)->capturing = 0;
    for (int i = 0; i < stream_count; i++) {
        if (taken[i].origin != of(stream)) continue;
        if (!taken[i].is_joined) result = CAPTURE_UNJOINED;
        streams[i].capturing = 0;
        taken[i] = (Taken){0};
    }
    *graph = result == CUDA_SUCCESS ? malloc(1) : NULL;
    return leave(result);
}

CUresult cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    ENTER();
    if (!graph || (flags & ~8ULL)) return leave(1); /* by node priorities, or not */
    *exec = malloc(1);
    return leave(CUDA_SUCCESS);
}

CUresult cuGraphLaunch(void *exec, CUstream stream)
{
    ENTER();
    return leave(!exec || of(stream)->capturing);
}

CUresult cuGraphDestroy(void *graph)
{
    free(graph);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(void *exec)
{
    free(exec);
    return CUDA_SUCCESS;
}
