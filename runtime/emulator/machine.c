/* machine.c: the cooperative operations of a warp, from their definition in the PTX ISA manual,
 * sections "shfl.sync", "redux.sync", "vote.sync", "ldmatrix" and "bar.warp.sync". The matrix unit
 * is mma.c. */
#include <string.h>

#include "emulator/checker.h"

/* shfl.sync with clamp 0x1f (0 for .up) and no segments: a lane whose source is out of range gets
 * its own value. Only the low five bits of the second operand count. */
static void execute_shuffle(Thread *lanes)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t operand = lanes[lane].abi.in[1] & 31, source = lane;
        switch ((tile_emu_shuffle)lanes[lane].abi.mode) {
        case TILE_EMU_SHUFFLE_IDX: source = operand; break;
        case TILE_EMU_SHUFFLE_UP: source = operand <= lane ? lane - operand : lane; break;
        case TILE_EMU_SHUFFLE_DOWN: source = lane + operand < LANES ? lane + operand : lane; break;
        case TILE_EMU_SHUFFLE_XOR: source = lane ^ operand; break;
        }
        lanes[lane].abi.out[0] = lanes[source].abi.in[0];
    }
}

static uint32_t combine(tile_emu_redux mode, uint32_t a, uint32_t b)
{
    switch (mode) {
    case TILE_EMU_REDUX_ADD: return a + b;
    case TILE_EMU_REDUX_AND: return a & b;
    case TILE_EMU_REDUX_OR: return a | b;
    case TILE_EMU_REDUX_XOR: return a ^ b;
    case TILE_EMU_REDUX_MIN: return (int32_t)a < (int32_t)b ? a : b;
    case TILE_EMU_REDUX_MAX: return (int32_t)a > (int32_t)b ? a : b;
    case TILE_EMU_REDUX_UMIN: return a < b ? a : b;
    case TILE_EMU_REDUX_UMAX: return a > b ? a : b;
    }
    return a;
}

/* redux.sync of all lanes. */
static void execute_redux(Thread *lanes)
{
    uint32_t all = lanes->abi.in[0];
    for (uint32_t lane = 1; lane < LANES; lane++)
        all = combine((tile_emu_redux)lanes->abi.mode, all, lanes[lane].abi.in[0]);
    for (uint32_t lane = 0; lane < LANES; lane++) lanes[lane].abi.out[0] = all;
}

/* vote.sync.ballot of all lanes. */
static void execute_vote(Thread *lanes)
{
    uint32_t votes = 0;
    for (uint32_t lane = 0; lane < LANES; lane++)
        votes |= (uint32_t)(lanes[lane].abi.in[0] != 0) << lane;
    for (uint32_t lane = 0; lane < LANES; lane++) lanes[lane].abi.out[0] = votes;
}

static uintptr_t row_address(const Thread *thread)
{
    uint64_t address;
    memcpy(&address, thread->abi.in, sizeof address);
    return (uintptr_t)address;
}

/* Row by row one matrix, 16 bytes each, whose addresses `suppliers` hold. */
static void move_rows(Block *block, Thread *suppliers, uint16_t rows[8][8], uint32_t kind)
{
    for (uint32_t row = 0; row < 8; row++) {
        Thread *thread = &suppliers[row];
        Request request = {.thread = thread,
                           .block = block,
                           .address = row_address(thread),
                           .bytes = 16,
                           .kind = kind,
                           .space = TILE_EMU_SHARED,
                           .site = thread->abi.site};
        void *place = block->launch->checker ? tile_emu_check(&request) : (void *)request.address;
        if (kind == TILE_EMU_READ)
            memcpy(rows[row], place, 16);
        else
            memcpy(place, rows[row], 16);
    }
}

/* Lane l gets the elements (l / 4, 2 (l mod 4)) and the next in its row; of the transposed matrix
 * where .trans says so. */
static void deal_matrix(Thread *lanes, uint32_t word, uint16_t rows[8][8], bool transposed)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t i = lane / 4, j = lane % 4 * 2;
        uint32_t low = transposed ? rows[j][i] : rows[i][j];
        uint32_t high = transposed ? rows[j + 1][i] : rows[i][j + 1];
        lanes[lane].abi.out[word] = low | high << 16;
    }
}

/* The elements of which ldmatrix gives them to their lanes. */
static void collect_matrix(const Thread *lanes, uint32_t word, uint16_t rows[8][8], bool transposed)
{
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint32_t i = lane / 4, j = lane % 4 * 2, both = lanes[lane].abi.in[4 + word];
        *(transposed ? &rows[j][i] : &rows[i][j]) = (uint16_t)both;
        *(transposed ? &rows[j + 1][i] : &rows[i][j + 1]) = (uint16_t)(both >> 16);
    }
}

