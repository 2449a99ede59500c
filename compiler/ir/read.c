/* read.c: text that kernel_print wrote, back to kernels. The first fault is reported and ends the
 * reading. What the builder would take for an internal error is checked here first; the rest is
 * verify.c's. */
#include "ir/places.h"
#include "ir/rows.h"
#include "ir/tokens.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST_REGION = 300, MOST_VALUES = 4096, MOST_ELEMENTS = 65536 };

typedef struct Token {
    IrToken kind;
    uint32_t begin, end, line;
    bool is_first; /* on its line */
} Token;

typedef VEC(Value *) ValueVec;
typedef VEC(const Type *) TypeVec;
typedef VEC(Name) NameVec;
typedef VEC(int64_t) IntVec;

typedef struct Reader {
    Session *session;
    const Source *source;
    Arena *scratch;
    Interner *names; /* of values, in scratch */
    VEC(Token) tokens;
    size_t at;
    Places *places;
    Kernel *kernel;
    Map values; /* Name -> Value */
    int depth;
    bool failed;
} Reader;

/* ---- tokens ---- */

static void scan(Reader *reader)
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
            places_add(reader->places, line, begin, (size_t)(cursor - begin));
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

static const Token *token(const Reader *reader)
{
    return &reader->tokens.data[reader->at];
}

static const Token *token_after(const Reader *reader, size_t distance)
{
    size_t last = reader->tokens.count - 1;
    return &reader->tokens.data[reader->at + distance < last ? reader->at + distance : last];
}

static void advance(Reader *reader)
{
    if (token(reader)->kind != IR_END) reader->at++;
}

static const char *token_text(const Reader *reader, const Token *token)
{
    return arena_copy_text(reader->scratch, reader->source->text + token->begin,
                           token->end - token->begin);
}

static Span span_from(const Reader *reader, const Token *first)
{
    const Token *last = reader->at > 0 ? &reader->tokens.data[reader->at - 1] : first;
    return (Span){reader->source, first->begin, last->end > first->end ? last->end : first->end};
}

static bool fail(Reader *reader, const Token *at, const char *text)
{
    if (!reader->failed)
        diag_report(reader->session->diags, DIAG_ir_syntax,
                    (Span){reader->source, at->begin, at->end}, text);
    reader->failed = true;
    return false;
}

static bool expected(Reader *reader, const char *what)
{
    return fail(reader, token(reader), arena_printf(reader->scratch, "expected %s", what));
}

static bool take(Reader *reader, IrToken kind)
{
    if (token(reader)->kind != kind) return false;
    advance(reader);
    return true;
}

static bool need(Reader *reader, IrToken kind, const char *what)
{
    return take(reader, kind) || expected(reader, what);
}

static bool is_word(const Reader *reader, const char *word)
{
    const Token *now = token(reader);
    return now->kind == IR_NAME && now->end - now->begin == strlen(word) &&
           memcmp(reader->source->text + now->begin, word, strlen(word)) == 0;
}

static bool take_word(Reader *reader, const char *word)
{
    if (!is_word(reader, word)) return false;
    advance(reader);
    return true;
}

/* ---- words and numbers ---- */

static Name read_string(Reader *reader)
{
    const char *text = token_text(reader, token(reader));
    char *bytes = arena_alloc(reader->scratch, strlen(text) + 1);
    size_t count = 0;
    for (text++; text[1] != '\0'; count++) {
        int byte = (unsigned char)*text++;
        if (byte == '\\') {
            size_t length;
            byte = ir_unescape(text, &length);
            if (byte < 0) {
                fail(reader, token(reader), "unknown escape in a string");
                return NULL;
            }
            text += length;
        }
        bytes[count] = (char)byte;
    }
    advance(reader);
    return intern(reader->session->names, bytes, count);
}

/* A bare or quoted word; NULL: reported. */
static Name read_word(Reader *reader)
{
    if (token(reader)->kind == IR_STRING) return read_string(reader);
    if (token(reader)->kind != IR_NAME) {
        expected(reader, "a name");
        return NULL;
    }
    Name name = intern_text(reader->session->names, token_text(reader, token(reader)));
    advance(reader);
    return name;
}

