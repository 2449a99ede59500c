/* codegen_orders_test.c: what orders what: programs of a thread, as IR, of which some lack
 * something that the PTX ISA manual's memory consistency model asks for. The checked emulator has
 * to say so, and to be silent about the others; and the GPU's code has to have the order that was
 * checked. */
#include "codegen_fixture.h"
#include "tile/emulator.h"

typedef struct Row {
    const char *name;
    int warps, blocks;
    const char *launch; /* attributes beside warps and bytes */
    const char *body;
    const char *ptx;   /* a text that the GPU's code has; NULL: any */
    const char *fault; /* a text of the emulator's message; NULL: there is none */
} Row;

enum { WORDS = 256, MOST_TEXT = 8192 };

/* `out` are zeros, shared memory is nobody's; bytes from 64 on are for mbarriers. */
static const char prelude[] = "    %t = thread_id : i32\n"
                              "    %b = block_idx {dim = 0} : i32\n"
                              "    %0 = const {value = 0} : i32\n"
                              "    %1 = const {value = 1} : i32\n"
                              "    %2 = const {value = 2} : i32\n"
                              "    %32 = const {value = 32} : i32\n"
                              "    %64 = const {value = 64} : i32\n"
                              "    %yes = const {value = 1} : b1\n"
                              "    %first = cmp %t, %0 {predicate = eq} : b1\n"
                              "    %second = cmp %t, %32 {predicate = eq} : b1\n"
                              "    %later = cmp %t, %32 {predicate = ge} : b1\n"
                              "    %latest = cmp %t, %64 {predicate = ge} : b1\n"
                              "    %block0 = cmp %b, %0 {predicate = eq} : b1\n"
                              "    %block1 = cmp %b, %1 {predicate = eq} : b1\n"
                              "    %flag = ptr_add %out, %0 : ptr<i32, global>\n"
                              "    %data = ptr_add %out, %2 : ptr<i32, global>\n"
                              "    %own = ptr_add %out, %t : ptr<i32, global>\n"
                              "    %shared = shared_base {offset = 0} : ptr<i32, shared>\n"
                              "    %bar = shared_base {offset = 64} : ptr<i64, shared>\n";

/* The program with `$1` to `$3` replaced. */
static char *program(Arena *arena, const Row *row, const char *const words[3])
{
    Buf text = {0};
    buf_printf(
        &text,
        "kernel @orders stage THREADED (%%out: ptr<i32, global> multiple 16 reads writes) {\n"
        "  %%one = const {value = 1} : i32\n"
        "  %%blocks = const {value = %d} : i32\n"
        "  launch %%blocks, %%one, %%one {warps = %d, bytes = 1024%s} {\n",
        row->blocks, row->warps, row->launch ? row->launch : "");
    buf_text(&text, prelude);
    for (const char *at = row->body; *at; at++) {
        if (*at == '$')
            buf_text(&text, words[*++at - '1']);
        else
            buf_char(&text, *at);
    }
    buf_text(&text, "  }\n}\n");
    char *made = arena_copy_text(arena, text.data, text.length);
    buf_free(&text);
    return made;
}

static tile_status run_checked(const Made *made, const Row *row)
{
    static const int32_t zeros[WORDS];
    const ImageEntry *entry = &made->image.entries[0];
    void *out = device_new(sizeof zeros, zeros);
    const void *parameters[] = {&out};
    tile_emu_site *sites = calloc((size_t)made->image.site_count + 1, sizeof *sites);
    for (int i = 0; i < made->image.site_count; i++)
        sites[i] = (tile_emu_site){"orders.ir", (uint32_t)i, 1};
    tile_entry run = {.name = entry->name,
                      .emulated = made->symbol(1),
                      .warps = (uint32_t)entry->warps,
                      .shared_bytes = (uint32_t)entry->shared_bytes,
                      .cooperative = entry->cooperative != 0};
    for (int i = 0; i < 3; i++) run.cluster[i] = (uint8_t)entry->cluster[i];
    const tile_image image = {.target = "sm_90a",
                              .entries = &run,
                              .sites = sites,
                              .kind = TILE_IMAGE_EMULATOR,
                              .compute = 90,
                              .site_count = (uint32_t)made->image.site_count};
    const tile_status status =
        tile_emulator_run(&image, &run, &(tile_grid){(uint32_t)row->blocks, 1, 1}, parameters);
    free(sites);
    tile_free(out);
    return status;
}

