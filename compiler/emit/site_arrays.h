/* site_arrays.h: what the emulator says of a kernel's arguments; private to this folder. */
#ifndef TILEC_EMIT_SITE_ARRAYS_H
#define TILEC_EMIT_SITE_ARRAYS_H

#include "emit/emit.h"

/* A number of the code's own, or a parameter. */
typedef struct ArrayNumber {
    int64_t value;
    int parameter; /* -1: none */
} ArrayNumber;

/* What a pointer parameter is taken for, as tile_emu_array has it. */
typedef struct SiteArray {
    Name name; /* NULL: it is no such parameter */
    int element_bits;
    int rank; /* 0: not known */
    ArrayNumber shape[TYPE_RANK], strides[TYPE_RANK];
} SiteArray;

/* One a parameter of a kernel that is TYPED. */
const SiteArray *site_arrays(Arena *arena, const Kernel *typed);

#endif
