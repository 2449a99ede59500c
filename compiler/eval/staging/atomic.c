/* atomic.c: the words that say what an atomic op does: operation, order and scope. */
#include "eval/staging/staging.h"

#include <string.h>

/* The words in quotes, as a message lists them. */
static const char *words_text(Eval *eval, const char *const *words)
{
    const char *text = arena_printf(eval->arena, "'%s'", words[0]);
    for (int i = 1; words[i] != NULL; i++)
        text = arena_printf(eval->arena, "%s, '%s'", text, words[i]);
    return text;
}

static bool read_word(Eval *eval, Object *object, const char *what, const char *const *words,
                      Span at, Name *out)
{
    for (int i = 0; object->kind == OBJECT_TEXT && words[i] != NULL; i++)
        if (strcmp(object->as.text.data, words[i]) == 0) {
            *out = intern_text(eval->session->names, words[i]);
            return true;
        }
    FAIL(eval, unknown_choice, at, what, words_text(eval, words));
    return false;
}

static bool check_dtype(Eval *eval, DType dtype, Span at)
{
    if (dtype_bits(dtype) >= 16 && dtype != DTYPE_tf32) return true;
    FAIL(eval, expected_kind, at, "the element type of this atomic", "one of 16, 32 or 64 bits",
         dtype_user_name(dtype));
    return false;
}

static bool is_bitwise(const char *mode)
{
    return strcmp(mode, "and") == 0 || strcmp(mode, "or") == 0 || strcmp(mode, "xor") == 0;
}

bool atomic_words(Eval *eval, Object *const *arguments, DType dtype, Span at, AtomicWords *out)
{
    static const char *const modes[] = {"add", "sub", "min",  "max", "and",
                                        "or",  "xor", "exch", "cas", NULL};
    static const char *const orders[] = {"relaxed", "acquire", "release",
                                         "acq_rel", "seq_cst", NULL};
    static const char *const scopes[] = {"cta", "gpu", "sys", NULL};
    if (!read_word(eval, arguments[0], "the operation", modes, at, &out->mode) ||
        !read_word(eval, arguments[1], "sem", orders, at, &out->order) ||
        !read_word(eval, arguments[2], "scope", scopes, at, &out->scope))
        return false;
    out->negates = strcmp(out->mode, "sub") == 0;
    out->compares = strcmp(out->mode, "cas") == 0;
    if (out->negates) out->mode = intern_text(eval->session->names, "add");
    if (is_bitwise(out->mode) && !dtype_is_integer(dtype)) {
        FAIL(eval, expected_kind, at, "the element type of this atomic", "an integer",
             dtype_user_name(dtype));
        return false;
    }
    return check_dtype(eval, dtype, at);
}

void atomic_set_words(Op *op, const AtomicWords *words)
{
    op_set_text(op, ATTR_mode, words->mode);
    op_set_text(op, ATTR_order, words->order);
    op_set_text(op, ATTR_scope, words->scope);
}
