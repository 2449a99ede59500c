/* elements.c: elements of register tiles at indices that each thread has for itself; needs and
 * leaves a TYPED kernel, one pass with variables, the others in SSA.
 *
 * A tile that is read so goes to shared memory, once for all readings, in the region where it was
 * made: there all threads are that made it, whichever of them come to read it.
 *
 *     item(reduce or (select(iota == i, %tile, 0)))
 *     ->  element_load %shared, i
 *
 * All threads together find an element so, of which they know the place; where each has a place of
 * its own it reads for itself, too.
 *
 *     %old = var_get %v; var_set %v, select(iota == i, splat(x), %old)
 *     ->  element_store %shared, x, i
 *
 * A variable of a tile of which threads set elements, each another one, is a shared tile: what is
 * done with it as a whole loads and stores that. */
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/uniformity.h"
#include "passes/ssa/simplify.h"

#include <string.h>

/* ---- one element of a tile ---- */

typedef struct Element {
    Value *value;
    int rank;
    Value *indices[TYPE_RANK];
} Element;

/* iota == splat(i), of some dimension, and what is joined by `and`. */
static bool find_indices(const Value *mask, Element *out)
{
    const Op *op = mask->op;
    if (op && op->code == OP_and)
        return find_indices(operand(op, a), out) && find_indices(operand(op, b), out);
    int dim;
    Value *index = value_chosen_index(mask, &dim);
    if (!index || out->indices[dim]) return false;
    out->indices[dim] = index;
    return true;
}

static bool any_differs(PassContext *context, const Element *element, const Op *op)
{
    bool differs = false;
    for (int d = 0; d < element->rank; d++)
        differs |= threads_differ(analysis_uniformity(context), element->indices[d],
                                  op_threads(op)) != NULL;
    return differs;
}

/* ---- elements that are read ---- */

typedef struct Pass {
    Kernel *kernel;
    Arena *arena;
    PassContext *context;
    Map copies; /* tile -> shared tile */
    bool found; /* an op that finds an element, which nobody needs any more */
} Pass;

static Value *without_bitcast(Value *value)
{
    return value->op && value->op->code == OP_bitcast ? operand(value->op, a) : value;
}

/* The tile whose one element the op finds; NULL: it is of several, or of bits that bytes hold. */
static Value *tile_of_item(const Op *item, Element *out)
{
    const Op *reduce = without_bitcast(operand(item, a))->op;
    if (!reduce || reduce->code != OP_reduce || strcmp(op_attr(reduce, ATTR_mode)->text, "or") != 0)
        return NULL;
    const Op *select = operand(reduce, a)->op;
    if (!select || select->code != OP_select || !value_is_zero(operand(select, b))) return NULL;
    const DType dtype = item->results[0].type->dtype;
    Value *tile = operand(select, a);
    if (tile->type->dtype != dtype) tile = without_bitcast(tile);
    const Type *type = tile->type;
    *out = (Element){.rank = type->rank};
    if (type->kind != TYPE_TILE || type->dtype != dtype || dtype == DTYPE_b1 ||
        !find_indices(operand(select, condition), out))
        return NULL;
    for (int d = 0; d < type->rank; d++)
        if (!out->indices[d]) return NULL;
    return tile;
}

static void find_item(Op *item, void *context)
{
    Pass *pass = context;
    Element element;
    Value *operands[1 + TYPE_RANK] = {tile_of_item(item, &element)};
    if (!operands[0] || !any_differs(pass->context, &element, item)) return;
    memcpy(operands + 1, element.indices, sizeof *operands * (size_t)element.rank);
    Builder at = builder_before(item);
    const Type *type = item->results[0].type;
    Op *load = build_op(&at, OP_element_load, 1 + element.rank, operands, 1, &type);
    value_replace(&item->results[0], load->results);
    pass->found = true;
}

/* Ops are visited in the order of the text, so that the first reading stands before all others. */
static Value *copy_before(Pass *pass, Value *tile, Op *first)
{
    const Region *region = tile->op ? tile->op->parent : tile->region;
    Builder at = builder_before(region_find_ancestor(region, first));
    const Type *type = type_shared(pass->kernel->types, tile->type->dtype, tile->type->rank,
                                   tile->type->shape, NULL);
    Value *shared = build_op(&at, OP_shared_alloc, 0, NULL, 1, &type)->results;
    build_op(&at, OP_shared_store, 2, (Value *[]){shared, tile}, 0, NULL);
    map_set(pass->arena, &pass->copies, tile, shared);
    return shared;
}

