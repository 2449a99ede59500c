/* affine.c: gathers and puts whose indices count up with the tile's coordinates become loads and
 * stores of blocks; needs a TYPED kernel in SSA.
 *
 * An index is affine if it is a scalar plus at most one coordinate, or plus several that count the
 * elements of these dimensions one after the other, as i * 8 + j of eight columns does. Where all
 * indices of an access are, and no two follow the same coordinate, it is a block of the memory,
 * from which it takes the width of its accesses, its layout and its bounds checks. Coordinates that
 * no index follows stretch what is loaded, and so does one that is divided, as where numbers of
 * four bits are taken out of bytes: each element of the block is as many of the tile. A mask that
 * compares the same coordinates is taken up by the extents of the view; what is left of it chooses
 * between what was loaded and zero, if it follows from indices alone: what a program reads by its
 * data it may have a reason not to read elsewhere, unless it writes as much whatever the data says.
 */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"

#include "base/vec.h"

#include <string.h>

enum { DEPTH = 24 }; /* of index expressions that are followed */

typedef struct Affine {
    Value *base;               /* a scalar; NULL: zero */
    int64_t scales[TYPE_RANK]; /* of the coordinates that are added */
    int64_t divisor;           /* by which the one coordinate is divided first, rounding down */
    bool varies;               /* a coordinate is added */
} Affine;

typedef struct Pass {
    Kernel *kernel;
    Arena *arena;
    FactTable *facts;
    Builder at;
    Map affine; /* tile -> Affine, of the op at hand */
    Map plain;  /* tiles that follow from coordinates and scalars */
} Pass;

typedef VEC(const Value *) Conjuncts;

/* A gather or put as a block of memory. */
typedef struct Block {
    Op *op;
    Value *memory, *mask;
    const Type *tile;
    int rank; /* of the memory */
    Affine indices[TYPE_RANK];
    int first[TYPE_RANK], last[TYPE_RANK]; /* dimensions of the tile that each index follows */
    Value *extents[TYPE_RANK]; /* that the mask allows, of the view; NULL: the view's own */
    int memory_dim[TYPE_RANK]; /* which index follows each dimension of the tile; -1: none */
    int count;                 /* of the dimensions that are followed */
    int64_t dims[TYPE_RANK], shape[TYPE_RANK]; /* theirs, in the order of the tile */
} Block;

/* ---- index expressions ---- */

static const Affine NOT_AFFINE = {.divisor = 1};

static Affine affine_scalar(Value *base)
{
    return (Affine){.base = base, .divisor = 1};
}

static bool affine_of(Pass *pass, Value *value, int depth, Affine *out);

static Value *as_type(Pass *pass, Value *scalar, DType dtype)
{
    return scalar ? build_cast(&pass->at, dtype, scalar) : NULL;
}

static Value *number(Pass *pass, Value *scalar, DType dtype)
{
    return scalar ? scalar : build_const(&pass->at, dtype, 0);
}

static bool affine_sum(Pass *pass, const Op *op, int depth, Affine *out)
{
    Affine a, b;
    if (!affine_of(pass, operand(op, a), depth, &a) || !affine_of(pass, operand(op, b), depth, &b))
        return false;
    if (op->code == OP_sub && b.varies) return false;
    if (a.varies && b.varies && (a.divisor > 1 || b.divisor > 1)) return false;
    *out = a.varies ? a : b;
    for (int d = 0; d < TYPE_RANK; d++) out->scales[d] = a.scales[d] + b.scales[d];
    if (!b.base) {
        out->base = a.base;
    } else if (!a.base && op->code == OP_add) {
        out->base = b.base;
    } else {
        Value *first = number(pass, a.base, b.base->type->dtype);
        out->base = build2(&pass->at, op->code, first, b.base);
    }
    return true;
}

