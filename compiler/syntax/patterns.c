/* patterns.c: what stands after `case`. */
#include "syntax/parser.h"

#include <string.h>

static bool is_wildcard(Name name)
{
    return strcmp(name, "_") == 0;
}

static void complain(Parser *parser, const Node *at, DiagCode code)
{
    diag_report(parser->session->diags, code, parser_span(parser, node_begin(at), node_end(at)));
}

/* A plain name takes what it meets, "_" drops it; a name with dots is a value to compare with. */
Node *make_capture(Parser *parser, Node *name)
{
    if (name->kind == NODE_Attribute)
        return MAKE(MatchValue, node_begin(name), node_end(name), .value = name);
    Name id = NODE_AS(Name, name)->id;
    return MAKE(MatchAs, node_begin(name), node_end(name), .name = is_wildcard(id) ? NULL : id);
}

Node *make_pattern_value(Parser *parser, Node *value)
{
    if (value->kind == NODE_Constant) {
        const Literal *literal = &NODE_AS(Constant, value)->value;
        if (literal->kind == LITERAL_NONE || literal->kind == LITERAL_TRUE ||
            literal->kind == LITERAL_FALSE)
            return MAKE(MatchSingleton, node_begin(value), node_end(value), .value = *literal);
    }
    if (value->kind == NODE_JoinedStr) complain(parser, value, DIAG_formatted_pattern);
    return MAKE(MatchValue, node_begin(value), node_end(value), .value = value);
}

Node *make_pattern_as(Parser *parser, Node *pattern, Token name)
{
    Name text = token_text(parser, name);
    Node *node = MAKE(MatchAs, node_begin(pattern), name.end, .pattern = pattern, .name = text);
    if (is_wildcard(text)) complain(parser, node, DIAG_wildcard_name);
    return node;
}

Node *make_pattern_star(Parser *parser, Token star, Token name)
{
    Name text = token_text(parser, name);
    return MAKE(MatchStar, star.begin, name.end, .name = is_wildcard(text) ? NULL : text);
}

/* Without parentheses: one pattern is itself, except that `*rest` alone is still a sequence. */
Node *make_pattern_sequence(Parser *parser, Items *items)
{
    Node *first = items->nodes.data[0];
    if (items->nodes.count == 1 && !items->comma) {
        if (first->kind == NODE_MatchStar) complain(parser, first, DIAG_starred_pattern);
        return first;
    }
    return MAKE(MatchSequence, items->begin, items->end, .patterns = items_list(items));
}

Node *make_pattern_group(Parser *parser, Token open, Items *items, Token close)
{
    Node *first = items->nodes.data[0];
    bool one = items->nodes.count == 1 && !items->comma && first->kind != NODE_MatchStar;
    if (one) return node_widen(first, open.begin, close.end);
    return MAKE(MatchSequence, open.begin, close.end, .patterns = items_list(items));
}

Node *make_pattern_class(Parser *parser, Node *cls, const Items *arguments, Token close)
{
    size_t count = arguments == NULL ? 0 : arguments->nodes.count;
    Items *patterns = items_new(parser, NULL), *named = items_new(parser, NULL);
    Names names = {arena_new_array(parser->session->arena, Name, count), 0};
    for (size_t i = 0; i < count; i++) {
        Node *node = arguments->nodes.data[i];
        if (node->kind == NODE_keyword) {
            names.items[names.count++] = NODE_AS(keyword, node)->arg;
            items_add(parser, named, NODE_AS(keyword, node)->value);
            continue;
        }
        if (names.count > 0)
            diag_report(parser->session->diags, DIAG_positional_order,
                        parser_span(parser, node_begin(node), node_end(node)), "pattern", "pattern");
        items_add(parser, patterns, node);
    }
    return MAKE(MatchClass, node_begin(cls), close.end, .cls = cls,
                .patterns = items_list(patterns), .kwd_attrs = names,
                .kwd_patterns = items_list(named));
}

/* Pairs are Slice nodes (key, pattern); `**rest` is a Name. */
Node *make_pattern_mapping(Parser *parser, Token open, const Items *pairs, Token close)
{
    Items *keys = items_new(parser, NULL), *patterns = items_new(parser, NULL);
    Name rest = NULL;
    for (size_t i = 0; pairs != NULL && i < pairs->nodes.count; i++) {
        Node *node = pairs->nodes.data[i];
        if (rest != NULL) complain(parser, node, DIAG_after_mapping_rest);
        if (node->kind == NODE_Name) {
            rest = NODE_AS(Name, node)->id;
            continue;
        }
        items_add(parser, keys, NODE_AS(Slice, node)->lower);
        items_add(parser, patterns, NODE_AS(Slice, node)->upper);
    }
    return MAKE(MatchMapping, open.begin, close.end, .keys = items_list(keys),
                .patterns = items_list(patterns), .rest = rest);
}
