/* eval_test.c: what small programs evaluate to: the ops that kernels are staged to, what is
 * exported, the errors of wrong programs, host code over a host that the test plays, and that no
 * text whatever breaks the evaluator. */
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
    staged.good =
        staged.program != NULL && program_export(staged.program, exports, count, &staged.exports);
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
    for (line = strchr(line + 1, '\n') + 1; strncmp(line, "    ", 4) == 0;
         line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");
        const char *comment = strstr(line, " # ");
        if (comment != NULL && comment < line + length) length = (size_t)(comment - line);
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
    if (staged.good) device_text(staged.exports.items[0].specialisations[0], &out);
    assert_string_equal(out.data, expected);
    buf_free(&out);
    release(&staged);
    arena_free(arena);
}
/* ---- what is staged ---- */

static void test_literals_take_the_other_side(void **state)
{
    (void)state;
    assert_staged("x = n * 2 + 1.5\n", "%3 = const {value = 2} : i32\n"
                                       "%4 = mul %n, %3 : i32\n"
                                       "%5 = cast %4 : f32\n"
                                       "%6 = const {number = 1.5} : f32\n"
                                       "%x = add %5, %6 : f32\n");
}

static void test_loop_carries_a_name(void **state)
{
    (void)state;
    assert_staged("count = 0\n"
                  "for i in range(n):\n"
                  "    half = 4\n"
                  "    count += i * half\n"
                  "y = count\n",
                  "%3 = const {value = 0} : i32\n"
                  "%4 = const {value = 1} : i32\n"
                  "%5 = const {value = 0} : i32\n"
                  "%count = var %5 : var<i32>\n"
                  "for %3, %n, %4 (%i: i32) {\n"
                  "  %6 = var_get %count : i32\n"
                  "  %7 = const {value = 4} : i32\n"
                  "  %8 = mul %i, %7 : i32\n"
                  "  %9 = add %6, %8 : i32\n"
                  "  var_set %count, %9\n"
                  "  yield\n"
                  "}\n"
                  "%y = var_get %count : i32\n");
}

static void test_branches_merge_when_read(void **state)
{
    (void)state;
    assert_staged("if n > 3:\n"
                  "    x = 1\n"
                  "    w = 7\n"
                  "    unread = \"text\"\n"
                  "else:\n"
                  "    x = 2\n"
                  "    w = 7\n"
                  "    unread = None\n"
                  "y = x * w\n",
                  "%3 = const {value = 3} : i32\n"
                  "%4 = cmp %n, %3 {predicate = gt} : b1\n"
                  "%x = var : var<i32>\n"
                  "if %4 {\n"
                  "  %5 = const {value = 1} : i32\n"
                  "  var_set %x, %5\n"
                  "  yield\n"
                  "} {\n"
                  "  %6 = const {value = 2} : i32\n"
                  "  var_set %x, %6\n"
                  "  yield\n"
                  "}\n"
                  "%7 = var_get %x : i32\n"
                  "%8 = const {value = 7} : i32\n"
                  "%y = mul %7, %8 : i32\n");
}

static void test_branch_in_loop_is_carried(void **state)
{
    (void)state;
    assert_staged("last = 0\n"
                  "for i in range(n):\n"
                  "    if i > m:\n"
                  "        last = i\n"
                  "y = last\n",
                  "%3 = const {value = 0} : i32\n"
                  "%4 = const {value = 1} : i32\n"
                  "%5 = const {value = 0} : i32\n"
                  "%last = var %5 : var<i32>\n"
                  "for %3, %n, %4 (%i: i32) {\n"
                  "  %6 = cmp %i, %m {predicate = gt} : b1\n"
                  "  if %6 {\n"
                  "    var_set %last, %i\n"
                  "    yield\n"
                  "  } {\n"
                  "    yield\n"
                  "  }\n"
                  "  yield\n"
                  "}\n"
                  "%y = var_get %last : i32\n");
}

static void test_while_loop(void **state)
{
    (void)state;
    assert_staged("while n > m:\n"
                  "    n = n - 1\n"
                  "x = n\n",
                  "%3 = cmp %n, %m {predicate = gt} : b1\n"
                  "%n.1 = var %n : var<i32>\n"
                  "while {\n"
                  "  %4 = var_get %n.1 : i32\n"
                  "  %5 = cmp %4, %m {predicate = gt} : b1\n"
                  "  condition %5\n"
                  "} {\n"
                  "  %6 = var_get %n.1 : i32\n"
                  "  %7 = const {value = 1} : i32\n"
                  "  %8 = sub %6, %7 : i32\n"
                  "  var_set %n.1, %8\n"
                  "  yield\n"
                  "}\n"
                  "%x = var_get %n.1 : i32\n");
}

