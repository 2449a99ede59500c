/* ir_test.c: types, building, text out and in, copies, and the verifier's rules. */
#include "ir/ir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- types ---- */

static void expect_type(const Type *type, const char *text)
{
    Buf buf = {0};
    type_print(type, &buf);
    assert_string_equal(buf.data, text);
    buf_free(&buf);
}

static void test_types(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    TypeTable *types = type_table_new(arena);
    const Type *tile = type_tile(types, DTYPE_f32, 2, (int64_t[]){64, 128}, NULL);
    assert_ptr_equal(tile, type_tile(types, DTYPE_f32, 2, (int64_t[]){64, 128}, NULL));
    assert_ptr_equal(
        type_scalar(types, DTYPE_f32),
        type_intern(types,
                    &(Type){.kind = TYPE_SCALAR, .dtype = DTYPE_f32, .count = 7, .rank = 3}));
    for (int i = 1; i < 500; i++) /* the table grows, and still finds what it held */
        assert_int_equal(type_vector(types, DTYPE_i8, i)->count, i);
    assert_ptr_equal(tile, type_tile(types, DTYPE_f32, 2, (int64_t[]){64, 128}, NULL));
    expect_type(tile, "tile<f32, [64, 128]>");
    expect_type(type_pointer(types, DTYPE_f16, SPACE_SHARED), "ptr<f16, shared>");
    expect_type(type_vector(types, DTYPE_f16, 8), "vec<f16, 8>");
    expect_type(
        type_view(types, DTYPE_f16, 2, (int64_t[]){TYPE_DYNAMIC, 4096}, (int64_t[]){4096, 1}),
        "view<f16, [?, 4096], [4096, 1]>");
    expect_type(type_var(types, tile), "var<tile<f32, [64, 128]>>");
    expect_type(type_with_dtype(types, tile, DTYPE_b1), "tile<b1, [64, 128]>");
    expect_type(type_shared(types, DTYPE_i8, 0, NULL, NULL), "shared<i8, []>");
    assert_int_equal(type_elements(tile), 8192);
    assert_false(type_same_shape(tile, type_scalar(types, DTYPE_f32)));
    arena_free(arena);
}

/* ---- text ---- */

static char *print_text(Session *session, Kernel *const *kernels, int count)
{
    Buf buf = {0};
    for (int i = 0; i < count; i++) kernel_print(kernels[i], &buf);
    char *text = arena_copy_text(session->arena, buf.data == NULL ? "" : buf.data, buf.length);
    buf_free(&buf);
    return text;
}

static void show_messages(Session *session)
{
    Buf buf = {0};
    diag_render(session->diags, DIAG_TEXT, false, &buf);
    fprintf(stderr, "%s\n", buf.data == NULL ? "" : buf.data);
    buf_free(&buf);
}

static Kernel **read_text(Session *session, const char *text, int *count)
{
    Kernel **kernels =
        kernel_read(session, source_from_text(session, "test.ir", text, strlen(text)), count);
    if (kernels == NULL) show_messages(session);
    assert_non_null(kernels);
    return kernels;
}

static void free_kernels(Kernel **kernels, int count)
{
    for (int i = 0; i < count; i++) kernel_free(kernels[i]);
}

static void expect_same_text(Session *session, const char *text)
{
    int count;
    Kernel **kernels = read_text(session, text, &count);
    assert_string_equal(print_text(session, kernels, count), text);
    free_kernels(kernels, count);
}

static void expect_valid(const Kernel *kernel)
{
    if (!kernel_verify(kernel)) show_messages(kernel->session);
    assert_int_equal(diag_error_count(kernel->session->diags), 0);
}

/* ---- a kernel with every op that a tile kernel may have ---- */

typedef struct Maker {
    Session *session;
    Kernel *kernel;
    Builder b;
    Value *m, *p, *one, *x, *flag, *f, *tile, *mask;
    const Type *f32_tile, *i32, *f32;
} Maker;

static Value *make(Maker *maker, OpCode code, int count, Value *const *operands, const Type *type)
{
    return build_op(&maker->b, code, count, operands, 1, &type)->results;
}

static void yield_one(Region *region, Span span, Value *value)
{
    Builder end = builder_at_end(region, span);
    build_op(&end, OP_yield, 1, &value, 0, NULL);
}

static void make_custom_vjp(Maker *maker)
{
    Op *op = build_op(&maker->b, OP_custom_vjp, 1, &maker->f, 1, &maker->f->type);
    yield_one(op->regions[0], op->span, maker->f);
    region_add_argument(op->regions[1], maker->f->type, NULL);
    yield_one(op->regions[1], op->span, region_add_argument(op->regions[1], maker->f->type, NULL));
    maker->f = op->results;
}

static void make_grad(Maker *maker)
{
    Op *op = build_op(&maker->b, OP_grad, 1, &maker->f, 1, &maker->f->type);
    yield_one(op->regions[0], op->span, region_add_argument(op->regions[0], maker->f->type, NULL));
    maker->f = op->results;
}

static void make_scalars(Maker *maker)
{
    static const OpCode integers[] = {OP_add,      OP_sub,      OP_mul, OP_div, OP_rem,
                                      OP_floordiv, OP_floormod, OP_min, OP_max, OP_and,
                                      OP_or,       OP_xor,      OP_shl, OP_shr};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        maker->x = build2(&maker->b, integers[i], maker->x, maker->x);
    maker->x =
        build1(&maker->b, OP_neg, build1(&maker->b, OP_not, build1(&maker->b, OP_abs, maker->x)));
    maker->flag = build_cmp(&maker->b, "lt", maker->x, maker->x);
    maker->x = build3(&maker->b, OP_select, maker->flag, maker->x, maker->x);
    maker->f = build_cast(&maker->b, DTYPE_f32, maker->x);
    maker->f = build3(&maker->b, OP_slope, maker->f, maker->f, maker->f);
    maker->f = build2(&maker->b, OP_replayed, maker->f, maker->f);
    make_custom_vjp(maker);
    make_grad(maker);
    static const OpCode floats[] = {OP_sqrt, OP_floor, OP_ceil, OP_trunc, OP_round};
    for (size_t i = 0; i < sizeof floats / sizeof floats[0]; i++)
        maker->f = build1(&maker->b, floats[i], maker->f);
    maker->f =
        build3(&maker->b, OP_fma, maker->f, maker->f, build_number(&maker->b, DTYPE_f32, 0.1));
    Value *byte = build_cast(&maker->b, DTYPE_i8, maker->x), *dot[1 + 2 * DP4A_BYTES] = {maker->x};
    for (int i = 1; i <= 2 * DP4A_BYTES; i++) dot[i] = byte;
    maker->x = build_op(&maker->b, OP_dp4a, 1 + 2 * DP4A_BYTES, dot, 1, &maker->x->type)->results;
    maker->f = build2(&maker->b, OP_approx, maker->f, maker->f);
    op_set_text(maker->f->op, ATTR_function, intern_text(maker->kernel->session->names, "div"));
    make(maker, OP_bitcast, 1, &maker->f, maker->i32);
    Value *q = build2(&maker->b, OP_ptr_add, maker->p, maker->x);
    make(maker, OP_ptr_cast, 1, &q, type_pointer(maker->kernel->types, DTYPE_u8, SPACE_GLOBAL));
    make(maker, OP_adjoint_pointer, 1, &q, q->type);
    Value *both[] = {q, build_const(&maker->b, DTYPE_i64, 0)};
    make(maker, OP_with_adjoint, 2, both, q->type);
}

