/* layouts.c: the layouts that the compiler chooses for the tiles of a text: kernels are compiled as
 * far as that when somebody asks, those alone that the place is in, each once. Ops have the place
 * of the expression that they were made for, which leads from one to the other. */
#include "lsp/lsp.h"

#include "build/units.h"

#include <string.h>

enum { MOST_KERNELS = 4 /* that are compiled for one answer */ };

void layouts_keep(Analysis *analysis, const ExportList *exports)
{
    for (int i = 0; i < exports->count; i++) {
        const Export *export = &exports->items[i];
        for (int j = 0; j < export->specialisation_count && !export->is_gradient; j++) {
            const LaidOut kernel = {.typed = export->specialisations[j]};
            vec_push(analysis->session->arena, &analysis->kernels, kernel);
        }
    }
}

void layouts_free(Analysis *analysis)
{
    for (size_t i = 0; i < analysis->kernels.count; i++)
        if (analysis->kernels.data[i].laid_out != NULL)
            kernel_free(analysis->kernels.data[i].laid_out);
}

/* ---- values of a place ---- */

/* Values of ops that were made for the place, of the name, and where a variable of the name is set,
 * as variables are gone when there are layouts. */
typedef struct ValueSearch {
    Arena *arena;
    Span span;
    Name name;
    const char *types; /* "tile<f32, [64]> | ...": one of them, without its layout */
    VEC(Span) set;     /* where the variable is */
    const Type *found;
    bool found_place;
} ValueSearch;

static bool is_listed(const char *types, const char *type)
{
    const char *at = strstr(types, type);
    const char behind = at != NULL ? at[strlen(type)] : '?';
    return behind == '\0' || behind == ' ';
}

/* A shared tile may have got several buffers, in a dimension before its own. */
static bool is_one_of(const ValueSearch *search, const Type *type)
{
    Type plain = *type;
    plain.layout = NULL;
    if (is_listed(search->types, type_text(search->arena, &plain))) return true;
    if (type->kind != TYPE_SHARED || type->rank < 2) return false;
    memmove(plain.shape, plain.shape + 1, --plain.rank * sizeof plain.shape[0]);
    return is_listed(search->types, type_text(search->arena, &plain));
}

static void search_value(ValueSearch *search, const Value *value)
{
    if (value->type->layout != NULL && is_one_of(search, value->type)) search->found = value->type;
}

static bool is_within(Span inner, Span outer)
{
    return inner.source == outer.source && inner.begin >= outer.begin && inner.end <= outer.end;
}

/* Of a typed kernel. */
static void search_place(Op *op, void *context)
{
    ValueSearch *search = context;
    search->found_place |= is_within(op->span, search->span);
    if (op->code == OP_var_set && operand(op, variable)->name == search->name)
        vec_push(search->arena, &search->set, op->span);
}

/* Of one whose tiles have layouts. */
static void search_op(Op *op, void *context)
{
    ValueSearch *search = context;
    bool is_there = is_within(op->span, search->span);
    for (size_t i = 0; i < search->set.count && !is_there; i++)
        is_there = is_within(op->span, search->set.data[i]);
    for (int i = 0; i < op->result_count; i++)
        if (is_there || op->results[i].name == search->name) search_value(search, &op->results[i]);
}

/* ---- compiling ---- */

/* For arguments that are aligned, as those of most calls are. */
static void lay_out(LaidOut *kernel, const Target *target, Arena *arena)
{
    const PassOptions passes = {.stop_after = "infer_layout"};
    const int64_t *multiples = variant_multiples(arena, kernel->typed);
    Diags *diags = kernel->typed->session->diags;
    kernel->is_tried = true;
    Kernel *copy = kernel_clone(kernel->typed);
    for (int i = 0; multiples != NULL && i < copy->parameter_count; i++)
        if (copy->parameters[i].multiple < multiples[i])
            copy->parameters[i].multiple = multiples[i];
    const DiagMute mute = diag_mute(diags);
    if (passes_run(copy, target, &passes))
        kernel->laid_out = copy;
    else
        kernel_free(copy);
    diag_unmute(diags, mute);
}

static const char *layout_text(Arena *arena, const Layout *layout)
{
    Buf text = {0};
    layout_print(layout, &text);
    const char *copy = arena_copy_text(arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

const char *layout_at(Server *server, Analysis *values, Span span, Name name, const char *types)
{
    int left = MOST_KERNELS;
    for (size_t i = 0; i < values->kernels.count && left > 0; i++) {
        LaidOut *kernel = &values->kernels.data[i];
        ValueSearch search = {.arena = server->arena, .span = span, .name = name, .types = types};
        kernel_visit((Kernel *)(uintptr_t)kernel->typed, search_place, &search);
        if (!search.found_place) continue;
        left--;
        if (!kernel->is_tried) lay_out(kernel, server->target, server->arena);
        if (kernel->laid_out != NULL) kernel_visit(kernel->laid_out, search_op, &search);
        if (search.found != NULL) return layout_text(server->arena, search.found->layout);
    }
    return NULL;
}
