# A call with a tensor that is wrong in one field, for each field: the message names the argument, what was expected and what came.
set -e
$TILEC $TILE_ROOT/tests/golden/emit/tensors.ir --arch=sm_90a,emulator --ptxas=none -o $TMP/axpy.o -H $TMP/axpy.h
cat > $TMP/use.c <<'C'
#include "axpy.h"

#include <stdio.h>
#include <string.h>

enum { M = 24, N = 64, PITCH = 80 };

typedef struct Call { /* one that is right, until a field of it is changed */
    int64_t a_shape[2], a_strides[2], b_shape[2], b_strides[2], c_shape[2];
    DLTensor a, b, c;
} Call;

static float *memory[3];

static DLTensor tensor(void *data, int64_t *shape, int64_t *strides)
{
    return (DLTensor){.data = data, .device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1},
                      .shape = shape, .strides = strides};
}

static Call *fresh(void)
{
    static Call call;
    call = (Call){.a_shape = {M, N}, .a_strides = {PITCH, 1}, .b_shape = {M, N}, .b_strides = {N, 1}, .c_shape = {M, N}};
    call.a = tensor(memory[0], call.a_shape, call.a_strides);
    call.b = tensor(memory[1], call.b_shape, NULL);
    call.c = tensor(memory[2], call.c_shape, NULL);
    return &call;
}

static void show(const char *what, tile_status status)
{
    printf("%s: %s%s%s\n", what, tile_status_name(status), status ? ": " : "", status ? tile_last_error() : "");
}

#define WRONG(change)                                                                                                  \
    do {                                                                                                               \
        Call *call = fresh();                                                                                          \
        DLTensor *a = &call->a, *b = &call->b, *c = &call->c;                                                          \
        change;                                                                                                        \
        show(#change, axpy(NULL, a, b, 2.0f, c));                                                                      \
    } while (0)

static void fields(void)
{
    WRONG(a = NULL);
    WRONG(c = NULL);
    WRONG(a->ndim = 1);
    WRONG(c->ndim = 3);
    WRONG(b->shape = NULL);
    WRONG(a->shape[1] = 63);
    WRONG(b->shape[0] = 23);
    WRONG(a->shape[0] = -1);
    WRONG(a->shape[0] = 3000000000);
    WRONG(c->shape[0] = 25);
    WRONG(c->shape[1] = 32);
    WRONG(a->strides[1] = 2);
    WRONG(a->strides[0] = (int64_t)1 << 40);
    WRONG((b->strides = call->b_strides, b->strides[0] = 65));
    WRONG((c->strides = call->b_strides, c->strides[0] = 65));
    WRONG(a->dtype.code = kDLInt);
    WRONG(a->dtype.bits = 16);
    WRONG(a->dtype.lanes = 4);
    WRONG(c->dtype.code = kDLBfloat);
    WRONG(a->device.device_type = kDLCUDA);
    WRONG((b->device.device_type = kDLCUDA, b->device.device_id = 3));
    WRONG(a->data = NULL);
    WRONG(b->byte_offset = 2);
    WRONG(b->data = (char *)b->data + 1);
    WRONG(c->data = NULL);
    WRONG((a->shape[0] = b->shape[0] = c->shape[0] = 0));
}

/* Right calls: by hand, by shapes, by an allocator. */
static void fill(void)
{
    static float host[M * PITCH];
    for (int i = 0; i < M * PITCH; i++) host[i] = (float)i;
    tile_copy_in(memory[0], host, sizeof host, NULL);
    tile_copy_in(memory[1], host, M * N * sizeof(float), NULL);
}

static int is_right(const DLTensor *c)
{
    static float host[M * N];
    tile_copy_out(host, (const char *)c->data + c->byte_offset, sizeof host, NULL);
    for (int i = 0; i < M * N; i++)
        if (host[i] != (float)(i / N * PITCH + i % N) + 2 * (float)i) return 0;
    return 1;
}

static tile_status allocate(void *context, tile_stream stream, DLTensor *tensor, uint64_t bytes)
{
    (void)stream;
    *(uint64_t *)context += bytes;
    return bytes > 1000000 ? TILE_ERROR_MEMORY : tile_alloc(&tensor->data, bytes);
}

static void results(void)
{
    uint64_t asked = 0;
    int64_t shape[2];
    const tile_allocator allocator = {&asked, allocate};
    DLTensor c = {.shape = shape};
    tile_plan plan;
    Call *call = fresh();
    show("right", axpy(NULL, &call->a, &call->b, 2.0f, &call->c));
    printf("values: %d\n", is_right(&call->c));
    show("shapes", axpy_shapes(&call->a, &call->b, 2.0f, &c));
    printf("%d: [%d, %d], %d bits, %d bytes\n", (int)c.ndim, (int)shape[0], (int)shape[1], c.dtype.bits, (int)tile_tensor_bytes(&c));
    show("plan", axpy_plan(&call->a, &call->b, 2.0f, NULL, &plan));
    printf("%u blocks of %u warps\n", plan.grid.x, plan.warps);
    tile_set_allocator(&allocator);
    c = (DLTensor){.shape = shape};
    show("allocated", axpy(NULL, &call->a, &call->b, 2.0f, &c));
    printf("values: %d, %d bytes\n", is_right(&c), (int)asked);
    c = (DLTensor){.data = NULL};
    show("no room for a shape", axpy(NULL, &call->a, &call->b, 2.0f, &c));
    call->a_shape[0] = call->b_shape[0] = 1 << 20;
    c = (DLTensor){.shape = shape};
    show("no memory", axpy(NULL, &call->a, &call->b, 2.0f, &c));
    show("no room for shapes", axpy_shapes(&call->a, &call->b, 2.0f, NULL));
    tile_set_allocator(NULL);
}

int main(void)
{
    tile_alloc((void **)&memory[0], M * PITCH * sizeof(float));
    for (int i = 1; i < 3; i++) tile_alloc((void **)&memory[i], M * N * sizeof(float));
    fill();
    fields();
    results();
    return 0;
}
C
$TILE_CC -std=c99 -Wall -Wextra -Werror -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/use $TMP/use.c $TMP/axpy.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
$TMP/use | sed 's/0x[0-9a-f]\{4,\}/ADDRESS/g'
