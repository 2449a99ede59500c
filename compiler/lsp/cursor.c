/* cursor.c: what stands around a place of a text that need not be whole: whether it is in a string,
 * which call is open there, what is before a dot. One look through the text, from its begin. */
#include "lsp/lsp.h"

#include <string.h>

enum { DEEPEST = 64 /* brackets; deeper ones count as none */ };

typedef struct Open {
    uint32_t at, argument; /* where the argument at hand begins */
    int commas;
} Open;

typedef struct Look {
    const char *text;
    uint32_t length, at, offset;
    Open open[DEEPEST];
    int depth;
    uint32_t line; /* where the statement begins */
    bool in_text;
} Look;

bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* ---- the look ---- */

static bool starts_here(const Look *look, uint32_t at, const char *word)
{
    const size_t length = strlen(word);
    return at + length <= look->length && memcmp(look->text + at, word, length) == 0;
}

static void skip_comment(Look *look)
{
    while (look->at < look->length && look->text[look->at] != '\n') look->at++;
    look->in_text |= look->at >= look->offset;
}

static void skip_string(Look *look)
{
    const uint32_t begin = look->at;
    const char quote = look->text[begin];
    const char three[] = {quote, quote, quote, '\0'}, one[] = {quote, '\0'};
    const char *end = starts_here(look, begin, three) ? three : one;
    const bool spans_lines = end == three;
    bool is_closed = false;
    look->at += (uint32_t)strlen(end);
    while (look->at < look->length && !is_closed) {
        if (!spans_lines && look->text[look->at] == '\n') break;
        is_closed = starts_here(look, look->at, end);
        if (!is_closed) look->at += look->text[look->at] == '\\' ? 2 : 1;
    }
    const uint32_t inner_end = look->at;
    if (is_closed) look->at += (uint32_t)strlen(end);
    look->in_text |= begin < look->offset && look->offset <= inner_end;
}

/* Whether a line begins as no line within brackets does: what is open above it was left so. */
static bool begins_statement(const Look *look, uint32_t at)
{
    static const char *const WORDS[] = {"def ",  "class ", "import ", "return", "while ",
                                        "with ", "@",      "raise ",  "try:",   "elif "};
    while (at < look->length && (look->text[at] == ' ' || look->text[at] == '\t')) at++;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (starts_here(look, at, WORDS[i])) return true;
    return false;
}

static void end_line(Look *look)
{
    const bool is_joined = look->at > 0 && look->text[look->at - 1] == '\\';
    look->at++;
    if (begins_statement(look, look->at)) look->depth = 0;
    if (look->depth == 0 && !is_joined) look->line = look->at;
}

static void open_bracket(Look *look)
{
    if (look->depth < DEEPEST)
        look->open[look->depth++] = (Open){.at = look->at, .argument = look->at + 1};
    look->at++;
}

static void step(Look *look)
{
    switch (look->text[look->at]) {
    case '#': skip_comment(look); return;
    case '"':
    case '\'': skip_string(look); return;
    case '\n': end_line(look); return;
    case '(':
    case '[':
    case '{': open_bracket(look); return;
    case ')':
    case ']':
    case '}': look->depth -= look->depth > 0; break;
    case ',':
        if (look->depth == 0) break;
        look->open[look->depth - 1].commas++;
        look->open[look->depth - 1].argument = look->at + 1;
        break;
    default: break;
    }
    look->at++;
}

/* ---- what was found ---- */

/* Where the names and dots before a place begin. */
static uint32_t path_begin(const char *text, uint32_t at)
{
    while (at > 0 && (is_name_byte(text[at - 1]) || text[at - 1] == '.')) at--;
    return at;
}

