/* text.h: what the text of statements tells before they are evaluated, a section a file. */
#ifndef TILEC_EVAL_TEXT_H
#define TILEC_EVAL_TEXT_H

#include "eval/values/values.h"

/* ---- changes.c ---- */

/* What a statement does to what a name is bound to. */
typedef enum Effect { EFFECT_NONE, EFFECT_MAYBE, EFFECT_SURE } Effect;
typedef struct Touch {
    Name name;
    Effect effect;
    uint32_t statement; /* of the module */
} Touch;
typedef VEC(Touch) TouchVec;
typedef struct ModuleText ModuleText;
/* Who evaluates the module; what is given stays. */
typedef struct TextAsker {
    void *context;
    /* A function that the statement calls may bind the module's name. */
    void (*bind)(void *context, uint32_t statement, Name name);
    /* Whether the import is of a module of the program's own, and not of a library. */
    bool (*is_own)(void *context, const Node *import);
} TextAsker;
ModuleText *module_text(Eval *eval, const Unit *unit, const TextAsker *asker);
/* What the module's statements do, in order, to what the name is bound to, by whatever name; NULL:
 * nothing. */
const TouchVec *touches_of(const ModuleText *text, Name name);
/* Whether the statement, which may be part of one of the module's, changes it for sure. */
bool node_changes(ModuleText *text, const Node *statement, Name name);

/* ---- names.c ---- */

void names_bound(Eval *eval, const Node *statement, void (*visit)(void *, Name), void *context);
bool block_leaves(Nodes statements);

#endif
