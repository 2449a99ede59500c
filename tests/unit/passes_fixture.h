/* passes_fixture.h: kernels from IR text, run through the passes from bounds to lower. */
#ifndef TILEC_TESTS_PASSES_FIXTURE_H
#define TILEC_TESTS_PASSES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/analysis/context.h"
#include "passes/passes.h"

typedef struct Fixture {
    Session *session;
    Kernel *kernel;
    const Target *target;
} Fixture;

static inline void show_reports(const Session *session)
{
    Buf text = {0};
    diag_render(session->diags, DIAG_TEXT, false, &text);
    if (text.data) fputs(text.data, stderr);
    buf_free(&text);
}

static inline Fixture fixture_open(const char *text)
{
    Fixture fixture = {.session = session_new(), .target = target_find("sm_80")};
    int count = 0;
    Kernel **kernels = kernel_read(
        fixture.session, source_from_text(fixture.session, "test", text, strlen(text)), &count);
    if (!kernels || !kernel_verify(kernels[0])) show_reports(fixture.session);
    assert_non_null(kernels);
    assert_int_equal(count, 1);
    fixture.kernel = kernels[0];
    return fixture;
}

static inline void fixture_close(Fixture *fixture)
{
    kernel_free(fixture->kernel);
    session_free(fixture->session);
}

static inline bool fixture_run_pass(Fixture *fixture, bool (*run)(Kernel *, PassContext *))
{
    PassContext context = {
        .kernel = fixture->kernel, .target = fixture->target, .arena = arena_new()};
    const bool fine = !run || run(fixture->kernel, &context);
    analysis_invalidate(&context);
    arena_free(context.arena);
    return fine;
}

/* Runs the passes up to the stage, with the verifier after each. */
static inline bool fixture_run(Fixture *fixture, Stage stage)
{
    static const struct {
        bool (*run)(Kernel *kernel, PassContext *context);
        Stage gives;
    } rows[] = {
        {pass_bounds, STAGE_TYPED},          {pass_matrix, STAGE_TYPED},
        {pass_infer_layout, STAGE_LAID_OUT}, {NULL, STAGE_PIPELINED},
        {pass_shared, STAGE_PLACED},         {pass_sync, STAGE_SYNCED},
        {pass_lower, STAGE_THREADED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && rows[i].gives <= stage; i++) {
        if (fixture->kernel->stage > STAGE_TYPED && rows[i].gives <= fixture->kernel->stage)
            continue;
        if (!fixture_run_pass(fixture, rows[i].run)) return false;
        fixture->kernel->stage = rows[i].gives;
        if (kernel_verify(fixture->kernel)) continue;
        show_reports(fixture->session);
        fail_msg("the kernel is broken after pass %zu", i);
    }
    return true;
}

static inline const Op *fixture_launch(const Fixture *fixture)
{
    return fixture->kernel->host->last;
}

typedef struct OpCount {
    OpCode code;
    int count;
} OpCount;

static inline void count_op(Op *op, void *context)
{
    OpCount *count = context;
    count->count += op->code == count->code;
}

static inline int fixture_count(const Fixture *fixture, OpCode code)
{
    OpCount count = {code, 0};
    region_visit(launch_region(fixture_launch(fixture)), count_op, &count);
    return count.count;
}

/* The n-th op of a kind in the launch's own region or a region of it. */
typedef struct OpSearch {
    OpCode code;
    int left;
    Op *found;
} OpSearch;

static inline void search_op(Op *op, void *context)
{
    OpSearch *search = context;
    if (op->code == search->code && search->left-- == 0) search->found = op;
}

static inline Op *fixture_op(const Fixture *fixture, OpCode code, int index)
{
    OpSearch search = {code, index, NULL};
    region_visit(launch_region(fixture_launch(fixture)), search_op, &search);
    assert_non_null(search.found);
    return search.found;
}

/* How many ld or st move so many bytes. */
typedef struct WidthCount {
    OpCode code;
    Space space;
    int64_t bytes;
    int count;
} WidthCount;

static inline void count_width(Op *op, void *context)
{
    WidthCount *width = context;
    if (op->code == width->code && op->operands[0]->type->space == width->space)
        width->count += op_int(op, ATTR_align, 0) == width->bytes;
}

static inline int fixture_count_width(const Fixture *fixture, OpCode code, Space space, int bytes)
{
    WidthCount width = {code, space, bytes, 0};
    region_visit(launch_region(fixture_launch(fixture)), count_width, &width);
    return width.count;
}

#endif
