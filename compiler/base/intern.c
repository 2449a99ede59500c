/* intern.c: one pointer for each different text: an open-addressed table that only grows. */
#include "base/base.h"

#include <string.h>

typedef struct Entry {
    Name name; /* NULL: free */
    size_t length;
    uint64_t hash;
} Entry;

struct Interner {
    Arena *arena;
    Entry *entries;
    size_t count, capacity; /* a power of two */
};

Interner *interner_new(Arena *arena)
{
    Interner *names = arena_new_of(arena, Interner);
    names->arena = arena;
    names->capacity = 256;
    names->entries = arena_new_array(arena, Entry, names->capacity);
    return names;
}

/* FNV-1a, by words where there are any: names are short, keys are of some words, and the result
 * must not vary from run to run. */
static uint64_t text_hash(const char *text, size_t length)
{
    uint64_t hash = 14695981039346656037u, word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = (hash ^ word) * 1099511628211u;
        hash ^= hash >> 32;
    }
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    return hash ^ (hash >> 32);
}

/* The entry that holds the text, or the free one where it belongs. */
static Entry *find_entry(const Interner *names, const char *text, size_t length, uint64_t hash)
{
    size_t mask = names->capacity - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        Entry *entry = &names->entries[i];
        if (entry->name == NULL) return entry;
        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->name, text, length) == 0)
            return entry;
    }
}

static void grow_table(Interner *names)
{
    Entry *old = names->entries;
    size_t old_capacity = names->capacity;
    names->capacity *= 2;
    names->entries = arena_new_array(names->arena, Entry, names->capacity);
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].name != NULL)
            *find_entry(names, old[i].name, old[i].length, old[i].hash) = old[i];
}

Name intern(Interner *names, const char *text, size_t length)
{
    if (length == 0) text = ""; /* memcmp and memcpy must not see NULL */
    uint64_t hash = text_hash(text, length);
    Entry *entry = find_entry(names, text, length, hash);
    if (entry->name != NULL) return entry->name;
    if (names->count * 2 >= names->capacity) {
        grow_table(names);
        entry = find_entry(names, text, length, hash);
    }
    *entry = (Entry){arena_copy_text(names->arena, text, length), length, hash};
    names->count++;
    return entry->name;
}

Name intern_text(Interner *names, const char *text)
{
    return intern(names, text, strlen(text));
}

Name intern_printf(Interner *names, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    Buf buf = {0};
    buf_vprintf(&buf, format, arguments);
    va_end(arguments);
    Name name = intern(names, buf.data, buf.length);
    buf_free(&buf);
    return name;
}
