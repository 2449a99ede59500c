/* simplify.c: folds constants and identities, takes branches that are decided, finds equal pure ops
 * again (common subexpressions, by scope), and loads of the same element between which nothing may
 * write it, and drops what nobody needs, values that loops carry for nobody included. Runs at every
 * stage; repeats until nothing changes. */
#include "ir/fold.h"
#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"
#include "passes/pass.h"
#include "passes/ssa/simplify.h"
#include "ir/rebuild.h"

#include "base/vec.h"

#include <math.h>
#include <stdlib.h>

enum { FIRST_BITS = 10, ITERATIONS = 8 };

typedef struct Known { /* a pure op that is visible here, or a load */
    Op *op;
    struct Known *next;
    uint32_t hash;
    int64_t writes; /* before a load; of what is pure they don't matter */
} Known;

/* Those of a stage go from the last one found to the first: scopes end in that order. */
typedef struct Table {
    Known **stages;
    int bits;
    VEC(Known *) scope; /* all of them, as they were found */
} Table;

typedef struct Simplifier {
    Kernel *kernel;
    Arena *arena; /* what is noted; ops are the kernel's */
    Map replaced; /* what loops carried for nobody, while others are looked at */
    Table table;
    int64_t writes; /* of global memory, so far: what was loaded before one may have changed */
    bool changed;
} Simplifier;

/* ---- equal ops ---- */

