/* read_type.c: the smaller parts of the textual IR: tokens, words, numbers, types. */
#include "ir/reader.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

void ir_scan_all(Reader *reader)
{
    const char *text = reader->source->text, *cursor = text, *line_begin = text;
    uint32_t line = 1;
    for (bool is_first = true;;) {
        const char *begin;
        IrToken kind = ir_scan(&cursor, &begin);
        for (; line_begin < begin; line_begin++)
            if (*line_begin == '\n') {
                line++;
                is_first = true;
            }
        if (kind == IR_COMMENT) {
            locations_add(reader->locations, line, begin, (size_t)(cursor - begin));
            continue;
        }
        if (kind == IR_END && (size_t)(begin - text) < reader->source->length) {
            kind = IR_BAD;
            cursor++;
        }
        vec_push(
            reader->scratch, &reader->tokens,
            ((Token){kind, (uint32_t)(begin - text), (uint32_t)(cursor - text), line, is_first}));
        is_first = false;
        if (kind == IR_END) return;
    }
}

const Token *ir_token(const Reader *reader)
{
    return &reader->tokens.data[reader->at];
}

const Token *ir_token_after(const Reader *reader, size_t distance)
{
    size_t last = reader->tokens.count - 1;
    return &reader->tokens.data[reader->at + distance < last ? reader->at + distance : last];
}

void ir_advance(Reader *reader)
{
    if (ir_token(reader)->kind != IR_END) reader->at++;
}

const char *ir_token_text(const Reader *reader, const Token *token)
{
    return arena_copy_text(reader->scratch, reader->source->text + token->begin,
                           token->end - token->begin);
}

Span ir_span_from(const Reader *reader, const Token *first)
{
    const Token *last = reader->at > 0 ? &reader->tokens.data[reader->at - 1] : first;
    return (Span){reader->source, first->begin, last->end > first->end ? last->end : first->end};
}

bool ir_fail(Reader *reader, const Token *at, const char *text)
{
    if (!reader->failed)
        diag_report(reader->session->diags, DIAG_ir_syntax,
                    (Span){reader->source, at->begin, at->end}, text);
    reader->failed = true;
    return false;
}

bool ir_expected(Reader *reader, const char *what)
{
    return ir_fail(reader, ir_token(reader), arena_printf(reader->scratch, "expected %s", what));
}

bool ir_take(Reader *reader, IrToken kind)
{
    if (ir_token(reader)->kind != kind) return false;
    ir_advance(reader);
    return true;
}

bool ir_need(Reader *reader, IrToken kind, const char *what)
{
    return ir_take(reader, kind) || ir_expected(reader, what);
}

static bool is_word(const Reader *reader, const char *word)
{
    const Token *now = ir_token(reader);
    return now->kind == IR_NAME && now->end - now->begin == strlen(word) &&
           memcmp(reader->source->text + now->begin, word, strlen(word)) == 0;
}

bool ir_take_word(Reader *reader, const char *word)
{
    if (!is_word(reader, word)) return false;
    ir_advance(reader);
    return true;
}

/* ---- words and numbers ---- */

Name ir_read_string(Reader *reader)
{
    const char *text = ir_token_text(reader, ir_token(reader));
    char *bytes = arena_alloc(reader->scratch, strlen(text) + 1);
    size_t count = 0;
    for (text++; text[1] != '\0'; count++) {
        int byte = (unsigned char)*text++;
        if (byte == '\\') {
            size_t length;
            byte = ir_unescape(text, &length);
            if (byte < 0) {
                ir_fail(reader, ir_token(reader), "unknown escape in a string");
                return NULL;
            }
            text += length;
        }
        bytes[count] = (char)byte;
    }
    ir_advance(reader);
    return intern(reader->session->names, bytes, count);
}

/* A bare or quoted word; NULL: reported. */
Name ir_read_word(Reader *reader)
{
    if (ir_token(reader)->kind == IR_STRING) return ir_read_string(reader);
    if (ir_token(reader)->kind != IR_NAME) {
        ir_expected(reader, "a name");
        return NULL;
    }
    Name name = intern_text(reader->session->names, ir_token_text(reader, ir_token(reader)));
    ir_advance(reader);
    return name;
}