static bool read_int(Reader *reader, int64_t *out)
{
    if (token(reader)->kind != IR_NUMBER) return expected(reader, "an integer");
    const char *text = token_text(reader, token(reader));
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (*end != '\0' || errno != 0) return expected(reader, "an integer of 64 bits");
    advance(reader);
    return true;
}

static bool read_number(Reader *reader, double *out)
{
    if (take_word(reader, "nan")) {
        *out = NAN;
        return true;
    }
    if (take_word(reader, "inf")) {
        *out = INFINITY;
        return true;
    }
    if (token(reader)->kind != IR_NUMBER) return expected(reader, "a number");
    const char *text = token_text(reader, token(reader));
    if (strncmp(text, "0x", 2) == 0) {
        uint64_t bits = strtoull(text, NULL, 16);
        memcpy(out, &bits, sizeof bits);
    } else
        *out = strtod(text, NULL);
    advance(reader);
    return true;
}

/* [1, 2, 3]; with `dynamic`, ? is TYPE_DYNAMIC. */
static bool read_ints(Reader *reader, bool dynamic, IntVec *out)
{
    if (!need(reader, IR_LBRACKET, "'['")) return false;
    if (take(reader, IR_RBRACKET)) return true;
    do {
        int64_t value = TYPE_DYNAMIC;
        if (!(dynamic && take(reader, IR_QUESTION)) && !read_int(reader, &value)) return false;
        vec_push(reader->scratch, out, value);
    } while (take(reader, IR_COMMA));
    return need(reader, IR_RBRACKET, "']'");
}

/* ---- types ---- */

static bool read_dtype(Reader *reader, DType *out)
{
    if (token(reader)->kind != IR_NAME || !dtype_find(token_text(reader, token(reader)), out))
        return expected(reader, "an element type");
    advance(reader);
    return true;
}

static bool read_extents(Reader *reader, bool dynamic, int64_t *out, int *rank)
{
    const Token *begin = token(reader);
    IntVec extents = {0};
    if (!need(reader, IR_COMMA, "','") || !read_ints(reader, dynamic, &extents)) return false;
    if (extents.count > TYPE_RANK) return fail(reader, begin, "too many dimensions");
    *rank = (int)extents.count;
    for (size_t i = 0; i < extents.count; i++) out[i] = extents.data[i];
    return true;
}

static bool read_layout(Reader *reader, const Layout **out)
{
    const char *text = reader->source->text, *cursor = text + token(reader)->begin;
    *out = layout_read(reader->kernel->layouts, &cursor);
    uint32_t offset = (uint32_t)(cursor - text);
    while (token(reader)->kind != IR_END && token(reader)->end <= offset) advance(reader);
    return *out != NULL || fail(reader, token(reader), "this is no layout");
}

static bool read_tile(Reader *reader, TypeKind kind, Type *type)
{
    int rank;
    const Token *begin = token(reader);
    if (!read_dtype(reader, &type->dtype) || !read_extents(reader, false, type->shape, &rank))
        return false;
    type->kind = kind;
    type->rank = (uint8_t)rank;
    for (int i = 0; i < rank; i++)
        if (type->shape[i] < 1 || type->shape[i] > INT32_MAX)
            return fail(reader, begin, "an extent of a tile is not positive, or too large");
    return !take(reader, IR_COMMA) || read_layout(reader, &type->layout);
}

static bool read_view(Reader *reader, Type *type)
{
    int rank, stride_rank;
    const Token *begin = token(reader);
    if (!read_dtype(reader, &type->dtype) || !read_extents(reader, true, type->shape, &rank) ||
        !read_extents(reader, true, type->strides, &stride_rank))
        return false;
    type->kind = TYPE_VIEW;
    type->rank = (uint8_t)rank;
    return rank == stride_rank || fail(reader, begin, "a view has as many strides as extents");
}

static bool read_pointer(Reader *reader, Type *type)
{
    type->kind = TYPE_POINTER;
    if (!read_dtype(reader, &type->dtype) || !need(reader, IR_COMMA, "','")) return false;
    for (int i = 0; i < SPACE_COUNT; i++) {
        type->space = (Space)i;
        if (take_word(reader, space_name(type->space))) return true;
    }
    return expected(reader, "'global', 'shared', 'local', 'param' or 'cluster'");
}