/* Coordinates times a number. */
static bool affine_product(Pass *pass, const Op *op, int depth, Affine *out)
{
    int64_t times;
    const bool second = value_repeated_constant(operand(op, b), &times);
    if (!value_repeated_constant(second ? operand(op, b) : operand(op, a), &times) || times < 1 ||
        times > INT32_MAX ||
        !affine_of(pass, second ? operand(op, a) : operand(op, b), depth, out) || !out->varies ||
        out->divisor > 1)
        return false;
    for (int d = 0; d < TYPE_RANK; d++)
        if (__builtin_mul_overflow(out->scales[d], times, &out->scales[d]) ||
            out->scales[d] > INT32_MAX)
            return false;
    if (out->base)
        out->base = build2(&pass->at, OP_mul, out->base,
                           build_const(&pass->at, out->base->type->dtype, times));
    return true;
}

/* The dimensions from *first to *last, whose elements it counts one after the other. */
static bool is_count(const Affine *index, const Type *tile, int *first, int *last)
{
    int64_t next = 1;
    *first = *last = -1;
    for (int d = tile->rank - 1; d >= 0; d--) {
        if (index->scales[d] == 0 && (tile->shape[d] == 1 || *last < 0 || next == 0)) continue;
        if (index->scales[d] == 0) {
            next = 0; /* no other may follow */
            continue;
        }
        if (index->scales[d] != next) return false;
        next *= tile->shape[d];
        if (*last < 0) *last = d;
        *first = d;
    }
    return index->divisor == 1 || *first == *last;
}

/* An elementwise op whose operands are the same everywhere, as a scalar. */
static bool affine_same(Pass *pass, const Op *op, int depth, Affine *out)
{
    enum { MOST = 3 };
    Value *operands[MOST];
    const OpInfo *info = op_info(op->code);
    if (!(info->traits & ELEM) || !(info->traits & PURE) || op->operand_count > MOST) return false;
    for (int i = 0; i < op->operand_count; i++) {
        Affine operand;
        if (!affine_of(pass, op->operands[i], depth, &operand) || operand.varies) return false;
        operands[i] = number(pass, operand.base, op->operands[i]->type->dtype);
    }
    const Type *type = type_scalar(pass->kernel->types, op->results[0].type->dtype);
    Op *scalar = build_op(&pass->at, op->code, op->operand_count, operands, 1, &type);
    op_keep_attrs(scalar, op);
    *out = affine_scalar(scalar->results);
    return true;
}

/* What a tile of indices is divided by, rounding down; 0: it is not. */
static int64_t divisor_of(const Pass *pass, const Op *op)
{
    if (op->code != OP_div && op->code != OP_floordiv && op->code != OP_shr) return 0;
    int64_t number;
    if (!value_repeated_constant(operand(op, b), &number) || number < 1) return 0;
    if (op->code == OP_shr) return number < 31 ? INT64_C(1) << number : 0;
    return op->code == OP_floordiv || facts_of(pass->facts, operand(op, a)).low >= 0 ? number : 0;
}

/* (base + i) / d = base / d + i / d where d divides the base. */
static bool affine_quotient(Pass *pass, const Op *op, int depth, Affine *out)
{
    const int64_t divisor = divisor_of(pass, op);
    int dim, last;
    if (!divisor || divisor & (divisor - 1) || !affine_of(pass, operand(op, a), depth, out) ||
        !out->varies || !is_count(out, operand(op, a)->type, &dim, &last) || dim != last ||
        divisor > INT32_MAX / out->divisor)
        return false;
    if (out->base) {
        if (out->divisor > 1 || facts_of(pass->facts, out->base).multiple % divisor) return false;
        const DType dtype = out->base->type->dtype;
        out->base =
            build2(&pass->at, OP_floordiv, out->base, build_const(&pass->at, dtype, divisor));
    }
    out->divisor *= divisor;
    return operand(op, a)->type->shape[dim] % out->divisor == 0;
}