static void make_tiles(Maker *maker)
{
    TypeTable *types = maker->kernel->types;
    maker->tile = make(maker, OP_splat, 1, &maker->f, maker->f32_tile);
    Value *iota = make(maker, OP_iota, 0, NULL, type_with_dtype(types, maker->f32_tile, DTYPE_i32));
    op_set_int(iota->op, ATTR_dim, 1);
    Value *thin = make(maker, OP_splat, 1, &maker->f,
                       type_tile(types, DTYPE_f32, 2, (int64_t[]){16, 1}, NULL));
    make(maker, OP_broadcast, 1, &thin, maker->f32_tile);
    make(maker, OP_reshape, 1, &maker->tile,
         type_tile(types, DTYPE_f32, 1, (int64_t[]){256}, NULL));
    Value *flipped = make(maker, OP_transpose, 1, &maker->tile, maker->f32_tile);
    op_set_ints(flipped->op, ATTR_dims, 2, (int64_t[]){1, 0});
    make(maker, OP_convert, 1, &maker->tile, maker->f32_tile);
    maker->mask = build_cmp(&maker->b, "ge", maker->tile, flipped);
    Value *sum = build3(&maker->b, OP_dot, maker->tile, flipped, maker->tile);
    op_set_text(sum->op, ATTR_instruction, intern_text(maker->session->names, "m16n8k8.f32.tf32"));
    op_set_ints(sum->op, ATTR_dims, 2, (int64_t[]){1, 2});
    op_set_int(sum->op, ATTR_tf32, 1);
    sum->name = intern_text(maker->session->names, "sum");
    maker->tile = build3(&maker->b, OP_select, maker->mask, sum, flipped);
    maker->tile->name = sum->name;
}

static void make_memory(Maker *maker)
{
    TypeTable *types = maker->kernel->types;
    Value *view = build_view(&maker->b, maker->p, 2, (Value *[]){maker->x, maker->one},
                             (Value *[]){maker->one, maker->one});
    Value *loaded = make(maker, OP_load, 3, (Value *[]){view, maker->x, maker->x}, maker->f32_tile);
    op_set_ints(loaded->op, ATTR_dims, 2, (int64_t[]){0, 1});
    op_set_ints(loaded->op, ATTR_bounds, 2, (int64_t[]){0, 2});
    build(&maker->b, OP_store, 4, (Value *[]){view, maker->tile, maker->x, maker->x});
    Value *shared = make(maker, OP_shared_alloc, 0, NULL,
                         type_shared(types, DTYPE_f32, 2, (int64_t[]){16, 16}, NULL));
    build2(&maker->b, OP_shared_store, shared, loaded);
    build(&maker->b, OP_sync, 0, NULL);
    build1(&maker->b, OP_shared_load, shared);
    build(&maker->b, OP_barrier, 0, NULL);
    Value *part = make(maker, OP_shared_view, 3, (Value *[]){shared, maker->x, maker->one},
                       type_shared(types, DTYPE_f32, 1, (int64_t[]){8}, NULL));
    op_set_ints(part->op, ATTR_dims, 1, (int64_t[]){1});
    make(maker, OP_shared_reshape, 1, &shared,
         type_shared(types, DTYPE_f32, 1, (int64_t[]){256}, NULL));
    Value *variable = make(maker, OP_var, 1, &maker->tile, type_var(types, maker->f32_tile));
    build2(&maker->b, OP_var_set, variable, build1(&maker->b, OP_var_get, variable));
}

static void make_combinations(Maker *maker)
{
    TypeTable *types = maker->kernel->types;
    const Name add = intern_text(maker->session->names, "add");
    Value *scan = build1(&maker->b, OP_scan, maker->tile);
    op_set_int(scan->op, ATTR_dim, 1);
    op_set_text(scan->op, ATTR_mode, add);
    op_set_int(scan->op, ATTR_exclusive, 1);
    Value *sum =
        make(maker, OP_reduce, 1, &scan, type_tile(types, DTYPE_f32, 2, (int64_t[]){1, 1}, NULL));
    op_set_ints(sum->op, ATTR_dims, 2, (int64_t[]){0, 1});
    op_set_text(sum->op, ATTR_mode, add);
    build1(&maker->b, OP_item, sum);
}

static void make_copies(Maker *maker)
{
    TypeTable *types = maker->kernel->types;
    Interner *names = maker->session->names;
    Value *view = build_view(&maker->b, maker->p, 2, (Value *[]){maker->x, maker->one},
                             (Value *[]){maker->one, maker->one});
    const Type *type = type_shared(types, view->type->dtype, 2, (int64_t[]){8, 8}, NULL);
    Value *shared = make(maker, OP_shared_alloc, 0, NULL, type);
    build(&maker->b, OP_copy, 4, (Value *[]){view, shared, maker->x, maker->x});
    build(&maker->b, OP_copy_async, 4, (Value *[]){view, shared, maker->x, maker->x});
    build(&maker->b, OP_copy_commit, 0, NULL);
    op_set_int(build_op(&maker->b, OP_copy_wait, 0, NULL, 0, NULL), ATTR_count, 1);
    Value *tile = build1(&maker->b, OP_shared_load, shared);
    build_op(&maker->b, OP_fence_async, 0, NULL, 0, NULL);
    Value *tall = make(maker, OP_shared_alloc, 0, NULL,
                       type_shared(types, view->type->dtype, 2, (int64_t[]){64, 8}, NULL)),
          *zeros = build1(&maker->b, OP_shared_load, tall),
          *sum = make(maker, OP_dot_shared, 3, (Value *[]){tall, shared, zeros}, zeros->type);
    op_set_text(sum->op, ATTR_instruction, intern_text(names, "wgmma.m64n8k8.f32.tf32"));
    op_set_ints(sum->op, ATTR_dims, 2, (int64_t[]){4, 1});
    make(maker, OP_dot_slices, 3, (Value *[]){shared, shared, tile}, tile->type);
    op_set_int(sum->op, ATTR_async, 1);
    build_op(&maker->b, OP_dot_commit, 0, NULL, 0, NULL);
    op_set_int(make(maker, OP_dot_wait, 1, &sum, sum->type)->op, ATTR_count, 0);
    Value *places =
        make(maker, OP_iota, 0, NULL, type_tile(types, DTYPE_i32, 2, (int64_t[]){8, 8}, NULL));
    op_set_int(places->op, ATTR_dim, 1);
    Value *old = make(maker, OP_atomic, 4, (Value *[]){shared, tile, places, maker->x}, tile->type);
    op_set_text(old->op, ATTR_mode, intern_text(names, "add"));
    op_set_text(old->op, ATTR_order, intern_text(names, "relaxed"));
    op_set_text(old->op, ATTR_scope, intern_text(names, "cta"));
    Value *mask = build_cmp(&maker->b, "lt", places, places);
    build_op(&maker->b, OP_put, 4, (Value *[]){view, tile, maker->x, places}, 0, NULL);
    Value *found =
        make(maker, OP_gather, 4, (Value *[]){shared, places, maker->x, mask}, tile->type);
    op_set_int(found->op, ATTR_masked, 1);
    Value *lane = make(maker, OP_thread_id, 0, NULL, maker->i32);
    Value *array =
        make(maker, OP_local_alloc, 0, NULL, type_local(types, DTYPE_i32, 1, (int64_t[]){4}));
    build_op(&maker->b, OP_element_store, 3, (Value *[]){array, maker->x, lane}, 0, NULL);
    Value *cell = make(maker, OP_shared_alloc, 0, NULL,
                       type_shared(types, DTYPE_i32, 2, (int64_t[]){2, 4}, NULL));
    old = build(&maker->b, OP_element_load, 2, (Value *[]){array, lane});
    old = make(maker, OP_element_atomic, 5, (Value *[]){cell, old, old, lane, lane}, maker->i32);
    op_set_text(old->op, ATTR_mode, intern_text(names, "add"));
    op_set_text(old->op, ATTR_order, intern_text(names, "relaxed"));
    op_set_text(old->op, ATTR_scope, intern_text(names, "cta"));
    op_set_int(old->op, ATTR_once, 1);
    Value *inside = make(maker, OP_in_group, 0, NULL, type_scalar(types, DTYPE_b1));
    op_set_int(inside->op, ATTR_begin, 32);
    op_set_int(inside->op, ATTR_count, 32);
    Op *print = build_op(&maker->b, OP_print, 0, NULL, 0, NULL);
    op_set_text(print, ATTR_text, intern_text(names, "%% \"here\"\n"));
}

