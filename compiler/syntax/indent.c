/* indent.c: from raw tokens to those of the grammar: NEWLINE only where a line of the language
 * ends, INDENT and DEDENT from columns, and the words that are keywords by their place alone.
 *
 * Two mistakes are mended here, where they are seen best: a block that is missing (the tokens of
 * `pass` are supplied) and one that nothing opens (its INDENT and DEDENT are kept back). */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <string.h>

static const char *text_at(const Layout *layout, uint32_t offset)
{
    return layout->scanner.source->text + offset;
}

static Span token_span(const Layout *layout, Token token)
{
    return (Span){layout->scanner.source, token.begin, token.end};
}

void layout_init(Layout *layout, Session *session, const Source *source, uint32_t begin,
                 uint32_t end, LayoutMode mode)
{
    memset(layout, 0, sizeof *layout);
    layout->session = session;
    layout->scanner = (Scanner){source, source->text + begin};
    layout->end = end;
    layout->line = layout->scanner.cursor;
    layout->indent_count = layout->keep_indents = 1;
    layout->at_line_start = mode == LAYOUT_FILE;
    layout->last_kind = TOKEN_NEWLINE;
    layout->first_begin = begin;
    layout->fault_column = layout->odd_column = NO_COLUMN;
    if (mode == LAYOUT_INSIDE) /* a bracket that no token closes: lines mean nothing inside */
        layout->brackets[layout->bracket_count++] = (Bracket){'\0', begin};
}

static Token make_token(int kind, uint32_t begin, uint32_t end)
{
    return (Token){kind, begin, end, DIAG_COUNT, NULL};
}

/* The next raw token; the text may end earlier than the file. */
static Token next_raw(Layout *layout)
{
    Token token = scan_token(&layout->scanner);
    if (token.begin >= layout->end || token.end > layout->end)
        return make_token(0, layout->end, layout->end);
    return token;
}

/* Whether an expression alone is read: no line can end there. */
static bool is_inside(const Layout *layout)
{
    return layout->bracket_count > 0 && layout->brackets[0].open == '\0';
}

static void report_problem(Layout *layout, Token token)
{
    if (token.problem == DIAG_COUNT || (layout->line_failed && token.problem == DIAG_bad_character))
        return;
    const char *detail = token.detail;
    if (detail == NULL)
        detail = arena_copy_text(layout->session->arena, text_at(layout, token.begin),
                                 token.end - token.begin);
    if (token.problem == DIAG_unterminated_string) /* show its start, not all that it swallowed */
        token.end = token.begin + 1;
    diag_report(layout->session->diags, token.problem, token_span(layout, token), detail);
    const char *slip = character_slip(*text_at(layout, token.begin));
    if (token.problem == DIAG_bad_character && slip != NULL)
        diag_note(layout->session->diags, (Span){0}, "%s", slip);
    layout->line_failed = true;
    layout->fault_column = layout->column;
    if (token.problem == DIAG_unterminated_string && !is_inside(layout))
        layout->bracket_count = 0; /* what closes them is part of the string now */
}

/* ---- columns ---- */

static Indent measure_indent(const Layout *layout, uint32_t end)
{
    Indent indent = {0};
    for (const char *at = layout->line; at < text_at(layout, end); at++) {
        if (*at == ' ') {
            indent.column++;
            indent.other++;
        } else if (*at == '\t') {
            indent.column = (indent.column / 8 + 1) * 8;
            indent.other++;
        } else if (*at == '\f') {
            indent = (Indent){0};
        } else {
            break; /* a joined line: the first part counts */
        }
    }
    return indent;
}

static bool is_ambiguous(Indent indent, Indent top)
{
    if (indent.column == top.column) return indent.other != top.other;
    return indent.column > top.column && indent.other <= top.other;
}

static void push_indent(Layout *layout, Indent indent, Token token)
{
    if (layout->indent_count == MAX_INDENTS + 1) {
        if (!layout->too_deep)
            diag_report(layout->session->diags, DIAG_nesting, token_span(layout, token),
                        (int)MAX_INDENTS);
        layout->too_deep = true;
        return;
    }
    layout->indents[layout->indent_count++] = indent;
    layout->keep_indents = layout->indent_count;
}

