/* wgmma.c: wgmma.mma_async m64nN from its definition in the PTX ISA manual ("Asynchronous
 * Warpgroup Level Matrix Instructions"), for each warp its 16 rows: operands are found by their
 * matrix descriptors, products are those of mma.sync. Operands may be read until the warpgroup has
 * waited: each lane keeps what it reads for the others, and reads it again then. */
#include <string.h>

#include "emulator/checker.h"

enum {
    ROWS = 16,
    DEPTH = 32, /* bytes of k */
    COLUMNS = 8,
    CHUNK = 16,
    MOST_COLUMNS = 256
};

/* ---- products in flight ---- */

typedef struct Reading Reading;
struct Reading {
    Reading *next;
    uint32_t offset, group, site;
    uint16_t passed; /* fault_injection.c */
};

static void check_read(Thread *thread, uint32_t offset, uint32_t site)
{
    Block *block = thread->block;
    const Request request = {.thread = thread,
                             .block = block,
                             .address = (uintptr_t)block->shared + offset,
                             .bytes = CHUNK,
                             .kind = TILE_EMU_READ,
                             .space = TILE_EMU_SHARED,
                             .proxy = PROXY_ASYNC,
                             .together = true,
                             .site = site};
    tile_emu_check(&request);
    tile_emu_check_proxy(&request, "the tensor core reads");
}

static bool is_in_shared(const Block *block, uint32_t offset)
{
    return offset % CHUNK == 0 && offset + CHUNK <= block->launch->entry->shared_bytes;
}

static void begin_reading(Thread *thread, uint32_t offset)
{
    Block *block = thread->block;
    Reading *reading = block->free_readings;
    check_read(thread, offset, thread->abi.site);
    if (!is_in_shared(block, offset)) return;
    if (reading)
        block->free_readings = reading->next;
    else
        reading = tile_emu_block_memory(block, sizeof *reading);
    if (!reading) return;
    *reading = (Reading){.offset = offset,
                         .group = thread->reading_group,
                         .site = thread->abi.site,
                         .passed = tile_emu_passed(thread)};
    *(thread->last_reading ? &thread->last_reading->next : &thread->first_reading) = reading;
    thread->last_reading = reading;
    block->watch->reading_site[offset / CHUNK] = reading->site + 1;
}

TILE_API void tile_emu_wgmma_commit(tile_emu_thread *thread)
{
    ((Thread *)thread->owner)->reading_group++;
}

TILE_API void tile_emu_wgmma_wait(tile_emu_thread *thread, int32_t groups)
{
    Thread *owner = thread->owner;
    Block *block = owner->block;
    if (owner->reading_group - owner->readings_done > (uint32_t)groups)
        owner->readings_done = owner->reading_group - (uint32_t)groups;
    while (owner->first_reading) {
        Reading *reading = owner->first_reading;
        if (reading->group + (uint32_t)groups >= owner->reading_group) return;
        owner->first_reading = reading->next;
        if (!reading->next) owner->last_reading = NULL;
        block->watch->reading_site[reading->offset / CHUNK] = 0;
        tile_emu_note_completion(owner, reading->passed, reading->site, true);
        check_read(owner, reading->offset, reading->site);
        reading->next = block->free_readings;
        block->free_readings = reading;
    }
}

TILE_API uint32_t tile_emu_wgmma_in_flight(tile_emu_thread *thread, uint32_t groups)
{
    const Thread *owner = thread->owner;
    return owner->reading_group - owner->readings_done > groups;
}

/* ---- operands in shared memory ---- */

typedef struct Descriptor {
    uint32_t start, leading, stride, width; /* bytes; width of the swizzled rows */
} Descriptor;

static uint64_t long_at(const Thread *thread, int word)
{
    uint64_t value;
    memcpy(&value, thread->abi.in + word, sizeof value);
    return value;
}

/* Without a swizzle (mode 0) rows are 16 bytes. */
static Descriptor decode(uint64_t bits)
{
    static const uint32_t WIDTHS[] = {CHUNK, 128, 64, 32};
    return (Descriptor){.start = (uint32_t)(bits & 0x3fff) << 4,
                        .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                        .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                        .width = WIDTHS[bits >> 62]};
}

/* Where the 16 bytes begin that are `bytes` from the start of row `across`: rows of `width` bytes,
 * 8 of them `stride` apart from the next 8, panels of rows `leading` apart. */
static uint32_t chunk_offset(const Descriptor *matrix, uint32_t bytes, uint32_t across)
{
    const uint32_t plain = matrix->start + bytes / matrix->width * matrix->leading +
                           across / 8 * matrix->stride + across % 8 * matrix->width +
                           bytes % matrix->width;
    return plain ^ ((plain >> 7 & (matrix->width / CHUNK - 1)) * CHUNK);
}

