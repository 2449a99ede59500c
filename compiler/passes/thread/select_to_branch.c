/* select_to_branch.c: what a choice rarely takes is computed where it is taken only.
 *
 * A tile has no branches: both sides of a choice are computed for all elements. Where its second
 * side takes many ops that nothing else needs, the elements of a thread whose choices follow each
 * other get a branch: none of them takes it, or all have it computed, and choose. Where that are
 * very many ops, and whoever wrote the choice says that it is rare, the branch has them once, in a
 * loop over its elements. */
#include "passes/pass.h"
#include "ir/rebuild.h"
#include "ir/op_vec.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef VEC(Value *) ValueVec;

typedef struct Part {
    int number;       /* of an op, in its region */
    int uses, within; /* of its results, and those by ops that can be moved */
    int run;          /* that it was last looked at for */
    int element;      /* whose second side alone needs it, from 1 on; 0: none, or several */
    int index;        /* among those of its element */
} Part;

typedef struct SelectToBranch {
    Kernel *kernel;
    Arena *arena;
    Region *region;
    OpVec run;   /* selects that follow each other */
    int runs;    /* so far */
    OpVec found; /* what their second sides come from, so far as it was looked at */
    OpVec moves; /* that they alone need */
} SelectToBranch;

static Part *part_of(const Op *op)
{
    return op->scratch;
}

/* The op of the region that makes the value; NULL: there is none. */
static Op *maker(const SelectToBranch *rare, const Value *value)
{
    return value->op && value->op->parent == rare->region ? value->op : NULL;
}

static bool may_move(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP | TERM) && op->region_count == 0 &&
           op->code != OP_const;
}

/* ---- what comes from where ---- */

static void number_ops(SelectToBranch *rare)
{
    int number = 0;
    for (Op *op = rare->region->first; op; op = op_next(op)) {
        op->scratch = arena_new_array(rare->arena, Part, 1);
        *part_of(op) = (Part){.number = number++};
        for (int i = 0; i < op->result_count; i++) part_of(op)->uses += op->results[i].use_count;
    }
}

/* An op moves when all its uses are within, and what it is made of may then, too. */
static void note_use(SelectToBranch *rare, const Value *value)
{
    Op *op = maker(rare, value);
    if (!op || !may_move(op) || part_of(op)->number >= part_of(rare->run.data[0])->number) return;
    if (part_of(op)->within++ == 0) vec_push(rare->arena, &rare->found, op);
    if (part_of(op)->within == part_of(op)->uses) vec_push(rare->arena, &rare->moves, op);
}

static int compare_first_last(const void *a, const void *b)
{
    return part_of(*(Op *const *)a)->number - part_of(*(Op *const *)b)->number;
}

/* Those that only the second sides need, which are so many. */
static int choose_moves(SelectToBranch *rare)
{
    OpVec *moves = &rare->moves;
    for (size_t i = 0; i < rare->run.count; i++) note_use(rare, operand(rare->run.data[i], b));
    for (size_t i = 0; i < moves->count; i++)
        for (int k = 0; k < moves->data[i]->operand_count; k++)
            note_use(rare, moves->data[i]->operands[k]);
    return (int)moves->count;
}

static void forget_moves(SelectToBranch *rare)
{
    vec_each (op, &rare->found) part_of(*op)->within = part_of(*op)->element = 0;
    rare->found.count = rare->moves.count = 0;
}

/* ---- the branch ---- */

static void build_yield(Region *region, Span span, Value **values, size_t count)
{
    Builder at = builder_at_end(region, span);
    build_op(&at, OP_yield, (int)count, values, 0, NULL);
}

static void move_rest(const SelectToBranch *rare, const Op *branch)
{
    const OpVec *moves = &rare->moves;
    qsort(moves->data, moves->count, sizeof *moves->data, compare_first_last);
    for (size_t i = 0; i < moves->count; i++)
        op_move_before(moves->data[i], branch->regions[1]->last);
}