static void check_row(const Row *row, const char *const words[3], const char *ptx,
                      const char *fault)
{
    Arena *arena = arena_new();
    const char *text = program(arena, row, words);
    Made gpu = made_from(text, &no_ptxas), cpu = made_from(text, &defaults);
    made_image(&gpu, "sm_90a");
    if (ptx && !strstr(gpu.image.ptx, ptx))
        fail_msg("%s (%s %s %s): no '%s' in:\n%s", row->name, words[0], words[1], words[2], ptx,
                 gpu.image.ptx);
    made_load(&cpu);
    const tile_status status = run_checked(&cpu, row);
    const bool said = fault && status == TILE_ERROR_FAULT && strstr(tile_last_error(), fault);
    if (fault ? !said : status != TILE_OK)
        fail_msg("%s (%s %s %s): status %d, wanted '%s' in: %s", row->name, words[0], words[1],
                 words[2], (int)status, fault ? fault : "", status ? tile_last_error() : "");
    made_free(&gpu);
    made_free(&cpu);
    arena_free(arena);
}

/* ---- atomics: one thread writes, and tells another by an atomic ---- */

#define THEN "      yield\n    } {\n      yield\n    }\n"
#define AWAIT(wait)                                                                                \
    "      while {\n" wait "        %again = cmp %seen, %1 {predicate = ne} : b1\n"                \
    "        condition %again\n      } {\n        yield\n      }\n"

/* $1: the release's order, $2: the acquire's, $3: their scope. */
static const Row in_block = {
    "a message in a block",
    2,
    1,
    NULL,
    "    if %first {\n"
    "      st %data, %1\n"
    "      %told = atom %flag, %1, %0 {mode = exch, order = $1, scope = $3} : i32\n" THEN
    "    if %second {\n" AWAIT("        %seen = atom %flag, %0, %0 {mode = add, order = $2, scope "
                               "= $3} : i32\n") "      %x = ld %data : i32\n"
                                                "      st %own, %x\n" THEN,
    NULL,
    NULL};

static const Row across_blocks = {
    "a message from block to block",
    1,
    2,
    NULL,
    "    %tells = and %first, %block0 : b1\n"
    "    %waits = and %first, %block1 : b1\n"
    "    if %tells {\n"
    "      st %data, %1\n"
    "      %told = atom %flag, %1, %0 {mode = exch, order = $1, scope = $3} : i32\n" THEN
    "    if %waits {\n" AWAIT("        %seen = atom %flag, %0, %0 {mode = add, order = $2, scope = "
                              "$3} : i32\n") "      %x = ld %data : i32\n" THEN,
    NULL,
    NULL};

/* The same where a second thread comes between, whose atomic orders nothing itself. */
static const Row by_way_of_another = {
    "a message that another adds to",
    3,
    1,
    NULL,
    "    if %first {\n"
    "      st %data, %1\n"
    "      %told = atom %flag, %1, %0 {mode = exch, order = $1, scope = cta} : i32\n" THEN
    "    if %second {\n"
    "      while {\n"
    "        %past = atom %flag, %1, %2 {mode = cas, order = $2, scope = cta} : i32\n"
    "        %more = cmp %past, %0 {predicate = eq} : b1\n"
    "        condition %more\n      } {\n        yield\n      }\n"
    "      %add = atom %flag, %64, %0 {mode = add, order = $2, scope = cta} : i32\n" THEN
    "    %third = cmp %t, %64 {predicate = eq} : b1\n"
    "    if %third {\n"
    "      while {\n"
    "        %seen = atom %flag, %0, %0 {mode = add, order = $3, scope = cta} : i32\n"
    "        %again = cmp %seen, %64 {predicate = lt} : b1\n"
    "        condition %again\n      } {\n        yield\n      }\n"
    "      %x = ld %data : i32\n"
    "      st %own, %x\n" THEN,
    NULL,
    NULL};

