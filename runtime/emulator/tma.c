/* tma.c: cp.async.bulk.tensor in tile mode, from its definition in the PTX ISA manual, both
 * ways, through the asynchronous proxy. A box that is copied to shared memory lands as a whole when
 * somebody tests the mbarrier that counts its bytes, as late as the program allows: between its
 * start and then its destination is nobody's, and its source is to stay. One that is written to
 * global memory is read when its thread waits for that: until then it must stay as it is; and it is
 * there when its thread waits for that, or the block has ended: until then nobody may look at it.
 */
#include <math.h>
#include <string.h>

#include "emulator/checker.h"
#include "tile/dlpack.h"

enum { CHUNK = 16, RANK = 5, ALIGNMENT = 128 };

typedef struct Box Box;
struct Box {
    Box *next;
    const tile_tensor_map *map;
    uint8_t *shared;
    void *barrier; /* of one that is copied to shared memory */
    Thread *thread;
    Block *home; /* whose shared memory it is */
    int32_t start[RANK];
    uint32_t bytes, site;
    uint32_t group;   /* of one that is written */
    bool adds;        /* to what is there */
    uint32_t begun;   /* of one that is copied to shared memory: the event, of order.c */
    uint8_t *content; /* what was read, in so many bytes: */
    uint32_t capacity;
    uint16_t passed; /* fault_injection.c */
};

/* What is done when a box has landed is the unit's doing. */
static Request request_of(const Box *box, const void *address, uint32_t bytes, uint32_t kind,
                          uint32_t space)
{
    return (Request){.thread = box->thread,
                     .unit = box->begun != 0,
                     .event = box->begun,
                     .block = box->thread->block,
                     .address = (uintptr_t)address,
                     .bytes = bytes,
                     .kind = kind,
                     .space = space,
                     .proxy = PROXY_ASYNC,
                     .site = box->site};
}

/* ---- global memory ---- */

static uint32_t element_bytes(const tile_tensor_map *map)
{
    return (map->dtype >> 16 & 0xff) / 8;
}

/* How many bytes from `column` on, at most a chunk's, lie inside; before `*skip` none do. */
static uint32_t inside_of(const tile_tensor_map *map, int64_t column, uint32_t most, uint32_t *skip)
{
    const int64_t first = column < 0 ? -column : 0, left = map->extents[0] - column;
    const int64_t count = left < most ? left : most;
    *skip = (uint32_t)(first < most ? first : most);
    return count > first ? (uint32_t)(count - first) : 0;
}

/* The memory of the box's row `number`; NULL: it is outside. */
static const uint8_t *row_at(const Box *box, uint32_t number)
{
    const tile_tensor_map *map = box->map;
    const uint8_t *row = map->pointer;
    for (uint32_t i = 1; i < map->rank; i++) {
        const int64_t at = (int64_t)box->start[i] + number % map->box[i];
        if (at < 0 || at >= map->extents[i]) return NULL;
        row += at * map->strides[i];
        number /= map->box[i];
    }
    return row;
}

/* The chunk's bytes in global memory that are inside; 0 if none are. `*place` is where they are in
 * the chunk. */
static uint32_t chunk_at(const Box *box, uint32_t at, uint32_t *place, const uint8_t **from)
{
    const tile_tensor_map *map = box->map;
    const uint32_t each = element_bytes(map), width = map->box[0] * each;
    const int64_t column = box->start[0] + (int64_t)(at % width / each);
    const uint8_t *row = row_at(box, at / width);
    uint32_t skip, count = inside_of(map, column, CHUNK / each, &skip);
    if (!row || !count) return 0;
    *place = skip * each;
    *from = row + (column + skip) * each;
    return count * each;
}

/* All of the box's chunks that are inside, as such accesses. */
static void note_rows(const Box *box, uint32_t kind, bool in_flight)
{
    uint32_t place;
    const uint8_t *row;
    for (uint32_t at = 0; at < box->bytes; at += CHUNK) {
        const uint32_t bytes = chunk_at(box, at, &place, &row);
        Request request = request_of(box, row, bytes, kind, TILE_EMU_GLOBAL);
        request.in_flight = in_flight;
        if (bytes) tile_emu_check(&request);
    }
}

