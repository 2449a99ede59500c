/* lines.h: an array's elements along an axis, for what goes along them one after the other. */
#ifndef TILEC_COMMAND_ARRAY_LINES_H
#define TILEC_COMMAND_ARRAY_LINES_H

#include "command/array/arrays.h"

/* `before` times `after` lines of `count` elements that lie `after` apart. */
typedef struct Lines {
    int64_t before, count, after;
} Lines;

/* axis: of the array, 0 to rank - 1. */
static inline Lines lines_of(const Array *array, int axis)
{
    Lines lines = {1, array->shape[axis], 1};
    for (int d = 0; d < array->rank; d++) {
        if (d < axis) lines.before *= array->shape[d];
        if (d > axis) lines.after *= array->shape[d];
    }
    return lines;
}

/* Where line number `line` begins in an array whose lines have `count` elements. */
static inline int64_t line_start(Lines lines, int64_t line, int64_t count)
{
    return line / lines.after * count * lines.after + line % lines.after;
}

#endif
