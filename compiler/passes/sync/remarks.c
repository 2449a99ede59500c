/* remarks.c: what -Rperf says of barriers: which of the author's syncs are needed, and which
 * barriers were added that he did not ask for. A barrier is put where the second of two accesses
 * needs it, which is at the author's sync or behind it; so it is what the last sync before it asked
 * for, if no other barrier is between. A sync at the end of a loop's body may be for a barrier at
 * its start. */
#include "passes/sync/sync.h"

typedef struct Marks {
    Kernel *kernel;
    Arena *arena;
    Map reasons;   /* the author's sync -> the barrier that stands for it */
    Map claimed;   /* such barriers */
    Op *open;      /* the author's last sync, which no barrier follows yet */
    Op *first;     /* of the loop at hand: a barrier before all of its syncs */
    bool is_begun; /* it has had a sync or a barrier */
    bool accesses; /* memory was used, so that there is something to wait for */
} Marks;

/* A barrier of this pass says what it is for, but where it only ends a long list of accesses. */
static Name reason_of(const Op *op)
{
    const bool meets = op_has(op, MEETS) && !op_has(op, MBARRIER | BLOCKS);
    return meets && op_attr(op, ATTR_text) ? op_attr(op, ATTR_text)->text : NULL;
}

static void claim(Marks *marks, Op *barrier)
{
    map_set(marks->arena, &marks->reasons, marks->open, barrier);
    map_set(marks->arena, &marks->claimed, barrier, marks->open);
}

static void mark_region(Marks *marks, const Region *region);

static void mark_loop(Marks *marks, const Op *loop)
{
    Op *const first = marks->first;
    const bool is_begun = marks->is_begun;
    marks->first = NULL;
    marks->is_begun = false;
    marks->accesses = true; /* in an iteration before */
    for (int i = 0; i < loop->region_count; i++) mark_region(marks, loop->regions[i]);
    if (marks->open && marks->first) claim(marks, marks->first);
    marks->is_begun |= is_begun;
    marks->first = is_begun ? first : marks->first;
}

/* Either of its regions may have been come through. */
static void mark_branches(Marks *marks, const Op *op)
{
    Op *const open = marks->open;
    Op *after = NULL;
    for (int i = 0; i < op->region_count; i++) {
        marks->open = open;
        mark_region(marks, op->regions[i]);
        after = after ? after : marks->open;
    }
    marks->open = after;
}

static void mark_barrier(Marks *marks, Op *barrier)
{
    if (marks->open) claim(marks, barrier);
    if (!marks->is_begun) marks->first = barrier;
    marks->is_begun = true;
    marks->open = NULL;
}

static void mark_region(Marks *marks, const Region *region)
{
    for (Op *op = region->first; op; op = op->next) {
        marks->accesses |= hazard_is_shared(op) || hazard_is_global(op);
        if (hazard_is_authors_sync(op)) {
            marks->open = marks->accesses ? op : NULL;
            marks->is_begun = true;
        } else if (reason_of(op)) {
            mark_barrier(marks, op);
        } else if (op_has(op, LOOP)) {
            mark_loop(marks, op);
        } else if (op->region_count) {
            mark_branches(marks, op);
        }
    }
}

static void remark_op(const Marks *marks, const Op *op)
{
    const Op *barrier = map_get(&marks->reasons, op);
    if (reason_of(op) && !map_has(&marks->claimed, op))
        kernel_remark(marks->kernel, op->span, "a barrier is added: %s", reason_of(op));
    if (!hazard_is_authors_sync(op)) return;
    kernel_remark(marks->kernel, op->span, "this sync is %sneeded: %s", barrier ? "" : "not ",
                  barrier ? reason_of(barrier)
                          : "nothing behind it uses memory that other threads use before it, or "
                            "another barrier orders that");
}

void remark_barriers(Kernel *kernel, Arena *arena, Op *launch)
{
    Marks marks = {.kernel = kernel, .arena = arena};
    if (!kernel->wants_remarks) return;
    mark_region(&marks, launch->regions[0]);
    region_each (op, launch->regions[0]) remark_op(&marks, op);
}
