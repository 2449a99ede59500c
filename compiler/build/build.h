/* build.h: the front door of build/: a session's programs, what a build gives, and what outputs are
 * made of. */
#ifndef TILEC_BUILD_BUILD_H
#define TILEC_BUILD_BUILD_H

#include "emit/emit.h"
#include "eval/eval.h"
#include "options.h"
#include "passes/passes.h"

#include "base/vec.h"

#include <stdatomic.h>

typedef enum ExitStatus {
    EXIT_DONE,
    EXIT_SOURCE,   /* the source is wrong */
    EXIT_USAGE,    /* the command line is wrong */
    EXIT_TOOL,     /* a tool or the device failed */
    EXIT_INTERNAL, /* the compiler is wrong */
    EXIT_MISMATCH, /* a run found a mismatch, race or bounds fault */
} ExitStatus;

/* What a build gives. Bytes and texts live in the session's arena. */
typedef struct Build {
    VEC(Kernel *) kernels; /* all that were lowered; the images refer to some */
    ExportImages *exports;
    int export_count;
    const char *object;
    size_t object_size;
} Build;

/* The units of a build that nobody took, and how many are done: for all who work on them. */
typedef struct Board {
    atomic_size_t next, done;
    atomic_int fault; /* errno of a worker that could not leave its results behind */
} Board;

/* Threads beside the build's own, where no process may be forked. Each makes the same exports in a
 * session of its own, as sessions know nothing of each other, and leaves the bytes of its units. */
typedef struct Crew {
    Board board;
    size_t unit_count;                             /* what all must find */
    void (*start)(struct Crew *crew, size_t most); /* so many threads, or fewer */
    void (*join)(struct Crew *crew);               /* waits until they have ended */
    Buf *results;                                  /* one a thread */
    size_t count;
} Crew;

typedef struct BuildWish {
    EmitWish emit;
    bool first_only; /* of several configurations the first that can be built is all */
    MutantVec
        *mutants;      /* if given, kernels are made to do without each of these, which are added */
    bool general_only; /* no variants for aligned arguments but where there is no other */
    Crew *crew;        /* if given, it works on the units, and no process is forked */
    Buf *share;        /* of a thread of the crew: its units are all, and go here */
} BuildWish;

/* Loads of global memory that nobody uses, of all kernels that are seen as they were staged
 * (build/unused_loads.c). NULL: nobody wants to know. */
typedef struct UnusedLoads UnusedLoads;
UnusedLoads *unused_loads_new(Session *session);
void unused_loads_see(UnusedLoads *loads, const Kernel *kernel);
void unused_loads_report(UnusedLoads *loads); /* and frees */
/* Of all exports. */
void warn_of_unused_loads(Session *session, const ExportList *exports);

/* Kernels in a file of IR text (build/ir_exports.c). False: reported; the kernels are the caller's
 * to free all the same. */
typedef struct KernelList {
    Kernel **items;
    int count;
} KernelList;
bool is_ir_file(const char *path);
bool read_ir_exports(Session *session, const char *path, KernelList *kernels, ExportList *out);
void free_kernels(KernelList *kernels);

/* Exports that are gradients (build/gradients.c): they become the kernels that compute them, which
 * the caller frees. False: reported. */
typedef VEC(Kernel *) KernelVec;
bool make_gradients(Session *session, const Target *target, ExportList *exports, KernelVec *made);
void free_gradients(KernelVec *made);
/* Of IR text: the exports whose gradients the options ask for are there for these, too. */
void ask_for_gradients(Session *session, const Options *options, ExportList *exports,
                       KernelVec *made);

/* Session.path_maps: those of -ffile-prefix-map; before them, for what compiles, one that makes
 * absolute paths relative to the current folder (build/path_maps.c). False: reported. */
bool path_maps_apply(Session *session, const Options *options);

/* Whether a C program can call the exports (build/c_names.c); no: reported. */
bool check_c_names(Session *session, const Options *options, const ExportList *exports);

typedef void ImageFunction(const Image *image, void *context);
void export_each_image(const ExportImages *export, ImageFunction *visit, void *context);

/* ---- session.c: what commands share ---- */

/* What the options say of evaluating a program. */
EvalOptions eval_options(const Options *options, const Carried *carried, Host *host);
/* Opens the one input and makes a program of it; NULL: reported. */
Program *open_program(Session *session, const Options *options, Host *host);
/* The same of a text; what is carried stands for all files (or NULL). */
Program *open_source(Session *session, const Options *options, const Source *source,
                     const Carried *carried, Host *host);

/* What an object carries of a program and the options that it was compiled with (build/carry.c). */
Carried *carry_program(Session *session, const Options *options, const Source *main,
                       const Program *program);
/* EXIT_DONE, or what the errors that were reported stand for. */
ExitStatus session_status(const Session *session);
/* The messages so far, as --diagnostics says, on standard error. */
void show_messages(const Session *session, const Options *options);
bool write_output(Session *session, const char *path, const void *bytes, size_t length);
bool write_outputs(Session *session, OsOutput *outputs, size_t count); /* all of them or none */
void check_printed(Session *session); /* reports it if standard output took not all of it */

#endif
