/* element_threads.c: which thread meets each element of a shared tile, where indices are known for
 * each element of the tile that is read or written at them, or for each thread: two accesses of
 * which each thread meets elements of its own alone need no barrier, as those of a thread that
 * exchanges two elements, or that writes four in a row. */
#include "passes/analysis/access.h"
#include "passes/analysis/point.h"

enum {
    MOST_ELEMENTS = 1 << 14, /* of the memory, and of the tile */
    LOOKS = 1 << 20,         /* at values that indices follow from, for one access */
    NOBODY = 0,              /* else 1 + the thread's number */
    SEVERAL = -1
};

typedef struct ElementThreads {
    Op *op;
    const Type *memory, *tile;
    int64_t looks;
    int *threads; /* of each element of the memory */
} ElementThreads;

static Value *tile_of(Op *op)
{
    if (op_is_scattered(op)) return scattered_value(op);
    Value *stored = operand_given(op, value);
    return stored ? stored : op->results;
}

/* The index along a dimension of the element of the tile. */
static bool index_at(ElementThreads *access, int dim, const int32_t *coordinates, int64_t *out)
{
    Op *op = access->op;
    if (!op_is_scattered(op)) {
        *out = coordinates[dim];
        return true;
    }
    const int rank = access->tile->rank;
    Points points = {.op = op, .count = rank, .looks = &access->looks};
    if (rank >= POINT_VARIABLES) return false;
    for (int d = 0; d < rank; d++)
        points.variables[d] = (Variable){.kind = VARIABLE_COORDINATE,
                                         .dim = d,
                                         .step = 1,
                                         .count = access->tile->shape[d],
                                         .now = coordinates[d]};
    return point_value(&points, access->tile, op->operands[scattered_first(op) + dim], out) &&
           points.count == rank;
}

static void note_thread(ElementThreads *access, int64_t place, int thread)
{
    int *who = &access->threads[place];
    *who = *who == NOBODY || *who == thread + 1 ? thread + 1 : SEVERAL;
}

/* False: the index is not known. What is outside of the memory is not accessed. */
static bool note(ElementThreads *access, const int32_t *coordinates, int thread)
{
    int64_t place = 0;
    bool inside = true;
    for (int d = 0; d < access->memory->rank; d++) {
        int64_t index;
        if (!index_at(access, d, coordinates, &index)) return false;
        inside &= index >= 0 && index < access->memory->shape[d];
        place = place * access->memory->shape[d] + index;
    }
    if (inside) note_thread(access, place, thread);
    return true;
}

static bool note_all(ElementThreads *access)
{
    const Layout *layout = access->tile->layout;
    const int registers = layout_registers(layout), threads = layout_threads(layout);
    int32_t coordinates[LAYOUT_RANK];
    for (int thread = 0; thread < threads; thread++)
        for (int reg = 0; reg < registers; reg++) {
            layout_coordinates(layout, reg, thread % WARP_SIZE, thread / WARP_SIZE, coordinates);
            if (layout_is_inside(layout, coordinates) && !note(access, coordinates, thread))
                return false;
        }
    return true;
}

/* One element by each thread, at indices that follow from its number alone. */
static bool note_element(ElementThreads *access)
{
    Op *op = access->op;
    const ThreadGroup group = op_threads(op);
    for (int thread = group.begin; thread < group.begin + group.count; thread++) {
        Points points = {.op = op, .count = 1, .looks = &access->looks};
        int64_t place = 0;
        bool inside = true;
        points.variables[0] = (Variable){.kind = VARIABLE_THREAD,
                                         .first = group.begin,
                                         .step = 1,
                                         .count = group.count,
                                         .now = thread};
        for (int d = 0; d < access->memory->rank; d++) {
            int64_t index;
            if (!point_value(&points, NULL, operand_list(op, indices)[d], &index) ||
                points.count > 1)
                return false;
            inside &= index >= 0 && index < access->memory->shape[d];
            place = place * access->memory->shape[d] + index;
        }
        if (inside) note_thread(access, place, thread);
    }
    return group.count > 0;
}

static bool fits_tile(const Type *tile, int64_t threads)
{
    return tile->layout && tile->rank > 0 && type_elements(tile) <= MOST_ELEMENTS &&
           layout_replica_mask(tile->layout) == 0 && layout_threads(tile->layout) == threads;
}

/* NULL: that is not known. Replicas of an element may all be read, and any of them written. */
static int *threads_of(Arena *arena, Map *known, Op *op, int64_t threads)
{
    int **found = map_get(known, op);
    if (found) return *found;
    const Type *memory = op_memory(op)->type;
    const bool is_element = op_is_element(op);
    const Type *tile = is_element ? NULL : tile_of(op)->type;
    const bool fits =
        type_elements(memory) <= MOST_ELEMENTS && (is_element || fits_tile(tile, threads));
    ElementThreads access = {op, memory, tile, LOOKS, NULL};
    if (fits) access.threads = arena_new_array(arena, int, (size_t)type_elements(memory));
    const bool noted = fits && (is_element ? note_element(&access) : note_all(&access));
    found = arena_new_of(arena, int *);
    *found = noted ? access.threads : NULL;
    map_set(arena, known, op, found);
    return *found;
}

static bool is_known_access(const Op *op)
{
    return ((op_is_scattered(op) || op_is_element(op)) && !op_has(op, ATOMIC)) ||
           op->code == OP_shared_load || op->code == OP_shared_store;
}

bool threads_keep_elements(Arena *arena, Map *known, Op *a, Op *b, int64_t threads)
{
    if (!is_known_access(a) || !is_known_access(b)) return false;
    const Value *memory = op_memory(a);
    if (memory != op_memory(b) || memory->type->kind != TYPE_SHARED ||
        memory->op->code != OP_shared_alloc)
        return false;
    const int *x = threads_of(arena, known, a, threads), *y = threads_of(arena, known, b, threads);
    for (int64_t i = 0; x && y && i < type_elements(memory->type); i++)
        if (x[i] != NOBODY && y[i] != NOBODY && (x[i] != y[i] || x[i] == SEVERAL)) return false;
    return x && y;
}