static uint32_t mix(uint32_t hash, uint64_t more)
{
    return (uint32_t)((hash ^ more ^ more >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static uint32_t hash_attr(uint32_t hash, const Attr *attr)
{
    hash = mix(hash, (uint64_t)attr->key);
    if (attr->count == 0) return mix(hash, (uint64_t)attr->integer); /* whatever it is */
    for (int i = 0; i < attr->count; i++) hash = mix(hash, (uint64_t)attr->integers[i]);
    return hash;
}

static uint32_t hash_op(const Op *op)
{
    uint32_t hash = (uint32_t)op->code;
    for (int i = 0; i < op->operand_count; i++) hash = mix(hash, (uintptr_t)op->operands[i]);
    for (int i = 0; i < op->attr_count; i++) hash = hash_attr(hash, &op->attrs[i]);
    for (int i = 0; i < op->result_count; i++) hash = mix(hash, (uintptr_t)op->results[i].type);
    return hash;
}

static bool same_op(const Op *a, const Op *b)
{
    return op_alike(a, b) && op_same_operands(a, 0, b, 0);
}

static Known **stage_of(const Table *table, uint32_t hash)
{
    return &table->stages[hash >> (32 - table->bits)];
}

static void enter(const Table *table, Known *known)
{
    Known **stage = stage_of(table, known->hash);
    known->next = *stage;
    *stage = known;
}

static void set_size(Simplifier *simplifier, int bits)
{
    Table *table = &simplifier->table;
    table->bits = bits;
    table->stages = arena_new_array(simplifier->arena, Known *, (size_t)1 << bits);
    for (size_t i = 0; i < table->scope.count; i++) enter(table, table->scope.data[i]);
}

static Op *find_equal(Simplifier *simplifier, Op *op)
{
    Table *table = &simplifier->table;
    const uint32_t hash = hash_op(op);
    const int64_t writes = op_has(op, PURE) ? 0 : simplifier->writes;
    for (const Known *known = *stage_of(table, hash); known; known = known->next)
        if (known->hash == hash && known->writes == writes && same_op(known->op, op))
            return known->op;
    Known *known = arena_new_of(simplifier->arena, Known);
    *known = (Known){.op = op, .hash = hash, .writes = writes};
    enter(table, known);
    vec_push(simplifier->arena, &table->scope, known);
    if (table->scope.count >> table->bits) set_size(simplifier, table->bits + 2);
    return NULL;
}

static void leave_scope(Simplifier *simplifier, size_t mark)
{
    Table *table = &simplifier->table;
    while (table->scope.count > mark) {
        const Known *known = vec_pop(&table->scope);
        *stage_of(table, known->hash) = known->next;
    }
}

/* ---- loads ---- */

/* What an iteration writes, those before it have written when it loads; and one that only waits for
 * what others write loads it anew. */
static void note_writes(Simplifier *simplifier, const Op *op)
{
    if (op_may_change(op, NULL) || op->code == OP_while ||
        (op->code == OP_for && op_find_within(op, op_may_change, NULL)))
        simplifier->writes++;
}

/* An op that gives what an equal one before it has given. */
static bool may_be_known(const Op *op)
{
    if (op->region_count) return false;
    return op_has(op, PURE) ||
           (op->code == OP_element_load && operand(op, memory)->type->kind == TYPE_VIEW);
}

/* ---- identities ---- */

/* Constants to the right, so that the identities and find_equal see one form. The gradient of the
 * smaller or larger of two equal numbers is the second one's, which stays where it is until then.
 */
static void order_operands(Op *op)
{
    if (!op_has(op, COMMUTES) || !operand(op, a)->op || operand(op, a)->op->code != OP_const)
        return;
    if ((op->code == OP_min || op->code == OP_max) && op->parent->kernel->is_differentiated) return;
    Value *first = operand(op, a);
    op_set_operand(op, operand_index(op, a), operand(op, b));
    op_set_operand(op, operand_index(op, b), first);
}

/* (x + c) + d = x + (c + d), and the like for *: how index arithmetic of inlined functions shrinks.
 */
static Value *reassociate(Builder *builder, const Op *op)
{
    if (op->code != OP_add && op->code != OP_mul) return NULL;
    const Op *inner = operand(op, a)->op;
    int64_t outer_constant, inner_constant;
    if (!inner || inner->code != op->code || !value_constant(operand(op, b), &outer_constant) ||
        !value_constant(operand(inner, b), &inner_constant))
        return NULL;
    Value *constant = build2(builder, op->code, operand(inner, b), operand(op, b));
    return build2(builder, op->code, operand(inner, a), constant);
}

/* A loop's index has no bit beside those of the mask, which are all up to some bit. */
static bool is_index_within(const Value *value, const Value *mask)
{
    const Op *loop = value->region && value->index == 0 ? value->region->parent : NULL;
    int64_t bits;
    if (!loop || loop->code != OP_for || !value_constant(mask, &bits) || bits & (bits + 1))
        return false;
    const int64_t last = loop_last(loop);
    return last >= 0 && last <= bits;
}

static Value *identity_with_constant(const Op *op)
{
    Value *a = operand(op, a), *b = operand(op, b);
    switch ((int)op->code) {
    case OP_add:
    case OP_sub:
    case OP_shl:
    case OP_shr:
    case OP_xor: return value_is_constant(b, 0) ? a : NULL;
    case OP_or:
        return value_is_constant(b, 0)                                 ? a
               : a->type->dtype == DTYPE_b1 && value_is_constant(b, 1) ? b
                                                                       : NULL;
    case OP_and:
        return value_is_constant(b, 0)                                 ? b
               : a->type->dtype == DTYPE_b1 && value_is_constant(b, 1) ? a
               : is_index_within(a, b)                                 ? a
                                                                       : NULL;
    case OP_mul: return value_is_constant(b, 1) ? a : value_is_constant(b, 0) ? b : NULL;
    case OP_div:
    case OP_floordiv: return value_is_constant(b, 1) ? a : NULL;
    default: return NULL;
    }
}

/* (x + c) - x = c, and (c + x) - x alike, as often as numbers wrap. */
static Value *difference(const Op *op)
{
    if (op->code != OP_sub) return NULL;
    const Op *sum = operand(op, a)->op;
    if (!sum || sum->code != OP_add) return NULL;
    Value *less = operand(op, b);
    return operand(sum, a) == less   ? operand(sum, b)
           : operand(sum, b) == less ? operand(sum, a)
                                     : NULL;
}

/* x - (x // c) * c = x % c, whose range is known. */
static Value *remainder_of(Builder *builder, const Op *op)
{
    if (op->code != OP_sub) return NULL;
    const Op *product = operand(op, b)->op;
    const Op *quotient = product && product->code == OP_mul ? operand(product, a)->op : NULL;
    int64_t by, times;
    if (!quotient || quotient->code != OP_floordiv || operand(quotient, a) != operand(op, a) ||
        !value_constant(operand(quotient, b), &by) ||
        !value_constant(operand(product, b), &times) || by != times || by <= 0)
        return NULL;
    Value *rest = build2(builder, OP_floormod, operand(quotient, a), operand(quotient, b));
    if (op_int(quotient, ATTR_positive, 0)) op_set_int(rest->op, ATTR_positive, 1);
    return rest;
}

/* What the gradient alone asks for, of the kernel or of a function inside of it. */
static bool is_kept(const Op *op)
{
    for (const Op *at = op->parent->parent; at; at = at->parent->parent)
        if (at->code == OP_grad) return true;
    return op->parent->kernel->is_differentiated;
}

/* x / c = x * (1 / c), to the bit, where c and 1 / c are powers of two that are no subnormals. */
static Value *exact_product(Builder *builder, const Op *op)
{
    double divisor;
    int power;
    if (op->code != OP_div || op->parent->kernel->stage != STAGE_THREADED ||
        !value_repeated_number(operand(op, b), &divisor) || fabs(frexp(divisor, &power)) != 0.5)
        return NULL;
    const DType dtype = op->results[0].type->dtype;
    const int most = (1 << (dtype_exponent_bits(dtype) - 1)) - 2;
    if (abs(power - 1) > most) return NULL;
    return build2(builder, OP_mul, operand(op, a), build_number(builder, dtype, 1 / divisor));
}

enum { MOST_CONJUNCTS = 4 }; /* of conditions within conditions that are looked through */

/* Wherever the mask holds, so does the condition. */
static bool mask_implies(const Value *mask, const Value *condition, int deep)
{
    const Op *both = mask->op;
    if (mask == condition) return true;
    if (!both || both->code != OP_and || deep == MOST_CONJUNCTS) return false;
    return mask_implies(operand(both, a), condition, deep + 1) ||
           mask_implies(operand(both, b), condition, deep + 1);
}

/* What is gathered is zero where its mask does not hold: there is nothing to choose where the
 * choice is between that and zero, and goes by a part of the mask. */
static Value *masked_anyway(const Op *choice)
{
    Value *value = operand(choice, a);
    const Value *condition = operand(choice, condition);
    const Op *gather = value->op;
    if (!gather || gather->code != OP_gather || condition->type->kind != TYPE_TILE ||
        !scattered_mask(gather) || !mask_implies(scattered_mask(gather), condition, 0))
        return NULL;
    return value_is_zero(operand(choice, b)) ? value : NULL;
}

static Value *choice_identity(Op *op)
{
    int64_t constant;
    if (operand(op, a) == operand(op, b)) return operand(op, a);
    if (value_constant(operand(op, condition), &constant))
        return constant ? operand(op, a) : operand(op, b);
    Value *value = masked_anyway(op);
    return value ? value : simplify_nested_choice(op);
}

static Value *identity(Builder *builder, Op *op)
{
    if (op->code == OP_cast && operand(op, a)->type == op->results[0].type) return operand(op, a);
    if (op->code == OP_convert && operand(op, a)->type == op->results[0].type)
        return operand(op, a);
    if ((op->code == OP_slope || op->code == OP_replayed) && !is_kept(op)) return operand(op, a);
    if (op->code == OP_with_adjoint && !is_kept(op)) return operand(op, pointer);
    if (op->code == OP_select) return choice_identity(op);
    if (op->operand_count != 2 || op->result_count != 1 || !op_has(op, ELEM)) return NULL;
    order_operands(op);
    if (!type_is_scalar(op->results[0].type)) return NULL;
    if (dtype_is_float(operand(op, a)->type->dtype)) return exact_product(builder, op);
    Value *value = identity_with_constant(op);
    if (!value) value = difference(op);
    if (!value) value = remainder_of(builder, op);
    return value ? value : reassociate(builder, op);
}

/* ---- decided branches, empty loops ---- */

static bool decide(const Kernel *kernel, Op *op)
{
    int64_t begin, end;
    if (op->code == OP_if && value_constant(operand(op, condition), &begin)) {
        op_dissolve(op, op->regions[begin ? 0 : 1]);
        return true;
    }
    if (op->code != OP_for) return false;
    if (kernel->stage == STAGE_THREADED && loop_trips(op) == 1) { /* no pass has business with it */
        loop_dissolve(op, operand(op, begin));
        return true;
    }
    if (!value_constant(operand(op, begin), &begin) || !value_constant(operand(op, end), &end) ||
        begin < end ||
        operand(op, begin)->type->dtype == DTYPE_u64) /* constants have a sign here */
        return false;
    for (int i = 0; i < op->result_count; i++)
        value_replace(&op->results[i], operand_list(op, init)[i]);
    op_erase(op);
    return true;
}

/* ---- one walk ---- */

static bool simplify_op(Simplifier *simplifier, Op *op)
{
    Builder builder = builder_before(op);
    Value *value = fold_constants(&builder, op);
    if (!value) value = identity(&builder, op);
    if (!value && may_be_known(op)) {
        Op *equal = find_equal(simplifier, op);
        if (equal) {
            for (int i = 0; i < op->result_count; i++)
                value_replace(&op->results[i], &equal->results[i]);
            op_erase(op);
            return true;
        }
    }
    if (!value) return false;
    value_replace(op->results, value);
    op_erase(op);
    return true;
}

static void simplify_region(Simplifier *simplifier, Region *region);

/* Device code may use nothing that the host region computes: it is simplified with no op in sight.
 */
static void simplify_launch(Simplifier *simplifier, Op *launch)
{
    const Table outside = simplifier->table;
    simplifier->table = (Table){0};
    set_size(simplifier, FIRST_BITS);
    simplify_region(simplifier, launch->regions[0]);
    simplifier->table = outside;
}

static void simplify_region(Simplifier *simplifier, Region *region)
{
    size_t mark = simplifier->table.scope.count;
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        Op *previous = op->previous;
        if (decide(simplifier->kernel, op)) { /* what was inlined comes next */
            next = previous ? previous->next : region->first;
            simplifier->changed = true;
            continue;
        }
        if (simplify_op(simplifier, op)) {
            simplifier->changed = true;
            continue;
        }
        note_writes(simplifier, op);
        if (op->code == OP_launch)
            simplify_launch(simplifier, op);
        else
            for (int i = 0; i < op->region_count; i++) simplify_region(simplifier, op->regions[i]);
    }
    leave_scope(simplifier, mark);
}

/* ---- dead ops ---- */

static bool has_effect(const Op *op)
{
    if (!op->region_count) return op_has(op, WRITES | TERM);
    if (op->code == OP_launch || op->code == OP_while)
        return true; /* a while may not end: keep it */
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            if (inner->code != OP_yield && has_effect(inner)) return true;
    return false;
}

static bool is_used(const Op *op)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i].use_count > 0) return true;
    return false;
}