static Op *build_choice(const SelectToBranch *rare, const ValueVec *conditions)
{
    const size_t count = rare->run.count;
    Op *first = rare->run.data[0];
    Builder at = builder_before(first);
    Value *none = conditions->data[0];
    for (size_t i = 1; i < conditions->count; i++)
        none = build2(&at, OP_and, none, conditions->data[i]);
    const Type **types = arena_new_array(rare->arena, const Type *, count);
    Value **quick = arena_new_array(rare->arena, Value *, count),
          **chosen = arena_new_array(rare->arena, Value *, count);
    for (size_t i = 0; i < count; i++) types[i] = rare->run.data[i]->results[0].type;
    Op *branch = build_op(&at, OP_if, 1, &none, (int)count, types);
    for (size_t i = 0; i < count; i++) {
        quick[i] = operand(rare->run.data[i], a);
        chosen[i] = &rare->run.data[i]->results[0];
    }
    build_yield(branch->regions[0], first->span, quick, count);
    for (size_t i = 0; i < count; i++) value_replace(chosen[i], &branch->results[i]);
    build_yield(branch->regions[1], first->span, chosen, count);
    return branch;
}

/* Constants between the choices, which either way may need, are made before the branch. */
static void move_constants(const SelectToBranch *rare)
{
    Op *first = rare->run.data[0];
    for (Op *op = vec_last(&rare->run), *before; op != first; op = before) {
        before = op->previous;
        if (op->code == OP_const) op_move_before(op, first);
    }
}

/* ---- a loop over the elements ----
 *
 * It carries what the elements' ops are given from elsewhere, and what is chosen so far, the quick
 * sides at first. Each iteration takes the first element, and turns all round by one. */

typedef VEC(Value **) Slots; /* a value for each element */

typedef struct Taken { /* an operand of the first element's op that is another's in each iteration
                        */
    Op *op;
    int operand;
    size_t slot;
} Taken;

#define NO_SLOT SIZE_MAX

typedef struct ElementLoop {
    const SelectToBranch *rare;
    const ValueVec *conditions;
    int count;      /* of elements */
    OpVec *ops;     /* of each */
    OpVec *choices; /* likewise */
    Slots slots;
    VEC(Taken) taken;
    size_t condition_slot;
    Op *comparison;     /* in its place; NULL: none */
    size_t compared[2]; /* the slots of its operands */
    Value **arguments;  /* of the loop's body, behind its index */
} ElementLoop;

static Part *moved_part(const ElementLoop *loop, const Value *value)
{
    Op *op = maker(loop->rare, value);
    return op && part_of(op) && part_of(op)->element ? part_of(op) : NULL;
}

static int element_of(const ElementLoop *loop, const Op *choice)
{
    for (int i = 0; i < loop->count; i++)
        if (loop->conditions->data[i] == operand(choice, condition)) return i + 1;
    return 0;
}

/* Ops stand in `moves` behind those that use them. False: one is of several elements. */
static bool find_elements(ElementLoop *loop)
{
    const OpVec *moves = &loop->rare->moves;
    for (size_t i = 0; i < loop->rare->run.count; i++) {
        Op *choice = loop->rare->run.data[i];
        if (!op_int(choice, ATTR_rare, 0)) return false;
        const int element = element_of(loop, choice);
        Op *op = maker(loop->rare, operand(choice, b));
        if (!op || !part_of(op)->within || part_of(op)->within < part_of(op)->uses) return false;
        if (part_of(op)->element && part_of(op)->element != element) return false;
        part_of(op)->element = element;
        vec_push(loop->rare->arena, &loop->choices[element - 1], choice);
    }
    for (size_t i = 0; i < moves->count; i++)
        for (int k = 0; k < moves->data[i]->operand_count; k++) {
            Op *op = maker(loop->rare, moves->data[i]->operands[k]);
            if (!op || !part_of(op)->within || part_of(op)->within < part_of(op)->uses) continue;
            const int element = part_of(moves->data[i])->element;
            if (part_of(op)->element && part_of(op)->element != element) return false;
            part_of(op)->element = element;
        }
    return true;
}