static void make_control(Maker *maker)
{
    Op *loop =
        build_op(&maker->b, OP_for, 4, (Value *[]){maker->one, maker->x, maker->one, maker->tile},
                 1, &maker->f32_tile);
    op_set_int(loop, ATTR_stages, 3);
    region_add_argument(loop->regions[0], maker->i32, intern_text(maker->session->names, "i"));
    Value *carried = region_add_argument(loop->regions[0], maker->f32_tile, NULL);
    Builder in = builder_at_end(loop->regions[0], (Span){0});
    build1(&in, OP_yield, build2(&in, OP_add, carried, carried));
    Op *whole = build_op(&maker->b, OP_while, 1, &maker->x, 1, &maker->i32);
    Value *first = region_add_argument(whole->regions[0], maker->i32, NULL);
    Value *second = region_add_argument(whole->regions[1], maker->i32, NULL);
    in = builder_at_end(whole->regions[0], (Span){0});
    build2(&in, OP_condition, build_cmp(&in, "ne", first, maker->x), first);
    in = builder_at_end(whole->regions[1], (Span){0});
    build1(&in, OP_yield, second);
    Op *branch = build_op(&maker->b, OP_if, 1, &maker->flag, 0, NULL);
    for (int i = 0; i < 2; i++) {
        in = builder_at_end(branch->regions[i], (Span){0});
        build(&in, OP_yield, 0, NULL);
    }
}

/* On the host: a workspace and its size. */
static void make_workspace(Maker *maker, Span span)
{
    Value *bytes = build_const(&maker->b, DTYPE_i64, 4096);
    kernel_add_workspace(maker->kernel, intern_text(maker->session->names, "w"),
                         type_pointer(maker->kernel->types, DTYPE_f32, SPACE_GLOBAL), true, span);
    op_set_int(build_op(&maker->b, OP_workspace_size, 1, &bytes, 0, NULL), ATTR_index, 0);
    op_set_int(build_op(&maker->b, OP_buffer_extent, 1, &bytes, 0, NULL), ATTR_index,
               maker->kernel->parameter_count - 1);
}

/* On the host: a tensor, one that is returned, and what a call must fulfil. */
static void make_tensors(Maker *maker, Span span)
{
    Kernel *kernel = maker->kernel;
    Interner *names = maker->session->names;
    Value *r = kernel_add_parameter(kernel, intern_text(names, "r"),
                                    type_pointer(kernel->types, DTYPE_f32, SPACE_GLOBAL), span);
    Tensor *tensor = kernel_add_tensor(kernel, 1, 2, span);
    tensor->is_strided = true;
    tensor->shape[0] = (Extent){.kind = EXTENT_PARAMETER, .parameter = 0};
    tensor->shape[1] = (Extent){.kind = EXTENT_PARAMETER, .parameter = 2};
    tensor->strides[0] = (Extent){.value = 4096};
    tensor->strides[1] = (Extent){.value = 1};
    kernel_add_tensor(kernel, r->index, 1, span)->is_result = true;
    Value *m = kernel->parameters[0].value;
    Op *shape = build_op(&maker->b, OP_result_shape, 1, &m, 0, NULL);
    op_set_int(shape, ATTR_index, 0);
    Value *holds = build_cmp(&maker->b, "ge", m, m);
    Op *need = build_op(&maker->b, OP_require, 1, &holds, 0, NULL);
    op_set_text(need, ATTR_text, intern_text(names, "m must be itself"));
}

static void make_anchor(Maker *maker)
{
    static const char text[] = "{shape [16, 16] block [16, 16] reg [[0,1],[0,2],[0,4]] "
                               "lane [[0,8],[1,0],[2,0],[4,0],[8,0]]}";
    Op *anchor = build_op(&maker->b, OP_anchor, 1, &maker->tile, 0, NULL);
    op_set_text(anchor, ATTR_text, intern_text(maker->session->names, text));
}

static Kernel *make_kernel(Session *session, Span span)
{
    Maker maker = {.session = session,
                   .kernel = kernel_new(session, intern_text(session->names, "every op"), span)};
    Kernel *kernel = maker.kernel;
    kernel->export_name = intern_text(session->names, "every");
    maker.i32 = type_scalar(kernel->types, DTYPE_i32);
    maker.f32_tile = type_tile(kernel->types, DTYPE_f32, 2, (int64_t[]){16, 16}, NULL);
    maker.m = kernel_add_parameter(kernel, intern_text(session->names, "m"), maker.i32, span);
    maker.p = kernel_add_parameter(kernel, intern_text(session->names, "p"),
                                   type_pointer(kernel->types, DTYPE_f32, SPACE_GLOBAL), span);
    kernel_add_parameter(kernel, intern_text(session->names, "k"),
                         type_scalar(kernel->types, DTYPE_i64), span);
    kernel->parameters[1].multiple = 16;
    kernel->parameters[1].is_read = kernel->parameters[1].is_written = true;
    kernel->parameters[2].is_key = true;
    kernel->parameters[2].key = 4096;
    maker.b = builder_at_end(kernel->host, span);
    Value *grid = build_const(&maker.b, DTYPE_i32, 4);
    op_set_int(build_op(&maker.b, OP_assume, 1, &maker.m, 0, NULL), ATTR_multiple, 8);
    make_tensors(&maker, span);
    make_workspace(&maker, span);
    Op *launch = build_op(&maker.b, OP_launch, 3, (Value *[]){grid, grid, maker.m}, 0, NULL);
    op_set_int(launch, ATTR_warps, 4);
    maker.b = builder_at_end(launch_region(launch), span);
    maker.one = build_const(&maker.b, DTYPE_i32, 1);
    maker.x = build(&maker.b, OP_block_idx, 0, NULL);
    op_set_int(maker.x->op, ATTR_dim, 0);
    op_set_int(build(&maker.b, OP_grid_dim, 0, NULL)->op, ATTR_dim, 2);
    make_scalars(&maker);
    make_tiles(&maker);
    make_memory(&maker);
    make_combinations(&maker);
    make_copies(&maker);
    make_anchor(&maker);
    make_control(&maker);
    return kernel;
}

