/* interpreter_test.c: libtilec as a program in another language uses it: host code statement by
 * statement, arrays that are told by their shapes, launches that are told of, what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tile/interpreter.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char program[] =
    "import tilelang.language as T\n"
    "from warp.missing_part import *\n"
    "SIZE = nobody_knows()\n"
    "def make(block):\n"
    "    @T.prim_func\n"
    "    @T.no_such_decorator\n"
    "    def main(A: T.Tensor((SIZE,), T.float32), B: T.Tensor((SIZE,), T.float32)):\n"
    "        with T.Kernel(T.ceildiv(SIZE, block), threads=32) as bx:\n"
    "            for i in T.Parallel(block):\n"
    "                B[bx * block + i] = A[bx * block + i] + depth\n"
    "    return main\n"
    "class Names:\n"
    "    def main(self):\n"
    "        return 7\n"
    "    def known(self):\n"
    "        return (unknown(1)(2), unknown(1))\n";

typedef struct Fixture {
    tile_status (*open)(const tilec_options *, tilec_interpreter **, char **);
    tile_status (*run)(tilec_interpreter *, const char *, const DLTensor *const *, uint32_t,
                       char **);
    void (*close)(tilec_interpreter *);
    void (*free)(char *);
    tilec_interpreter *host;
    char *answer;
    char file[64];
} Fixture;

static void *symbol(void *library, const char *name)
{
    void *address = dlsym(library, name);
    assert_non_null(address);
    return address;
}

static void find_library(Fixture *f)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "../libtilec.so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)&f->open = symbol(library, "tilec_open");
    *(void **)&f->run = symbol(library, "tilec_run");
    *(void **)&f->close = symbol(library, "tilec_close");
    *(void **)&f->free = symbol(library, "tilec_free");
}

static tile_status open_host(Fixture *f, const char *word)
{
    static const uint32_t compute = 90;
    const char *const words[] = {"--no-cache", "--ptxas=none", word};
    const tilec_options options = {.abi_version = TILE_ABI_VERSION,
                                   .computes = &compute,
                                   .compute_count = 1,
                                   .words = words,
                                   .word_count = 3};
    return f->open(&options, &f->host, &f->answer);
}

static int set_up(void **state)
{
    static Fixture fixture;
    Fixture *f = &fixture;
    *state = f;
    *f = (Fixture){.file = "/tmp/tile-interpreter-XXXXXX"};
    find_library(f);
    const int file = mkstemp(f->file);
    assert_true(file >= 0);
    assert_int_equal(write(file, program, sizeof program - 1), sizeof program - 1);
    close(file);
    assert_int_equal(open_host(f, "-O1"), TILE_OK);
    f->free(f->answer);
    f->answer = NULL;
    return 0;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    unlink(f->file);
    f->close(f->host);
    f->free(f->answer);
    return 0;
}

static tile_status run(Fixture *f, const char *statements, const DLTensor *const *arrays,
                       uint32_t count)
{
    f->free(f->answer);
    return f->run(f->host, statements, arrays, count, &f->answer);
}

static void tells(Fixture *f, const char *statements, const char *part)
{
    const tile_status status = run(f, statements, NULL, 0);
    if (!strstr(f->answer, part)) assert_string_equal(f->answer, part);
    assert_int_equal(status, TILE_OK);
}

static void refuses(Fixture *f, const char *statements, const char *part)
{
    const tile_status status = run(f, statements, NULL, 0);
    if (!strstr(f->answer, part)) assert_string_equal(f->answer, part);
    assert_int_equal(status, TILE_ERROR_ARGUMENT);
}

static void values_are_given(void **state)
{
    Fixture *f = *state;
    tells(f, "import tilelang.language as T\nx = 3", "\"values\": []");
    tells(f, "give(x, None, True, 'a\"b', [1, (2,)])",
          "\"values\": [3, null, true, \"a\\\"b\", [1, {\"tuple\": [2]}]]");
    tells(f, "give(0.1, T.float16, len)",
          "[{\"float\": \"0x1.999999999999ap-4\"}, {\"dtype\": \"float16\"}, {\"kind\": "
          "\"function\"}]");
    tells(f, "import __core__ as core\ngive(core.is_told(x), core.is_told(T))", "[true, false]");
}

static void prints(void **state)
{
    tells(*state, "print('one', 2)", "\"printed\": \"one 2\\n\"");
}

static size_t memory(Fixture *f, const char *statements)
{
    tells(f, statements, ", \"memory\": ");
    return strtoull(strstr(f->answer, "\"memory\": ") + strlen("\"memory\": "), NULL, 10);
}

static void holds_what_was_evaluated(void **state)
{
    const size_t before = memory(*state, "x = 1");
    assert_true(before > 0);
    assert_true(memory(*state, "x = list(range(1000000))") > before + 1000000);
}

static DLTensor floats(const int64_t *shape)
{
    return (DLTensor){.device = {kDLCPU, 0},
                      .ndim = 1,
                      .dtype = {kDLFloat, 32, 1},
                      .shape = (int64_t *)(uintptr_t)shape};
}

/* The names of the module and of the function around come from the caller, and decorators are
 * left out. */
static void define(Fixture *f, const char *size, const char *depth)
{
    char text[512];
    snprintf(text, sizeof text,
             "import __core__ as core\nimport tilelang.language as T\n"
             "m = core.module_at('%s', 'program', '/tmp', {'SIZE': %s})\n"
             "f = T.prim_func(core.definition(m, 'main', 5, {'block': 32, 'depth': %s}))",
             f->file, size, depth);
    tells(f, text, "\"messages\": \"\"");
}

