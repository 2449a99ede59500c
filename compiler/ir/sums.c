/* sums.c: sums of the matrix unit that may still be written. What an open wgmma, or dot_shared,
 * makes, another goes on with, a loop carries, and a wgmma_wait, or dot_wait, gives back when it is
 * done; whoever else reads it reads too early. */
#include "ir/ir.h"

bool op_is_async(const Op *op)
{
    return op_has(op, WGMMA) && op_int(op, ATTR_async, 0) != 0;
}

void in_flight_add(InFlightSums *early, const Value *value)
{
    if (map_get(&early->values, value)) return;
    map_set(early->arena, &early->values, value, (void *)(uintptr_t)value);
    early->changed = true;
}

/* What a region ends with goes to the op's results, and a loop's to its next iteration. */
static void follow_yield(InFlightSums *early, const Op *yield, int i)
{
    const Op *around = yield->parent->parent;
    const int at = i - (yield->code == OP_condition);
    if (at < around->result_count) in_flight_add(early, &around->results[at]);
    for (int r = 0; r < around->region_count && around->code != OP_if; r++) {
        const Region *region = around->regions[r];
        const int first = around->code == OP_for;
        if (at + first < region->argument_count)
            in_flight_add(early, region->arguments[at + first]);
    }
}

static void follow(Op *op, void *context)
{
    InFlightSums *early = context;
    for (int i = 0; i < op->operand_count; i++) {
        if (!map_get(&early->values, op->operands[i]) || op_has(op, WAITS)) continue;
        const int skipped = op->code == OP_for         ? operand_index(op, init)
                            : op->code == OP_condition ? operand_index(op, carried)
                                                       : 0;
        if (i < skipped) continue; /* a loop's range, or its condition */
        if (op_has(op, TERM)) {
            follow_yield(early, op, i);
        } else if (op_has(op, LOOP)) {
            const int at = i - skipped;
            in_flight_add(early, op->regions[0]->arguments[at + (skipped > 0)]);
            in_flight_add(early, &op->results[at]);
        } else if (op->code == OP_vec_pack || op->code == OP_vec_get) {
            in_flight_add(early, &op->results[0]); /* the registers that they are in */
        } else if (op_has(op, WGMMA) && i >= op->operand_count - op->result_count) {
            for (int r = 0; r < op->result_count && op_is_async(op); r++)
                in_flight_add(early, &op->results[r]);
        } else if (op->code != OP_wgmma_in_flight && !early->reader) {
            early->reader = op;
        }
    }
}

const Op *in_flight_reader(InFlightSums *early, Region *region)
{
    while (early->changed && !early->reader) {
        early->changed = false;
        region_visit(region, follow, early);
    }
    return early->reader;
}