static bool read_vector(Reader *reader, Type *type)
{
    int64_t count;
    type->kind = TYPE_VECTOR;
    if (!read_dtype(reader, &type->dtype) || !need(reader, IR_COMMA, "','") ||
        !read_int(reader, &count))
        return false;
    type->count = (int32_t)count;
    return (count >= 1 && count <= MOST_ELEMENTS) ||
           expected(reader, "a vector of a possible length");
}

static const Type *read_type(Reader *reader);

/* A variable of variables is refused, which also bounds the recursion. */
static bool read_var(Reader *reader, Type *type)
{
    if (is_word(reader, "var")) return expected(reader, "what the variable holds");
    type->kind = TYPE_VAR;
    type->content = read_type(reader);
    return type->content != NULL;
}

static bool read_compound(Reader *reader, Type *type)
{
    if (take_word(reader, "vec")) return need(reader, IR_LESS, "'<'") && read_vector(reader, type);
    if (take_word(reader, "ptr")) return need(reader, IR_LESS, "'<'") && read_pointer(reader, type);
    if (take_word(reader, "view")) return need(reader, IR_LESS, "'<'") && read_view(reader, type);
    if (take_word(reader, "tile"))
        return need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_TILE, type);
    if (take_word(reader, "shared"))
        return need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_SHARED, type);
    if (take_word(reader, "local"))
        return need(reader, IR_LESS, "'<'") && read_tile(reader, TYPE_LOCAL, type);
    if (take_word(reader, "var")) return need(reader, IR_LESS, "'<'") && read_var(reader, type);
    return expected(reader, "a type");
}

static const Type *read_type(Reader *reader)
{
    Type type = {.kind = TYPE_SCALAR};
    if (token(reader)->kind == IR_NAME &&
        dtype_find(token_text(reader, token(reader)), &type.dtype))
        advance(reader);
    else if (!read_compound(reader, &type) || !need(reader, IR_GREATER, "'>'"))
        return NULL;
    return type_intern(reader->kernel->types, &type);
}

/* ---- values ---- */

/* The name without its '%'. */
static Name value_name(Reader *reader, const Token *token)
{
    return intern(reader->names, reader->source->text + token->begin + 1,
                  token->end - token->begin - 1);
}

/* Digits stand for a value without a name. */
static Name lasting_name(Reader *reader, Name name)
{
    return strspn(name, "0123456789") == strlen(name) ? NULL
                                                      : intern_text(reader->session->names, name);
}

static bool define(Reader *reader, const Token *at, Name name, Value *value)
{
    if (map_has(&reader->values, name))
        return fail(reader, at, arena_printf(reader->scratch, "%%%s is defined twice", name));
    map_set(reader->scratch, &reader->values, name, value);
    value->name = lasting_name(reader, name);
    return true;
}

static bool read_operands(Reader *reader, ValueVec *out)
{
    if (token(reader)->kind != IR_VALUE || token(reader)->is_first) return true;
    do {
        const Token *at = token(reader);
        if (!need(reader, IR_VALUE, "a value")) return false;
        Name name = value_name(reader, at);
        if (!map_has(&reader->values, name))
            return fail(reader, at, arena_printf(reader->scratch, "%%%s is not defined", name));
        vec_push(reader->scratch, out, map_get(&reader->values, name));
    } while (take(reader, IR_COMMA));
    return out->count <= MOST_VALUES || fail(reader, token(reader), "too many operands");
}

static bool read_result_names(Reader *reader, NameVec *out)
{
    if (token(reader)->kind != IR_VALUE) return true;
    do {
        const Token *at = token(reader);
        if (!need(reader, IR_VALUE, "a value")) return false;
        vec_push(reader->scratch, out, value_name(reader, at));
    } while (take(reader, IR_COMMA));
    return need(reader, IR_EQUAL, "'='");
}

static bool read_result_types(Reader *reader, TypeVec *out)
{
    if (!take(reader, IR_COLON)) return true;
    do {
        const Type *type = read_type(reader);
        if (type == NULL) return false;
        vec_push(reader->scratch, out, type);
    } while (take(reader, IR_COMMA));
    return out->count <= MOST_VALUES || fail(reader, token(reader), "too many results");
}

/* ---- attributes: read before the op exists, set once it does ---- */

typedef VEC(Attr) AttrVec;

