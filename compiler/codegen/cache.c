/* cache.c: the folder of earlier results.
 *
 * An entry is a head and the bytes: head = magic, key, length, hash of the bytes. Its name is the
 * key in hexadecimal digits; other names are not the cache's, and left alone. */
#include "codegen/cache.h"

#include "base/vec.h"

#include <llvm-c/blake3.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    NAME_LENGTH = 2 * sizeof(CacheKey),
    MAGIC_LENGTH = 16,
    TOUCH_SECONDS = 3600, /* how old an entry's time of use may be */
    STALE_SECONDS = 3600  /* an unfinished file that old has lost its writer */
};
static const char magic[MAGIC_LENGTH] = "tilec cache 1\n";

typedef struct Head {
    char magic[MAGIC_LENGTH];
    CacheKey key;
    uint64_t length;
    CacheKey hash;
} Head;

struct Cache {
    const char *folder;
    uint64_t limit;
};

CacheKey cache_key(const void *bytes, size_t length)
{
    CacheKey key;
    llvm_blake3_hasher hasher;
    llvm_blake3_hasher_init(&hasher);
    llvm_blake3_hasher_update(&hasher, bytes, length);
    llvm_blake3_hasher_finalize(&hasher, key.bytes, sizeof key.bytes);
    return key;
}

void cache_add_file(Buf *out, const char *path)
{
    struct stat info;
    buf_bytes(out, path, strlen(path) + 1);
    if (stat(path, &info) != 0) return;
    buf_printf(out, "%llu %llu %llu %llu.%llu", (unsigned long long)info.st_dev,
               (unsigned long long)info.st_ino, (unsigned long long)info.st_size,
               (unsigned long long)info.st_mtim.tv_sec, (unsigned long long)info.st_mtim.tv_nsec);
    buf_char(out, '\0');
}

/* ---- the folder ---- */

char *cache_folder(Arena *arena)
{
    const char *given = getenv("TILEC_CACHE"), *home = getenv("HOME");
    if (given != NULL && strcmp(given, "off") == 0) return NULL;
    if (given != NULL && *given != '\0') return arena_copy_text(arena, given, strlen(given));
    const char *root = getenv("XDG_CACHE_HOME");
    if (root != NULL && root[0] == '/') return os_join_path(arena, root, "tilec");
    if (home == NULL || home[0] != '/') return NULL;
    return os_join_path(arena, home, ".cache/tilec");
}

static bool make_folders(Arena *arena, const char *folder)
{
    char *path = arena_copy_text(arena, folder, strlen(folder));
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700); /* what fails for a reason makes the last one fail */
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* NULL, or why nothing in it can be trusted: entries are used unseen, so nobody else may write
 * them. */
static const char *folder_fault(const char *folder)
{
    struct stat info;
    if (stat(folder, &info) != 0) return strerror(errno);
    if (!S_ISDIR(info.st_mode)) return strerror(ENOTDIR);
    if (info.st_uid != geteuid()) return "it belongs to another user";
    if (info.st_mode & (S_IWGRP | S_IWOTH)) return "other users may write to it";
    return NULL;
}

Cache *cache_open(Arena *arena, const char *folder, uint64_t limit, const char **fault)
{
    *fault = make_folders(arena, folder) ? folder_fault(folder) : strerror(errno);
    if (*fault != NULL) return NULL;
    Cache *cache = arena_new_of(arena, Cache);
    *cache = (Cache){arena_copy_text(arena, folder, strlen(folder)), limit};
    return cache;
}

/* ---- entries ---- */

static char *entry_path(const Cache *cache, Arena *arena, const CacheKey *key)
{
    char name[NAME_LENGTH + 1];
    for (size_t i = 0; i < sizeof key->bytes; i++) snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
    return os_join_path(arena, cache->folder, name);
}

static bool is_sound(const CacheKey *key, const char *file, size_t size)
{
    Head head;
    if (size < sizeof head) return false;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.length != size - sizeof head ||
        memcmp(&head.key, key, sizeof *key) != 0)
        return false;
    CacheKey hash = cache_key(file + sizeof head, size - sizeof head);
    return memcmp(&hash, &head.hash, sizeof hash) == 0;
}

/* So that the cache knows what was used last; not at every use, which would be a write each. */
static void touch(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && time(NULL) - info.st_mtime > TOUCH_SECONDS)
        utimensat(AT_FDCWD, path, NULL, 0);
}

