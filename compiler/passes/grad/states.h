/* states.h: what a loop carries into its iterations, kept for the way back; private to this folder.
 *
 * A loop has run before the gradient goes back through it. There each iteration puts what is
 * carried into it into a record, which its way back reads. A loop of few iterations, whose number
 * is known, has its records in arrays of the thread's and in shared memory, others in a workspace.
 * There are as many as iterations where the host can tell, and a fixed number elsewhere: then each
 * is that of the first of several iterations, and the others are reached by going through them
 * again. Integers that grow by the same number each time are computed. */
#ifndef TILEC_PASSES_GRAD_STATES_H
#define TILEC_PASSES_GRAD_STATES_H

#include "passes/grad/grad.h"

/* How a loop of the program goes, as it is replayed. */
typedef struct Trips {
    const Op *loop;
    Value *const *arguments; /* of its region: what it carries */
    Value *const *inits;
    int count;
    Value *begin, *end, *step; /* of the replay */
} Trips;

/* One number or tile that is carried. */
typedef struct State {
    const Type *type; /* of the program */
    const Type *kept; /* what a record has of it: a scalar of each thread's own, or a tile */
    Value *first;     /* what is carried into the first iteration */
    Value *growth;    /* of an integer, each time; NULL: it is kept */
    Value *memory;    /* all records of it: an array of the thread's, or a shared tile; else NULL */
    Value *offset;    /* in bytes, in a record of the workspace: a const */
    Op *store;        /* of it there */
} State;

typedef struct Records Records; /* in a workspace */

typedef struct States {
    State *all;
    int count;
    Value *begin, *step;
    Value *stride; /* iterations for each record; NULL: one */
    Records *records;
    Value *base;        /* the number of the block's first record */
    Value *bytes;       /* of a record: a const */
    Op *before, *after; /* the loop that keeps them: where threads meet, as others read them */
} States;

/* The builder stands before the loop whose iterations keep them. NULL: going through the
 * iterations before each of them once more is as good, or the only way. */
States *states_open(Grad *grad, const Trips *trips);
/* At the top of an iteration, whose index is that of the loop. */
void states_save(Grad *grad, States *states, Value *index, Value *const *carried);
void states_close(Grad *grad, States *states); /* behind that loop */
/* What is carried into the iteration or, if not each is kept, into one before it, whose index it
 * is. */
Value *states_load(Grad *grad, const States *states, Value *index, Value **carried);

/* A read of a record. */
typedef struct Reread {
    const States *states;
    const State *state;
} Reread;

/* ---- records.c ---- */

/* False: there are too many. */
bool records_open(Grad *grad, States *states, const Trips *trips);
/* The memory of a state in the record of that number. */
Value *record_part(Grad *grad, const States *states, const State *state, Value *number);
void records_note_load(Grad *grad, const States *states, const State *state, Op *load);
/* When what nobody needs is dropped: how long records are. */
void records_settle(Grad *grad);
/* What the op reads there, until then; NULL: it is no such read. */
const Reread *record_read(const Grad *grad, const Op *op);
/* The workspace of records that the op reads; NULL: it is no such read. */
Value *records_workspace(const Grad *grad, const Op *op);

#endif
