/* build_cache.h: whole builds in the cache, by the kernels as they were staged and all else that
 * they follow from. */
#ifndef TILEC_BUILD_BUILD_CACHE_H
#define TILEC_BUILD_BUILD_CACHE_H

#include "build/units.h"

#include "codegen/cache.h"

/* The folder of the cache that the options and the environment ask for; NULL: none. */
const char *chosen_cache(Session *session, const Options *options);
/* That cache; NULL: none, or it cannot be used. */
Cache *open_cache(Session *session, const Options *options);

/* All that the planned build follows from. */
CacheKey build_key(const Stages *stages);

/* The units' tables and the object of an earlier build with this key: not the images' bytes, which
 * are in the object. False: there is none. */
bool restore_build(Cache *cache, Stages *stages, const CacheKey *key);
void store_build(Cache *cache, const Stages *stages, const CacheKey *key);

#endif
