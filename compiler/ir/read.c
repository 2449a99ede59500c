/* read.c: text that kernel_print wrote, back to kernels. The first fault is reported and ends the
 * reading. What the builder would take for an internal error is checked here first; the rest is
 * verify.c's. */
#include "ir/reader.h"
#include "ir/rows.h"

#include <stdlib.h>
#include <string.h>

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
        return ir_fail(reader, at, arena_printf(reader->scratch, "%%%s is defined twice", name));
    map_set(reader->scratch, &reader->values, name, value);
    value->name = lasting_name(reader, name);
    return true;
}

static bool read_operands(Reader *reader, ValueVec *out)
{
    if (ir_token(reader)->kind != IR_VALUE || ir_token(reader)->is_first) return true;
    do {
        const Token *at = ir_token(reader);
        if (!ir_need(reader, IR_VALUE, "a value")) return false;
        Name name = value_name(reader, at);
        if (!map_has(&reader->values, name))
            return ir_fail(reader, at, arena_printf(reader->scratch, "%%%s is not defined", name));
        vec_push(reader->scratch, out, map_get(&reader->values, name));
    } while (ir_take(reader, IR_COMMA));
    return out->count <= MOST_VALUES || ir_fail(reader, ir_token(reader), "too many operands");
}

static bool read_result_names(Reader *reader, NameVec *out)
{
    if (ir_token(reader)->kind != IR_VALUE) return true;
    do {
        const Token *at = ir_token(reader);
        if (!ir_need(reader, IR_VALUE, "a value")) return false;
        vec_push(reader->scratch, out, value_name(reader, at));
    } while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_EQUAL, "'='");
}

static bool read_result_types(Reader *reader, TypeVec *out)
{
    if (!ir_take(reader, IR_COLON)) return true;
    do {
        const Type *type = ir_read_type(reader);
        if (type == NULL) return false;
        vec_push(reader->scratch, out, type);
    } while (ir_take(reader, IR_COMMA));
    return out->count <= MOST_VALUES || ir_fail(reader, ir_token(reader), "too many results");
}

/* ---- attributes: read before the op exists, set once it does ---- */

typedef VEC(Attr) AttrVec;

static bool read_attr_value(Reader *reader, Attr *attr)
{
    IntVec integers = {0};
    switch (attr_kind(attr->key)) {
    case ATTR_KIND_INT: return ir_read_int(reader, &attr->integer);
    case ATTR_KIND_FLOAT: return ir_read_number(reader, &attr->number);
    case ATTR_KIND_TEXT: return (attr->text = ir_read_word(reader)) != NULL;
    case ATTR_KIND_INTS: break;
    }
    if (!ir_read_ints(reader, false, &integers)) return false;
    attr->integers = integers.data;
    attr->count = (int)integers.count;
    return true;
}

static bool read_attr(Reader *reader, AttrVec *out)
{
    Attr attr = {0};
    if (ir_token(reader)->kind != IR_NAME ||
        !attr_find(ir_token_text(reader, ir_token(reader)), &attr.key))
        return ir_expected(reader, "an attribute");
    for (size_t i = 0; i < out->count; i++)
        if (out->data[i].key == attr.key)
            return ir_fail(reader, ir_token(reader), "this attribute is given twice");
    ir_advance(reader);
    if (!ir_need(reader, IR_EQUAL, "'='") || !read_attr_value(reader, &attr)) return false;
    vec_push(reader->scratch, out, attr);
    return true;
}

/* Braces hold attributes if `name =` follows, else they are a region's. */
static bool read_attrs(Reader *reader, AttrVec *out)
{
    if (ir_token(reader)->kind != IR_LBRACE || ir_token_after(reader, 1)->kind != IR_NAME ||
        ir_token_after(reader, 2)->kind != IR_EQUAL)
        return true;
    ir_advance(reader);
    do
        if (!read_attr(reader, out)) return false;
    while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_RBRACE, "'}'");
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
    head->first = ir_token(reader);
    if (!read_result_names(reader, &head->names)) return false;
    if (ir_token(reader)->kind != IR_NAME ||
        !op_find(ir_token_text(reader, ir_token(reader)), &head->code))
        return ir_expected(reader, "an op");
    ir_advance(reader);
    if (!read_operands(reader, &head->operands) || !read_attrs(reader, &head->attrs) ||
        !read_result_types(reader, &head->types))
        return false;
    if (head->names.count != head->types.count)
        return ir_fail(reader, head->first, "an op has one type for each result");
    return true;
}

