/* arena.c: bump allocation in a list of chunks; a mark is a chunk and how much of it was used.
 *
 * Under AddressSanitizer each block is followed by a poisoned gap and freed space is poisoned, so
 * that overruns inside a chunk are found as they would be between two calls of malloc. */
#include "base/base.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size)   ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { GAP = 0 };
#endif

enum { ALIGNMENT = 16, FIRST_CHUNK = 16 * 1024, PAGE = 2 * 1024 * 1024 /* a large one */ };

typedef struct Chunk {
    struct Chunk *previous;
    size_t size, used; /* of data */
    _Alignas(ALIGNMENT) char data[];
} Chunk;

enum { LARGEST_CHUNK = PAGE - sizeof(Chunk) };

struct Arena {
    Chunk *last;
    size_t bytes; /* of all chunks */
};

static _Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "tilec: out of memory (%zu bytes more were needed)\n", bytes);
    exit(3);
}

Arena *arena_new(void)
{
    Arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) out_of_memory(sizeof *arena);
    return arena;
}

static void free_last_chunk(Arena *arena)
{
    Chunk *chunk = arena->last;
    arena->last = chunk->previous;
    arena->bytes -= chunk->size;
    ASAN_UNPOISON_MEMORY_REGION(chunk->data, chunk->size);
    free(chunk);
}

void arena_free(Arena *arena)
{
    if (arena == NULL) return;
    while (arena->last != NULL) free_last_chunk(arena);
    free(arena);
}

/* Passes go through all ops again and again: of a large kernel, through more pages than the
 * processor knows the addresses of, unless they are large. */
static Chunk *chunk_new(size_t bytes)
{
    if (bytes < PAGE) return malloc(bytes);
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    Chunk *chunk = aligned_alloc(PAGE, bytes);
    if (chunk != NULL) madvise(chunk, bytes, MADV_HUGEPAGE); /* where there are any */
    return chunk;
}

/* Chunks double, so that a large run has few and a small one wastes little. */
static void add_chunk(Arena *arena, size_t at_least)
{
    size_t size = arena->last == NULL ? FIRST_CHUNK : arena->last->size * 2;
    if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
    if (size < at_least) size = at_least;
    Chunk *chunk = chunk_new(sizeof *chunk + size);
    if (chunk == NULL) out_of_memory(size);
    chunk->previous = arena->last;
    chunk->size = size;
    arena->bytes += size;
    chunk->used = 0;
    ASAN_POISON_MEMORY_REGION(chunk->data, size);
    arena->last = chunk;
}

size_t arena_bytes(const Arena *arena)
{
    return arena->bytes;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) out_of_memory(bytes);
    size_t needed = (bytes + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (arena->last == NULL || arena->last->size - arena->last->used < needed)
        add_chunk(arena, needed);
    char *block = arena->last->data + arena->last->used;
    arena->last->used += needed;
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    return memset(block, 0, bytes);
}

char *arena_copy_text(Arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);
    if (length > 0) memcpy(copy, text, length);
    return copy;
}

char *arena_printf(Arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    Buf buf = {0};
    buf_vprintf(&buf, format, arguments);
    va_end(arguments);
    char *text = arena_copy_text(arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

ArenaMark arena_mark(const Arena *arena)
{
    return (ArenaMark){arena->last, arena->last == NULL ? 0 : arena->last->used};
}

void arena_reset(Arena *arena, ArenaMark mark)
{
    while (arena->last != mark.chunk) {
        CHECK(arena->last != NULL); /* else the mark is of another arena */
        free_last_chunk(arena);
    }
    if (arena->last == NULL) return;
    CHECK(mark.used <= arena->last->used);
    arena->last->used = mark.used;
    ASAN_POISON_MEMORY_REGION(arena->last->data + mark.used, arena->last->size - mark.used);
}

void *vec_grow(Arena *arena, const void *data, size_t size, size_t count, size_t *capacity)
{
    size_t larger = *capacity == 0 ? 4 : *capacity * 2;
    void *copy = arena_alloc(arena, larger * size);
    if (count > 0) memcpy(copy, data, count * size);
    *capacity = larger;
    return copy;
}
