/* plan.h: the planner of pipelined loops, which decides all that multi_buffer.h names; private to
 * this folder, and of it to those that plan. */
#ifndef TILEC_PASSES_PIPELINE_PLAN_H
#define TILEC_PASSES_PIPELINE_PLAN_H

#include "passes/pipeline/multi_buffer.h"

/* ---- plan_buffers.c: which tiles are copied ahead ---- */

void plan_find_buffers(Pipeline *pipeline);
void plan_fit_stages(Pipeline *pipeline); /* no more than a block has the memory for */
bool plan_has_stages(const Pipeline *pipeline, int stages);
/* So many in place of those that the text asks for, which is said, with the reason. */
void plan_take_stages(Pipeline *pipeline, int stages, const char *why);
#define STAGES_OF_ONE_BLOCK "a multiprocessor runs one block at a time, which has the memory"
/* Whether the copy is one of those that are ahead. */
bool multi_buffer_has(const Pipeline *pipeline, const Op *copy);
/* TMA can do the copy, or all of an iteration's copies, to stages that are laid out so. */
bool is_by_tma(const Pipeline *pipeline, const MultiBuffer *buffer);
bool are_by_tma(const Pipeline *pipeline);
/* Says of the loop's copies, which are by cp.async, why they are no TMA loads: `fault` is that of
 * a loop where all of them could be. */
void multi_buffer_remark_copies(const Pipeline *pipeline, const char *fault);
/* Whether a copy that no loop makes ahead goes through threads' registers, not by cp.async. */
bool plan_copies_by_threads(const Pass *pass, const Op *copy);

/* ---- plan_loop.c: what is done for the loop that has them ---- */

/* How many stages, and whether tiles that are gathered have some. */
void plan_stages(Pipeline *pipeline);
/* Into the pipeline; of a loop of several products into `plan`, too. */
void plan_loop(Pipeline *pipeline, Plan *plan);

/* ---- plan.c: what a loop of several products does when ---- */

/* NULL, or why there is none. */
const char *plan_make(Plan *plan, Pipeline *pipeline);
/* To who asks. */
void plan_explain(const Plan *plan);

/* Of a multiprocessor's tensor core. */
int64_t plan_product_cycles(const Target *target, const Op *dot);

/* ---- plan_memory.c ---- */

/* Of loads from a shared tile. */
bool plan_feeds_products_alone(const Value *value);
/* Which memory the launch writes, into the pass. */
void launch_note_writes(Pass *pass);
/* An element of memory that the launch does not write: it may be loaded at any time. */
bool is_steady_load(const Pass *pass, const Op *op);

/* ---- plan_roles.c: which warps do it ---- */

/* Of a grid whose extents are known: the most blocks that a multiprocessor gets at a time. */
int plan_most_blocks(const Pipeline *pipeline);
/* NULL, or why no thread that computes may tell TMA to fill the multi-buffers. */
const char *fault_of_fill(const Pipeline *pipeline);
/* NULL, or why producer warps may not fill the multi-buffers of the loop, whose only work is `dot`;
 * NULL: which has a plan. */
const char *fault_of_warp_specialize(Pipeline *pipeline, const Op *dot);
/* Whether producers can copy the tile, which lies as the tensor core reads it, before the loop. */
bool can_copy_once(const Pipeline *pipeline, const MultiBuffer *buffer);
/* Whether a multiprocessor has room for a second block without producers, whatever its threads
 * need. */
bool runs_beside_others(const Pipeline *pipeline);
/* Divides registers between producers and consumers, which need so many each: NULL, or why
 * producers cost more than they gain. And how many a consumer has then. */
const char *share_registers(Pipeline *pipeline, int64_t needed);
int64_t registers_left(const Pipeline *pipeline);
/* Whether blocks are persistent; without a plan, of a loop of one product. */
void plan_persistence(Pipeline *pipeline, const Plan *plan);
/* How many producers there are, and where they stand, when all else is planned. */
void plan_groups(Pipeline *pipeline);

#endif
