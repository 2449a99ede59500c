/* tensor_test.c: tile_check_tensor: one right tensor, then each field wrong in turn, with the
 * message. */
#include "tile/dlpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* The layout that other libraries were built with (DLPack 1): sizes and offsets on 64 bits. */
_Static_assert(sizeof(DLDevice) == 8 && sizeof(DLDataType) == 4, "DLPack");
_Static_assert(sizeof(DLTensor) == 48, "DLPack");
_Static_assert(offsetof(DLTensor, device) == 8 && offsetof(DLTensor, ndim) == 16 &&
                   offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24 &&
                   offsetof(DLTensor, strides) == 32 && offsetof(DLTensor, byte_offset) == 40,
               "DLPack");
_Static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "DLPack");

typedef struct Fixture {
    tile_symbol symbols[3];
    tile_tensors call;
    int64_t shape[3], strides[3];
    DLTensor tensor;
    _Alignas(64) float memory[64];
} Fixture;

static const int64_t a_shape[] = {TILE_SYMBOL(0), TILE_SYMBOL(1)};
static const tile_tensor_spec a_spec = {
    .name = "a", .dtype = {kDLFloat, 32, 1}, .ndim = 2, .shape = a_shape, .alignment = 16};
static const int64_t b_shape[] = {TILE_SYMBOL(1), 8};
static const tile_tensor_spec b_spec = {
    .name = "b", .dtype = {kDLFloat, 32, 1}, .ndim = 2, .shape = b_shape};

static void set_up(Fixture *f, int64_t rows, int64_t columns)
{
    memset(f, 0, sizeof *f);
    f->symbols[0].name = "M";
    f->symbols[1].name = "K";
    f->symbols[2].name = "pitch";
    f->call = (tile_tensors){
        .kernel = "gemm", .symbols = f->symbols, .symbol_count = 3, .device = {kDLCUDA, 0}};
    f->shape[0] = rows;
    f->shape[1] = columns;
    f->strides[0] = columns;
    f->strides[1] = 1;
    f->tensor = (DLTensor){.data = f->memory,
                           .device = {kDLCUDA, 0},
                           .ndim = 2,
                           .dtype = {kDLFloat, 32, 1},
                           .shape = f->shape,
                           .strides = f->strides};
}

static void expect(Fixture *f, const tile_tensor_spec *spec, const char *message)
{
    void *data = NULL;
    assert_int_equal(tile_check_tensor(&f->call, spec, &f->tensor, &data), TILE_ERROR_ARGUMENT);
    assert_string_equal(tile_last_error(), message);
}

static void *expect_right(Fixture *f, const tile_tensor_spec *spec)
{
    void *data = NULL;
    tile_status status = tile_check_tensor(&f->call, spec, &f->tensor, &data);
    if (status) fail_msg("refused: %s", tile_last_error());
    return data;
}

static void right_tensors(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 2, 8);
    assert_ptr_equal(expect_right(&f, &a_spec), f.memory);
    assert_int_equal(f.symbols[0].value, 2);
    assert_int_equal(f.symbols[1].value, 8);
    f.tensor.strides = NULL; /* packed */
    f.shape[0] = 8;
    assert_ptr_equal(expect_right(&f, &b_spec), f.memory);
    f.shape[0] = 2;
    f.tensor.byte_offset = 32;
    assert_ptr_equal(expect_right(&f, &a_spec), f.memory + 8);
}

static void wrong_kind(void **unused)
{
    (void)unused;
    Fixture f;
    void *data;
    set_up(&f, 2, 8);
    assert_int_equal(tile_check_tensor(&f.call, &a_spec, NULL, &data), TILE_ERROR_ARGUMENT);
    assert_string_equal(tile_last_error(), "gemm: argument 'a': expected a tensor, got NULL");
    f.tensor.ndim = 3;
    expect(&f, &a_spec, "gemm: argument 'a': expected 2 dimensions, got 3");
    set_up(&f, 2, 8);
    f.tensor.shape = NULL;
    expect(&f, &a_spec, "gemm: argument 'a': its shape is NULL, expected 2 extents");
    static const struct {
        DLDataType type;
        const char *name;
    } types[] = {{{kDLInt, 32, 1}, "int32"},
                 {{kDLFloat, 16, 1}, "float16"},
                 {{kDLFloat, 32, 4}, "float32x4"},
                 {{kDLBfloat, 16, 1}, "bfloat16"},
                 {{kDLBool, 8, 1}, "bool"},
                 {{kDLFloat8_e4m3fn, 8, 1}, "float8_e4m3fn"},
                 {{99, 8, 1}, "an unknown type of 8 bits"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char message[256];
        set_up(&f, 2, 8);
        f.tensor.dtype = types[i].type;
        strcpy(message, "gemm: argument 'a': expected elements of float32, got ");
        strcat(message, types[i].name);
        expect(&f, &a_spec, message);
    }
}

static void wrong_extents(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 2, 8);
    expect_right(&f, &a_spec);
    f.shape[0] = 4; /* b's K is not a's */
    expect(&f, &b_spec,
           "gemm: argument 'b': expected extent K = 8, as in dimension 1 of 'a', in dimension 0, "
           "got 4");
    set_up(&f, 8, 7);
    expect(&f, &b_spec, "gemm: argument 'b': expected extent 8 in dimension 1, got 7");
    set_up(&f, -1, 8);
    expect(&f, &a_spec, "gemm: argument 'a': the extent of dimension 0 is negative: -1");
    set_up(&f, 3, 3);
    static const int64_t any[] = {TILE_ANY, TILE_ANY};
    tile_tensor_spec spec = a_spec;
    spec.shape = any;
    expect_right(&f, &spec);
    set_up(&f, INT64_MAX, 8);
    expect(&f, &a_spec, "gemm: argument 'a': it has more elements than 64 bits can count");
}

