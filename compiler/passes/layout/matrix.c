/* matrix.c: chooses the instruction of each dot and how the block's warps share it: attributes
 * `instruction` and `dims` (warps along m, warps along n) of the dot; needs and leaves a TYPED
 * kernel.
 *
 * Warps are arranged so that one warp's operands take the fewest reads, as each element of them is
 * read from shared memory once a warp that needs it; bytes that do not lie side by side along k one
 * by one. Where one product is the left operand of another, rows stay with their warp. */
#include "passes/layout/matrix.h"

const MmaKind *matrix_kind(const Op *dot, const Target *target)
{
    static const TargetFeature features[] = {
#define MMA(name, operand, accumulator, k, feature, intrinsic) feature,
#include "ir/mma.def"
#undef MMA
    };
    const MmaKind *kind;
    for (int i = 0; (kind = mma_kind_at(i)) != NULL; i++)
        if (mma_multiplies(kind, dot, op_attr(dot, ATTR_tf32)) && target_has(target, features[i]))
            return kind;
    return NULL;
}

bool is_dot(const Op *op)
{
    return op_has(op, DOT);
}

int power_of_two_below(int number)
{
    while (number & (number - 1)) number &= number - 1;
    return number;
}

/* Also where that is not known: it is not in shared memory. */
static bool is_contiguous_along_k(const Op *dot, DotOperand number)
{
    InPlace place;
    if (!find_in_place(dot, number, &place)) return true;
    int dim = (number == DOT_A) != place.transposed ? 1 : 0;
    const Value *tile = place.tile;
    for (; tile->op->code == OP_shared_view; tile = operand(tile->op, tile))
        dim = (int)op_attr(tile->op, ATTR_dims)->integers[dim];
    return dim == tile->type->rank - 1;
}

/* Of a register's elements: ldmatrix transposes those of 16 bits. */
static int64_t reads_of_register(const Op *dot, DotOperand number)
{
    enum { TRANSPOSED_BITS = 16 };
    const int bits = dtype_bits(operand_list(dot, a)[number]->type->dtype);
    return bits >= TRANSPOSED_BITS || is_contiguous_along_k(dot, number) ? 1 : REGISTER_BITS / bits;
}

/* Warps beyond the instructions there are hold replicas: a power of two that divides m / 16 or n
 * / 8. */
static void arrange_warps(const Op *dot, MmaShape shape, int warps, int64_t out[2])
{
    const Type *c = operand(dot, c)->type;
    const int64_t of_a = reads_of_register(dot, DOT_A), of_b = reads_of_register(dot, DOT_B);
    int64_t best = INT64_MAX;
    out[0] = out[1] = 1;
    for (int along_m = 1; along_m <= warps; along_m *= 2)
        for (int along_n = 1; along_m * along_n <= warps; along_n *= 2) {
            if (c->shape[0] % (along_m * shape.m) != 0 || c->shape[1] % (along_n * shape.n) != 0)
                continue;
            const bool more = along_m * along_n > out[0] * out[1];
            const int64_t traffic = c->shape[0] / along_m * of_a + c->shape[1] / along_n * of_b;
            if (!more && (along_m * along_n < out[0] * out[1] || traffic > best)) continue;
            best = traffic;
            out[0] = along_m;
            out[1] = along_n;
        }
}

static const MmaKind *find_kind(const Op *dot, const Target *target)
{
    if (power_of_two_below(group_warps(op_threads(dot))) == 0) return NULL;
    const MmaKind *kind = matrix_kind(dot, target);
    return kind && operand(dot, c)->type->rank == 2 && mma_divides(kind, dot) ? kind : NULL;
}

bool dot_has_instruction(const Op *dot, const Target *target)
{
    return find_kind(dot, target) != NULL;
}

/* ---- products of products ---- */

typedef struct Choice {
    Kernel *kernel;
    const Target *target;
    Arena *arena; /* of the pass */
    Map in_rows;  /* dots whose rows should stay within a warp */
    Map seen;     /* values that the walk has met */
} Choice;

