/* ranges.c: facts about integers: a divisor and a range.
 *
 * Answers are computed on demand from the definition of a value and remembered. Ranges are computed
 * in a wider type; a result that may leave its element type wraps, so that nothing but the power of
 * two in its divisor is kept. Of u64 no range is followed, since it has no room in an int64_t. */
#include "base/vec.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

struct FactTable {
    Kernel *kernel;
    Arena *arena;
    Map known;   /* Value -> Facts */
    Map assumed; /* Value -> Assumed: the author's word */
    int depth;   /* of values that are looked at behind others */
};

typedef struct Assumed Assumed;
struct Assumed {
    const Op *op;
    const Assumed *next;
};

enum { DEEPEST = 1000 }; /* beyond, nothing is known: a stack has an end */
enum {
    SUM_TERMS = 8, /* values that a difference is followed to */
    SUM_DEPTH = 8  /* sums of sums */
};

typedef Facts FactRule(FactTable *table, const Value *value);

/* ---- numbers ---- */

bool facts_are_bounded(Facts facts)
{
    return facts.low > INT32_MIN && facts.high < INT32_MAX;
}

bool order_of(const Op *compare, Order *out)
{
    const char *predicate = op_attr(compare, ATTR_predicate)->text;
    const bool turned = predicate[0] == 'g';
    *out = (Order){compare->operands[turned], compare->operands[!turned], predicate[1] == 'e'};
    return turned || predicate[0] == 'l'; /* lt, le, gt, ge */
}