static void test_attributes_are_carried(void **state)
{
    (void)state;
    assert_staged("c = Counter()\n"
                  "for i in range(n):\n"
                  "    c.advance()\n"
                  "x = c.stage\n",
                  "%3 = const {value = 0} : i32\n"
                  "%4 = const {value = 1} : i32\n"
                  "%5 = const {value = 0} : i32\n"
                  "%stage = var %5 : var<i32>\n"
                  "for %3, %n, %4 (%i: i32) {\n"
                  "  %6 = var_get %stage : i32\n"
                  "  %7 = const {value = 1} : i32\n"
                  "  %8 = add %6, %7 : i32\n"
                  "  %9 = const {value = 3} : i32\n"
                  "  %10 = floormod %8, %9 : i32\n"
                  "  var_set %stage, %10\n"
                  "  yield\n"
                  "}\n"
                  "%x = var_get %stage : i32\n");
}

static void test_range_counts_down(void **state)
{
    (void)state;
    assert_staged("for i in range(4, 0, -1):\n"
                  "    x = n + i\n",
                  "%3 = const {value = 0} : i32\n"
                  "%4 = const {value = 4} : i32\n"
                  "%5 = const {value = 1} : i32\n"
                  "for %3, %4, %5 (%i: i32) {\n"
                  "  %6 = const {value = -1} : i32\n"
                  "  %7 = mul %i, %6 : i32\n"
                  "  %8 = const {value = 4} : i32\n"
                  "  %i.1 = add %7, %8 : i32\n"
                  "  %x = add %n, %i.1 : i32\n"
                  "  yield\n"
                  "}\n");
}

static void test_tiles_broadcast(void **state)
{
    (void)state;
    assert_staged(
        "acc = self.register_tensor(dtype=float32, shape=[4, 1], init=lambda i, j: i + j)\n"
        "row = self.register_tensor(dtype=float16, shape=[2], init=1)\n"
        "b = acc * row\n",
        "%3 = iota {dim = 0} : tile<i32, [4, 1]>\n"
        "%4 = iota {dim = 1} : tile<i32, [4, 1]>\n"
        "%5 = add %3, %4 : tile<i32, [4, 1]>\n"
        "%6 = cast %5 : tile<f32, [4, 1]>\n"
        "%acc = var %6 : var<tile<f32, [4, 1]>>\n"
        "%7 = const {number = 1} : f16\n"
        "%8 = splat %7 : tile<f16, [2]>\n"
        "%row = var %8 : var<tile<f16, [2]>>\n"
        "%9 = var_get %acc : tile<f32, [4, 1]>\n"
        "%10 = var_get %row : tile<f16, [2]>\n"
        "%11 = cast %10 : tile<f32, [2]>\n"
        "%12 = broadcast %9 : tile<f32, [4, 2]>\n"
        "%13 = reshape %11 : tile<f32, [1, 2]>\n"
        "%14 = broadcast %13 : tile<f32, [4, 2]>\n"
        "%15 = mul %12, %14 : tile<f32, [4, 2]>\n"
        "%b = var %15 : var<tile<f32, [4, 2]>>\n");
}

static void test_tiles_are_copied_and_shared(void **state)
{
    (void)state;
    assert_staged("t = self.register_tensor(dtype=float32, shape=[4], init=0.0)\n"
                  "self.twice(t)\n"
                  "u = t\n",
                  "%3 = const {number = 0} : f32\n"
                  "%4 = splat %3 : tile<f32, [4]>\n"
                  "%t = var %4 : var<tile<f32, [4]>>\n"
                  "%5 = var_get %t : tile<f32, [4]>\n"
                  "%6 = var_get %t : tile<f32, [4]>\n"
                  "%7 = add %5, %6 : tile<f32, [4]>\n"
                  "var_set %t, %7\n"
                  "%8 = var_get %t : tile<f32, [4]>\n"
                  "%u = var %8 : var<tile<f32, [4]>>\n");
}

