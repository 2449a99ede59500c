/* target.h: facts about the GPUs that code is made for. Passes ask for facts, never for names. */
#ifndef TILEC_TARGET_H
#define TILEC_TARGET_H

#include "base/base.h"

/* What PTX says of every target. */
enum {
    WARP_SIZE = 32,           /* threads of a warp */
    WARP_BITS = 5,            /* of a thread's index in its warp */
    WARPGROUP_SIZE = 128,     /* threads of a warpgroup */
    WARPGROUP_BITS = 7,       /* of a thread's index in its warpgroup */
    MAX_BLOCK_THREADS = 1024, /* of a block, on every target */
    NAMED_BARRIERS = 16,      /* of a block; 0 is the whole block's */
    REGISTER_BYTES = 4,       /* of a thread's register */
    REGISTER_BITS = 32,       /* the same */
    CP_ASYNC_LEAST = 4,       /* bytes of a cp.async, at least */
    ACCESS_BYTES = 16,       /* of a thread's widest access of memory, and of its widest cp.async */
    SECTOR_BYTES = 32,       /* of global memory, that are read and written together */
    CACHE_LINE_BYTES = 128,  /* of L2: four sectors */
    SWIZZLE_ROWS = 8,        /* after which the pattern of a swizzle begins anew */
    SWIZZLE_ROW_BYTES = 128, /* of a row of the widest swizzle */
    SWIZZLE_ATOM_BYTES = 1024, /* SWIZZLE_ROWS such rows: what a swizzled tile is aligned to */
    TMA_ALIGN = 128,           /* of a box in shared memory without a swizzle, in bytes */
    TMA_UNIT_BYTES = 16,       /* rows and strides of what TMA copies are multiples of these */
    MBARRIER_BYTES = 1 << 20,  /* that one phase of an mbarrier may wait for, and one more */
    SETMAXNREG_LEAST = 24,     /* registers that setmaxnreg leaves a thread at least */
};

typedef enum TargetFeature {
    HAS_MMA = 1 << 0, /* mma.sync m16n8k16 on f16 and bf16 */
    HAS_LDMATRIX = 1 << 1,
    HAS_STMATRIX = 1 << 2,
    HAS_CP_ASYNC = 1 << 3,
    HAS_FP8_MMA = 1 << 4,
    HAS_F64_MMA = 1 << 5,       /* mma.sync m8n8k4 on f64 */
    HAS_WIDE_F64_MMA = 1 << 18, /* and m16n8k8 */
    HAS_WGMMA = 1 << 6,
    HAS_TMA = 1 << 7, /* and mbarriers that wait for bytes */
    HAS_CLUSTER = 1 << 8,
    IS_PORTABLE = 1 << 9,      /* PTX, which the driver of any later GPU compiles */
    HAS_MULTICAST = 1 << 10,   /* TMA loads to several blocks of a cluster */
    HAS_PDL = 1 << 11,         /* griddepcontrol: programmatic dependent launch */
    HAS_SETMAXNREG = 1 << 12,  /* warpgroups give registers to each other */
    HAS_ASYNC_PROXY = 1 << 13, /* what threads write is fenced before TMA and wgmma read it */
    HAS_ELECT = 1 << 14,       /* elect.sync */
    HAS_VECTOR_RED = 1 << 17,  /* red of vectors, atomics of bf16 */
    HAS_BF16_CAST = 1 << 19,   /* integers become bf16 by one instruction */
    /* what a kernel that needs too many registers is compiled without */
    MAY_OVERLAP = 1 << 15,    /* products of an iteration under work of the next one */
    MAY_PLAN = 1 << 16,       /* loops of several products, or of other work beside them, by plan */
    MAY_FLY = 1 << 24,        /* products of a loop by plan under work of their iteration */
    MAY_MERGE = 1 << 25,      /* blocks of products with their neighbours */
    MAY_HOLD = 1 << 20,       /* what loops of products copy, ahead in registers */
    MAY_READ_EARLY = 1 << 21, /* memory, long before what is read is used */
    MAY_READ_FIRST = 1 << 26, /* memory that stays as it is, before the barriers in between */
    MAY_SHARE = 1 << 22,      /* an index or a condition by uses that are far from each other */
    MAY_UNROLL = 1 << 27,     /* products by fma along k, as one straight line */
    MAY_ADD_WARP = 1 << 23,   /* one of producers, which gives no registers to the consumers */
} TargetFeature;

typedef struct Target {
    const char *name, *description;
    int number;  /* 90 for sm_90a */
    char suffix; /* 'a' or 0 */
    int ptx;     /* 86: PTX 8.6 */
    unsigned features;
    int sm_count, clock_mhz; /* multiprocessors; their boost clock */
    int partitions; /* of a multiprocessor: each has a scheduler and a part of the registers */
    int registers;  /* of a multiprocessor */
    int registers_per_thread; /* at most */
    int register_unit;        /* a thread's number of registers is rounded up to a multiple */
    int threads_per_block, threads_per_sm, blocks_per_sm; /* at most */
    int shared_bytes;                                     /* the most a block may have */
    int shared_reserved; /* bytes that the system takes of shared memory for each block */
} Target;

/* The row whose code runs best on a chip of this compute capability; NULL if none runs. */
const Target *target_for_chip(int number);
bool target_has(const Target *target, TargetFeature feature);
/* The first CUDA toolkit whose ptxas reads the target's PTX, as "12.8". */
const char *target_toolkit(const Target *target);
const Target *target_find(const char *name); /* NULL if there is none */
const Target *target_at(size_t index);       /* NULL past the end */

/* What is built where --arch does not say: the chips at hand, and PTX for all that are newer. */
#define ARCH_DEFAULT "sm_90a,sm_80,compute_80"

/* One thing to build for, as parsed from --arch. */
typedef struct ArchChoice {
    const Target *target; /* whose thread program */
    bool emulator;        /* run it on the CPU */
} ArchChoice;

typedef struct ArchList {
    ArchChoice *items;
    size_t count;
} ArchList;

/* "sm_90a,sm_80,emulator" or "emulator:sm_80"; reports and returns false on an unknown name.
 * A plain "emulator" takes the first GPU of the list, else sm_90a. */
bool arch_parse(Session *session, const char *text, ArchList *out);

#endif