static bool widens(const Op *cast)
{
    const DType from = operand(cast, a)->type->dtype, to = cast->results[0].type->dtype;
    return dtype_is_integer(from) && dtype_is_signed(from) && dtype_is_integer(to) &&
           dtype_is_signed(to) && dtype_bits(from) <= dtype_bits(to);
}

static bool affine_of_tile(Pass *pass, Value *value, int depth, Affine *out)
{
    const Op *op = value->op;
    if (!op || depth == 0 || !dtype_is_integer(value->type->dtype)) return false;
    if (op->code == OP_splat || op->code == OP_broadcast) /* along dimensions of one element */
        return affine_of(pass, operand(op, a), depth - 1, out);
    if (op->code == OP_iota) {
        const int dim = (int)op_int(op, ATTR_dim, 0);
        *out = affine_scalar(NULL);
        out->varies = value->type->shape[dim] > 1;
        out->scales[dim] = out->varies;
        return true;
    }
    if (op->code == OP_cast && widens(op)) {
        if (!affine_of(pass, operand(op, a), depth - 1, out)) return false;
        out->base = as_type(pass, out->base, value->type->dtype);
        return true;
    }
    if ((op->code == OP_add || op->code == OP_sub) && affine_sum(pass, op, depth - 1, out))
        return true;
    if (op->code == OP_mul && affine_product(pass, op, depth - 1, out)) return true;
    return affine_quotient(pass, op, depth - 1, out) || affine_same(pass, op, depth - 1, out);
}

/* One value may stand in an index many times: what was found of it is remembered. */
static bool affine_of(Pass *pass, Value *value, int depth, Affine *out)
{
    if (value->type->kind == TYPE_SCALAR) {
        *out = affine_scalar(value_is_constant(value, 0) ? NULL : value);
        return dtype_is_integer(value->type->dtype);
    }
    const Affine *found = map_get(&pass->affine, value);
    if (!found) {
        Affine *made = arena_new_of(pass->arena, Affine);
        found = affine_of_tile(pass, value, depth, made) ? made : &NOT_AFFINE;
        map_set(pass->arena, &pass->affine, value, (void *)found);
    }
    *out = *found;
    return found != &NOT_AFFINE;
}

/* ---- comparing scalars ---- */

static const Value *unwidened(const Value *value, void *context)
{
    (void)context;
    while (value->op && value->op->code == OP_cast && widens(value->op))
        value = operand(value->op, a);
    return value;
}

/* NULL: 0. */
static bool same_scalar(const Value *a, const Value *b)
{
    if (a && b) return value_same(a, b, unwidened, NULL);
    return a == b || value_is_constant(unwidened(a ? a : b, NULL), 0);
}

static Value *wide(Pass *pass, Value *scalar)
{
    return build_cast(&pass->at, DTYPE_i64, number(pass, scalar, DTYPE_i64));
}

/* bound - from + to, in 64 bits. */
static Value *moved(Pass *pass, Value *bound, Value *from, Value *to)
{
    if (same_scalar(from, to)) return number(pass, bound, DTYPE_i64);
    Value *value = wide(pass, bound);
    if (from) value = build2(&pass->at, OP_sub, value, wide(pass, from));
    return to ? build2(&pass->at, OP_add, value, wide(pass, to)) : value;
}

/* ---- masks ---- */

static void split_mask(Pass *pass, const Value *mask, Map *seen, Conjuncts *out)
{
    if (map_has(seen, mask)) return;
    map_set(pass->arena, seen, mask, seen);
    if (mask->op && mask->op->code == OP_broadcast) {
        split_mask(pass, operand(mask->op, a), seen, out);
    } else if (mask->op && mask->op->code == OP_and) {
        split_mask(pass, operand(mask->op, a), seen, out);
        split_mask(pass, operand(mask->op, b), seen, out);
    } else {
        vec_push(pass->arena, out, mask);
    }
}

typedef struct Compare {
    const char *predicate; /* lt, le, gt or ge: of the side with coordinates */
    Affine index;
    Value *bound; /* NULL: zero */
} Compare;

