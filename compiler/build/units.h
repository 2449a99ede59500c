/* units.h: a build's pieces of work, which know nothing of each other: a specialisation, or one
 * configuration of it, for all architectures. */
#ifndef TILEC_BUILD_UNITS_H
#define TILEC_BUILD_UNITS_H

#include "build/build.h"

#include "passes/passes.h"

typedef struct Unit {
    const Kernel *typed;
    SpecialisationImages *images; /* variants are filled; no variant: it failed */
    const Kernel *row;            /* the first configuration of the same specialisation */
    bool is_skipped;              /* not asked for */
    /* Of a configuration that cannot be built: nothing was reported, this is why. */
    const char *fault;
    Span fault_at;
} Unit;

struct Tunings; /* build/tunings.h */

/* An image whose tools may still be at work. */
typedef struct StartedImage {
    Image *image;
    const Kernel *typed;
    const ArchChoice *arch;
    const int64_t *multiples; /* that it was lowered with; NULL: none */
    unsigned uses;            /* features that it may be compiled without */
} StartedImage;

typedef struct Stages { /* what the steps of a build share */
    Session *session;
    const Options *options;
    const ArchList *archs;
    struct Tunings *tunings; /* that the choices come from */
    Codegen *codegen;
    CodegenOptions codegen_options;
    PassOptions passes;
    Buf dump;
    VEC(Unit) units;
    VEC(StartedImage) started;
    size_t jobs;     /* how many run at a time */
    size_t finished; /* of the started ones: the first so many */
    BuildWish wish;
    Build *build;
} Stages;

/* What the aligned variant of two may assume of each parameter; NULL: there is nothing to assume.
 */
int64_t *variant_multiples(Arena *arena, const Kernel *kernel);

/* The units of the exports, and the build's tables of them (build/plan.c). */
void plan_units(Stages *stages, const ExportList *exports);
/* Takes those that cannot be built out of the tables. False: of a specialisation none is left,
 * reported. */
bool keep_built_units(Stages *stages);

/* Lowers a unit and starts on its images. False: it failed, and is no configuration: reported. */
bool unit_start(Stages *stages, Unit *unit);
/* Waits until no more than `running` images are with ptxas. */
bool finish_images(Stages *stages, size_t running);
/* The kernel's host part, and what is done to its pointers: enough for tables and headers. The
 * build's to free. NULL: reported. */
Kernel *host_kernel(Stages *stages, const Kernel *typed);

/* Whether nothing is asked for but the object and what is said of it: it may come from the cache,
 * or of other processes. */
bool build_is_plain(const Options *options);

/* All units, by so many processes or threads at a time. False: reported. */
bool build_units(Stages *stages);
/* In a thread of the crew: units that nobody took. */
void build_share(Stages *stages);

/* Says of each kernel what was made of it, and why no more; and which spill (build/remarks.c). */
void report_performance(const Stages *stages);
void warn_of_spills(const Stages *stages);

/* A unit's variants as bytes, with those of the images or without. */
void put_unit(const SpecialisationImages *images, bool with_bytes, Buf *out);
/* What is left of bytes that are being read. */
typedef struct Taker {
    Session *session;
    const char *at;
    size_t left;
    bool failed;
} Taker;
const char *taker_bytes(Taker *taker, size_t count); /* NULL: there are not so many */
uint64_t taker_number(Taker *taker);
const char *taker_text(Taker *taker);
void take_unit(Taker *taker, const ArchList *archs, bool with_bytes, SpecialisationImages *out);
void put_number(Buf *out, uint64_t number);
void put_text(Buf *out, const char *text);

#endif
