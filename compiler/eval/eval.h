/* eval.h: the front door of eval/: runs a program's static part and stages kernels.
 *
 * A module is evaluated lazily when it is compiled: a name is evaluated when something needs it.
 * program_export() finds what the program exports and stages one TYPED Kernel for each
 * specialisation. `tilec run` executes host code through eval/host.h besides. */
#ifndef TILEC_EVAL_H
#define TILEC_EVAL_H

#include "ir/ir.h"
#include "syntax/syntax.h"

typedef struct Host Host; /* eval/host.h; NULL when compiling */

typedef struct EvalOptions {
    const char *stdlib_folder;       /* NULL: the embedded one */
    const char *const *import_paths; /* beside the source's own folder */
    int import_path_count;
    const char *const
        *defines; /* "NAME=VALUE" or "NAME": what the module's name is, whatever it assigns */
    int define_count;
    uint64_t max_calls;           /* of what is not run; 0: 5 million */
    size_t max_memory;            /* of what is evaluated, in bytes; 0: 2 GB */
    const char *const *gradients; /* exports whose gradients are exported, too; "*": of all */
    int gradient_count;
    bool fast_math;             /* f32 arithmetic of all kernels by approximate instructions */
    bool rounds_products;       /* of all kernels: none becomes a part of an fma */
    const Source *const *files; /* what stands for all files of users'; NULL: the disk's */
    int file_count;
    bool files_first; /* they stand for some alone, which are the disk's but for that */
    bool observes;    /* what expressions are is remembered (eval/inspect.h) */
    /* Asked every few calls: whether nobody wants the result any more, so that it ends soon. */
    bool (*interrupts)(void *context);
    void *interrupts_context;
    Host *host;
} EvalOptions;

typedef struct Program Program;

/* Parses; NULL: reported. */
Program *program_new(Session *session, const Source *source, const EvalOptions *options);
void program_free(Program *program);
size_t program_bytes(const Program *program); /* that it takes, until it is freed */

/* What is exported under one C name: a kernel and its specialisations, all with the same
 * parameters. */
typedef struct Export {
    Name name;
    Span span;
    /* TYPED; parameters say which are keys, and their values; of configurations the first */
    Kernel **specialisations;
    int specialisation_count;
    bool is_gradient; /* they are staged for it: what is built is their gradient */
    /* What a line of the file that adds a specialisation could not say. */
    bool lacks_name;     /* the export's name is none of a kernel there */
    bool lacks_language; /* nor T, in which tensors are described */
} Export;

typedef struct ExportList {
    Export *items;
    int count;
} ExportList;

/* What `texts` name, each "NAME = EXPR" from the command line, evaluated in the module's scope;
 * where there are none, the module's own exports (`NAME.compile(...)` statements, kernels with no
 * open key). Kernels live until program_free(). False: reported; what could be staged is in `out`
 * all the same. */
bool program_export(Program *program, const char *const *texts, int text_count, ExportList *out);
/* Where that is nothing: reports what of the program, evaluated, was to make kernels and fails. */
bool program_report_unmade(Program *program);
/* Where that is nothing, too: notes why, behind what was reported last. */
void program_tell_unexported(Program *program);

/* The one specialisation that `wanted` names, "NAME = NAME.compile(...)", of what the module or
 * the texts export as NAME: what its call leaves open is as in those that there are. */
bool program_export_wanted(Program *program, const char *const *texts, int text_count,
                           const char *wanted, ExportList *out);

/* tilec run: executes the module as __main__ (statements NULL), or the statements in its scope
 * with tile.host's names. */
bool program_run(Program *program, const char *statements);
/* The statements in the scope of those before: names that these bound are there. */
bool program_continue(Program *program, const char *statements);

/* A kernel that host code made, or launched, with these keys. */
typedef struct SurveyedKernel {
    Span at;           /* its function or class */
    const char *title; /* its name and keys */
    Kernel *kernel;    /* NULL: it was refused, which is reported */
} SurveyedKernel;
typedef struct Survey {
    /* Each that the text defines: where that begins, and all of it, decorators included. */
    void (*find)(void *context, Span at, Span span, const char *name);
    void (*begin)(void *context); /* before one is staged */
    void (*visit)(void *context, const SurveyedKernel *kernel);
    void *context;
} Survey;

/* For a host that surveys: where the text defines kernels, executes the module as __main__, then
 * its functions that are tests, or that nobody called, and stages each kernel that this makes. */
void program_survey(Program *program, const Survey *survey);

/* Source files that were read beside the program's own: for the depfile. */
int program_input_count(const Program *program);
const Source *program_input(const Program *program, int index);

#endif