/* a < b is what b > a is; and so on. */
static const char *mirrored(const char *predicate)
{
    static const char *const PAIRS[][2] = {{"lt", "gt"}, {"gt", "lt"}, {"le", "ge"}, {"ge", "le"}};
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++)
        if (strcmp(predicate, PAIRS[i][0]) == 0) return PAIRS[i][1];
    return NULL;
}

static bool read_compare(Pass *pass, const Value *value, Compare *out)
{
    const Op *op = value->op;
    Affine sides[2];
    if (!op || op->code != OP_cmp || !mirrored(op_attr(op, ATTR_predicate)->text) ||
        !affine_of(pass, operand(op, a), DEPTH, &sides[0]) ||
        !affine_of(pass, operand(op, b), DEPTH, &sides[1]))
        return false;
    const int index = sides[1].varies;
    if (sides[1 - index].varies || sides[index].divisor > 1 ||
        !dtype_is_signed(operand(op, a)->type->dtype))
        return false;
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    out->predicate = index ? mirrored(predicate) : predicate;
    out->index = sides[index];
    out->bound = sides[1 - index].base;
    return true;
}

/* The view's extent along `dim` ends where the comparison does. */
static void shrink(Pass *pass, Block *block, int dim, Value *limit)
{
    Value *old = block->extents[dim];
    if (!old) old = operand_list(block->memory->op, extents)[dim];
    if (same_scalar(old, limit)) return;
    block->extents[dim] = build2(&pass->at, OP_min, wide(pass, old), wide(pass, limit));
}

/* Which index of the block follows the same coordinates; -1: none does. */
static int index_like(const Block *block, const Affine *index)
{
    for (int d = 0; index->varies && d < block->rank; d++)
        if (block->indices[d].varies &&
            memcmp(block->indices[d].scales, index->scales, sizeof index->scales) == 0)
            return d;
    return -1;
}

/* Whether the comparison is one of the block's own bounds, once its extents are shrunk. */
static bool take_up(Pass *pass, Block *block, const Compare *compare)
{
    const int dim = index_like(block, &compare->index);
    if (dim < 0 || block->indices[dim].divisor > 1) return false;
    Value *bound = moved(pass, compare->bound, compare->index.base, block->indices[dim].base);
    const bool low = compare->predicate[0] == 'g', strict = compare->predicate[1] == 't';
    if (low) return facts_of(pass->facts, bound).high <= (strict ? -1 : 0);
    if (block->memory->type->kind != TYPE_VIEW)
        return facts_of(pass->facts, bound).low >=
               block->memory->type->shape[dim] - (strict ? 0 : 1);
    if (!strict)
        bound = build2(&pass->at, OP_add, wide(pass, bound), build_const(&pass->at, DTYPE_i64, 1));
    shrink(pass, block, dim, bound);
    return true;
}

/* Follows from coordinates and scalars. */
static bool is_plain(Pass *pass, const Value *value, int depth)
{
    const Op *op = value->op;
    if (value->type->kind == TYPE_SCALAR || map_has(&pass->plain, value)) return true;
    if (!op || depth == 0) return false;
    if (op_has(op, REMAT)) return true;
    if (!op_has(op, ELEM)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_plain(pass, op->operands[i], depth - 1)) return false;
    map_set(pass->arena, &pass->plain, value, pass);
    return true;
}

/* Conjuncts of a mask may have one element along some dimensions. */
static Value *as_mask(Pass *pass, Value *conjunct, const Type *type)
{
    if (conjunct->type == type) return conjunct;
    return build_op(&pass->at, OP_broadcast, 1, &conjunct, 1, &type)->results;
}

static ValueAnswer is_seen_without(const Value *value, const Op *user, void *mask)
{
    if (user->code == OP_put && scattered_mask(user) == mask && operand(user, value) == value)
        return VALUE_ENOUGH;
    return op_has(user, ELEM) && op_has(user, PURE) ? VALUE_RESULTS : VALUE_FOUND;
}

