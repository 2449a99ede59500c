/* shared_uses.c: which shared tiles are in use while a loop runs. */
#include "passes/analysis/access.h"

typedef struct Finder {
    Arena *arena;
    const Op *loop;
    bool is_behind;
    Map numbers; /* shared_alloc -> its number, and one more */
    SharedUses uses;
} Finder;

static SharedUse *use_of(Finder *finder, const Op *alloc)
{
    const size_t known = (size_t)map_get(&finder->numbers, alloc);
    if (known) return &finder->uses.data[known - 1];
    vec_push(finder->arena, &finder->uses, (SharedUse){.alloc = alloc});
    map_set(finder->arena, &finder->numbers, alloc, (void *)finder->uses.count);
    return &vec_last(&finder->uses);
}

static void note_uses(Op *op, void *context)
{
    Finder *finder = context;
    if (op == finder->loop) finder->is_behind = true;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i]->type->kind != TYPE_SHARED) continue;
        SharedUse *use = use_of(finder, shared_root(op->operands[i]));
        const bool inside = finder->is_behind && region_holds(finder->loop->regions[0], op->parent);
        use->inside |= inside;
        use->before |= !finder->is_behind;
        use->behind |= finder->is_behind && !inside;
    }
}

SharedUses loop_shared_uses(Arena *arena, Region *launch, const Op *loop)
{
    Finder finder = {.arena = arena, .loop = loop};
    region_visit(launch, note_uses, &finder);
    return finder.uses;
}
