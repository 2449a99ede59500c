/* vec.h: typed growing arrays whose storage lives in an arena.
 *
 *   VEC(Op *) ops = {0};
 *   vec_push(arena, &ops, op);
 *   for (size_t i = 0; i < ops.count; i++) use(ops.data[i]);
 *   vec_each (op, &ops) use(*op);
 *
 * Growing leaves the old storage to the arena; nothing is freed one by one. */
#ifndef TILEC_VEC_H
#define TILEC_VEC_H

#include "base/base.h"

#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *data;                                                                                   \
        size_t count, capacity;                                                                    \
    }

#define vec_push(arena, vec, item)                                                                 \
    do {                                                                                           \
        if ((vec)->count == (vec)->capacity)                                                       \
            (vec)->data = vec_grow((arena), (vec)->data, sizeof *(vec)->data, (vec)->count,        \
                                   &(vec)->capacity);                                              \
        (vec)->data[(vec)->count++] = (item);                                                      \
    } while (0)

/* `item` points to one after the other, of which none may be added meanwhile. */
#define vec_each(item, vec)                                                                        \
    for (__typeof__((vec)->data + 0) item = (vec)->data;                                           \
         item && item < (vec)->data + (vec)->count; item++)

#define vec_pop(vec)  ((vec)->data[--(vec)->count])
#define vec_last(vec) ((vec)->data[(vec)->count - 1])

/* A larger copy of `data` (`count` items of `size` bytes); `capacity` is updated. */
void *vec_grow(Arena *arena, const void *data, size_t size, size_t count, size_t *capacity);

#endif
