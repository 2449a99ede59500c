/* eval_test.c: what small programs evaluate to: the ops that kernels are staged to, what is exported, the
 * errors of wrong programs, host code over a host that the test plays, and that no text whatever breaks
 * the evaluator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "eval/eval.h"
#include "eval/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- staging a text ---- */

static const char HEAD[] = "import tilus\n"
                           "import torch\n"
                           "from tilus import float16, float32, int32\n"
                           "from tilus.utils import cdiv\n"
                           "class Counter:\n"
                           "    def __init__(self):\n"
                           "        self.stage = 0\n"
                           "    def advance(self):\n"
                           "        self.stage = (self.stage + 1) % 3\n"
                           "class K(tilus.Script):\n"
                           "    def __init__(self, size=8):\n"
                           "        super().__init__()\n"
                           "        self.size: int = size\n"
                           "    def twice(self, t: tilus.RegisterTensor):\n"
                           "        t += t\n"
                           "    def deep(self, n):\n"
                           "        return self.deep(n + 1)\n"
                           "    def __call__(self, n: int32, m: int32, p: ~float32):\n"
                           "        self.attrs.blocks = 1\n"
                           "        self.attrs.warps = 4\n";

typedef struct Staged {
    Session *session;
    Program *program;
    ExportList exports;
    bool good;
} Staged;

static Staged stage(const char *text, const char *const *exports, int count)
{
    Staged staged = {.session = session_new()};
    const Source *source = source_from_text(staged.session, "test.py", text, strlen(text));
    const EvalOptions options = {0};
    staged.program = program_new(staged.session, source, &options);
    staged.good = staged.program != NULL && program_export(staged.program, exports, count, &staged.exports);
    assert_int_equal(staged.good, diag_error_count(staged.session->diags) == 0);
    return staged;
}

static void release(Staged *staged)
{
    program_free(staged->program);
    session_free(staged->session);
}

static char *with_head(Arena *arena, const char *body)
{
    Buf buf = {0};
    buf_text(&buf, HEAD);
    for (const char *line = body; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        buf_text(&buf, "        ");
        buf_bytes(&buf, line, length);
        buf_char(&buf, '\n');
        line += length + (line[length] == '\n');
    }
    buf_text(&buf, "k = K()\n");
    char *text = arena_copy_text(arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

/* The lines inside the launch, without places, four spaces to the left. */
static void device_text(const Kernel *kernel, Buf *out)
{
    Buf all = {0};
    kernel_print(kernel, &all);
    const char *line = strstr(all.data, "\n  launch");
    for (line = strchr(line + 1, '\n') + 1; strncmp(line, "    ", 4) == 0; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");
        const char *comment = strstr(line, " # ");
        if (comment != NULL && comment < line + length)
            length = (size_t)(comment - line);
        buf_bytes(out, line + 4, length - 4);
        buf_char(out, '\n');
    }
    buf_free(&all);
}

static void assert_staged(const char *body, const char *expected)
{
    Arena *arena = arena_new();
    Staged staged = stage(with_head(arena, body), NULL, 0);
    Buf out = {0};
    buf_text(&out, "");
    diag_render(staged.session->diags, DIAG_TEXT, false, &out);
    if (staged.good)
        device_text(staged.exports.items[0].specialisations[0], &out);
    assert_string_equal(out.data, expected);
    buf_free(&out);
    release(&staged);
    arena_free(arena);
}