static const char thread_text[] =
    "kernel @threads stage THREADED (%p: ptr<f16, global> multiple 16 reads) {\n"
    "  %one = const {value = 1} : i32\n"
    "  launch %one, %one, %one {warps = 1} {\n"
    "    %1 = thread_id : i32\n"
    "    %2 = shared_base {offset = 128} : ptr<f16, shared>\n"
    "    %3 = cmp %1, %1 {predicate = eq} : b1\n"
    "    %4 = ld %p, %3 {align = 16} : vec<f16, 8>\n"
    "    %5 = ld %p : f16\n"
    "    st %2, %4\n"
    "    st %2, %5, %3\n"
    "    %6 = vec_get %4 {index = 7} : f16\n"
    "    %bytes = ptr_cast %2 : ptr<u8, shared>\n"
    "    %nibble = ld_bits %bytes, %1, %3 : i4\n"
    "    st_bits %bytes, %nibble, %1\n"
    "    %nibbles = vec_pack %nibble, %nibble : vec<i4, 2>\n"
    "    %halves = vec_cast %nibbles : vec<f16, 2>\n"
    "    %7 = vec_pack %6, %6 : vec<f16, 2>\n"
    "    warp_sync\n"
    "    barrier\n"
    "    %8 = shuffle %1, %1 {mode = xor} : i32\n"
    "    %all = redux %1 {mode = add} : i32\n"
    "    %22 = vote %3 : u32\n"
    "    %handle = const {value = 8} : u64\n"
    "    %place = const {number = 0.5} : f32\n"
    "    %red, %green, %blue, %alpha = texture %handle, %place, %place : f32, f32, f32, f32\n"
    "    %elected = elect : b1\n"
    "    %23 = local_base {bytes = 64} : ptr<f16, local>\n"
    "    %24 = check_index %1, %1 : i32\n"
    "    %without = fault_injected %3 {index = 1} : b1\n"
    "    check %3 {text = \"a message\"}\n"
    "    mbar_init %2, %3 {count = 4}\n"
    "    mbar_arrive %2, %3\n"
    "    mbar_wait %2, %1\n"
    "    %phase = mbar_phase %2 : i32\n"
    "    cp_async_arrive %2\n"
    "    launch_wait %3\n"
    "    %20 = ptr_cast %2 : ptr<i32, shared>\n"
    "    %21 = atom %20, %1, %1, %3 {mode = min, order = acq_rel, scope = cta} : i32\n"
    "    %half = const {number = 0.5} : f32\n"
    "    %sum = ptr_cast %2 : ptr<f32, shared>\n"
    "    red %sum, %half, %3 {order = relaxed, scope = cta}\n"
    "    cp_async %2, %p, %3 {bytes = 16}\n"
    "    %9, %10 = ldmatrix %2 {count = 2, transposed = 1} : vec<f16, 2>, vec<f16, 2>\n"
    "    stmatrix %2, %9, %10 {count = 2}\n"
    "    %11 = const {number = -0} : f32\n"
    "    %12, %13, %14, %15 = mma %9, %10, %7, %9, %10, %7, %11, %11, %11, %11"
    " {instruction = m16n8k16.f32.f16} : f32, f32, f32, f32\n"
    "    %w = wgmma %2, %2, %11 {instruction = wgmma.m64n8k16.f32.f16, left = [128, 16, 1024, 0, "
    "0],"
    " right = [128, 16, 1024, 1, 0]} : f32\n"
    "    %v = wgmma_wait %w {count = 0} : f32\n"
    "    %early = wgmma_in_flight %w {count = 0} : f32\n"
    "    %16 = if %3 : i32 {\n"
    "      yield %1\n"
    "    } {\n"
    "      yield %8\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char maps_text[] =
    "kernel @maps stage THREADED (%p: ptr<f16, global>, %map: ptr<u8, param>) {\n"
    "  %w = const {value = 64} : i64\n"
    "  tensor_map %p, %w, %w, %w {dims = [64, 64], index = 0, swizzle = 128}\n"
    "  %one = const {value = 1} : i32\n"
    "  launch %one, %one, %one {warps = 1, persistent = 1} {\n"
    "    %1 = shared_base {offset = 0} : ptr<f16, shared>\n"
    "    %2 = shared_base {offset = 8192} : ptr<i64, shared>\n"
    "    %3 = const {value = 0} : i32\n"
    "    %4 = const {value = 1} : b1\n"
    "    cp_bulk_tensor %map, %1, %2, %4, %3, %3 {bytes = 8192}\n"
    "    %5 = const {value = 3} : i32\n"
    "    cp_bulk_tensor %map, %1, %2, %4, %3, %3, %5 {bytes = 8192, multicast = 1}\n"
    "    st_bulk_tensor %map, %1, %4, %3, %3\n"
    "    %6 = cluster_address %2, %3 : ptr<i64, cluster>\n"
    "    mbar_arrive %6, %4\n"
    "    mbar_expect %2, %5, %4\n"
    "    mbar_complete %6, %5, %4\n"
    "  }\n"
    "}\n";

static const char slots_text[] = "kernel @slots stage TYPED (%p: ptr<f16, global>) {\n"
                                 "  %one = const {value = 1} : i32\n"
                                 "  launch %one, %one, %one {warps = 8} {\n"
                                 "    %1 = shared_alloc : shared<i64, [2, 3]>\n"
                                 "    pipeline_init %1 {warps = 4, count = 128}\n"
                                 "    %2 = const {value = 0} : i32\n"
                                 "    %3 = cmp %2, %2 {predicate = eq} : b1\n"
                                 "    producer_acquire %1, %2, %2\n"
                                 "    producer_commit %1, %2\n"
                                 "    %filled = consumer_try_wait %1, %2, %2 : b1\n"
                                 "    consumer_wait %1, %2, %2\n"
                                 "    consumer_release %1, %2, %3\n"
                                 "    order_wait %1, %2\n"
                                 "    order_arrive %1\n"
                                 "    %4 = shared_alloc : shared<i64, [2]>\n"
                                 "    mbarrier_init %4 {counts = [128, 1]}\n"
                                 "    mbarrier_arrive %4, %2\n"
                                 "    mbarrier_arrive_on_copies %4, %2 {arrives = 1}\n"
                                 "    mbarrier_arrive %4, %2, %2\n"
                                 "    mbarrier_expect_tx %4, %2, %2 {once = 1}\n"
                                 "    mbarrier_arrive_on_copies %4, %2, %2\n"
                                 "    mbarrier_arrive_and_wait %4, %2\n"
                                 "    mbarrier_wait %4, %2, %2\n"
                                 "    %w = const {value = 64} : i64\n"
                                 "    %u = const {value = 1} : i64\n"
                                 "    %v = view %p, %w, %w, %w, %u : view<f16, [64, 64], [64, 1]>\n"
                                 "    %t = shared_alloc : shared<f16, [64, 64]>\n"
                                 "    tma_load %v, %t, %1, %2, %2, %2\n"
                                 "    tma_load %v, %t, %4, %2, %2, %2, %2 {multicast = 1}\n"
                                 "    tma_store %v, %t, %2, %2\n"
                                 "    tma_store_commit\n"
                                 "    tma_store_wait {count = 0}\n"
                                 "    setmaxnreg {count = 24, mode = \"dec\"}\n"
                                 "    %f = const {number = 1} : f32\n"
                                 "    %s0, %s1, %s2, %s3 = mma_sync %f, %f, %f, %f, %f, %f, %f, "
                                 "%f, %f, %f {instruction = \"m16n8k8.f32.tf32\"} : f32, f32, "
                                 "f32, f32\n"
                                 "    %r = shared_load %t : tile<f16, [64, 64]>\n"
                                 "    %q = part %r {begins = [0, 32]} : tile<f16, [64, 32]>\n"
                                 "  }\n"
                                 "}\n";

static const char clusters_text[] =
    "kernel @clusters stage TYPED (%count: ptr<u32, global>) {\n"
    "  %one = const {value = 1} : i32\n"
    "  launch %one, %one, %one {warps = 1, cluster = [2, 1, 1], cooperative = 1} {\n"
    "    %1 = cluster_rank : i32\n"
    "    %2 = shared_alloc : shared<f16, [64]>\n"
    "    cluster_arrive {relaxed = 1}\n"
    "    cluster_wait\n"
    "    %3 = shared_peer %2, %1 : shared<f16, [64]>\n"
    "    grid_sync %count\n"
    "  }\n"
    "}\n";

static void mark_op(Op *op, void *seen)
{
    ((bool *)seen)[op->code] = true;
}

