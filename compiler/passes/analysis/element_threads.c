/* element_threads.c: which thread meets each element of a shared tile, where indices are known for
 * each element of the tile that is read or written at them, or for each thread: two accesses of
 * which each thread meets elements of its own alone need no barrier, as those of a thread that
 * exchanges two elements, or that writes four in a row.
 *
 * An index that is not known, as a loop's, may be any: then the others have to tell the threads
 * apart, as where each has a column of its own and goes through the rows. */
#include "passes/analysis/access.h"
#include "passes/analysis/point.h"

enum {
    MOST_ELEMENTS = 1 << 14, /* of the memory, and of the tile */
    MOST_VIEWS = 4,          /* each of a part of the one before */
    LOOKS = 1 << 20,         /* at values that indices follow from, for one access */
    NOBODY = 0,              /* else 1 + the thread's number */
    SEVERAL = -1
};

/* Whom each element of the memory is met by; along dimensions that are not known the first one
 * stands for all. */
typedef struct Owners {
    unsigned known; /* dimensions; none: nothing is known */
    int *threads;
} Owners;

typedef struct ElementThreads {
    Op *op;
    const Op *views[MOST_VIEWS]; /* that the access goes through, from the memory on */
    int view_count;
    const Type *memory, *tile; /* of the whole; NULL: of an element */
    int64_t looks;
    Owners owners;
} ElementThreads;

static Value *tile_of(Op *op)
{
    if (op_is_scattered(op)) return scattered_value(op);
    Value *stored = operand_given(op, value);
    return stored ? stored : op->results;
}

/* ---- indices ---- */

/* Along a dimension of what the access names, of the tile's element. */
static bool tile_index(ElementThreads *access, int dim, const int32_t *coordinates, int64_t *out)
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

/* Of the thread, whose number is all that the index follows from. */
static bool thread_index(ElementThreads *access, int dim, int thread, int64_t *out)
{
    Op *op = access->op;
    const ThreadGroup group = op_threads(op);
    Points points = {.op = op, .count = 1, .looks = &access->looks};
    points.variables[0] = (Variable){.kind = VARIABLE_THREAD,
                                     .first = group.begin,
                                     .step = 1,
                                     .count = group.count,
                                     .now = thread};
    return point_value(&points, NULL, operand_list(op, indices)[dim], out) && points.count == 1;
}

/* Along a dimension of the part behind so many views. */
static bool index_behind(ElementThreads *access, int views, int dim, int thread,
                         const int32_t *coordinates, int64_t *out)
{
    if (views == access->view_count)
        return access->tile ? tile_index(access, dim, coordinates, out)
                            : thread_index(access, dim, thread, out);
    const Op *view = access->views[views];
    const Attr *dims = op_attr(view, ATTR_dims);
    int64_t within = 0;
    if (!value_constant(operand_list(view, offsets)[dim], out)) return false;
    for (int i = 0; i < dims->count; i++)
        if (dims->integers[i] == dim &&
            !index_behind(access, views + 1, i, thread, coordinates, &within))
            return false;
    *out += within;
    return true;
}

/* ---- who meets what ---- */

static void note_thread(int *threads, int64_t place, int who)
{
    if (who != NOBODY)
        threads[place] = threads[place] == NOBODY || threads[place] == who ? who : SEVERAL;
}

static void find_known(ElementThreads *access, int thread, const int32_t *coordinates)
{
    int64_t index;
    for (int d = 0; d < access->memory->rank; d++)
        if (index_behind(access, 0, d, thread, coordinates, &index))
            access->owners.known |= 1u << d;
}

/* False: an index is not known that was for others. What is outside of the memory is not
 * accessed. */
static bool note(ElementThreads *access, int thread, const int32_t *coordinates)
{
    const Type *memory = access->memory;
    int64_t place = 0;
    bool inside = true;
    for (int d = 0; d < memory->rank; d++) {
        int64_t index = 0;
        if (access->owners.known >> d & 1 &&
            !index_behind(access, 0, d, thread, coordinates, &index))
            return false;
        inside &= index >= 0 && index < memory->shape[d];
        place = place * memory->shape[d] + index;
    }
    if (inside) note_thread(access->owners.threads, place, thread + 1);
    return true;
}