static void strides_are_checked(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 2, 8);
    f.strides[0] = 16;
    expect(&f, &a_spec, "gemm: argument 'a': expected stride 8 in dimension 0, got 16");
    f.strides[0] = 1;
    f.strides[1] = 2; /* column-major */
    expect(&f, &a_spec, "gemm: argument 'a': expected stride 1 in dimension 1, got 2");
    set_up(&f, 1, 8);
    f.strides[0] = 12345; /* of one row the pitch does not matter */
    expect_right(&f, &a_spec);
    static const int64_t pitched[] = {TILE_SYMBOL(2), 1};
    tile_tensor_spec spec = a_spec;
    spec.strides = pitched;
    set_up(&f, 2, 8);
    f.strides[0] = 16;
    expect_right(&f, &spec);
    assert_int_equal(f.symbols[2].value, 16);
    f.strides[0] = 32;
    expect(&f, &spec,
           "gemm: argument 'a': expected stride pitch = 16, as in dimension 0 of 'a', in dimension "
           "0, got 32");
    f.tensor.strides = NULL; /* packed is not that pitch either */
    expect(&f, &spec,
           "gemm: argument 'a': expected stride pitch = 16, as in dimension 0 of 'a', in dimension "
           "0, got 8");
}

static void wrong_place(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 2, 8);
    f.tensor.data = NULL;
    expect(&f, &a_spec, "gemm: argument 'a': its data is NULL");
    set_up(&f, 2, 8);
    f.tensor.device = (DLDevice){kDLCPU, 0};
    expect(&f, &a_spec, "gemm: argument 'a': expected memory of cuda:0, got cpu:0");
    f.tensor.device = (DLDevice){kDLCUDA, 1};
    expect(&f, &a_spec, "gemm: argument 'a': expected memory of cuda:0, got cuda:1");
    f.tensor.device = (DLDevice){kDLMetal, 2};
    expect(&f, &a_spec, "gemm: argument 'a': expected memory of cuda:0, got device type 8:2");
    f.tensor.device = (DLDevice){kDLCUDAManaged, 0};
    expect_right(&f, &a_spec);
    f.tensor.device = (DLDevice){kDLCUDAHost, 0};
    expect_right(&f, &a_spec);
    set_up(&f, 2, 8);
    f.tensor.data = (void *)(uintptr_t)0x1000;
    f.tensor.byte_offset = 8;
    expect(&f, &a_spec,
           "gemm: argument 'a': expected an address aligned to 16 bytes, got 0x1008 (data 0x1000, "
           "byte_offset 8)");
    f.tensor.byte_offset = 2; /* where the kernel asks for none, an element's */
    f.shape[0] = 8;
    expect(&f, &b_spec,
           "gemm: argument 'b': expected an address aligned to 4 bytes, got 0x1002 (data 0x1000, "
           "byte_offset 2)");
}

static void empty_tensors(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 0, 8);
    f.tensor.data = NULL;
    f.strides[0] = 3; /* nothing is read through either */
    expect_right(&f, &a_spec);
    set_up(&f, 0, 0);
    f.tensor.ndim = 0;
    f.tensor.shape = NULL;
    tile_tensor_spec scalar = a_spec;
    scalar.ndim = 0;
    assert_ptr_equal(expect_right(&f, &scalar), f.memory);
}

static void device_of_the_call(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, 2, 8);
    assert_int_equal(tile_set_device("emulator"), TILE_OK);
    assert_int_equal(tile_tensors_begin(&f.call, NULL), TILE_OK);
    expect(&f, &a_spec,
           "gemm: argument 'a': expected memory of cpu:0, where the emulator runs, got cuda:0");
    f.tensor.device = (DLDevice){kDLCPU, 0};
    expect_right(&f, &a_spec);
    setenv("TILE_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
    setenv("TILE_DEVICE", "cuda", 1);
    assert_int_equal(tile_set_device(NULL), TILE_OK);
    assert_int_equal(tile_tensors_begin(&f.call, NULL), TILE_ERROR_NO_DRIVER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_tensors),      cmocka_unit_test(wrong_kind),
        cmocka_unit_test(wrong_extents),      cmocka_unit_test(strides_are_checked),
        cmocka_unit_test(wrong_place),        cmocka_unit_test(empty_tensors),
        cmocka_unit_test(device_of_the_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