/* A block that nothing opens is read as if it were aligned. */
static Token indent_token(Layout *layout, Indent indent, Token token, bool opened, bool reported)
{
    indent.silent = !opened;
    if (!opened && !reported)
        diag_report(layout->session->diags, DIAG_unexpected_indent, token_span(layout, token));
    push_indent(layout, indent, token);
    if (indent.silent || layout->too_deep) return token;
    layout->held = token;
    layout->has_held = true;
    return make_token(TOKEN_INDENT, token.begin, token.begin);
}

/* A DEDENT for each block that is left, or the token itself if none is owed. */
static Token dedent_token(Layout *layout, Token token)
{
    while (layout->indent_count > layout->keep_indents) {
        if (layout->indents[--layout->indent_count].silent) continue;
        layout->held = token;
        layout->has_held = true;
        return make_token(TOKEN_DEDENT, token.begin, token.begin);
    }
    layout->has_held = false;
    return token;
}

static Token supply_token(Layout *layout);

/* The `else` of a statement that was refused is read with it: it is no fault of its own. */
static void note_column(Layout *layout, Indent indent, Token token)
{
    bool belongs = token.kind == TOKEN_ELSE || token.kind == TOKEN_ELIF ||
                   token.kind == TOKEN_EXCEPT || token.kind == TOKEN_FINALLY;
    belongs = belongs && indent.column == layout->fault_column;
    layout->column = indent.column;
    if (belongs) layout->line_failed = true;
    bool inside = layout->fault_column != NO_COLUMN && indent.column > layout->fault_column;
    if (!belongs && !inside) layout->fault_column = NO_COLUMN;
    if (layout->odd_column != NO_COLUMN && indent.column < layout->odd_column)
        layout->odd_column = NO_COLUMN;
}

/* `after_fault`: something was wrong with the line before. */
static Token start_line(Layout *layout, Token token, bool after_fault)
{
    layout->at_line_start = false;
    Indent indent = token.kind == 0 ? (Indent){0} : measure_indent(layout, token.begin);
    Indent top = layout->indents[layout->indent_count - 1];
    bool ambiguous = token.kind != 0 && is_ambiguous(indent, top);
    bool opened = layout->last_kind == TOKEN_COLON || after_fault;
    note_column(layout, indent, token);
    if (ambiguous)
        diag_report(layout->session->diags, DIAG_tabs_and_spaces, token_span(layout, token));
    bool odd = indent.column == layout->odd_column;
    if (indent.column > top.column && (opened || !odd))
        return indent_token(layout, indent, token, opened, ambiguous);
    while (layout->indents[layout->keep_indents - 1].column > indent.column) layout->keep_indents--;
    if (layout->indents[layout->keep_indents - 1].column != indent.column && !odd) {
        diag_report(layout->session->diags, DIAG_bad_indent, token_span(layout, token));
        layout->odd_column = indent.column;
    }
    if (layout->last_kind != TOKEN_COLON || after_fault) return dedent_token(layout, token);
    diag_report(layout->session->diags, DIAG_expected_block,
                (Span){layout->scanner.source, layout->last_begin, layout->last_end});
    layout->held = token;
    layout->has_held = true;
    layout->supply = 4;
    return supply_token(layout);
}

/* INDENT PASS NEWLINE DEDENT, before the token that is held. */
static Token supply_token(Layout *layout)
{
    static const int kinds[] = {TOKEN_DEDENT, TOKEN_NEWLINE, TOKEN_PASS, TOKEN_INDENT};
    uint32_t at = layout->held.begin;
    return make_token(kinds[--layout->supply], at, at);
}

/* ---- brackets ---- */

static char closing_of(char open)
{
    return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '\0';
}

static void open_bracket(Layout *layout, Token token)
{
    if (layout->bracket_count < MAX_BRACKETS) {
        Bracket bracket = {*text_at(layout, token.begin), token.begin};
        layout->brackets[layout->bracket_count++] = bracket;
        return;
    }
    if (!layout->too_deep)
        diag_report(layout->session->diags, DIAG_nesting, token_span(layout, token),
                    (int)MAX_BRACKETS);
    layout->too_deep = true;
}