static bool note_tile(ElementThreads *access)
{
    const Layout *layout = access->tile->layout;
    const int registers = layout_registers(layout), threads = layout_threads(layout);
    int32_t coordinates[LAYOUT_RANK] = {0};
    find_known(access, 0, coordinates);
    for (int thread = 0; access->owners.known && thread < threads; thread++)
        for (int reg = 0; reg < registers; reg++) {
            layout_coordinates(layout, reg, thread % WARP_SIZE, thread / WARP_SIZE, coordinates);
            if (layout_is_inside(layout, coordinates) && !note(access, thread, coordinates))
                return false;
        }
    return access->owners.known;
}

/* One element by each thread. */
static bool note_element(ElementThreads *access)
{
    const ThreadGroup group = op_threads(access->op);
    find_known(access, group.begin, NULL);
    for (int thread = group.begin; thread < group.begin + group.count; thread++)
        if (!access->owners.known || !note(access, thread, NULL)) return false;
    return group.count > 0;
}

static bool fits_tile(const Type *tile, int64_t threads)
{
    return tile->layout && tile->rank > 0 && type_elements(tile) <= MOST_ELEMENTS &&
           layout_replica_mask(tile->layout) == 0 && layout_threads(tile->layout) == threads;
}

/* The tile that is accessed through views; NULL: through something else, or too many of them. */
static const Value *find_views(ElementThreads *access)
{
    const Value *memory = op_memory(access->op);
    while (memory->op && memory->op->code == OP_shared_view && access->view_count < MOST_VIEWS) {
        access->views[access->view_count++] = memory->op;
        memory = operand(memory->op, tile);
    }
    for (int i = 0, j = access->view_count - 1; i < j; i++, j--) {
        const Op *view = access->views[i];
        access->views[i] = access->views[j];
        access->views[j] = view;
    }
    return memory->type->kind == TYPE_SHARED && memory->op && memory->op->code == OP_shared_alloc
               ? memory
               : NULL;
}

/* Replicas of an element may all be read, and any of them written. */
static const Owners *owners_of(Arena *arena, Map *known, Op *op, const Value *memory,
                               int64_t threads)
{
    Owners *found = map_get(known, op);
    if (found) return found;
    const bool is_element = op_is_element(op);
    ElementThreads access = {.op = op, .memory = memory->type, .looks = LOOKS};
    if (!is_element) access.tile = tile_of(op)->type;
    find_views(&access);
    const int64_t elements = type_elements(memory->type);
    found = arena_new_of(arena, Owners);
    if (elements <= MOST_ELEMENTS && (is_element || fits_tile(access.tile, threads))) {
        access.owners.threads = arena_new_array(arena, int, (size_t)elements);
        if (is_element ? note_element(&access) : note_tile(&access)) *found = access.owners;
    }
    map_set(arena, known, op, found);
    return found;
}

static bool is_known_access(const Op *op)
{
    return ((op_is_scattered(op) || op_is_element(op)) && !op_has(op, ATOMIC)) ||
           op->code == OP_shared_load || op->code == OP_shared_store;
}

static const Value *whole_of(Op *op)
{
    ElementThreads access = {.op = op};
    return find_views(&access);
}

/* The place where only the dimensions of the mask count. */
static int64_t project(const Type *memory, int64_t place, unsigned mask)
{
    int64_t projected = 0, stride = 1;
    for (int d = memory->rank - 1; d >= 0; d--) {
        if (mask >> d & 1) projected += place % memory->shape[d] * stride;
        place /= memory->shape[d];
        stride *= memory->shape[d];
    }
    return projected;
}

static const int *projected(Arena *arena, const Type *memory, const Owners *owners, unsigned mask)
{
    if (owners->known == mask) return owners->threads;
    const int64_t elements = type_elements(memory);
    int *threads = arena_new_array(arena, int, (size_t)elements);
    for (int64_t i = 0; i < elements; i++)
        note_thread(threads, project(memory, i, mask), owners->threads[i]);
    return threads;
}

bool threads_keep_elements(Arena *arena, Map *known, Op *a, Op *b, int64_t threads)
{
    if (!is_known_access(a) || !is_known_access(b)) return false;
    const Value *memory = whole_of(a);
    if (!memory || memory != whole_of(b)) return false;
    const Owners *first = owners_of(arena, known, a, memory, threads),
                 *second = owners_of(arena, known, b, memory, threads);
    const unsigned mask = first->known & second->known;
    if (!mask) return false;
    const int *x = projected(arena, memory->type, first, mask),
              *y = projected(arena, memory->type, second, mask);
    for (int64_t i = 0; i < type_elements(memory->type); i++)
        if (x[i] != NOBODY && y[i] != NOBODY && (x[i] != y[i] || x[i] == SEVERAL)) return false;
    return true;
}