/* True if there were some. */
static bool drop_dead(Region *region)
{
    bool dropped = false;
    for (Op *op = region->last, *previous; op; op = previous) {
        previous = op_previous(op);
        if (is_used(op) || has_effect(op)) {
            for (int i = op->region_count - 1; i >= 0; i--) dropped |= drop_dead(op->regions[i]);
            continue;
        }
        op_erase(op);
        dropped = true;
    }
    return dropped;
}

/* What is required of the shape of a tensor whose memory nobody reads or writes. */
static bool drop_needless(Kernel *kernel)
{
    bool dropped = false;
    for (Op *op = kernel->host->first, *next; op; op = next) {
        next = op_next(op);
        const Attr *tensor = op->code == OP_require ? op_attr(op, ATTR_index) : NULL;
        if (!tensor || kernel->parameters[tensor->integer].value->use_count > 0) continue;
        op_erase(op);
        dropped = true;
    }
    return dropped;
}

void kernel_drop_dead(Kernel *kernel)
{
    drop_dead(kernel->host);
}

/* ---- values that loops carry for nobody: the result unused, the argument only fed back to itself
 * ---- */

static void narrow_loop(Simplifier *simplifier, Op *loop, int index)
{
    Op *narrow = op_narrow(loop, index);
    for (int i = 0; i < narrow->result_count; i++)
        map_set(simplifier->arena, &simplifier->replaced, &loop->results[i + (i >= index)],
                &narrow->results[i]);
    op_erase(loop);
    simplifier->changed = true;
}

