/* reduce_edits.c: the ways to make a text shorter, found on its tree: a statement is left out with
 * its lines, an expression gives way to one of its own parts. */
#include "command/reduce.h"

#include "syntax/syntax.h"

#include <ctype.h>
#include <string.h>

typedef struct Finder {
    Session *session;
    const char *text;
    uint32_t length;
    EditRound round;
    EditVec *out;
    const Node *module;
} Finder;

static void add_edit(Finder *finder, uint32_t begin, uint32_t end, const char *text)
{
    const Edit edit = {.pieces = {{begin, end, text}}, .piece_count = 1};
    vec_push(finder->session->arena, finder->out, edit);
}

static const char *copy_span(const Finder *finder, uint32_t begin, uint32_t end)
{
    return arena_copy_text(finder->session->arena, finder->text + begin, end - begin);
}

/* ---- statements ---- */

static uint32_t line_begin(const Finder *finder, uint32_t at)
{
    while (at > 0 && finder->text[at - 1] != '\n') at--;
    return at;
}

static uint32_t line_end(const Finder *finder, uint32_t at)
{
    while (at < finder->length && finder->text[at] != '\n') at++;
    return at < finder->length ? at + 1 : at;
}

static uint32_t first_place(const Node *statement)
{
    const Nodes *decorators =
        statement->kind == NODE_FunctionDef ? &NODE_AS(FunctionDef, statement)->decorator_list
        : statement->kind == NODE_ClassDef  ? &NODE_AS(ClassDef, statement)->decorator_list
                                            : NULL;
    return decorators && decorators->count ? decorators->items[0]->span.begin
                                           : statement->span.begin;
}

/* Whether nothing else stands on the lines of these statements. */
static bool owns_lines(const Finder *finder, uint32_t begin, uint32_t end)
{
    for (uint32_t i = line_begin(finder, begin); i < begin; i++)
        if (!isspace((unsigned char)finder->text[i]) && finder->text[i] != '@') return false;
    for (uint32_t i = end; i < finder->length && finder->text[i] != '\n'; i++) {
        if (finder->text[i] == '#') return true;
        if (!isspace((unsigned char)finder->text[i])) return false;
    }
    return true;
}

/* Leaves out `count` statements of a block; of a block that has no others `pass` is left. */
static void drop_statements(Finder *finder, const Nodes *block, uint32_t first, uint32_t count,
                            bool may_be_empty)
{
    const uint32_t begin = first_place(block->items[first]);
    const uint32_t end = block->items[first + count - 1]->span.end;
    const bool whole = count == block->count && !may_be_empty;
    if (whole && count == 1 && block->items[0]->kind == NODE_Pass) return;
    if (whole || !owns_lines(finder, begin, end)) {
        const uint32_t from = finder->text[begin - (begin > 0)] == '@' ? begin - 1 : begin;
        if (count > 1 || block->items[first]->kind != NODE_Pass)
            add_edit(finder, from, end, "pass");
        return;
    }
    add_edit(finder, line_begin(finder, begin), line_end(finder, end), "");
}

/* The lines of a block, moved left to where the statement around it begins. */
static const char *block_outdented(const Finder *finder, const Nodes *block, uint32_t column)
{
    const uint32_t begin = first_place(block->items[0]);
    const uint32_t end = block->items[block->count - 1]->span.end;
    const uint32_t inner = begin - line_begin(finder, begin);
    if (!owns_lines(finder, begin, end) || inner < column) return NULL;
    Buf out = {0};
    for (uint32_t at = line_begin(finder, begin); at < end; at = line_end(finder, at)) {
        uint32_t from = at;
        const uint32_t stop = line_end(finder, at) < end ? line_end(finder, at) : end;
        while (from < stop && from - at < inner - column && finder->text[from] == ' ') from++;
        buf_bytes(&out, finder->text + from, stop - from);
    }
    const char *text = arena_copy_text(finder->session->arena, out.data, out.length);
    buf_free(&out);
    return text;
}

