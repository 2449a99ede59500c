/* agreed.c: control by what threads found in memory, around what they do together, in launches that
 * say {agree}. Whether they go one way is known only when they do: the first thread says where all
 * go, and the emulator looks whether the others would have gone elsewhere. */
#include "passes/ssa/agreed.h"

/* The value follows from what a thread found, not from its index alone. */
static bool is_found(Map *seen, Arena *arena, const Value *value)
{
    if (map_has(seen, value)) return false;
    map_set(arena, seen, value, seen);
    const Op *op = value->op ? value->op : value->region ? value->region->parent : NULL;
    if (!op || op->code == OP_launch) return false;
    if (op_has(op, ELEMENT) && op_has(op, READS)) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (is_found(seen, arena, op->operands[i])) return true;
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        for (int i = 0; end && i < end->operand_count; i++)
            if (is_found(seen, arena, end->operands[i])) return true;
    }
    return false;
}

/* What decides the way: operands of the op, or of the end of a loop's test. */
static Op *decider(Op *control, int *count)
{
    *count = control->code == OP_for ? 3 : 1;
    return control->code == OP_while ? region_terminator(control->regions[0]) : control;
}

/* The first thread's value, for all. */
static Value *told(Kernel *kernel, Builder *at, Value *value, Name text)
{
    const int64_t one = 1;
    const Type *type = type_shared(kernel->types, value->type->dtype, 1, &one, NULL);
    Value *cell = build_op(at, OP_shared_alloc, 0, NULL, 1, &type)->results;
    Value *zero = build_const(at, DTYPE_i32, 0);
    Op *store = build_op(at, OP_element_store, 3, (Value *[]){cell, value, zero}, 0, NULL);
    op_set_int(store, ATTR_once, 1);
    Value *said = build2(at, OP_element_load, cell, zero);
    Value *same = value->type->dtype == DTYPE_b1
                      ? build1(at, OP_not, build2(at, OP_xor, said, value))
                      : build_cmp(at, "eq", said, value);
    Op *check = build_op(at, OP_check, 1, &same, 0, NULL);
    op_set_int(check, ATTR_emulated, 1);
    op_set_text(check, ATTR_text, text);
    return said;
}

static Name complaint(Kernel *kernel, Span joint)
{
    const char *text = "threads of a block part here, around what all of them do together";
    if (!joint.source) return intern_text(kernel->session->names, text);
    return intern_printf(kernel->session->names, "%s in line %u", text,
                         source_location(joint.source, joint.begin).line);
}

bool control_agree(Agreement *agreement, Kernel *kernel, Op *control, const Op *joint)
{
    int count;
    Op *op = decider(control, &count);
    bool found = false;
    Arena *arena = arena_new();
    for (int i = 0; i < count; i++) {
        Map seen = {0};
        if (!threads_differ(agreement, op->operands[i], op_threads(control))) continue;
        found = is_found(&seen, arena, op->operands[i]);
        if (!found) break;
        Builder at = builder_before(op);
        at.span = control->span;
        op_set_operand(op, i, told(kernel, &at, op->operands[i], complaint(kernel, joint->span)));
    }
    arena_free(arena);
    return found;
}
