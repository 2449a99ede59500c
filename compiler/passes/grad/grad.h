/* grad.h: reverse-mode differentiation of a launch; private to this folder.
 *
 * A region is replayed, but for what it writes for others, and behind that its ops are gone through
 * from the last to the first: each gives, by its row of adjoints.def, the adjoints of its operands
 * what follows from those of its results. A branch is taken again; a loop goes through its
 * iterations from the last to the first, each of which replays its body. What nobody needs of all
 * that is dropped at the end (dead.c).
 *
 * Adjoints are of the precision of sums: f32 for f16, bf16 and less. That of a scalar has two
 * parts: what all threads of the block have alike, which counts once, and what each has for itself,
 * whose sum over the threads counts. */
#ifndef TILEC_PASSES_GRAD_GRAD_H
#define TILEC_PASSES_GRAD_GRAD_H

#include "ir/op_vec.h"
#include "passes/pass.h"

typedef enum Part { PART_TOTAL, PART_OWN, PARTS } Part;

/* The adjoint of a value of the program; NULL: zero. Tiles have no own part. */
typedef struct Adjoint {
    Value *parts[PARTS];
} Adjoint;

typedef VEC(Value *) ValueVec;

/* The adjoints in the region at hand: of its own values, and what it adds to those around it. */
typedef struct Scope {
    struct Scope *outer;
    Map adjoints; /* Value * -> Adjoint * */
    ValueVec touched;
} Scope;

/* Memory at addresses that a field of other memory has: the value by which that is known. */
typedef struct Field {
    const Value *memory;
    int64_t place; /* -1: not known when compiling */
    const Value *known;
} Field;

/* A read of memory that holds something else by then, where its region is replayed. */
typedef struct Stale {
    Op *read, *replayed;
} Stale;

typedef struct Grad {
    Kernel *kernel;
    const Target *target;
    Arena *arena;
    Builder builder; /* at the end of a region of the new launch */
    Map primal;      /* value of the program -> where it was replayed last */
    Map gradients;   /* pointer parameter -> that of its gradient */
    Map memories;    /* shared tile or local array of the program -> that of its adjoint */
    Map depends;     /* scalars of the program that threads have each for itself */
    Map effects;     /* ops that the gradient is written by */
    Map rewritten;   /* pointer parameters that are read, or written more than once */
    Map retained;    /* pointer parameters whose gradient stays when they are overwritten */
    Map clears;      /* effects that set to zero what an adjoint was taken from */
    Map settled;     /* reads of what the program has written that are right so */
    Map lasting;     /* reads of what nothing behind them writes to */
    Map records;     /* a loop of the program -> where what it carries is kept */
    Map rereads;     /* reads of that */
    Map moving;      /* region -> OpVec: reads of outer memory that is written then, or later */
    VEC(struct Records *) all_records;
    VEC(Stale) stale; /* those that were replayed */
    VEC(Field) fields;
    VEC(Op *) products; /* launches that are one sum of products each */
    Scope *scope;
    int64_t threads; /* of a block */
    bool consumes, failed;
    bool is_inner; /* of a function inside of a kernel, by its inputs alone */
} Grad;

/* ---- adjoints.c ---- */

DType adjoint_dtype(DType dtype);
bool is_differentiable(const Value *value); /* a number or tile of floats */
bool takes_adjoint(const Value *value);     /* or of what may be the bits of some */
const Type *adjoint_type(Grad *grad, const Value *value);
/* The program's value in the replay, and in its adjoint's type. */
Value *replayed(Grad *grad, const Value *value);
Value *primal(Grad *grad, const Value *value);
Value *number_of(Grad *grad, const Type *type, double number);
Value *integer_of(Grad *grad, const Type *type, int64_t number);
/* A number as each element of a tile of that shape; of a scalar type the number itself. */
Value *spread(Grad *grad, const Type *type, Value *scalar);
Value *value_sum(Grad *grad, Value *a, Value *b);
bool scalar_depends(const Grad *grad, const Value *value);

/* How often a loop goes round; its step is positive. */
Value *trips_of(Builder *builder, Value *begin, Value *end, Value *step);

void scope_open(Grad *grad, Scope *scope);
void scope_close(Grad *grad);
/* What the adjoint of an operand grows by. */
void give(Grad *grad, Value *value, Part part, Value *adjoint);
void give_total(Grad *grad, Value *value, Value *adjoint);
void give_both(Grad *grad, Value *value, Adjoint both);
Adjoint take_adjoint(Grad *grad, const Value *value);
bool adjoint_is_none(Adjoint both);
Value *whole_adjoint(Grad *grad, Adjoint both); /* with the sum of the own parts; NULL: zero */
Value *thread_of(Grad *grad);
/* Located, once. */
void grad_refuse(Grad *grad, const Op *op, const char *why);

