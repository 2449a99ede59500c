/* lower.c: from tiles to the program of one thread; needs a SYNCED kernel, leaves it THREADED.
 *
 * A tile becomes the scalars that one thread holds of it, in the order of its layout's registers.
 * Each launch's region is written anew beside the old one: scalar ops are copied, a rule of the
 * table does the rest, and whatever a loop or branch carries is laid out flat. Ops that only say
 * where elements are (splat, broadcast, reshape, transpose, convert) become other names for the
 * same scalars. */
#include "passes/analysis/context.h"
#include "passes/lower/lower.h"

/* ---- values ---- */

static const Type *register_type(const Lower *lower, const Value *old)
{
    return old->type->kind == TYPE_TILE ? type_scalar(lower->kernel->types, old->type->dtype)
                                        : old->type;
}

/* ---- elementwise ---- */

/* Registers that hold the same operands as the one before share the result: those of a splat or a
 * broadcast. */
static bool same_operands(Value **const *operands, int count, int a, int b)
{
    for (int i = 0; i < count; i++)
        if (operands[i][a] != operands[i][b]) return false;
    return true;
}

static void lower_elements(Lower *lower, Op *op)
{
    enum { MOST = 1 + 2 * DP4A_BYTES };
    Value **tiles[MOST], *operands[MOST];
    CHECK(op->operand_count <= MOST && op->result_count == 1);
    for (int i = 0; i < op->operand_count; i++) {
        CHECK(op->operands[i]->type->layout == op->results[0].type->layout);
        tiles[i] = lower_tile(lower, op->operands[i]);
    }
    Value **results = lower_new_tile(lower, &op->results[0]);
    const Type *type = register_type(lower, &op->results[0]);
    for (int reg = 0; reg < register_count(&op->results[0]); reg++) {
        if (reg > 0 && same_operands(tiles, op->operand_count, reg, reg - 1)) {
            results[reg] = results[reg - 1];
            continue;
        }
        for (int i = 0; i < op->operand_count; i++) operands[i] = tiles[i][reg];
        results[reg] = lower_build(lower, op->code, op->operand_count, operands, type);
        op_keep_attrs(results[reg]->op, op);
    }
}

static void lower_cast(Lower *lower, Op *op)
{
    Value *result = &op->results[0];
    if (result->type->kind != TYPE_TILE) {
        op_clone(&lower->at, op, &lower->scalars);
        return;
    }
    CHECK(operand(op, a)->type->layout == result->type->layout);
    Value **from = lower_tile(lower, operand(op, a)), **to = lower_new_tile(lower, result);
    const int count = register_count(result);
    for (int reg = 0, done; reg < count; reg += done) {
        if (reg > 0 && from[reg] == from[reg - 1]) {
            to[reg] = to[reg - 1];
            done = 1;
            continue;
        }
        done = packed_cast(lower, result->type->dtype, from + reg, count - reg, to + reg);
        if (done > 0) continue;
        to[reg] = build_cast(&lower->at, result->type->dtype, from[reg]);
        done = 1;
    }
}

/* ---- other names ---- */

static void lower_splat(Lower *lower, Op *op)
{
    Value **registers = lower_new_tile(lower, &op->results[0]);
    Value *scalar = lower_scalar(lower, operand(op, a));
    for (int reg = 0; reg < register_count(&op->results[0]); reg++) registers[reg] = scalar;
}

static void lower_iota(Lower *lower, Op *op)
{
    const Coordinates coordinates = coordinates_of(lower, op->results[0].type->layout);
    const int dim = (int)op_int(op, ATTR_dim, 0);
    Value **registers = lower_new_tile(lower, &op->results[0]);
    for (int reg = 0; reg < register_count(&op->results[0]); reg++) {
        const Coordinate at = coordinate_at(lower, &coordinates, reg, dim);
        registers[reg] = address_add_number(lower, at.variable, at.rest);
    }
}

static void lower_in_group(Lower *lower, Op *op)
{
    const ThreadGroup group = {(int)op_int(op, ATTR_begin, 0), (int)op_int(op, ATTR_count, 1)};
    map_set(lower->arena, &lower->scalars, &op->results[0],
            group.count == 1 ? address_elected(lower, group.begin)
                             : address_in_group(lower, group));
}

static void lower_item(Lower *lower, Op *op)
{
    map_set(lower->arena, &lower->scalars, &op->results[0], lower_tile(lower, operand(op, a))[0]);
}