/* ---- the start ---- */

static uint32_t box_bytes(const tile_tensor_map *map)
{
    uint32_t bytes = element_bytes(map);
    for (uint32_t i = 0; i < map->rank; i++) bytes *= map->box[i];
    return bytes;
}

static bool is_aligned(const Box *box)
{
    const Block *block = box->thread->block;
    const uintptr_t offset = (uintptr_t)box->shared - (uintptr_t)box->home->shared;
    if (offset % ALIGNMENT == 0 && offset + box->bytes <= block->launch->entry->shared_bytes)
        return true;
    tile_emu_fault_add(block->launch, FAULT_ALIGNMENT, box->site, NO_SITE,
                       "thread %u of block (%u, %u, %u) copies a box to byte %td of %u bytes of "
                       "shared memory: it must lie inside, at a multiple of %d",
                       box->thread->abi.index, block->index[0], block->index[1], block->index[2],
                       (ptrdiff_t)offset, block->launch->entry->shared_bytes, (int)ALIGNMENT);
    return false;
}

/* Both what was done with the destination before, and what nobody has shown to the other proxy. */
static void note_destination(const Box *box)
{
    const Request barrier = request_of(box, box->barrier, 8, TILE_EMU_READ, TILE_EMU_SHARED);
    tile_emu_mbarrier_check_told(&barrier);
    for (uint32_t at = 0; at < box->bytes; at += CHUNK) {
        const Request request =
            request_of(box, box->shared + at, CHUNK, TILE_EMU_WRITE, TILE_EMU_SHARED);
        tile_emu_check_proxy(&request, "TMA writes");
        tile_emu_check(&request);
    }
    tile_emu_mark_copy(box->home, box->shared, box->bytes, box->site + 1);
}

/* NULL: there is no memory, or it was reported that it cannot be. */
static Box *box_new(Thread *thread, Block *home, const void *map, void *shared, uint32_t rank,
                    uint32_t site)
{
    Box *box = home->free_boxes;
    const Box used = box ? *box : (Box){0};
    if (box)
        home->free_boxes = box->next;
    else
        box = tile_emu_block_memory(home, sizeof *box);
    if (!box) return NULL;
    *box = (Box){.content = used.content,
                 .capacity = used.capacity,
                 .map = map,
                 .shared = shared,
                 .thread = thread,
                 .home = home,
                 .bytes = box_bytes(map),
                 .site = site,
                 .passed = tile_emu_passed(thread)};
    memcpy(box->start, thread->abi.in, rank * sizeof box->start[0]);
    return is_aligned(box) ? box : NULL;
}

static void box_free(Box *box)
{
    Block *home = box->home;
    box->next = home->free_boxes;
    home->free_boxes = box;
}

/* Where a place of one block's shared memory is in another's of its cluster. */
static void *in_block(const Block *from, const Block *to, void *place)
{
    return to->shared + ((uint8_t *)place - from->shared);
}

static void copy_to(Thread *thread, Block *home, const Box *like, uint32_t rank)
{
    Block *own = thread->block;
    void *barrier = in_block(own, home, like->barrier);
    if (!tile_emu_mbarrier_is_made(thread, barrier, like->site)) return;
    Box *box =
        box_new(thread, home, like->map, in_block(own, home, like->shared), rank, like->site);
    if (!box) return;
    box->barrier = barrier;
    if (thread->abi.checked & TILE_EMU_CHECKED) {
        note_rows(box, TILE_EMU_READ, false);
        note_destination(box);
        box->begun = tile_emu_order_begin(own->launch->checker->order, thread, box->site);
    }
    *(home->last_box ? &home->last_box->next : &home->first_box) = box;
    home->last_box = box;
}

