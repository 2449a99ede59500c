/* properties.c: see properties.h; what ops say of each property. */
#include "passes/properties.h"

#include "passes/analysis/access.h"

#include <string.h>

/* ---- which ops break them ---- */

static bool is_of_variable(const Op *op)
{
    return op->code == OP_var || op->code == OP_var_get || op->code == OP_var_set;
}

static bool is_element_of_tile(const Op *op)
{
    return op_is_element(op) && type_is_tile(operand(op, memory)->type);
}

static bool is_idle_branch(const Op *op)
{
    return op->code == OP_if && op_int(op, ATTR_idle, 0);
}

static bool lacks_bounds(const Op *op)
{
    return op_is_access(op) && !op_attr(op, ATTR_bounds);
}

static bool is_plain_copy(const Op *op)
{
    return op->code == OP_copy;
}

static bool lacks_instruction(const Op *op)
{
    return (op->code == OP_dot || op->code == OP_dot_shared) && !op_attr(op, ATTR_instruction);
}

static bool lacks_layout(const Op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const Type *type = op->results[i].type;
        if ((type->kind == TYPE_TILE || type->kind == TYPE_SHARED) && !type->layout) return true;
    }
    return false;
}

static bool lacks_offset(const Op *op)
{
    return op->code == OP_shared_alloc && !op_attr(op, ATTR_offset);
}

static bool is_asked_sync(const Op *op)
{
    return op->code == OP_sync;
}

/* ---- the table ---- */

enum { EVALUATED = -1 };

typedef struct PropertyRow {
    const char *name;
    int from; /* a stage, or EVALUATED */
    bool (*breaks)(const Op *op);
} PropertyRow;

static const PropertyRow rows[PROPERTY_COUNT] = {
#define PROPERTY(name, from, breaks, text) [PROPERTY_##name] = {#name, from, breaks},
#include "passes/properties.def"
#undef PROPERTY
};

const char *property_name(int property)
{
    return property < STAGE_COUNT ? stage_name((Stage)property) : rows[property].name;
}

static unsigned property_named(const char *name, size_t length)
{
    for (int i = 0; i < PROPERTY_COUNT; i++)
        if (strlen(property_name(i)) == length && memcmp(property_name(i), name, length) == 0)
            return 1u << i;
    ICE("passes.def: there is no property '%.*s'", (int)length, name);
}

unsigned properties_named(const char *names)
{
    unsigned set = 0;
    for (size_t length; *(names += strspn(names, " ")); names += length)
        set |= property_named(names, length = strcspn(names, " "));
    return set;
}

void properties_print(unsigned set, Buf *out)
{
    for (int i = 0, count = 0; i < PROPERTY_COUNT; i++) {
        if (!(set & 1u << i)) continue;
        buf_text(out, count++ ? " " : "");
        buf_text(out, property_name(i));
    }
}

/* ---- of a kernel ---- */

typedef struct Search {
    unsigned set;
    const Op *breaker;
} Search;

static void look_at(Op *op, void *context)
{
    Search *search = context;
    for (int i = STAGE_COUNT; i < PROPERTY_COUNT; i++) {
        if (!(search->set & 1u << i) || !rows[i].breaks || !rows[i].breaks(op)) continue;
        search->set &= ~(1u << i);
        search->breaker = op;
    }
}

const Op *property_breaker(Kernel *kernel, int property)
{
    Search search = {.set = 1u << property};
    kernel_visit(kernel, look_at, &search);
    return search.breaker;
}

static unsigned properties_at_first(Kernel *kernel)
{
    Search search = {0};
    for (int i = STAGE_COUNT; i < PROPERTY_COUNT; i++)
        if (rows[i].from == EVALUATED ||
            (kernel->read_from && (Stage)rows[i].from <= kernel->stage))
            search.set |= 1u << i;
    kernel_visit(kernel, look_at, &search);
    return search.set;
}

unsigned properties_of(Kernel *kernel)
{
    const unsigned stage = 1u << kernel->stage;
    if (!kernel->properties) kernel->properties = properties_at_first(kernel) | stage;
    return (kernel->properties & ~((1u << STAGE_COUNT) - 1)) | stage;
}

void properties_set(Kernel *kernel, unsigned set)
{
    kernel->properties = set;
}
