/* type.c: types, interned in a kernel's table. Interning brings a type into canonical form (fields
 * that its kind does not use are zero), so that equal types are equal pointers. */
#include "ir/rows.h"

#include <string.h>

struct TypeTable {
    Arena *arena;
    const Type **slots; /* open-addressed */
    size_t count, capacity;
};

TypeTable *type_table_new(Arena *arena)
{
    TypeTable *table = arena_new_of(arena, TypeTable);
    table->arena = arena;
    table->capacity = 64;
    table->slots = arena_new_array(arena, const Type *, table->capacity);
    return table;
}

static bool has_shape(TypeKind kind)
{
    return kind == TYPE_VIEW || kind == TYPE_TILE || kind == TYPE_SHARED || kind == TYPE_LOCAL;
}

static Type canonical(const Type *type)
{
    Type result = {.kind = type->kind, .dtype = type->dtype};
    if (type->kind == TYPE_POINTER) result.space = type->space;
    if (type->kind == TYPE_VECTOR) result.count = type->count;
    if (type->kind == TYPE_TILE || type->kind == TYPE_SHARED) result.layout = type->layout;
    if (type->kind == TYPE_VAR) {
        result.content = type->content;
        result.dtype = type->content->dtype;
    }
    if (has_shape(type->kind)) {
        CHECK(type->rank <= TYPE_RANK);
        result.rank = type->rank;
        memcpy(result.shape, type->shape, type->rank * sizeof type->shape[0]);
    }
    if (type->kind == TYPE_VIEW)
        memcpy(result.strides, type->strides, type->rank * sizeof type->strides[0]);
    return result;
}

static bool same(const Type *a, const Type *b)
{
    return a->kind == b->kind && a->dtype == b->dtype && a->space == b->space &&
           a->rank == b->rank && a->count == b->count && a->layout == b->layout &&
           a->content == b->content && memcmp(a->shape, b->shape, sizeof a->shape) == 0 &&
           memcmp(a->strides, b->strides, sizeof a->strides) == 0;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const Type *type)
{
    uint64_t hash = mix((uint64_t)type->kind << 16 | (uint64_t)type->dtype << 8 | type->rank,
                        (uint64_t)type->space << 32 | (uint32_t)type->count);
    for (int i = 0; i < type->rank; i++)
        hash = mix(mix(hash, (uint64_t)type->shape[i]), (uint64_t)type->strides[i]);
    return mix(mix(hash, (uint64_t)(uintptr_t)type->layout), (uint64_t)(uintptr_t)type->content);
}

/* Where the type is, or the free slot where it belongs. */
static size_t slot_of(const TypeTable *table, const Type *type)
{
    size_t slot = (size_t)hash_of(type) & (table->capacity - 1);
    while (table->slots[slot] != NULL && !same(table->slots[slot], type))
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

static void grow_table(TypeTable *table)
{
    TypeTable larger = {
        .arena = table->arena, .count = table->count, .capacity = table->capacity * 2};
    larger.slots = arena_new_array(table->arena, const Type *, larger.capacity);
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i] != NULL)
            larger.slots[slot_of(&larger, table->slots[i])] = table->slots[i];
    *table = larger;
}

const Type *type_intern(TypeTable *table, const Type *type)
{
    Type wanted = canonical(type);
    size_t slot = slot_of(table, &wanted);
    if (table->slots[slot] != NULL) return table->slots[slot];
    if (table->count * 4 >= table->capacity * 3) {
        grow_table(table);
        slot = slot_of(table, &wanted);
    }
    Type *result = arena_new_of(table->arena, Type);
    *result = wanted;
    table->slots[slot] = result;
    table->count++;
    return result;
}

const Type *type_import(TypeTable *types, LayoutTable *layouts, const Type *type)
{
    Type copy = *type;
    if (type->layout != NULL) copy.layout = layout_intern(layouts, type->layout);
    if (type->content != NULL) copy.content = type_import(types, layouts, type->content);
    return type_intern(types, &copy);
}

/* ---- making ---- */

const Type *type_scalar(TypeTable *table, DType dtype)
{
    return type_intern(table, &(Type){.kind = TYPE_SCALAR, .dtype = dtype});
}

const Type *type_vector(TypeTable *table, DType dtype, int count)
{
    return type_intern(table, &(Type){.kind = TYPE_VECTOR, .dtype = dtype, .count = count});
}

const Type *type_pointer(TypeTable *table, DType dtype, Space space)
{
    return type_intern(table, &(Type){.kind = TYPE_POINTER, .dtype = dtype, .space = space});
}

static const Type *shaped(TypeTable *table, Type type, int rank, const int64_t *shape)
{
    CHECK(rank >= 0 && rank <= TYPE_RANK);
    type.rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++) type.shape[i] = shape[i];
    return type_intern(table, &type);
}

const Type *type_tile(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const Layout *layout)
{
    return shaped(table, (Type){.kind = TYPE_TILE, .dtype = dtype, .layout = layout}, rank, shape);
}

const Type *type_shared(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                        const Layout *layout)
{
    return shaped(table, (Type){.kind = TYPE_SHARED, .dtype = dtype, .layout = layout}, rank,
                  shape);
}

const Type *type_local(TypeTable *table, DType dtype, int rank, const int64_t *shape)
{
    return shaped(table, (Type){.kind = TYPE_LOCAL, .dtype = dtype}, rank, shape);
}