static bool read_attr_value(Reader *reader, Attr *attr)
{
    IntVec integers = {0};
    switch (attr_kind(attr->key)) {
    case ATTR_KIND_INT: return read_int(reader, &attr->integer);
    case ATTR_KIND_FLOAT: return read_number(reader, &attr->number);
    case ATTR_KIND_TEXT: return (attr->text = read_word(reader)) != NULL;
    case ATTR_KIND_INTS: break;
    }
    if (!read_ints(reader, false, &integers)) return false;
    attr->integers = integers.data;
    attr->count = (int)integers.count;
    return true;
}

static bool read_attr(Reader *reader, AttrVec *out)
{
    Attr attr = {0};
    if (token(reader)->kind != IR_NAME || !attr_find(token_text(reader, token(reader)), &attr.key))
        return expected(reader, "an attribute");
    for (size_t i = 0; i < out->count; i++)
        if (out->data[i].key == attr.key)
            return fail(reader, token(reader), "this attribute is given twice");
    advance(reader);
    if (!need(reader, IR_EQUAL, "'='") || !read_attr_value(reader, &attr)) return false;
    vec_push(reader->scratch, out, attr);
    return true;
}

/* Braces hold attributes if `name =` follows, else they are a region's. */
static bool read_attrs(Reader *reader, AttrVec *out)
{
    if (token(reader)->kind != IR_LBRACE || token_after(reader, 1)->kind != IR_NAME ||
        token_after(reader, 2)->kind != IR_EQUAL)
        return true;
    advance(reader);
    do
        if (!read_attr(reader, out)) return false;
    while (take(reader, IR_COMMA));
    return need(reader, IR_RBRACE, "'}'");
}

static void set_attrs(Op *op, const AttrVec *attrs)
{
    for (size_t i = 0; i < attrs->count; i++) {
        const Attr *attr = &attrs->data[i];
        switch (attr_kind(attr->key)) {
        case ATTR_KIND_INT: op_set_int(op, attr->key, attr->integer); break;
        case ATTR_KIND_FLOAT: op_set_number(op, attr->key, attr->number); break;
        case ATTR_KIND_TEXT: op_set_text(op, attr->key, attr->text); break;
        case ATTR_KIND_INTS: op_set_ints(op, attr->key, attr->count, attr->integers); break;
        }
    }
}

/* ---- ops and regions ---- */

typedef struct Head {
    const Token *first;
    NameVec names;
    OpCode code;
    ValueVec operands;
    AttrVec attrs;
    TypeVec types;
} Head;

static bool read_head(Reader *reader, Head *head)
{
    head->first = token(reader);
    if (!read_result_names(reader, &head->names)) return false;
    if (token(reader)->kind != IR_NAME || !op_find(token_text(reader, token(reader)), &head->code))
        return expected(reader, "an op");
    advance(reader);
    if (!read_operands(reader, &head->operands) || !read_attrs(reader, &head->attrs) ||
        !read_result_types(reader, &head->types))
        return false;
    if (head->names.count != head->types.count)
        return fail(reader, head->first, "an op has one type for each result");
    return true;
}

static Span place_of(const Reader *reader, const Token *first)
{
    Span named = places_find(reader->places, first->line);
    return named.source != NULL ? named : span_from(reader, first);
}

static Op *make_op(Reader *reader, Region *region, const Head *head)
{
    Buf fault = {0};
    int operands = (int)head->operands.count, results = (int)head->types.count;
    if (!row_fits(head->code, operands, head->operands.data, results, head->types.data, &fault)) {
        fail(reader, head->first,
             arena_printf(reader->scratch, "%s: %s", op_info(head->code)->name, fault.data));
        buf_free(&fault);
        return NULL;
    }
    Builder builder = builder_at_end(region, place_of(reader, head->first));
    Op *op =
        build_op(&builder, head->code, operands, head->operands.data, results, head->types.data);
    set_attrs(op, &head->attrs);
    for (int i = 0; i < results; i++)
        if (!define(reader, head->first, head->names.data[i], &op->results[i])) return NULL;
    return op;
}

static bool read_region(Reader *reader, Region *region);

static bool read_op(Reader *reader, Region *region)
{
    Head head = {0};
    if (!read_head(reader, &head)) return false;
    Op *op = make_op(reader, region, &head);
    if (op == NULL) return false;
    for (int i = 0; i < op->region_count; i++)
        if (!read_region(reader, op->regions[i])) return false;
    return true;
}

