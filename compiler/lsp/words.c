/* words.c: signatures and sentences of what can be called, as people read them. */
#include "lsp/lsp.h"

#include <string.h>

/* ---- signatures ---- */

typedef struct Signature {
    Arena *arena;
    Buf *out;
    LabelVec *labels; /* NULL: nobody asks */
    Interner *names;  /* of parameters, or NULL */
    VEC(Name) found;
    bool is_first;
} Signature;

static void begin_parameter(Signature *signature)
{
    if (!signature->is_first) buf_text(signature->out, ", ");
    signature->is_first = false;
}

static void end_parameter(Signature *signature, size_t begin)
{
    const Label label = {(uint32_t)begin, (uint32_t)signature->out->length};
    if (signature->labels != NULL) vec_push(signature->arena, signature->labels, label);
}

/* Text of the source on one line. */
static void put_source(Buf *out, Span span)
{
    for (uint32_t i = span.begin; i < span.end; i++) {
        const char c = span.source->text[i];
        const bool is_blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
        const bool follows = out->length > 0 && out->data[out->length - 1] == ' ';
        if (!is_blank)
            buf_char(out, c);
        else if (!follows)
            buf_char(out, ' ');
    }
}

static void put_parameter(Signature *signature, const char *stars, const Node *node,
                          const Node *otherwise)
{
    const Nodearg *parameter = NODE_AS(arg, node);
    begin_parameter(signature);
    const size_t begin = signature->out->length;
    buf_text(signature->out, stars);
    put_source(signature->out, node->span);
    if (otherwise != NULL) {
        buf_text(signature->out, parameter->annotation != NULL ? " = " : "=");
        put_source(signature->out, otherwise->span);
    }
    end_parameter(signature, begin);
    if (signature->names != NULL && *stars == '\0')
        vec_push(signature->arena, &signature->found, parameter->arg);
}

static void put_mark(Signature *signature, const char *mark)
{
    begin_parameter(signature);
    buf_text(signature->out, mark);
}

static void put_keyword_only(Signature *signature, const Nodearguments *n)
{
    if (n->vararg != NULL)
        put_parameter(signature, "*", n->vararg, NULL);
    else if (n->kwonlyargs.count > 0)
        put_mark(signature, "*");
    for (uint32_t i = 0; i < n->kwonlyargs.count; i++)
        put_parameter(signature, "", n->kwonlyargs.items[i], n->kw_defaults.items[i]);
    if (n->kwarg != NULL) put_parameter(signature, "**", n->kwarg, NULL);
}

static void put_arguments(Signature *signature, const Nodearguments *n, bool skips_self)
{
    const uint32_t first = n->posonlyargs.count, count = first + n->args.count;
    for (uint32_t i = skips_self ? 1 : 0; i < count; i++) {
        const Node *node = i < first ? n->posonlyargs.items[i] : n->args.items[i - first];
        const uint32_t given = count - n->defaults.count;
        put_parameter(signature, "", node, i >= given ? n->defaults.items[i - given] : NULL);
        if (i + 1 == first) put_mark(signature, "/");
    }
    put_keyword_only(signature, n);
}

/* A row's "self, dim=, *rest": a parameter that may be left out ends in '='. */
static void put_row(Signature *signature, const char *text, bool skips_self)
{
    for (const char *c = text; *c != '\0';) {
        const size_t length = strcspn(c, ",");
        const bool is_optional = length > 1 && c[length - 1] == '=';
        const bool is_self = c == text && skips_self;
        if (!is_self) {
            begin_parameter(signature);
            const size_t begin = signature->out->length;
            buf_bytes(signature->out, c, length - is_optional);
            if (is_optional) buf_text(signature->out, "=...");
            if (*c != '*') end_parameter(signature, begin);
            if (signature->names != NULL && *c != '*')
                vec_push(signature->arena, &signature->found,
                         intern(signature->names, c, length - is_optional));
        }
        c += length;
        c += strspn(c, ", ");
    }
}

static const Nodearguments *arguments_of(const Node *function)
{
    return NODE_AS(arguments, function->kind == NODE_Lambda ? NODE_AS(Lambda, function)->args
                                                            : NODE_AS(FunctionDef, function)->args);
}

static void put_parameters(Signature *signature, const ObjectFacts *facts)
{
    if (facts->function != NULL)
        put_arguments(signature, arguments_of(facts->function), facts->skips_self);
    else if (facts->signature != NULL && strcmp(facts->signature, "@") != 0)
        put_row(signature, facts->signature, facts->skips_self);
}

bool facts_can_be_called(const ObjectFacts *facts)
{
    return facts->function != NULL || facts->signature != NULL;
}