static void test_every_op(void **state)
{
    (void)state;
    Session *session = session_new();
    Source *source = source_from_text(session, "a b.tile", "x\n  yy\n", 7);
    Kernel *kernel = make_kernel(session, (Span){source, 4, 6});
    expect_valid(kernel);
    int count;
    Kernel **threads = read_text(session, thread_text, &count);
    assert_int_equal(count, 1);
    expect_valid(threads[0]);
    Kernel **slots = read_text(session, slots_text, &count);
    assert_int_equal(count, 1);
    expect_valid(slots[0]);
    Kernel **maps = read_text(session, maps_text, &count);
    assert_int_equal(count, 1);
    expect_valid(maps[0]);
    assert_int_equal(kernel_map_count(maps[0]), 1);
    assert_int_equal(kernel_argument_count(maps[0]), 1);
    expect_same_text(session, print_text(session, maps, 1));
    Kernel **clusters = read_text(session, clusters_text, &count);
    assert_int_equal(count, 1);
    expect_valid(clusters[0]);
    expect_same_text(session, print_text(session, clusters, 1));
    bool seen[OP_COUNT] = {0};
    kernel_visit(clusters[0], mark_op, seen);
    free_kernels(clusters, count);
    kernel_visit(maps[0], mark_op, seen);
    free_kernels(maps, count);
    kernel_visit(slots[0], mark_op, seen);
    free_kernels(slots, count);
    kernel_visit(kernel, mark_op, seen);
    kernel_visit(threads[0], mark_op, seen);
    for (int i = 0; i < OP_COUNT; i++)
        if (!seen[i]) fail_msg("no kernel of this test has the op %s", op_info((OpCode)i)->name);
    char *text = print_text(session, (Kernel *[]){kernel, threads[0]}, 2);
    assert_non_null(strstr(
        text,
        "kernel @\"every op\" export every stage TYPED (%m: i32, %p: ptr<f32, global> multiple 16 "
        "reads writes, %k: key i64 = 4096, %r: ptr<f32, global>, %w: zeroed workspace ptr<f32, "
        "global> multiple 256) # a b.tile:2:3\n"
        "  tensor %p [%m, %k] strides [4096, 1] # a b.tile:2:3\n"
        "  result %r [?] # a b.tile:2:3\n"
        "{\n"));
    assert_non_null(strstr(text, "%sum.1 = select"));
    expect_same_text(session, text);
    kernel_free(kernel);
    free_kernels(threads, 1);
    session_free(session);
}

static void test_read_kernel_verifies(void **state)
{
    (void)state;
    Session *session = session_new();
    Kernel *kernel = make_kernel(session, (Span){0});
    char *text = print_text(session, &kernel, 1);
    kernel_free(kernel);
    int count;
    Kernel **kernels = read_text(session, text, &count);
    expect_valid(kernels[0]);
    free_kernels(kernels, count);
    session_free(session);
}

static double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void test_numbers_read_back(void **state)
{
    (void)state;
    static const double numbers[] = {0.1,    1e300,    -0.0,      1,   3.14159265358979,
                                     5e-324, INFINITY, -INFINITY, NAN, 1.0 / 3};
    Session *session = session_new();
    Kernel *kernel = kernel_new(session, intern_text(session->names, "numbers"), (Span){0});
    Builder builder = builder_at_end(kernel->host, (Span){0});
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        build_number(&builder, DTYPE_f64, numbers[i]);
    build_number(&builder, DTYPE_f64, double_of(0x7ff0000000000001));
    build_const(&builder, DTYPE_i64, INT64_MIN);
    char *text = print_text(session, &kernel, 1);
    int count;
    Kernel **kernels = read_text(session, text, &count);
    const Op *a = kernel->host->first, *b = kernels[0]->host->first;
    for (; a != NULL; a = a->next, b = b->next)
        assert_memory_equal(&a->attrs[0].number, &b->attrs[0].number, sizeof(double));
    assert_string_equal(print_text(session, kernels, 1), text);
    kernel_free(kernel);
    free_kernels(kernels, count);
    session_free(session);
}

/* Names that the text cannot hold as they stand are made so, once. */
static void test_names(void **state)
{
    (void)state;
    static const char *names[] = {"x", "x", "x.1", "12", "a b", "", NULL, "\xc3\xa9t\xc3\xa9", "%"};
    Session *session = session_new();
    Kernel *kernel = kernel_new(session, intern(session->names, "a\"\n\xff", 4), (Span){0});
    Builder builder = builder_at_end(kernel->host, (Span){0});
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        build_const(&builder, DTYPE_i32, 1)->name =
            names[i] == NULL ? NULL : intern_text(session->names, names[i]);
    char *text = print_text(session, &kernel, 1);
    assert_string_equal(text, "kernel @\"a\\\"\\n\\udcff\" stage TYPED () {\n"
                              "  %x = const {value = 1} : i32\n"
                              "  %x.1 = const {value = 1} : i32\n"
                              "  %x.1.1 = const {value = 1} : i32\n"
                              "  %_12 = const {value = 1} : i32\n"
                              "  %a_b = const {value = 1} : i32\n"
                              "  %1 = const {value = 1} : i32\n"
                              "  %2 = const {value = 1} : i32\n"
                              "  %\xc3\xa9t\xc3\xa9 = const {value = 1} : i32\n"
                              "  %_ = const {value = 1} : i32\n"
                              "}\n");
    expect_same_text(session, text);
    kernel_free(kernel);
    session_free(session);
}

static const char laid_out_text[] = "kernel @laid stage LAID_OUT () {\n"
                                    "  %1 = const {value = 1} : i32\n"
                                    "  launch %1, %1, %1 {warps = 1} {\n"
                                    "    %2 = iota {dim = 0} : tile<i32, [32], LAYOUT>\n"
                                    "    %3 = add %2, %2 : tile<i32, [32], LAYOUT>\n"
                                    "  }\n"
                                    "}\n";

/* The same with a name for the layout, as it is printed. */
static const char short_text[] = "kernel @laid stage LAID_OUT () {\n"
                                 "  #l0 = LAYOUT\n"
                                 "  %1 = const {value = 1} : i32\n"
                                 "  launch %1, %1, %1 {warps = 1} {\n"
                                 "    %2 = iota {dim = 0} : tile<i32, [32], #l0>\n"
                                 "    %3 = add %2, %2 : tile<i32, [32], #l0>\n"
                                 "  }\n"
                                 "}\n";

/* The text with each LAYOUT replaced by what a layout of those 32 elements prints as. */
static char *with_layout(Session *session, const char *text)
{
    LayoutTable *table = layout_table_new(session->arena);
    const Layout *layout = layout_blocked(table, 1, (int32_t[]){32}, (int[]){0}, 1, 1);
    Buf printed = {0}, out = {0};
    layout_print(layout, &printed);
    for (const char *at; (at = strstr(text, "LAYOUT")) != NULL; text = at + 6) {
        buf_bytes(&out, text, (size_t)(at - text));
        buf_text(&out, printed.data);
    }
    buf_text(&out, text);
    char *result = arena_copy_text(session->arena, out.data, out.length);
    buf_free(&printed);
    buf_free(&out);
    return result;
}

static void test_layouts_read_back(void **state)
{
    (void)state;
    Session *session = session_new();
    char *text = with_layout(session, laid_out_text);
    expect_same_text(session, with_layout(session, short_text));
    int count;
    Kernel **kernels = read_text(session, text, &count);
    expect_valid(kernels[0]);
    assert_string_equal(print_text(session, kernels, count), with_layout(session, short_text));
    free_kernels(kernels, count);
    session_free(session);
}