/* The elements' values, of which the loop has one place each. */
static size_t slot_of(ElementLoop *loop, Value *const *values)
{
    const size_t bytes = sizeof *values * (size_t)loop->count;
    for (size_t i = 0; i < loop->slots.count; i++)
        if (memcmp(loop->slots.data[i], values, bytes) == 0) return i;
    Value **copy = arena_new_array(loop->rare->arena, Value *, (size_t)loop->count);
    memcpy(copy, values, bytes);
    vec_push(loop->rare->arena, &loop->slots, copy);
    return loop->slots.count - 1;
}

/* Whether that operand is made alike, or is there anyway. */
static bool match_operand(ElementLoop *loop, size_t at, int k, Value **values)
{
    Op *first = loop->ops[0].data[at];
    const Part *from = moved_part(loop, first->operands[k]);
    bool differs = false;
    for (int i = 0; i < loop->count; i++) {
        values[i] = loop->ops[i].data[at]->operands[k];
        const Part *part = moved_part(loop, values[i]);
        if (!from != !part || values[i]->type != values[0]->type) return false;
        if (part && part->index != from->index) return false;
        differs |= values[i] != values[0];
    }
    if (!from && differs) {
        const Taken taken = {first, k, slot_of(loop, values)};
        vec_push(loop->rare->arena, &loop->taken, taken);
    }
    return true;
}

static bool match_ops(ElementLoop *loop, Value **values)
{
    const OpVec *first = loop->ops;
    for (int i = 1; i < loop->count; i++)
        if (loop->ops[i].count != first->count || loop->choices[i].count != loop->choices->count)
            return false;
    for (size_t at = 0; at < first->count; at++) {
        for (int i = 1; i < loop->count; i++)
            if (!op_alike(first->data[at], loop->ops[i].data[at])) return false;
        for (int k = 0; k < first->data[at]->operand_count; k++)
            if (!match_operand(loop, at, k, values)) return false;
    }
    for (size_t at = 0; at < loop->choices->count; at++)
        for (int i = 1; i < loop->count; i++) {
            const Value *a = operand(loop->choices->data[at], b),
                        *b = operand(loop->choices[i].data[at], b);
            if (moved_part(loop, a)->index != moved_part(loop, b)->index) return false;
        }
    return true;
}

/* A comparison is made once more for each element, which takes less than to carry what it gives. */
static void match_conditions(ElementLoop *loop, Value **values)
{
    const ValueVec *conditions = loop->conditions;
    Op *first = conditions->data[0]->op;
    bool is_alike = first && first->code == OP_cmp;
    for (size_t i = 1; is_alike && i < conditions->count; i++) {
        const Op *other = conditions->data[i]->op;
        is_alike = other && op_alike(first, other);
        for (int k = 0; is_alike && k < first->operand_count; k++)
            is_alike = other->operands[k]->type == first->operands[k]->type;
    }
    if (!is_alike) {
        loop->condition_slot = slot_of(loop, conditions->data);
        return;
    }
    loop->comparison = first;
    for (int k = 0; k < first->operand_count; k++) {
        bool differs = false;
        for (size_t i = 0; i < conditions->count; i++) {
            values[i] = conditions->data[i]->op->operands[k];
            differs |= values[i] != values[0];
        }
        loop->compared[k] = differs ? slot_of(loop, values) : NO_SLOT;
    }
}