/* Where the operand has what the result has at `result`. */
typedef bool SourceRule(const Op *op, const int32_t *result, int32_t *out);

static bool broadcast_source(const Op *op, const int32_t *result, int32_t *out)
{
    const Type *operand = operand(op, a)->type;
    for (int d = 0; d < operand->rank; d++) out[d] = operand->shape[d] == 1 ? 0 : result[d];
    return true;
}

static bool transpose_source(const Op *op, const int32_t *result, int32_t *out)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    for (int d = 0; d < dims->count; d++) out[dims->integers[d]] = result[d];
    return true;
}

static bool part_source(const Op *op, const int32_t *result, int32_t *out)
{
    const Attr *begins = op_attr(op, ATTR_begins);
    for (int d = 0; d < begins->count; d++) out[d] = result[d] + (int32_t)begins->integers[d];
    return true;
}

static bool reshape_source(const Op *op, const int32_t *result, int32_t *out)
{
    const Type *from = operand(op, a)->type, *to = op->results[0].type;
    int64_t linear = 0;
    for (int d = 0; d < to->rank; d++) {
        if (result[d] >= to->shape[d]) return false;
        linear = linear * to->shape[d] + result[d];
    }
    for (int d = from->rank - 1; d >= 0; d--) {
        out[d] = (int32_t)(linear % from->shape[d]);
        linear /= from->shape[d];
    }
    return true;
}

static void rename_registers(Lower *lower, Op *op, SourceRule *source)
{
    const Layout *layout = op->results[0].type->layout;
    Value **from = lower_tile(lower, operand(op, a)), **to = lower_new_tile(lower, &op->results[0]);
    const RegisterIndex index = register_index(lower, operand(op, a)->type->layout);
    for (int reg = 0; reg < register_count(&op->results[0]); reg++) {
        int32_t result[LAYOUT_RANK], operand[LAYOUT_RANK];
        layout_coordinates(layout, reg, 0, 0, result);
        const int found = source(op, result, operand) ? register_at(&index, operand) : -1;
        /* only padding is held by no register; then any will do */
        to[reg] = found >= 0 ? from[found] : address_zero(lower, op->results[0].type->dtype);
    }
}

static void lower_broadcast(Lower *lower, Op *op)
{
    rename_registers(lower, op, broadcast_source);
}

static void lower_part(Lower *lower, Op *op)
{
    rename_registers(lower, op, part_source);
}

static void lower_transpose(Lower *lower, Op *op)
{
    rename_registers(lower, op, transpose_source);
}

static void lower_reshape(Lower *lower, Op *op)
{
    rename_registers(lower, op, reshape_source);
}

static void lower_convert(Lower *lower, Op *op)
{
    const Layout *from = operand(op, a)->type->layout, *to = op->results[0].type->layout;
    if (layout_conversion(from, to) == CONVERT_SHUFFLE && lower_exchange(lower, op)) return;
    Value **source = lower_tile(lower, operand(op, a)),
          **registers = lower_new_tile(lower, &op->results[0]);
    for (int reg = 0; reg < register_count(&op->results[0]); reg++)
        registers[reg] = from == to ? source[reg] : source[layout_source_register(from, to, reg)];
}

/* ---- control flow: what is carried, laid out flat ---- */

typedef struct Flat {
    VEC(Value *) values;
    VEC(const Type *) types;
} Flat;

/* Registers that are carried as one: small elements by the word, as the machine holds them, and by
 * the vector where they come and go by vectors. */
static int word_elements(const Value *value)
{
    const Type *type = value->type;
    if (type->kind != TYPE_TILE || type->dtype == DTYPE_b1 || dtype_bits(type->dtype) >= 32)
        return 1;
    const int bits = dtype_bits(type->dtype), most = 8 * ACCESS_BYTES / bits;
    int elements = REGISTER_BITS / bits;
    for (int d = 0; d < type->rank; d++) {
        const int run = layout_register_run(type->layout, d);
        if (run > elements) elements = run < most ? run : most;
    }
    return register_count(value) % elements == 0 ? elements : 1;
}

static const Type *word_type(const Lower *lower, const Value *old)
{
    const int elements = word_elements(old);
    return elements == 1 ? register_type(lower, old)
                         : type_vector(lower->kernel->types, old->type->dtype, elements);
}