int64_t divisor_common(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static int64_t power_of_two_in(int64_t multiple)
{
    return multiple & -multiple;
}

/* 2^62 divides what 0 does not: a cap that keeps products of divisors in range. */
static int64_t multiple_product(int64_t a, int64_t b)
{
    const Wide product = (Wide)a * b;
    if (product <= ((Wide)1 << 62)) return (int64_t)product;
    return power_of_two_in(a) > power_of_two_in(b) ? power_of_two_in(a) : power_of_two_in(b);
}

static int64_t multiple_of_number(int64_t number)
{
    if (number == INT64_MIN) return (int64_t)1 << 62;
    return number < 0 ? -number : number;
}

static Facts facts_unknown(DType dtype)
{
    Facts facts = {1, INT64_MIN, INT64_MAX};
    const int bits = dtype_bits(dtype);
    if (dtype_class(dtype) == DTYPE_CLASS_FLOAT || bits == 64) return facts;
    if (dtype_is_signed(dtype)) {
        facts.low = -((int64_t)1 << (bits - 1));
        facts.high = ((int64_t)1 << (bits - 1)) - 1;
        return facts;
    }
    facts.low = 0;
    facts.high = ((int64_t)1 << bits) - 1;
    return facts;
}

/* The facts of a result that lies in [low, high] unless it wraps. */
static Facts facts_fit(DType dtype, int64_t multiple, Wide low, Wide high)
{
    Facts facts = facts_unknown(dtype);
    if (dtype == DTYPE_u64 || low < facts.low || high > facts.high) {
        facts.multiple = multiple ? power_of_two_in(multiple) : 1;
        return facts;
    }
    facts.multiple = low == 0 && high == 0 ? 0 : multiple;
    facts.low = (int64_t)low;
    facts.high = (int64_t)high;
    return facts;
}

static Facts facts_union(Facts a, Facts b)
{
    return (Facts){divisor_common(a.multiple, b.multiple), a.low < b.low ? a.low : b.low,
                   a.high > b.high ? a.high : b.high};
}

/* Of an operand of the op that made the value. */
#define facts_operand(table, value, name) facts_of(table, operand((value)->op, name))

static bool is_exact(Facts facts, int64_t *out)
{
    *out = facts.low;
    return facts.low == facts.high;
}

/* ---- rules, one an op ---- */

static Facts rule_const(FactTable *table, const Value *value)
{
    int64_t number;
    (void)table;
    if (!value_constant(value, &number)) return facts_unknown(value->type->dtype);
    return (Facts){multiple_of_number(number), number, number};
}

static Facts rule_add(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    return facts_fit(value->type->dtype, divisor_common(a.multiple, b.multiple),
                     (Wide)a.low + b.low, (Wide)a.high + b.high);
}

static Facts rule_sub(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    Wide low = (Wide)a.low - b.high, high = (Wide)a.high - b.low;
    int64_t least, most;
    if (facts_difference(table, operand(value->op, a), operand(value->op, b), &least, &most)) {
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    return facts_fit(value->type->dtype, divisor_common(a.multiple, b.multiple), low, high);
}

static Facts product(DType dtype, Facts a, Facts b)
{
    const Wide corners[4] = {(Wide)a.low * b.low, (Wide)a.low * b.high, (Wide)a.high * b.low,
                             (Wide)a.high * b.high};
    Wide low = corners[0], high = corners[0];
    for (int i = 1; i < 4; i++) {
        low = corners[i] < low ? corners[i] : low;
        high = corners[i] > high ? corners[i] : high;
    }
    return facts_fit(dtype, multiple_product(a.multiple, b.multiple), low, high);
}

static Facts rule_mul(FactTable *table, const Value *value)
{
    return product(value->type->dtype, facts_operand(table, value, a),
                   facts_operand(table, value, b));
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Division by a positive number is monotonic: the range follows its ends. */
static Facts rule_division(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    const bool floors = value->op->code == OP_floordiv;
    if (value->type->dtype == DTYPE_u64 || b.low < 1) return facts_unknown(value->type->dtype);
    const int64_t least = a.low < 0 ? b.low : b.high, most = a.high < 0 ? b.high : b.low;
    const int64_t low = floors ? floor_quotient(a.low, least) : a.low / least;
    const int64_t high = floors ? floor_quotient(a.high, most) : a.high / most;
    int64_t divisor, multiple = 1;
    if (is_exact(b, &divisor) && a.multiple % divisor == 0) multiple = a.multiple / divisor;
    return facts_fit(value->type->dtype, multiple, low, high);
}

static Facts rule_remainder(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    const int64_t multiple = divisor_common(a.multiple, b.multiple);
    Facts facts = facts_unknown(value->type->dtype);
    facts.multiple = b.low >= 1 && multiple ? multiple : 1;
    if (value->type->dtype == DTYPE_u64 || b.low < 1) return facts;
    const bool negative = value->op->code == OP_rem && a.low < 0;
    facts.low = negative ? -(b.high - 1) : 0;
    facts.high = b.high - 1;
    if (a.low >= 0 && a.high < facts.high) facts.high = a.high;
    return facts;
}

static Facts rule_min(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    Facts facts = facts_union(a, b);
    facts.high = a.high < b.high ? a.high : b.high;
    return facts;
}

static Facts rule_max(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    Facts facts = facts_union(a, b);
    facts.low = a.low > b.low ? a.low : b.low;
    return facts;
}

/* A mask that is not negative bounds the result; low bits that are zero on either side stay zero.
 */
static Facts rule_and(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    Facts facts = facts_unknown(value->type->dtype);
    const int64_t p = power_of_two_in(a.multiple), q = power_of_two_in(b.multiple);
    facts.multiple = p == 0 || q == 0 ? 0 : p > q ? p : q;
    if (value->type->dtype == DTYPE_u64 || (a.low < 0 && b.low < 0)) return facts;
    facts.low = 0;
    facts.high = a.low < 0 || (b.low >= 0 && b.high < a.high) ? b.high : a.high;
    return facts;
}

static Facts rule_bits(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a), b = facts_operand(table, value, b);
    Facts facts = facts_unknown(value->type->dtype);
    facts.multiple = divisor_common(power_of_two_in(a.multiple), power_of_two_in(b.multiple));
    if (value->type->dtype == DTYPE_u64 || a.low < 0 || b.low < 0) return facts;
    facts.low = 0;
    while (facts.high > 1 && facts.high / 2 >= a.high && facts.high / 2 >= b.high) facts.high /= 2;
    return facts;
}

static Facts rule_shl(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a);
    int64_t by;
    if (!is_exact(facts_operand(table, value, b), &by) || by < 0 || by > 61)
        return facts_unknown(value->type->dtype);
    const int64_t factor = (int64_t)1 << by;
    return product(value->type->dtype, a, (Facts){factor, factor, factor});
}

static Facts rule_shr(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a);
    int64_t by;
    if (value->type->dtype == DTYPE_u64 || !is_exact(facts_operand(table, value, b), &by) ||
        by < 0 || by > 61)
        return facts_unknown(value->type->dtype);
    const int64_t divisor = (int64_t)1 << by;
    return facts_fit(value->type->dtype, a.multiple % divisor == 0 ? a.multiple / divisor : 1,
                     floor_quotient(a.low, divisor), floor_quotient(a.high, divisor));
}

