/* library_test.c: libtilec as libtile calls it: what comes of requests that are wrong, of small
 * stacks, of programs that don't want to hear of children; and the end of a build that finds the
 * compiler wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "library/fault.c"

#include "abi.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char program[] =
    "import tilus\n"
    "from tilus import float32, int32\n"
    "class Fill(tilus.Script):\n"
    "    def __call__(self, n: int32, value: int, a_ptr: ~float32):\n"
    "        self.attrs.blocks = 1\n"
    "        self.attrs.warps = 1\n"
    "        a = self.global_view(a_ptr, dtype=float32, shape=[n])\n"
    "        tile = self.register_tensor(dtype=float32, shape=[32], init=value)\n"
    "        self.store_global(a, tile, offsets=[0])\n"
    "fill = Fill()\n";

/* The third has no room on a GPU. */
static const char tuned[] =
    "import tilus\n"
    "from tilus import float32, int32\n"
    "@tilus.autotune('block', [32, 64, 1 << 18, 96, 128, 160])\n"
    "class Fill(tilus.Script):\n"
    "    def __init__(self, block, value):\n"
    "        super().__init__()\n"
    "        self.block = block\n"
    "        self.value = value\n"
    "    def __call__(self, n: int32, a_ptr: ~float32):\n"
    "        self.attrs.blocks = n\n"
    "        self.attrs.warps = 1\n"
    "        a = self.global_view(a_ptr, dtype=float32, shape=[n])\n"
    "        s = self.shared_tensor(dtype=float32, shape=[self.block])\n"
    "        self.store_shared(s, self.register_tensor(dtype=float32, shape=[self.block], "
    "init=self.value))\n"
    "        self.sync()\n"
    "        self.store_global(a, self.load_shared(s), offsets=[self.blockIdx.x * self.block])\n"
    "fill = Fill(value=1)\n";

typedef struct Fixture {
    tile_build_function *build;
    const char *words[4];
    tile_file file;
    tile_source source;
    uint32_t compute;
    tile_build_request request;
    const tile_kernel *kernel;
    char fault[1024];
} Fixture;

static tile_build_function *find_library(void)
{
    char path[PATH_MAX];
    tile_build_function *build;
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "../libtilec.so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "tilec_build") : NULL;
    assert_non_null(address);
    memcpy(&build, &address, sizeof build);
    return build;
}

static int set_up(void **state)
{
    static Fixture fixture;
    Fixture *f = &fixture;
    *state = f;
    *f = (Fixture){.build = find_library(),
                   .words = {"--export=fill = Fill().compile(value=1)", "--ptxas=none"},
                   .file = {"fill.py", program, sizeof program - 1},
                   .compute = 90};
    f->source =
        (tile_source){.words = f->words, .word_count = 2, .files = &f->file, .file_count = 1};
    f->request = (tile_build_request){.abi_version = TILE_ABI_VERSION,
                                      .compute_count = 1,
                                      .computes = &f->compute,
                                      .source = &f->source,
                                      .wanted = "fill = fill.compile(value=2)"};
    return 0;
}

static tile_status build(Fixture *f)
{
    f->kernel = NULL;
    f->fault[0] = '\0';
    return f->build(&f->request, &f->kernel, f->fault, sizeof f->fault);
}

static void builds_what_is_wanted(void **state)
{
    Fixture *f = *state;
    assert_int_equal(build(f), TILE_OK);
    assert_string_equal(f->kernel->name, "fill");
    assert_int_equal(f->kernel->specialisation_count, 1);
    assert_int_equal(f->kernel->specialisations[0].keys[0], 2);
    const tile_image *image = &f->kernel->specialisations[0].variants[0].images[0];
    assert_string_equal(image->target, "sm_90a");
    assert_int_equal(image->kind, TILE_IMAGE_PTX);
    /* a GPU that came later */
    f->compute = 103;
    assert_int_equal(build(f), TILE_OK);
    assert_string_equal(f->kernel->specialisations[0].variants[0].images[0].target, "compute_80");
}

static void refuses(Fixture *f, const char *why)
{
    assert_int_equal(build(f), TILE_ERROR_NO_SPECIALISATION);
    assert_null(f->kernel);
    if (!strstr(f->fault, why)) assert_string_equal(f->fault, why);
}

static void says_what_is_wrong(void **state)
{
    Fixture *f = *state;
    f->request.abi_version = TILE_ABI_VERSION + 1;
    refuses(f, "version");
    f->request.abi_version = TILE_ABI_VERSION;
    f->request.wanted = "fill = fill.compile(value=)";
    refuses(f, "<command line>:1:27: error:");
    f->request.wanted = "none = none.compile(value=2)";
    refuses(f, "none");
    f->request.wanted = "fill = fill.compile(value=2)";
    f->words[1] = "--no-such-option";
    refuses(f, "--no-such-option");
    f->words[1] = "--ptxas=/none/such";
    refuses(f, "/none/such");
    f->words[1] = "-O2";
    f->file.text = "import tilus\nclass (\n";
    f->file.bytes = strlen(f->file.text);
    refuses(f, "fill.py:2:7: error:");
    /* what there is no room for is cut off */
    char little[8];
    assert_int_equal(f->build(&f->request, &f->kernel, little, sizeof little),
                     TILE_ERROR_NO_SPECIALISATION);
    assert_string_equal(little, "fill.py");
}

static void *build_on_thread(void *state)
{
    return build(state) ? "failed" : NULL;
}

