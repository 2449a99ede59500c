/* match.c: `match`: on what is known now one case is evaluated; literals against a run-time scalar
 * become a chain of conditions. */
#include "eval/python/python.h"

static Object *literal_object(Eval *eval, const Literal *literal)
{
    return literal->kind == LITERAL_TRUE    ? eval->yes
           : literal->kind == LITERAL_FALSE ? eval->no
                                            : eval->none;
}

static bool pattern_matches(Eval *eval, const Node *pattern, Object *subject, bool *out);

static bool bind_name(Eval *eval, Name name, Object *object, Span at)
{
    return name == NULL || scope_assign(eval, eval->frame->scope, name, object, at);
}

static bool match_value(Eval *eval, const Node *pattern, Object *subject, bool *out)
{
    Object *value = eval->ops->eval_expr(eval, NODE_AS(MatchValue, pattern)->value);
    Object *same =
        value != NULL ? eval->ops->operate_compare(eval, OPERATOR_Eq, subject, value, pattern->span)
                      : NULL;
    return same != NULL && object_truth(eval, same, out);
}

static int find_star(Nodes patterns)
{
    for (uint32_t i = 0; i < patterns.count; i++)
        if (patterns.items[i]->kind == NODE_MatchStar) return (int)i;
    return -1;
}

static bool match_sequence(Eval *eval, const Node *pattern, Object *subject, bool *out)
{
    Nodes patterns = NODE_AS(MatchSequence, pattern)->patterns;
    int star = find_star(patterns);
    *out = object_is_sequence(subject);
    if (!*out) return true;
    /* A copy: an __eq__ may change the list. */
    subject = object_list(eval, OBJECT_LIST, subject->as.list.items, subject->as.list.count);
    uint32_t count = subject->as.list.count, fixed = patterns.count - (star >= 0);
    *out = star >= 0 ? count >= fixed : count == fixed;
    for (uint32_t i = 0; *out && i < patterns.count; i++) {
        if ((int)i == star) {
            Object *middle =
                object_list(eval, OBJECT_LIST, subject->as.list.items + i, count - fixed);
            if (!bind_name(eval, NODE_AS(MatchStar, patterns.items[i])->name, middle,
                           pattern->span))
                return false;
            continue;
        }
        uint32_t index = star >= 0 && (int)i > star ? i + count - fixed - 1 : i;
        if (!pattern_matches(eval, patterns.items[i], subject->as.list.items[index], out))
            return false;
    }
    return true;
}

static bool match_mapping(Eval *eval, const Node *pattern, Object *subject, bool *out)
{
    const NodeMatchMapping *n = NODE_AS(MatchMapping, pattern);
    *out = subject->kind == OBJECT_DICT;
    Object *rest = object_new(eval, OBJECT_DICT);
    for (size_t i = 0; *out && i < subject->as.dict.keys.count; i++)
        dict_set(eval, rest, subject->as.dict.keys.data[i], subject->as.dict.values.data[i]);
    for (uint32_t i = 0; *out && i < n->keys.count; i++) {
        Object *key = eval->ops->eval_expr(eval, n->keys.items[i]);
        Object *value = key != NULL ? dict_get(eval, subject, key) : NULL;
        *out = value != NULL;
        if (key == NULL) return false;
        if (*out && !pattern_matches(eval, n->patterns.items[i], value, out)) return false;
        dict_remove(eval, rest, key);
    }
    return !*out || bind_name(eval, n->rest, rest, pattern->span);
}

/* The attribute that a class pattern's positional part stands for; NULL: reported. */
static Name positional_attribute(Eval *eval, Object *class, uint32_t index, Span at)
{
    Object *names = class_find(class, intern_text(eval->session->names, "__match_args__"));
    if (names != NULL && object_is_sequence(names) && index < names->as.list.count &&
        names->as.list.items[index]->kind == OBJECT_TEXT) {
        const Object *text = names->as.list.items[index];
        return intern(eval->session->names, text->as.text.data, text->as.text.length);
    }
    return FAIL(eval, match_args, at);
}

static bool match_attribute(Eval *eval, const Node *pattern, Object *subject, Name name, bool *out)
{
    Object *value = attribute_find(eval, subject, name, pattern->span, out);
    if (!*out) return true;
    return value != NULL && pattern_matches(eval, pattern, value, out);
}

static bool match_class(Eval *eval, const Node *pattern, Object *subject, bool *out)
{
    const NodeMatchClass *n = NODE_AS(MatchClass, pattern);
    Object *class = eval->ops->eval_expr(eval, n->cls);
    if (class == NULL) return false;
    if (!object_is_instance(eval, subject, class, out)) return false;
    bool whole = class->kind != OBJECT_CLASS; /* int(x) binds x to the value itself */
    for (uint32_t i = 0; *out && i < n->patterns.count; i++) {
        const Node *part = n->patterns.items[i];
        Name name = whole ? NULL : positional_attribute(eval, class, i, pattern->span);
        if (!whole && name == NULL) return false;
        if (!(whole ? pattern_matches(eval, part, subject, out)
                    : match_attribute(eval, part, subject, name, out)))
            return false;
    }
    for (uint32_t i = 0; *out && i < n->kwd_patterns.count; i++)
        if (!match_attribute(eval, n->kwd_patterns.items[i], subject, n->kwd_attrs.items[i], out))
            return false;
    return true;
}

