/* print.c: the tree as text. One node a line, indented by its depth:
 *
 *     field[index]: Kind line:column-line:column field=value ...
 *
 * Fields that are nodes follow on lines of their own; those that are absent or empty are left out.
 * As in Python's ast, lines count from 1 and columns from 0, in bytes. */
#include "syntax/parser.h"

#include <inttypes.h>

typedef struct Printer {
    Buf *out;
    int depth;
} Printer;

static void put_place(Buf *out, const Source *source, uint32_t offset)
{
    uint32_t line = source_location(source, offset).line;
    buf_printf(out, "%" PRIu32 ":%" PRIu32, line, offset - source->lines[line - 1]);
}

static void put_literal(Buf *out, const Literal *literal)
{
    switch (literal->kind) {
    case LITERAL_NONE: buf_text(out, "None"); return;
    case LITERAL_TRUE: buf_text(out, "True"); return;
    case LITERAL_FALSE: buf_text(out, "False"); return;
    case LITERAL_ELLIPSIS: buf_text(out, "..."); return;
    case LITERAL_INT:
        if (literal->too_large)
            buf_bytes(out, literal->text, literal->length);
        else
            buf_printf(out, "%" PRIu64, literal->integer);
        return;
    case LITERAL_FLOAT: buf_printf(out, "%.17g", literal->number); return;
    case LITERAL_IMAGINARY: buf_printf(out, "%.17gj", literal->number); return;
    case LITERAL_STRING: buf_quoted(out, literal->text, literal->length); return;
    case LITERAL_BYTES:
        buf_char(out, 'b');
        buf_quoted(out, literal->text, literal->length);
        return;
    }
}

static void put_names(Buf *out, const Names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : ",", names->items[i]);
}

static void put_operators(Buf *out, const Operators *operators)
{
    for (uint32_t i = 0; i < operators->count; i++)
        buf_printf(out, "%s%s", i == 0 ? "" : ",", operator_name(operators->items[i]));
}

/* A field that fits on the node's own line. */
static void put_scalar(Buf *out, const Node *node, const Field *field)
{
    switch (field->kind) {
    case FIELD_END:
    case FIELD_NODE:
    case FIELD_LIST: return;
    case FIELD_NAME:
        if (*FIELD_OF(Name, node, field) != NULL)
            buf_printf(out, " %s=%s", field->name, *FIELD_OF(Name, node, field));
        return;
    case FIELD_NAMES:
        if (FIELD_OF(Names, node, field)->count > 0) {
            buf_printf(out, " %s=", field->name);
            put_names(out, FIELD_OF(Names, node, field));
        }
        return;
    case FIELD_OP:
        buf_printf(out, " %s=%s", field->name, operator_name(*FIELD_OF(Operator, node, field)));
        return;
    case FIELD_OPS:
        buf_printf(out, " %s=", field->name);
        put_operators(out, FIELD_OF(Operators, node, field));
        return;
    case FIELD_INT: buf_printf(out, " %s=%d", field->name, *FIELD_OF(int, node, field)); return;
    case FIELD_CONST:
        buf_printf(out, " %s=", field->name);
        put_literal(out, FIELD_OF(Literal, node, field));
        return;
    }
}

static void print_node(Printer *printer, const Node *node);

static void print_child(Printer *printer, const char *name, int index, const Node *child)
{
    buf_printf(printer->out, "%*s%s", printer->depth * 2, "", name);
    if (index >= 0) buf_printf(printer->out, "[%d]", index);
    buf_text(printer->out, ": ");
    if (child == NULL)
        buf_text(printer->out, "None\n");
    else
        print_node(printer, child);
}

static void print_children(Printer *printer, const Node *node, const Field *field)
{
    if (field->kind == FIELD_NODE && *FIELD_OF(Node *, node, field) != NULL)
        print_child(printer, field->name, -1, *FIELD_OF(Node *, node, field));
    if (field->kind != FIELD_LIST) return;
    const Nodes *list = FIELD_OF(Nodes, node, field);
    for (uint32_t i = 0; i < list->count; i++)
        print_child(printer, field->name, (int)i, list->items[i]);
}

static void print_node(Printer *printer, const Node *node)
{
    buf_printf(printer->out, "%s ", node_kind_name(node->kind));
    put_place(printer->out, node->span.source, node->span.begin);
    buf_char(printer->out, '-');
    put_place(printer->out, node->span.source, node->span.end);
    const Field *fields = node_fields(node->kind);
    for (const Field *field = fields; field->kind != FIELD_END; field++)
        put_scalar(printer->out, node, field);
    buf_char(printer->out, '\n');
    printer->depth++;
    for (const Field *field = fields; field->kind != FIELD_END; field++)
        print_children(printer, node, field);
    printer->depth--;
}

void print_tree(const Node *node, Buf *out)
{
    Printer printer = {out, 0};
    print_node(&printer, node);
}