static Facts rule_neg(FactTable *table, const Value *value)
{
    const Facts a = facts_operand(table, value, a);
    return facts_fit(value->type->dtype, a.multiple, -(Wide)a.high, -(Wide)a.low);
}

static Facts rule_select(FactTable *table, const Value *value)
{
    return facts_union(facts_operand(table, value, a), facts_operand(table, value, b));
}

static Facts rule_cast(FactTable *table, const Value *value)
{
    const Value *from = operand(value->op, a);
    if (dtype_class(from->type->dtype) == DTYPE_CLASS_FLOAT || value->type->dtype == DTYPE_b1)
        return facts_unknown(value->type->dtype);
    const Facts a = facts_of(table, from);
    if (from->type->dtype == DTYPE_u64) {
        Facts facts = facts_unknown(value->type->dtype);
        facts.multiple = a.multiple ? power_of_two_in(a.multiple) : 0;
        return facts;
    }
    return facts_fit(value->type->dtype, a.multiple, a.low, a.high);
}

/* A block runs, so its grid has at least one block along each dimension. */
static Facts rule_block_idx(FactTable *table, const Value *value)
{
    const Op *launch = op_enclosing(value->op, OP_launch);
    Facts facts = {1, 0, INT32_MAX - 1};
    if (!launch) return facts;
    const Facts grid = facts_of(table, operand_list(launch, x)[op_int(value->op, ATTR_dim, 0)]);
    if (grid.high >= 1 && grid.high - 1 < facts.high) facts.high = grid.high - 1;
    facts.multiple = facts.high == 0 ? 0 : 1;
    return facts;
}

/* Passes that give a block more threads leave alone what asks which one it is (PER_THREAD). */
static Facts rule_thread_id(FactTable *table, const Value *value)
{
    const Op *launch = op_enclosing(value->op, OP_launch);
    (void)table;
    return (Facts){1, 0, launch ? launch_threads(launch).count - 1 : INT32_MAX};
}

static Facts rule_cluster_rank(FactTable *table, const Value *value)
{
    const Op *launch = op_enclosing(value->op, OP_launch);
    (void)table;
    const int64_t blocks = launch ? launch_cluster(launch) : INT16_MAX;
    return (Facts){blocks == 1 ? 0 : 1, 0, blocks - 1};
}

static Facts rule_grid_dim(FactTable *table, const Value *value)
{
    const Op *launch = op_enclosing(value->op, OP_launch);
    Facts facts = {1, 1, INT32_MAX};
    if (!launch) return facts;
    const Facts grid = facts_of(table, operand_list(launch, x)[op_int(value->op, ATTR_dim, 0)]);
    facts.multiple = grid.multiple ? grid.multiple : 1;
    facts.high = grid.high >= 1 && grid.high < facts.high ? grid.high : facts.high;
    facts.low = grid.low > 1 ? grid.low : 1;
    return facts;
}

int64_t facts_address_unit(DType dtype, int64_t count)
{
    return dtype_is_packed(dtype) ? count : dtype_memory_bytes(dtype, count);
}

static Facts rule_ptr_add(FactTable *table, const Value *value)
{
    const Facts pointer = facts_operand(table, value, pointer),
                index = facts_operand(table, value, index);
    const int64_t unit = facts_address_unit(value->type->dtype, 1);
    return (Facts){divisor_common(pointer.multiple, multiple_product(index.multiple, unit)),
                   INT64_MIN, INT64_MAX};
}