/* The elements' ops side by side, in order; false: they are not alike, or too few. */
static bool plan_loop(ElementLoop *loop)
{
    const SelectToBranch *rare = loop->rare;
    const OpVec *moves = &rare->moves;
    const size_t count = (size_t)loop->count;
    if (count < 2 || moves->count < count * COST_BRANCH_LOOP_OPS) return false;
    loop->ops = arena_new_array(rare->arena, OpVec, count);
    loop->choices = arena_new_array(rare->arena, OpVec, count);
    if (!find_elements(loop)) return false;
    qsort(moves->data, moves->count, sizeof *moves->data, compare_first_last);
    for (size_t i = 0; i < moves->count; i++) {
        Part *part = part_of(moves->data[i]);
        part->index = (int)loop->ops[part->element - 1].count;
        vec_push(rare->arena, &loop->ops[part->element - 1], moves->data[i]);
    }
    Value **values = arena_new_array(rare->arena, Value *, count);
    if (!match_ops(loop, values)) return false;
    match_conditions(loop, values);
    return true;
}

/* What is carried: each slot's values, then the choices' of all elements. */
static Op *build_loop(ElementLoop *loop, Builder *at)
{
    const size_t count = (size_t)loop->count;
    ValueVec operands = {0};
    Arena *arena = loop->rare->arena;
    const int bounds[] = {0, loop->count, 1};
    for (int i = 0; i < 3; i++) vec_push(arena, &operands, build_const(at, DTYPE_i32, bounds[i]));
    for (size_t slot = 0; slot < loop->slots.count; slot++)
        for (size_t i = 0; i < count; i++) vec_push(arena, &operands, loop->slots.data[slot][i]);
    for (size_t j = 0; j < loop->choices->count; j++)
        for (size_t i = 0; i < count; i++)
            vec_push(arena, &operands, operand(loop->choices[i].data[j], a));
    Op *op = loop_build(at, (int)operands.count, operands.data);
    op_set_int(op, ATTR_unroll, 1);
    loop->arguments = op->regions[0]->arguments + 1;
    return op;
}

/* Turned round by one; what the first element has chosen comes last. */
static void yield_next(const ElementLoop *loop, Region *body, Span span)
{
    const size_t count = (size_t)loop->count, slots = loop->slots.count * count,
                 carried = slots + loop->choices->count * count;
    Value **next = arena_new_array(loop->rare->arena, Value *, carried);
    for (size_t i = 0; i < carried; i++) next[i] = loop->arguments[i - i % count + (i + 1) % count];
    for (size_t j = 0; j < loop->choices->count; j++)
        next[slots + j * count + count - 1] = &loop->choices->data[j]->results[0];
    build_yield(body, span, next, carried);
}

static Value *first_condition(const ElementLoop *loop, Op *before)
{
    const size_t count = (size_t)loop->count;
    if (!loop->comparison) return loop->arguments[loop->condition_slot * count];
    Builder at = builder_before(before);
    Map map = {0};
    Op *comparison = op_clone(&at, loop->comparison, &map);
    for (int k = 0; k < comparison->operand_count; k++)
        if (loop->compared[k] != NO_SLOT)
            op_set_operand(comparison, k, loop->arguments[loop->compared[k] * count]);
    return &comparison->results[0];
}

/* Of the first element's ops; the others' are gone. */
static void fill_loop(const ElementLoop *loop, Op *op)
{
    const size_t count = (size_t)loop->count, slots = loop->slots.count * count,
                 choices = loop->choices->count;
    Region *body = op->regions[0];
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < choices; j++)
            value_replace(&loop->choices[i].data[j]->results[0],
                          &op->results[slots + j * count + i]);
    yield_next(loop, body, op->span);
    for (size_t at = 0; at < loop->ops->count; at++)
        op_move_before(loop->ops->data[at], body->last);
    vec_each (taken, &loop->taken)
        op_set_operand(taken->op, taken->operand, loop->arguments[taken->slot * count]);
    Value *condition = first_condition(loop, body->last);
    for (size_t j = 0; j < choices; j++) {
        Op *choice = loop->choices->data[j];
        op_move_before(choice, body->last);
        op_set_operand(choice, operand_index(choice, condition), condition);
        op_set_operand(choice, operand_index(choice, a), loop->arguments[slots + j * count]);
    }
    for (size_t i = 1; i < count; i++) {
        for (size_t j = 0; j < choices; j++) op_erase(loop->choices[i].data[j]);
        for (size_t at = loop->ops[i].count; at > 0; at--) op_erase(loop->ops[i].data[at - 1]);
    }
}