static void note_opener(Layout *layout, const Bracket *bracket)
{
    if (bracket->open != '\0')
        diag_note(layout->session->diags,
                  (Span){layout->scanner.source, bracket->begin, bracket->begin + 1},
                  "'%c' was opened here", bracket->open);
}

/* Whether the closing bracket belongs to one further out, and those inside were forgotten. */
static bool closes_outer(const Layout *layout, char close)
{
    for (size_t i = 0; i + 1 < layout->bracket_count; i++)
        if (closing_of(layout->brackets[i].open) == close) return true;
    return false;
}

static Token make_closing(Layout *layout, Token token)
{
    char open = layout->brackets[--layout->bracket_count].open;
    token.kind = open == '(' ? TOKEN_RPAR : open == '[' ? TOKEN_RSQB : TOKEN_RBRACE;
    return token;
}

/* Closes the innermost bracket; the token that is there is read again. */
static Token close_forgotten(Layout *layout, Token token)
{
    const Bracket *top = &layout->brackets[layout->bracket_count - 1];
    if (!layout->line_failed) {
        Span at = {layout->scanner.source, top->begin, top->begin + 1};
        diag_report(layout->session->diags, DIAG_unclosed_bracket, at, top->open);
        diag_note(layout->session->diags, token_span(layout, token), "'%c' does not fit inside it",
                  *text_at(layout, token.begin));
    }
    layout->line_failed = true;
    layout->scanner.cursor = text_at(layout, token.begin);
    token.end = token.begin;
    return make_closing(layout, token);
}

/* A bracket of the wrong kind stands for the right one; one without an opener is no token. */
static Token close_bracket(Layout *layout, Token token)
{
    char close = *text_at(layout, token.begin);
    Bracket *top = layout->bracket_count == 0 ? NULL : &layout->brackets[layout->bracket_count - 1];
    if (top != NULL && closing_of(top->open) == close) {
        layout->bracket_count--;
        return token;
    }
    if (closes_outer(layout, close)) return close_forgotten(layout, token);
    if (!layout->line_failed) {
        diag_report(layout->session->diags, DIAG_unmatched_bracket, token_span(layout, token),
                    close);
        if (top != NULL) note_opener(layout, top);
    }
    layout->line_failed = true;
    if (top == NULL || top->open == '\0') {
        token.kind = TOKEN_BAD;
        return token;
    }
    return make_closing(layout, token);
}

/* Of all that are open the innermost is named. */
static void report_unclosed(Layout *layout)
{
    const Bracket *bracket = &layout->brackets[layout->bracket_count - 1];
    Span at = {layout->scanner.source, bracket->begin, bracket->begin + 1};
    if (!layout->line_failed)
        diag_report(layout->session->diags, DIAG_unclosed_bracket, at, bracket->open);
    layout->line_failed = true;
    layout->bracket_count = 0;
}

const Bracket *layout_close_lost_bracket(Layout *layout)
{
    size_t depth = layout->bracket_count, lowest = depth;
    Scanner ahead = layout->scanner;
    if (depth == 0 || is_inside(layout)) return NULL;
    for (Token token; lowest > 0 && (token = scan_token(&ahead)).kind != 0;) {
        if (token.kind == TOKEN_LPAR || token.kind == TOKEN_LSQB || token.kind == TOKEN_LBRACE)
            depth++;
        if (token.kind == TOKEN_RPAR || token.kind == TOKEN_RSQB || token.kind == TOKEN_RBRACE)
            depth--;
        if (depth < lowest) lowest = depth;
    }
    if (lowest == 0) return NULL;
    layout->bracket_count = 0;
    return &layout->brackets[lowest - 1];
}

/* Whether the line that starts here, inside brackets, begins with a word that no expression can
 * hold: then a bracket was forgotten, and the file would be swallowed to its end. */
static bool is_line_of_statement(const Layout *layout)
{
    Scanner ahead = layout->scanner;
    return !is_inside(layout) && token_starts_statement(scan_token(&ahead).kind);
}

/* ---- words that are keywords by their place ---- */

static bool token_is(const Layout *layout, Token token, const char *text)
{
    size_t length = strlen(text);
    return token.end - token.begin == length &&
           memcmp(text_at(layout, token.begin), text, length) == 0;
}

