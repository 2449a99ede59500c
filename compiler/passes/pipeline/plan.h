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
    VEC(Step) steps;   /* in the order in which an iteration does them */
    Map stages;        /* ops that have a step -> their stage, and one more */
    int count;         /* of stages: 1 or 2 */
    const char *fault; /* why there is one, where there might be more; NULL */
    Value *at[2];      /* the stage and the parity that consumers begin with */
} Plan;

/* ---- plan.c ---- */

/* NULL, or why there is none. */
const char *plan_make(Plan *plan, Pipeline *pipeline);
/* To who asks. */
void plan_explain(const Plan *plan);
/* The stage of a value of the body: of arguments, and of what is made where it is needed, 0. */
int plan_stage(const Plan *plan, const Value *value);
/* What follows from the loop's index, and what is read in shared memory, is made where it is
 * needed, again in each stage. */
bool plan_is_remade(const Plan *plan, const Op *op);
/* The matrix that an operand of the product is read from in shared memory; NULL: none. */
const Value *plan_operand(const Op *dot, int operand);
/* Whether the product reads the tile. */
bool plan_reads(const Op *dot, const Op *alloc);

/* ---- plan_iterations.c ---- */

/* The loop, which stands among the consumers' ops, by the plan; `end` are the stage and the parity
 * behind it. */
void plan_build(const Plan *plan, Value *end[2]);

#endif
