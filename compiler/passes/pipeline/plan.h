/* plan.h: what is planned of a loop that multi_buffer.c has found the multi-buffers of; private to
 * this folder. */
#ifndef TILEC_PASSES_PIPELINE_PLAN_H
#define TILEC_PASSES_PIPELINE_PLAN_H

#include "passes/pipeline/multi_buffer.h"

/* An op of the loop's body, and how many iterations behind the loads' it is done. */
typedef struct Step {
    Op *op;
    int stage;
} Step;

typedef struct Plan {
    Pipeline *pipeline;
    Arena *arena;
    VEC(Step) steps;    /* in the order in which an iteration does them */
    Map stages;         /* ops that have a step -> their stage, and one more */
    Map async;          /* products by wgmma */
    Map derived;        /* ops that wait for a product of their iteration */
    int count;          /* of stages: 1 or 2 */
    int64_t cycles;     /* of an iteration, by the cost model */
    const char *fault;  /* why there is one, where there might be more; NULL */
    const Op *obstacle; /* why there is no plan: what the loop has that may not be in one; NULL */
    Value *at[2];       /* the stage and the parity that consumers begin with */
} Plan;

/* ---- plan.c ---- */

/* NULL, or why there is none. */
const char *plan_make(Plan *plan, Pipeline *pipeline);
/* To who asks. */
void plan_explain(const Plan *plan);
/* The stage of a value of the body: of arguments, and of what is made where it is needed, 0. */
int plan_stage(const Plan *plan, const Value *value);
/* Whether it is a product that is begun, and waited for later. */
bool plan_is_async(const Plan *plan, const Op *op);

/* ---- plan_memory.c ---- */

/* The matrix that an operand of the product is read from in shared memory; NULL: none. */
const Value *plan_operand(const Op *dot, int operand);
/* Whether the step reads the tile. */
bool plan_reads(const Op *op, const Op *alloc);
/* A step that reads or writes shared or global memory. */
bool plan_touches_memory(const Op *op);
/* Both touch the same memory, or may do so, and one of them writes it. */
bool plan_conflicts(const Op *earlier, const Op *later);
/* The op makes the product's left operand, which it reads in registers: those that the next
 * iteration's takes, too, so that it waits while the product is in flight. */
bool plan_reads_registers(const Op *dot, const Op *op);
/* Of loads from a shared tile. */
bool plan_feeds_products_alone(const Value *value);
/* What follows from the loop's index, and what is read in shared memory, is made where it is
 * needed, again in each stage. */
bool plan_is_remade(const Plan *plan, const Op *op);

/* ---- plan_iterations.c ---- */

/* The loop, which stands among the consumers' ops, by the plan; `end` are the stage and the parity
 * behind it. */
void plan_build(const Plan *plan, Value *end[2]);

#endif
