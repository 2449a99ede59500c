/* codegen_fixture.h: kernels as text, and what is needed to compile, link, load and run them. */
#ifndef TILEC_TESTS_CODEGEN_FIXTURE_H
#define TILEC_TESTS_CODEGEN_FIXTURE_H

#include "codegen/codegen.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi.h"
#include "emulator/abi.h"

/* ---- fixtures ---- */

typedef struct Made { /* one kernel, and what was made of it */
    Session *session;
    Kernel *kernel;
    Codegen *codegen;
    Image image;
    void *library;
    void *(*symbol)(int index); /* 0: the host function, then the ramps */
} Made;

static inline void show_messages(Session *session)
{
    Buf text = {0};
    diag_render(session->diags, DIAG_TEXT, false, &text);
    if (text.data != NULL) fputs(text.data, stderr);
    buf_free(&text);
}

static inline Made made_from(const char *text, const CodegenOptions *options)
{
    int count = 0;
    Made made = {.session = session_new()};
    Source *source = source_from_text(made.session, "test.ir", text, strlen(text));
    Kernel **kernels = kernel_read(made.session, source, &count);
    bool valid = kernels != NULL && count == 1 && kernel_verify(kernels[0]);
    show_messages(made.session);
    assert_true(valid);
    made.kernel = kernels[0];
    made.codegen = codegen_new(made.session, options);
    assert_non_null(made.codegen);
    return made;
}

static inline void made_image(Made *made, const char *arch)
{
    ArchList archs;
    assert_true(arch_parse(made->session, arch, &archs));
    bool done = image_start(made->codegen, made->kernel, &archs.items[0], &made->image) &&
                image_finish(made->codegen, &made->image);
    show_messages(made->session);
    assert_true(done);
}

static inline void made_free(Made *made)
{
    if (made->library != NULL) dlclose(made->library);
    codegen_free(made->codegen);
    kernel_free(made->kernel);
    session_free(made->session);
}

static inline int occurrences(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) count++;
    return count;
}

/* The compiler's symbols are hidden: a small C file in the same library hands them out. */
static inline void shim_write(const Made *made, const char *path)
{
    Buf text = {0};
    buf_text(&text, "#define H __attribute__((visibility(\"hidden\")))\n");
    buf_text(&text, "extern char h[] __asm__(\"host_function\") H;\n");
    for (int i = 0; i < made->image.entry_count; i++)
        buf_printf(&text, "extern char r%d[] __asm__(\"%s\") H;\n", i, made->image.entries[i].name);
    buf_text(&text, "void *symbol(int i) { void *all[] = {h");
    for (int i = 0; i < made->image.entry_count; i++) buf_printf(&text, ", r%d", i);
    buf_text(&text, "}; return all[i]; }\n");
    assert_true(os_write_file(path, text.data, text.length));
    buf_free(&text);
}

static inline int run_tool(Arena *arena, char **output, const char *const *arguments)
{
    OsProcess *process = os_start(arena, arguments);
    assert_non_null(process);
    return os_wait(process, output);
}

/* Makes the emulated image and the host function, links and loads them. */
static inline void made_load(Made *made)
{
    Arena *arena = made->session->arena;
    const char *bytes;
    char *output, *folder = os_temp_folder(arena);
    size_t size;
    made_image(made, "emulator");
    assert_true(host_function(made->codegen, made->kernel, "host_function"));
    assert_true(codegen_host_object(made->codegen, arena, &bytes, &size));
    char *object = os_join_path(arena, folder, "made.o"),
         *shim = os_join_path(arena, folder, "shim.c");
    char *library = os_join_path(arena, folder, "made.so");
    assert_true(os_write_file(object, bytes, size));
    shim_write(made, shim);
    const char *const link[] = {"gcc", "-shared", "-fPIC", "-o", library, object, shim, NULL};
    int status = run_tool(arena, &output, link);
    if (status != 0) fputs(output, stderr);
    assert_int_equal(status, 0);
    made->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (made->library == NULL) fprintf(stderr, "%s\n", dlerror());
    assert_non_null(made->library);
    *(void **)&made->symbol = dlsym(made->library, "symbol");
    os_remove_folder(folder);
}