/* Comments about buffers, roles and loops come out of what was read as they were. */
static void test_notes(void **state)
{
    (void)state;
    Session *session = session_new();
    expect_same_text(session,
                     "kernel @k stage TYPED (%h: i32) {\n"
                     "  launch %h, %h, %h {warps = 5} {\n"
                     "    # %s: buffer of 12288 bytes at 1024, 3 stages\n"
                     "    # %m: mbarriers of 48 bytes at 0, 3 stages\n"
                     "    %s = shared_alloc {offset = 1024, bytes = 12288, multi_buffer = 1} : "
                     "shared<f16, [3, 32, 64]>\n"
                     "    %m = shared_alloc {offset = 0, bytes = 48} : "
                     "shared<i64, [2, 3]>\n"
                     "    pipeline_init %m {warps = 4, count = 1}\n"
                     "    %g = in_group {count = 128, begin = 0} : b1\n"
                     "    %i = const {value = 0} : i32\n"
                     "    %n = const {value = 9} : i32\n"
                     "    %u = const {value = 1} : i32\n"
                     "    if %g {\n"
                     "      # consumer: threads 0 to 127\n"
                     "      for %i, %n, %u (%j: i32) {\n"
                     "        # pipeline of 3 stages, whose consumer waits here\n"
                     "        consumer_wait %m, %i, %i {tma = 1}\n"
                     "        yield\n"
                     "      }\n"
                     "      yield\n"
                     "    } {\n"
                     "      # producer\n"
                     "      producer_acquire %m, %i, %i\n"
                     "      producer_commit %m, %i\n"
                     "      yield\n"
                     "    }\n"
                     "  }\n"
                     "}\n");
    session_free(session);
}

/* ---- where ops lie ---- */

/* Walks through many ops read memory in its order, whatever passes note between. */
static void test_ops_side_by_side(void **state)
{
    (void)state;
    enum { OPS = 1000, NOTE = 1000, NEAR = 256, CHUNKS = 16 };
    Session *session = session_new();
    Kernel *kernel = kernel_new(session, intern_text(session->names, "f"), (Span){0});
    const Type *type = type_scalar(kernel->types, DTYPE_i32);
    Value *n = kernel_add_parameter(kernel, intern_text(session->names, "n"), type, (Span){0});
    Builder builder = builder_at_end(kernel->host, (Span){0});
    Value *sum = n;
    for (int i = 0; i < OPS; i++) {
        sum = build2(&builder, OP_add, sum, n);
        arena_alloc(kernel->arena, NOTE);
    }
    int far = 0;
    for (const Op *op = kernel->host->first; op->next; op = op->next) {
        const intptr_t step = (intptr_t)op->next - (intptr_t)op;
        far += step < 0 || step > NEAR;
    }
    assert_true(far < CHUNKS);
    kernel_free(kernel);
    session_free(session);
}

/* ---- copies and changes ---- */

static void test_clone_is_deep(void **state)
{
    (void)state;
    Session *session = session_new();
    Kernel *kernel = make_kernel(session, (Span){0});
    int count;
    Kernel **laid = read_text(session, with_layout(session, laid_out_text), &count);
    char *text = print_text(session, (Kernel *[]){kernel, laid[0]}, 2);
    Kernel *copies[2] = {kernel_clone(kernel), kernel_clone(laid[0])};
    kernel_free(kernel); /* what the copies share with it would be caught now */
    kernel_free(laid[0]);
    assert_string_equal(print_text(session, copies, 2), text);
    expect_valid(copies[0]);
    expect_valid(copies[1]);
    free_kernels(copies, 2);
    session_free(session);
}

static void erase_adds(Op *op, void *context)
{
    (void)context;
    if (op->code != OP_add) return;
    value_replace(&op->results[0], op->operands[0]);
    op_erase(op);
}

static void test_change(void **state)
{
    (void)state;
    Session *session = session_new();
    Kernel *kernel = make_kernel(session, (Span){0});
    kernel_visit(kernel, erase_adds, NULL);
    expect_valid(kernel);
    assert_null(strstr(print_text(session, &kernel, 1), " add "));
    Op *launch = kernel->host->last;
    assert_int_equal(launch->code, OP_launch);
    Value *grid = launch->operands[0];
    assert_int_equal(grid->use_count, 2);
    Builder builder = builder_before(launch);
    Value *a = build_const(&builder, DTYPE_i32, 2), *b = build_const(&builder, DTYPE_i32, 3);
    Map to = {0};
    map_set(kernel->arena, &to, grid, a);
    map_set(kernel->arena, &to, a, b);
    region_replace(kernel->host, &to);
    assert_ptr_equal(launch->operands[0], b);
    op_move_before(b->op, a->op);
    assert_ptr_equal(b->op->next, a->op);
    Op *inner = launch_region(launch)->last->regions[0]->first;
    assert_ptr_equal(op_enclosing(inner, OP_launch), launch);
    assert_null(op_enclosing(inner, OP_while));
    builder = builder_after(inner->parent->parent);
    Map map = {0};
    Op *copy = op_clone(&builder, inner->parent->parent, &map);
    assert_ptr_equal(copy, launch_region(launch)->last);
    expect_valid(kernel);
    kernel_free(kernel);
    session_free(session);
}

static void test_inference(void **state)
{
    (void)state;
    Session *session = session_new();
    Kernel *kernel = make_kernel(session, (Span){0});
    Value *m = kernel->parameters[0].value, *k = kernel->parameters[2].value;
    assert_null(infer_type(kernel->types, OP_add, 2, (Value *[]){m, k}));
    assert_null(infer_type(kernel->types, OP_add, 1, (Value *[]){m}));
    assert_null(infer_type(kernel->types, OP_select, 3, (Value *[]){m, m, m}));
    assert_null(infer_type(kernel->types, OP_cast, 1, (Value *[]){m}));
    expect_type(infer_type(kernel->types, OP_cmp, 2, (Value *[]){m, m}), "b1");
    expect_type(infer_type(kernel->types, OP_vec_pack, 2, (Value *[]){m, m}), "vec<i32, 2>");
    Builder builder = builder_at_end(kernel->host, (Span){0});
    assert_ptr_equal(build_cast(&builder, DTYPE_i32, m), m);
    kernel_free(kernel);
    session_free(session);
}

/* ---- what the verifier refuses ---- */

/* `body` stands in a device region, with what it most needs defined. */
static char *device_text(Session *session, const char *stage, const char *body)
{
    char *text =
        arena_printf(session->arena,
                     "kernel @t stage %s (%%n: i32, %%key: key i32 = 4, %%p: ptr<f32, global>) {\n"
                     "  %%h = const {value = 1} : i32\n"
                     "  launch %%h, %%h, %%h {warps = 4} {\n"
                     "    %%one = const {value = 1} : i32\n"
                     "    %%long = const {value = 1} : i64\n"
                     "    %%f = const {number = 1} : f32\n"
                     "    %%yes = const {value = 1} : b1\n"
                     "    %s\n"
                     "  }\n"
                     "}\n",
                     stage, body);
    return with_layout(session, text);
}

static void expect_refused(Session *session, const char *text, const char *wanted)
{
    int count;
    Kernel **kernels = read_text(session, text, &count);
    bool holds = kernel_verify(kernels[0]);
    Buf buf = {0};
    diag_render(session->diags, DIAG_TEXT, false, &buf);
    if (holds || strstr(buf.data, wanted) == NULL)
        fail_msg("expected '%s' for\n%s\nbut got\n%s", wanted, text,
                 buf.data == NULL ? "nothing" : buf.data);
    buf_free(&buf);
    free_kernels(kernels, count);
}

typedef struct Refusal {
    const char *stage, *body, *wanted;
} Refusal;

static const Refusal refusals[] = {
#define REFUSE(stage, body, wanted) {#stage, body, wanted},
#include "ir_refusals.def"
#undef REFUSE
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        Session *session = session_new();
        expect_refused(session, device_text(session, refusals[i].stage, refusals[i].body),
                       refusals[i].wanted);
        session_free(session);
    }
}

