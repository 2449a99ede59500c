/* unused_loads.c: loads of global memory whose value nobody uses (-Wunused-load). A kernel is
 * looked at as it was staged, where the author's variables are still there: what is needed is
 * followed backwards from what the kernel does to memory and from where it goes. A load of one line
 * may be of use in one specialisation alone, or in one turn of a loop that was unrolled; reported
 * is what is used in none. */
#include "build/build.h"

#include "base/vec.h"
#include "ir/op_vec.h"

struct UnusedLoads {
    Session *session;
    Arena *arena;
    Interner *places;
    Map used, seen;      /* by place */
    VEC(Span) spans;     /* of the places, each once */
    OpVec needed, loads; /* of the kernel at hand */
    Map is_needed;       /* its ops */
};

/* Of a tile: elements are read to be written, and passed on by reference, too. */
static bool is_load(const Op *op)
{
    return op_has(op, ACCESS) && !op_has(op, WRITES) && op->results[0].type->kind == TYPE_TILE;
}

/* What is needed whatever becomes of its results. */
static bool is_done_anyway(const Op *op)
{
    if (op->code == OP_var || op->code == OP_var_set || op->code == OP_anchor) return false;
    return op_has(op, WRITES | TERM) || op->region_count > 0;
}

static void need(UnusedLoads *loads, Op *op)
{
    if (map_has(&loads->is_needed, op)) return;
    map_set(loads->arena, &loads->is_needed, op, op);
    vec_push(loads->arena, &loads->needed, op);
}

static Name place_of(const UnusedLoads *loads, Span span)
{
    return intern_printf(loads->places, "%p %u", (const void *)span.source, span.begin);
}

/* What an assignment such as `a[i] += x` reads it need not: it may add at once. */
static void use_place(UnusedLoads *loads, const Op *op)
{
    map_set(loads->arena, &loads->used, place_of(loads, op->span), loads);
}

static void look_at_op(Op *op, void *context)
{
    UnusedLoads *loads = context;
    if (op_has(op, WRITES) && op_memory(op) != NULL) use_place(loads, op);
    if (is_load(op)) vec_push(loads->arena, &loads->loads, op);
    if (is_done_anyway(op)) need(loads, op);
}

/* Who reads a variable needs what it is set to. */
static void need_settings(UnusedLoads *loads, const Value *variable)
{
    for (const OpUse *use = variable->uses; use != NULL; use = use->next)
        if (use->op->code == OP_var_set) need(loads, use->op);
}

static void follow(UnusedLoads *loads)
{
    for (size_t i = 0; i < loads->needed.count; i++) {
        const Op *op = loads->needed.data[i];
        for (int j = 0; j < op->operand_count; j++) {
            const Value *value = op->operands[j];
            if (value->op != NULL) need(loads, value->op);
            if (value->type->kind == TYPE_VAR && op->code != OP_var_set)
                need_settings(loads, value);
        }
    }
}

void unused_loads_see(UnusedLoads *loads, const Kernel *kernel)
{
    if (loads == NULL) return;
    loads->needed.count = loads->loads.count = 0;
    loads->is_needed = (Map){0};
    kernel_visit((Kernel *)(uintptr_t)kernel, look_at_op, loads);
    follow(loads);
    for (size_t i = 0; i < loads->loads.count; i++) {
        const Op *load = loads->loads.data[i];
        /* of the library's kernels nothing else than where they are asked for is known */
        if (load->span.source == kernel->span.source && load->span.begin == kernel->span.begin)
            continue;
        const Name place = place_of(loads, load->span);
        if (map_has(&loads->is_needed, load)) map_set(loads->arena, &loads->used, place, loads);
        if (map_has(&loads->seen, place)) continue;
        map_set(loads->arena, &loads->seen, place, loads);
        vec_push(loads->arena, &loads->spans, load->span);
    }
}

UnusedLoads *unused_loads_new(Session *session)
{
    if (!diag_is_wanted(session->diags, DIAG_unused_load)) return NULL;
    Arena *arena = arena_new();
    UnusedLoads *loads = arena_new_of(arena, UnusedLoads);
    *loads = (UnusedLoads){.session = session, .arena = arena, .places = interner_new(arena)};
    return loads;
}

void unused_loads_report(UnusedLoads *loads)
{
    if (loads == NULL) return;
    for (size_t i = 0; i < loads->spans.count; i++)
        if (!map_has(&loads->used, place_of(loads, loads->spans.data[i])))
            diag_report(loads->session->diags, DIAG_unused_load, loads->spans.data[i]);
    arena_free(loads->arena);
}

void warn_of_unused_loads(Session *session, const ExportList *exports)
{
    UnusedLoads *loads = unused_loads_new(session);
    for (int i = 0; i < exports->count; i++)
        for (int j = 0; j < exports->items[i].specialisation_count; j++)
            unused_loads_see(loads, exports->items[i].specialisations[j]);
    unused_loads_report(loads);
}