bool ir_read_int(Reader *reader, int64_t *out)
{
    if (ir_token(reader)->kind != IR_NUMBER) return ir_expected(reader, "an integer");
    const char *text = ir_token_text(reader, ir_token(reader));
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (*end != '\0' || errno != 0) return ir_expected(reader, "an integer of 64 bits");
    ir_advance(reader);
    return true;
}

bool ir_read_number(Reader *reader, double *out)
{
    if (ir_take_word(reader, "nan")) {
        *out = NAN;
        return true;
    }
    if (ir_take_word(reader, "inf")) {
        *out = INFINITY;
        return true;
    }
    if (ir_token(reader)->kind != IR_NUMBER) return ir_expected(reader, "a number");
    const char *text = ir_token_text(reader, ir_token(reader));
    if (strncmp(text, "0x", 2) == 0) {
        uint64_t bits = strtoull(text, NULL, 16);
        memcpy(out, &bits, sizeof bits);
    } else
        *out = strtod(text, NULL);
    ir_advance(reader);
    return true;
}

/* [1, 2, 3]; with `dynamic`, ? is TYPE_DYNAMIC. */
bool ir_read_ints(Reader *reader, bool dynamic, IntVec *out)
{
    if (!ir_need(reader, IR_LBRACKET, "'['")) return false;
    if (ir_take(reader, IR_RBRACKET)) return true;
    do {
        int64_t value = TYPE_DYNAMIC;
        if (!(dynamic && ir_take(reader, IR_QUESTION)) && !ir_read_int(reader, &value))
            return false;
        vec_push(reader->scratch, out, value);
    } while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_RBRACKET, "']'");
}

/* ---- types ---- */

static bool read_dtype(Reader *reader, DType *out)
{
    if (ir_token(reader)->kind != IR_NAME ||
        !dtype_find(ir_token_text(reader, ir_token(reader)), out))
        return ir_expected(reader, "an element type");
    ir_advance(reader);
    return true;
}

static bool read_extents(Reader *reader, bool dynamic, int64_t *out, int *rank)
{
    const Token *begin = ir_token(reader);
    IntVec extents = {0};
    if (!ir_need(reader, IR_COMMA, "','") || !ir_read_ints(reader, dynamic, &extents)) return false;
    if (extents.count > TYPE_RANK) return ir_fail(reader, begin, "too many dimensions");
    *rank = (int)extents.count;
    for (size_t i = 0; i < extents.count; i++) out[i] = extents.data[i];
    return true;
}

static bool read_layout(Reader *reader, const Layout **out)
{
    const char *text = reader->source->text, *cursor = text + ir_token(reader)->begin;
    *out = layout_read(reader->kernel->layouts, &cursor);
    uint32_t offset = (uint32_t)(cursor - text);
    while (ir_token(reader)->kind != IR_END && ir_token(reader)->end <= offset) ir_advance(reader);
    return *out != NULL || ir_fail(reader, ir_token(reader), "this is no layout");
}

/* The alias without its '#'. */
static Name alias_name(Reader *reader, const Token *token)
{
    return intern(reader->names, reader->source->text + token->begin + 1,
                  token->end - token->begin - 1);
}

static bool read_alias(Reader *reader)
{
    const Token *at = ir_token(reader);
    const Layout *layout;
    const Name name = alias_name(reader, at);
    if (map_has(&reader->layouts, name))
        return ir_fail(reader, at, arena_printf(reader->scratch, "#%s is defined twice", name));
    ir_advance(reader);
    if (!ir_need(reader, IR_EQUAL, "'='") || !read_layout(reader, &layout)) return false;
    map_set(reader->scratch, &reader->layouts, name, (void *)(uintptr_t)layout);
    return true;
}

bool ir_read_aliases(Reader *reader)
{
    while (ir_token(reader)->kind == IR_ALIAS)
        if (!read_alias(reader)) return false;
    return true;
}