TILE_API void tile_emu_tensor_copy(tile_emu_thread *thread, const void *map, void *to,
                                   void *barrier, uint32_t active, uint32_t rank, uint32_t blocks,
                                   uint32_t site)
{
    Thread *owner = thread->owner;
    const Cluster *cluster = owner->block->cluster;
    const Box like = {.map = map, .shared = to, .barrier = barrier, .site = site};
    if (!active) return;
    if (!blocks) blocks = 1u << owner->block->rank;
    for (; blocks; blocks &= blocks - 1) {
        const uint32_t other = (uint32_t)__builtin_ctz(blocks);
        if (other < cluster->count)
            copy_to(owner, &cluster->blocks[other], &like, rank);
        else
            tile_emu_fault_add(owner->block->launch, FAULT_BOUNDS, site, NO_SITE,
                               "thread %u copies a box to block %u of a cluster of %u blocks",
                               thread->index, other, cluster->count);
    }
}

/* ---- the landing ---- */

/* Bits of the address from 7 on flip those from 4 on. */
static uint8_t *swizzled(const Box *box, uint32_t offset)
{
    uint8_t *shared = box->home->shared;
    const uintptr_t plain = (uintptr_t)(box->shared - shared) + offset;
    const uintptr_t flip = plain >> 7 & (box->map->swizzle / CHUNK - 1);
    return shared + (plain ^ flip * CHUNK);
}

static void read_chunk(const Box *box, uint32_t at, uint8_t out[CHUNK])
{
    uint32_t place;
    const uint8_t *row;
    const uint32_t bytes = chunk_at(box, at, &place, &row);
    const void *from = row;
    memset(out, 0, CHUNK);
    if (!bytes) return;
    const Request request = request_of(box, row, bytes, TILE_EMU_READ, TILE_EMU_GLOBAL);
    if (box->thread->abi.checked & TILE_EMU_CHECKED) from = tile_emu_check(&request);
    memcpy(out + place, from, bytes);
}

static void land(const Box *box)
{
    tile_emu_cycle_changed(box->thread->block);
    tile_emu_mark_copy(box->home, box->shared, box->bytes, 0);
    if (box->begun) box->thread->block->now++;
    for (uint32_t at = 0; at < box->bytes; at += CHUNK) {
        uint8_t chunk[CHUNK];
        void *to = swizzled(box, at);
        read_chunk(box, at, chunk);
        const Request request = request_of(box, to, CHUNK, TILE_EMU_WRITE, TILE_EMU_SHARED);
        if (box->thread->abi.checked & TILE_EMU_CHECKED) to = tile_emu_check(&request);
        memcpy(to, chunk, CHUNK);
    }
    tile_emu_mbarrier_land(box->thread, box->begun, box->barrier, box->bytes, box->site);
}

bool tile_emu_land_box(Block *block, const void *barrier)
{
    Box *previous = NULL;
    for (Box **link = &block->first_box; *link; previous = *link, link = &previous->next) {
        Box *box = *link;
        if (box->barrier != barrier) continue;
        *link = box->next;
        if (!box->next) block->last_box = previous;
        land(box);
        box_free(box);
        block->progress = true;
        return true;
    }
    return false;
}

/* ---- the other way ---- */

/* Whether the thread may read it so, and that nobody may write it, as long as `mark` is not 0. */
static void note_source(const Box *box, uint32_t mark)
{
    const Block *block = box->thread->block;
    for (uint32_t at = 0; at < box->bytes; at += CHUNK) {
        const Request request =
            request_of(box, box->shared + at, CHUNK, TILE_EMU_READ, TILE_EMU_SHARED);
        block->watch->reading_site[(box->shared + at - block->shared) / CHUNK] = mark;
        tile_emu_check_proxy(&request, "TMA reads");
        tile_emu_check(&request);
    }
}

/* Which is an illegal instruction (seen on an H200: in each rank, however little is outside). A box
 * that is read may begin before the tensor, and each may end behind it. */