static Op *take_apart(SelectToBranch *rare, const ValueVec *conditions)
{
    ElementLoop loop = {.rare = rare, .conditions = conditions, .count = (int)conditions->count};
    const bool loops = plan_loop(&loop);
    move_constants(rare);
    Op *branch = build_choice(rare, conditions);
    for (Op *op = branch; op && !op->scratch; op = op->previous) {
        op->scratch = arena_new_array(rare->arena, Part, 1);
        *part_of(op) = (Part){0};
    }
    if (loops) {
        Builder at = builder_before(branch->regions[1]->last);
        fill_loop(&loop, build_loop(&loop, &at));
        return branch;
    }
    move_rest(rare, branch);
    for (size_t i = 0; i < rare->run.count; i++)
        op_move_before(rare->run.data[i], branch->regions[1]->last);
    return branch;
}

/* ---- where ---- */

static bool is_choice(const Op *op)
{
    return op->code == OP_select && operand(op, condition)->type->kind == TYPE_SCALAR;
}

static bool holds(const ValueVec *values, const Value *value)
{
    for (size_t i = 0; i < values->count; i++)
        if (values->data[i] == value) return true;
    return false;
}

static bool needs_another(const SelectToBranch *rare, const Op *op)
{
    for (int k = 0; k < op->operand_count; k++) {
        const Op *from = maker(rare, op->operands[k]);
        if (from && part_of(from) && part_of(from)->run == rare->runs) return true;
    }
    return false;
}

/* From `op` on the selects of a few conditions, as long as none needs another one. */
static ValueVec find_run(SelectToBranch *rare, Op *op)
{
    ValueVec conditions = {0};
    rare->run.count = 0;
    rare->runs++;
    for (; op && (op->code == OP_const || is_choice(op)); op = op->next) {
        if (op->code == OP_const) continue;
        if (needs_another(rare, op) || rare->run.count == COST_BRANCH_RESULTS) break;
        part_of(op)->run = rare->runs;
        const bool is_old = holds(&conditions, operand(op, condition));
        if (!is_old && conditions.count == COST_BRANCH_ELEMENTS) continue;
        if (!is_old) vec_push(rare->arena, &conditions, operand(op, condition));
        vec_push(rare->arena, &rare->run, op);
    }
    return conditions;
}

/* Where a whole row of elements has one condition, each needs so much: the branch would part what
 * computes them from what uses them, and has a register for each. */
static bool takes_long(SelectToBranch *rare, size_t conditions)
{
    const int64_t each = (int64_t)rare->run.count * COST_BRANCH_RESULT_OPS;
    return choose_moves(rare) >= larger_of((int64_t)conditions * COST_BRANCH_OPS, each);
}

static void look(Kernel *kernel, Region *region)
{
    SelectToBranch rare = {.kernel = kernel, .arena = kernel->arena, .region = region};
    for (Op *op = region->first; op; op = op_next(op))
        for (int i = 0; i < op->region_count; i++) look(kernel, op->regions[i]);
    number_ops(&rare);
    for (Op *op = region->first; op; op = op_next(op)) {
        if (!is_choice(op)) continue;
        const ValueVec conditions = find_run(&rare, op);
        if (takes_long(&rare, conditions.count)) op = take_apart(&rare, &conditions);
        forget_moves(&rare);
    }
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

bool pass_select_to_branch(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) look(kernel, op->regions[0]);
    return true;
}