static void read_chunk(Block *block, Thread *thread, uint32_t offset, void *out)
{
    memset(out, 0, CHUNK);
    if (block->launch->checker) begin_reading(thread, offset);
    if (is_in_shared(block, offset)) memcpy(out, block->shared + offset, CHUNK);
}

/* A matrix's rows of a, or columns of b: so many bytes of k each. */
typedef uint8_t Line[DEPTH];

/* out[row], for `rows` rows from `first` on. */
static void read_lines(Block *block, Thread *lanes, uint64_t bits, uint32_t first, uint32_t rows,
                       Line *out)
{
    const Descriptor matrix = decode(bits);
    uint32_t chunk = 0;
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t k = 0; k < DEPTH; k += CHUNK)
            read_chunk(block, &lanes[chunk++ % LANES], chunk_offset(&matrix, k, first + row),
                       out[row] + k);
}

/* The same where k is not contiguous, which elements of 2 bytes alone can have. */
static void read_across(Block *block, Thread *lanes, uint64_t bits, uint32_t first, uint32_t rows,
                        Line *out)
{
    const Descriptor matrix = decode(bits);
    uint32_t chunk = 0;
    uint16_t elements[CHUNK / 2];
    for (uint32_t k = 0; k < DEPTH; k += 2)
        for (uint32_t row = 0; row < rows; row += CHUNK / 2) {
            read_chunk(block, &lanes[chunk++ % LANES],
                       chunk_offset(&matrix, 2 * (first + row), k / 2), elements);
            for (uint32_t i = 0; i < CHUNK / 2; i++) memcpy(out[row + i] + k, &elements[i], 2);
        }
}

/* ---- the product ---- */

/* A word of a line, as mma.sync's fragments have them for elements of any size. */
static uint32_t word_at(const Line line, uint32_t word)
{
    uint32_t value;
    memcpy(&value, line + 4 * word, sizeof value);
    return value;
}

static void deal_a(uint32_t out[4], uint32_t lane, Line *a)
{
    for (uint32_t i = 0; i < 4; i++)
        out[i] = word_at(a[lane / 4 + i % 2 * 8], lane % 4 + i / 2 * 4);
}

typedef struct Operands {
    uint32_t *sums[LANES];
    uint32_t a[LANES][4];
    Line b[MOST_COLUMNS];
    uint32_t columns, mode;
} Operands;

static void read_operands(Block *block, Thread *lanes, Operands *operands)
{
    const uint32_t flags = lanes->abi.in[7];
    Line a[ROWS];
    operands->columns = lanes->abi.in[6] < MOST_COLUMNS ? lanes->abi.in[6] : MOST_COLUMNS;
    operands->mode = lanes->abi.mode;
    if (!(flags & TILE_EMU_WGMMA_REGISTERS))
        (flags & TILE_EMU_WGMMA_A_TRANSPOSED ? read_across : read_lines)(
            block, lanes, long_at(lanes, 2), lanes->warp % 4 * ROWS, ROWS, a);
    (flags & TILE_EMU_WGMMA_B_TRANSPOSED ? read_across : read_lines)(
        block, lanes, long_at(lanes, 4), 0, operands->columns, operands->b);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        operands->sums[lane] = (uint32_t *)(uintptr_t)long_at(&lanes[lane], 0);
        if (flags & TILE_EMU_WGMMA_REGISTERS)
            memcpy(operands->a[lane], (void *)(uintptr_t)long_at(&lanes[lane], 2),
                   sizeof operands->a[lane]);
        else
            deal_a(operands->a[lane], lane, a);
    }
}

/* Words of sums that a lane has of 8 columns: 4 elements. */
static uint32_t sum_words(uint32_t mode)
{
    return mode == TILE_EMU_MMA_M16N8K16_F16_F16 ? 2 : 4;
}

/* 8 columns: one product of mma.sync. */
static void multiply_columns(Block *block, Thread *lanes, const Operands *operands, uint32_t column)
{
    const uint32_t words = sum_words(operands->mode), first = column / COLUMNS * words;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t *in = lanes[lane].abi.in;
        memcpy(in, operands->a[lane], 16);
        for (uint32_t i = 0; i < 2; i++)
            in[4 + i] = word_at(operands->b[column + lane / 4], lane % 4 + 4 * i);
        memcpy(in + 6, operands->sums[lane] + first, 4 * words);
    }
    block->launch->matrix(lanes, operands->mode);
    for (uint32_t lane = 0; lane < LANES; lane++)
        memcpy(operands->sums[lane] + first, lanes[lane].abi.out, 4 * words);
}

void tile_emu_execute_wgmma(Block *block, Thread *lanes)
{
    Operands operands;
    read_operands(block, lanes, &operands);
    for (uint32_t column = 0; column < operands.columns; column += COLUMNS)
        multiply_columns(block, lanes, &operands, column);
}
