/* shared_uses.c: which shared tiles are in use while a loop runs. */
#include "passes/analysis/access.h"

SharedUses loop_shared_uses(Arena *arena, Region *launch, const Op *loop)
{
    SharedUses uses = {0};
    Map numbers = {0}; /* of allocs, among the uses */
    bool is_behind = false;
    region_each (op, launch) {
        is_behind |= op == loop;
        for (int i = 0; i < op->operand_count; i++) {
            if (op->operands[i]->type->kind != TYPE_SHARED) continue;
            const Op *alloc = shared_root(op->operands[i]);
            const size_t number = (size_t)map_number(&numbers, alloc, (intptr_t)uses.count);
            map_set_number(arena, &numbers, alloc, (intptr_t)number);
            if (number == uses.count) vec_push(arena, &uses, (SharedUse){.alloc = alloc});
            const bool inside = is_behind && region_holds(loop->regions[0], op->parent);
            uses.data[number].inside |= inside;
            uses.data[number].before |= !is_behind;
            uses.data[number].behind |= is_behind && !inside;
        }
    }
    return uses;
}

bool shared_use_lasts(const SharedUse *use)
{
    return use->inside || (use->before && use->behind);
}

static ValueAnswer is_no_product(const Value *value, const Op *user, void *context)
{
    (void)value, (void)context;
    if (op_has(user, DOT)) return VALUE_ENOUGH;
    return op_has(user, ELEM) ? VALUE_RESULTS : VALUE_FOUND;
}

/* Whether all that is made of the value, element by element, are factors of products. */
static bool is_for_products(const Value *value)
{
    return !value_finds_use(value, is_no_product, NULL);
}

int64_t loop_lasting_bytes(Region *launch, const Op *loop)
{
    Arena *arena = arena_new();
    const SharedUses uses = loop_shared_uses(arena, launch, loop);
    int64_t bytes = 0;
    region_each (op, loop->regions[0])
        if (op->code == OP_scan || (op->code == OP_transpose && !is_for_products(op->results)))
            bytes = larger_of(bytes, type_bytes(operand(op, a)->type));
    vec_each (use, &uses)
        if (shared_use_lasts(use)) bytes += type_bytes(use->alloc->results[0].type);
    arena_free(arena);
    return bytes;
}