static void stack_of_the_caller_may_be_small(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *failed;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    assert_int_equal(pthread_create(&thread, &attributes, build_on_thread, *state), 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    pthread_attr_destroy(&attributes);
}

/* A ptxas that does what the script says, and gives "cubin" for one. */
typedef struct Tool {
    char folder[32], path[64], word[96];
} Tool;

static void make_tool(Fixture *f, const char *before, Tool *out)
{
    strcpy(out->folder, "/tmp/tile-library-XXXXXX");
    assert_non_null(mkdtemp(out->folder));
    snprintf(out->path, sizeof out->path, "%s/ptxas", out->folder);
    snprintf(out->word, sizeof out->word, "--ptxas=%s", out->path);
    FILE *file = fopen(out->path, "w");
    fprintf(file,
            "#!/bin/sh\ncd %s\n%s\nfor last in \"$@\"; do [ \"$before\" = -o ] && echo cubin > "
            "\"$last\"; before=$last; done\n",
            out->folder, before);
    fclose(file);
    chmod(out->path, 0700);
    f->words[1] = out->word;
}

static void remove_tool(const Tool *tool, const char *left)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", tool->folder, left);
    unlink(path);
    unlink(tool->path);
    rmdir(tool->folder);
}

/* ptxas is a child of the program. */
static void children_may_be_ignored(void **state)
{
    Fixture *f = *state;
    Tool tool;
    make_tool(f, "", &tool);
    signal(SIGCHLD, SIG_IGN);
    const tile_status status = build(f);
    signal(SIGCHLD, SIG_DFL);
    remove_tool(&tool, "");
    if (status) assert_string_equal(f->fault, "");
    assert_int_equal(f->kernel->specialisations[0].variants[0].images[0].kind, TILE_IMAGE_CUBIN);
}

/* ---- several configurations ---- */

static void ask_for_tuned(Fixture *f, const char *jobs)
{
    f->file = (tile_file){"fill.py", tuned, sizeof tuned - 1};
    f->words[0] = "--export=fill = Fill(value=1).compile()";
    f->words[2] = jobs;
    f->source.word_count = 3;
    f->request.wanted = "fill = fill.compile()";
}

/* Three tools wait for one another: they must be at work at the same time. */
static void several_at_a_time(void **state)
{
    Fixture *f = *state;
    Tool tool;
    char met[64];
    ask_for_tuned(f, "-j4");
    make_tool(f,
              "touch at_work.$$\n"
              "for i in $(seq 100); do\n"
              "[ -e met ] && break\n"
              "[ $(ls at_work.* | wc -l) -ge 3 ] && touch met && break\n"
              "sleep 0.1\n"
              "done\n"
              "rm -f at_work.$$",
              &tool);
    const tile_status status = build(f);
    snprintf(met, sizeof met, "%s/met", tool.folder);
    const int have_met = access(met, F_OK) == 0;
    remove_tool(&tool, "met");
    if (status) assert_string_equal(f->fault, "");
    assert_int_equal(f->kernel->specialisation_count, 5);
    assert_true(have_met);
}

static void the_same_by_any_number(void **state)
{
    static const char *const jobs[] = {"-j1", "-j3", "-j8"};
    static const char *const names[] = {"block=32", "block=64", "block=96", "block=128",
                                        "block=160"};
    Fixture *f = *state;
    uint64_t codes[5];
    for (size_t i = 0; i < 3; i++) {
        ask_for_tuned(f, jobs[i]);
        const tile_status status = build(f);
        if (status) assert_string_equal(f->fault, "");
        assert_int_equal(f->kernel->specialisation_count, 5);
        for (size_t j = 0; j < 5; j++) {
            const tile_specialisation *one = &f->kernel->specialisations[j];
            assert_string_equal(one->configuration, names[j]);
            if (i == 0) codes[j] = one->code;
            assert_int_equal(one->code, codes[j]);
        }
    }
}

/* All fail, each in a thread of its own: one message. */
static void the_same_fault_by_any_number(void **state)
{
    Fixture *f = *state;
    Tool tool;
    char alone[sizeof f->fault];
    ask_for_tuned(f, "-j1");
    make_tool(f, "echo 'ptxas fatal : none of them'; exit 1", &tool);
    refuses(f, "none of them");
    strcpy(alone, f->fault);
    ask_for_tuned(f, "-j4");
    refuses(f, "none of them");
    remove_tool(&tool, "");
    assert_string_equal(f->fault, alone);
}

static void internal_error_is_no_exit(void **unused)
{
    (void)unused;
    char text[64];
    Refuge refuge = {.text = text, .bytes = sizeof text};
    refuge_set(&refuge);
    if (setjmp(refuge.place) == 0) {
        ICE("%d is not %s", 7, "right, and this goes on for a while");
        fail();
    }
    refuge_set(NULL);
    assert_non_null(strstr(text, "internal error: "));
    assert_int_equal(strlen(text), sizeof text - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(builds_what_is_wanted, set_up),
        cmocka_unit_test_setup(says_what_is_wrong, set_up),
        cmocka_unit_test_setup(stack_of_the_caller_may_be_small, set_up),
        cmocka_unit_test_setup(children_may_be_ignored, set_up),
        cmocka_unit_test_setup(several_at_a_time, set_up),
        cmocka_unit_test_setup(the_same_by_any_number, set_up),
        cmocka_unit_test_setup(the_same_fault_by_any_number, set_up),
        cmocka_unit_test(internal_error_is_no_exit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
