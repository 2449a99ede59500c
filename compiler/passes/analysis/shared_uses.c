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

bool shared_use_lasts(const SharedUse *use)
{
    return use->inside || (use->before && use->behind);
}

/* Whether all that is made of the value, element by element, are factors of products. */
static bool is_for_products(const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (!op_has(use->op, DOT) &&
            !(op_has(use->op, ELEM) && is_for_products(&use->op->results[0])))
            return false;
    return true;
}

static void note_converted(Op *op, void *context)
{
    int64_t *most = context;
    const bool converts =
        op->code == OP_scan || (op->code == OP_transpose && !is_for_products(&op->results[0]));
    const int64_t bytes = converts ? type_bytes(operand(op, a)->type) : 0;
    if (bytes > *most) *most = bytes;
}

int64_t loop_lasting_bytes(Region *launch, const Op *loop)
{
    Arena *arena = arena_new();
    const SharedUses uses = loop_shared_uses(arena, launch, loop);
    int64_t bytes = 0;
    region_visit(loop->regions[0], note_converted, &bytes);
    for (size_t i = 0; i < uses.count; i++)
        if (shared_use_lasts(&uses.data[i]))
            bytes += type_bytes(uses.data[i].alloc->results[0].type);
    arena_free(arena);
    return bytes;
}