/* False: reported. */
static bool pattern_matches(Eval *eval, const Node *pattern, Object *subject, bool *out)
{
    *out = true;
    switch ((int)pattern->kind) {
    case NODE_MatchValue: return match_value(eval, pattern, subject, out);
    case NODE_MatchSingleton:
        *out = literal_object(eval, &NODE_AS(MatchSingleton, pattern)->value) == subject;
        return true;
    case NODE_MatchSequence: return match_sequence(eval, pattern, subject, out);
    case NODE_MatchMapping: return match_mapping(eval, pattern, subject, out);
    case NODE_MatchClass: return match_class(eval, pattern, subject, out);
    case NODE_MatchOr: {
        Nodes patterns = NODE_AS(MatchOr, pattern)->patterns;
        *out = false;
        for (uint32_t i = 0; !*out && i < patterns.count; i++)
            if (!pattern_matches(eval, patterns.items[i], subject, out)) return false;
        return true;
    }
    default: break;
    }
    const NodeMatchAs *n = NODE_AS(MatchAs, pattern);
    if (n->pattern != NULL && !pattern_matches(eval, n->pattern, subject, out)) return false;
    return !*out || bind_name(eval, n->name, subject, pattern->span);
}

/* ---- cases, of which run-time values may choose ---- */

typedef struct Cases {
    Nodes cases;
    uint32_t index;
    Object *subject;
} Cases;

static Flow run_cases(Eval *eval, void *context);

static Flow run_body(Eval *eval, void *context)
{
    const Cases *cases = context;
    return eval->ops->eval_block(eval, NODE_AS(match_case, cases->cases.items[cases->index])->body);
}

static Object *known_test(Eval *eval, const Node *pattern, Object *subject)
{
    bool matches;
    return pattern_matches(eval, pattern, subject, &matches) ? object_bool(eval, matches) : NULL;
}

/* A boolean, known or staged. NULL: reported. */
static Object *staged_test(Eval *eval, const Node *pattern, Object *subject)
{
    if (!object_is_staged(subject)) return known_test(eval, pattern, subject);
    if (pattern->kind == NODE_MatchValue) {
        Object *value = eval->ops->eval_expr(eval, NODE_AS(MatchValue, pattern)->value);
        return value != NULL
                   ? eval->ops->operate_compare(eval, OPERATOR_Eq, subject, value, pattern->span)
                   : NULL;
    }
    if (pattern->kind == NODE_MatchOr) {
        Nodes patterns = NODE_AS(MatchOr, pattern)->patterns;
        Object *result = eval->no;
        for (uint32_t i = 0; result != NULL && i < patterns.count; i++) {
            Object *part = staged_test(eval, patterns.items[i], subject);
            if (part == NULL || part == eval->yes) return part;
            if (part == eval->no) continue;
            result = result == eval->no
                         ? part
                         : operate_binary(eval, OPERATOR_BitOr, result, part, pattern->span);
        }
        return result;
    }
    if (pattern->kind == NODE_MatchAs && NODE_AS(MatchAs, pattern)->pattern == NULL)
        return bind_name(eval, NODE_AS(MatchAs, pattern)->name, subject, pattern->span) ? eval->yes
                                                                                        : NULL;
    return FAIL(eval, unsupported, pattern->span, "this pattern for a run-time value");
}

/* A boolean if it is known: of a list, say, only that matters. */
static Object *eval_guard(Eval *eval, const void *guard)
{
    bool truth;
    Object *value = eval->ops->eval_expr(eval, guard);
    if (value == NULL || object_is_staged(value)) return value;
    return object_truth(eval, value, &truth) ? object_bool(eval, truth) : NULL;
}

/* Whether the case is taken: its guard is looked at if its pattern matches. */
static Object *case_test(Eval *eval, const Nodematch_case *each, Object *subject)
{
    Object *test = staged_test(eval, each->pattern, subject);
    if (test == NULL || each->guard == NULL || test == eval->no) return test;
    return test == eval->yes ? eval_guard(eval, each->guard)
                             : eval->ops->stage_logic(eval, OPERATOR_And, test, eval_guard,
                                                      each->guard, eval->at);
}

static Flow run_cases(Eval *eval, void *context)
{
    Cases here = *(const Cases *)context;
    for (bool truth; here.index < here.cases.count; here.index++) {
        const Nodematch_case *each = NODE_AS(match_case, here.cases.items[here.index]);
        Object *test = case_test(eval, each, here.subject);
        if (test == NULL) return FLOW_ERROR;
        if (object_is_staged(test)) {
            Value *condition = eval->ops->stage_condition(eval, test, eval->at);
            Cases next = {here.cases, here.index + 1, here.subject};
            const Way ways[2] = {{run_body, &here, block_leaves(each->body)},
                                 {run_cases, &next, false}};
            return condition != NULL ? eval->ops->stage_ways(eval, condition, ways, NULL)
                                     : FLOW_ERROR;
        }
        if (!object_truth(eval, test, &truth)) return FLOW_ERROR;
        if (truth) return run_body(eval, &here);
    }
    return FLOW_NEXT;
}

Flow run_match(Eval *eval, const Node *node)
{
    const NodeMatch *n = NODE_AS(Match, node);
    Object *subject = eval->ops->eval_expr(eval, n->subject);
    if (subject == NULL) return FLOW_ERROR;
    eval_move(eval, node->span);
    Cases cases = {n->cases, 0, subject};
    return run_cases(eval, &cases);
}