static void check_start(const Box *box)
{
    const Thread *thread = box->thread;
    for (uint32_t i = 0; i < box->map->rank; i++)
        if (box->start[i] < 0)
            tile_emu_fault_add(thread->block->launch, FAULT_BOUNDS, box->site, NO_SITE,
                               "thread %u of block (%u, %u, %u) stores a box at coordinate %d of "
                               "dimension %u: TMA stores none that begins before the "
                               "tensor",
                               thread->abi.index, thread->block->index[0], thread->block->index[1],
                               thread->block->index[2], box->start[i], box->map->rank - 1 - i);
}

static void begin_store(Thread *owner, Box *box)
{
    if (!box) return;
    box->group = owner->store_group;
    if (owner->abi.checked & TILE_EMU_CHECKED) {
        check_start(box);
        note_source(box, box->site + 1);
        if (box->adds) note_rows(box, TILE_EMU_READ, false);
        note_rows(box, TILE_EMU_WRITE, true);
    }
    *(owner->last_store ? &owner->last_store->next : &owner->first_store) = box;
    owner->last_store = box;
    owner->block->stores++;
}

TILE_API void tile_emu_tensor_store(tile_emu_thread *thread, const void *map, void *from,
                                    uint32_t active, uint32_t rank, uint32_t site)
{
    Thread *owner = thread->owner;
    begin_store(owner, active ? box_new(owner, owner->block, map, from, rank, site) : NULL);
}

TILE_API void tile_emu_tensor_add(tile_emu_thread *thread, const void *map, void *from,
                                  uint32_t active, uint32_t rank, uint32_t site)
{
    Thread *owner = thread->owner;
    Box *box = active ? box_new(owner, owner->block, map, from, rank, site) : NULL;
    if (box) box->adds = true;
    begin_store(owner, box);
}

TILE_API void tile_emu_tensor_commit(tile_emu_thread *thread)
{
    ((Thread *)thread->owner)->store_group++;
}

/* A float type of 16 bits: those of its fraction, and its exponent's bias. */
typedef struct Half {
    int digits, bias;
} Half;

static double half_value(Half type, uint16_t bits)
{
    const int exponent = bits >> type.digits & (2 * type.bias + 1);
    const int fraction = bits & ((1 << type.digits) - 1);
    const int one = exponent ? 1 << type.digits : 0, least = exponent ? exponent : 1;
    const double value = exponent > 2 * type.bias
                             ? (fraction ? NAN : INFINITY)
                             : ldexp(one + fraction, least - type.bias - type.digits);
    return bits >> 15 ? -value : value;
}

/* To nearest, ties to even; a NaN is 0x7fff. */
static uint16_t half_bits(Half type, double value)
{
    if (isnan(value)) return 0x7fff;
    const int sign = signbit(value) ? 0x8000 : 0, least = 1 - type.bias;
    const int infinity = (2 * type.bias + 1) << type.digits;
    int exponent = value == 0 || isinf(value) ? least : ilogb(value);
    if (exponent < least) exponent = least;
    const double units = nearbyint(ldexp(fabs(value), type.digits - exponent));
    const double bits = units + ldexp(exponent - least, type.digits);
    return (uint16_t)(sign | (bits < infinity ? (int)bits : infinity));
}

static void add_halves(Half type, uint8_t *to, const uint8_t *more, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 2) {
        uint16_t a, b;
        memcpy(&a, to + i, sizeof a);
        memcpy(&b, more + i, sizeof b);
        a = half_bits(type, half_value(type, a) + half_value(type, b));
        memcpy(to + i, &a, sizeof a);
    }
}

static void add_floats(uint8_t *to, const uint8_t *more, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i += 4) {
        float a, b;
        memcpy(&a, to + i, sizeof a);
        memcpy(&b, more + i, sizeof b);
        a += b;
        memcpy(to + i, &a, sizeof a);
    }
}

