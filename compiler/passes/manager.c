/* manager.c: runs the passes of passes.def in their order, holds each to what its row says that it
 * needs, gives and breaks, and says in which pass an invariant broke. */
#include "passes/passes.h"

#include "passes/analysis/context.h"
#include "passes/properties.h"

#include <string.h>

typedef struct PassRow {
    const char *name, *needs, *gives, *breaks, *preserves, *why;
    bool (*run)(Kernel *kernel, PassContext *context);
} PassRow;

static const PassRow passes[] = {
#define PASS(name, needs, gives, breaks, preserves, why)                                           \
    {#name, needs, gives, breaks, preserves, why, pass_##name},
#include "passes/passes.def"
#undef PASS
};
enum { PASS_TOTAL = sizeof passes / sizeof passes[0] };

bool pass_simplify_again(Kernel *kernel, PassContext *context)
{
    return pass_simplify(kernel, context);
}

bool pass_promote_again(Kernel *kernel, PassContext *context)
{
    return pass_promote(kernel, context);
}

bool pass_simplify_threads(Kernel *kernel, PassContext *context)
{
    return pass_simplify(kernel, context);
}

static const PassRow *pass_named(const char *name)
{
    for (int i = 0; i < PASS_TOTAL; i++)
        if (strcmp(passes[i].name, name) == 0) return &passes[i];
    return NULL;
}

/* ---- what the rows say ---- */

const char *pass_name_at(int index)
{
    return index >= 0 && index < PASS_TOTAL ? passes[index].name : NULL;
}

static void describe(const char *label, const char *names, Buf *out)
{
    if (*names) buf_printf(out, " %s %s", label, names);
}

void pass_describe(int index, Buf *out)
{
    const PassRow *pass = &passes[index];
    buf_printf(out, "%-16s", pass->name);
    describe("needs", pass->needs, out);
    describe("gives", pass->gives, out);
    describe("breaks", pass->breaks, out);
    describe("preserves", pass->preserves, out);
    buf_char(out, '\n');
}

static unsigned analyses_named(const char *names)
{
    unsigned set = 0;
    for (int i = 0; i < ANALYSIS_COUNT; i++)
        if (strstr(names, analysis_name((Analysis)i))) set |= 1u << i;
    return set;
}

static unsigned properties_after(const PassRow *pass, unsigned before)
{
    return (before & ~properties_named(pass->breaks)) | properties_named(pass->gives);
}

const char *passes_misplaced(const char *const *names, int count, Buf *missing)
{
    unsigned set = properties_named("TYPED AS_WRITTEN PLAIN_INDICES");
    for (int i = 0; i < count; i++) {
        const PassRow *pass = pass_named(names[i]);
        properties_print(properties_named(pass->needs) & ~set, missing);
        if (missing->length) return names[i];
        set = properties_after(pass, set);
    }
    return NULL;
}

/* ---- running one ---- */

static void dump_after(const PassRow *pass, Kernel *kernel, const PassOptions *options)
{
    if (!options->print_after || !options->dump) return;
    if (strcmp(options->print_after, pass->name) != 0 && strcmp(options->print_after, "all") != 0)
        return;
    buf_printf(options->dump, "# after %s: ", pass->name);
    properties_print(properties_of(kernel), options->dump);
    buf_char(options->dump, '\n');
    kernel_print(kernel, options->dump);
}

/* Reports an op by which a property that the kernel should have is not true. */
static bool has_property(Kernel *kernel, int property)
{
    const Op *breaker = property_breaker(kernel, property);
    if (!breaker) return true;
    Buf line = {0};
    op_print(breaker, &line);
    diag_report(kernel->session->diags, DIAG_ir_invalid, breaker->span,
                intern_printf(kernel->session->names,
                              "kernel '%s' is not %s, as it should be, by this op: %s",
                              kernel->name, property_name(property), line.data));
    buf_free(&line);
    return false;
}

static bool verify_properties(Kernel *kernel)
{
    bool fine = true;
    const unsigned set = properties_of(kernel);
    for (int i = STAGE_COUNT; i < PROPERTY_COUNT; i++)
        fine &= !(set & 1u << i) || has_property(kernel, i);
    return fine;
}

static bool verify_after(const PassRow *pass, Kernel *kernel, PassContext *context)
{
    const Value *wrong;
    if (!kernel_verify(kernel) || !verify_properties(kernel)) {
        diag_note(kernel->session->diags, kernel->span, "after pass %s", pass->name);
        return false;
    }
    if (!analysis_holds(context, &wrong))
        ICE("pass %s does not preserve what was known of '%s' of '%s'", pass->name,
            wrong->name ? wrong->name : "a value", kernel->name);
    return true;
}

static unsigned missing_for(const PassRow *pass, Kernel *kernel)
{
    return properties_named(pass->needs) & ~properties_of(kernel);
}

/* Of a kernel that was read from text it is the text that lacks something, not the table. */
static bool refuse(const PassRow *pass, Kernel *kernel)
{
    Buf needs = {0};
    properties_print(missing_for(pass, kernel), &needs);
    if (!kernel->read_from)
        ICE("pass %s needs %s, which kernel '%s', %s, is not", pass->name, needs.data, kernel->name,
            stage_name(kernel->stage));
    diag_report(kernel->session->diags, DIAG_pass_needs, kernel->span, pass->name, needs.data,
                kernel->name, stage_name(kernel->stage));
    buf_free(&needs);
    return false;
}

static bool run_pass(const PassRow *pass, Kernel *kernel, PassContext *context,
                     const PassOptions *options)
{
    if (missing_for(pass, kernel)) return refuse(pass, kernel);
    const unsigned after = properties_after(pass, properties_of(kernel));
    uint64_t start = os_now_ns();
    const ArenaMark mark = arena_mark(context->arena);
    bool fine = pass->run(kernel, context);
    arena_reset(context->arena, mark);
    times_add(kernel->session->times, pass->name, start);
    analysis_keep(context, analyses_named(pass->preserves));
    if (!stage_result(kernel->session, fine, pass->name)) return false;
    properties_set(kernel, after);
    if (properties_of(kernel) != after)
        ICE("pass %s left the kernel '%s' %s", pass->name, kernel->name, stage_name(kernel->stage));
    dump_after(pass, kernel, options);
    return !options->verify_each || verify_after(pass, kernel, context);
}

/* ---- running several ---- */

/* Text that `tilec opt` reads may be further on than the first passes. */
static int first_for(const Kernel *kernel)
{
    const unsigned earlier = (1u << kernel->stage) - 1;
    int first = 0;
    while (first < PASS_TOTAL && properties_named(passes[first].needs) & earlier) first++;
    return first;
}

static bool run_from(int first, Kernel *kernel, PassContext *context, const PassOptions *options)
{
    for (int i = first; i < PASS_TOTAL; i++) {
        if (!run_pass(&passes[i], kernel, context, options)) return false;
        if (options->stop_after && strcmp(options->stop_after, passes[i].name) == 0) break;
    }
    return true;
}

static PassContext begin(Kernel *kernel, const Target *target)
{
    return (PassContext){.kernel = kernel, .target = target, .arena = arena_new()};
}

static void end(PassContext *context)
{
    analysis_invalidate(context);
    arena_free(context->arena);
}

bool passes_run(Kernel *kernel, const Target *target, const PassOptions *options)
{
    PassContext context = begin(kernel, target);
    const bool fine = run_from(first_for(kernel), kernel, &context, options);
    end(&context);
    return fine;
}

bool pass_run_named(Kernel *kernel, const Target *target, const char *name,
                    const PassOptions *options)
{
    const PassRow *pass = pass_named(name);
    if (!pass) {
        diag_report(kernel->session->diags, DIAG_no_such_pass, kernel->span, name);
        return false;
    }
    PassContext context = begin(kernel, target);
    const bool fine = run_pass(pass, kernel, &context, options);
    end(&context);
    return fine;
}