static bool read_arguments(Reader *reader, Region *region)
{
    if (!take(reader, IR_LPAREN) || take(reader, IR_RPAREN)) return true;
    do {
        const Token *at = token(reader);
        if (!need(reader, IR_VALUE, "an argument") || !need(reader, IR_COLON, "':'")) return false;
        const Type *type = read_type(reader);
        if (type == NULL ||
            !define(reader, at, value_name(reader, at), region_add_argument(region, type, NULL)))
            return false;
    } while (take(reader, IR_COMMA));
    return need(reader, IR_RPAREN, "')'");
}

static bool read_region(Reader *reader, Region *region)
{
    if (reader->depth >= DEEPEST_REGION)
        return fail(reader, token(reader), "regions are nested too deeply");
    if (!read_arguments(reader, region) || !need(reader, IR_LBRACE, "'{'")) return false;
    reader->depth++;
    while (!take(reader, IR_RBRACE))
        if (!read_op(reader, region)) return false;
    reader->depth--;
    return true;
}

/* ---- kernels ---- */

static bool read_key(Reader *reader, bool is_text, Parameter *parameter)
{
    double number;
    if (!need(reader, IR_EQUAL, "'='")) return false;
    if (is_text) {
        if (token(reader)->kind != IR_STRING) return expected(reader, "a text");
        parameter->text = read_string(reader);
        return parameter->text != NULL;
    }
    if (!dtype_is_float(parameter->value->type->dtype)) return read_int(reader, &parameter->key);
    if (!read_number(reader, &number)) return false;
    memcpy(&parameter->key, &number, sizeof number);
    return true;
}

static bool read_facts(Reader *reader, Parameter *parameter)
{
    if (take_word(reader, "multiple") && !read_int(reader, &parameter->multiple)) return false;
    parameter->is_read = take_word(reader, "reads");
    parameter->is_written = take_word(reader, "writes");
    return true;
}

static bool read_parameter(Reader *reader)
{
    const Token *at = token(reader);
    if (!need(reader, IR_VALUE, "a parameter") || !need(reader, IR_COLON, "':'")) return false;
    bool is_key = take_word(reader, "key"), is_zeroed = take_word(reader, "zeroed");
    bool is_workspace = take_word(reader, "workspace");
    bool is_dtype = is_key && take_word(reader, "dtype");
    bool is_text = is_key && !is_dtype && take_word(reader, "str");
    const Type *type =
        is_dtype || is_text ? type_scalar(reader->kernel->types, DTYPE_i64) : read_type(reader);
    if (type == NULL) return false;
    Name name = value_name(reader, at), lasting = lasting_name(reader, name);
    Kernel *kernel = reader->kernel;
    Value *value =
        is_workspace ? kernel_add_workspace(kernel, lasting, type, is_zeroed, span_from(reader, at))
                     : kernel_add_parameter(kernel, lasting, type, span_from(reader, at));
    Parameter *parameter = &kernel->parameters[value->index];
    parameter->is_key = is_key;
    parameter->is_dtype = is_dtype;
    return define(reader, at, name, value) && (!is_key || read_key(reader, is_text, parameter)) &&
           read_facts(reader, parameter);
}

static bool read_parameters(Reader *reader)
{
    if (!need(reader, IR_LPAREN, "'('")) return false;
    if (take(reader, IR_RPAREN)) return true;
    do
        if (!read_parameter(reader)) return false;
    while (take(reader, IR_COMMA));
    return need(reader, IR_RPAREN, "')'");
}

/* The index of the parameter that a value names. */
static bool read_parameter_name(Reader *reader, int *out)
{
    const Token *at = token(reader);
    if (!need(reader, IR_VALUE, "a parameter")) return false;
    const Value *value = map_get(&reader->values, value_name(reader, at));
    if (value == NULL) return fail(reader, at, "the kernel has no such parameter");
    *out = value->index;
    return true;
}

static bool read_extent(Reader *reader, bool is_result, Extent *out)
{
    if (is_result) return need(reader, IR_QUESTION, "'?': result_shape says a result's extents");
    out->kind = token(reader)->kind == IR_VALUE ? EXTENT_PARAMETER : EXTENT_LITERAL;
    return out->kind == EXTENT_PARAMETER ? read_parameter_name(reader, &out->parameter)
                                         : read_int(reader, &out->value);
}

