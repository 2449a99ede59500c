/* emulator.h: how the emulator checks, and what it counted.
 *
 * Link with -ltile_emulator -ltile. A launch on the emulator is checked unless TILE_EMULATOR=fast
 * is in the environment or the program says otherwise: its blocks run one after another, every
 * access to memory is watched, and faults end in TILE_ERROR_FAULT with the whole list in
 * tile_last_error(). A fast launch runs blocks on all cores and finds only divergence and deadlock.
 */
#ifndef TILE_EMULATOR_H
#define TILE_EMULATOR_H

#include "tile/tile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tile_emulator_operation {
    TILE_EMULATOR_GLOBAL_READ,
    TILE_EMULATOR_GLOBAL_WRITE,
    TILE_EMULATOR_GLOBAL_ATOMIC,
    TILE_EMULATOR_SHARED_READ,
    TILE_EMULATOR_SHARED_WRITE,
    TILE_EMULATOR_SHARED_ATOMIC,
    TILE_EMULATOR_LDMATRIX,
    TILE_EMULATOR_STMATRIX,
    TILE_EMULATOR_MMA,
    TILE_EMULATOR_SHUFFLE,
    TILE_EMULATOR_WARP_SYNC,
    TILE_EMULATOR_BARRIER,
    TILE_EMULATOR_VOTE,
    TILE_EMULATOR_OPERATIONS /* how many there are */
} tile_emulator_operation;

/* What one kind of operation at one place in the source cost, summed over the warps of a launch.
 * Lanes whose n-th access at a place falls between the same two cooperative operations count as one
 * warp access. */
typedef struct tile_emulator_count {
    const char *file; /* the image's: valid while its code is loaded */
    uint32_t line, column;
    uint32_t operation;      /* tile_emulator_operation */
    uint64_t executions;     /* by a warp */
    uint64_t transactions;   /* shared: passes over the banks; global: 32-byte sectors */
    uint64_t ideal;          /* the fewest transactions for the same bytes */
    uint64_t bank_conflicts; /* shared: transactions beyond the ideal */
} tile_emulator_count;

/* A texture object of the emulator's, whose handle is its address: what kernels that are given the
 * handle of a driver's texture object read there. Levels of mipmaps follow one another, each half
 * of the one before along each dimension, at least 1. */
typedef struct tile_emulator_texture {
    const void *const *levels; /* the texels of each, x counting fastest, channels side by side */
    uint32_t level_count;
    uint32_t extents[3]; /* of the first level: width, height, depth; 1 where it has fewer */
    uint32_t channels;   /* 1, 2 or 4; those that are missing are 0, the last one 1 */
    uint32_t format;     /* as the driver counts them: CUarray_format */
    uint32_t address[3]; /* CUaddress_mode: 0 wraps, 1 clamps, 2 mirrors, 3 is 0 outside */
    uint32_t linear, linear_levels; /* nonzero: not the nearest texel or level, but between them */
    uint32_t normalized;            /* nonzero: coordinates from 0 to 1, and else in texels of the
                            first level */
} tile_emulator_texture;

/* 1 checks this process's later launches, 2 does so with the last thread first, 0 does not; -1 goes
 * back to the environment: TILE_EMULATOR=checked, backwards or fast. What orders atomics is the
 * order in which they happened to come: a race that one order hides the other may show. */
TILE_API void tile_emulator_set_checked(int checked);

/* Nonzero: the calling thread's later launches run one thread behind another, in the order of their
 * numbers. What threads read and write in global memory, and nothing else orders, goes by that, and
 * is no race. */
TILE_API void tile_emulator_set_in_turn(int in_turn);

/* Of the calling thread's checked launches since it last asked: stores that nothing orders, of the
 * same bytes by several threads or blocks. They are no faults: the calls succeed. A line each, as
 * in the text of an error; "": none. */
TILE_API const char *tile_emulator_benign_races(void);

/* Counts of the last checked launch that ended in this process, by place: fills at most `capacity`
 * of them and returns how many there are. */
TILE_API size_t tile_emulator_statistics(tile_emulator_count *out, size_t capacity);

/* Later launches of code that was compiled for it do without the op of this number; 0: without
 * none. And whether some thread has come to it since the process began: 1 where that would have
 * made no difference, since it is a condition that held, 2 where it would. */
TILE_API void tile_emulator_leave_out(uint32_t number);
TILE_API int tile_emulator_came_to(uint32_t number);
/* What the launches since then, as far as they were checked, show of why nobody misses it;
 * returns how much that says, from 0 to 2. */
TILE_API int tile_emulator_evidence(const char **text);
/* Whether another order of threads may show something else: some are ordered by what happened to
 * come first; 2: what memory holds may go by that, too. */
TILE_API int tile_emulator_goes_by_chance(void);
/* Of what memory held at the end of each launch since then, if launches end with their first fault:
 * equal where that is. */
TILE_API uint64_t tile_emulator_digest(void);
/* Nonzero: a launch ends with its first fault. */
TILE_API void tile_emulator_stop_at_fault(int stops);

TILE_API const char *tile_emulator_operation_name(uint32_t operation);

#ifdef __cplusplus
}
#endif

#endif