static void unwrap(Finder *finder, const Node *statement, const Nodes *block)
{
    const bool is_control = statement->kind == NODE_If || statement->kind == NODE_For ||
                            statement->kind == NODE_While || statement->kind == NODE_With ||
                            statement->kind == NODE_Try;
    const uint32_t begin = line_begin(finder, statement->span.begin);
    if (!is_control || !owns_lines(finder, statement->span.begin, statement->span.end)) return;
    const char *text = block_outdented(finder, block, statement->span.begin - begin);
    if (text) add_edit(finder, begin, statement->span.end, text);
}

/* Lines without anything on them, all of them at once. */
static void drop_blank_lines(Finder *finder)
{
    Edit edit = {.piece_count = 0};
    for (uint32_t at = 0; at < finder->length && edit.piece_count < EDIT_PIECES;) {
        uint32_t end = at;
        while (end < finder->length && finder->text[end] == '\n') end++;
        if (end > at) edit.pieces[edit.piece_count++] = (Piece){at, end, ""};
        at = line_end(finder, end);
    }
    if (edit.piece_count) vec_push(finder->session->arena, finder->out, edit);
}

static void find_in_blocks(Finder *finder, const Node *node)
{
    Nodes blocks[NODE_BLOCKS];
    const int count = node_blocks(node, blocks);
    for (int i = 0; i < count; i++) {
        for (uint32_t size = blocks[i].count; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
            for (uint32_t end = blocks[i].count; end > 0; end = end > size ? end - size : 0)
                drop_statements(finder, &blocks[i], end > size ? end - size : 0,
                                end > size ? size : end, node == finder->module);
        unwrap(finder, node, &blocks[i]);
    }
}

/* ---- items of lists ---- */

static uint32_t skip_blanks(const Finder *finder, uint32_t at)
{
    while (at < finder->length && isspace((unsigned char)finder->text[at])) at++;
    return at;
}

/* An item with the comma behind it, or before it. */
static Piece drop_item(const Finder *finder, uint32_t begin, uint32_t end)
{
    const uint32_t next = skip_blanks(finder, end);
    if (finder->text[next] == ',') return (Piece){begin, skip_blanks(finder, next + 1), ""};
    uint32_t before = begin;
    while (before > 0 && isspace((unsigned char)finder->text[before - 1])) before--;
    if (before > 0 && finder->text[before - 1] == ',') before--;
    return (Piece){before, end, ""};
}

static void drop_items(Finder *finder, const Nodes *items)
{
    for (uint32_t i = 0; i < items->count; i++) {
        if (!items->items[i]) continue;
        const Piece piece =
            drop_item(finder, items->items[i]->span.begin, items->items[i]->span.end);
        add_edit(finder, piece.begin, piece.end, piece.text);
    }
}

/* ---- parameters ---- */

typedef struct Slot { /* the index-th of `count` items, wherever there are so many */
    Finder *finder;
    uint32_t index, count;
    Edit edit;
} Slot;

static void drop_at(Slot *place, const Nodes *items)
{
    const uint32_t at = place->index;
    if (items->count != place->count || place->edit.piece_count == EDIT_PIECES) return;
    place->edit.pieces[place->edit.piece_count++] =
        drop_item(place->finder, items->items[at]->span.begin, items->items[at]->span.end);
}

static void drop_in_all(void *context, const Node *node)
{
    Slot *place = context;
    if (node->kind == NODE_arguments) drop_at(place, &NODE_AS(arguments, node)->args);
    if (node->kind == NODE_Call) drop_at(place, &NODE_AS(Call, node)->args);
    if (node->kind == NODE_List) drop_at(place, &NODE_AS(List, node)->elts);
    node_visit_children(node, drop_in_all, context);
}

/* Pieces come in the order of the text unless calls stand in calls: those are left alone. */
static bool in_order(const Edit *edit)
{
    for (int i = 1; i < edit->piece_count; i++)
        if (edit->pieces[i].begin < edit->pieces[i - 1].end) return false;
    return true;
}

/* A method's calls lack the first one. */
static void drop_parameters(Finder *finder, const Nodes *parameters)
{
    for (uint32_t skipped = 0; skipped < 2 && skipped < parameters->count; skipped++)
        for (uint32_t i = skipped; i < parameters->count; i++) {
            const Node *own = parameters->items[i];
            Slot place = {finder, i - skipped, parameters->count - skipped, {.piece_count = 0}};
            drop_in_all(&place, finder->module);
            if (skipped && place.edit.piece_count < EDIT_PIECES) {
                Edit *edit = &place.edit;
                int at = edit->piece_count++;
                for (; at > 0 && edit->pieces[at - 1].begin > own->span.begin; at--)
                    edit->pieces[at] = edit->pieces[at - 1];
                edit->pieces[at] = drop_item(finder, own->span.begin, own->span.end);
            }
            if (in_order(&place.edit)) vec_push(finder->session->arena, finder->out, place.edit);
        }
}

/* ---- expressions ---- */

static bool is_expression(const Node *node)
{
    return node->kind >= NODE_BoolOp && node->kind <= NODE_Slice && node->kind != NODE_Starred;
}

typedef struct Parent {
    Finder *finder;
    const Node *node;
} Parent;

static void use_part(void *context, const Node *child)
{
    const Parent *parent = context;
    if (is_expression(child) && child->kind != NODE_Slice)
        add_edit(parent->finder, parent->node->span.begin, parent->node->span.end,
                 copy_span(parent->finder, child->span.begin, child->span.end));
    else if (child->kind == NODE_keyword)
        node_visit_children(child, use_part, context);
}

static void find_in_expression(Finder *finder, const Node *node)
{
    Parent parent = {finder, node};
    const bool is_plain = node->kind == NODE_Constant || node->kind == NODE_Name;
    if (node->kind == NODE_Slice || node->kind == NODE_FormattedValue) return;
    if (!is_plain) node_visit_children(node, use_part, &parent);
    if (!is_plain && node->kind != NODE_Attribute)
        add_edit(finder, node->span.begin, node->span.end, "0");
    if (node->kind == NODE_Call) {
        drop_items(finder, &NODE_AS(Call, node)->args);
        drop_items(finder, &NODE_AS(Call, node)->keywords);
    }
    if (node->kind == NODE_List) drop_items(finder, &NODE_AS(List, node)->elts);
    if (node->kind == NODE_Tuple) drop_items(finder, &NODE_AS(Tuple, node)->elts);
}

/* ---- numbers ---- */

static void find_smaller(Finder *finder, const Node *node)
{
    const Literal *literal = &NODE_AS(Constant, node)->value;
    if (literal->kind != LITERAL_INT || literal->too_large || literal->integer < 2) return;
    const uint64_t smaller[] = {1, literal->integer / 2, literal->integer - 1};
    for (int i = 0; i < 3; i++)
        if ((i == 0 || smaller[i] > smaller[i - 1]) && smaller[i] < literal->integer)
            add_edit(finder, node->span.begin, node->span.end,
                     arena_printf(finder->session->arena, "%llu", (unsigned long long)smaller[i]));
}

/* ---- the tree ---- */

static void find_in(void *context, const Node *node)
{
    Finder *finder = context;
    if (finder->round == EDITS_STATEMENTS) find_in_blocks(finder, node);
    if (finder->round == EDITS_PARAMETERS && node->kind == NODE_arguments)
        drop_parameters(finder, &NODE_AS(arguments, node)->args);
    if (finder->round == EDITS_EXPRESSIONS && is_expression(node)) find_in_expression(finder, node);
    if (finder->round == EDITS_NUMBERS && node->kind == NODE_Constant) find_smaller(finder, node);
    node_visit_children(node, find_in, context);
}

void edits_find(Session *session, const char *text, size_t length, EditRound round, EditVec *out)
{
    const Source *source = source_from_text(session, "reduced", text, length);
    const Module *module = parse_source(session, source);
    Finder finder = {session, text, (uint32_t)length,
                     round,   out,  module ? &module->tree->base : NULL};
    if (diag_error_count(session->diags)) return;
    find_in(&finder, finder.module);
    if (round == EDITS_STATEMENTS) drop_blank_lines(&finder);
}
