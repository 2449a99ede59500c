/* changes.h: what is known of a module's text (changes.c), for the files that find it out. */
#ifndef TILEC_EVAL_CHANGES_H
#define TILEC_EVAL_CHANGES_H

#include "eval/text/text.h"

typedef VEC(Name) NameVec;
typedef VEC(const Node *) NodeVec;

/* What a text does to names, each once. */
typedef struct Done {
    Map places; /* name -> its place in the list */
    TouchVec list;
} Done;

/* What a function does. */
typedef struct Facts {
    Done done;       /* to its parameters, and to names of the module */
    NameVec bound;   /* names of the module that it binds, by `global` */
    NameVec returns; /* names of which its result may be a part, or have one */
} Facts;

/* What is known of a module's text. */
struct ModuleText {
    Eval *eval;
    const Unit *unit;
    const TextAsker *asker;
    Map functions;    /* name -> NodeVec: functions, and lambdas */
    Map constructors; /* name of a class -> NodeVec: its __init__ */
    Map methods;      /* name -> NodeVec */
    Map classes;      /* the names of classes */
    Map enumerations; /* those of them whose members nothing changes */
    Map imports;      /* name that an import binds -> the import */
    Map containers;   /* those of them that are modules of containers, or of what calls functions */
    Map facts;        /* FunctionDef or Lambda -> Facts */
    Map heads;        /* name -> another one of its group; none: the group goes by its name */
    Map changed;      /* names that something may change */
    NameVec made;     /* names, each followed by that of the class that it may be of */
    Map groups;       /* the name of a group -> TouchVec */
};

/* Names of a function or of the body of a class. */
typedef struct Locals {
    Map names;
    struct Locals *outer;
} Locals;

typedef struct Walk {
    ModuleText *text;
    Done *done;
    NameVec *bound; /* by functions that are called: names of the module */
    Facts *facts;   /* of the function whose body it is; NULL: a statement of the module */
    const Node *function;
    Locals *locals;
    Map origins;      /* of a function: its own name -> NameVec: what it may be a part of */
    Map touched;      /* name -> Effect: what its origins know of */
    NameVec *classes; /* those of which a value has instances; NULL: nobody asks */
} Walk;

/* ---- changes.c ---- */

const Facts *function_facts(ModuleText *text, const Node *function);

/* ---- sources.c ---- */

bool text_is_among(const char *text, const char *const *list);
void names_add(Eval *eval, NameVec *names, Name name);
bool name_is_local(const Walk *walk, Name name);
const Nodearguments *function_parameters(const Node *function);
/* The place of a positional parameter; ANY_PLACE: it takes what is left, or a keyword alone; -1: it
 * is none. */
enum { ANY_PLACE = INT32_MAX };
int parameter_place(const Node *function, Name name);
void name_touch(Walk *walk, Name name, Effect effect);
/* The name whose value, or a part of it, stands there; NULL: none. */
Name node_root(const Node *node);
/* The names of which what stands there may be a part; that one, if it is one. */
NameVec node_owners(Walk *walk, const Node *node);
/* Groups: names that may be bound to the same object, or to parts of it. */
Name group_of(const ModuleText *text, Name name);
void groups_join(ModuleText *text, Name a, Name b);
bool name_has_parts(const Walk *walk, Name name);
/* The names that a value may be bound to, or to a part of it. */
void find_sources(Walk *walk, const Node *node, NameVec *out);
void find_in_arguments(Walk *walk, const NodeCall *call, NameVec *out);
/* What the call gives to that parameter. `selves`: parameters that stand before the arguments. */
void find_given(Walk *walk, const Node *function, Name parameter, const NodeCall *call, int selves,
                NameVec *out);
/* The name is one of the walk alone, and may be bound to a part of the sources from here on. */
void add_origins(Walk *walk, Name name, const NameVec *sources);
/* The targets that such a one has; NULL: it is a single one. */
const Nodes *target_parts(const Node *target);
/* Those of a comprehension are its own. */
void bind_targets(Walk *walk, const Node *target, const NameVec *sources);

#endif