const Type *type_view(TypeTable *table, DType dtype, int rank, const int64_t *shape,
                      const int64_t *strides)
{
    CHECK(rank >= 0 && rank <= TYPE_RANK);
    Type type = {.kind = TYPE_VIEW, .dtype = dtype};
    for (int i = 0; i < rank; i++) type.strides[i] = strides[i];
    return shaped(table, type, rank, shape);
}

const Type *type_var(TypeTable *table, const Type *content)
{
    return type_intern(table, &(Type){.kind = TYPE_VAR, .content = content});
}

const Type *type_with_dtype(TypeTable *table, const Type *type, DType dtype)
{
    Type result = *type;
    result.dtype = dtype;
    return type_intern(table, &result);
}

const Type *type_with_layout(TypeTable *table, const Type *type, const Layout *layout)
{
    Type result = *type;
    result.layout = layout;
    return type_intern(table, &result);
}

const Type *type_with_extent(TypeTable *table, const Type *type, int dim, int64_t extent)
{
    Type result = *type;
    result.shape[dim] = extent;
    result.layout = NULL;
    return type_intern(table, &result);
}

/* ---- asking ---- */

int64_t type_elements(const Type *type)
{
    if (type->kind == TYPE_VECTOR) return type->count;
    int64_t elements = 1;
    if (has_shape(type->kind))
        for (int i = 0; i < type->rank; i++)
            if (__builtin_mul_overflow(elements, type->shape[i], &elements)) return INT64_MAX;
    return elements;
}

int64_t type_bytes(const Type *type)
{
    const bool is_laid_out = type->kind == TYPE_SHARED && type->layout;
    return dtype_memory_bytes(type->dtype,
                              is_laid_out ? layout_size(type->layout) : type_elements(type));
}

int type_words(const Type *type)
{
    enum { WORD = 4 };
    return (int)((type_bytes(type) + WORD - 1) / WORD);
}

int32_t type_box_rows(const Type *tile, int64_t parts)
{
    const int64_t all = tile->rank < 2 ? 1 : tile->shape[tile->rank - 2];
    if (parts < 1 || all % parts != 0) return 0;
    int64_t rows = all / parts;
    while (rows > TENSOR_ROWS && rows % 2 == 0) rows /= 2;
    return rows <= TENSOR_ROWS ? (int32_t)rows : 0;
}

bool type_is_scalar(const Type *type)
{
    return type->kind == TYPE_SCALAR;
}

bool type_is_tile(const Type *type)
{
    return type->kind == TYPE_TILE;
}

bool type_same_shape(const Type *a, const Type *b)
{
    if (type_is_scalar(a) || type_is_scalar(b)) return type_is_scalar(a) && type_is_scalar(b);
    return a->rank == b->rank && memcmp(a->shape, b->shape, sizeof a->shape) == 0;
}

/* ---- text ---- */

const char *space_name(Space space)
{
    static const char *const NAMES[SPACE_COUNT] = {"global", "shared", "local", "param", "cluster"};
    return NAMES[space];
}

static void print_extents(int rank, const int64_t *extents, Buf *out)
{
    buf_char(out, '[');
    for (int i = 0; i < rank; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        if (extents[i] == TYPE_DYNAMIC)
            buf_char(out, '?');
        else
            buf_printf(out, "%lld", (long long)extents[i]);
    }
    buf_char(out, ']');
}

static void print_layout(const Layout *layout, const Map *aliases, Buf *out)
{
    const char *alias = aliases != NULL ? map_get(aliases, layout) : NULL;
    if (alias != NULL)
        buf_text(out, alias);
    else
        layout_print(layout, out);
}

static void print_tile(const Type *type, const char *kind, const Map *aliases, Buf *out)
{
    buf_printf(out, "%s<%s, ", kind, dtype_name(type->dtype));
    print_extents(type->rank, type->shape, out);
    if (type->layout != NULL) {
        buf_text(out, ", ");
        print_layout(type->layout, aliases, out);
    }
    buf_char(out, '>');
}

static void print_view(const Type *type, Buf *out)
{
    buf_printf(out, "view<%s, ", dtype_name(type->dtype));
    print_extents(type->rank, type->shape, out);
    buf_text(out, ", ");
    print_extents(type->rank, type->strides, out);
    buf_char(out, '>');
}

void type_print_short(const Type *type, const Map *aliases, Buf *out)
{
    const char *dtype = dtype_name(type->dtype);
    switch (type->kind) {
    case TYPE_SCALAR: buf_text(out, dtype); return;
    case TYPE_VECTOR: buf_printf(out, "vec<%s, %d>", dtype, (int)type->count); return;
    case TYPE_POINTER: buf_printf(out, "ptr<%s, %s>", dtype, space_name(type->space)); return;
    case TYPE_VIEW: print_view(type, out); return;
    case TYPE_TILE: print_tile(type, "tile", aliases, out); return;
    case TYPE_SHARED: print_tile(type, "shared", aliases, out); return;
    case TYPE_LOCAL: print_tile(type, "local", aliases, out); return;
    case TYPE_VAR:
        buf_text(out, "var<");
        type_print_short(type->content, aliases, out);
        buf_char(out, '>');
        return;
    }
    ICE("no such kind of type");
}

void type_print(const Type *type, Buf *out)
{
    type_print_short(type, NULL, out);
}

const char *type_text(Arena *arena, const Type *type)
{
    Buf buf = {0};
    type_print(type, &buf);
    const char *text = arena_copy_text(arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}
