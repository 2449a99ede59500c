/* op.c: the rows of ops.def and attrs.def as tables, and the check of operands and results by a
 * row's letters. */
#include "ir/rows.h"

#include <string.h>

static const OpInfo op_rows[OP_COUNT] = {
#define OP(name, results, operands, names, attrs, regions, traits, stages, text)                   \
    {#name, results, operands, text, regions, stages, traits},
#include "ir/ops.def"
#undef OP
};

/* `what` of each word of a list (a, b, ...) of up to thirteen; of the empty word, if there is
 * none. */
#define EACH_OF(what, list) EACH_IN(what, PLAIN list)
#define PLAIN(...)          __VA_ARGS__
#define EACH_IN(...)        EACH(__VA_ARGS__)
#define EACH(what, ...)                                                                            \
    EACH_PICK(__VA_ARGS__, EACH13, EACH12, EACH11, EACH10, EACH9, EACH8, EACH7, EACH6, EACH5,      \
              EACH4, EACH3, EACH2, EACH1, 0)                                                       \
    (what, __VA_ARGS__)
#define EACH_PICK(a, b, c, d, e, f, g, h, i, j, k, l, m, each, ...) each
#define EACH1(what, word)                                           what(word)
#define EACH2(what, word, ...)                                      what(word) EACH1(what, __VA_ARGS__)
#define EACH3(what, word, ...)                                      what(word) EACH2(what, __VA_ARGS__)
#define EACH4(what, word, ...)                                      what(word) EACH3(what, __VA_ARGS__)
#define EACH5(what, word, ...)                                      what(word) EACH4(what, __VA_ARGS__)
#define EACH6(what, word, ...)                                      what(word) EACH5(what, __VA_ARGS__)
#define EACH7(what, word, ...)                                      what(word) EACH6(what, __VA_ARGS__)
#define EACH8(what, word, ...)                                      what(word) EACH7(what, __VA_ARGS__)
#define EACH9(what, word, ...)                                      what(word) EACH8(what, __VA_ARGS__)
#define EACH10(what, word, ...)                                     what(word) EACH9(what, __VA_ARGS__)
#define EACH11(what, word, ...)                                     what(word) EACH10(what, __VA_ARGS__)
#define EACH12(what, word, ...)                                     what(word) EACH11(what, __VA_ARGS__)
#define EACH13(what, word, ...)                                     what(word) EACH12(what, __VA_ARGS__)

_Static_assert(TRAIT_COUNT <= 64, "a trait is a bit of OpTraits");

const OpInfo *op_info(OpCode code)
{
    CHECK((unsigned)code < OP_COUNT);
    return &op_rows[code];
}

bool op_find(const char *name, OpCode *out)
{
    for (int i = 0; i < OP_COUNT; i++)
        if (strcmp(op_rows[i].name, name) == 0) {
            *out = (OpCode)i;
            return true;
        }
    return false;
}

bool op_has(const Op *op, OpTraits traits)
{
    return (op_info(op->code)->traits & traits) != 0;
}

/* ---- operands ---- */

enum { MOST_NAMES = 5 };

static const uint8_t operand_names[OP_COUNT][MOST_NAMES] = {
#define NAMED(word)                             OPERAND_##word,
#define OP(name, results, operands, names, ...) {EACH_OF(NAMED, names)},
#include "ir/ops.def"
#undef OP
};

static const char *const operand_texts[OPERAND_COUNT] = {
#define OPERAND(name) [OPERAND_##name] = #name,
#include "ir/operands.def"
#undef OPERAND
};

/* Names behind one that stands for several have no place of their own. */
static int find_name(OpCode code, OperandName name)
{
    const char *letters = op_rows[code].operands;
    for (int i = 0; letters[i] != '\0' && letters[i] != '*'; i++)
        if (operand_names[code][i] == name) return i;
    return -1;
}

bool op_row_names(OpCode code, OperandName name)
{
    return find_name(code, name) >= 0;
}

int op_operand_index(OpCode code, OperandName name)
{
    CHECK((unsigned)code < OP_COUNT);
    const int index = find_name(code, name);
    if (index < 0) ICE("op '%s' has no operand '%s'", op_info(code)->name, operand_texts[name]);
    return index;
}

bool op_same_operands(const Op *a, int first, const Op *b, int other)
{
    const int count = a->operand_count - first;
    bool same = count == b->operand_count - other;
    for (int i = 0; same && i < count; i++) same = a->operands[first + i] == b->operands[other + i];
    return same;
}

Value *op_operand(const Op *op, OperandName name)
{
    const int index = op_operand_index(op->code, name);
    CHECK(index < op->operand_count);
    return op->operands[index];
}

Value *op_operand_given(const Op *op, OperandName name)
{
    const int index = find_name(op->code, name);
    return index < 0 || index >= op->operand_count ? NULL : op->operands[index];
}

Value *op_memory(const Op *op)
{
    static const OperandName names[] = {OPERAND_view, OPERAND_memory, OPERAND_tile};
    Value *memory = NULL;
    for (size_t i = 0; memory == NULL && i < sizeof names / sizeof *names; i++)
        memory = op_operand_given(op, names[i]);
    return memory;
}

Value *op_aliased(const Op *op)
{
    if (!op_has(op, ALIAS)) return NULL;
    Value *tile = operand_given(op, tile);
    return tile != NULL ? tile : operand(op, pointer);
}

/* ---- attributes and stages ---- */

typedef struct AttrRow {
    const char *name;
    AttrKind kind;
} AttrRow;

static const AttrRow attr_rows[ATTR_COUNT] = {
#define ATTR(name, kind, text) {#name, ATTR_KIND_##kind},
#include "ir/attrs.def"
#undef ATTR
};

enum { ATTR_ = ATTR_COUNT }; /* of an empty list */

static const bool op_attrs[OP_COUNT][ATTR_COUNT + 1] = {
#define HAS(word)                                      [ATTR_##word] = true,
#define OP(name, results, operands, names, attrs, ...) {EACH_OF(HAS, attrs)},
#include "ir/ops.def"
#undef OP
};

const char *attr_name(AttrKey key)
{
    CHECK((unsigned)key < ATTR_COUNT);
    return attr_rows[key].name;
}

AttrKind attr_kind(AttrKey key)
{
    CHECK((unsigned)key < ATTR_COUNT);
    return attr_rows[key].kind;
}

bool is_among(const char *word, const char *words)
{
    const size_t length = strlen(word);
    if (length == 0 || strchr(word, ' ') != NULL) return false;
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

bool attr_is_of(AttrKey key, OpCode code)
{
    CHECK((unsigned)code < OP_COUNT && (unsigned)key < ATTR_COUNT);
    return op_attrs[code][key];
}

bool attr_find(const char *name, AttrKey *out)
{
    for (int i = 0; i < ATTR_COUNT; i++)
        if (strcmp(attr_rows[i].name, name) == 0) {
            *out = (AttrKey)i;
            return true;
        }
    return false;
}

static const char *const stage_names[] = {"TYPED",  "LAID_OUT", "PIPELINED",
                                          "PLACED", "SYNCED",   "THREADED"};

const char *stage_name(Stage stage)
{
    CHECK((unsigned)stage <= STAGE_THREADED);
    return stage_names[stage];
}

bool stage_find(const char *name, Stage *out)
{
    for (int i = 0; i <= STAGE_THREADED; i++)
        if (strcmp(stage_names[i], name) == 0) {
            *out = (Stage)i;
            return true;
        }
    return false;
}

/* ---- letters ---- */

static bool letter_takes(char letter, const Type *type)
{
    switch (letter) {
    case 'S': return type->kind == TYPE_SCALAR;
    case 'N': return type->kind == TYPE_SCALAR || type->kind == TYPE_TILE;
    case 'T': return type->kind == TYPE_TILE;
    case 'M': return type->kind == TYPE_SHARED;
    case 'L': return type->kind == TYPE_LOCAL;
    case 'P': return type->kind == TYPE_POINTER;
    case 'V': return type->kind == TYPE_VIEW;
    case 'C': return type->kind == TYPE_VECTOR;
    case 'R': return type->kind == TYPE_VAR;
    case 'A': return true;
    }
    ICE("no such letter in ops.def: '%c'", letter);
}

static const char *letter_text(char letter)
{
    switch (letter) {
    case 'S': return "a scalar";
    case 'N': return "a scalar or a register tile";
    case 'T': return "a register tile";
    case 'M': return "a shared tile";
    case 'L': return "a local array";
    case 'P': return "a pointer";
    case 'V': return "a view";
    case 'C': return "a vector";
    case 'R': return "a variable";
    }
    return "a value";
}

static bool takes_any_number(const char *letters)
{
    return strchr(letters, '*') != NULL;
}

/* The letter of one operand or result; the last one before '*' stands for all that follow. */
static char letter_at(const char *letters, int index)
{
    int last = (int)strlen(letters) - 1 - takes_any_number(letters);
    return letters[index < last ? index : last];
}

static bool count_fits(const char *letters, const char *what, int count, Buf *out)
{
    bool many = takes_any_number(letters);
    int least = (int)strlen(letters) - (many ? 2 : 0);
    if (many ? count >= least : count == least) return true;
    buf_printf(out, "%d %ss instead of %s%d", count, what, many ? "at least " : "", least);
    return false;
}

static bool kind_fits(const char *letters, const char *what, int index, const Type *type, Buf *out)
{
    char letter = letter_at(letters, index);
    if (type != NULL && letter_takes(letter, type)) return true;
    buf_printf(out, "%s %d is not %s", what, index, letter_text(letter));
    return false;
}

bool row_fits(OpCode code, int operand_count, Value *const *operands, int result_count,
              const Type *const *result_types, Buf *out)
{
    const OpInfo *info = op_info(code);
    if (!count_fits(info->operands, "operand", operand_count, out) ||
        !count_fits(info->results, "result", result_count, out))
        return false;
    for (int i = 0; i < operand_count; i++)
        if (!kind_fits(info->operands, "operand", i, operands[i] == NULL ? NULL : operands[i]->type,
                       out))
            return false;
    for (int i = 0; i < result_count; i++)
        if (!kind_fits(info->results, "result", i, result_types[i], out)) return false;
    return true;
}
