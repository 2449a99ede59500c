/* point.h: what an integer is for one thread, one block, one iteration of the loops around it and
 * one element of a tile, where all that it follows from is known now. Private to this folder. */
#ifndef TILEC_PASSES_ANALYSIS_POINT_H
#define TILEC_PASSES_ANALYSIS_POINT_H

#include "ir/ir.h"

typedef enum VariableKind {
    VARIABLE_COORDINATE, /* of the tile */
    VARIABLE_THREAD,
    VARIABLE_BLOCK,
    VARIABLE_LOOP
} VariableKind;

/* What differs between the points: first, first + step, ... */
typedef struct Variable {
    VariableKind kind;
    int dim;           /* of a coordinate or block */
    const Value *loop; /* the loop's */
    int64_t first, step, count, now;
} Variable;

enum { POINT_VARIABLES = 8 };

/* The points that an op is done at. */
typedef struct Points {
    const Op *op;
    Variable variables[POINT_VARIABLES]; /* that have been met */
    int count;
    int64_t *looks; /* at values, that are left: beyond, nothing is known */
} Points;

/* A tile's element: a coordinate for each dimension, and the variables that it follows from. */
typedef struct Element {
    int64_t at[TYPE_RANK];
    unsigned from[TYPE_RANK]; /* bit d: coordinate d of the op's tile */
} Element;

/* Of a scalar, or of a tile of the op's shape, at the point that the variables say. False: it
 * cannot be known. Variables that are met for the first time are added, at their first value. */
bool point_value(Points *points, const Type *tile, const Value *value, int64_t *out);
/* To the next point, in the order of the last variable that was met; false: that was the last. With
 * `ends`, variables go from their first to their last value at once. */
bool points_next(Points *points, bool ends);
/* How many there are; INT64_MAX if very many. */
int64_t points_count(const Points *points);

#endif
