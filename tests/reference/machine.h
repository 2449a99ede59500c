/* machine.h: what the files of the interpreter share.
 *
 * The threads of a block run in step. What they all have alike is one number; a scalar that differs
 * has one a thread. Where control parts, `active` says whose turn it is: ops without effect are
 * done for all, effects and assignments for the active ones. */
#ifndef REFERENCE_MACHINE_H
#define REFERENCE_MACHINE_H

#include "interpret.h"

typedef struct SharedTile { /* a shared tile or a part of one: row-major elements of `memory` */
    Number *memory;
    int64_t start, strides[TYPE_RANK];
} SharedTile;

typedef struct View {
    Buffer *buffer;
    int64_t shape[TYPE_RANK], strides[TYPE_RANK];
    Number outside; /* what reads find there */
} View;

/* What a value holds while the kernel runs; it hangs off Value.scratch and is written anew each
 * time the op is reached. */
typedef struct Datum {
    Number *numbers; /* of a scalar, a tile, a variable's content, all threads' arrays; the offset
                        of a pointer or view, in bits */
    int64_t count;   /* of a scalar, pointer or view: 1, or one a thread */
    Buffer *buffer;  /* of a pointer */
    View view;
    SharedTile shared;
} Datum;

typedef struct Machine {
    Kernel *kernel;
    const Argument *arguments;
    int64_t block[3], grid[3];
    int threads;           /* of the launch; 1 outside */
    const bool *active;    /* one a thread; NULL: all are */
    Value *const *yielded; /* by the terminator that ended the last region */
    int yielded_count;
    const Datum *condition;
    bool broken; /* an op's promise */
} Machine;

/* ---- interpret.c ---- */
bool refuse(const Machine *machine, const Op *op, const char *why);
bool break_promise(Machine *machine, const Op *op, const char *why); /* false, too */
Datum *datum_of(Machine *machine, Value *value);
Datum *result(Machine *machine, const Op *op);
const Datum *operand_datum(const Op *op, int index);
void datum_copy(Datum *to, const Datum *from);
/* The number that a thread has. */
Number number_at(const Datum *datum, int64_t thread);
/* The integer that the active threads have alike. */
int64_t integer(const Machine *machine, const Op *op, int index);
bool is_active(const Machine *machine, int64_t thread);
int64_t first_active(const Machine *machine);
void advance(const Type *type, int64_t *place); /* the next place in row-major order */
int64_t index_of(const Type *type, const int64_t *place);
bool run_region(Machine *machine, const Region *region);

typedef bool Runner(Machine *machine, const Op *op);

/* ---- memory.c ---- */

typedef struct Spot { /* an element in global memory */
    char *bytes;      /* NULL: outside the view, or masked out */
    int bit;          /* where in a byte it begins, if it is less than one */
} Spot;

typedef struct Element {
    Spot place;     /* in global memory */
    Number *number; /* of a shared tile; both NULL: outside, or masked out */
    bool is_outside, wrong;
} Element;

/* The element of a view or shared tile at the place, as this thread sees it. */
Element find_place(Machine *machine, const Op *op, const int64_t *place, int64_t thread);
Number own_number(const Op *op); /* {value} or {number}; else zero */
Number element_read(const Op *op, const Element *element, DType dtype);
void element_write(const Element *element, DType dtype, Number number);
Number *find_shared(const SharedTile *tile, const Type *type, const int64_t *place);
/* What an atomic leaves there; false: no such mode. */
bool atomic_result(const char *mode, DType dtype, Number old, Number value, Number compare,
                   Number *out);

Runner run_view, run_load, run_store, run_shared_alloc, run_shared_view, run_shared_load,
    run_shared_store, run_shared_reshape, run_gather, run_put, run_atomic, run_copy_async,
    run_tma_load, run_tma_store, run_workspace;

/* ---- threads.c ---- */
Runner run_thread, run_group, run_vote, run_shuffle, run_local_alloc, run_element_load,
    run_element_store, run_element_atomic, run_together, run_try_wait;

/* A number that no test has, or NaN: what nobody wrote is seen in the results. */
Number number_unwritten(DType dtype);

#endif