/* Runs the first launch on memory that the emulator knows nothing of, so unchecked unless asked. */
static inline void made_run(Made *made, uint32_t blocks, const void *const *parameters)
{
    const ImageEntry *entry = &made->image.entries[0];
    tile_emu_site *sites = calloc((size_t)made->image.site_count + 1, sizeof *sites);
    for (int i = 0; i < made->image.site_count; i++)
        sites[i] = (tile_emu_site){
            "test.ir",
            source_location(made->image.sites[i].span.source, made->image.sites[i].span.begin).line,
            1};
    tile_entry run = {.name = entry->name,
                      .emulated = made->symbol(1),
                      .warps = (uint32_t)entry->warps,
                      .shared_bytes = (uint32_t)entry->shared_bytes};
    tile_image image = {.target = "sm_90a",
                        .entries = &run,
                        .sites = sites,
                        .kind = TILE_IMAGE_EMULATOR,
                        .compute = 90,
                        .site_count = (uint32_t)made->image.site_count};
    tile_grid grid = {blocks, 1, 1};
    tile_status status = tile_emulator_run(&image, &run, &grid, parameters);
    if (status != TILE_OK) fprintf(stderr, "%s\n", tile_last_error());
    free(sites);
    assert_int_equal(status, TILE_OK);
}

static inline void *device_new(size_t bytes, const void *content)
{
    void *memory;
    assert_int_equal(tile_alloc(&memory, bytes), TILE_OK);
    if (content != NULL) assert_int_equal(tile_copy_in(memory, content, bytes, NULL), TILE_OK);
    return memory;
}

static const CodegenOptions defaults = {.optimise = 3};
static const CodegenOptions no_ptxas = {.optimise = 3, .ptxas = ""};

static inline bool there_is_ptxas(void)
{
    return system("command -v ptxas >/dev/null 2>&1 || test -x /usr/local/cuda/bin/ptxas") == 0;
}

/* ---- kernels that both programs use ---- */

static const char saxpy_text[] =
    "kernel @saxpy stage THREADED (%n: i32, %a: f32, %x: ptr<f32, global> multiple 16 reads,"
    " %y: ptr<f32, global> multiple 16 writes) {\n"
    "  %c255 = const {value = 511} : i32\n"
    "  %c256 = const {value = 512} : i32\n"
    "  %one = const {value = 1} : i32\n"
    "  %t = add %n, %c255 : i32\n"
    "  %g = floordiv %t, %c256 : i32\n"
    "  launch %g, %one, %one {warps = 4} {\n"
    "    %tid = thread_id : i32\n"
    "    %b = block_idx {dim = 0} : i32\n"
    "    %four = const {value = 4} : i32\n"
    "    %w = const {value = 512} : i32\n"
    "    %o = mul %b, %w : i32\n"
    "    %q = mul %tid, %four : i32\n"
    "    %i = add %o, %q : i32\n"
    "    %p = cmp %i, %n {predicate = lt} : b1\n"
    "    %px = ptr_add %x, %i : ptr<f32, global>\n"
    "    %py = ptr_add %y, %i : ptr<f32, global>\n"
    "    %vx = ld %px, %p {align = 16} : vec<f32, 4>\n"
    "    %vy = ld %py, %p {align = 16} : vec<f32, 4>\n"
    "    %x0 = vec_get %vx {index = 0} : f32\n"
    "    %x1 = vec_get %vx {index = 1} : f32\n"
    "    %x2 = vec_get %vx {index = 2} : f32\n"
    "    %x3 = vec_get %vx {index = 3} : f32\n"
    "    %y0 = vec_get %vy {index = 0} : f32\n"
    "    %y1 = vec_get %vy {index = 1} : f32\n"
    "    %y2 = vec_get %vy {index = 2} : f32\n"
    "    %y3 = vec_get %vy {index = 3} : f32\n"
    "    %r0 = fma %a, %x0, %y0 : f32\n"
    "    %r1 = fma %a, %x1, %y1 : f32\n"
    "    %m2 = mul %a, %x2 : f32\n"
    "    %r2 = add %m2, %y2 : f32\n"
    "    %r3 = fma %a, %x3, %y3 : f32\n"
    "    %v = vec_pack %r0, %r1, %r2, %r3 : vec<f32, 4>\n"
    "    st %py, %v, %p {align = 16}\n"
    "  }\n"
    "}\n";