static const tile_kernel *launched(const Fixture *f)
{
    const char *at = strstr(f->answer, "\"launches\": [{\"kernel\": ");
    assert_non_null(at);
    return (const tile_kernel *)(uintptr_t)strtoull(strpbrk(at, "0123456789"), NULL, 10);
}

static void launches_are_told(void **state)
{
    static const int64_t shape[] = {100};
    Fixture *f = *state;
    const DLTensor a = floats(shape), b = floats(shape);
    const DLTensor *const arrays[] = {&a, &b};
    define(f, "100", "2.5");
    assert_int_equal(run(f, "give(f(array(1), array(0)))", arrays, 2), TILE_OK);
    assert_non_null(strstr(f->answer, "\"arguments\": [{\"array\": 1}, {\"array\": 0}]"));
    assert_non_null(strstr(f->answer, "\"values\": [null]"));
    const tile_kernel *kernel = launched(f);
    assert_string_equal(kernel->name, "main");
    assert_int_equal(kernel->tensor_count, 2);
    assert_int_equal(kernel->specialisations[0].tensors[0].shape[0], 100);
    assert_int_equal(run(f, "f(array(0), array(1))", arrays, 2), TILE_OK);
    assert_ptr_equal(launched(f), kernel);
    define(f, "100", "3.5");
    assert_int_equal(run(f, "f(array(1), array(0))", arrays, 2), TILE_OK);
    assert_ptr_not_equal(launched(f), kernel);
}

static void results_have_shapes(void **state)
{
    static const int64_t shape[] = {100};
    Fixture *f = *state;
    const DLTensor a = floats(shape);
    const DLTensor *const arrays[] = {&a};
    define(f, "100", "1");
    tells(f, "f.__results__ = [1]", "\"values\": []");
    assert_int_equal(run(f, "give(f(array(0)))", arrays, 1), TILE_OK);
    assert_non_null(strstr(f->answer, "\"shape\": [100]"));
    assert_non_null(strstr(f->answer, "\"values\": [{\"array\": 1}]"));
    tells(f, "core.kernel_code(f.compile())", "\"built\": [{\"kernel\": ");
}

static void says_what_is_wrong(void **state)
{
    Fixture *f = *state;
    refuses(f, "give(y)", "<statements>:1:6: error: name 'y' is not defined");
    /* it may be asked for something else all the same */
    tells(f, "give(1)", "\"messages\": \"\"");
    refuses(f, "give(1", "<statements>:1:5: error:");
    refuses(f, "array(0)", "array() takes the number of an array");
    refuses(f, "import __core__ as core\ncore.module_at('/none', 'a', '/')", "/none");
    define(f, "100", "2");
    refuses(f, "core.definition(m, 'main', 99)", "no definition of 'main' at line 99");
    refuses(f, "core.definition(3, 'main', 5)", "module must be a module, but is 3");
    tells(f, "give(core.definition(m, 'main', 14)(None))", "\"values\": [7]");
}

/* Calls that the caller evaluated are not made: of two that begin at one place that which ends
 * where it says. */
static void knows_calls(void **state)
{
    Fixture *f = *state;
    define(f, "100", "2");
    tells(f,
          "give(core.definition(m, 'known', 15, {}, [(16, 17, 16, 30, 5, None), (16, 32, 16, 42, "
          "6, None)])(None))",
          "\"values\": [{\"tuple\": [5, 6]}]");
    refuses(f,
            "core.definition(m, 'known', 15, {}, [(16, 17, 16, 27, None, 'there is none')])(None)",
            "RuntimeError: there is none");
    refuses(f, "core.definition(m, 'known', 15, {}, [(17, 17)])", "calls must be a list of tuples");
}

static void refuses_arrays(void **state)
{
    static const int64_t shape[] = {100};
    Fixture *f = *state;
    DLTensor a = floats(shape);
    const DLTensor *const arrays[] = {&a};
    a.dtype.bits = 48;
    assert_int_equal(run(f, "", arrays, 1), TILE_ERROR_ARGUMENT);
    a = floats(shape);
    a.ndim = 99;
    assert_int_equal(run(f, "", arrays, 1), TILE_ERROR_ARGUMENT);
    a = floats(shape);
    assert_int_equal(run(f, "array(0) + 1", arrays, 1), TILE_ERROR_ARGUMENT);
    assert_non_null(strstr(f->answer, "only its shape and type"));
    assert_int_equal(run(f, "give(array(0).shape, array(0).dtype)", arrays, 1), TILE_OK);
    assert_non_null(strstr(f->answer, "[{\"tuple\": [100]}, {\"dtype\": \"float32\"}]"));
}

static void refuses_options(void **state)
{
    Fixture *f = *state;
    f->close(f->host);
    assert_int_equal(open_host(f, "--no-such-option"), TILE_ERROR_ARGUMENT);
    assert_null(f->host);
    assert_non_null(strstr(f->answer, "--no-such-option"));
    const tilec_options other = {.abi_version = TILE_ABI_VERSION + 1};
    f->free(f->answer);
    assert_int_equal(f->open(&other, &f->host, &f->answer), TILE_ERROR_ABI);
    assert_null(f->answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(values_are_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(holds_what_was_evaluated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(results_have_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(knows_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(says_what_is_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_options, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