/* Of a byte's address, whatever lies there. */
static int64_t elements_a_byte(DType dtype)
{
    return dtype_is_packed(dtype) ? 8 / dtype_memory_bits(dtype) : 1;
}

static Facts rule_ptr_cast(FactTable *table, const Value *value)
{
    Facts facts = facts_operand(table, value, pointer);
    const int64_t from = elements_a_byte(operand(value->op, pointer)->type->dtype);
    facts.multiple = facts.multiple % from == 0 ? facts.multiple / from : 1;
    facts.multiple = multiple_product(facts.multiple, elements_a_byte(value->type->dtype));
    return facts;
}

static Facts rule_same(FactTable *table, const Value *value)
{
    return facts_operand(table, value, a);
}

static Facts rule_shuffle(FactTable *table, const Value *value)
{
    return facts_operand(table, value, value);
}

static Facts rule_check_index(FactTable *table, const Value *value)
{
    return facts_operand(table, value, index);
}

/* Of a tile: what holds of all its elements. */
static Facts rule_iota(FactTable *table, const Value *value)
{
    (void)table;
    const int64_t extent = value->type->shape[op_int(value->op, ATTR_dim, 0)];
    return (Facts){extent == 1 ? 0 : 1, 0, extent - 1};
}

static Facts rule_shared_base(FactTable *table, const Value *value)
{
    (void)table;
    const int64_t offset = op_int(value->op, ATTR_offset, 0);
    return (Facts){divisor_common(offset, 1024), INT64_MIN, INT64_MAX};
}

static FactRule *const rules[OP_COUNT] = {
    [OP_const] = rule_const,
    [OP_add] = rule_add,
    [OP_sub] = rule_sub,
    [OP_mul] = rule_mul,
    [OP_div] = rule_division,
    [OP_floordiv] = rule_division,
    [OP_rem] = rule_remainder,
    [OP_floormod] = rule_remainder,
    [OP_min] = rule_min,
    [OP_max] = rule_max,
    [OP_and] = rule_and,
    [OP_or] = rule_bits,
    [OP_xor] = rule_bits,
    [OP_shl] = rule_shl,
    [OP_shr] = rule_shr,
    [OP_neg] = rule_neg,
    [OP_select] = rule_select,
    [OP_cast] = rule_cast,
    [OP_block_idx] = rule_block_idx,
    [OP_thread_id] = rule_thread_id,
    [OP_grid_dim] = rule_grid_dim,
    [OP_cluster_rank] = rule_cluster_rank,
    [OP_ptr_add] = rule_ptr_add,
    [OP_ptr_cast] = rule_ptr_cast,
    [OP_iota] = rule_iota,
    [OP_splat] = rule_same,
    [OP_broadcast] = rule_same,
    [OP_reshape] = rule_same,
    [OP_transpose] = rule_same,
    [OP_convert] = rule_same,
    [OP_shuffle] = rule_shuffle,
    [OP_check_index] = rule_check_index,
    [OP_shared_base] = rule_shared_base,
};

/* ---- values that no op makes ---- */

/* The variable of a loop that runs: from begin on, in steps, below end. */
static Facts facts_of_induction(FactTable *table, const Value *value, const Op *loop)
{
    const Facts begin = facts_of(table, operand(loop, begin)),
                end = facts_of(table, operand(loop, end));
    const Facts step = facts_of(table, operand(loop, step));
    Facts facts = facts_unknown(value->type->dtype);
    facts.multiple = divisor_common(begin.multiple, step.multiple);
    if (value->type->dtype == DTYPE_u64) return facts;
    facts.low = begin.low;
    facts.high = end.high == INT64_MAX || end.high == INT64_MIN ? end.high : end.high - 1;
    int64_t first, by;
    if (is_exact(begin, &first) && is_exact(step, &by) && by > 0 && facts.high > first)
        facts.high = (int64_t)(first + ((Wide)facts.high - first) / by * by);
    if (facts.high < facts.low) facts.high = facts.low;
    if (facts.low == 0 && facts.high == 0)
        facts.multiple = 0;
    else if (facts.multiple == 0)
        facts.multiple = 1;
    return facts;
}