/* The lists of the rows: "(view, offsets)". */
static const char *const row_names[] = {
#define OP(name, results, operands, names, ...) #names,
#include "ir/ops.def"
#undef OP
};
static const char *const row_attrs[] = {
#define OP(name, results, operands, names, attrs, ...) #attrs,
#include "ir/ops.def"
#undef OP
};

static bool is_listed(const char *word, const char *const lists[OP_COUNT])
{
    char wanted[64];
    for (int code = 0; code < OP_COUNT; code++)
        for (int way = 0; way < 4; way++) {
            snprintf(wanted, sizeof wanted, "%c%s%c", way & 1 ? '(' : ' ', word,
                     way & 2 ? ')' : ',');
            if (strstr(lists[code], wanted)) return true;
        }
    return false;
}

/* A word that no row has would be one that no op can be asked for. */
static void test_words_of_rows(void **state)
{
    (void)state;
    static const char *const operands[] = {
#define OPERAND(name) #name,
#include "ir/operands.def"
#undef OPERAND
    };
    static const char *const attrs[] = {
#define ATTR(name, kind, text) #name,
#include "ir/attrs.def"
#undef ATTR
    };
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (!is_listed(operands[i], row_names)) fail_msg("no op has operand %s", operands[i]);
    for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
        if (!is_listed(attrs[i], row_attrs)) fail_msg("no op has {%s}", attrs[i]);
}

/* Each operand has a letter and a name; the last name may stand for several. */
static void test_operands_of_rows(void **state)
{
    (void)state;
    for (int code = 0; code < OP_COUNT; code++) {
        int letters = 0, names = strlen(row_names[code]) > strlen("()");
        for (const char *at = op_info((OpCode)code)->operands; *at; at++) letters += *at != '*';
        for (const char *at = row_names[code]; *at; at++) names += *at == ',';
        const bool many = strchr(op_info((OpCode)code)->operands, '*') != NULL;
        if (names < letters || (!many && names > letters))
            fail_msg("%s: %d letters, %d names", op_info((OpCode)code)->name, letters, names);
    }
}

/* What has one trait has others, and the operands that passes ask such an op for. */
static void test_traits_of_rows(void **state)
{
    (void)state;
    static const struct {
        OpTraits trait, with;
        OperandName name, or_name; /* OPERAND_: none */
    } rows[] = {
        {COMMUTES, PURE | ELEM, OPERAND_b, OPERAND_},
        {QUOTIENT, PURE | ELEM, OPERAND_b, OPERAND_},
        {REMAINDER, PURE | ELEM, OPERAND_b, OPERAND_},
        {REMAT, PURE, OPERAND_, OPERAND_},
        {DERIVES, PURE, OPERAND_a, OPERAND_},
        {DOT, COOP, OPERAND_c, OPERAND_},
        {ALIAS, PURE, OPERAND_tile, OPERAND_pointer},
        {ELEMENT, 0, OPERAND_memory, OPERAND_},
        {SCATTERED, COOP, OPERAND_memory, OPERAND_},
        {ATOMIC, READS | WRITES, OPERAND_value, OPERAND_},
        {COPY, READS | WRITES, OPERAND_view, OPERAND_},
        {COPY, READS | WRITES, OPERAND_tile, OPERAND_},
        {STORES, WRITES, OPERAND_value, OPERAND_},
        {TMA, ASYNC, OPERAND_, OPERAND_},
        {WGMMA, ASYNC, OPERAND_, OPERAND_},
        {PIPELINE_BARRIER, READS | WRITES, OPERAND_barriers, OPERAND_},
        {MBARRIER, READS | WRITES, OPERAND_barriers, OPERAND_},
        {RETYPES, PURE, OPERAND_a, OPERAND_},
        {INDEX, PURE, OPERAND_, OPERAND_},
        {ANY_LANE, PURE | COOP, OPERAND_, OPERAND_},
        {ACCESS, COOP, OPERAND_view, OPERAND_},
        {ACCESS, COOP, OPERAND_offsets, OPERAND_},
        {LOADS, READS, OPERAND_pointer, OPERAND_},
        {PLANNED, 0, OPERAND_, OPERAND_},
        {BLOCKS, READS | WRITES | COOP, OPERAND_, OPERAND_},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int code = 0; code < OP_COUNT; code++) {
            const OpInfo *info = op_info((OpCode)code);
            if (!(info->traits & rows[i].trait)) continue;
            if ((info->traits & rows[i].with) != rows[i].with)
                fail_msg("%s lacks a trait (row %zu)", info->name, i);
            if (rows[i].name != OPERAND_ && !op_row_names((OpCode)code, rows[i].name) &&
                !op_row_names((OpCode)code, rows[i].or_name))
                fail_msg("%s lacks an operand (row %zu)", info->name, i);
        }
}

/* What is left out of a kernel to see who misses it is left out for one reason. */
static void test_roles_of_rows(void **state)
{
    (void)state;
    for (int code = 0; code < OP_COUNT; code++) {
        const OpTraits roles =
            op_info((OpCode)code)->traits & (MEETS | RELEASES | COMPLETES | SHOWS);
        if (roles & (roles - 1)) fail_msg("%s has two roles", op_info((OpCode)code)->name);
    }
}

static void test_host_refusals(void **state)
{
    (void)state;
    static const Refusal rows[] = {
        {"", "%a = splat %n : tile<i32, [4]>", "not allowed in the host region"},
        {"", "sync", "not allowed in the host region"},
        {"", "launch %n, %n, %n {\n}", "{warps} is"},
        {"", "launch %n, %n, %n {warps = 4} (%a: i32) {\n}", "has no arguments"},
        {"", "launch %n, %n, %n {warps = 4, cluster = [2, 17, 1]} {\n}", "1 to 16 blocks"},
        {"", "launch %n, %n, %n {warps = 4, cluster = [4, 8, 1]} {\n}", "16 blocks at most"},
        {"", "launch %n, %n, %n {warps = 4, cluster = [2, 1]} {\n}", "three extents"},
        {"", "launch %n, %n, %f {warps = 4} {\n}", "extents are integers"},
        {"", "workspace_size %n {index = 0}", "a size is an i64"},
        {"", "buffer_extent %n {index = 0}", "a size is an i64"},
        {"", "%b = cast %n : i64\n%q = const {value = 0} : i64\nbuffer_extent %b {index = 7}",
         "the kernel has no pointer"},
        {"", "%b = cast %n : i64\nbuffer_extent %b {index = 1}", "the kernel has no pointer"},
        {"", "%b = cast %n : i64\nworkspace_size %b {index = 0}", "the kernel has no workspace"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Session *session = session_new();
        expect_refused(session,
                       arena_printf(session->arena,
                                    "kernel @t stage TYPED (%%n: i32, %%f: f32) {\n%s\n}\n",
                                    rows[i].body),
                       rows[i].wanted);
        session_free(session);
    }
    static const char *parameters[][2] = {
        {"%n: vec<i32, 2>", "neither a scalar nor a pointer"},
        {"%n: key f32 = 1", "a key is an integer"},
        {"%n: key i8 = 200", "out of the type's range"},
        {"%n: i32 multiple 0", "a multiple of nothing"},
    };
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        Session *session = session_new();
        expect_refused(
            session,
            arena_printf(session->arena, "kernel @t stage TYPED (%s) {\n}\n", parameters[i][0]),
            parameters[i][1]);
        session_free(session);
    }
}

