/* inspect.h: what an evaluated program knows of its text, for tools that show it to its author.
 *
 * A program that was made with EvalOptions.observes remembers what names, attributes, calls and
 * subscripts of its own text were when they were evaluated. Objects are the evaluator's own, and
 * live as long as the program. Nothing here reports: what fails gives NULL. */
#ifndef TILEC_EVAL_INSPECT_H
#define TILEC_EVAL_INSPECT_H

#include "eval/eval.h"

typedef struct Object Object;

/* The tree of the program's own text. */
const Module *program_module(const Program *program);
/* The value of the expression, target, parameter or definition at a place of the text; NULL: nothing
 * was evaluated there. */
Object *program_observed(const Program *program, Span at);
/* Its different descriptions, up to OBSERVED_TEXTS, joined by " | ". */
enum { OBSERVED_TEXTS = 4 };
const char *program_observed_text(const Program *program, Span at);
/* A name of the module, or one of Python's, which is evaluated if it was not. */
Object *program_lookup(Program *program, const char *name);
/* A module by its dotted name. */
Object *program_import(Program *program, const char *path);
Object *object_attribute(Program *program, Object *object, const char *name);
/* Where the attribute is bound; source NULL: that is not known. */
Span object_attribute_place(Program *program, Object *object, const char *name);

typedef void MemberVisit(void *context, Program *program, const char *name, Object *object);
/* The attributes that the object has, each name once; object NULL: it was not evaluated. */
void object_members(Program *program, Object *object, MemberVisit *visit, void *context);
/* Those that statements see everywhere: Python's own names. */
void program_builtins(Program *program, MemberVisit *visit, void *context);
/* The standard library's modules, by their dotted names; the objects are NULL. */
void program_modules(Program *program, MemberVisit *visit, void *context);

typedef enum ObjectCategory {
    CATEGORY_VALUE,
    CATEGORY_FUNCTION,
    CATEGORY_METHOD,
    CATEGORY_CLASS,
    CATEGORY_MODULE,
    CATEGORY_TYPE,
    CATEGORY_PROPERTY,
} ObjectCategory;

typedef struct ObjectFacts {
    ObjectCategory category;
    const char *text;      /* "int = 64", "tile<f32, [64]>", "class Sum" */
    Span definition;       /* of a function or class; source NULL: it has no text */
    const Node *function;  /* FunctionDef or Lambda of what can be called; NULL: C, or nothing */
    bool skips_self;       /* its first parameter is given by the object */
    const char *name;      /* of a function of the compiler's own: its name, its parameters as */
    const char *signature; /* builtins.def has them, and its sentence; else NULL */
    const char *sentence;
} ObjectFacts;
void object_facts(Program *program, Object *object, ObjectFacts *out);
#endif
