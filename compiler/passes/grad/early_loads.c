/* early_loads.c: loads of global memory go in front of what all threads of the block wait for.
 *
 * The way back reads adjoints where it meets what the program wrote, behind the sums of its way
 * there, for which they need not wait: so the block waits for memory once, and not once more behind
 * each sum. Gradients share no memory with anything else, so a load may pass all but writes to its
 * own. */
#include "ir/rebuild.h"
#include "passes/grad/grad.h"
#include "target/cost.h"

typedef struct Early {
    Grad *grad;
    Op *barrier;       /* the first op of the region at which threads wait for each other */
    int64_t registers; /* of a thread, for what was loaded early */
} Early;

static bool waits_for_others(const Op *op)
{
    return op_has(op, COOP) && !view_of(op) && !op_has(op, ALLOCATES);
}

static Op *first_barrier(const Region *region)
{
    for (Op *op = region->first; op; op = op->next)
        if (waits_for_others(op)) return op;
    return NULL;
}

static bool writes(const Op *op, const void *pointer)
{
    return op_has(op, WRITES) && view_of(op) && view_pointer(op) == pointer;
}

static bool is_written_before(const Early *early, const Op *load)
{
    for (const Op *op = early->barrier; op != load; op = op->next)
        if (op_find_within(op, writes, view_pointer(load))) return true;
    return false;
}

static int64_t registers_of(const Early *early, const Op *load)
{
    const Type *tile = load->results->type;
    return type_elements(tile) * dtype_bits(tile->dtype) /
           (early->grad->threads * dtype_bits(DTYPE_f32));
}

static bool goes_early(const Early *early, const Op *load)
{
    for (int i = 0; i < load->operand_count; i++)
        if (!value_may_precede(load->operands[i], early->barrier)) return false;
    return early->registers + registers_of(early, load) <= COST_EARLY_LOADS &&
           !is_written_before(early, load);
}

/* Of loops of products the pipeline orders the loads. */
static void load_early(Early *early, Region *region)
{
    early->barrier = region_has(region, OP_dot) ? NULL : first_barrier(region);
    for (Op *op = early->barrier, *next; op; op = next) {
        next = op->next;
        if (op->code != OP_load || !goes_early(early, op)) continue;
        early->registers += registers_of(early, op);
        value_move_before(op->results, early->barrier);
    }
}

static void visit_regions(Op *op, void *context)
{
    for (int i = 0; i < op->region_count; i++) load_early(context, op->regions[i]);
}

void order_loads(Grad *grad, Op *launch)
{
    Early early = {.grad = grad};
    grad->threads = launch_threads(launch).count;
    load_early(&early, launch_region(launch));
    region_visit(launch_region(launch), visit_regions, &early);
}
