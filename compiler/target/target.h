/* target.h: facts about the GPUs that code is made for. Passes ask for facts, never for names. */
#ifndef TILEC_TARGET_H
#define TILEC_TARGET_H

#include "base/base.h"

typedef enum TargetFeature {
    HAS_MMA = 1 << 0, /* mma.sync m16n8k16 on f16 and bf16 */
    HAS_LDMATRIX = 1 << 1,
    HAS_STMATRIX = 1 << 2,
    HAS_CP_ASYNC = 1 << 3,
    HAS_FP8_MMA = 1 << 4,
    HAS_F64_MMA = 1 << 5,
    HAS_WGMMA = 1 << 6,
    HAS_TMA = 1 << 7,
    HAS_CLUSTER = 1 << 8,
    IS_PORTABLE = 1 << 9, /* PTX, which the driver of any later GPU compiles */
} TargetFeature;

typedef struct Target {
    const char *name, *description;
    int number;       /* 90 for sm_90a */
    char suffix;      /* 'a' or 0 */
    int warp;         /* threads */
    int shared_bytes; /* the most a block may have */
    int registers;    /* of a block's multiprocessor */
    unsigned features;
    int ptx; /* 86: PTX 8.6 */
} Target;

/* The row whose code runs best on a chip of this compute capability; NULL if none runs. */
const Target *target_for_chip(int number);
bool target_has(const Target *target, TargetFeature feature);
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
