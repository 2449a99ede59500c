/* diags.h: what diag.c collects and render.c shows; private to this folder. */
#ifndef TILEC_BASE_DIAGS_H
#define TILEC_BASE_DIAGS_H

#include "base/base.h"
#include "base/vec.h"

typedef struct Note {
    Span at;
    const char *text;
} Note;

typedef VEC(Note) NoteVec;

typedef struct Report {
    DiagCode code;
    Severity severity;
    Span at;
    const char *text;
    const char *hint; /* NULL: none */
    NoteVec notes;    /* said about this report */
    NoteVec frames;   /* open when it was made, innermost first */
} Report;

struct Diags {
    Arena *arena;
    Interner *seen_names; /* "code source offset", so that one fault speaks once */
    Map seen;
    VEC(Report *) reports;
    NoteVec frames;
    Report *last; /* takes notes; NULL if the last one was not kept */
    size_t error_count, count, max_errors;
    size_t shown; /* of the reports, the first ones: they are not rendered again */
    bool silenced[DIAG_COUNT], promoted[DIAG_COUNT], muted;
    const char *muted_error; /* the first one since it was */
    Span muted_at;
};

/* The reports not shown yet, in order of file, place and arrival; malloc'd. */
const Report **diags_sorted(const Diags *diags);
Diags *diags_new(Arena *arena);

#endif