static void flatten(Lower *lower, Flat *flat, Value *old)
{
    const int elements = word_elements(old);
    if (old->type->kind != TYPE_TILE) {
        vec_push(lower->arena, &flat->values, lower_scalar(lower, old));
        return;
    }
    for (int reg = 0; reg < register_count(old); reg += elements) {
        Value *const *registers = lower_tile(lower, old) + reg;
        vec_push(lower->arena, &flat->values,
                 elements == 1 ? *registers : memory_pack(lower, elements, registers));
    }
}

static Flat flatten_operands(Lower *lower, const Op *op)
{
    Flat flat = {0};
    for (int i = 0; i < op->operand_count; i++) flatten(lower, &flat, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) {
        const Value *result = &op->results[i];
        for (int reg = 0; reg < register_count(result); reg += word_elements(result))
            vec_push(lower->arena, &flat.types, word_type(lower, result));
    }
    return flat;
}

static void unpack_word(Lower *lower, Value *word, int elements, Value **registers)
{
    for (int i = 0; i < elements; i++)
        registers[i] = elements == 1 ? word : memory_element(lower, word, i);
}

static void lower_ops(Lower *lower, const Region *from);

static void add_arguments(Lower *lower, const Region *from, Region *to)
{
    for (int i = 0; i < from->argument_count; i++) {
        Value *old = from->arguments[i];
        const int elements = word_elements(old);
        if (old->type->kind != TYPE_TILE) {
            map_set(lower->arena, &lower->scalars, old,
                    region_add_argument(to, old->type, old->name));
            continue;
        }
        Value **registers = lower_new_tile(lower, old);
        for (int reg = 0; reg < register_count(old); reg += elements) {
            Value *word = region_add_argument(to, word_type(lower, old), old->name);
            unpack_word(lower, word, elements, registers + reg);
        }
    }
}

static void bind_results(Lower *lower, const Op *old, Op *new_op)
{
    int at = 0;
    for (int i = 0; i < old->result_count; i++) {
        Value *result = &old->results[i];
        const int elements = word_elements(result);
        if (result->type->kind != TYPE_TILE) {
            map_set(lower->arena, &lower->scalars, result, &new_op->results[at++]);
            continue;
        }
        Value **registers = lower_new_tile(lower, result);
        for (int reg = 0; reg < register_count(result); reg += elements)
            unpack_word(lower, &new_op->results[at++], elements, registers + reg);
    }
}

static void lower_structured(Lower *lower, Op *op)
{
    const Flat flat = flatten_operands(lower, op);
    Op *copy = build_op(&lower->at, op->code, (int)flat.values.count, flat.values.data,
                        (int)flat.types.count, flat.types.data);
    op_keep_attrs(copy, op);
    const Builder outside = lower->at;
    const ThreadGroup group = lower->group;
    for (int r = 0; r < op->region_count; r++) {
        lower->group = is_group(op) && r == 0 ? group_threads(op) : group;
        lower->at = builder_at_end(copy->regions[r], op->span);
        add_arguments(lower, op->regions[r], copy->regions[r]);
        lower_ops(lower, op->regions[r]);
    }
    lower->at = outside;
    lower->group = group;
    bind_results(lower, op, copy);
}

static void lower_end(Lower *lower, Op *op)
{
    const Flat flat = flatten_operands(lower, op);
    build_op(&lower->at, op->code, (int)flat.values.count, flat.values.data, 0, NULL);
}

/* ---- the walk ---- */

static void lower_nothing(Lower *lower, Op *op)
{
    (void)lower;
    (void)op;
}