static void mark_sources(Choice *choice, const Value *value, const Op *user)
{
    const Op *op = value->op;
    if (!op || map_has(&choice->seen, value)) return;
    map_set(choice->arena, &choice->seen, value, choice);
    if (op->code == OP_dot) {
        map_set(choice->arena, &choice->in_rows, op, choice);
        map_set(choice->arena, &choice->in_rows, user, choice);
        return;
    }
    for (int i = 0; i < op->operand_count && op_has(op, ELEM); i++)
        mark_sources(choice, op->operands[i], user);
}

/* The left operand of a dot that is made of another's result: with all warps along m, a warp has
 * all of the rows that it needs of it, and nothing goes through shared memory. */
static void mark_chain(Op *dot, void *context)
{
    Choice *choice = context;
    choice->seen = (Map){0};
    if (dot->code == OP_dot) mark_sources(choice, operand(dot, a), dot);
}

/* ---- the choice ---- */

static const char *fault_of_kind(const Op *dot, const Target *target)
{
    return matrix_kind(dot, target) ? "its sizes are no multiples of any" : "none has these types";
}

/* Of a dot that is not wgmma's. */
static void remark_dot(const Choice *choice, const Op *dot, const MmaKind *kind, const char *fault)
{
    const Type *c = operand(dot, c)->type;
    const long long m = c->shape[0], n = c->shape[1], k = operand(dot, a)->type->shape[1];
    if (kind)
        kernel_remark(choice->kernel, dot->span,
                      "a product of %lld x %lld x %lld by mma.sync.%s, not wgmma: %s", m, n, k,
                      kind->name, fault);
    else
        kernel_remark(choice->kernel, dot->span,
                      "a product of %lld x %lld x %lld by fma, not a matrix instruction: %s", m, n,
                      k, fault_of_kind(dot, choice->target));
}

static void choose_instruction(Op *dot, void *context)
{
    const Choice *choice = context;
    if (dot->code != OP_dot || op_attr(dot, ATTR_instruction)) return;
    const char *fault = choose_wgmma(choice->kernel, choice->target, dot);
    if (!fault) return;
    const MmaKind *kind = find_kind(dot, choice->target);
    remark_dot(choice, dot, kind, fault);
    if (!kind && choose_slices(choice->kernel, choice->target, dot)) return;
    const int warps = power_of_two_below(group_warps(op_threads(dot)));
    Interner *names = choice->kernel->session->names;
    op_set_text(dot, ATTR_instruction, intern_text(names, kind ? kind->name : "fma"));
    if (!kind) return;
    const Type *c = operand(dot, c)->type;
    int64_t arrangement[2] = {warps, 1};
    if (!map_has(&choice->in_rows, dot) || c->shape[0] % (warps * kind->shape.m) != 0)
        arrange_warps(dot, kind->shape, warps, arrangement);
    op_set_ints(dot, ATTR_dims, 2, arrangement);
}

static bool is_left_in_flight(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_dot && op_attr(op, ATTR_async);
}

static void close_dot(Op *op, void *context)
{
    (void)context;
    if (op->code == OP_dot_shared && op_int(op, ATTR_async, 0)) op_set_int(op, ATTR_async, 0);
}

/* One that the author leaves in flight, but the tensor core does not do by itself, may go on with a
 * sum that is in flight, and is none of those that are counted for the waits: where there is one,
 * all are done at once. */
static void close_dots(Kernel *kernel)
{
    if (kernel_had(kernel, OP_dot) && region_find(kernel->host, is_left_in_flight, NULL))
        kernel_visit(kernel, close_dot, NULL);
}

bool pass_matrix(Kernel *kernel, PassContext *context)
{
    Choice choice = {.kernel = kernel, .target = context->target, .arena = arena_new()};
    kernel_visit_those(kernel, OP_dot, mark_chain, &choice);
    kernel_visit_those(kernel, OP_dot, choose_instruction, &choice);
    close_dots(kernel);
    arena_free(choice.arena);
    return true;
}