/* Nobody waits: all that is asked for is that they do not tear each other. */
static const Row counted = {
    "a counter of several blocks",
    1,
    2,
    NULL,
    "    %old = atom %flag, %1, %0 {mode = add, order = relaxed, scope = $1} : i32\n",
    NULL,
    NULL};

static void test_atomics(void **state)
{
    (void)state;
    static const struct {
        const Row *row;
        const char *words[3], *ptx, *fault;
    } rows[] = {
        {&in_block, {"release", "acquire", "cta"}, "atom.release.cta.global.exch.b32", NULL},
        {&in_block, {"acq_rel", "acq_rel", "gpu"}, "atom.acq_rel.gpu.global.exch.b32", NULL},
        {&in_block, {"seq_cst", "seq_cst", "sys"}, "fence.sc.sys;", NULL},
        {&in_block, {"relaxed", "acquire", "gpu"}, "atom.relaxed.gpu.global.exch.b32", "race"},
        {&in_block, {"release", "relaxed", "gpu"}, "atom.relaxed.gpu.global.add.u32", "race"},
        {&in_block, {"acquire", "release", "gpu"}, "atom.acquire.gpu.global.exch.b32", "race"},
        {&across_blocks, {"release", "acquire", "gpu"}, NULL, NULL},
        {&across_blocks, {"release", "acquire", "sys"}, NULL, NULL},
        {&across_blocks, {"release", "acquire", "cta"}, "atom.acquire.cta", "for scope cta"},
        {&across_blocks, {"relaxed", "acquire", "gpu"}, NULL, "race"},
        {&across_blocks, {"release", "relaxed", "gpu"}, NULL, "race"},
        {&by_way_of_another, {"release", "relaxed", "acquire"}, NULL, NULL},
        {&by_way_of_another, {"relaxed", "acq_rel", "acquire"}, NULL, "race"},
        {&counted, {"gpu", "", ""}, NULL, NULL},
        {&counted, {"cta", "", ""}, "atom.relaxed.cta", "atomics of 4 bytes for scope cta"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(rows[i].row, rows[i].words, rows[i].ptx, rows[i].fault);
}

/* ---- barriers of some of the threads ---- */

#define GROUP(who, count) "    if " who " {\n      barrier {index = 1, count = " count "}\n" THEN

static const Row groups[] = {
    {"a group's barrier", 3, 1, NULL, GROUP("%later", "64"), "bar.sync", NULL},
    {"too few", 3, 1, NULL, GROUP("%latest", "64"), NULL, "which do not all come"},
    {"too many", 3, 1, NULL, "    barrier {index = 1, count = 64}\n", NULL,
     "96 threads wait at barrier 1 at a time"},
    {"of two minds", 2, 1, NULL,
     "    if %later {\n      barrier {index = 1, count = 64}\n      yield\n    } {\n"
     "      barrier {index = 1, count = 32}\n      yield\n    }\n",
     NULL, "64 threads wait at barrier 1 at a time: thread 32 for 64 threads, thread 0 for 32"},
    {"threads that part in a warp", 1, 1, NULL, "    if %first {\n      barrier\n" THEN, NULL,
     "barrier divergence"},
    {"a warp that does not come", 2, 1, NULL, "    if %later {\n      barrier\n" THEN, NULL,
     "waits for all threads at the block's barrier, and 32 of 64 have ended"},
    {"lanes that do not come", 1, 1, NULL, "    if %first {\n      warp_sync\n" THEN, NULL,
     "divergence"},
    /* whom it does not hold it does not order */
    {"a third warp", 3, 1, NULL,
     "    if %first {\n      st %data, %1\n" THEN
     "    if %latest {\n      yield\n    } {\n      barrier {index = 1, count = 64}\n"
     "      yield\n    }\n"
     "    if %latest {\n      %x = ld %data : i32\n" THEN,
     NULL, "race"},
};

/* ---- mbarriers ---- */

#define MAKE(count)                                                                                \
    "    mbar_init %bar, %first {count = " count "}\n"                                             \
    "    barrier\n"

static const Row mbarriers[] = {
    {"an arrival and a wait", 2, 1, NULL,
     MAKE("1") "    if %first {\n      st %shared, %1\n      mbar_arrive %bar, %yes\n" THEN
               "    if %second {\n      mbar_wait %bar, %0\n      %x = ld %shared : i32\n" THEN,
     "mbarrier.arrive.shared::cta.b64", NULL},
    {"what comes behind the arrival", 2, 1, NULL,
     MAKE("1") "    if %first {\n      mbar_arrive %bar, %yes\n      st %shared, %1\n" THEN
               "    if %second {\n      mbar_wait %bar, %0\n      %x = ld %shared : i32\n" THEN,
     NULL, "race"},
    /* an arrival does not wait */
    {"two arrivals", 2, 1, NULL,
     MAKE("2") "    if %first {\n      st %shared, %1\n      mbar_arrive %bar, %yes\n" THEN
               "    if %second {\n      mbar_arrive %bar, %yes\n      %x = ld %shared : "
               "i32\n" THEN,
     NULL, "race"},
    /* the phase before the first is complete: nothing is known of who has arrived in this one */
    {"the phase before", 2, 1, NULL,
     MAKE("2") "    if %first {\n      st %shared, %1\n      mbar_arrive %bar, %yes\n" THEN
               "    warp_sync\n    warp_sync\n"
               "    if %second {\n      mbar_wait %bar, %1\n      %x = ld %shared : i32\n" THEN,
     NULL, "race"},
    {"nobody arrives", 2, 1, NULL,
     MAKE("2") "    if %first {\n      mbar_arrive %bar, %yes\n" THEN
               "    if %second {\n      mbar_wait %bar, %0\n" THEN,
     NULL, "where 1 of 2 arrivals are missing"},
    {"one too many", 2, 1, NULL,
     MAKE("1") "    if %first {\n      mbar_expect %bar, %64, %yes\n" THEN
               "    mbar_arrive %bar, %first\n    mbar_arrive %bar, %second\n",
     "mbarrier.expect_tx.relaxed.cta.shared::cta.b64", "arrives at an mbarrier whose arrivals"},
};

/* The second block writes for the first, or reads what that then writes; $1: the attributes of the
 * arrival at the other's barrier, $2: those of the wait. */
#define CLUSTER ", cluster = [2, 1, 1]"
#define TELL                                                                                       \
    "      %their_bar = cluster_address %bar, %0 : ptr<i64, cluster>\n"                            \
    "      mbar_arrive %their_bar, %yes$1\n"
#define MAKE_CLUSTER                                                                               \
    "    mbar_init %bar, %first {count = 1}\n"                                                     \
    "    cluster_arrive\n    cluster_wait\n"                                                       \
    "    %theirs = cluster_address %shared, %0 : ptr<i32, cluster>\n"                              \
    "    %tells = and %first, %block1 : b1\n"                                                      \
    "    %waits = and %first, %block0 : b1\n"
#define PART "    cluster_arrive\n    cluster_wait\n"

static const Row written_there = {
    "written in another block",
    1,
    2,
    CLUSTER,
    MAKE_CLUSTER
    "    if %tells {\n      st %theirs, %1\n" TELL THEN
    "    if %waits {\n      mbar_wait %bar, %0$2\n      %x = ld %shared : i32\n" THEN PART,
    NULL,
    NULL};

static const Row read_there = {
    "read in another block",
    1,
    2,
    CLUSTER,
    "    if %first {\n      st %shared, %1\n" THEN MAKE_CLUSTER
    "    if %tells {\n      %x = ld %theirs : i32\n      %sum = add %x, %1 : i32\n"
    "      st %own, %sum\n" TELL THEN
    "    if %waits {\n      mbar_wait %bar, %0$2\n      st %shared, %2\n" THEN PART,
    NULL,
    NULL};

/* ---- blocks ---- */

#define READ_AND_COUNT(counter)                                                                    \
    "    if %first {\n      %x = ld %data : i32\n      st %mine, %x\n"                             \
    "      %counter = ptr_add %out, " counter " : ptr<i32, global>\n"                              \
    "      %count = atom %counter, %1, %0 {mode = add, order = acq_rel, scope = gpu} : i32\n"
#define OWN_PLACE                                                                                  \
    "    %place = add %b, %64 : i32\n"                                                             \
    "    %mine = ptr_add %out, %place : ptr<i32, global>\n"
#define WRITE_IF(condition)                                                                        \
    "      if " condition                                                                          \
    " {\n        st %data, %1\n        yield\n      } {\n        yield\n      }\n"

static const Row blocks[] = {
    {"two blocks write", 1, 2, NULL, "    if %first {\n      st %data, %b\n" THEN, NULL, "race"},
    {"one writes, one reads", 1, 2, NULL,
     OWN_PLACE "    if %first {\n      if %block0 {\n        st %data, %1\n        yield\n"
               "      } {\n        %x = ld %data : i32\n        st %mine, %x\n        yield\n"
               "      }\n" THEN,
     NULL, "race"},
    {"the last block writes what all have read", 1, 3, NULL,
     OWN_PLACE READ_AND_COUNT("%0") "      %last = cmp %count, %2 {predicate = eq} : b1\n" WRITE_IF(
         "%last") THEN,
     NULL, NULL},
    /* an atomic that has told it nothing */
    {"a block writes what all read", 1, 3, NULL,
     OWN_PLACE READ_AND_COUNT("%place") "      %last = cmp %b, %2 {predicate = eq} : b1\n" WRITE_IF(
         "%last") THEN,
     NULL, "race"},
    {"an atomic and a write", 1, 2, NULL,
     "    if %first {\n      if %block0 {\n        st %data, %1\n        yield\n      } {\n"
     "        %x = atom %data, %1, %0 {mode = add, order = acq_rel, scope = gpu} : i32\n"
     "        yield\n      }\n" THEN,
     NULL, "race"},
    {"atomics of two widths", 1, 2, NULL,
     "    %wide = ptr_cast %data : ptr<i64, global>\n    %long = const {value = 1} : i64\n"
     "    if %first {\n      if %block0 {\n"
     "        %x = atom %wide, %long, %long {mode = add, order = relaxed, scope = gpu} : i64\n"
     "        yield\n      } {\n"
     "        %y = atom %data, %1, %0 {mode = add, order = relaxed, scope = gpu} : i32\n"
     "        yield\n      }\n" THEN,
     NULL, "race"},
    {"several warps have read what is written", 3, 1, NULL,
     MAKE("2") "    if %first {\n      %x = ld %data : i32\n      st %own, %x\n"
               "      mbar_arrive %bar, %yes\n" THEN
               "    if %second {\n      %y = ld %data : i32\n      st %own, %y\n"
               "      mbar_arrive %bar, %yes\n" THEN
               "    %third = cmp %t, %64 {predicate = eq} : b1\n"
               "    if %third {\n      mbar_wait %bar, %0\n      st %data, %1\n" THEN,
     NULL, NULL},
    {"one of them does not say so", 3, 1, NULL,
     MAKE("1") "    if %first {\n      %x = ld %data : i32\n      st %own, %x\n"
               "      mbar_arrive %bar, %yes\n" THEN
               "    if %second {\n      %y = ld %data : i32\n      st %own, %y\n" THEN
               "    %third = cmp %t, %64 {predicate = eq} : b1\n"
               "    if %third {\n      mbar_wait %bar, %0\n      st %data, %1\n" THEN,
     NULL, "race"},
};

/* ---- shared memory ---- */

static const Row shared[] = {
    {"nobody has written", 1, 1, NULL, "    if %first {\n      %x = ld %shared : i32\n" THEN, NULL,
     "unwritten memory"},
    {"an earlier block has", 1, 2, NULL,
     "    if %first {\n      if %block0 {\n        st %shared, %1\n        yield\n      } {\n"
     "        %x = ld %shared : i32\n        st %data, %x\n        yield\n      }\n" THEN,
     NULL, "unwritten memory"},
    {"a copy that is not waited for", 1, 1, NULL,
     "    cp_async %shared, %out, %yes, %first {bytes = 16}\n    copy_commit\n"
     "    if %first {\n      %x = ld %shared : i32\n      st %data, %x\n" THEN,
     "cp.async.cg.shared.global", "unfinished copy"},
    {"one of two that is waited for", 1, 1, NULL,
     "    %next = ptr_add %shared, %32 : ptr<i32, shared>\n"
     "    cp_async %next, %out, %yes, %first {bytes = 16}\n    copy_commit\n"
     "    cp_async %shared, %out, %yes, %first {bytes = 16}\n    copy_commit\n"
     "    copy_wait {count = 1}\n    %there = ptr_add %data, %32 : ptr<i32, global>\n"
     "    if %first {\n      %x = ld %next : i32\n      st %there, %x\n" THEN "    copy_wait\n",
     "cp.async.wait_group 1;", NULL},
    {"a copy that another has waited for", 2, 1, NULL,
     "    cp_async %shared, %out, %yes, %first {bytes = 16}\n    copy_wait\n"
     "    if %second {\n      %x = ld %shared : i32\n      st %data, %x\n" THEN,
     NULL, "race"},
};

static void check_rows(const Row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_row(&rows[i], (const char *[3]){"", "", ""}, rows[i].ptx, rows[i].fault);
}

static void test_groups(void **state)
{
    (void)state;
    check_rows(groups, sizeof groups / sizeof *groups);
}

static void test_blocks(void **state)
{
    (void)state;
    check_rows(blocks, sizeof blocks / sizeof *blocks);
}

static void test_shared(void **state)
{
    (void)state;
    check_rows(shared, sizeof shared / sizeof *shared);
}

static void test_mbarriers(void **state)
{
    (void)state;
    check_rows(mbarriers, sizeof mbarriers / sizeof *mbarriers);
}

/* A narrow arrival is done when what was read is; what was written may not be there. */
static void test_clusters(void **state)
{
    (void)state;
    static const char *const wide[3] = {"", "", ""},
                             *const narrow[3] = {" {scope = cta}", " {scope = cta}", ""},
                             *const narrow_wait[3] = {"", " {scope = cta}", ""};
    check_row(&written_there, wide, "mbarrier.arrive.release.cluster.shared::cluster", NULL);
    check_row(&written_there, narrow, "mbarrier.arrive.shared::cluster", "race");
    check_row(&written_there, narrow_wait, "parity.shared::cta", "race");
    check_row(&read_there, wide, "parity.acquire.cluster.shared::cta", NULL);
    check_row(&read_there, narrow, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atomics),   cmocka_unit_test(test_groups),
        cmocka_unit_test(test_mbarriers), cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_blocks),    cmocka_unit_test(test_shared),
    };
    setenv("TILE_DEVICE", "emulator", 1);
    tile_emulator_set_checked(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
