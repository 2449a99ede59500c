# Ranks of the sample tensor_parallel on a driver and an NCCL that pretend: what is captured, and who hears of a rank that fails.
echo '#include <nccl.h>' | $TILE_CC -I/usr/local/cuda/include -x c -fsyntax-only - 2>/dev/null || { echo 'needs nccl.h'; exit 77; }
sample=$TILE_ROOT/samples/tensor_parallel
cd $TMP
export TILE_CUDA_LIBRARY=$TILE_BUILD/unit/libfake_graphs.so NCCL_LIBRARY=$TMP/libnccl.so
cat > nccl.c <<'END'
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
static struct ncclComm { int rank; } ranks[64];
ncclResult_t ncclGetVersion(int *version) { *version = 22703; return ncclSuccess; }
ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices)
{
    for (int i = 0; i < count; i++) comms[i] = &ranks[i], ranks[i].rank = i;
    return getenv("NCCL_FAILS") || devices[0] ? ncclSystemError : ncclSuccess;
}
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
    return from == to && count == 64 && type == ncclHalf && op == ncclSum && comm && stream ? ncclSuccess : ncclInvalidArgument;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    *error = getenv("NCCL_BREAKS") && comm->rank == 1 ? ncclRemoteError : ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return fprintf(stderr, "rank %d aborts\n", comm->rank), ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return fprintf(stderr, "rank %d goes\n", comm->rank), ncclSuccess; }
const char *ncclGetErrorString(ncclResult_t error) { return error == ncclRemoteError ? "a remote error" : "an error"; }
END
cat > main.c <<'END'
#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *wanted; /* what is to happen */

static void work(Rank *rank, int joins)
{
    static char halves[128];
    gpu_follow(rank, rank->reduce, rank->compute);
    rank_sum(rank, halves, 64);
    if (joins) gpu_follow(rank, rank->compute, rank->reduce);
}

static void run(Rank *rank, void *unused)
{
    const struct timespec hour = {3600, 0};
    (void)unused;
    gpu_open(rank);
    rank_meet(rank);
    rank->doing = "working";
    if (!strcmp(wanted, "sleep") && rank->index == 1) nanosleep(&hour, NULL);
    if (!strcmp(wanted, "fail") && rank->index == 1) rank_fail(rank, "told to fail");
    work(rank, 1);
    gpu_wait(rank);
    gpu_record(rank);
    work(rank, rank->index == 0 || strcmp(wanted, "leave") != 0);
    Graph *graph = gpu_recorded(rank);
    gpu_time(rank);
    gpu_launch(rank, graph);
    if (gpu_timed(rank) != 0) rank_fail(rank, "another time");
    gpu_free(rank, graph);
    rank_meet(rank);
    gpu_close(rank);
}

int main(int count, char **words)
{
    static const int devices[] = {0, 1};
    Team team = {.size = 2, .reducer = &nccl, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    Rank ranks[] = {{.team = &team, .device = 0}, {.team = &team, .index = 1, .device = 1}};
    wanted = count > 1 ? words[1] : "";
    if (!gpu_find()) return 1;
    if (!nccl.open(2, devices, team.why, sizeof team.why)) return fprintf(stderr, "%s\n", team.why), 3;
    const int status = team_run(&team, ranks, run, NULL, 4);
    if (!status) nccl.close();
    return status;
}
END
sed -i '1i #include <stdio.h>' main.c
flags="-std=c99 -D_GNU_SOURCE -I/usr/local/cuda/include -I$TILE_ROOT/runtime/include -I$sample"
$TILE_CC $flags -shared -fPIC -o libnccl.so nccl.c
$TILE_CC $flags -o ranks main.c $sample/{team,gpu,nccl}.c $TILE_BUILD/libtile.a -lpthread -ldl -lm
try() { echo "== $*"; "$@" 2>&1 | LC_ALL=C sort; echo "status ${PIPESTATUS[0]}"; }
try ./ranks
try ./ranks sleep
try ./ranks leave
FAKE_CUDA_BUSY=0 try ./ranks fail
FAKE_CUDA_BUSY=0 try ./ranks
NCCL_BREAKS=1 try ./ranks
NCCL_FAILS=1 try ./ranks
TILE_CUDA_LIBRARY=$TMP/none.so try ./ranks