static Facts facts_of_argument(FactTable *table, const Value *value)
{
    const Op *loop = value->region->parent;
    if (loop && loop->code == OP_for && value->index == 0)
        return facts_of_induction(table, value, loop);
    return facts_unknown(value->type->dtype);
}

static Facts facts_of_parameter(FactTable *table, const Value *value)
{
    const Parameter *parameter = &table->kernel->parameters[value->index];
    Facts facts = facts_unknown(value->type->dtype);
    if (value->type->kind == TYPE_POINTER)
        facts = (Facts){dtype_bytes(value->type->dtype), INT64_MIN, INT64_MAX};
    if (parameter->is_key && value->type->kind == TYPE_SCALAR &&
        !dtype_is_float(value->type->dtype))
        return (Facts){multiple_of_number(parameter->key), parameter->key, parameter->key};
    if (parameter->multiple > facts.multiple) facts.multiple = parameter->multiple;
    if (value->type->kind == TYPE_POINTER)
        facts.multiple = multiple_product(facts.multiple, elements_a_byte(value->type->dtype));
    return facts;
}

static Facts facts_compute(FactTable *table, const Value *value)
{
    if (value->region) return facts_of_argument(table, value);
    if (!value->op) return facts_of_parameter(table, value);
    if (rules[value->op->code]) return rules[value->op->code](table, value);
    return facts_unknown(value->type->dtype);
}

/* What is said of a value holds where the value is there. */
static bool is_said_of_all(const Op *op, const Value *value)
{
    if (value->region) return op->parent == value->region;
    if (value->op) return op->parent == value->op->parent;
    return op->parent->parent == NULL; /* a parameter */
}

static void note_assumption(FactTable *table, Op *op)
{
    if (!is_said_of_all(op, operand(op, value))) return;
    Assumed *assumed = arena_new_of(table->arena, Assumed);
    *assumed = (Assumed){.op = op, .next = map_get(&table->assumed, operand(op, value))};
    map_set(table->arena, &table->assumed, operand(op, value), assumed);
}

static void apply_assumption(const FactTable *table, const Value *value, Facts *facts)
{
    for (const Assumed *assumed = map_get(&table->assumed, value); assumed;
         assumed = assumed->next) {
        const int64_t multiple = op_int(assumed->op, ATTR_multiple, 1);
        const int64_t low = op_int(assumed->op, ATTR_low, INT64_MIN);
        const int64_t high = op_int(assumed->op, ATTR_high, INT64_MAX);
        if (multiple > 1 && facts->multiple != 0) {
            const int64_t common = divisor_common(facts->multiple, multiple);
            facts->multiple = multiple_product(facts->multiple / common, multiple);
        }
        if (value->type->dtype == DTYPE_u64 || low > facts->high || high < facts->low) continue;
        if (low > facts->low) facts->low = low;
        if (high < facts->high) facts->high = high;
        if (facts->low == 0 && facts->high == 0) facts->multiple = 0;
    }
}

/* A number below 0 becomes another one where it loses its sign. */
static bool keeps_sign(FactTable *table, const Value *cast)
{
    const Value *from = operand(cast->op, a);
    const DType old = from->type->dtype, new = cast->type->dtype;
    if (dtype_is_signed(old) == dtype_is_signed(new)) return true;
    const Facts facts = facts_of(table, from);
    return dtype_is_signed(new) ? facts.high <= facts_unknown(new).high : facts.low >= 0;
}

const Value *facts_uncast(FactTable *table, const Value *value)
{
    while (type_is_scalar(value->type) && value_is_widened(value) && keeps_sign(table, value))
        value = operand(value->op, a);
    return value;
}

/* How many blocks there are is what a block's index stays below. */
static bool is_blocks_limit(FactTable *table, const Value *index, const Value *limit)
{
    const Op *launch =
        index->op && index->op->code == OP_block_idx ? op_enclosing(index->op, OP_launch) : NULL;
    return launch &&
           facts_uncast(table, operand_list(launch, x)[op_int(index->op, ATTR_dim, 0)]) == limit;
}

