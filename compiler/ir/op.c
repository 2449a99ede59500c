/* op.c: the rows of ops.def and attrs.def as tables, and the check of operands and results by a
 * row's letters. */
#include "ir/rows.h"

#include <string.h>

static const OpInfo op_rows[OP_COUNT] = {
#define OP(name, results, operands, names, regions, traits, stages, text)                          \
    {#name, results, operands, names, text, regions, traits, stages},
#include "ir/ops.def"
#undef OP
};

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

/* ---- attributes and stages ---- */

typedef struct AttrRow {
    const char *name;
    AttrKind kind;
    const char *ops;
} AttrRow;

static const AttrRow attr_rows[ATTR_COUNT] = {
#define ATTR(name, kind, ops) {#name, ATTR_KIND_##kind, ops},
#include "ir/attrs.def"
#undef ATTR
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
    CHECK((unsigned)key < ATTR_COUNT);
    return is_among(op_info(code)->name, attr_rows[key].ops);
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
