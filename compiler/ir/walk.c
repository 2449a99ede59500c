/* walk.c: visiting, moving, copying and erasing ops. */
#include "ir/op_vec.h"
#include "ir/rows.h"

void region_visit(Region *region, OpVisitor *visit, void *context)
{
    for (Op *op = region->first, *next; op != NULL; op = next) {
        next = op_next(op);
        visit(op, context);
        if (op->parent == NULL) continue; /* it was erased */
        for (int i = 0; i < op->region_count; i++) region_visit(op->regions[i], visit, context);
    }
}

void region_visit_inner_first(Region *region, OpVisitor *visit, void *context)
{
    for (Op *op = region->first, *next; op != NULL; op = next) {
        next = op_next(op);
        for (int i = 0; i < op->region_count; i++)
            region_visit_inner_first(op->regions[i], visit, context);
        visit(op, context);
    }
}

/* The first op in the op's regions behind that one, or in all of them. */
static Op *first_within(const Op *op, const Region *behind)
{
    bool is_behind = behind == NULL;
    for (int i = 0; i < op->region_count; i++) {
        if (is_behind && op->regions[i]->first) return op->regions[i]->first;
        is_behind |= op->regions[i] == behind;
    }
    return NULL;
}

Op *region_next(const Region *region, const Op *op)
{
    if (!op) return region->first;
    Op *next = first_within(op, NULL);
    while (!next && !(next = op_next(op)) && op->parent != region) {
        const Region *done = op->parent;
        op = done->parent;
        next = first_within(op, done);
    }
    return next;
}

Op *region_next_of(const Region *region, const Op *op, OpCode code)
{
    if (!op && !kernel_had(region->kernel, code)) return NULL;
    Op *next = region_next(region, op);
    while (next && next->code != code) next = region_next(region, next);
    return next;
}

void op_visit(Op *op, OpVisitor *visit, void *context)
{
    visit(op, context);
    for (int i = 0; i < op->region_count; i++) region_visit(op->regions[i], visit, context);
}

void kernel_visit(Kernel *kernel, OpVisitor *visit, void *context)
{
    region_visit(kernel->host, visit, context);
}

bool kernel_had(const Kernel *kernel, OpCode code)
{
    return kernel->built[code / 64] >> code % 64 & 1;
}

bool kernel_had_any(const Kernel *kernel, OpTraits traits)
{
    for (int code = 0; code < OP_COUNT; code++)
        if (op_info((OpCode)code)->traits & traits && kernel_had(kernel, (OpCode)code)) return true;
    return false;
}

typedef struct Those {
    OpCode code;
    OpTraits traits;
    OpVisitor *visit;
    void *context;
} Those;

static void visit_that(Op *op, void *context)
{
    const Those *those = context;
    if (op->code == those->code) those->visit(op, those->context);
}

void region_visit_those(Region *region, OpCode code, OpVisitor *visit, void *context)
{
    Those those = {.code = code, .visit = visit, .context = context};
    if (kernel_had(region->kernel, code)) region_visit(region, visit_that, &those);
}

void kernel_visit_those(Kernel *kernel, OpCode code, OpVisitor *visit, void *context)
{
    region_visit_those(kernel->host, code, visit, context);
}

static void visit_with(Op *op, void *context)
{
    const Those *those = context;
    if (op_has(op, those->traits)) those->visit(op, those->context);
}

void region_visit_with(Region *region, OpTraits traits, OpVisitor *visit, void *context)
{
    Those those = {.traits = traits, .visit = visit, .context = context};
    if (kernel_had_any(region->kernel, traits)) region_visit(region, visit_with, &those);
}

void kernel_visit_with(Kernel *kernel, OpTraits traits, OpVisitor *visit, void *context)
{
    region_visit_with(kernel->host, traits, visit, context);
}

/* ---- questions ---- */

Op *region_find(const Region *region, OpTest *test, const void *context)
{
    Op *found = NULL;
    for (const Op *op = region->first; op != NULL && found == NULL; op = op_next(op))
        found = op_find_within(op, test, context);
    return found;
}

Op *op_find_within(const Op *op, OpTest *test, const void *context)
{
    Op *found = test(op, context) ? (Op *)(uintptr_t)op : NULL;
    for (int i = 0; i < op->region_count && found == NULL; i++)
        found = region_find(op->regions[i], test, context);
    return found;
}