static Span place_of(const Reader *reader, const Token *first)
{
    Span named = locations_find(reader->locations, first->line);
    return named.source != NULL ? named : ir_span_from(reader, first);
}

static Op *make_op(Reader *reader, Region *region, const Head *head)
{
    Buf fault = {0};
    int operands = (int)head->operands.count, results = (int)head->types.count;
    if (!row_fits(head->code, operands, head->operands.data, results, head->types.data, &fault)) {
        ir_fail(reader, head->first,
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
    if (!ir_take(reader, IR_LPAREN) || ir_take(reader, IR_RPAREN)) return true;
    do {
        const Token *at = ir_token(reader);
        if (!ir_need(reader, IR_VALUE, "an argument") || !ir_need(reader, IR_COLON, "':'"))
            return false;
        const Type *type = ir_read_type(reader);
        if (type == NULL ||
            !define(reader, at, value_name(reader, at), region_add_argument(region, type, NULL)))
            return false;
    } while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_RPAREN, "')'");
}

static bool read_region(Reader *reader, Region *region)
{
    if (reader->depth >= DEEPEST_REGION)
        return ir_fail(reader, ir_token(reader), "regions are nested too deeply");
    if ((region->parent && !read_arguments(reader, region)) || !ir_need(reader, IR_LBRACE, "'{'"))
        return false;
    if (!region->parent && !ir_read_aliases(reader)) return false;
    reader->depth++;
    while (!ir_take(reader, IR_RBRACE))
        if (!read_op(reader, region)) return false;
    reader->depth--;
    return true;
}

/* ---- kernels ---- */

static bool read_key(Reader *reader, bool is_text, Parameter *parameter)
{
    double number;
    if (!ir_need(reader, IR_EQUAL, "'='")) return false;
    if (is_text) {
        if (ir_token(reader)->kind != IR_STRING) return ir_expected(reader, "a text");
        parameter->text = ir_read_string(reader);
        return parameter->text != NULL;
    }
    if (!dtype_is_float(parameter->value->type->dtype)) return ir_read_int(reader, &parameter->key);
    if (!ir_read_number(reader, &number)) return false;
    memcpy(&parameter->key, &number, sizeof number);
    return true;
}

static bool read_facts(Reader *reader, Parameter *parameter)
{
    if (ir_take_word(reader, "multiple") && !ir_read_int(reader, &parameter->multiple))
        return false;
    parameter->is_read = ir_take_word(reader, "reads");
    parameter->is_written = ir_take_word(reader, "writes");
    return true;
}

static bool read_parameter(Reader *reader)
{
    const Token *at = ir_token(reader);
    if (!ir_need(reader, IR_VALUE, "a parameter") || !ir_need(reader, IR_COLON, "':'"))
        return false;
    bool is_key = ir_take_word(reader, "key"), is_kept = ir_take_word(reader, "kept");
    bool is_zeroed = is_kept || ir_take_word(reader, "zeroed");
    bool is_workspace = ir_take_word(reader, "workspace");
    bool is_dtype = is_key && ir_take_word(reader, "dtype");
    bool is_text = is_key && !is_dtype && ir_take_word(reader, "str");
    const Type *type =
        is_dtype || is_text ? type_scalar(reader->kernel->types, DTYPE_i64) : ir_read_type(reader);
    if (type == NULL) return false;
    Name name = value_name(reader, at), lasting = lasting_name(reader, name);
    Kernel *kernel = reader->kernel;
    Value *value =
        is_workspace
            ? kernel_add_workspace(kernel, lasting, type, is_zeroed, ir_span_from(reader, at))
            : kernel_add_parameter(kernel, lasting, type, ir_span_from(reader, at));
    Parameter *parameter = &kernel->parameters[value->index];
    parameter->is_key = is_key;
    parameter->is_kept = is_kept;
    parameter->is_dtype = is_dtype;
    return define(reader, at, name, value) && (!is_key || read_key(reader, is_text, parameter)) &&
           read_facts(reader, parameter);
}

static bool read_parameters(Reader *reader)
{
    if (!ir_need(reader, IR_LPAREN, "'('")) return false;
    if (ir_take(reader, IR_RPAREN)) return true;
    do
        if (!read_parameter(reader)) return false;
    while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_RPAREN, "')'");
}