static void test_choices_and_chains(void **state)
{
    (void)state;
    assert_staged("x = 3 if n < 5 else 4.0\n"
                  "y = 1 < n < m\n",
                  "%3 = const {value = 5} : i32\n"
                  "%4 = cmp %n, %3 {predicate = lt} : b1\n"
                  "%choice = var : var<f32>\n"
                  "if %4 {\n"
                  "  %5 = const {number = 3} : f32\n"
                  "  var_set %choice, %5\n"
                  "  yield\n"
                  "} {\n"
                  "  %6 = const {number = 4} : f32\n"
                  "  var_set %choice, %6\n"
                  "  yield\n"
                  "}\n"
                  "%x = var_get %choice : f32\n"
                  "%7 = const {value = 1} : i32\n"
                  "%8 = cmp %7, %n {predicate = lt} : b1\n"
                  "%9 = cmp %n, %m {predicate = lt} : b1\n"
                  "%y = and %8, %9 : b1\n");
}

static void test_known_loops_unroll(void **state)
{
    (void)state;
    assert_staged("for i, t in enumerate([1, 2]):\n"
                  "    x = n + i * t\n"
                  "a, b = n, m\n"
                  "a, b = b, a\n"
                  "y = a - b\n"
                  "z = -n / 2\n",
                  "%3 = const {value = 0} : i32\n"
                  "%x = add %n, %3 : i32\n"
                  "%4 = const {value = 2} : i32\n"
                  "%x.1 = add %n, %4 : i32\n"
                  "%y = sub %m, %n : i32\n"
                  "%5 = neg %n : i32\n"
                  "%6 = const {value = 2} : i32\n"
                  "%z = div %5, %6 : i32\n");
}

static void test_integers_floor(void **state)
{
    (void)state;
    assert_staged("x = n // 4 % 3\n", "%3 = const {value = 4} : i32\n"
                                      "%4 = floordiv %n, %3 : i32\n"
                                      "%5 = const {value = 3} : i32\n"
                                      "%x = floormod %4, %5 : i32\n");
}

static void test_views_and_memory(void **state)
{
    (void)state;
    assert_staged("i: int32 = 3\n"
                  "g = self.global_view(p, dtype=float32, shape=[n, m, 8])\n"
                  "t = self.load_global(g, offsets=[i, 0, 0], shape=[8], dims=[2])\n"
                  "self.store_global(g, t, offsets=[i, n, 0], dims=[2])\n",
                  "%i = const {value = 3} : i32\n"
                  "%3 = const {value = 8} : i64\n"
                  "%4 = const {value = 1} : i64\n"
                  "%5 = const {value = 8} : i64\n"
                  "%6 = cast %m : i64\n"
                  "%7 = const {value = 8} : i64\n"
                  "%8 = mul %6, %7 : i64\n"
                  "%g = view %p, %n, %m, %3, %8, %5, %4 : view<f32, [?, ?, 8], [?, 8, 1]>\n"
                  "%9 = const {value = 0} : i32\n"
                  "%10 = const {value = 0} : i32\n"
                  "%11 = load %g, %i, %9, %10 {dims = [2]} : tile<f32, [8]>\n"
                  "%t = var %11 : var<tile<f32, [8]>>\n"
                  "%12 = var_get %t : tile<f32, [8]>\n"
                  "%13 = const {value = 0} : i32\n"
                  "store %g, %12, %i, %n, %13 {dims = [2]}\n");
}

static void test_dot_accumulates(void **state)
{
    (void)state;
    assert_staged("a = self.register_tensor(dtype=float16, shape=[16, 8], init=1)\n"
                  "acc = self.dot(a, a.transpose())\n"
                  "self.dot(a, a.transpose(), acc, out=acc)\n",
                  "%3 = const {number = 1} : f16\n"
                  "%4 = splat %3 : tile<f16, [16, 8]>\n"
                  "%a = var %4 : var<tile<f16, [16, 8]>>\n"
                  "%5 = var_get %a : tile<f16, [16, 8]>\n"
                  "%6 = transpose %5 {dims = [1, 0]} : tile<f16, [8, 16]>\n"
                  "%7 = var %6 : var<tile<f16, [8, 16]>>\n"
                  "%8 = var_get %a : tile<f16, [16, 8]>\n"
                  "%9 = var_get %7 : tile<f16, [8, 16]>\n"
                  "%10 = const {number = 0} : f32\n"
                  "%11 = splat %10 : tile<f32, [16, 16]>\n"
                  "%12 = dot %8, %9, %11 : tile<f32, [16, 16]>\n"
                  "%acc = var %12 : var<tile<f32, [16, 16]>>\n"
                  "%13 = var_get %a : tile<f16, [16, 8]>\n"
                  "%14 = transpose %13 {dims = [1, 0]} : tile<f16, [8, 16]>\n"
                  "%15 = var %14 : var<tile<f16, [8, 16]>>\n"
                  "%16 = var_get %a : tile<f16, [16, 8]>\n"
                  "%17 = var_get %15 : tile<f16, [8, 16]>\n"
                  "%18 = var_get %acc : tile<f32, [16, 16]>\n"
                  "%19 = dot %16, %17, %18 : tile<f32, [16, 16]>\n"
                  "var_set %acc, %19\n");
}

