/* byte_products.c: sums of products of bytes that lie side by side become dp4a.
 *
 * A thread that adds up products of the bytes which it has of two tiles takes each byte out of its
 * register, with its sign, and multiplies and adds it by itself. Of four products of the bytes of
 * two words dp4a makes the sum, and adds it to another, by one instruction:
 *
 *     ((x + a0 * b0) + a2 * b2) + (a1 * b1 + a3 * b3)     is dp4a x, a0 a1 a2 a3, b0 b1 b2 b3
 *
 * Integers that wrap may be added in any order. What is added once, by sums alone, is looked at as
 * a whole; the products are those of numbers that vectors of bytes gave, four from a multiple of
 * four on, which are a register. */
#include "ir/op_vec.h"
#include "passes/pass.h"

typedef struct Product {
    Value *bytes[2];
    bool taken;
} Product;

typedef struct Sum {
    Arena *arena;
    Op *root;
    VEC(Product) products;
    VEC(Value *) rest; /* what else is added */
    OpVec ops;         /* that nothing asks for then, each behind the one that did */
    Map seen;          /* those of them that several ask for */
} Sum;

static const Op *element_of(const Value *byte)
{
    return byte->op && byte->op->code == OP_vec_get ? byte->op : NULL;
}

static const Value *vector_of(const Value *byte)
{
    return operand(element_of(byte), vector);
}

static int64_t place_of(const Value *byte)
{
    return op_int(element_of(byte), ATTR_index, 0);
}

/* What a 32-bit number is the value of, if that is a byte of a vector; NULL: it is another. */
static Value *byte_of(const Value *number)
{
    Value *from = number->op && number->op->code == OP_cast ? operand(number->op, a) : NULL;
    const bool is_byte = from && (from->type->dtype == DTYPE_i8 || from->type->dtype == DTYPE_u8);
    return is_byte && element_of(from) ? from : NULL;
}

static bool is_number(const Value *value)
{
    return type_is_scalar(value->type) &&
           (value->type->dtype == DTYPE_i32 || value->type->dtype == DTYPE_u32);
}

static bool product_of(const Value *value, Product *product)
{
    const Op *op = value->op;
    if (!op || op->code != OP_mul || value->use_count != 1) return false;
    *product = (Product){.bytes = {byte_of(operand(op, a)), byte_of(operand(op, b))}};
    return product->bytes[0] && product->bytes[1];
}

static bool is_part_of_sum(const Value *value, const Op *sum)
{
    return value->op && value->op->code == OP_add && value->op->parent == sum->parent &&
           value->use_count == 1;
}

static void add_parts(Sum *sum, Op *op)
{
    vec_push(sum->arena, &sum->ops, op);
    for (int i = 0; i < op->operand_count; i++) {
        Product product;
        Value *part = op->operands[i];
        if (is_part_of_sum(part, sum->root)) {
            add_parts(sum, part->op);
        } else if (product_of(part, &product)) {
            vec_push(sum->arena, &sum->products, product);
            vec_push(sum->arena, &sum->ops, part->op);
        } else {
            vec_push(sum->arena, &sum->rest, part);
        }
    }
}

static void erase_unused(Sum *sum)
{
    for (size_t i = 0; i < sum->ops.count; i++) {
        Op *op = sum->ops.data[i];
        if (op->results[0].use_count) continue;
        op_erase(op);
        for (int o = 0; o < op->operand_count && op->code == OP_mul; o++) {
            Op *cast = op->operands[o]->op;
            if (cast->results[0].use_count || map_has(&sum->seen, cast)) continue;
            map_add(sum->arena, &sum->seen, cast);
            vec_push(sum->arena, &sum->ops, cast);
        }
    }
}

static bool is_next(const Value *byte, const Value *first, int by)
{
    return vector_of(byte) == vector_of(first) && place_of(byte) == place_of(first) + by;
}

/* The product, not taken, of the bytes so many behind those of the first one; whichever of its
 * factors comes first. */
static Product *find_product(Sum *sum, const Product *first, int by)
{
    vec_each (product, &sum->products)
        for (int turned = 0; turned < 2 && !product->taken; turned++) {
            Value *other = product->bytes[0];
            if (is_next(product->bytes[0], first->bytes[0], by) &&
                is_next(product->bytes[1], first->bytes[1], by))
                return product;
            product->bytes[0] = product->bytes[1];
            product->bytes[1] = other;
        }
    return NULL;
}

/* Four products of the bytes of two words, the first of which is this one. */
static bool find_word(Sum *sum, Product *first, Value **bytes)
{
    Product *found[DP4A_BYTES] = {first};
    for (int side = 0; side < 2; side++)
        if (place_of(first->bytes[side]) % DP4A_BYTES != 0) return false;
    for (int k = 1; k < DP4A_BYTES; k++) {
        found[k] = find_product(sum, first, k);
        if (!found[k]) return false;
    }
    for (int k = 0; k < DP4A_BYTES; k++) {
        found[k]->taken = true;
        bytes[k] = found[k]->bytes[0];
        bytes[k + DP4A_BYTES] = found[k]->bytes[1];
    }
    return true;
}

static Value *add_to(Builder *at, Value *sum, Value *value)
{
    return sum ? build2(at, OP_add, sum, value) : value;
}

static Value *build_rest(Builder *at, const Sum *sum)
{
    const DType dtype = sum->root->results[0].type->dtype;
    Value *value = NULL;
    vec_each (part, &sum->rest) value = add_to(at, value, *part);
    vec_each (product, &sum->products) {
        if (product->taken) continue;
        Value *factors[2];
        for (int side = 0; side < 2; side++)
            factors[side] = build_cast(at, dtype, product->bytes[side]);
        value = add_to(at, value, build2(at, OP_mul, factors[0], factors[1]));
    }
    return value ? value : build_const(at, dtype, 0);
}

static void replace(Arena *arena, Op *root)
{
    Sum sum = {.arena = arena, .root = root};
    VEC(Value **) words = {0};
    add_parts(&sum, root);
    for (size_t i = 0; i < sum.products.count && sum.products.count >= DP4A_BYTES; i++) {
        Value **bytes = arena_new_array(arena, Value *, 2 * DP4A_BYTES);
        if (!sum.products.data[i].taken && find_word(&sum, &sum.products.data[i], bytes))
            vec_push(arena, &words, bytes);
    }
    if (!words.count) return;
    Builder at = builder_before(root);
    at.span = root->span;
    Value *value = build_rest(&at, &sum);
    vec_each (bytes, &words) {
        Value *operands[1 + 2 * DP4A_BYTES] = {value};
        for (int k = 0; k < 2 * DP4A_BYTES; k++) operands[1 + k] = (*bytes)[k];
        value = build_op(&at, OP_dp4a, 1 + 2 * DP4A_BYTES, operands, 1, &value->type)->results;
    }
    value_replace(root->results, value);
    erase_unused(&sum);
}

typedef struct Roots {
    Arena *arena;
    OpVec ops;
} Roots;

static void find_root(Op *op, void *context)
{
    Roots *roots = context;
    const Value *sum = op->results;
    if (is_number(sum) && sum->use_count > 0 &&
        !(is_part_of_sum(sum, sum->uses->op) && sum->uses->op->code == OP_add))
        vec_push(roots->arena, &roots->ops, op);
}

bool pass_byte_products(Kernel *kernel, PassContext *context)
{
    Roots roots = {.arena = context->arena};
    if (!kernel_had(kernel, OP_vec_get)) return true;
    kernel_visit_those(kernel, OP_add, find_root, &roots);
    vec_each (op, &roots.ops) replace(context->arena, *op);
    return true;
}