bool facts_gap(FactTable *table, const Value *value, const Value *limit, int64_t *gap)
{
    value = facts_uncast(table, value);
    limit = facts_uncast(table, limit);
    bool found = is_blocks_limit(table, value, limit);
    if (found) *gap = 1;
    for (const Assumed *assumed = map_get(&table->assumed, value); assumed;
         assumed = assumed->next) {
        const Op *op = assumed->op;
        if (op->operand_count < 2 || facts_uncast(table, operand(op, limit)) != limit) continue;
        const int64_t known = op_int(op, ATTR_gap, 0);
        if (!found || known > *gap) *gap = known;
        found = true;
    }
    return found;
}

FactTable *facts_new(Kernel *kernel)
{
    Arena *arena = arena_new();
    FactTable *table = arena_new_of(arena, FactTable);
    table->kernel = kernel;
    table->arena = arena;
    region_each_of (op, kernel->host, OP_assume) note_assumption(table, op);
    return table;
}

void facts_free(FactTable *table)
{
    if (table) arena_free(table->arena);
}

Facts facts_of(FactTable *table, const Value *value)
{
    const Facts *known = map_get(&table->known, value);
    if (known) return *known;
    if (table->depth == DEEPEST) return facts_unknown(value->type->dtype);
    Facts *facts = arena_new_of(table->arena, Facts);
    table->depth++;
    *facts = facts_compute(table, value);
    table->depth--;
    apply_assumption(table, value, facts);
    map_set(table->arena, &table->known, value, facts);
    return *facts;
}

/* ---- differences ---- */

/* A number and multiples of values, of which each appears once. */
typedef struct Sum {
    Wide number;
    bool may_wrap; /* ops that lose upper bits are taken for sums, too */
    bool may_lose; /* and casts that do for the same numbers */
    int count;
    struct {
        const Value *value;
        int64_t factor;
    } terms[SUM_TERMS];
} Sum;

static bool sum_add_term(Sum *sum, const Value *value, int64_t factor)
{
    int at = 0;
    while (at < sum->count && sum->terms[at].value != value) at++;
    if (at == SUM_TERMS) return false;
    if (at == sum->count) {
        sum->count++;
        sum->terms[at].value = value;
        sum->terms[at].factor = 0;
    }
    return !__builtin_add_overflow(sum->terms[at].factor, factor, &sum->terms[at].factor);
}

/* Whether what the op makes is the sum, difference or product of its operands, and not that without
 * its upper bits. */
static bool is_exact_sum(FactTable *table, const Op *op)
{
    const Facts a = facts_of(table, operand(op, a)), b = facts_of(table, operand(op, b)),
                all = facts_unknown(op->results[0].type->dtype);
    const Wide low = op->code == OP_add ? (Wide)a.low + b.low : (Wide)a.low - b.high,
               high = op->code == OP_add ? (Wide)a.high + b.high : (Wide)a.high - b.low;
    return low >= all.low && high <= all.high;
}

static bool is_exact_product(FactTable *table, const Op *op, int64_t factor)
{
    const Facts a = facts_of(table, operand(op, a)),
                all = facts_unknown(op->results[0].type->dtype);
    const Wide one = (Wide)a.low * factor, other = (Wide)a.high * factor;
    return one >= all.low && one <= all.high && other >= all.low && other <= all.high;
}

/* Of a choice between a loop's count and 0 the count, as which it is more than a number that is not
 * negative. */
static const Value *count_that_runs(const Value *value)
{
    int64_t none;
    const bool is_choice =
        value->op && value->op->code == OP_select && value_constant(operand(value->op, b), &none);
    return is_choice && none == 0 ? operand(value->op, a) : value;
}

/* One without a sign, which may be any bits, stays what a cast to one with a sign makes of it. */
static bool keeps_likely(DType from, DType to)
{
    return dtype_is_integer(from) && dtype_is_integer(to) &&
           (dtype_is_signed(from) || !dtype_is_signed(to) || dtype_bits(to) > dtype_bits(from));
}

static const Value *uncast_likely(const Value *value)
{
    while (value->op && value->op->code == OP_cast &&
           keeps_likely(operand(value->op, a)->type->dtype, value->type->dtype))
        value = operand(value->op, a);
    return value;
}