/* A phase is one matrix: 8 rows of 16 bytes meet the 32 banks. */
static void count_phases(Block *block, const Thread *lanes, uint32_t count, uint32_t operation)
{
    uintptr_t address[LANES];
    for (uint32_t lane = 0; lane < LANES; lane++) address[lane] = row_address(&lanes[lane]);
    uint32_t mask = count == 4 ? UINT32_MAX : (1u << 8 * count) - 1, ideal = 0;
    uint32_t passes = tile_emu_bank_passes(address, mask, 16, &ideal);
    tile_emu_note_operation(block->launch->checker->statistics, lanes->abi.site, operation, passes,
                            ideal);
}

/* Matrix m takes its row addresses from lanes 8m to 8m + 7; those of the other lanes do not matter.
 */
static uint32_t matrix_count(const Thread *lanes)
{
    return lanes->abi.in[2] > 4 ? 4 : lanes->abi.in[2];
}

static void execute_ldmatrix(Block *block, Thread *lanes)
{
    const uint32_t count = matrix_count(lanes);
    uint16_t rows[4][8][8];
    for (uint32_t m = 0; m < count; m++) move_rows(block, lanes + 8 * m, rows[m], TILE_EMU_READ);
    for (uint32_t m = 0; m < count; m++) deal_matrix(lanes, m, rows[m], lanes->abi.in[3] != 0);
    if (block->launch->checker) count_phases(block, lanes, count, TILE_EMULATOR_LDMATRIX);
}

static void execute_stmatrix(Block *block, Thread *lanes)
{
    const uint32_t count = matrix_count(lanes);
    uint16_t rows[8][8];
    tile_emu_cycle_changed(block);
    for (uint32_t m = 0; m < count; m++) {
        collect_matrix(lanes, m, rows, lanes->abi.in[3] != 0);
        move_rows(block, lanes + 8 * m, rows, TILE_EMU_WRITE);
    }
    if (block->launch->checker) count_phases(block, lanes, count, TILE_EMULATOR_STMATRIX);
}

static void count_execution(Block *block, const Thread *lanes, uint32_t operation)
{
    if (block->launch->checker)
        tile_emu_note_operation(block->launch->checker->statistics, lanes->abi.site, operation, 0,
                                0);
}

static bool is_relaxed(const Thread *lanes)
{
    bool untold = false;
    for (uint32_t lane = 0; lane < LANES; lane++) untold |= lanes[lane].has_untold;
    return lanes->abi.mode == TILE_EMU_ARRIVE_RELAXED ||
           (lanes->abi.mode == TILE_EMU_ARRIVE_MADE && untold);
}

void tile_emu_execute(Block *block, Thread *lanes)
{
    switch (lanes->abi.op) {
    case TILE_EMU_WARP_SYNC:
        if (block->launch->checker && !lanes->abi.mode) tile_emu_check_warp_sync(block, lanes);
        count_execution(block, lanes, TILE_EMULATOR_WARP_SYNC);
        return;
    case TILE_EMU_SHUFFLE:
        execute_shuffle(lanes);
        count_execution(block, lanes, TILE_EMULATOR_SHUFFLE);
        return;
    case TILE_EMU_REDUX:
        execute_redux(lanes);
        count_execution(block, lanes, TILE_EMULATOR_SHUFFLE);
        return;
    case TILE_EMU_VOTE:
        execute_vote(lanes);
        count_execution(block, lanes, TILE_EMULATOR_VOTE);
        return;
    case TILE_EMU_LDMATRIX: execute_ldmatrix(block, lanes); return;
    case TILE_EMU_STMATRIX: execute_stmatrix(block, lanes); return;
    case TILE_EMU_MMA:
        block->launch->matrix(lanes, lanes->abi.mode);
        count_execution(block, lanes, TILE_EMULATOR_MMA);
        return;
    case TILE_EMU_WGMMA:
        tile_emu_execute_wgmma(block, lanes);
        count_execution(block, lanes, TILE_EMULATOR_MMA);
        return;
    case TILE_EMU_CLUSTER_ARRIVE:
        tile_emu_cluster_arrive(block, lanes, is_relaxed(lanes));
        count_execution(block, lanes, TILE_EMULATOR_BARRIER);
        return;
    default: /* code of a newer compiler */
        tile_emu_fault_add(block->launch, FAULT_DEADLOCK, lanes->abi.site, NO_SITE,
                           "operation %u is unknown to this emulator", lanes->abi.op);
        block->launch->stopped = true;
    }
}