/* `match` heads a statement where it starts a line that ends in ':'. */
static bool is_match_line(const Layout *layout)
{
    Scanner ahead = layout->scanner;
    int depth = 0, last = TOKEN_COLON;
    bool first = true;
    for (;;) {
        Token token = scan_token(&ahead);
        if (token.kind == 0 || (token.kind == TOKEN_NEWLINE && depth <= 0))
            return !first && last == TOKEN_COLON;
        if (token.kind == TOKEN_NEWLINE) continue;
        if (first &&
            (token.kind == TOKEN_COLON || token.kind == TOKEN_EQ || token.kind == TOKEN_DOT))
            return false;
        if (token.kind == TOKEN_LPAR || token.kind == TOKEN_LSQB || token.kind == TOKEN_LBRACE)
            depth++;
        if (token.kind == TOKEN_RPAR || token.kind == TOKEN_RSQB || token.kind == TOKEN_RBRACE)
            depth--;
        first = false;
        last = token.kind;
    }
}

/* `type` heads a statement where a name follows, and then '=' or '['. */
static bool is_type_line(const Layout *layout)
{
    Scanner ahead = layout->scanner;
    int kind = scan_token(&ahead).kind;
    if (kind != TOKEN_NAME && kind != TOKEN_CASE) return false;
    kind = scan_token(&ahead).kind;
    return kind == TOKEN_EQ || kind == TOKEN_LSQB;
}

static Token promote_word(const Layout *layout, Token token, bool first_of_line)
{
    if (first_of_line && token_is(layout, token, "match") && is_match_line(layout))
        token.kind = TOKEN_MATCH;
    if (token_is(layout, token, "type") && is_type_line(layout)) token.kind = TOKEN_TYPE;
    return token;
}

/* ---- the next token ---- */

/* The end of the text: what is open is closed. */
static Token end_token(Layout *layout, Token token)
{
    if (is_inside(layout)) {
        layout->bracket_count = 0; /* an expression alone has no lines */
        layout->at_line_start = true;
        layout->last_kind = TOKEN_NEWLINE;
    }
    if (layout->bracket_count > 0) report_unclosed(layout);
    if (layout->at_line_start) return start_line(layout, token, layout->line_failed);
    layout->at_line_start = true;
    return make_token(TOKEN_NEWLINE, token.begin, token.begin);
}

static Token word_or_bracket(Layout *layout, Token token, bool first_of_line)
{
    switch (token.kind) {
    case TOKEN_NAME: return promote_word(layout, token, first_of_line);
    case TOKEN_LPAR:
    case TOKEN_LSQB:
    case TOKEN_LBRACE: open_bracket(layout, token); return token;
    case TOKEN_RPAR:
    case TOKEN_RSQB:
    case TOKEN_RBRACE: return close_bracket(layout, token);
    }
    return token;
}

/* Whether a newline means something: not inside brackets, not after a blank line. */
static bool ends_line(Layout *layout)
{
    if (layout->bracket_count > 0 && is_line_of_statement(layout)) report_unclosed(layout);
    if (layout->bracket_count > 0) return false;
    layout->line = layout->scanner.cursor;
    return !layout->at_line_start;
}

static Token next_token(Layout *layout)
{
    if (layout->supply > 0) return supply_token(layout);
    if (layout->has_held) return dedent_token(layout, layout->held);
    for (;;) {
        Token token = next_raw(layout);
        if (token.kind == 0) return end_token(layout, token);
        if (token.kind == TOKEN_NEWLINE) {
            if (!ends_line(layout)) continue;
            layout->at_line_start = true;
            return token;
        }
        bool first = layout->at_line_start, after_fault = layout->line_failed;
        if (first) {
            layout->line_failed = false;
            layout->first_begin = token.begin;
        }
        report_problem(layout, token);
        token = word_or_bracket(layout, token, first);
        return first ? start_line(layout, token, after_fault) : token;
    }
}

Token layout_next(Layout *layout)
{
    Token token = next_token(layout);
    if (layout->too_deep) return make_token(0, layout->end, layout->end);
    if (token.kind != TOKEN_NEWLINE && token.kind != TOKEN_INDENT && token.kind != TOKEN_DEDENT) {
        layout->last_kind = token.kind;
        layout->last_begin = token.begin;
        layout->last_end = token.end;
    }
    return token;
}