static bool is_that(const Op *op, const void *code)
{
    return op->code == *(const OpCode *)code;
}

static bool is_with(const Op *op, const void *traits)
{
    return op_has(op, *(const OpTraits *)traits);
}

bool region_has(const Region *region, OpCode code)
{
    return kernel_had(region->kernel, code) && region_find(region, is_that, &code) != NULL;
}

bool region_has_with(const Region *region, OpTraits traits)
{
    return kernel_had_any(region->kernel, traits) && region_find(region, is_with, &traits) != NULL;
}

static void list(Arena *arena, const Region *region, OpTest *test, const void *context, OpVec *out)
{
    for (Op *op = region->first; op != NULL; op = op_next(op)) {
        if (test == NULL || test(op, context)) vec_push(arena, out, op);
        for (int i = 0; i < op->region_count; i++) list(arena, op->regions[i], test, context, out);
    }
}

OpVec region_list(Arena *arena, const Region *region, OpTest *test, const void *context)
{
    OpVec ops = {0};
    list(arena, region, test, context, &ops);
    return ops;
}

OpVec region_list_those(Arena *arena, const Region *region, OpCode code)
{
    return kernel_had(region->kernel, code) ? region_list(arena, region, is_that, &code)
                                            : (OpVec){0};
}

/* ---- places ---- */

static void unlink_op(Op *op)
{
    Region *region = op->parent;
    *(op->previous != NULL ? &op->previous->next : &region->first) = op->next;
    *(op->next != NULL ? &op->next->previous : &region->last) = op->previous;
    op->previous = op->next = NULL;
    op->parent = NULL;
}

static void drop_uses(Op *op, void *context)
{
    (void)context;
    uses_drop(op);
}

void op_erase(Op *op)
{
    op_visit(op, drop_uses, NULL);
    unlink_op(op);
}

void op_move_before(Op *op, Op *before)
{
    if (op == before) return;
    unlink_op(op);
    Region *region = before->parent;
    op->parent = region;
    op->next = before;
    op->previous = before->previous;
    *(op->previous != NULL ? &op->previous->next : &region->first) = op;
    before->previous = op;
}

Region *launch_region(const Op *launch)
{
    CHECK(launch->code == OP_launch);
    return launch->regions[0];
}

Op *launch_from(Op *op)
{
    while (op && op->code != OP_launch) op = op_next(op);
    return op;
}

bool op_begins_copy(const Op *op)
{
    return op->code == OP_copy_async ||
           (op->code == OP_shared_store && op_attr(op, ATTR_async) != NULL);
}

Op *op_enclosing(const Op *op, OpCode code)
{
    for (Op *around = op->parent->parent; around != NULL; around = around->parent->parent)
        if (around->code == code) return around;
    return NULL;
}

bool op_is_in_loop(const Op *op)
{
    for (const Op *around = op->parent->parent; around; around = around->parent->parent)
        if (op_has(around, LOOP)) return true;
    return false;
}

Region *value_home(const Value *value)
{
    return value->op != NULL ? value->op->parent : value->region;
}

bool op_comes_before(const Op *a, const Op *b)
{
    for (const Op *op = a->next; op; op = op->next)
        if (op == b) return true;
    return false;
}

Op *region_find_ancestor(const Region *region, const Op *op)
{
    while (op->parent != region) op = op->parent->parent;
    return (Op *)(uintptr_t)op;
}

bool region_holds(const Region *outer, const Region *inner)
{
    for (; inner != NULL; inner = inner->parent != NULL ? inner->parent->parent : NULL)
        if (inner == outer) return true;
    return false;
}

/* ---- copies ---- */

/* An op that was erased belongs to the kernel that it is copied into. */
static const Type *type_in(const Kernel *kernel, const Op *from, const Type *type)
{
    if (from->parent == NULL || from->parent->kernel == kernel) return type;
    return type_import(kernel->types, kernel->layouts, type);
}

Value *value_copied(const Map *map, Value *value)
{
    return map_has(map, value) ? map_get(map, value) : value;
}