static bool sum_add(FactTable *table, Sum *sum, const Value *value, int64_t factor, int deep)
{
    value = sum->may_lose ? uncast_likely(value) : facts_uncast(table, value);
    const Op *op = value->op;
    int64_t number, product;
    if (value->type->dtype == DTYPE_u64) return false;
    if (value_constant(value, &number)) {
        sum->number += (Wide)number * factor;
        return true;
    }
    if (deep == SUM_DEPTH || !op || !type_is_scalar(value->type))
        return sum_add_term(sum, value, factor);
    if ((op->code == OP_add || op->code == OP_sub) && (sum->may_wrap || is_exact_sum(table, op)))
        return sum_add(table, sum, operand(op, a), factor, deep + 1) &&
               sum_add(table, sum, operand(op, b), op->code == OP_sub ? -factor : factor, deep + 1);
    if (op->code == OP_mul && value_constant(operand(op, b), &number) &&
        (sum->may_wrap || is_exact_product(table, op, number)) &&
        !__builtin_mul_overflow(number, factor, &product))
        return sum_add(table, sum, operand(op, a), product, deep + 1);
    return sum_add_term(sum, value, factor);
}

static bool range_of_sum(FactTable *table, const Sum *sum, int64_t *low, int64_t *high)
{
    Wide least = sum->number, most = sum->number;
    for (int i = 0; i < sum->count; i++) {
        const int64_t factor = sum->terms[i].factor;
        const Facts facts = facts_of(table, sum->terms[i].value);
        least += (Wide)factor * (factor < 0 ? facts.high : facts.low);
        most += (Wide)factor * (factor < 0 ? facts.low : facts.high);
    }
    if (least < INT64_MIN || most > INT64_MAX) return false;
    *low = (int64_t)least;
    *high = (int64_t)most;
    return true;
}

static bool difference(FactTable *table, const Value *a, const Value *b, bool may_wrap,
                       int64_t *low, int64_t *high)
{
    Sum sum = {.may_wrap = may_wrap};
    return sum_add(table, &sum, a, 1, 0) && sum_add(table, &sum, b, -1, 0) &&
           range_of_sum(table, &sum, low, high);
}

/* What both have cancels out: of start + 128 and start + i nothing need be known of the start. */
bool facts_difference(FactTable *table, const Value *a, const Value *b, int64_t *low, int64_t *high)
{
    return difference(table, a, b, false, low, high);
}

bool facts_likely_difference(FactTable *table, const Value *a, const Value *b, int64_t *low,
                             int64_t *high)
{
    return difference(table, a, b, true, low, high);
}

bool facts_likely_follows(FactTable *table, const Value *value, const Value *less,
                          const Value *more, int64_t gap)
{
    Sum sum = {.may_wrap = true, .may_lose = true};
    int64_t low, high;
    more = uncast_likely(more);
    if (gap > 0 && facts_of(table, less).low >= 0) more = count_that_runs(more);
    return sum_add(table, &sum, value, 1, 0) && sum_add(table, &sum, less, 1, 0) &&
           sum_add(table, &sum, more, -1, 0) && range_of_sum(table, &sum, &low, &high) &&
           low + gap >= 0;
}

/* ---- whether answers that were kept are still right ---- */

typedef struct Comparison {
    FactTable *old, *fresh;
    const Value *wrong;
} Comparison;

static bool facts_equal(Facts a, Facts b)
{
    return a.multiple == b.multiple && a.low == b.low && a.high == b.high;
}

static void compare_results(Op *op, void *context)
{
    Comparison *comparison = context;
    for (int i = 0; i < op->result_count; i++) {
        const Value *value = &op->results[i];
        const Facts *known = map_get(&comparison->old->known, value);
        if (known && !facts_equal(*known, facts_of(comparison->fresh, value)))
            comparison->wrong = value;
    }
}

const Value *facts_compare(FactTable *old, FactTable *fresh)
{
    Comparison comparison = {.old = old, .fresh = fresh};
    kernel_visit(old->kernel, compare_results, &comparison);
    return comparison.wrong;
}