/* Nobody sees of the value what the mask leaves out: all that is made of it is put under the same
 * mask. */
static bool is_put_alone(const Value *value, Value *mask)
{
    return !value_finds_use(value, is_seen_without, mask);
}

/* Rows that go out by way of a shared tile, in which nothing is where there is no row. A strict
 * build watches who reads that. */
static bool may_read_whole(const Pass *pass, const Block *block)
{
    return block->op->code == OP_gather && block->memory->type->kind == TYPE_SHARED &&
           !pass->kernel->is_strict && is_put_alone(block->op->results, block->mask);
}

typedef struct Written {
    Pass *pass;
    const Value *condition;
} Written;

static ValueAnswer is_put_without(const Value *value, const Op *user, void *context)
{
    const Written *written = context;
    if (user->code != OP_put || operand(user, value) != value)
        return op_has(user, ELEM) && op_has(user, PURE) ? VALUE_RESULTS : VALUE_ENOUGH;
    Conjuncts conjuncts = {0};
    Map seen = {0};
    if (scattered_mask(user)) split_mask(written->pass, scattered_mask(user), &seen, &conjuncts);
    return map_has(&seen, written->condition) ? VALUE_ENOUGH : VALUE_FOUND;
}

/* As many elements are written whether the condition holds or not: to read those, too, that it
 * leaves out takes less than to look at each of them. */
static bool is_written_anyway(Pass *pass, const Value *value, const Value *condition)
{
    Written written = {pass, condition};
    return value_finds_use(value, is_put_without, &written);
}

/* What the condition leaves out may be read, too. A strict build watches what is read of a shared
 * tile that nobody wrote. */
static bool may_read_without(Pass *pass, const Block *block, const Value *condition)
{
    const bool is_view = block->memory->type->kind == TYPE_VIEW, strict = pass->kernel->is_strict;
    return is_plain(pass, condition, DEPTH)
               ? is_view || !strict
               : is_view && !strict && is_written_anyway(pass, block->op->results, condition);
}

/* What is left of the mask in *rest. False: the access has to stay what it is. */
static bool take_mask(Pass *pass, Block *block, Value **rest)
{
    Conjuncts conjuncts = {0};
    Map seen = {0};
    *rest = NULL;
    if (!block->mask || may_read_whole(pass, block)) return true;
    split_mask(pass, block->mask, &seen, &conjuncts);
    for (size_t i = 0; i < conjuncts.count; i++) {
        Compare compare;
        Value *conjunct = (Value *)conjuncts.data[i];
        if (read_compare(pass, conjunct, &compare) && take_up(pass, block, &compare)) continue;
        if (block->op->code == OP_put || !may_read_without(pass, block, conjunct)) return false;
        conjunct = as_mask(pass, conjunct, block->mask->type);
        *rest = *rest ? build2(&pass->at, OP_and, *rest, conjunct) : conjunct;
    }
    return true;
}

/* ---- blocks ---- */

/* Of the block, along a dimension of the memory whose index varies. */
static int64_t block_extent(const Block *block, int dim)
{
    int64_t extent = 1;
    for (int t = block->first[dim]; t <= block->last[dim]; t++) extent *= block->tile->shape[t];
    return extent / block->indices[dim].divisor;
}