static void clone_attrs(const Op *from, Op *to)
{
    for (int i = 0; i < from->attr_count; i++) {
        const Attr *attr = &from->attrs[i];
        switch (attr_kind(attr->key)) {
        case ATTR_KIND_INT: op_set_int(to, attr->key, attr->integer); break;
        case ATTR_KIND_FLOAT: op_set_number(to, attr->key, attr->number); break;
        case ATTR_KIND_INTS: op_set_ints(to, attr->key, attr->count, attr->integers); break;
        case ATTR_KIND_TEXT: op_set_text(to, attr->key, attr->text); break;
        }
    }
}

static void clone_region(const Region *from, Region *to, Map *map)
{
    for (int i = 0; i < from->argument_count; i++) {
        Value *old = from->arguments[i];
        Value *copy =
            region_add_argument(to, type_in(to->kernel, from->parent, old->type), old->name);
        map_set(to->kernel->arena, map, old, copy);
    }
    Builder inside = builder_at_end(to, (Span){0});
    for (const Op *op = from->first; op != NULL; op = op_next(op)) op_clone(&inside, op, map);
}

enum { FEW = 8 }; /* operands */

Op *op_clone(Builder *builder, const Op *op, Map *map)
{
    Kernel *kernel = builder->kernel;
    Value *some[FEW], **operands = op->operand_count <= FEW
                                       ? some
                                       : arena_new_array(kernel->arena, Value *, op->operand_count);
    for (int i = 0; i < op->operand_count; i++) operands[i] = value_copied(map, op->operands[i]);
    const Type *one, **types = op->result_count <= 1
                                   ? &one
                                   : arena_new_array(kernel->arena, const Type *, op->result_count);
    for (int i = 0; i < op->result_count; i++) types[i] = type_in(kernel, op, op->results[i].type);
    Op *copy = build_op(builder, op->code, op->operand_count, operands, op->result_count, types);
    copy->span = op->span;
    clone_attrs(op, copy);
    for (int i = 0; i < op->result_count; i++) {
        copy->results[i].name = op->results[i].name;
        copy->results[i].of_library = op->results[i].of_library;
        map_set(kernel->arena, map, &op->results[i], &copy->results[i]);
    }
    for (int i = 0; i < op->region_count; i++) clone_region(op->regions[i], copy->regions[i], map);
    return copy;
}

Kernel *kernel_clone(const Kernel *kernel)
{
    Kernel *copy = kernel_new(kernel->session, kernel->name, kernel->span);
    copy->export_name = kernel->export_name;
    copy->source_name = kernel->source_name;
    copy->configuration = kernel->configuration;
    copy->stage = kernel->stage;
    copy->properties = kernel->properties;
    copy->read_from = kernel->read_from;
    copy->has_own_fences = kernel->has_own_fences;
    copy->is_differentiated = kernel->is_differentiated;
    copy->guards_elements = kernel->guards_elements;
    copy->rounds_products = kernel->rounds_products;
    Map map = {0};
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *old = &kernel->parameters[i];
        const Type *type = type_import(copy->types, copy->layouts, old->value->type);
        Value *value = old->is_workspace
                           ? kernel_add_workspace(copy, old->name, type, old->is_zeroed, old->span)
                           : kernel_add_parameter(copy, old->name, type, old->span);
        value->name = old->value->name;
        copy->parameters[i] = *old;
        copy->parameters[i].value = value;
        map_set(copy->arena, &map, old->value, value);
    }
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *old = &kernel->tensors[i];
        *kernel_add_tensor(copy, old->pointer, old->rank, old->span) = *old;
    }
    Builder builder = builder_at_end(copy->host, (Span){0});
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        op_clone(&builder, op, &map);
    return copy;
}

Name dimension_name(const Value *memory, int dim)
{
    const Value *named = memory;
    if (memory->op == NULL) return NULL;
    while (named->name == NULL && named->op != NULL) {
        if (named->op->code == OP_view)
            named = operand(named->op, pointer);
        else if (op_has(named->op, ALIAS))
            named = op_aliased(named->op);
        else
            return NULL;
    }
    const bool is_part =
        named->type->kind == memory->type->kind && named->type->rank != memory->type->rank;
    if (named->name == NULL || named->of_library || is_part) return NULL;
    Interner *names = memory->op->parent->kernel->session->names;
    return memory->type->rank > 1 ? intern_printf(names, "dimension %d of '%s'", dim, named->name)
                                  : intern_printf(names, "'%s'", named->name);
}
