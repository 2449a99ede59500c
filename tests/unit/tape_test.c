/* tape_test.c: tapes of libtile: what is noted, in which order its gradients are launched and with
 * which arguments, on the emulator's side with a run function of the test's own, and on the
 * driver's with one that records. */
#include "abi.h"

#include "tile/tape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fake_fixture.h"

/* ---- kernels by hand: n numbers of y from those of x, and their gradients ---------------------
 */

enum { RUNS = 16 };

/* What the launches got. */
static struct {
    const char *entry;
    int32_t n;
    uintptr_t pointers[4];
} runs[RUNS];
static int run_count;

static tile_status note_run(const tile_image *image, const tile_entry *entry, const tile_grid *grid,
                            const void *const *parameters)
{
    (void)image, (void)grid;
    CHECK(run_count < RUNS);
    runs[run_count].entry = entry->name;
    memcpy(&runs[run_count].n, parameters[0], sizeof runs->n);
    const int pointers = strstr(entry->name, "grad") ? 4 : 2;
    for (int i = 0; i < pointers; i++)
        memcpy(&runs[run_count].pointers[i], parameters[1 + i], sizeof(uintptr_t));
    run_count++;
    return TILE_OK;
}
static const tile_emulator noting_emulator = {.run = note_run};

static int32_t one_block(const void *const *arguments, tile_grid *grids, int64_t *extents,
                         uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)arguments, (void)extents, (void)workspaces, (void)complaint, (void)spans;
    grids[0] = (tile_grid){1, 1, 1};
    return TILE_OK;
}

static const tile_parameter parameters[] = {
    {"n", "i32", TILE_PARAMETER_SCALAR, 4},       {"x", "f32", TILE_PARAMETER_POINTER, 8},
    {"y", "f32", TILE_PARAMETER_POINTER, 8},      {"mode", "str", TILE_PARAMETER_KEY_TEXT, 8},
    {"x_grad", "f32", TILE_PARAMETER_POINTER, 8}, {"y_grad", "f32", TILE_PARAMETER_POINTER, 8},
};
static const char *const fast[] = {"fast"};

