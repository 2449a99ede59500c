/* rules.h: what the files of rules share: the verifier's rules of single ops, one function an op.
 */
#ifndef TILEC_IR_RULES_H
#define TILEC_IR_RULES_H

#include "ir/rows.h"

#include <string.h>

/* The rule of an op, which says what is broken. */
typedef struct Check {
    const Kernel *kernel;
    const Op *op;
    Buf *out;
} Check;

static inline bool broken(const Check *check, const char *text)
{
    buf_text(check->out, text);
    return false;
}

static inline bool require(const Check *check, bool condition, const char *text)
{
    return condition || broken(check, text);
}

#define operand_type(check, name) (operand((check)->op, name)->type)
static inline const Type *operand_type_at(const Check *check, int index)
{
    return check->op->operands[index]->type;
}

static inline const Type *result_type(const Check *check)
{
    return check->op->results[0].type;
}

static inline bool agree(const Check *check, const Type *a, const Type *b)
{
    return types_agree(check->kernel, a, b);
}

static inline bool in_range(const Op *op, AttrKey key, int64_t least, int64_t most)
{
    const Attr *attr = op_attr(op, key);
    return attr != NULL && attr->integer >= least && attr->integer <= most;
}

static inline bool is_one_of(const Op *op, AttrKey key, const char *words)
{
    const Attr *attr = op_attr(op, key);
    return attr != NULL && is_among(attr->text, words);
}

/* Of copies, and of what begins them for one thread. */
static inline bool evict_is_known(const Check *check)
{
    return require(check,
                   !op_attr(check->op, ATTR_evict) ||
                       is_one_of(check->op, ATTR_evict, "evict_first evict_last"),
                   "{evict} is evict_first or evict_last");
}

/* {slices} of threads are found by bits of a thread's index. */
static inline bool parts_are_bits(const Op *op)
{
    return in_range(op, ATTR_slices, 2, 8) && bits_is_power(op_int(op, ATTR_slices, 1));
}

typedef bool Rule(const Check *check);
Rule rule_anchor, rule_const, rule_assume, rule_barrier, rule_block, rule_condition, rule_for,
    rule_i32, rule_if, rule_in_group, rule_launch, rule_print, rule_var, rule_var_get, rule_var_set,
    rule_while, rule_custom_vjp, rule_grad, rule_yield, rule_atom, rule_atomic, rule_red,
    rule_broadcast, rule_convert, rule_copy, rule_cp_async, rule_dot, rule_element_atomic,
    rule_element_load, rule_element_store, rule_gather, rule_iota, rule_item, rule_load,
    rule_local_alloc, rule_part, rule_put, rule_reduce, rule_reshape, rule_same_dtype, rule_scan,
    rule_shared_alloc, rule_shared_load, rule_shared_reshape, rule_mbarrier, rule_stage,
    rule_shared_store, rule_shared_view, rule_store, rule_tma_load, rule_tma_store,
    rule_tma_store_wait, rule_transpose, rule_view, rule_vote, rule_shared_peer, rule_texture,
    rule_cluster_address, rule_grid_sync, rule_setmaxnreg;
bool rule_cluster(const Check *check, const Op *launch); /* {cluster} */

#endif