static bool read_tensor_extents(Reader *reader, bool is_result, Extent *out, int *rank)
{
    *rank = 0;
    if (!need(reader, IR_LBRACKET, "'['")) return false;
    if (take(reader, IR_RBRACKET)) return true;
    do {
        if (*rank == TYPE_RANK) return fail(reader, token(reader), "too many dimensions");
        if (!read_extent(reader, is_result, &out[(*rank)++])) return false;
    } while (take(reader, IR_COMMA));
    return need(reader, IR_RBRACKET, "']'");
}

static bool read_tensor(Reader *reader, bool is_result)
{
    const Token *first = token(reader);
    Tensor made = {.dtype_key = -1};
    int stride_rank;
    if (!read_parameter_name(reader, &made.pointer) ||
        !read_tensor_extents(reader, is_result, made.shape, &made.rank))
        return false;
    made.is_strided = take_word(reader, "strides");
    if (made.is_strided && (!read_tensor_extents(reader, false, made.strides, &stride_rank) ||
                            (stride_rank != made.rank &&
                             !fail(reader, first, "a tensor has as many strides as extents"))))
        return false;
    if (take_word(reader, "dtype") && !read_parameter_name(reader, &made.dtype_key)) return false;
    Tensor *tensor =
        kernel_add_tensor(reader->kernel, made.pointer, made.rank, place_of(reader, first));
    made.name = tensor->name;
    made.span = tensor->span;
    made.dtype = tensor->dtype;
    made.is_result = is_result;
    *tensor = made;
    return true;
}

static bool read_tensors(Reader *reader)
{
    for (;;) {
        bool is_result = take_word(reader, "result");
        if (!is_result && !take_word(reader, "tensor")) return true;
        if (!read_tensor(reader, is_result)) return false;
    }
}

static bool read_stage(Reader *reader)
{
    if (!take_word(reader, "stage")) return expected(reader, "'stage'");
    if (token(reader)->kind != IR_NAME ||
        !stage_find(token_text(reader, token(reader)), &reader->kernel->stage))
        return expected(reader, "the name of a stage");
    advance(reader);
    return true;
}

static Name read_kernel_name(Reader *reader)
{
    if (!take_word(reader, "kernel")) {
        expected(reader, "'kernel'");
        return NULL;
    }
    return need(reader, IR_AT, "'@'") ? read_word(reader) : NULL;
}

static bool read_body(Reader *reader, const Token *first)
{
    Kernel *kernel = reader->kernel;
    if (take_word(reader, "export") && (kernel->export_name = read_word(reader)) == NULL)
        return false;
    if (take_word(reader, "configuration") && (kernel->configuration = read_word(reader)) == NULL)
        return false;
    if (!read_stage(reader) || !read_parameters(reader) || !read_tensors(reader)) return false;
    kernel->span = place_of(reader, first);
    return read_region(reader, kernel->host);
}

/* NULL: reported. */
static Kernel *read_kernel(Reader *reader)
{
    const Token *first = token(reader);
    Name name = read_kernel_name(reader);
    if (name == NULL) return NULL;
    reader->kernel = kernel_new(reader->session, name, (Span){0});
    reader->kernel->read_from = reader->source;
    reader->values = (Map){0};
    reader->depth = 0;
    if (read_body(reader, first)) return reader->kernel;
    kernel_free(reader->kernel);
    return NULL;
}

static Kernel **read_kernels(Reader *reader, int *count)
{
    VEC(Kernel *) kernels = {0};
    do {
        Kernel *kernel = read_kernel(reader);
        if (kernel == NULL) {
            for (size_t i = 0; i < kernels.count; i++) kernel_free(kernels.data[i]);
            return NULL;
        }
        vec_push(reader->session->arena, &kernels, kernel);
    } while (token(reader)->kind != IR_END);
    *count = (int)kernels.count;
    return kernels.data;
}

Kernel **kernel_read(Session *session, const Source *source, int *count)
{
    Arena *scratch = arena_new();
    Reader reader = {.session = session, .source = source, .scratch = scratch};
    reader.names = interner_new(scratch);
    reader.places = places_new(session, scratch);
    *count = 0;
    scan(&reader);
    places_resolve(reader.places);
    Kernel **kernels = read_kernels(&reader, count);
    arena_free(scratch);
    return kernels;
}
