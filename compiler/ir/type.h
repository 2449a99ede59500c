/* type.h: types, interned in a TypeTable: equal types are equal pointers. A part of ir.h. */
#ifndef TILEC_TYPE_H
#define TILEC_TYPE_H

#include "ir/dtype.h"
#include "ir/layout/layout.h"

enum { PRINT_VALUES = 32 }; /* of one print, as CUDA's printf has them */
enum { TYPE_RANK = LAYOUT_RANK, TILE_LIMIT = 1 << 24 /* elements of a tile */ };
enum { TENSOR_RANK = 5, TENSOR_ROWS = 256 /* of a box of a tensor map */ };
#define TYPE_DYNAMIC INT64_MIN /* an extent or stride known at run time only */

typedef enum TypeKind {
    TYPE_SCALAR,
    TYPE_VECTOR,
    TYPE_POINTER,
    TYPE_VIEW,
    TYPE_TILE,
    TYPE_SHARED,
    TYPE_LOCAL, /* an array of each thread's own */
    TYPE_VAR
} TypeKind;
typedef enum Space {
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CLUSTER,
    SPACE_COUNT
} Space;

typedef struct Type Type;
struct Type {
    TypeKind kind;
    DType dtype;
    Space space;                /* of a pointer */
    uint8_t rank;               /* of a view or tile */
    int32_t count;              /* elements of a vector */
    int64_t shape[TYPE_RANK];   /* of a view or tile */
    int64_t strides[TYPE_RANK]; /* of a view, in elements */
    const Layout *layout;       /* of a register or shared tile; NULL until it is laid out */
    const Type *content;        /* of a variable */
};

typedef struct TypeTable TypeTable;
TypeTable *type_table_new(Arena *arena);
const Type *type_intern(TypeTable *table, const Type *type);
const Type *type_scalar(TypeTable *table, DType dtype);
const Type *type_vector(TypeTable *table, DType dtype, int count);
const char *space_name(Space space);
const Type *type_pointer(TypeTable *table, DType dtype, Space space);
const Type *type_tile(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const Layout *layout);
const Type *type_shared(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                        const Layout *layout);
const Type *type_local(TypeTable *table, DType dtype, int rank, const int64_t *shape);
const Type *type_view(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const int64_t *strides);
const Type *type_var(TypeTable *table, const Type *content);
const Type *type_with_dtype(TypeTable *table, const Type *type, DType dtype); /* scalar, tile */
const Type *type_with_layout(TypeTable *table, const Type *type, const Layout *layout);
/* Of a tile: with so many elements along the dimension; it is not laid out. */
const Type *type_with_extent(TypeTable *table, const Type *type, int dim, int64_t extent);
int64_t type_elements(const Type *type); /* 1 for a scalar */
/* In memory, of a scalar, vector or tile: of one that is laid out in shared memory with the
 * layout's padding. */
int64_t type_bytes(const Type *type);
int type_words(const Type *type); /* likewise, in words of 32 bits, as registers have */
/* The rows of each box in which TMA moves one of {slices} of a tile; 0: it cannot. */
int32_t type_box_rows(const Type *tile, int64_t parts);
bool type_is_scalar(const Type *type);
bool type_is_tile(const Type *type);                /* register tile */
bool type_same_shape(const Type *a, const Type *b); /* of scalars and tiles */
/* f32 | vec<f16, 8> | ptr<f16, global> | view<f16, [?, 4096], [4096, 1]> | tile<f32, [64, 128]> |
 * tile<f32, [64, 128], {layout}> | shared<...> | local<f32, [4]> | var<tile<...>> */
void type_print(const Type *type, Buf *out);
const char *type_text(Arena *arena, const Type *type);

#endif
