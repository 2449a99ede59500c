/* survey_results.c: the extents of what a launch gives that is not made, as far as the call and the
 * kernel tell them. */
#include "command/run.h"

#include "ir/build.h"

/* A number, or a parameter of the call; false: it is computed. */
static bool find_extent(const HostLaunch *launch, const Value *value, int64_t *out)
{
    while (value->op && value->op->code == OP_cast) value = operand(value->op, a);
    if (value_constant(value, out)) return true;
    if (value->op || value->region || launch->arguments[value->index].kind != HOST_INT)
        return false;
    *out = launch->arguments[value->index].integer;
    return true;
}

bool surveyed_extents(const HostLaunch *launch, int index, int64_t extents[TYPE_RANK])
{
    const Region *host = launch->kernel->host;
    for (const Op *op = host ? host->first : NULL; op; op = op->next) {
        if (op->code != OP_result_shape || op_int(op, ATTR_index, 0) != index) continue;
        for (int i = 0; i < op->operand_count; i++)
            if (!find_extent(launch, op->operands[i], &extents[i])) return false;
        return true;
    }
    return false;
}
