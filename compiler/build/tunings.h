/* tunings.h: tuning files: what was measured, as reviewable text, an input of later compiles. */
#ifndef TILEC_BUILD_TUNINGS_H
#define TILEC_BUILD_TUNINGS_H

#include "build/build.h"

typedef struct Named { /* a name with a number or a text */
    const char *name;
    const char *text; /* or NULL */
    double number;
} Named;
typedef VEC(Named) NamedVec;

/* One kernel's specialisation, for sizes of one class, on one device. */
typedef struct Tuning {
    const char *kernel; /* as the source calls it */
    NamedVec keys, sizes;
    const char *device; /* "*": any */
    int compute, driver;
    const char *choice; /* a configuration */
    NamedVec times;     /* configurations with milliseconds */
} Tuning;

typedef struct Tunings Tunings;
struct Tunings {
    VEC(Tuning) items; /* sorted: those of one device before those of any */
};

/* Adds what a file holds: what is measured of the same things later replaces what was before.
 * False: reported. */
bool tunings_read(Session *session, const char *path, Tunings *tunings);
void tunings_add(Arena *arena, Tunings *tunings, const Tuning *tuning);
void tunings_write(const Tunings *tunings, Buf *out);
/* A table for people: each entry's configurations, the fastest first. */
void tunings_report(Arena *arena, const Tunings *tunings, Buf *out);

/* What a kernel is called in tuning files, and its keys. */
void tuning_of(Arena *arena, const Kernel *kernel, Tuning *out);
/* The names of the integer arguments, whose classes of sizes count. */
int tuning_sizes(const Kernel *kernel, const char **names);
/* The choices for the export's rows. A choice that there is no configuration for is warned of. */
void tunings_apply(Session *session, const Tunings *tunings, ExportImages *export);

#endif