/* Rules that text cannot break. */
static void test_damage(void **state)
{
    (void)state;
    Session *session = session_new();
    Kernel *kernel = make_kernel(session, (Span){0});
    Op *launch = kernel->host->last;
    Value *saved = launch->operands[0];
    ((Value **)launch->operands)[0] = NULL;
    assert_false(kernel_verify(kernel));
    ((Value **)launch->operands)[0] =
        launch_region(launch)->first->results; /* before its definition */
    assert_false(kernel_verify(kernel));
    ((Value **)launch->operands)[0] = saved;
    assert_true(kernel_verify(kernel));
    Op *previous = launch->previous;
    launch->previous = NULL;
    assert_false(kernel_verify(kernel));
    launch->previous = previous;
    op_move_before(launch, kernel->host->first);
    assert_false(kernel_verify(kernel));
    kernel_free(kernel);
    session_free(session);
}

/* ---- broken text ---- */

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 ^ *seed << 33;
}

static void expect_unreadable(const char *text, const char *wanted)
{
    Session *session = session_new();
    int count;
    assert_null(
        kernel_read(session, source_from_text(session, "test.ir", text, strlen(text)), &count));
    Buf buf = {0};
    diag_render(session->diags, DIAG_TEXT, false, &buf);
    if (buf.data == NULL || strstr(buf.data, wanted) == NULL)
        fail_msg("expected '%s' for\n%s\nbut got\n%s", wanted, text,
                 buf.data == NULL ? "nothing" : buf.data);
    buf_free(&buf);
    session_free(session);
}

static void test_unreadable(void **state)
{
    (void)state;
    static const char *rows[][2] = {
        {"", "expected 'kernel'"},
        {"kernel t", "expected '@'"},
        {"kernel @t stage SOON () {\n}", "the name of a stage"},
        {"kernel @t stage TYPED () {\n%a = const {value = 1} : i32\n%a = const {value = 1} : "
         "i32\n}",
         "defined twice"},
        {"kernel @t stage TYPED () {\n%a = neg %b : i32\n}", "%b is not defined"},
        {"kernel @t stage TYPED () {\n%a = frobnicate : i32\n}", "expected an op"},
        {"kernel @t stage TYPED () {\n%a = const {worth = 1} : i32\n}", "expected an attribute"},
        {"kernel @t stage TYPED () {\n%a = const {value = 1, value = 2} : i32\n}", "given twice"},
        {"kernel @t stage TYPED () {\n%a = const {value = 99999999999999999999} : i32\n}",
         "integer of 64 bits"},
        {"kernel @t stage TYPED () {\n%a = const {value = 1} : i33\n}", "expected a type"},
        {"kernel @t stage TYPED () {\n%a = const {value = 1}\n}", "one type for each result"},
        {"kernel @t stage TYPED () {\n%a = neg : i32\n}", "0 operands instead of 1"},
        {"kernel @t stage TYPED (%p: ptr<i8, global>) {\n%a = neg %p : i32\n}",
         "operand 0 is not a scalar"},
        {"kernel @t stage TYPED () {\n%a = splat : tile<i8, [0]>\n}", "not positive"},
        {"kernel @t stage TYPED (%v: var<var<i8>>) {\n}", "what the variable holds"},
        {"kernel @t stage TYPED (%v: tile<i8, [1,1,1,1,1,1,1,1,1]>) {\n}", "too many dimensions"},
        {"kernel @t stage TYPED (%v: view<i8, [1], []>) {\n}", "as many strides as extents"},
        {"kernel @t stage TYPED (%v: tile<i8, [4], {nonsense}>) {\n}", "this is no layout"},
        {"kernel @t stage TYPED () {\n%a = iota : tile<i32, [4], #l0>\n}", "#l0 is not defined"},
        {"kernel @t stage TYPED () {\n#l0 = 4\n}", "this is no layout"},
        {"kernel @t stage TYPED () {\n#l0 {shape [] block []}\n}", "expected '='"},
        {"kernel @t stage TYPED () {\n#l0 = {shape [] block []}\n#l0 = {shape [] block []}\n}",
         "#l0 is defined twice"},
        {"kernel @t stage TYPED () {\n%a = grid_dim {dim = 0} : i32\n#l0 = {shape [] block []}\n}",
         "expected an op"},
        {"kernel @\"\\q\" stage TYPED () {\n}", "unknown escape"},
        {"kernel @t stage TYPED () {\n}\nrest", "expected 'kernel'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_unreadable(rows[i][0], rows[i][1]);
}

static void test_deep_nesting(void **state)
{
    (void)state;
    Buf buf = {0};
    buf_text(&buf, "kernel @t stage TYPED (%b: b1) {\n");
    for (int i = 0; i < 100000; i++) buf_text(&buf, "if %b {\n");
    expect_unreadable(buf.data, "nested too deeply");
    buf_free(&buf);
}

static void read_anything(const char *text, size_t length)
{
    Session *session = session_new();
    int count;
    Kernel **kernels =
        kernel_read(session, source_from_text(session, "test.ir", text, length), &count);
    if (kernels == NULL) assert_true(diag_error_count(session->diags) > 0);
    for (int i = 0; kernels != NULL && i < count; i++) {
        kernel_verify(kernels[i]);
        Kernel *copy = kernel_clone(kernels[i]);
        assert_string_equal(print_text(session, &copy, 1), print_text(session, &kernels[i], 1));
        kernel_free(copy);
    }
    if (kernels != NULL) {
        int again;
        Kernel **second = read_text(session, print_text(session, kernels, count), &again);
        free_kernels(second, again);
        free_kernels(kernels, count);
    }
    session_free(session);
}

static char *sample_text(Session *session)
{
    Source *source = source_from_text(session, "a.tile", "x\n  yy\n", 7);
    Kernel *kernel = make_kernel(session, (Span){source, 4, 6});
    char *text = print_text(session, &kernel, 1);
    kernel_free(kernel);
    return arena_printf(session->arena, "%s%s%s", with_layout(session, laid_out_text), thread_text,
                        text);
}

static void test_truncation(void **state)
{
    (void)state;
    Session *session = session_new();
    char *text = sample_text(session);
    for (size_t length = 0; length <= strlen(text); length++) read_anything(text, length);
    session_free(session);
}

static void mutate(char *text, size_t length, uint64_t *seed)
{
    static const char pieces[] = "%{}()[]<>,:=@#\"\\-?0123456789ax \n";
    for (uint64_t edits = 1 + next_random(seed) % 4; edits > 0; edits--) {
        size_t at = next_random(seed) % length, from = next_random(seed) % length;
        switch (next_random(seed) % 4) {
        case 0: text[at] = pieces[next_random(seed) % (sizeof pieces - 1)]; break;
        case 1: text[at] = (char)next_random(seed); break;
        case 2: text[at] = text[from]; break;
        case 3: { /* a few bytes of elsewhere */
            size_t most = length - (at > from ? at : from), count = next_random(seed) % 12;
            memmove(text + at, text + from, count < most ? count : most);
        }
        }
    }
}

static void test_mutations(void **state)
{
    (void)state;
    Session *session = session_new();
    const char *sample = sample_text(session);
    size_t length = strlen(sample);
    uint64_t seed = 7;
    const char *rounds = getenv("IR_TEST_MUTATIONS");
    for (int i = rounds == NULL ? 2000 : atoi(rounds); i > 0; i--) {
        ArenaMark mark = arena_mark(session->arena);
        char *text = arena_copy_text(session->arena, sample, length);
        mutate(text, length, &seed);
        read_anything(text, length);
        arena_reset(session->arena, mark);
    }
    session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_every_op),
        cmocka_unit_test(test_read_kernel_verifies),
        cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_layouts_read_back),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_ops_side_by_side),
        cmocka_unit_test(test_clone_is_deep),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_words_of_rows),
        cmocka_unit_test(test_operands_of_rows),
        cmocka_unit_test(test_traits_of_rows),
        cmocka_unit_test(test_roles_of_rows),
        cmocka_unit_test(test_host_refusals),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_deep_nesting),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
