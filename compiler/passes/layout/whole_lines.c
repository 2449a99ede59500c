/* whole_lines.c: rows of a tile that are parts of a cache line bring the line as a whole to L2, if
 * the next iteration of a loop reads on where this one's rows end.
 *
 * L2 asks memory for the sectors that a load is of, so that a row of 64 bytes that lies far from
 * the next one is half of a burst of DRAM, and the other half is asked for an iteration later, when
 * the page is closed again. ld and cp.async have .L2::128B for that (PTX ISA, "ld",
 * .level::prefetch_size); TMA has it in its tensor maps. */
#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"
#include "passes/pass.h"

/* The offset grows by the tile's extent from each iteration of the innermost loop that it follows
 * from to the next. */
static bool reads_on(const Access *access, int dim)
{
    const Value *offset = access->offsets[dim];
    for (const Op *loop = op_enclosing(access->op, OP_for); loop;
         loop = op_enclosing(loop, OP_for)) {
        int64_t slope, step, way;
        if (!loop_slope(loop, offset, &slope)) return false;
        if (slope == 0) continue;
        return value_constant(operand(loop, step), &step) &&
               !__builtin_mul_overflow(slope, step, &way) &&
               (way == access->width[dim] || way == -access->width[dim]);
    }
    return false;
}

static void read_whole_lines(Op *op, void *context)
{
    (void)context;
    if (op->code != OP_load && op->code != OP_copy) return;
    const Access access = access_of(op);
    const int dim = access_contiguous(&access);
    if (dim >= 0 && dtype_memory_bytes(access.view->dtype, access.width[dim]) < CACHE_LINE_BYTES &&
        reads_on(&access, dim))
        op_set_int(op, ATTR_prefetch_size, CACHE_LINE_BYTES);
}

bool pass_whole_lines(Kernel *kernel, PassContext *context)
{
    (void)context;
    region_visit(kernel->host, read_whole_lines, NULL);
    return true;
}