/* ---- reverse.c ---- */

/* At the builder; `again`: in another iteration, or on another way, than the program's. */
void replay(Grad *grad, const Region *region, bool again);
/* One op by itself, at the builder; its values are the replayed ones. */
Op *replay_op(Grad *grad, const Op *op, bool again);
void reverse(Grad *grad, Region *region);
/* What ops slope and with_adjoint say was of use until now; gradients of functions keep theirs. */
void drop_slopes(Region *region);
/* Whether each read of the replay finds what the program did; else it is refused. */
bool reads_are_fresh(Grad *grad);
/* The launch that goes back through it, behind all others; NULL: refused. */
Op *differentiate(Grad *grad, Op *launch);

/* ---- control.c, loops.c: ops with regions ---- */

typedef void AdjointRule(Grad *grad, Op *op);
AdjointRule adjoint_if, adjoint_for, adjoint_while;

/* ---- rules_*.c: adjoints.def ---- */

/* An atomic that adds to the memory. */
Op *as_sum(Grad *grad, Op *op, const Value *memory);

/* What the adjoint of an operand grows by, of an elementwise op: linear in that of the result. */
typedef Value *Partial(Grad *grad, const Op *op, int operand, Value *adjoint);
#define ELEMENTWISE(op) Partial partial_##op;
#define ADJOINT(op)     AdjointRule adjoint_##op;
#define FLAT(op)
#define CHOOSING(op) ELEMENTWISE(op)
#define MOVING(op)   ADJOINT(op)
#include "passes/grad/adjoints.def"
#undef ELEMENTWISE
#undef ADJOINT
#undef FLAT
#undef CHOOSING
#undef MOVING

/* ---- custom_vjp.c ---- */

/* What a replayed op writes in the place of its function is an effect, if the author says so. */
void note_replayed_stores(Op *op, void *grad);
/* Replayed ops of that kind are what their first regions do, but in functions whose gradient is
 * still to be computed. */
void settle_custom_vjp(Grad *grad, Region *region);

/* ---- function_gradients.c ---- */

/* Ops grad become what computes them, whose own adjoints nobody asks for. */
bool settle_gradients(Kernel *kernel, const Target *target, Region *region);

/* ---- memory.c ---- */

/* That whose pointer is this parameter; NULL: it is by itself. */

/* Of an access of global memory; else NULL. */
Value *view_of(const Op *op);
/* By which the memory is known that an op of a view touches: that of a parameter, or of arrays
 * whose places one field of a parameter's memory has; NULL: it touches none. */
const Value *memory_touched(Grad *grad, const Op *op);
/* The pointer that all others to that memory are made of. */
const Value *view_pointer(const Op *op);

/* The memory in which the adjoint of a view, shared tile or local array stands; NULL: there is
 * none. */
Value *memory_adjoint(Grad *grad, Value *memory);
/* Of a pointer to global memory; NULL: there is none. */
Value *pointer_adjoint(Grad *grad, Value *pointer);
void memory_open(Grad *grad, const Region *region); /* makes those of its allocations */

/* Whether the adjoint of what is overwritten there is to be zero: it is not that of what stood
 * there before. */
bool memory_is_consumed(Grad *grad, const Value *memory);
/* Which parameters' memory an op of the launches reads, or overwrites again. */
void find_rewritten(Grad *grad, Region *host);

/* ---- lasting.c ---- */

/* Notes the reads that find the same behind the kernel. `later`: the memories that the launches
 * behind this one write. */
void find_lasting(Grad *grad, const Map *later, Op *launch);

/* ---- dependence.c ---- */

void find_dependent(Grad *grad, Region *region);
void find_moving(Grad *grad, Region *region);

/* ---- dead.c ---- */

void drop_unneeded(Grad *grad, Region *region);
/* Else it was dropped, by itself or with what is around it; or it is NULL. */
bool is_there(const Op *op);

/* ---- sums.c ---- */

void arrange_sums(Grad *grad);

/* ---- early_loads.c ---- */

void order_loads(Grad *grad, Op *launch);

/* ---- shared_values.c ---- */

/* Shared tiles that are read and written as a whole become variables, and copies to them loads. */
void shared_to_values(Kernel *kernel);

#endif