static void test_shared_memory(void **state)
{
    (void)state;
    assert_staged("s = self.shared_tensor(dtype=float32, shape=[8])\n"
                  "self.store_shared(s, self.register_tensor(dtype=float32, shape=[8], init=2))\n"
                  "self.sync()\n"
                  "t = self.load_shared(s)\n",
                  "%s = shared_alloc : shared<f32, [8]>\n"
                  "%3 = const {number = 2} : f32\n"
                  "%4 = splat %3 : tile<f32, [8]>\n"
                  "%5 = var %4 : var<tile<f32, [8]>>\n"
                  "%6 = var_get %5 : tile<f32, [8]>\n"
                  "shared_store %s, %6\n"
                  "sync\n"
                  "%7 = shared_load %s : tile<f32, [8]>\n"
                  "%t = var %7 : var<tile<f32, [8]>>\n");
}

/* ---- errors ---- */

typedef struct Refusal {
    DiagCode code;
    const char *body;
} Refusal;

static const Refusal REFUSALS[] = {
    {DIAG_unknown_name, "x = nothing"},
    {DIAG_host_module, "x = torch.zeros"},
    {DIAG_unknown_attribute, "self.nothing"},
    {DIAG_missing_argument, "cdiv(1)"},
    {DIAG_many_arguments, "cdiv(1, 2, 3)"},
    {DIAG_unknown_parameter, "cdiv(1, b=2, c=3)"},
    {DIAG_missing_argument, "len()"},
    {DIAG_many_arguments, "Counter(1, 2)"},
    {DIAG_not_callable, "(1)(2)"},
    {DIAG_no_key, "x = {}['a']"},
    {DIAG_bad_operands, "x = 1 + 'a'"},
    {DIAG_not_numbers, "x = p * 2"},
    {DIAG_bad_operands, "x = (n * 1.5) << 2"},
    {DIAG_int_overflow, "x = 2 ** 127"},
    {DIAG_int_overflow, "x = 3 ** 60 * 3 ** 60"},
    {DIAG_zero_division, "x = 1 % 0"},
    {DIAG_index_range, "x = [1][1]"},
    {DIAG_bad_index, "x = 3[0]"},
    {DIAG_recursion, "self.deep(0)"},
    {DIAG_raised, "raise ValueError('no')"},
    {DIAG_assertion, "assert n is None, 'no'"},
    {DIAG_unpack, "a, b = 1, 2, 3"},
    {DIAG_unknown_import, "tilus.nothing"},
    {DIAG_unsupported, "x = 2j"},
    {DIAG_not_iterable, "for i in 3:\n    pass"},
    {DIAG_endless, "while True:\n    pass"},
    {DIAG_merge_types, "if n > 1:\n    x = 1\nelse:\n    x = self\ny = x"},
    {DIAG_maybe_unbound, "if n > 1:\n    x = 1\ny = x"},
    {DIAG_maybe_unbound, "for i in range(n):\n    x = 1\ny = x + i"},
    {DIAG_changed_under_control, "l = []\nfor i in range(n):\n    l.append(i)"},
    {DIAG_changed_under_control, "d = {}\nif n > 1:\n    d[1] = 2"},
    {DIAG_jump_under_control,
     "try:\n    if n > 1:\n        raise ValueError('a')\nexcept ValueError:\n    pass"},
    {DIAG_raised, "try:\n    raise ValueError('a')\nexcept KeyError:\n    pass"},
    {DIAG_maybe_unbound, "for i in range(n):\n    if i == m:\n        break\n    x = i\ny = x"},
    {DIAG_stop_iteration, "next(iter([]))"},
    {DIAG_not_static, "self.register_tensor(dtype=float32, shape=[n])"},
    {DIAG_device_grid, "self.attrs.blocks = self.blockIdx.x"},
    {DIAG_variable_type, "x = 1\nfor i in range(n):\n    y = x\n    x = i\n    x = 'text'"},
    {DIAG_no_variable, "x = 'a'\nfor i in range(n):\n    y = x\n    x = 'b'"},
    {DIAG_static_assertion, "self.static_assert(1 > 2, 'no')"},
    {DIAG_static_assertion, "self.assume(1 > 2)"},
    {DIAG_count_range, "self.attrs.warps = 33"},
    {DIAG_shape_mismatch, "a = self.register_tensor(dtype=float32, shape=[3])\n"
                          "b = self.register_tensor(dtype=float32, shape=[4])\nc = a + b"},
    {DIAG_shape_mismatch, "a = self.register_tensor(dtype=float32, shape=[3, 3])\n"
                          "b = self.register_tensor(dtype=float32, shape=[4, 4])\nself.dot(a, b)"},
    {DIAG_literal_range, "x = self.register_tensor(dtype=tilus.int8, shape=[4], init=300)"},
    {DIAG_literal_range, "x = self.register_tensor(dtype=int32, shape=[4], init=0) + 1.5"},
    {DIAG_rank_mismatch, "g = self.global_view(p, dtype=float32, shape=[n])\n"
                         "self.load_global(g, offsets=[0, 0], shape=[4])"},
    {DIAG_expected_kind, "self.store_global(p, 1, offsets=[0])"},
    {DIAG_dtype_mismatch,
     "g = self.global_view(p, dtype=float32, shape=[n])\n"
     "self.store_global(g, self.register_tensor(dtype=float16, shape=[4]), offsets=[0])"},
    {DIAG_no_common_type,
     "a = self.register_tensor(dtype=tilus.float8_e4m3, shape=[4])\nb = a + float16(n)\n"
     "c = a + self.register_tensor(dtype=tilus.float8_e5m2, shape=[4])"},
    {DIAG_bad_assign_target, "n + 1 = 2"},
};