static bool read_block(Pass *pass, Op *op, Block *out)
{
    int rank = scattered_value(op)->type->rank;
    *out = (Block){.op = op, .memory = operand(op, memory), .mask = scattered_mask(op)};
    out->tile = scattered_value(op)->type;
    out->rank = out->memory->type->rank;
    if (out->rank == 0) return false;
    for (int t = 0; t < out->tile->rank; t++) out->memory_dim[t] = -1;
    for (int d = 0; d < out->rank; d++) {
        Affine *index = &out->indices[d];
        if (!affine_of(pass, op->operands[scattered_first(op) + d], DEPTH, index)) return false;
        if (!index->varies) continue;
        if (!is_count(index, out->tile, &out->first[d], &out->last[d]) ||
            (index->divisor > 1 && op->code != OP_gather) ||
            (rank += index->divisor > 1) > TYPE_RANK)
            return false;
        for (int t = out->first[d]; t <= out->last[d]; t++) {
            if (out->memory_dim[t] >= 0) return false;
            out->memory_dim[t] = d;
        }
    }
    for (int t = 0; t < out->tile->rank; t++) {
        const int d = out->memory_dim[t];
        if (d < 0 || t != out->first[d]) continue;
        out->dims[out->count] = d;
        out->shape[out->count++] = block_extent(out, d);
    }
    if (out->count > 0) return true;
    out->dims[0] = out->rank - 1;
    out->shape[0] = 1;
    out->count = 1;
    return true;
}

/* Each element of the tile has a place of its own. */
static bool is_one_to_one(const Block *block)
{
    for (int t = 0; t < block->tile->rank; t++)
        if (block->memory_dim[t] < 0 && block->tile->shape[t] > 1) return false;
    return true;
}

/* A part of a shared tile has to be inside it. */
static bool is_inside(Pass *pass, const Block *block)
{
    if (block->memory->type->kind == TYPE_VIEW) return true;
    for (int d = 0; d < block->rank; d++) {
        const Affine *index = &block->indices[d];
        const int64_t width = index->varies ? block_extent(block, d) : 1;
        int64_t low = 0, high = 0;
        if (index->base) {
            const Facts facts = facts_of(pass->facts, index->base);
            low = facts.low;
            high = facts.high;
        }
        const int64_t extent = block->memory->type->shape[d];
        if (low < 0 || width > extent || high > extent - width) return false;
    }
    return true;
}

static Value *shrunk_view(Pass *pass, const Block *block)
{
    const Op *view = block->memory->op;
    Value *extents[TYPE_RANK];
    bool same = true;
    for (int d = 0; d < block->rank; d++) {
        extents[d] = block->extents[d] ? block->extents[d] : operand_list(view, extents)[d];
        same &= !block->extents[d];
    }
    if (same) return block->memory;
    return build_view(&pass->at, operand(view, pointer), block->rank, extents,
                      operand_list(view, extents) + block->rank);
}

static Value *shared_part(Pass *pass, const Block *block)
{
    Value *operands[1 + TYPE_RANK] = {block->memory};
    bool whole = block->count == block->rank;
    for (int d = 0; d < block->rank; d++) {
        Value *base = block->indices[d].base;
        operands[1 + d] = build_cast(&pass->at, DTYPE_i32, number(pass, base, DTYPE_i32));
        whole &= !base && block->dims[d] == d && block->shape[d] == block->memory->type->shape[d];
    }
    if (whole) return block->memory;
    const Type *type = type_shared(pass->kernel->types, block->memory->type->dtype, block->count,
                                   block->shape, NULL);
    Op *part = build_op(&pass->at, OP_shared_view, 1 + block->rank, operands, 1, &type);
    op_set_ints(part, ATTR_dims, block->count, block->dims);
    return part->results;
}

static int add_offsets(Pass *pass, const Block *block, Value **operands, int count)
{
    for (int d = 0; d < block->rank; d++)
        operands[count++] = number(pass, block->indices[d].base, DTYPE_i32);
    return count;
}

static Value *load_block(Pass *pass, const Block *block)
{
    const Type *type =
        type_tile(pass->kernel->types, block->tile->dtype, block->count, block->shape, NULL);
    if (block->memory->type->kind == TYPE_SHARED)
        return build1(&pass->at, OP_shared_load, shared_part(pass, block));
    Value *operands[1 + TYPE_RANK] = {shrunk_view(pass, block)};
    const int count = add_offsets(pass, block, operands, 1);
    Op *load = build_op(&pass->at, OP_load, count, operands, 1, &type);
    op_set_ints(load, ATTR_dims, block->count, block->dims);
    return load->results;
}