void put_signature(Arena *arena, const char *name, const ObjectFacts *facts, Buf *out,
                   LabelVec *parameters)
{
    Signature signature = {.arena = arena, .out = out, .labels = parameters, .is_first = true};
    buf_printf(out, "%s(", name);
    put_parameters(&signature, facts);
    buf_char(out, ')');
    const Node *returns = facts->function != NULL && facts->function->kind == NODE_FunctionDef
                              ? NODE_AS(FunctionDef, facts->function)->returns
                              : NULL;
    if (returns == NULL) return;
    buf_text(out, " -> ");
    put_source(out, returns->span);
}

void parameter_names(Arena *arena, Interner *names, const ObjectFacts *facts, Names *out)
{
    Buf text = {0};
    Signature signature = {.arena = arena, .out = &text, .names = names, .is_first = true};
    put_parameters(&signature, facts);
    buf_free(&text);
    *out = (Names){signature.found.data, (uint32_t)signature.found.count};
}

/* ---- sentences ---- */

static const char *docstring(const Node *function)
{
    if (function == NULL || function->kind != NODE_FunctionDef) return NULL;
    const Nodes body = NODE_AS(FunctionDef, function)->body;
    if (body.count == 0 || body.items[0]->kind != NODE_Expr) return NULL;
    const Node *value = NODE_AS(Expr, body.items[0])->value;
    if (value->kind != NODE_Constant) return NULL;
    const Literal *literal = &NODE_AS(Constant, value)->value;
    return literal->kind == LITERAL_STRING ? literal->text : NULL;
}

static const char *without_blanks(const char *line, size_t *length)
{
    while (*length > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        --*length;
    }
    return line;
}

/* A line of a comment, without its sign; a rule such as "# ---- loads ----" is none. */
static bool comment_line(const Source *source, uint32_t number, const char **text, size_t *length)
{
    const char *line = number > 0 ? source_line(source, number, length) : NULL;
    if (line == NULL) return false;
    line = without_blanks(line, length);
    if (*length == 0 || *line != '#') return false;
    ++line;
    --*length;
    *text = without_blanks(line, length);
    return *length < 2 || memcmp(*text, "--", 2) != 0;
}

static bool is_decorator(const Source *source, uint32_t number)
{
    size_t length = 0;
    const char *line = number > 0 ? source_line(source, number, &length) : NULL;
    return line != NULL && *without_blanks(line, &length) == '@' && length > 0;
}

/* The comment above the definition and its decorators. */
static const char *comment_above(Arena *arena, Span definition)
{
    if (definition.source == NULL) return NULL;
    uint32_t last = source_location(definition.source, definition.begin).line - 1, first;
    const char *text;
    size_t length;
    while (is_decorator(definition.source, last)) last--;
    first = last;
    while (comment_line(definition.source, first, &text, &length)) first--;
    Buf comment = {0};
    while (first++ < last) {
        comment_line(definition.source, first, &text, &length);
        if (comment.length > 0) buf_char(&comment, '\n');
        buf_bytes(&comment, text, length);
    }
    const char *copy =
        comment.length > 0 ? arena_copy_text(arena, comment.data, comment.length) : NULL;
    buf_free(&comment);
    return copy;
}

/* The name that a definition gives, as far as it is a function or class. */
static const char *defined_name(Arena *arena, Span definition)
{
    const char *text = definition.source->text + definition.begin;
    const char *word = strncmp(text, "def ", 4) == 0     ? text + 4
                       : strncmp(text, "class ", 6) == 0 ? text + 6
                                                         : NULL;
    return word != NULL ? arena_copy_text(arena, word, strcspn(word, "([: ")) : NULL;
}

static bool is_of_dialect(const char *path, const char *dialect)
{
    static const char LIBRARY[] = "<stdlib>/";
    const size_t library = sizeof LIBRARY - 1, length = strlen(dialect);
    return strncmp(path, LIBRARY, library) == 0 && strncmp(path + library, dialect, length) == 0 &&
           path[library + length] == '/';
}

/* By the name alone; else by the last part of a dotted one, if there is one alone. */
static const char *manual_sentence(Arena *arena, Span definition)
{
    const char *name = definition.source != NULL ? defined_name(arena, definition) : NULL;
    const char *found = NULL;
    int count = 0;
    for (size_t i = 0; name != NULL && i < sentence_count; i++) {
        const Sentence *row = &sentences[i];
        const char *dot = strrchr(row->name, '.');
        if (!is_of_dialect(definition.source->path, row->dialect)) continue;
        if (strcmp(row->name, name) == 0) return row->text;
        if (dot == NULL || strcmp(dot + 1, name) != 0) continue;
        found = row->text;
        count++;
    }
    return count == 1 ? found : NULL;
}

const char *documentation(Arena *arena, const ObjectFacts *facts)
{
    const char *own = facts->category != CATEGORY_CLASS ? docstring(facts->function) : NULL;
    if (own != NULL) return own;
    if (facts->sentence != NULL) return facts->sentence;
    if (facts->category == CATEGORY_MODULE) return NULL;
    const char *sentence = manual_sentence(arena, facts->definition);
    return sentence != NULL ? sentence : comment_above(arena, facts->definition);
}