bool cache_get(Cache *cache, Arena *arena, const CacheKey *key, const char **bytes, size_t *length)
{
    size_t size;
    const char *path = entry_path(cache, arena, key);
    const char *file = os_read_file(arena, path, &size);
    if (file == NULL) return false;
    if (!is_sound(key, file, size)) {
        unlink(path);
        return false;
    }
    touch(path);
    *bytes = file + sizeof(Head);
    *length = size - sizeof(Head);
    return true;
}

/* ---- keeping it small ---- */

typedef struct Entry {
    char name[NAME_LENGTH + 1];
    struct timespec used;
    uint64_t bytes;
} Entry;

typedef struct Listing {
    VEC(Entry) entries;
    uint64_t bytes;
} Listing;

/* What follows the key in a file's name: nothing in an entry's, ".PID.SALT.tmp" in that of a file
 * being written; NULL if the name is not the cache's. */
static const char *after_key(const char *name)
{
    if (strspn(name, "0123456789abcdef") != NAME_LENGTH) return NULL;
    const char *rest = name + NAME_LENGTH, *last = strrchr(rest, '.');
    const bool ours = rest[0] == '\0' || (last != NULL && strcmp(last, ".tmp") == 0);
    return ours ? rest : NULL;
}

/* Lists an entry; removes a file whose writer died. */
static void look_at(const Cache *cache, Arena *arena, const char *name, Listing *out)
{
    struct stat info;
    const char *path = os_join_path(arena, cache->folder, name), *rest = after_key(name);
    if (rest == NULL || lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
    if (rest[0] != '\0') {
        if (time(NULL) - info.st_mtime > STALE_SECONDS) unlink(path);
        return;
    }
    Entry entry = {.used = info.st_mtim, .bytes = (uint64_t)info.st_size};
    memcpy(entry.name, name, sizeof entry.name);
    vec_push(arena, &out->entries, entry);
    out->bytes += entry.bytes;
}

static Listing list_entries(const Cache *cache, Arena *arena)
{
    Listing listing = {0};
    DIR *folder = opendir(cache->folder);
    if (folder == NULL) return listing;
    for (const struct dirent *item; (item = readdir(folder)) != NULL;)
        look_at(cache, arena, item->d_name, &listing);
    closedir(folder);
    return listing;
}

static int older_first(const void *a, const void *b)
{
    const Entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool remove_entry(const Cache *cache, Arena *arena, const Entry *entry)
{
    return unlink(os_join_path(arena, cache->folder, entry->name)) == 0 || errno == ENOENT;
}

/* Down to three quarters, so that the next entries need no sweep. */
static void sweep(const Cache *cache)
{
    Arena *arena = arena_new();
    Listing listing = list_entries(cache, arena);
    if (listing.bytes > cache->limit) {
        qsort(listing.entries.data, listing.entries.count, sizeof(Entry), older_first);
        for (size_t i = 0; i < listing.entries.count && listing.bytes > cache->limit / 4 * 3; i++) {
            remove_entry(cache, arena, &listing.entries.data[i]);
            listing.bytes -= listing.entries.data[i].bytes;
        }
    }
    arena_free(arena);
}

void cache_put(Cache *cache, const CacheKey *key, const void *bytes, size_t length)
{
    if (length + sizeof(Head) > cache->limit / 4) return;
    Head head = {.key = *key, .length = length, .hash = cache_key(bytes, length)};
    Buf file = {0};
    Arena *arena = arena_new();
    memcpy(head.magic, magic, sizeof magic);
    buf_bytes(&file, &head, sizeof head);
    buf_bytes(&file, bytes, length);
    if (os_write_file(entry_path(cache, arena, key), file.data, file.length)) sweep(cache);
    buf_free(&file);
    arena_free(arena);
}

CacheUse cache_use(const Cache *cache)
{
    Arena *arena = arena_new();
    Listing listing = list_entries(cache, arena);
    CacheUse use = {listing.entries.count, listing.bytes};
    arena_free(arena);
    return use;
}

bool cache_clear(Cache *cache)
{
    Arena *arena = arena_new();
    Listing listing = list_entries(cache, arena);
    bool all = true;
    for (size_t i = 0; i < listing.entries.count; i++)
        all &= remove_entry(cache, arena, &listing.entries.data[i]);
    arena_free(arena);
    return all;
}