static void visit(Op *op, void *context)
{
    Pass *pass = context;
    if (op->code != OP_element_load || operand(op, memory)->type->kind != TYPE_TILE) return;
    Value *tile = operand(op, memory), *shared = map_get(&pass->copies, tile);
    op_set_operand(op, operand_index(op, memory), shared ? shared : copy_before(pass, tile, op));
}

bool pass_elements(Kernel *kernel, PassContext *context)
{
    Pass pass = {.kernel = kernel, .arena = arena_new(), .context = context};
    kernel_visit_those(kernel, OP_item, find_item, &pass);
    if (pass.found) kernel_drop_dead(kernel);
    kernel_visit_those(kernel, OP_element_load, visit, &pass);
    arena_free(pass.arena);
    return true;
}

/* ---- elements that are set ---- */

typedef struct Setting {
    Kernel *kernel;
    Arena *arena;
    PassContext *context;
    Map tiles; /* variable -> shared tile */
    OpVec uses;
} Setting;

/* Whether one element is set, and the others stay. */
static bool sets_element(const Op *set, Element *out)
{
    const Op *select = operand(set, value)->op;
    if (!select || select->code != OP_select) return false;
    const Op *value = operand(select, a)->op, *old = operand(select, b)->op;
    if (!value || value->code != OP_splat || !old || old->code != OP_var_get ||
        operand(old, variable) != operand(set, variable))
        return false;
    const Type *type = operand(set, value)->type;
    *out = (Element){.value = operand(value, a), .rank = type->rank};
    if (!find_indices(operand(select, condition), out)) return false;
    for (int d = 0; d < type->rank; d++)
        if (!out->indices[d]) return false;
    return true;
}

/* A variable whose elements threads set, each another one. */
static void find_variable(Op *set, void *context)
{
    Setting *setting = context;
    Value *variable = operand(set, variable);
    const Type *type = variable->type->content;
    Element element;
    if (type->kind != TYPE_TILE || type->dtype == DTYPE_b1 || map_has(&setting->tiles, variable) ||
        !sets_element(set, &element) || !group_is_same(op_threads(set), op_threads(variable->op)))
        return;
    if (!any_differs(setting->context, &element, set)) return;
    Builder at = builder_before(variable->op);
    const Type *shared =
        type_shared(setting->kernel->types, type->dtype, type->rank, type->shape, NULL);
    Value *tile = build_op(&at, OP_shared_alloc, 0, NULL, 1, &shared)->results;
    Value *init = operand_given(variable->op, init);
    if (init) build_op(&at, OP_shared_store, 2, (Value *[]){tile, init}, 0, NULL);
    map_set(setting->arena, &setting->tiles, variable, tile);
}

static Value *tile_of_variable(const Setting *setting, const Op *op)
{
    return op && op->code == OP_var_get ? map_get(&setting->tiles, operand(op, variable)) : NULL;
}

static void read_element(Op *load, void *context)
{
    const Setting *setting = context;
    Value *tile = tile_of_variable(setting, operand(load, memory)->op);
    if (tile) op_set_operand(load, operand_index(load, memory), tile);
}

static void note_use(Op *op, void *context)
{
    Setting *setting = context;
    if (map_has(&setting->tiles, operand(op, variable)))
        vec_push(setting->arena, &setting->uses, op);
}

static void set_tile(Op *set, Value *tile)
{
    Builder at = builder_before(set);
    Element element;
    Value *operands[2 + TYPE_RANK] = {tile};
    if (!sets_element(set, &element)) {
        operands[1] = operand(set, value);
        build_op(&at, OP_shared_store, 2, operands, 0, NULL);
    } else {
        operands[1] = element.value;
        memcpy(operands + 2, element.indices, sizeof *operands * (size_t)element.rank);
        Op *store = build_op(&at, OP_element_store, 2 + element.rank, operands, 0, NULL);
        op_set_int(store, ATTR_once, 1);
    }
    op_erase(set);
}

static void get_tile(Op *get, Value *tile)
{
    Builder at = builder_before(get);
    if (get->results[0].use_count > 0)
        value_replace(&get->results[0], build1(&at, OP_shared_load, tile));
    op_erase(get);
}

