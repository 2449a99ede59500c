/* manager.c: runs the passes of passes.def in their order, checks what each needs and gives, and
 * says in which pass an invariant broke. */
#include "passes/passes.h"

#include <string.h>

typedef struct PassRow {
    const char *name, *why;
    Stage needs, gives;
    bool (*run)(Kernel *kernel, const Target *target);
} PassRow;

static const PassRow passes[] = {
#define PASS(name, needs, gives, why) {#name, why, needs, gives, pass_##name},
#include "passes/passes.def"
#undef PASS
};
enum { PASS_TOTAL = sizeof passes / sizeof passes[0] };

bool pass_simplify_again(Kernel *kernel, const Target *target)
{
    return pass_simplify(kernel, target);
}

bool pass_simplify_threads(Kernel *kernel, const Target *target)
{
    return pass_simplify(kernel, target);
}

const char *pass_name_at(int index)
{
    return index >= 0 && index < PASS_TOTAL ? passes[index].name : NULL;
}

static void dump_after(const PassRow *pass, const Kernel *kernel, const PassOptions *options)
{
    if (!options->print_after || !options->dump) return;
    if (strcmp(options->print_after, pass->name) != 0 && strcmp(options->print_after, "all") != 0)
        return;
    buf_printf(options->dump, "# after %s\n", pass->name);
    kernel_print(kernel, options->dump);
}

static bool run_pass(const PassRow *pass, Kernel *kernel, const Target *target,
                     const PassOptions *options)
{
    if (kernel->stage != pass->needs)
        ICE("pass %s needs %s, the kernel '%s' is %s", pass->name, stage_name(pass->needs),
            kernel->name, stage_name(kernel->stage));
    uint64_t start = os_now_ns();
    bool fine = pass->run(kernel, target);
    times_add(kernel->session->times, pass->name, start);
    if (!stage_result(kernel->session, fine, pass->name)) return false;
    if (kernel->stage != pass->gives)
        ICE("pass %s left the kernel '%s' %s", pass->name, kernel->name, stage_name(kernel->stage));
    dump_after(pass, kernel, options);
    if (options->verify_each && !kernel_verify(kernel)) {
        diag_note(kernel->session->diags, kernel->span, "after pass %s", pass->name);
        return false;
    }
    return true;
}

bool passes_run(Kernel *kernel, const Target *target, const PassOptions *options)
{
    /* Start at the first pass whose need the kernel meets: text that `tilec opt` reads may be
     * further on. */
    int first = 0;
    while (first < PASS_TOTAL && passes[first].needs < kernel->stage) first++;
    for (int i = first; i < PASS_TOTAL; i++) {
        if (!run_pass(&passes[i], kernel, target, options)) return false;
        if (options->stop_after && strcmp(options->stop_after, passes[i].name) == 0) break;
    }
    return true;
}

bool pass_run_named(Kernel *kernel, const Target *target, const char *name)
{
    const PassOptions options = {.verify_each = true};
    for (int i = 0; i < PASS_TOTAL; i++) {
        if (strcmp(passes[i].name, name) != 0) continue;
        if (passes[i].needs == kernel->stage) return run_pass(&passes[i], kernel, target, &options);
        diag_report(kernel->session->diags, DIAG_pass_stage, kernel->span, name,
                    stage_name(passes[i].needs), kernel->name, stage_name(kernel->stage));
        return false;
    }
    diag_report(kernel->session->diags, DIAG_no_such_pass, kernel->span, name);
    return false;
}
