/* params.c: the parameters of functions and lambdas. */
#include "syntax/parser.h"

Param make_param(ParamKind kind, Node *arg, Node *value, Token mark)
{
    uint32_t begin = kind == PARAM_PLAIN ? node_begin(arg) : mark.begin;
    uint32_t end = value != NULL ? node_end(value) : arg != NULL ? node_end(arg) : mark.end;
    return (Param){kind, arg, value, begin, end};
}

Node *make_arg(Parser *parser, Token name, Node *annotation)
{
    return MAKE(arg, name.begin, annotation == NULL ? name.end : node_end(annotation),
                .arg = token_text(parser, name), .annotation = annotation);
}

Params *params_add(Parser *parser, Params *params, Param param)
{
    if (params == NULL) params = arena_new_of(parser->session->arena, Params);
    vec_push(parser->session->arena, params, param);
    return params;
}

/* What has been read of a list of parameters. */
typedef struct Sorting {
    Parser *parser;
    Items *positional_only, *plain, *keyword_only, *keyword_defaults, *defaults;
    Node *vararg, *kwarg;
    bool slash, star, bare_star;
} Sorting;

static void complain(const Sorting *sorting, const Param *param, DiagCode code)
{
    diag_report(sorting->parser->session->diags, code,
                parser_span(sorting->parser, param->begin, param->end));
}

static void complain_twice(const Sorting *sorting, const Param *param, const char *mark)
{
    diag_report(sorting->parser->session->diags, DIAG_parameter_mark,
                parser_span(sorting->parser, param->begin, param->end), mark);
}

static void sort_plain(Sorting *sorting, const Param *param)
{
    Parser *parser = sorting->parser;
    if (sorting->star) {
        items_add(parser, sorting->keyword_only, param->arg);
        vec_push(parser->session->arena, &sorting->keyword_defaults->nodes, param->value);
        return;
    }
    items_add(parser, sorting->plain, param->arg);
    if (param->value != NULL)
        items_add(parser, sorting->defaults, param->value);
    else if (sorting->defaults->nodes.count > 0)
        complain(sorting, param, DIAG_default_order);
}

static void sort_slash(Sorting *sorting, const Param *param)
{
    if (sorting->slash)
        complain_twice(sorting, param, "/");
    else if (sorting->star)
        complain(sorting, param, DIAG_slash_after_star);
    else if (sorting->plain->nodes.count == 0)
        complain(sorting, param, DIAG_slash_first);
    else {
        sorting->positional_only = sorting->plain;
        sorting->plain = items_new(sorting->parser, NULL);
    }
    sorting->slash = true;
}

static void sort_star(Sorting *sorting, const Param *param)
{
    if (sorting->star) complain_twice(sorting, param, "*");
    sorting->star = true;
    sorting->bare_star = param->arg == NULL;
    sorting->vararg = param->arg;
}

static void sort_param(Sorting *sorting, const Param *param)
{
    if (sorting->kwarg != NULL) complain(sorting, param, DIAG_after_double_star);
    switch (param->kind) {
    case PARAM_PLAIN: sort_plain(sorting, param); return;
    case PARAM_SLASH: sort_slash(sorting, param); return;
    case PARAM_STAR: sort_star(sorting, param); return;
    case PARAM_DOUBLE_STAR: sorting->kwarg = param->arg; return;
    }
}

/* No place of its own in Python's tree; here it is that of the parameters, or `at` if there are
 * none. */
Node *make_arguments(Parser *parser, const Params *params, uint32_t at)
{
    Sorting sorting = {.parser = parser,
                       .plain = items_new(parser, NULL),
                       .keyword_only = items_new(parser, NULL),
                       .keyword_defaults = items_new(parser, NULL),
                       .defaults = items_new(parser, NULL)};
    size_t count = params == NULL ? 0 : params->count;
    for (size_t i = 0; i < count; i++) sort_param(&sorting, &params->data[i]);
    if (sorting.bare_star && sorting.keyword_only->nodes.count == 0)
        complain(&sorting, &params->data[count - 1], DIAG_star_last);
    return MAKE(arguments, count == 0 ? at : params->data[0].begin,
                count == 0 ? at : params->data[count - 1].end,
                .posonlyargs = items_list(sorting.positional_only),
                .args = items_list(sorting.plain), .vararg = sorting.vararg,
                .kwonlyargs = items_list(sorting.keyword_only),
                .kw_defaults = items_list(sorting.keyword_defaults), .kwarg = sorting.kwarg,
                .defaults = items_list(sorting.defaults));
}