static void add_elements(const Box *box, uint8_t *to, const uint8_t *more, uint32_t bytes)
{
    static const Half f16 = {10, 15}, bf16 = {7, 127};
    switch (box->map->dtype) {
    case TILE_DTYPE(kDLFloat, 16, 1): add_halves(f16, to, more, bytes); break;
    case TILE_DTYPE(kDLBfloat, 16, 1): add_halves(bf16, to, more, bytes); break;
    default: add_floats(to, more, bytes);
    }
}

/* `waited`: for that, by its thread; else nobody may look at it, now that its block has ended. */
static void write_box(const Box *box, bool waited)
{
    uint32_t place;
    const uint8_t *row;
    tile_emu_cycle_changed(box->thread->block);
    for (uint32_t at = 0; at < box->bytes; at += CHUNK) {
        const uint32_t bytes = chunk_at(box, at, &place, &row);
        Request request = request_of(box, row, bytes, TILE_EMU_WRITE, TILE_EMU_GLOBAL);
        void *to = (void *)(uintptr_t)row;
        request.done = true;
        request.in_flight = !waited;
        if (bytes && (box->thread->abi.checked & TILE_EMU_CHECKED)) to = tile_emu_check(&request);
        if (bytes && box->adds)
            add_elements(box, to, box->content + at + place, bytes);
        else if (bytes)
            memcpy(to, box->content + at + place, bytes);
    }
}

/* Its bytes are read: they may be written again, and are to be written where they belong, which
 * only a check puts off. */
static void finish_reading(Box *box)
{
    Block *block = box->thread->block;
    const bool checked = (box->thread->abi.checked & TILE_EMU_CHECKED) != 0;
    if (box->capacity < box->bytes) {
        box->content = tile_emu_block_memory(block, box->bytes);
        box->capacity = box->content ? box->bytes : 0;
    }
    if (!box->content) return;
    if (checked) note_source(box, 0);
    for (uint32_t at = 0; at < box->bytes; at += CHUNK)
        memcpy(box->content + at, swizzled(box, at), CHUNK);
    if (!checked) {
        write_box(box, true);
        box_free(box);
        return;
    }
    box->next = NULL;
    *(block->last_read ? &block->last_read->next : &block->first_read) = box;
    block->last_read = box;
}

static void finish_writing(Thread *thread, uint32_t groups)
{
    Box *previous = NULL;
    for (Box **link = &thread->block->first_read; *link;) {
        Box *box = *link;
        if (thread != box->thread || box->group + groups >= thread->store_group) {
            previous = box;
            link = &box->next;
            continue;
        }
        *link = box->next;
        if (!box->next) thread->block->last_read = previous;
        write_box(box, true);
        box_free(box);
    }
}

TILE_API void tile_emu_tensor_wait(tile_emu_thread *thread, uint32_t groups, uint32_t written)
{
    Thread *owner = thread->owner;
    while (owner->first_store && owner->first_store->group + groups < owner->store_group) {
        Box *box = owner->first_store;
        owner->first_store = box->next;
        if (!box->next) owner->last_store = NULL;
        owner->block->stores--;
        tile_emu_note_completion(owner, box->passed, box->site, true);
        finish_reading(box);
    }
    if (written) finish_writing(owner, groups);
}

void tile_emu_write_boxes(Block *block)
{
    for (Box *next, *box = block->first_read; box; box = next) {
        next = box->next;
        write_box(box, false);
    }
    block->first_read = block->last_read = NULL;
}

/* ---- the block's end ---- */

static void report_unfinished(const Block *block, const Box *box, const char *what)
{
    tile_emu_fault_add(block->launch, FAULT_UNFINISHED, box->site, NO_SITE,
                       "block (%u, %u, %u) ends while TMA %s its shared memory: nobody "
                       "has waited for that",
                       block->index[0], block->index[1], block->index[2], what);
}

void tile_emu_check_boxes(Block *block)
{
    if (!block->launch->checker) return;
    if (block->first_box) report_unfinished(block, block->first_box, "copies to");
    for (uint32_t i = 0; block->stores && i < block->thread_count; i++)
        if (block->threads[i].first_store)
            report_unfinished(block, block->threads[i].first_store, "reads");
}