static LowerRule *const rules[OP_COUNT] = {
    [OP_cast] = lower_cast,
    [OP_splat] = lower_splat,
    [OP_iota] = lower_iota,
    [OP_broadcast] = lower_broadcast,
    [OP_reshape] = lower_reshape,
    [OP_part] = lower_part,
    [OP_transpose] = lower_transpose,
    [OP_convert] = lower_convert,
    [OP_reduce] = lower_reduce,
    [OP_scan] = lower_scan,
    [OP_item] = lower_item,
    [OP_in_group] = lower_in_group,
    [OP_dot] = lower_dot,
    [OP_mma_sync] = lower_mma_sync,
    [OP_dot_shared] = lower_dot_shared,
    [OP_dot_slices] = lower_dot_fma,
    [OP_dot_commit] = lower_dot_commit,
    [OP_dot_wait] = lower_dot_wait,
    [OP_load] = lower_load,
    [OP_store] = lower_store,
    [OP_thread_id] = lower_thread_id,
    [OP_local_alloc] = lower_local_alloc,
    [OP_mbarrier_init] = lower_mbarrier_init,
    [OP_mbarrier_arrive] = lower_mbarrier_arrive,
    [OP_mbarrier_expect_tx] = lower_mbarrier_expect_tx,
    [OP_mbarrier_arrive_on_copies] = lower_mbarrier_arrive_on_copies,
    [OP_mbarrier_arrive_and_wait] = lower_mbarrier_arrive_and_wait,
    [OP_mbarrier_wait] = lower_mbarrier_wait,
    [OP_tma_load] = lower_tma_load,
    [OP_tma_store] = lower_tma_store,
    [OP_tma_store_commit] = lower_tma_store_commit,
    [OP_tma_store_wait] = lower_tma_store_wait,
    [OP_barrier] = lower_barrier,
    [OP_pipeline_init] = lower_pipeline_init,
    [OP_producer_acquire] = lower_producer_acquire,
    [OP_producer_commit] = lower_producer_commit,
    [OP_consumer_wait] = lower_consumer_wait,
    [OP_consumer_try_wait] = lower_consumer_try_wait,
    [OP_consumer_release] = lower_consumer_release,
    [OP_order_wait] = lower_order_wait,
    [OP_order_arrive] = lower_order_arrive,
    [OP_element_load] = lower_element_load,
    [OP_element_store] = lower_element_store,
    [OP_element_atomic] = lower_element_atomic,
    [OP_copy_async] = lower_copy_async,
    [OP_atomic] = lower_atomic,
    [OP_gather] = lower_gather,
    [OP_put] = lower_put,
    [OP_shared_alloc] = lower_nothing,
    [OP_shared_reshape] = lower_nothing,
    [OP_shared_peer] = lower_nothing,
    [OP_shared_view] = lower_nothing, /* likewise */
    [OP_shared_load] = lower_shared_load,
    [OP_shared_store] = lower_shared_store,
    [OP_view] = lower_nothing, /* its loads and stores look through it */
    [OP_assume] = lower_assume,
    [OP_for] = lower_structured,
    [OP_while] = lower_structured,
    [OP_if] = lower_structured,
    [OP_yield] = lower_end,
    [OP_condition] = lower_end,
};

/* What is masked may have reasons. */
static void watch_parts(Lower *lower, const Op *op)
{
    if (op_has(op, PURE) || op_int(op, ATTR_masked, 0)) return;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_SHARED) shared_watch(lower, op->operands[i]);
}

static void lower_op(Lower *lower, Op *op)
{
    lower->at.span = op->span;
    lower->spare = op_int(op, ATTR_spare, 0);
    lower->prefetch_size = (int)op_int(op, ATTR_prefetch_size, 0);
    lower->any = op_int(op, ATTR_any, 0);
    watch_parts(lower, op);
    if (rules[op->code])
        rules[op->code](lower, op);
    else if (op_has_tiles(op))
        lower_elements(lower, op);
    else
        op_clone(&lower->at, op, &lower->scalars);
}

static void lower_ops(Lower *lower, const Region *from)
{
    for (Op *op = from->first; op; op = op_next(op)) lower_op(lower, op);
}

static void lower_launch(Lower *lower, Op *launch)
{
    Builder before = builder_before(launch);
    Op *copy = build_op(&before, OP_launch, launch->operand_count, launch->operands, 0, NULL);
    op_keep_attrs(copy, launch);
    lower->top = launch_region(copy);
    lower->group = launch_threads(launch);
    lower->at = builder_at_end(lower->top, launch->span);
    lower_note_reads(lower, launch_region(launch));
    lower_ops(lower, launch_region(launch));
    op_erase(launch);
}

bool pass_lower(Kernel *kernel, PassContext *context)
{
    FactTable *facts = analysis_ranges(context);
    for (Op *op = kernel->host->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code != OP_launch) continue;
        Lower lower = {
            .kernel = kernel, .target = context->target, .arena = arena_new(), .facts = facts};
        lower.keys = interner_new(lower.arena);
        lower_launch(&lower, op);
        arena_free(lower.arena);
    }
    for (Op *op = kernel->host->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code == OP_assume) op_erase(op); /* its require stays */
    }
    kernel->stage = STAGE_THREADED;
    return true;
}
