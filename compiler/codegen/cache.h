/* cache.h: results of earlier runs in a folder of the user's own, each under a hash of all that it
 * was made from.
 *
 * One file an entry, written beside and renamed, so that several tilecs may share the folder
 * without locks; what is read is checked, and what is broken is removed. Whatever goes wrong here
 * costs time alone: nothing is reported. */
#ifndef TILEC_CODEGEN_CACHE_H
#define TILEC_CODEGEN_CACHE_H

#include "base/base.h"

typedef struct Cache Cache;

#define CACHE_LIMIT (UINT64_C(1) << 30) /* bytes: beyond it, what was not used for longest goes */

/* TILEC_CACHE, else tilec in XDG_CACHE_HOME or ~/.cache; NULL: TILEC_CACHE is "off", or there is
 * no home. */
char *cache_folder(Arena *arena);
/* Makes the folder if it is not there. NULL: it cannot be used, and `fault` says why. */
Cache *cache_open(Arena *arena, const char *folder, uint64_t limit, const char **fault);

typedef struct CacheKey {
    uint8_t bytes[32];
} CacheKey;
CacheKey cache_key(const void *bytes, size_t length);

/* False: there is none. The bytes are the arena's. */
bool cache_get(Cache *cache, Arena *arena, const CacheKey *key, const char **bytes, size_t *length);
void cache_put(Cache *cache, const CacheKey *key, const void *bytes, size_t length);

typedef struct CacheUse {
    size_t entries;
    uint64_t bytes;
} CacheUse;
CacheUse cache_use(const Cache *cache);
bool cache_clear(Cache *cache); /* false: something is left */

/* What tells a program from another that takes its place: to be part of a key. */
void cache_add_file(Buf *out, const char *path);

#endif