bool pass_set_elements(Kernel *kernel, PassContext *context)
{
    Setting setting = {.kernel = kernel, .arena = arena_new(), .context = context};
    kernel_visit_those(kernel, OP_var_set, find_variable, &setting);
    if (setting.tiles.count > 0) {
        kernel_visit_those(kernel, OP_element_load, read_element, &setting);
        kernel_visit_those(kernel, OP_var_set, note_use, &setting);
        for (size_t i = 0; i < setting.uses.count; i++)
            set_tile(setting.uses.data[i],
                     map_get(&setting.tiles, operand(setting.uses.data[i], variable)));
        setting.uses.count = 0;
        kernel_drop_dead(kernel);
        kernel_visit_those(kernel, OP_var_get, note_use, &setting);
        for (size_t i = 0; i < setting.uses.count; i++)
            get_tile(setting.uses.data[i],
                     map_get(&setting.tiles, operand(setting.uses.data[i], variable)));
    }
    arena_free(setting.arena);
    return true;
}

/* ---- elements that are changed where threads have parted ---- */

/*     %new = if %differs { %s = shared_alloc; shared_store %s, %old; element_store %s, ...;
 *                          %1 = shared_load %s; yield %1 } { yield %old }
 *     ->  %s = shared_alloc; shared_store %s, %old
 *         if %differs { element_store %s, ... }
 *         %new = shared_load %s
 *
 * What all threads do together, they do where all of them are. So with several changes one behind
 * the other, in branches and loops within: each of them begins with the tile that the one before it
 * left. */

typedef VEC(Value *) ValueVec;

/* How a tile goes through a branch. */
typedef struct Changes {
    Arena *arena;
    ValueVec values;   /* that the tile was in between */
    ValueVec memories; /* in which it was changed */
    OpVec loads;       /* of each of them, once it was */
    OpVec takers;      /* ops that take such values: stores to memories, loops, yields */
    ValueVec taken;    /* by each of them */
    OpVec within;      /* branches and loops that gave such values */
    VEC(int) places;   /* among the results of each of them */
} Changes;

static Value *origin_of(Changes *changes, Region *region, Value *value);

static Value *taken_by(Changes *changes, Op *taker, Value *value)
{
    vec_push(changes->arena, &changes->takers, taker);
    vec_push(changes->arena, &changes->taken, value);
    return value;
}

static Value *yielded(Changes *changes, const Region *region, int index)
{
    Op *yield = region_terminator(region);
    return taken_by(changes, yield, yield->operands[index]);
}

/* The tile that stood in memory of its own before its elements were changed; NULL: it is no such
 * memory. */
static Value *stored_before(Changes *changes, Op *load)
{
    Value *memory = operand(load, tile), *stored = NULL;
    if (!memory->op || memory->op->code != OP_shared_alloc || memory->op->parent != load->parent)
        return NULL;
    for (const OpUse *use = memory->uses; use; use = use->next) {
        if (use->op == load || op_is_element(use->op)) continue;
        if (use->op->code != OP_shared_store || stored || use->op->parent != load->parent)
            return NULL;
        stored = taken_by(changes, use->op, operand(use->op, value));
    }
    vec_push(changes->arena, &changes->memories, memory);
    vec_push(changes->arena, &changes->loads, load);
    return stored && stored->type == load->results->type ? stored : NULL;
}

/* Of both arms. */
static Value *before_branch(Changes *changes, const Op *branch, int index)
{
    Value *origins[2];
    for (int i = 0; i < 2; i++)
        origins[i] =
            origin_of(changes, branch->regions[i], yielded(changes, branch->regions[i], index));
    return origins[0] == origins[1] ? origins[0] : NULL;
}

static Value *before_loop(Changes *changes, Op *loop, int index)
{
    Region *body = loop->regions[0];
    Value *argument = body->arguments[1 + index];
    vec_push(changes->arena, &changes->values, argument);
    return origin_of(changes, body, yielded(changes, body, index)) == argument
               ? taken_by(changes, loop, operand_list(loop, init)[index])
               : NULL;
}

static Op *within(Changes *changes, const Value *value)
{
    vec_push(changes->arena, &changes->within, value->op);
    vec_push(changes->arena, &changes->places, value->index);
    return value->op;
}

/* What the region found, of which the value is what its elements were changed to; NULL: it is
 * something else. */
static Value *origin_of(Changes *changes, Region *region, Value *value)
{
    while (value && value->op && value->op->parent == region) {
        Op *op = value->op;
        vec_push(changes->arena, &changes->values, value);
        if (op->code == OP_shared_load)
            value = stored_before(changes, op);
        else if (op->code == OP_if)
            value = before_branch(changes, within(changes, value), value->index);
        else if (op->code == OP_for)
            value = before_loop(changes, within(changes, value), value->index);
        else
            return NULL;
    }
    return value;
}