static bool read_layout_or_alias(Reader *reader, const Layout **out)
{
    const Token *at = ir_token(reader);
    if (!ir_take(reader, IR_ALIAS)) return read_layout(reader, out);
    const Name name = alias_name(reader, at);
    *out = map_get(&reader->layouts, name);
    return *out != NULL ||
           ir_fail(reader, at, arena_printf(reader->scratch, "#%s is not defined", name));
}

static bool read_tile(Reader *reader, TypeKind kind, Type *type)
{
    int rank;
    const Token *begin = ir_token(reader);
    if (!read_dtype(reader, &type->dtype) || !read_extents(reader, false, type->shape, &rank))
        return false;
    type->kind = kind;
    type->rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++)
        if (type->shape[i] < 1 || type->shape[i] > INT32_MAX)
            return ir_fail(reader, begin, "an extent of a tile is not positive, or too large");
    return !ir_take(reader, IR_COMMA) || read_layout_or_alias(reader, &type->layout);
}

static bool read_view(Reader *reader, Type *type)
{
    int rank, stride_rank;
    const Token *begin = ir_token(reader);
    if (!read_dtype(reader, &type->dtype) || !read_extents(reader, true, type->shape, &rank) ||
        !read_extents(reader, true, type->strides, &stride_rank))
        return false;
    type->kind = TYPE_VIEW;
    type->rank = (uint8_t)rank;
    return rank == stride_rank || ir_fail(reader, begin, "a view has as many strides as extents");
}

static bool read_pointer(Reader *reader, Type *type)
{
    type->kind = TYPE_POINTER;
    if (!read_dtype(reader, &type->dtype) || !ir_need(reader, IR_COMMA, "','")) return false;
    for (int i = 0; i < SPACE_COUNT; i++) {
        type->space = (Space)i;
        if (ir_take_word(reader, space_name(type->space))) return true;
    }
    return ir_expected(reader, "'global', 'shared', 'local', 'param' or 'cluster'");
}

static bool read_vector(Reader *reader, Type *type)
{
    int64_t count;
    type->kind = TYPE_VECTOR;
    if (!read_dtype(reader, &type->dtype) || !ir_need(reader, IR_COMMA, "','") ||
        !ir_read_int(reader, &count))
        return false;
    type->count = (int32_t)count;
    return (count >= 1 && count <= MOST_ELEMENTS) ||
           ir_expected(reader, "a vector of a possible length");
}

/* A variable of variables is refused, which also bounds the recursion. */
static bool read_var(Reader *reader, Type *type)
{
    if (is_word(reader, "var")) return ir_expected(reader, "what the variable holds");
    type->kind = TYPE_VAR;
    type->content = ir_read_type(reader);
    return type->content != NULL;
}

static bool read_compound(Reader *reader, Type *type)
{
    if (ir_take_word(reader, "vec"))
        return ir_need(reader, IR_LESS, "'<'") && read_vector(reader, type);
    if (ir_take_word(reader, "ptr"))
        return ir_need(reader, IR_LESS, "'<'") && read_pointer(reader, type);
    if (ir_take_word(reader, "view"))
        return ir_need(reader, IR_LESS, "'<'") && read_view(reader, type);
    if (ir_take_word(reader, "tile"))
        return ir_need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_TILE, type);
    if (ir_take_word(reader, "shared"))
        return ir_need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_SHARED, type);
    if (ir_take_word(reader, "local"))
        return ir_need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_LOCAL, type);
    if (ir_take_word(reader, "var"))
        return ir_need(reader, IR_LESS, "'<'") && read_var(reader, type);
    return ir_expected(reader, "a type");
}

const Type *ir_read_type(Reader *reader)
{
    Type type = {.kind = TYPE_SCALAR};
    if (ir_token(reader)->kind == IR_NAME &&
        dtype_find(ir_token_text(reader, ir_token(reader)), &type.dtype))
        ir_advance(reader);
    else if (!read_compound(reader, &type) || !ir_need(reader, IR_GREATER, "'>'"))
        return NULL;
    return type_intern(reader->kernel->types, &type);
}