static int find_useless_carry(const Op *loop)
{
    const Op *yield = loop->regions[0]->last;
    if (!yield || yield->code != OP_yield) return -1;
    for (int i = 0; i < loop->result_count; i++) {
        const Value *argument = loop->regions[0]->arguments[1 + i];
        bool feeds_itself = yield->operands[i] == argument;
        if (loop->results[i].use_count == 0 && argument->use_count == (feeds_itself ? 1 : 0))
            return i;
    }
    return -1;
}

/* A carried value that every iteration passes on as it came is the initial one. */
static void forward_invariants(Simplifier *simplifier, Op *loop)
{
    const Op *yield = loop->regions[0]->last;
    for (int i = 0; yield && i < loop->result_count; i++) {
        Value *argument = loop->regions[0]->arguments[1 + i];
        if (yield->operands[i] != argument || map_has(&simplifier->replaced, argument)) continue;
        bool used = loop->results[i].use_count > 0 || argument->use_count > 1;
        if (!used) continue;
        map_set(simplifier->arena, &simplifier->replaced, argument, operand_list(loop, init)[i]);
        map_set(simplifier->arena, &simplifier->replaced, &loop->results[i],
                operand_list(loop, init)[i]);
        simplifier->changed = true;
    }
}

static void look_at_loop(Op *op, void *context)
{
    Simplifier *simplifier = context;
    if (op->code != OP_for || !op->regions[0]->last) return;
    simplifier->changed |= simplify_first_choices(op);
    int useless = find_useless_carry(op);
    if (useless >= 0)
        narrow_loop(simplifier, op, useless);
    else
        forward_invariants(simplifier, op);
}

static bool simplify_once(Simplifier *simplifier)
{
    Kernel *kernel = simplifier->kernel;
    simplifier->changed = false;
    simplify_region(simplifier, kernel->host);
    simplifier->changed |= drop_dead(kernel->host);
    simplifier->changed |= drop_needless(kernel);
    simplifier->replaced = (Map){0};
    if (kernel_had(kernel, OP_for))
        region_visit_inner_first(kernel->host, look_at_loop, simplifier);
    region_replace(kernel->host, &simplifier->replaced);
    return simplifier->changed;
}

bool pass_simplify(Kernel *kernel, PassContext *context)
{
    Simplifier *simplifier = arena_new_of(context->arena, Simplifier);
    simplifier->kernel = kernel;
    simplifier->arena = context->arena;
    set_size(simplifier, FIRST_BITS);
    for (int iteration = 0; iteration < ITERATIONS && simplify_once(simplifier); iteration++)
        ;
    return true;
}