static Value *with_shape(Pass *pass, Value *tile, int rank, const int64_t *shape)
{
    const Type *type = type_tile(pass->kernel->types, tile->type->dtype, rank, shape, NULL);
    if (tile->type == type) return tile;
    return build_op(&pass->at, OP_reshape, 1, &tile, 1, &type)->results;
}

static Value *broadcast_to(Pass *pass, Value *tile, int rank, const int64_t *shape)
{
    const Type *type = type_tile(pass->kernel->types, tile->type->dtype, rank, shape, NULL);
    if (tile->type == type) return tile;
    return build_op(&pass->at, OP_broadcast, 1, &tile, 1, &type)->results;
}

/* The block in the shape of the tile. A coordinate that is divided is two on the way. */
static Value *stretched(Pass *pass, const Block *block, Value *tile)
{
    int64_t apart[TYPE_RANK], whole[TYPE_RANK];
    int rank = 0;
    for (int t = 0; t < block->tile->rank; t++) {
        const int dim = block->memory_dim[t];
        if (dim >= 0 && t != block->first[dim]) continue;
        apart[rank] = dim >= 0 ? block_extent(block, dim) : 1;
        whole[rank] = dim >= 0 ? apart[rank] : block->tile->shape[t];
        rank++;
        if (dim < 0 || block->indices[dim].divisor == 1) continue;
        apart[rank] = 1;
        whole[rank++] = block->indices[dim].divisor;
    }
    tile = broadcast_to(pass, with_shape(pass, tile, rank, apart), rank, whole);
    return with_shape(pass, tile, block->tile->rank, block->tile->shape);
}

static Value *zero_tile(Pass *pass, const Type *tile)
{
    Value *zero = dtype_is_float(tile->dtype) ? build_number(&pass->at, tile->dtype, 0)
                                              : build_const(&pass->at, tile->dtype, 0);
    return build_op(&pass->at, OP_splat, 1, &zero, 1, &tile)->results;
}

static void replace_gather(Pass *pass, const Block *block, Value *rest)
{
    Value *loaded = load_block(pass, block);
    if (block->mask && loaded->op->code == OP_shared_load) op_set_int(loaded->op, ATTR_spare, 1);
    Value *tile = stretched(pass, block, loaded);
    if (rest) tile = build3(&pass->at, OP_select, rest, tile, zero_tile(pass, tile->type));
    value_replace(block->op->results, tile);
    op_erase(block->op);
}

static void replace_put(Pass *pass, const Block *block)
{
    Value *value = with_shape(pass, operand(block->op, value), block->count, block->shape);
    if (block->memory->type->kind == TYPE_SHARED) {
        build2(&pass->at, OP_shared_store, shared_part(pass, block), value);
    } else {
        Value *operands[2 + TYPE_RANK] = {shrunk_view(pass, block), value};
        const int count = add_offsets(pass, block, operands, 2);
        Op *store = build_op(&pass->at, OP_store, count, operands, 0, NULL);
        op_set_ints(store, ATTR_dims, block->count, block->dims);
    }
    op_erase(block->op);
}

static void visit(Op *op, void *context)
{
    Pass *pass = context;
    Block block;
    Value *rest;
    if (op_has(op, ATOMIC)) return;
    pass->at = builder_before(op);
    pass->affine = (Map){0}; /* what is built stands before this op alone */
    if (!read_block(pass, op, &block) || !is_inside(pass, &block) ||
        (op->code == OP_put && !is_one_to_one(&block)) || !take_mask(pass, &block, &rest))
        return;
    if (op->code == OP_gather)
        replace_gather(pass, &block, rest);
    else
        replace_put(pass, &block);
}

bool pass_affine(Kernel *kernel, PassContext *context)
{
    Pass pass = {.kernel = kernel, .arena = arena_new(), .facts = analysis_ranges(context)};
    kernel_visit_with(kernel, SCATTERED, visit, &pass);
    arena_free(pass.arena);
    return true;
}
