/* limits.c: no input may run for ever, or take all the memory: what a program may take of calls,
 * steps of loops, memory, and work, of which all of these and the walks of the evaluator itself
 * through lists, dicts and texts have a share. A run may take its time, but not all the memory. */
#include "eval/values/values.h"

static bool is_unlimited(const Eval *eval)
{
    return eval->host != NULL && eval->staging == NULL;
}

static uint64_t most_calls(const Eval *eval)
{
    return eval->options.max_calls ? eval->options.max_calls : CALLS_LIMIT;
}

/* What a run has computed with stays until it ends, and is there when it compiles a kernel. */
static size_t most_memory(const Eval *eval)
{
    if (eval->options.max_memory) return eval->options.max_memory;
    return eval->host != NULL ? RUN_MEMORY_LIMIT : MEMORY_LIMIT;
}

void eval_begin_work(Eval *eval)
{
    eval->calls_left = most_calls(eval);
    eval->work_left = most_calls(eval) * WORK_OF_CALL;
    eval->steps_left = UNROLL_LIMIT;
    eval->has_ended = false;
}

static bool takes_too_much(Eval *eval, Span at, const char *what)
{
    FAIL(eval, too_much, at, is_unlimited(eval) ? "by the run" : "at compile time", what);
    return false;
}

bool eval_has_room(Eval *eval, size_t bytes, Span at)
{
    const Kernel *kernel = eval->staging != NULL ? eval->staging->kernel : NULL;
    const size_t most = most_memory(eval),
                 staged = kernel ? arena_bytes(kernel->arena) + arena_bytes(kernel->ops) : 0,
                 taken = arena_bytes(eval->arena) + staged;
    if (taken <= most && bytes <= most - taken) return true;
    return takes_too_much(eval, at,
                          arena_printf(eval->session->arena, "%zu MB of memory", most >> 20));
}

enum { DEPTH_LIMIT = 2500 /* of calls and nested expressions */ };

bool eval_may_nest(Eval *eval, Span at)
{
    if (eval->depth < DEPTH_LIMIT && !stack_is_low()) return true;
    FAIL(eval, recursion, eval->library > 0 ? eval->at : at, CALL_LIMIT);
    return false;
}

bool eval_work(Eval *eval, uint64_t amount)
{
    if (is_unlimited(eval)) return true;
    eval->work_left -= amount < eval->work_left ? amount : eval->work_left;
    return eval->work_left > 0;
}

bool eval_goes_on(Eval *eval, Span at)
{
    if (is_unlimited(eval)) return eval_has_room(eval, 0, at);
    if (eval->work_left > 0) return eval_has_room(eval, 0, at);
    if (eval->spent_at.source == NULL) eval->spent_at = at; /* which may have been in silence */
    return takes_too_much(eval, eval->spent_at,
                          arena_printf(eval->session->arena, "%llu steps",
                                       (unsigned long long)(most_calls(eval) * WORK_OF_CALL)));
}

bool eval_works(Eval *eval, uint64_t amount, Span at)
{
    eval_work(eval, amount);
    return eval_goes_on(eval, at);
}

enum { CALLS_UNTIL_ASKED = 64 };

/* Who has lost interest is not made to wait: there is no work left. */
static void ask_for_interrupt(Eval *eval)
{
    if (eval->options.interrupts == NULL || eval->until_asked-- > 0) return;
    eval->until_asked = CALLS_UNTIL_ASKED;
    if (eval->options.interrupts(eval->options.interrupts_context)) eval->work_left = 0;
}

bool eval_may_call(Eval *eval, Span at)
{
    ask_for_interrupt(eval);
    if (is_unlimited(eval)) return eval_has_room(eval, 0, at);
    if (eval->calls_left > 0) {
        eval->calls_left--;
        return eval_goes_on(eval, at);
    }
    return takes_too_much(
        eval, at,
        arena_printf(eval->session->arena, "%llu calls", (unsigned long long)most_calls(eval)));
}

bool eval_may_add(Eval *eval, size_t count, const char *what, Span at)
{
    if (count < INSTANCES_LIMIT || is_unlimited(eval)) return true;
    return takes_too_much(
        eval, at, arena_printf(eval->session->arena, "%d %s of a kernel", INSTANCES_LIMIT, what));
}

/* Loops of the library end; how often they go round is work like other. */
bool eval_step(Eval *eval, Span at)
{
    if (!eval_goes_on(eval, at)) return false;
    if (is_unlimited(eval)) return true;
    if (eval->library > 0) return eval_works(eval, WORK_OF_CALL, at);
    if (eval->steps_left > 0) {
        eval->steps_left--;
        return true;
    }
    FAIL(eval, endless, at, (long long)UNROLL_LIMIT);
    return false;
}

/* ---- text and lists that grow ---- */

bool list_fits(Eval *eval, size_t length, Span at)
{
    const size_t sizes = 3; /* as it grows */
    return eval_has_room(eval, sizes * length * sizeof(Object *), at) &&
           eval_works(eval, length / WORK_ITEMS, at);
}

bool text_grows(Eval *eval, const Buf *text, size_t more, Span at)
{
    if (more > TEXT_LIMIT || text->length > TEXT_LIMIT - more) {
        FAIL(eval, result_length, at);
        return false;
    }
    return eval_works(eval, WORK_OF_ADDING + more / WORK_BYTES, at) &&
           eval_has_room(eval, text->length + more, at);
}

bool text_add(Eval *eval, Buf *text, const char *data, size_t length, Span at)
{
    if (!text_grows(eval, text, length, at)) return false;
    buf_bytes(text, data, length);
    return true;
}