static void assert_code(const char *text, DiagCode code, const char *const *exports, int count)
{
    Staged staged = stage(text, exports, count);
    assert_false(staged.good);
    Buf out = {0};
    diag_render(staged.session->diags, DIAG_TEXT, false, &out);
    char wanted[16];
    snprintf(wanted, sizeof wanted, "[%s]", diag_row(code)->code);
    if (strstr(out.data, wanted) == NULL) fail_msg("%s is missing in:\n%s", wanted, out.data);
    buf_free(&out);
    release(&staged);
}

static void test_errors(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    for (size_t i = 0; i < sizeof REFUSALS / sizeof *REFUSALS; i++)
        assert_code(with_head(arena, REFUSALS[i].body), REFUSALS[i].code, NULL, 0);
    arena_free(arena);
}

static void test_errors_of_modules(void **state)
{
    (void)state;
    static const char *const export = "a = 1";
    static const char *const not_export = "1 + 2";
    static const char *const circular = "c = x";
    assert_code("def f(): return x\nx = f()\n", DIAG_circular_name, &circular, 1);
    assert_code("", DIAG_not_a_kernel, &export, 1);
    assert_code("", DIAG_export_form, &not_export, 1);
    assert_code(
        "import tilus\nclass K(tilus.Script):\n    def __call__(self, n):\n        pass\nk = K()\n",
        DIAG_parameter_type, NULL, 0);
    assert_code("import tilus\nclass K(tilus.Script):\n    def __call__(self, n: tilus.int32):\n"
                "        self.attrs.blocks = n\nk = K()\n",
                DIAG_no_attribute_set, NULL, 0);
    assert_code("import tilus\nt = tilus.register_tensor\nclass K(tilus.Script):\n"
                "    def __init__(self):\n        self.sync()\n"
                "    def __call__(self, n: tilus.int32):\n        pass\nk = K()\n",
                DIAG_outside_kernel, NULL, 0);
}

/* After an error the kernel's other statements are looked at, and what it poisoned stays silent. */
static void test_errors_are_collected(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Staged staged = stage(with_head(arena, "x = nothing\ny = x + 1\nz = y\nw = 1 // 0"), NULL, 0);
    assert_int_equal(diag_error_count(staged.session->diags), 2);
    release(&staged);
    arena_free(arena);
}

/* ---- exports ---- */

static const char MATMUL[] = "import torch\n"
                             "import tilus\n"
                             "from tilus import float16, float32, int32\n"
                             "class Kernel(tilus.Script):\n"
                             "    def __init__(self, size, other=torch):\n"
                             "        self.size = size\n"
                             "    def __call__(self, n: int32, k: int, flag: bool, p: ~float16):\n"
                             "        self.attrs.blocks = [n, tilus.cdiv(k, self.size)]\n"
                             "        self.attrs.warps = 2 if flag else 4\n"
                             "def main():\n"
                             "    inner = Kernel(3)\n"
                             "open_key = Kernel(8)\n"
                             "again = Kernel(8)\n"
                             "again.compile(k=16, flag=True)\n"
                             "again.compile(3, 32, False)\n"
                             "again.compile(k=16, flag=True)\n"
                             "direct = Kernel(4).compile(k=-2, flag=False)\n"
                             "skipped = Kernel(torch.cuda.count())\n"
                             "main()\n";