static Span keyword_of(const Source *source, uint32_t at, uint32_t offset)
{
    const char *text = source->text;
    while (at < offset && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t')) at++;
    uint32_t end = at;
    while (end < offset && is_name_byte(text[end])) end++;
    uint32_t sign = end;
    while (sign < offset && text[sign] == ' ') sign++;
    const bool is_keyword = end > at && sign < offset && text[sign] == '=' && text[sign + 1] != '=';
    return is_keyword ? (Span){source, at, end} : (Span){0};
}

/* The innermost bracket that is a call's. */
static void find_call(const Look *look, const Source *source, Cursor *out)
{
    for (int i = look->depth; i-- > 0;) {
        const Open *open = &look->open[i];
        if (look->text[open->at] != '(') continue;
        const uint32_t callee = path_begin(look->text, open->at);
        if (callee == open->at) continue;
        out->call = open->at;
        out->callee = callee;
        out->argument = open->commas;
        out->keyword = keyword_of(source, open->argument, look->offset);
        return;
    }
}

Cursor cursor_at(const Source *source, uint32_t offset)
{
    Look look = {.text = source->text, .length = (uint32_t)source->length, .offset = offset};
    while (look.at < offset) step(&look);
    Cursor cursor = {.in_text = look.in_text,
                     .begin = offset,
                     .dot = UINT32_MAX,
                     .call = UINT32_MAX,
                     .line = look.line};
    while (cursor.begin > 0 && is_name_byte(source->text[cursor.begin - 1])) cursor.begin--;
    if (cursor.begin > 0 && source->text[cursor.begin - 1] == '.') {
        cursor.dot = cursor.begin - 1;
        cursor.receiver = path_begin(source->text, cursor.dot);
    }
    find_call(&look, source, &cursor);
    return cursor;
}

/* ---- the block ---- */

typedef struct Line {
    const char *text; /* behind its blanks */
    size_t length, indent;
} Line;

static Line line_at(const Source *source, uint32_t number)
{
    Line line = {0};
    line.text = source_line(source, number, &line.length);
    while (line.length > 0 && (*line.text == ' ' || *line.text == '\t')) {
        line.text++;
        line.length--;
        line.indent++;
    }
    return line;
}

static bool starts_with(const Line *line, const char *word)
{
    const size_t length = strlen(word);
    return line->length > length && memcmp(line->text, word, length) == 0;
}

/* The name that the line defines; length 0: none. */
static Line defined_name(const Line *line)
{
    static const char *const WORDS[] = {"def ", "class ", "async def "};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (!starts_with(line, WORDS[i])) continue;
        Line name = {.text = line->text + strlen(WORDS[i])};
        while (is_name_byte(name.text[name.length])) name.length++;
        return name;
    }
    return (Line){0};
}

static Block *inner_block(const Symbols *symbols, const Block *outer, const Line *name)
{
    Block *found = NULL;
    for (size_t i = 0; i < symbols->blocks.count; i++) {
        Block *block = symbols->blocks.data[i];
        if (block->parent == outer && block->name != NULL && strlen(block->name) == name->length &&
            memcmp(block->name, name->text, name->length) == 0)
            found = block;
    }
    return found;
}

enum { DEEPEST_BLOCK = 32 };

/* A line that closes brackets belongs to the statement above it, as where a header takes several.
 */
Block *cursor_block(const Source *source, uint32_t line, const Symbols *symbols)
{
    Line names[DEEPEST_BLOCK];
    int count = 0;
    uint32_t number = source_location(source, line).line;
    const Line own = line_at(source, number);
    for (size_t indent = own.indent; indent > 0 && --number > 0;) {
        const Line above = line_at(source, number);
        if (above.length == 0 || above.indent >= indent || strchr("#)]}", *above.text)) continue;
        const Line name = defined_name(&above);
        indent = above.indent;
        if (name.length > 0 && count < DEEPEST_BLOCK) names[count++] = name;
    }
    Block *block = symbols->blocks.data[0];
    while (count > 0) {
        Block *inner = inner_block(symbols, block, &names[--count]);
        if (inner == NULL) break;
        block = inner;
    }
    return block;
}