/* The index of the parameter that a value names. */
static bool read_parameter_name(Reader *reader, int *out)
{
    const Token *at = ir_token(reader);
    if (!ir_need(reader, IR_VALUE, "a parameter")) return false;
    const Value *value = map_get(&reader->values, value_name(reader, at));
    if (value == NULL) return ir_fail(reader, at, "the kernel has no such parameter");
    *out = value->index;
    return true;
}

static bool read_extent(Reader *reader, bool is_result, Extent *out)
{
    if (is_result) return ir_need(reader, IR_QUESTION, "'?': result_shape says a result's extents");
    out->kind = ir_token(reader)->kind == IR_VALUE ? EXTENT_PARAMETER : EXTENT_LITERAL;
    return out->kind == EXTENT_PARAMETER ? read_parameter_name(reader, &out->parameter)
                                         : ir_read_int(reader, &out->value);
}

static bool read_tensor_extents(Reader *reader, bool is_result, Extent *out, int *rank)
{
    *rank = 0;
    if (!ir_need(reader, IR_LBRACKET, "'['")) return false;
    if (ir_take(reader, IR_RBRACKET)) return true;
    do {
        if (*rank == TYPE_RANK) return ir_fail(reader, ir_token(reader), "too many dimensions");
        if (!read_extent(reader, is_result, &out[(*rank)++])) return false;
    } while (ir_take(reader, IR_COMMA));
    return ir_need(reader, IR_RBRACKET, "']'");
}

static bool read_tensor(Reader *reader, bool is_result)
{
    const Token *first = ir_token(reader);
    Tensor made = {.dtype_key = -1};
    int stride_rank;
    if (!read_parameter_name(reader, &made.pointer) ||
        !read_tensor_extents(reader, is_result, made.shape, &made.rank))
        return false;
    made.is_strided = ir_take_word(reader, "strides");
    if (made.is_strided && (!read_tensor_extents(reader, false, made.strides, &stride_rank) ||
                            (stride_rank != made.rank &&
                             !ir_fail(reader, first, "a tensor has as many strides as extents"))))
        return false;
    if (ir_take_word(reader, "dtype") && !read_parameter_name(reader, &made.dtype_key))
        return false;
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
        bool is_result = ir_take_word(reader, "result");
        if (!is_result && !ir_take_word(reader, "tensor")) return true;
        if (!read_tensor(reader, is_result)) return false;
    }
}

static bool read_stage(Reader *reader)
{
    if (!ir_take_word(reader, "stage")) return ir_expected(reader, "'stage'");
    if (ir_token(reader)->kind != IR_NAME ||
        !stage_find(ir_token_text(reader, ir_token(reader)), &reader->kernel->stage))
        return ir_expected(reader, "the name of a stage");
    ir_advance(reader);
    return true;
}

static Name read_kernel_name(Reader *reader)
{
    if (!ir_take_word(reader, "kernel")) {
        ir_expected(reader, "'kernel'");
        return NULL;
    }
    return ir_need(reader, IR_AT, "'@'") ? ir_read_word(reader) : NULL;
}

static bool read_body(Reader *reader, const Token *first)
{
    Kernel *kernel = reader->kernel;
    if (ir_take_word(reader, "export") && (kernel->export_name = ir_read_word(reader)) == NULL)
        return false;
    if (ir_take_word(reader, "configuration") &&
        (kernel->configuration = ir_read_word(reader)) == NULL)
        return false;
    if (!read_stage(reader) || !read_parameters(reader) || !read_tensors(reader)) return false;
    kernel->span = place_of(reader, first);
    return read_region(reader, kernel->host);
}

/* NULL: reported. */
static Kernel *read_kernel(Reader *reader)
{
    const Token *first = ir_token(reader);
    Name name = read_kernel_name(reader);
    if (name == NULL) return NULL;
    reader->kernel = kernel_new(reader->session, name, (Span){0});
    reader->kernel->read_from = reader->source;
    reader->values = (Map){0};
    reader->layouts = (Map){0};
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
    } while (ir_token(reader)->kind != IR_END);
    *count = (int)kernels.count;
    return kernels.data;
}

Kernel **kernel_read(Session *session, const Source *source, int *count)
{
    Arena *scratch = arena_new();
    Reader reader = {.session = session, .source = source, .scratch = scratch};
    reader.names = interner_new(scratch);
    reader.locations = locations_new(session, scratch);
    *count = 0;
    ir_scan_all(&reader);
    locations_resolve(reader.locations);
    Kernel **kernels = read_kernels(&reader, count);
    arena_free(scratch);
    return kernels;
}