static void print_exports(const ExportList *exports, Buf *out)
{
    for (int i = 0; i < exports->count; i++)
        for (int j = 0; j < exports->items[i].specialisation_count; j++)
            buf_printf(out, "%s: %s\n", exports->items[i].name,
                       exports->items[i].specialisations[j]->name);
}

static void test_exports(void **state)
{
    (void)state;
    Staged staged = stage(MATMUL, NULL, 0);
    Buf out = {0};
    print_exports(&staged.exports, &out);
    assert_string_equal(out.data, "again: again__k_16__flag_1\n"
                                  "again: again__k_32__flag_0\n"
                                  "direct: direct__k_m2__flag_0\n");
    const Kernel *kernel = staged.exports.items[0].specialisations[0];
    assert_int_equal(kernel->parameter_count, 4);
    assert_true(kernel->parameters[1].is_key && kernel->parameters[1].key == 16);
    assert_true(kernel->parameters[2].is_key && kernel->parameters[2].key == 1);
    assert_int_equal(op_int(kernel->host->last, ATTR_warps, 0), 2);
    buf_free(&out);
    release(&staged);
}

/* They stand in place of what the file exports. */
static void test_named_exports(void **state)
{
    (void)state;
    static const char *const texts[] = {"late = Kernel(5).compile(k=1, flag=False)",
                                        "late = Kernel(5).compile(k=2, flag=False)"};
    Staged staged = stage(MATMUL, texts, 2);
    Buf out = {0};
    print_exports(&staged.exports, &out);
    assert_string_equal(out.data, "late: late__k_1__flag_0\n"
                                  "late: late__k_2__flag_0\n");
    buf_free(&out);
    release(&staged);
}

static void test_exports_that_clash(void **state)
{
    (void)state;
    static const char *const other[] = {"a = Kernel(5).compile(k=1, flag=False)",
                                        "a = Kernel(6).compile(k=2, flag=False)"};
    static const char *const open = "a = Kernel(5)";
    assert_code(MATMUL, DIAG_export_twice, other, 2);
    assert_code(MATMUL, DIAG_open_key, &open, 1);
}

/* ---- running ---- */

typedef struct FakeHost {
    Host host;
    int launches;
    const Kernel *kernel;
    Buf printed;
} FakeHost;

static bool fake_find(Host *host, const char *name)
{
    (void)host;
    return strcmp(name, "make") == 0 || strcmp(name, "array.sum") == 0 ||
           strcmp(name, "twice") == 0;
}

static HostStatus fake_call(Host *host, const HostCall *call, HostValue *result)
{
    if (strcmp(call->name, "twice") == 0) {
        for (int i = 0; i < 2; i++)
            if (!call->invoke(call, &call->arguments[0], result)) return HOST_FAILED;
        return HOST_OK;
    }
    bool makes = strcmp(call->name, "make") == 0;
    *result =
        makes ? (HostValue){.kind = HOST_ARRAY, .array = host}
              : (HostValue){.kind = HOST_INT, .integer = call->arguments[0].array == host ? 10 : 0};
    return HOST_OK;
}

static HostStatus fake_binary(Host *host, const char *op, const HostValue *left,
                              const HostValue *right, Span at, HostValue *result)
{
    (void)host;
    (void)right;
    (void)at;
    *result = *left;
    return strcmp(op, "@") == 0 ? HOST_UNKNOWN : HOST_OK;
}

static HostStatus fake_attribute(Host *host, const HostValue *array, const char *name, Span at,
                                 HostValue *result)
{
    static const HostValue extents[2] = {{.kind = HOST_INT, .integer = 2},
                                         {.kind = HOST_INT, .integer = 3}};
    (void)host;
    (void)array;
    (void)at;
    *result = (HostValue){.kind = HOST_TUPLE, .items = extents, .count = 2};
    return strcmp(name, "shape") == 0 ? HOST_OK : HOST_UNKNOWN;
}

static HostStatus fake_truth(Host *host, const HostValue *array, Span at, bool *result)
{
    (void)host;
    (void)array;
    (void)at;
    *result = true;
    return HOST_OK;
}

static const char *fake_name(Host *host, size_t index)
{
    static const char *const NAMES[] = {"make", "twice"};
    (void)host;
    return index < 2 ? NAMES[index] : NULL;
}