static const char mma_text[] =
    "kernel @mm stage THREADED (%k: i32, %a: ptr<f16, global> reads, %b: ptr<f16, global> reads,"
    " %c: ptr<f32, global> writes) {\n"
    "  %one = const {value = 1} : i32\n"
    "  launch %one, %one, %one {warps = 1, bytes = 768} {\n"
    "    %lane = thread_id : i32\n"
    "    %0 = const {value = 0} : i32\n"
    "    %1 = const {value = 1} : i32\n"
    "    %2 = const {value = 2} : i32\n"
    "    %3 = const {value = 3} : i32\n"
    "    %4 = const {value = 4} : i32\n"
    "    %8 = const {value = 8} : i32\n"
    "    %15 = const {value = 15} : i32\n"
    "    %16 = const {value = 16} : i32\n"
    "    %z = const {number = 0} : f32\n"
    "    %sa = shared_base {offset = 0} : ptr<f16, shared>\n"
    "    %sb = shared_base {offset = 512} : ptr<f16, shared>\n"
    "    %row = shr %lane, %1 : i32\n"
    "    %odd = and %lane, %1 : i32\n"
    "    %acol = mul %odd, %8 : i32\n"
    "    %bcol = mul %odd, %4 : i32\n"
    "    %ar = mul %row, %k : i32\n"
    "    %ai = add %ar, %acol : i32\n"
    "    %as = mul %row, %16 : i32\n"
    "    %asi = add %as, %acol : i32\n"
    "    %pas = ptr_add %sa, %asi : ptr<f16, shared>\n"
    "    %bs = mul %row, %8 : i32\n"
    "    %bsi = add %bs, %bcol : i32\n"
    "    %pbs = ptr_add %sb, %bsi : ptr<f16, shared>\n"
    "    %l16 = and %lane, %15 : i32\n"
    "    %lh = shr %lane, %4 : i32\n"
    "    %lh8 = mul %lh, %8 : i32\n"
    "    %la = mul %l16, %16 : i32\n"
    "    %lai = add %la, %lh8 : i32\n"
    "    %pa = ptr_add %sa, %lai : ptr<f16, shared>\n"
    "    %lbi = mul %l16, %8 : i32\n"
    "    %pb = ptr_add %sb, %lbi : ptr<f16, shared>\n"
    "    %r0, %r1, %r2, %r3 = for %0, %k, %16, %z, %z, %z, %z : f32, f32, f32, f32"
    " (%kk: i32, %c0: f32, %c1: f32, %c2: f32, %c3: f32) {\n"
    "      %gi = add %ai, %kk : i32\n"
    "      %ga = ptr_add %a, %gi : ptr<f16, global>\n"
    "      %va = ld %ga {align = 16} : vec<f16, 8>\n"
    "      st %pas, %va {align = 16}\n"
    "      %br = add %kk, %row : i32\n"
    "      %bi = mul %br, %8 : i32\n"
    "      %bj = add %bi, %bcol : i32\n"
    "      %gb = ptr_add %b, %bj : ptr<f16, global>\n"
    "      %vb = ld %gb {align = 8} : vec<f16, 4>\n"
    "      st %pbs, %vb {align = 8}\n"
    "      barrier\n"
    "      %a0, %a1, %a2, %a3 = ldmatrix %pa {count = 4, transposed = 0} : vec<f16, 2>, vec<f16, "
    "2>, vec<f16, 2>, vec<f16, 2>\n"
    "      %b0, %b1 = ldmatrix %pb {count = 2, transposed = 1} : vec<f16, 2>, vec<f16, 2>\n"
    "      %d0, %d1, %d2, %d3 = mma %a0, %a1, %a2, %a3, %b0, %b1, %c0, %c1, %c2, %c3"
    " {instruction = \"m16n8k16.f32.f16\"} : f32, f32, f32, f32\n"
    "      barrier\n"
    "      yield %d0, %d1, %d2, %d3\n"
    "    }\n"
    "    %g = shr %lane, %2 : i32\n"
    "    %q = and %lane, %3 : i32\n"
    "    %q2 = mul %q, %2 : i32\n"
    "    %g8 = mul %g, %8 : i32\n"
    "    %ci = add %g8, %q2 : i32\n"
    "    %64 = const {value = 64} : i32\n"
    "    %cj = add %ci, %64 : i32\n"
    "    %p0 = ptr_add %c, %ci : ptr<f32, global>\n"
    "    %p1 = ptr_add %c, %cj : ptr<f32, global>\n"
    "    %v0 = vec_pack %r0, %r1 : vec<f32, 2>\n"
    "    %v1 = vec_pack %r2, %r3 : vec<f32, 2>\n"
    "    st %p0, %v0 {align = 8}\n"
    "    st %p1, %v1 {align = 8}\n"
    "  }\n"
    "}\n";

#endif
