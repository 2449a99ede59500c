/* atom.c: one element's atomic. What the machine does not do at once is a loop: compute what
 * the element is to become, and exchange it for what it was computed from, until nobody came
 * between.
 *
 * An exchange takes its turn at the element, also where it leaves there what was there. Of many
 * threads that look for the least number most find a lesser one: theirs is a read, which the cache
 * next to them answers. It may be as old as what they know of others allows, and so may an atomic
 * that orders nothing; one that does order takes its turn, and one whose old value is asked for, by
 * which a thread may wait for others. */
#include "passes/lower/lower.h"

#include <string.h>

typedef struct Atom {
    const Op *op; /* whose {mode}, {order} and {scope} it has */
    Value *pointer, *value, *compare, *predicate;
} Atom;

static bool has_mode(const Atom *atom, const char *mode)
{
    return strcmp(op_attr(atom->op, ATTR_mode)->text, mode) == 0;
}

/* Floats of 16 bits that the machine adds where they are. */
static bool adds_halves(const Target *target, DType dtype)
{
    return dtype == DTYPE_f16 || (dtype == DTYPE_bf16 && target_has(target, HAS_VECTOR_RED));
}

/* Words of 32 and 64 bits; floats are not compared there. */
static bool is_native(const Target *target, const Atom *atom)
{
    const DType dtype = atom->value->type->dtype;
    const bool orders = has_mode(atom, "min") || has_mode(atom, "max");
    if (has_mode(atom, "add") && adds_halves(target, dtype)) return true;
    return dtype_bits(dtype) >= 32 && (!orders || dtype_is_integer(dtype));
}

static DType word_of(const Atom *atom)
{
    const int bits = dtype_bits(atom->value->type->dtype);
    return bits == 16 ? DTYPE_u16 : bits == 32 ? DTYPE_u32 : DTYPE_u64;
}

static Value *build_bits(Builder *builder, DType dtype, Value *value)
{
    const Type *type = type_scalar(builder->kernel->types, dtype);
    return value->type == type ? value
                               : build_op(builder, OP_bitcast, 1, &value, 1, &type)->results;
}

static Value *build_atom(Builder *builder, const Atom *atom, const char *mode)
{
    Value *operands[4] = {atom->pointer, atom->value, atom->compare, atom->predicate};
    Op *made = build_op(builder, OP_atom, atom->predicate ? 4 : 3, operands, 1, &atom->value->type);
    op_set_text(made, ATTR_mode, mode);
    op_set_text(made, ATTR_order, op_attr(atom->op, ATTR_order)->text);
    op_set_text(made, ATTR_scope, op_attr(atom->op, ATTR_scope)->text);
    return made->results;
}

/* The same element as a word. */
static Atom on_word(Builder *builder, const Atom *atom)
{
    const Type *type =
        type_pointer(builder->kernel->types, word_of(atom), atom->pointer->type->space);
    Atom word = *atom;
    word.pointer = build_op(builder, OP_ptr_cast, 1, &atom->pointer, 1, &type)->results;
    return word;
}

static Value *build_on_word(Builder *builder, const Atom *word, Value *from, Value *to,
                            const char *mode)
{
    Atom made = *word;
    made.value = to;
    made.compare = from;
    return build_atom(builder, &made, intern_text(builder->kernel->session->names, mode));
}

static Value *exchange(Builder *builder, const Atom *word, Value *from, Value *to)
{
    return build_on_word(builder, word, from, to, "cas");
}

static bool orders_nothing(const Atom *atom)
{
    return strcmp(op_attr(atom->op, ATTR_order)->text, "relaxed") == 0;
}

/* What is there. */
static Value *read_word(Builder *builder, const Atom *word)
{
    Value *zero = build_const(builder, word_of(word), 0);
    const bool may_be_old = orders_nothing(word) && !word->op->results->use_count;
    return build_on_word(builder, word, zero, zero, may_be_old ? "ld" : "cas");
}

/* What was there: the guess, if that has become the next value, or is that. */
static Value *exchange_changed(Builder *builder, const Atom *word, Value *guess, Value *next)
{
    if (!orders_nothing(word)) return exchange(builder, word, guess, next);
    Atom changed = *word;
    Value *changes = build_cmp(builder, "ne", next, guess);
    changed.predicate =
        word->predicate ? build2(builder, OP_and, changes, word->predicate) : changes;
    Value *found = exchange(builder, &changed, guess, next);
    return build_op(builder, OP_select, 3, (Value *[]){changes, found, guess}, 1, &guess->type)
        ->results;
}

static Value *next_value(Builder *builder, const Atom *atom, Value *old)
{
    if (has_mode(atom, "exch")) return atom->value;
    static const struct {
        const char *mode;
        OpCode code;
    } CODES[] = {{"add", OP_add}, {"min", OP_min}, {"max", OP_max},
                 {"and", OP_and}, {"or", OP_or},   {"xor", OP_xor}};
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        if (has_mode(atom, CODES[i].mode)) return build2(builder, CODES[i].code, old, atom->value);
    ICE("an atomic without a loop");
}

/* while (got := cas(guess -> next(guess))) is not guess: guess = got; without the exchange where
 * the next value is the guess */
static Value *build_loop(Builder *builder, const Atom *atom, const Atom *word)
{
    const DType dtype = word_of(atom);
    const Type *type = type_scalar(builder->kernel->types, dtype);
    Value *first = read_word(builder, word);
    Op *loop = build_op(builder, OP_while, 1, &first, 1, &type);
    Value *guess = region_add_argument(loop->regions[0], type, NULL);
    Value *got = region_add_argument(loop->regions[1], type, NULL);
    Builder inside = builder_at_end(loop->regions[0], builder->span);
    Value *next = next_value(&inside, atom, build_bits(&inside, atom->value->type->dtype, guess));
    Value *found = exchange_changed(&inside, word, guess, build_bits(&inside, dtype, next));
    Value *again = build_cmp(&inside, "ne", found, guess);
    if (atom->predicate) again = build2(&inside, OP_and, again, atom->predicate);
    build_op(&inside, OP_condition, 2, (Value *[]){again, found}, 0, NULL);
    Builder after = builder_at_end(loop->regions[1], builder->span);
    build_op(&after, OP_yield, 1, &got, 0, NULL);
    return loop->results;
}

Value *lower_atom(Lower *lower, const Op *op, Value *const operands[4])
{
    Builder *builder = &lower->at;
    const Atom atom = {op, operands[0], operands[1], operands[2], operands[3]};
    if (is_native(lower->target, &atom))
        return build_atom(builder, &atom, op_attr(op, ATTR_mode)->text);
    const Atom word = on_word(builder, &atom);
    const DType dtype = word_of(&atom);
    Value *old = has_mode(&atom, "cas")
                     ? exchange(builder, &word, build_bits(builder, dtype, atom.compare),
                                build_bits(builder, dtype, atom.value))
                     : build_loop(builder, &atom, &word);
    return build_bits(builder, atom.value->type->dtype, old);
}

void lower_red(Lower *lower, const Op *op, Value *pointer, Value *predicate, int count,
               Value *const *values)
{
    Value *operands[3] = {pointer, count == 1 ? *values : memory_pack(lower, count, values),
                          predicate};
    Op *made = build_op(&lower->at, OP_red, predicate ? 3 : 2, operands, 0, NULL);
    op_keep_attr(made, op, ATTR_order);
    op_keep_attr(made, op, ATTR_scope);
}
