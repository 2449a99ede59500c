/* emit.h: the front door of emit/: from images to the object, the header, the manifest and the
 * depfile. */
#ifndef TILEC_EMIT_H
#define TILEC_EMIT_H

#include "codegen/codegen.h"

typedef struct VariantImages {
    const int64_t *multiples; /* one a parameter: what its address or value must be a multiple of;
                                 NULL: assumes nothing */
    Image *images;
    int image_count;
} VariantImages;

typedef struct SpecialisationImages {
    const Kernel *kernel;    /* THREADED or earlier: its parameters, keys and launches */
    const char *host_symbol; /* of host_function */
    VariantImages *variants;
    int variant_count;
    int configuration_count; /* of the first in a row of configurations: how many are in it; else 0
                              */
    uint64_t code;           /* a hash of the images */
} SpecialisationImages;

typedef struct Choice { /* tile_choice */
    const char *device;
    const int64_t *classes;
    int class_count, specialisation, configuration;
} Choice;

typedef struct ExportImages {
    Name name, plain_name;                 /* with the prefix, and without */
    SpecialisationImages *specialisations; /* configurations of one follow each other */
    int specialisation_count;
    const Choice *choices; /* that tuning made before */
    int choice_count;
    bool lacks_name, lacks_language; /* Export's */
    bool is_gradient;
    Name gradient; /* the name of that which is this one's; NULL: none is exported */
} ExportImages;

/* What an entry takes, in order: arguments as they were declared, then results. */
typedef struct EntryArgument {
    const Parameter *parameter; /* of a tensor its pointer */
    const Tensor *tensor;       /* NULL: a pointer, a scalar or a key */
} EntryArgument;
int entry_arguments(const Kernel *kernel,
                    EntryArgument *out); /* how many; room for each parameter */
bool has_results(const Kernel *kernel);
bool entry_argument_is_key(const EntryArgument *argument);
/* Whether an export of these specialisations has an entry without its keys, NAME_fixed: they are
 * all for the same ones. */
bool has_fixed_entry(const Kernel *const *kernels, int count);

/* What the kernels were compiled from, for libtilec: options, and the files, the program's first.
 */
typedef struct Carried {
    const char *const *words;
    const Source *const *files;
    int word_count, file_count;
} Carried;

typedef struct EmitWish {
    const Carried *carried; /* goes into the object; or NULL */
    bool tables_only;       /* no entries for C */
} EmitWish;

/* Adds tables, images and the typed entries to the code generator's host module and writes the
 * object into `arena`. */
bool emit_object(Codegen *codegen, Arena *arena, const ExportImages *exports, int count,
                 const EmitWish *wish, const char **bytes, size_t *size);
/* Whether C or C++ has another use for a name. */
bool c_keeps_name(const char *name);
/* The C header's text. `guard_from` is the header's file name. */
void emit_header(const ExportImages *exports, int count, const char *guard_from, Buf *out);
void emit_manifest(const ExportImages *exports, int count, Buf *out); /* JSON */
/* Of the library that the object is linked into, a file name. */
void emit_python(const ExportImages *exports, int count, const char *library, Buf *out);
/* A Make rule: target: inputs; with `phony` a rule without commands for each input beside the first
 * (-MP). */
void emit_depfile(const char *target, const char *const *inputs, int count, bool phony, Buf *out);

#endif
