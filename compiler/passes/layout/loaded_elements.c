/* loaded_elements.c: elements of loaded tiles at an index that all threads have are read of the
 * memory, where they are wanted. Needs SSA, bounds; leaves a TYPED kernel.
 *
 *     x = load view[o : o + 64]
 *     for k: item(reduce(select(iota == k, x, 0)))    ->    for k: element_load view[o + k]
 *
 * where the bits of x and of the sum may have another type between.
 *
 * A table that a kernel loads as a whole, to look up where an iteration's tiles are or whether they
 * are there, is in all threads' registers, so that each look takes a way through shared memory and
 * its barriers. Reads of memory that nothing in the launch writes can be made ahead, and by whoever
 * copies what the table says. */
#include "passes/analysis/context.h"
#include "passes/analysis/access.h"

#include "ir/op_vec.h"

typedef struct Elements {
    Kernel *kernel;
    FactTable *facts;
    const Region *launch;
    OpVec sums; /* that choose an element */
} Elements;

/* What has the value's bits, before they got other types. */
static const Value *bits_of(const Value *value)
{
    while (value->op && op_has(value->op, RETYPES)) value = operand(value->op, a);
    return value;
}

/* Zeros change nothing of what it combines. */
static bool is_sum(const Op *reduce)
{
    const OpCode code = op_combination(reduce);
    return code == OP_add || code == OP_or || code == OP_xor;
}

/* The load whose element the reduction chooses, and the element's index; NULL: it is another one.
 */
static Op *chosen_load(const Op *reduce, Value **index)
{
    const Op *select = operand(reduce, a)->op;
    int dim;
    if (!is_sum(reduce) || !select || select->code != OP_select || select->results->type->rank != 1)
        return NULL;
    *index = value_chosen_index(operand(select, condition), &dim);
    Op *load = bits_of(operand(select, a))->op;
    return *index && load && load->code == OP_load && value_is_zero(operand(select, b)) ? load
                                                                                        : NULL;
}

/* Inside of the tile, which is inside of the view, whose memory stays as it is. */
static bool is_readable(const Elements *elements, Op *load, const Value *index)
{
    const Facts facts = facts_of(elements->facts, index);
    const Attr *bounds = op_attr(load, ATTR_bounds);
    const Parameter *parameter = memory_parameter(operand(load, view));
    if (facts.low < 0 || facts.high >= load->results->type->shape[0] || !bounds || !parameter)
        return false;
    for (int i = 0; i < bounds->count; i++)
        if (bounds->integers[i]) return false;
    return !region_find(elements->launch, op_may_write, parameter);
}

static Value *read_element(const Op *reduce, Op *load, Value *index)
{
    Builder builder = builder_before((Op *)(uintptr_t)reduce);
    const Access access = access_of(load);
    Value *operands[1 + TYPE_RANK] = {operand(load, view)};
    for (int d = 0; d < access.rank; d++) {
        Value *offset = access.offsets[d];
        if (access.tile_dim[d] >= 0)
            offset = build2(&builder, OP_add, build_cast(&builder, DTYPE_i64, offset),
                            build_cast(&builder, DTYPE_i64, index));
        operands[1 + d] = offset;
    }
    return build_op(&builder, OP_element_load, 1 + access.rank, operands, 1,
                    (const Type *[]){type_scalar(builder.kernel->types, access.view->dtype)})
        ->results;
}

static void note(Op *op, void *context)
{
    Elements *elements = context;
    Value *index;
    Op *load = chosen_load(op, &index);
    if (load && is_readable(elements, load, index))
        vec_push(elements->kernel->arena, &elements->sums, op);
}

/* The op, if nobody uses it any more, and what it alone used. */
static void drop(Op *op)
{
    Op *operands[TYPE_RANK];
    int count = 0;
    if (!op || op->results->use_count || !(op_has(op, PURE) || op->code == OP_load)) return;
    for (int i = 0; i < op->operand_count && count < TYPE_RANK; i++)
        if (op->operands[i]->op && op->operands[i]->op->result_count == 1)
            operands[count++] = op->operands[i]->op;
    op_erase(op);
    for (int i = 0; i < count; i++) drop(operands[i]);
}

/* The numbers that a tile of one element, or one of its bits, is asked for as. */
static void find_items(const Elements *elements, const Value *tile, OpVec *items)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        if (use->op->code == OP_item) vec_push(elements->kernel->arena, items, use->op);
        if (op_has(use->op, RETYPES)) find_items(elements, use->op->results, items);
    }
}

static void replace(const Elements *elements, Op *reduce)
{
    Value *index, *element = NULL;
    Op *load = chosen_load(reduce, &index);
    OpVec items = {0};
    find_items(elements, reduce->results, &items);
    for (size_t i = 0; i < items.count; i++) {
        Op *item = items.data[i], *tile = operand(item, a)->op;
        if (item->results->type->dtype != load->results->type->dtype) continue;
        if (!element) element = read_element(reduce, load, index);
        value_replace(item->results, element);
        op_erase(item);
        drop(tile);
    }
}

bool pass_loaded_elements(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next) {
        if (op->code != OP_launch) continue;
        Elements elements = {
            .kernel = kernel, .facts = analysis_ranges(context), .launch = launch_region(op)};
        region_visit_those(launch_region(op), OP_reduce, note, &elements);
        for (size_t i = 0; i < elements.sums.count; i++) replace(&elements, elements.sums.data[i]);
    }
    return true;
}