#define KERNEL(symbol, count, backward)                                                            \
    static const tile_entry symbol##_entry[] = {{#symbol, NULL, 1, 0, 0, 0}};                      \
    static tile_image symbol##_images[] = {                                                        \
        {"sm_90", "cubin", symbol##_entry, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0},             \
        {"emulator", NULL, symbol##_entry, NULL, &noting_emulator, 0, TILE_IMAGE_EMULATOR, 90,     \
         'a', 0}};                                                                                 \
    static const tile_variant symbol##_variant[] = {{NULL, symbol##_images, 2}};                   \
    static int64_t symbol##_keys[1];                                                               \
    static const tile_specialisation symbol##_specialisation[] = {                                 \
        {symbol##_keys, one_block, symbol##_variant, 1, 1}};                                       \
    static void *symbol##_state;                                                                   \
    static const tile_kernel symbol = {.name = #symbol,                                            \
                                       .parameters = parameters,                                   \
                                       .specialisations = symbol##_specialisation,                 \
                                       .state = &symbol##_state,                                   \
                                       .abi_version = TILE_ABI_VERSION,                            \
                                       .parameter_count = count,                                   \
                                       .specialisation_count = 1,                                  \
                                       .gradient = backward}
KERNEL(first_grad, 6, NULL);
KERNEL(first, 4, &first_grad);
KERNEL(second_grad, 6, NULL);
KERNEL(second, 4, &second_grad);
KERNEL(alone, 4, NULL);

/* ---- calls ------------------------------------------------------------------------------------
 */

static int64_t eight[] = {8};
static float *memory[6]; /* x, y, z, and their gradients */
static tile_tape *tape;

static DLTensor tensor_at(void *data)
{
    return (DLTensor){.data = data, .ndim = 1, .dtype = {kDLFloat, 32, 1}, .shape = eight};
}

static void watch(tile_tape *on, int i)
{
    const DLTensor tensor = tensor_at(memory[i]), gradient = tensor_at(memory[3 + i]);
    CHECK(tile_tape_watch(on, &tensor, &gradient) == TILE_OK);
}

static void set_up(const char *device)
{
    int64_t *const keys[] = {first_keys, first_grad_keys, second_keys, second_grad_keys,
                             alone_keys};
    for (int i = 0; i < 5; i++) keys[i][0] = (int64_t)(uintptr_t)fast[0];
    CHECK(tile_set_device(device) == TILE_OK);
    for (int i = 0; i < 6; i++) CHECK(tile_alloc((void **)&memory[i], 32) == TILE_OK);
    CHECK(tile_tape_new(&tape) == TILE_OK);
    for (int i = 0; i < 3; i++) watch(tape, i);
}

static void tear_down(void)
{
    tile_tape_free(tape);
    for (int i = 0; i < 6; i++) CHECK(tile_free(memory[i]) == TILE_OK);
}

/* The text is gone behind the call, as the numbers are. */
static tile_status call(const tile_kernel *kernel, tile_stream stream, int32_t n, float *x,
                        float *y)
{
    char mode[] = "fast";
    const char *text = mode;
    const void *arguments[] = {&n, &x, &y, &text};
    const tile_status status = tile_launch(kernel, stream, NULL, 0, arguments);
    memset(mode, 0, sizeof mode);
    return status;
}

static void check_run(int index, const char *entry, int32_t n, float *const pointers[4])
{
    CHECK(strcmp(runs[index].entry, entry) == 0 && runs[index].n == n);
    for (int i = 0; i < (pointers[2] ? 4 : 2); i++)
        CHECK(runs[index].pointers[i] == (uintptr_t)pointers[i]);
}

static void forward(void)
{
    CHECK(tile_tape_begin(tape) == TILE_OK);
    CHECK(call(&first, NULL, 8, memory[0], memory[1]) == TILE_OK);
    CHECK(call(&second, NULL, 6, memory[1] + 2, memory[2]) == TILE_OK);
    CHECK(tile_tape_end(tape) == TILE_OK);
}

static void check_backward(int from)
{
    check_run(from, "second_grad", 6,
              (float *[]){memory[1] + 2, memory[2], memory[4] + 2, memory[5]});
    check_run(from + 1, "first_grad", 8, (float *[]){memory[0], memory[1], memory[3], memory[4]});
}

/* The last launch first, parts of tensors with parts of gradients; again, and with more. */
TEST(goes_back_through_launches)
{
    set_up("emulator");
    CHECK(call(&alone, NULL, 1, memory[0], memory[1]) == TILE_OK);
    forward();
    CHECK(call(&alone, NULL, 1, memory[0], memory[1]) == TILE_OK);
    for (int i = 0; i < 2; i++) {
        CHECK(tile_tape_backward(tape, NULL) == TILE_OK);
        CHECK(run_count == 4 + 2 * (i + 1));
        check_backward(4 + 2 * i);
    }
    run_count = 0;
    CHECK(tile_tape_begin(tape) == TILE_OK);
    CHECK(call(&first, NULL, 3, memory[2], memory[0]) == TILE_OK);
    CHECK(tile_tape_end(tape) == TILE_OK);
    CHECK(tile_tape_backward(tape, NULL) == TILE_OK && run_count == 4);
    check_run(1, "first_grad", 3, (float *[]){memory[2], memory[0], memory[5], memory[3]});
    check_backward(2);
    CHECK(tile_tape_reset(tape) == TILE_OK && tile_tape_backward(tape, NULL) == TILE_OK);
    CHECK(run_count == 4);
    tear_down();
}

TEST(zeroes_gradients)
{
    set_up("emulator");
    const float ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    float back[8];
    for (int i = 0; i < 6; i++) CHECK(tile_copy_in(memory[i], ones, sizeof ones, NULL) == TILE_OK);
    CHECK(tile_tape_zero(tape, NULL) == TILE_OK);
    for (int i = 0; i < 6; i++) {
        CHECK(tile_copy_out(back, memory[i], sizeof back, NULL) == TILE_OK);
        for (int j = 0; j < 8; j++) CHECK(back[j] == (i < 3));
    }
    tear_down();
}

/* Both note what runs while both are open; going back on one is noted on none. */
TEST(nests)
{
    tile_tape *inner;
    set_up("emulator");
    CHECK(tile_tape_new(&inner) == TILE_OK);
    for (int i = 0; i < 3; i++) watch(inner, i);
    CHECK(tile_tape_begin(tape) == TILE_OK);
    CHECK(call(&first, NULL, 8, memory[0], memory[1]) == TILE_OK);
    CHECK(tile_tape_begin(inner) == TILE_OK);
    CHECK(call(&second, NULL, 6, memory[1] + 2, memory[2]) == TILE_OK);
    CHECK(tile_tape_end(tape) == TILE_ERROR_ARGUMENT && says("began last ends first"));
    CHECK(tile_tape_end(inner) == TILE_OK);
    CHECK(tile_tape_backward(inner, NULL) == TILE_OK && run_count == 3);
    CHECK(tile_tape_end(tape) == TILE_OK);
    run_count = 0;
    CHECK(tile_tape_backward(tape, NULL) == TILE_OK && run_count == 2);
    check_backward(0);
    tile_tape_free(inner);
    tear_down();
}

TEST(refuses)
{
    int64_t four[] = {4}, steps[] = {2};
    set_up("emulator");
    DLTensor tensor = tensor_at(memory[0]), other = tensor_at(memory[3]);
    other.shape = four;
    CHECK(tile_tape_watch(tape, &tensor, &other) == TILE_ERROR_ARGUMENT && says("type and shape"));
    other.shape = eight;
    other.strides = steps;
    CHECK(tile_tape_watch(tape, &tensor, &other) == TILE_ERROR_ARGUMENT && says("packed"));
    CHECK(tile_tape_watch(tape, &tensor, NULL) == TILE_ERROR_ARGUMENT && says("'gradient'"));
    CHECK(tile_tape_backward(NULL, NULL) == TILE_ERROR_ARGUMENT && says("'tape' is NULL"));
    CHECK(tile_tape_end(tape) == TILE_ERROR_ARGUMENT && says("has not begun"));
    CHECK(tile_tape_begin(tape) == TILE_OK);
    CHECK(tile_tape_begin(tape) == TILE_ERROR_ARGUMENT && says("has begun already"));
    CHECK(call(&alone, NULL, 1, memory[0], memory[1]) == TILE_ERROR_ARGUMENT);
    CHECK(says("alone: its gradient was not compiled") && run_count == 0);
    const tile_grid grid = {1, 1, 1};
    const int32_t n = 1;
    const void *arguments[] = {&n, &memory[0], &memory[1], &fast[0]};
    CHECK(tile_launch(&first, NULL, &grid, 0, arguments) == TILE_ERROR_ARGUMENT);
    CHECK(says("another grid") && run_count == 0);
    float *unknown = (float *)16;
    CHECK(call(&first, NULL, 1, unknown, memory[1]) == TILE_OK);
    CHECK(tile_tape_end(tape) == TILE_OK);
    CHECK(tile_tape_backward(tape, NULL) == TILE_ERROR_ARGUMENT);
    CHECK(says("first: argument 'x' has no gradient") && run_count == 1);
    tear_down();
}

/* Forward and back in one captured graph, on a stream of the caller's. */
TEST(is_captured)
{
    fake->device_count = 1;
    fake->compute[0] = 90;
    set_up("cuda");
    fake_stream stream = {.context = fake_push(0), .id = 7, .capturing = 1};
    CHECK(tile_tape_begin(tape) == TILE_OK);
    CHECK(call(&first, &stream, 8, memory[0], memory[1]) == TILE_OK);
    CHECK(tile_tape_end(tape) == TILE_OK);
    CHECK(tile_tape_zero(tape, &stream) == TILE_OK && fake->cleared == 3 * 32);
    const int allocations = fake->allocations;
    CHECK(tile_tape_backward(tape, &stream) == TILE_OK);
    CHECK(fake->launches == 2 && strcmp(fake->last.kernel, "first_grad") == 0);
    CHECK(fake->last.context == stream.context && fake->allocations == allocations);
    tear_down();
}

/* What was not launched is not noted. */
TEST(notes_no_failed_launch)
{
    fake->device_count = 1;
    fake->compute[0] = 90;
    set_up("cuda");
    CHECK(tile_tape_begin(tape) == TILE_OK);
    fake->fail_name = "cuLaunchKernelEx";
    CHECK(call(&first, NULL, 8, memory[0], memory[1]) != TILE_OK);
    fake->fail_name = NULL;
    CHECK(tile_tape_end(tape) == TILE_OK);
    CHECK(tile_tape_backward(tape, NULL) == TILE_OK && fake->launches == 0);
    tear_down();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_back_through_launches),
        cmocka_unit_test(zeroes_gradients),
        cmocka_unit_test(nests),
        cmocka_unit_test(refuses),
        cmocka_unit_test(is_captured),
        cmocka_unit_test(notes_no_failed_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