/* ---- what else is done with it ---- */

static bool takes(const Changes *changes, const Op *op, const Value *value)
{
    int count = 0;
    for (int i = 0; i < op->operand_count; i++) count += op->operands[i] == value;
    for (size_t i = 0; i < changes->takers.count; i++)
        if (changes->takers.data[i] == op && changes->taken.data[i] == value) return count == 1;
    return false;
}

/* Whether the read comes before the op by which the value becomes another one, if both come. */
static bool reads_before(const Op *read, const Op *taker)
{
    const Op *around = region_find_ancestor(taker->parent, read);
    if (around) return around != taker && op_comes_before(around, taker);
    around = region_find_ancestor(read->parent, taker);
    return !around || op_comes_before(read, around);
}

static bool is_read_in_time(const Changes *changes, const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        if (takes(changes, use->op, value)) continue;
        if (use->op->code != OP_element_load) return false;
        for (const OpUse *other = value->uses; other; other = other->next)
            if (takes(changes, other->op, value) && !op_has(other->op, TERM) &&
                !reads_before(use->op, other->op))
                return false;
    }
    return true;
}

static bool may_stay_in_memory(const Changes *changes)
{
    for (size_t i = 0; i < changes->values.count; i++)
        if (!is_read_in_time(changes, changes->values.data[i])) return false;
    return changes->memories.count > 0;
}

/* ---- done ---- */

static void read_memory(Value *value, Value *memory)
{
    for (OpUse *use = value->uses, *next; use; use = next) {
        next = use->next;
        if (use->op->code == OP_element_load)
            op_set_operand(use->op, operand_index(use->op, memory), memory);
    }
}

static Op *without_result(Op *op, int index)
{
    Op *narrow = op_narrow(op, index);
    for (int i = 0; i < narrow->result_count; i++)
        value_replace(&op->results[i + (i >= index)], &narrow->results[i]);
    op_erase(op);
    return narrow;
}

/* The op without the tile. */
static Op *keep_in_memory(Changes *changes, Op *op, int index, Value *origin)
{
    Builder before = builder_before(op), behind = builder_after(op);
    const Type *type = changes->memories.data[0]->type;
    Value *memory = build_op(&before, OP_shared_alloc, 0, NULL, 1, &type)->results;
    build2(&before, OP_shared_store, memory, origin);
    value_replace(&op->results[index], build1(&behind, OP_shared_load, memory));
    for (size_t i = 0; i < changes->values.count; i++) read_memory(changes->values.data[i], memory);
    for (size_t i = 0; i < changes->takers.count; i++)
        if (changes->takers.data[i]->code == OP_shared_store) op_erase(changes->takers.data[i]);
    op = without_result(op, index);
    for (size_t i = 0; i < changes->within.count; i++)
        without_result(changes->within.data[i], changes->places.data[i]);
    for (size_t i = 0; i < changes->memories.count; i++) {
        op_erase(changes->loads.data[i]);
        value_replace(changes->memories.data[i], memory);
        op_erase(changes->memories.data[i]->op);
    }
    return op;
}

/* Whether its threads do not all go the same way. */
static bool parts_threads(PassContext *context, const Op *op)
{
    const int count = op->code == OP_if ? 1 : operand_index(op, init);
    for (int i = 0; i < count; i++)
        if (threads_differ(analysis_uniformity(context), op->operands[i], op_threads(op)))
            return true;
    return false;
}

static void visit_parting(Op *op, void *context)
{
    PassContext *pass = context;
    if ((op->code != OP_if && op->code != OP_for) || !parts_threads(pass, op)) return;
    for (int i = 0; i < op->result_count; i++) {
        Changes changes = {.arena = pass->arena};
        if (!type_is_tile(op->results[i].type)) continue;
        Value *origin =
            op->code == OP_if ? before_branch(&changes, op, i) : before_loop(&changes, op, i);
        if (origin && may_stay_in_memory(&changes)) op = keep_in_memory(&changes, op, i--, origin);
    }
}

bool pass_parted_tiles(Kernel *kernel, PassContext *context)
{
    if (kernel_had(kernel, OP_shared_load))
        region_visit_inner_first(kernel->host, visit_parting, context);
    return true;
}