static HostStatus fake_launch(Host *host, const HostLaunch *launch)
{
    FakeHost *fake = (FakeHost *)host;
    fake->launches += fake->kernel == NULL || fake->kernel == launch->kernel;
    fake->kernel = launch->kernel;
    return HOST_OK;
}

static void fake_print(Host *host, const char *text, size_t length)
{
    buf_bytes(&((FakeHost *)host)->printed, text, length);
}

static size_t run(const char *text, const char *statements, FakeHost *fake, Buf *messages)
{
    Session *session = session_new();
    *fake = (FakeHost){.host = {.find = fake_find,
                                .name = fake_name,
                                .call = fake_call,
                                .binary = fake_binary,
                                .attribute = fake_attribute,
                                .truth = fake_truth,
                                .launch = fake_launch,
                                .print = fake_print}};
    const EvalOptions options = {.host = &fake->host};
    const Source *source = source_from_text(session, "test.py", text, strlen(text));
    Program *program = program_new(session, source, &options);
    assert_non_null(program);
    bool good = program_run(program, statements);
    size_t errors = diag_error_count(session->diags);
    assert_int_equal(good, errors == 0);
    diag_render(session->diags, DIAG_TEXT, false, messages);
    program_free(program);
    session_free(session);
    return errors;
}

static void assert_printed(const char *text, const char *statements, const char *expected)
{
    FakeHost fake;
    Buf messages = {0};
    size_t errors = run(text, statements, &fake, &messages);
    if (errors > 0) fail_msg("%s", messages.data);
    assert_string_equal(fake.printed.data != NULL ? fake.printed.data : "", expected);
    buf_free(&fake.printed);
    buf_free(&messages);
}

static void test_python(void **state)
{
    (void)state;
    assert_printed("", "print(1, 'a', 2.0, None, True, [1, 'b'], (1,), {'k': 1e20})",
                   "1 a 2.0 None True [1, 'b'] (1,) {'k': 1e+20}\n");
    assert_printed(
        "", "print(7 // -2, 7 % -2, -7 // 2, 7 / 2, 2 ** 10, 2 ** -1, ~5, 1 << 4, 6 & 3, True + 1)",
        "-4 -1 -4 3.5 1024 0.5 -6 16 2 2\n");
    assert_printed(
        "",
        "x = [i * j for i in range(3) for j in range(3) if i != j]; print(x, x[::-1], x[1:3], "
        "len(x))",
        "[0, 0, 0, 2, 0, 2] [2, 0, 2, 0, 0, 0] [0, 0] 6\n");
    assert_printed(
        "",
        "print(f'{1:>4}|{3.14159:.2f}|{\"a\"!r}|{12345:,}|{255:x}|{-5:05d}', 'a-b'.split('-'), "
        "'-'.join(['x', 'y']))",
        "   1|3.14|'a'|12,345|ff|-0005 ['a', 'b'] x-y\n");
    assert_printed("",
                   "d = {k: v for k, v in zip('ab', [1, 2])}; d['c'] = 3; print(d, d.get('x', 0), "
                   "sorted(d.values(), reverse=True))",
                   "{'a': 1, 'b': 2, 'c': 3} 0 [3, 2, 1]\n");
    assert_printed(
        "", "a, *b = range(4); print(a, b, min(b), max(1, 2.5), sum(b), 1 < 2 < 3, 2 in b, not b)",
        "0 [1, 2, 3] 1 2.5 6 True True False\n");
    assert_printed("import math, itertools\n",
                   "print(math.sqrt(16), math.ceil(1.2), math.gcd(12, 18), "
                   "list(itertools.product([1, 2], [3])))",
                   "4.0 2 6 [(1, 3), (2, 3)]\n");
}

static const char CLASSES[] = "class A:\n"
                              "    count = 0\n"
                              "    def __init__(self, x, *rest, y=2, **named):\n"
                              "        self.x, self.rest, self.y, self.named = x, rest, y, named\n"
                              "    @property\n"
                              "    def double(self):\n"
                              "        return self.x * 2\n"
                              "    @staticmethod\n"
                              "    def plain(v): return v\n"
                              "    @classmethod\n"
                              "    def make(cls): return cls(7)\n"
                              "    def name(self): return 'A'\n"
                              "    def __add__(self, other): return self.x + other\n"
                              "class B(A):\n"
                              "    def __init__(self, x):\n"
                              "        super().__init__(x, 1, z=3)\n"
                              "    def name(self): return 'B' + super().name()\n"
                              "def outer():\n"
                              "    n = 0\n"
                              "    def inner():\n"
                              "        nonlocal n\n"
                              "        n += 1\n"
                              "        return n\n"
                              "    inner()\n"
                              "    return inner()\n"
                              "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\n"
                              "def twice(f): return lambda *a: f(*a) * 2\n"
                              "@twice\n"
                              "def add(a, b=5): return a + b\n"
                              "late = early + 1\n"
                              "early = 1\n";

