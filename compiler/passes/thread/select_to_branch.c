/* select_to_branch.c: what a choice rarely takes is computed where it is taken only.
 *
 * A tile has no branches: both sides of a choice are computed for all elements. Where its second
 * side takes many ops that nothing else needs, the elements of a thread whose choices follow each
 * other get a branch: none of them takes it, or all have it computed, and choose. */
#include "passes/pass.h"
#include "ir/op_vec.h"

#include "base/vec.h"

#include <stdlib.h>

typedef VEC(Value *) ValueVec;

typedef struct Part {
    int number;       /* of an op, in its region */
    int uses, within; /* of its results, and those by ops that can be moved */
    int run;          /* that it was last looked at for */
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
    for (size_t i = 0; i < rare->found.count; i++) part_of(rare->found.data[i])->within = 0;
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

static Op *take_apart(const SelectToBranch *rare, const ValueVec *conditions)
{
    move_constants(rare);
    Op *branch = build_choice(rare, conditions);
    for (Op *op = branch; op && !op->scratch; op = op->previous) {
        op->scratch = arena_new_array(rare->arena, Part, 1);
        *part_of(op) = (Part){0};
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
        if (needs_another(rare, op)) break;
        part_of(op)->run = rare->runs;
        const bool is_old = holds(&conditions, operand(op, condition));
        if (!is_old && conditions.count == COST_BRANCH_ELEMENTS) continue;
        if (!is_old) vec_push(rare->arena, &conditions, operand(op, condition));
        vec_push(rare->arena, &rare->run, op);
    }
    return conditions;
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
        if (choose_moves(&rare) >= COST_BRANCH_OPS * (int)conditions.count)
            op = take_apart(&rare, &conditions);
        forget_moves(&rare);
    }
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

bool pass_select_to_branch(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) look(kernel, op->regions[0]);
    return true;
}