static void test_classes_and_functions(void **state)
{
    (void)state;
    assert_printed(CLASSES,
                   "b = B(3); print(b.name(), b.double, b.rest, b.y, b.named, b + 1, B.plain(4), "
                   "isinstance(b, A), A.make().x)",
                   "BA 6 (1,) 2 {'z': 3} 4 4 True 7\n");
    assert_printed(CLASSES, "print(outer(), fib(10), add(1), add(1, 2), (lambda x, y=2: x * y)(4))",
                   "2 55 12 6 8\n");
    FakeHost fake;
    Buf messages = {0};
    assert_int_equal(run(CLASSES, "print(late)", &fake, &messages), 1); /* nothing above binds it */
    assert_non_null(strstr(messages.data, "early"));
    buf_free(&messages);
}

static void test_host_calls(void **state)
{
    (void)state;
    assert_printed("",
                   "a = make(); print(a.shape, a.sum(), (a + 1).sum()); twice(lambda: print('x'))",
                   "(2, 3) 10 10\nx\nx\n");
    FakeHost fake;
    Buf messages = {0};
    assert_int_equal(run("", "assert 1 == 2, 'differs'", &fake, &messages), 1);
    assert_non_null(strstr(messages.data, "[E0801]"));
    assert_int_equal(run("", "x = make() @ 2", &fake, &messages), 1);
    buf_free(&messages);
}

static void test_launches(void **state)
{
    (void)state;
    FakeHost fake;
    Buf messages = {0};
    const char *statements = "k = Kernel(8); a = make(); k(5, 16, True, a); k(6, 16, True, p=a); "
                             "Kernel(8).compile(k=1, flag=False)";
    assert_int_equal(run(MATMUL, statements, &fake, &messages), 0);
    assert_int_equal(fake.launches, 2); /* one kernel for both */
    assert_int_equal(run(MATMUL, "Kernel(8)(5, 16, True)", &fake, &messages), 1);
    assert_int_equal(
        run("print(__name__)\nfor i in [1, 2]:\n    print(i)\n", NULL, &fake, &messages), 0);
    assert_string_equal(fake.printed.data, "__main__\n1\n2\n");
    buf_free(&fake.printed);
    buf_free(&messages);
}

/* ---- no text breaks it ---- */

static void test_broken_texts(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    const char *text = with_head(
        arena,
        "c = Counter()\nacc = self.register_tensor(dtype=float32, shape=[4], init=lambda i: i)\n"
        "for i in range(n):\n    c.advance()\n    if i > m:\n        acc = acc + i\n"
        "x = 1 if c.stage > 2 else m\n");
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i += 5) {
        char *copy = arena_copy_text(arena, text, i);
        Staged staged = stage(copy, NULL, 0);
        release(&staged);
    }
    srand(7);
    for (int i = 0; i < 300; i++) {
        char *copy = arena_copy_text(arena, text, length);
        for (int j = 0; j < 3; j++)
            copy[(size_t)rand() % length] = "()[]:,.019abn+-*/%=<> \n"[rand() % 23];
        Staged staged = stage(copy, NULL, 0);
        release(&staged);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_take_the_other_side),
        cmocka_unit_test(test_loop_carries_a_name),
        cmocka_unit_test(test_branches_merge_when_read),
        cmocka_unit_test(test_branch_in_loop_is_carried),
        cmocka_unit_test(test_while_loop),
        cmocka_unit_test(test_attributes_are_carried),
        cmocka_unit_test(test_range_counts_down),
        cmocka_unit_test(test_tiles_broadcast),
        cmocka_unit_test(test_tiles_are_copied_and_shared),
        cmocka_unit_test(test_choices_and_chains),
        cmocka_unit_test(test_known_loops_unroll),
        cmocka_unit_test(test_integers_floor),
        cmocka_unit_test(test_views_and_memory),
        cmocka_unit_test(test_dot_accumulates),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_errors_of_modules),
        cmocka_unit_test(test_errors_are_collected),
        cmocka_unit_test(test_exports),
        cmocka_unit_test(test_named_exports),
        cmocka_unit_test(test_exports_that_clash),
        cmocka_unit_test(test_python),
        cmocka_unit_test(test_classes_and_functions),
        cmocka_unit_test(test_host_calls),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_broken_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
