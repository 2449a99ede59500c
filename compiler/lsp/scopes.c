/* scopes.c: the names of a tree by Python's rules of scopes: which block binds each, and where it
 * is bound and read. First all of the tree is walked, which finds what blocks bind; then what is
 * read is looked for from the inside out. */
#include "lsp/lsp.h"

#include <string.h>

/* ---- where a name stands in its node ---- */

/* The next word of the span from `at` on; an empty one at its end if there is none. */
static Span next_word(Span span, uint32_t at)
{
    const char *text = span.source->text;
    while (at < span.end && !is_name_byte(text[at])) at++;
    uint32_t end = at;
    while (end < span.end && is_name_byte(text[end])) end++;
    return (Span){span.source, at, end};
}

static bool is_word(Span word, const char *text)
{
    return word.end - word.begin == strlen(text) &&
           memcmp(word.source->text + word.begin, text, strlen(text)) == 0;
}

/* The word behind another one, or the first if that is not there. */
static Span word_behind(Span span, uint32_t at, const char *before)
{
    Span word = next_word(span, at);
    while (word.begin < word.end && !is_word(word, before)) word = next_word(span, word.end);
    return word.begin < word.end ? next_word(span, word.end) : next_word(span, at);
}

static Span last_word(Span span)
{
    Span word = next_word(span, span.begin), last = word;
    while (word.begin < word.end) {
        last = word;
        word = next_word(span, word.end);
    }
    return last;
}

static uint32_t end_of_last(Nodes nodes, uint32_t otherwise)
{
    return nodes.count > 0 ? nodes.items[nodes.count - 1]->span.end : otherwise;
}

Span name_span(const Node *node)
{
    const Span span = node->span;
    switch ((int)node->kind) {
    case NODE_FunctionDef:
    case NODE_AsyncFunctionDef: return word_behind(span, span.begin, "def");
    case NODE_ClassDef: return word_behind(span, span.begin, "class");
    case NODE_Attribute: {
        const NodeAttribute *n = NODE_AS(Attribute, node);
        return next_word(span, n->value->span.end);
    }
    case NODE_alias:
        return NODE_AS(alias, node)->asname != NULL ? last_word(span) : next_word(span, span.begin);
    case NODE_ExceptHandler: {
        const Node *type = NODE_AS(ExceptHandler, node)->type;
        return word_behind(span, type != NULL ? type->span.end : span.begin, "as");
    }
    case NODE_MatchAs: {
        const Node *pattern = NODE_AS(MatchAs, node)->pattern;
        return pattern != NULL ? word_behind(span, pattern->span.end, "as")
                               : next_word(span, span.begin);
    }
    case NODE_MatchMapping:
        return next_word(span, end_of_last(NODE_AS(MatchMapping, node)->patterns, span.begin));
    default: return next_word(span, span.begin);
    }
}

/* ---- the walk ---- */

typedef struct Walk {
    Arena *arena;
    Interner *names;
    Symbols *symbols;
    Block *block;
    VEC(Block *) readers; /* the block of each use */
} Walk;

static void walk_node(Walk *walk, const Node *node);

static void visit_child(void *context, const Node *child)
{
    walk_node(context, child);
}

static void walk_children(Walk *walk, const Node *node)
{
    node_visit_children(node, visit_child, walk);
}

static void walk_all(Walk *walk, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++)
        if (nodes.items[i] != NULL) walk_node(walk, nodes.items[i]);
}

static void walk_optional(Walk *walk, const Node *node)
{
    if (node != NULL) walk_node(walk, node);
}

static Block *open_block(Walk *walk, BlockKind kind, const Node *node, Name name)
{
    Block *block = arena_new_of(walk->arena, Block);
    *block = (Block){.kind = kind, .node = node, .parent = walk->block, .name = name};
    vec_push(walk->arena, &walk->symbols->blocks, block);
    walk->block = block;
    return block;
}

static LocalName *local_of(Walk *walk, Block *block, Name name)
{
    LocalName *local = map_get(&block->by_name, name);
    if (local != NULL) return local;
    local = arena_new_of(walk->arena, LocalName);
    *local = (LocalName){.name = name, .block = block};
    map_set(walk->arena, &block->by_name, name, local);
    vec_push(walk->arena, &block->locals, local);
    return local;
}

static NameUse *add_use(Walk *walk, const Node *node, Name name, Span span)
{
    NameUse *use = arena_new_of(walk->arena, NameUse);
    *use = (NameUse){.span = span, .name = name, .node = node};
    vec_push(walk->arena, &walk->symbols->uses, use);
    vec_push(walk->arena, &walk->readers, walk->block);
    return use;
}

static LocalName *bind_in(Walk *walk, Block *block, const Node *node, Name name, Span span)
{
    Block *outside = map_get(&block->outside, name);
    NameUse *use = add_use(walk, node, name, span);
    use->binds = true;
    return use->local = local_of(walk, outside != NULL ? outside : block, name);
}

static LocalName *bind(Walk *walk, const Node *node, Name name)
{
    return bind_in(walk, walk->block, node, name, name_span(node));
}

/* `:=` in a comprehension binds outside of it. */
static void bind_walrus(Walk *walk, const Node *target)
{
    Block *block = walk->block;
    while (block->kind == BLOCK_COMPREHENSION) block = block->parent;
    if (target->kind == NODE_Name)
        bind_in(walk, block, target, NODE_AS(Name, target)->id, name_span(target));
}

static void walk_target(Walk *walk, const Node *target)
{
    if (target == NULL) return;
    switch ((int)target->kind) {
    case NODE_Name: bind(walk, target, NODE_AS(Name, target)->id); break;
    case NODE_Starred: walk_target(walk, NODE_AS(Starred, target)->value); break;
    case NODE_Tuple:
    case NODE_List: {
        const Nodes parts =
            target->kind == NODE_Tuple ? NODE_AS(Tuple, target)->elts : NODE_AS(List, target)->elts;
        for (uint32_t i = 0; i < parts.count; i++) walk_target(walk, parts.items[i]);
        break;
    }
    default: walk_node(walk, target);
    }
}

static void walk_targets(Walk *walk, Nodes targets)
{
    for (uint32_t i = 0; i < targets.count; i++) walk_target(walk, targets.items[i]);
}

/* ---- functions and classes ---- */

static void bind_parameter(Walk *walk, const Node *node)
{
    if (node != NULL) bind(walk, node, NODE_AS(arg, node)->arg)->is_parameter = true;
}

static void bind_parameters(Walk *walk, const Nodearguments *n)
{
    const Nodes lists[] = {n->posonlyargs, n->args, n->kwonlyargs};
    for (int i = 0; i < 3; i++)
        for (uint32_t j = 0; j < lists[i].count; j++) bind_parameter(walk, lists[i].items[j]);
    bind_parameter(walk, n->vararg);
    bind_parameter(walk, n->kwarg);
}

static void walk_annotation(Walk *walk, const Node *node)
{
    if (node != NULL) walk_optional(walk, NODE_AS(arg, node)->annotation);
}

static void walk_annotations(Walk *walk, const Nodearguments *n)
{
    const Nodes lists[] = {n->posonlyargs, n->args, n->kwonlyargs};
    for (int i = 0; i < 3; i++)
        for (uint32_t j = 0; j < lists[i].count; j++) walk_annotation(walk, lists[i].items[j]);
    walk_annotation(walk, n->vararg);
    walk_annotation(walk, n->kwarg);
    walk_all(walk, n->defaults);
    walk_all(walk, n->kw_defaults);
}

static void walk_type_parameters(Walk *walk, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++) {
        const Node *node = nodes.items[i];
        const Name name = node->kind == NODE_TypeVar     ? NODE_AS(TypeVar, node)->name
                          : node->kind == NODE_ParamSpec ? NODE_AS(ParamSpec, node)->name
                                                         : NODE_AS(TypeVarTuple, node)->name;
        bind(walk, node, name);
        walk_children(walk, node);
    }
}

/* The fields of an `async def` are those of a `def`. */
static const NodeFunctionDef *function_fields(const Node *node)
{
    return (const NodeFunctionDef *)node;
}

static void walk_function(Walk *walk, const Node *node)
{
    const NodeFunctionDef *n = function_fields(node);
    const Nodearguments *arguments = NODE_AS(arguments, n->args);
    Block *outer = walk->block;
    walk_all(walk, n->decorator_list);
    bind(walk, node, n->name);
    walk_annotations(walk, arguments);
    walk_optional(walk, n->returns);
    open_block(walk, BLOCK_FUNCTION, node, n->name);
    walk_type_parameters(walk, n->type_params);
    bind_parameters(walk, arguments);
    walk_all(walk, n->body);
    walk->block = outer;
}

static void walk_class(Walk *walk, const Node *node)
{
    const NodeClassDef *n = NODE_AS(ClassDef, node);
    Block *outer = walk->block;
    walk_all(walk, n->decorator_list);
    walk_all(walk, n->bases);
    walk_all(walk, n->keywords);
    bind(walk, node, n->name);
    open_block(walk, BLOCK_CLASS, node, n->name);
    walk_type_parameters(walk, n->type_params);
    walk_all(walk, n->body);
    walk->block = outer;
}

static void walk_lambda(Walk *walk, const Node *node)
{
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(Lambda, node)->args);
    Block *outer = walk->block;
    walk_annotations(walk, arguments);
    open_block(walk, BLOCK_FUNCTION, node, NULL);
    bind_parameters(walk, arguments);
    walk_node(walk, NODE_AS(Lambda, node)->body);
    walk->block = outer;
}

/* ---- comprehensions ---- */

/* The first iterable is evaluated outside. */
static void walk_comprehension(Walk *walk, const Node *node, Nodes generators, const Node *key,
                               const Node *value)
{
    Block *outer = walk->block;
    walk_node(walk, NODE_AS(comprehension, generators.items[0])->iter);
    open_block(walk, BLOCK_COMPREHENSION, node, NULL);
    for (uint32_t i = 0; i < generators.count; i++) {
        const Nodecomprehension *n = NODE_AS(comprehension, generators.items[i]);
        if (i > 0) walk_node(walk, n->iter);
        walk_target(walk, n->target);
        walk_all(walk, n->ifs);
    }
    walk_optional(walk, key);
    walk_node(walk, value);
    walk->block = outer;
}

/* ---- statements ---- */

static void walk_alias(Walk *walk, const Node *node, bool is_from)
{
    const Nodealias *alias = NODE_AS(alias, node);
    const char *dot = strchr(alias->name, '.');
    Name name = alias->asname != NULL ? alias->asname : alias->name;
    if (strcmp(alias->name, "*") == 0) return;
    if (alias->asname == NULL && !is_from && dot != NULL) /* `import a.b` binds a */
        name = intern(walk->names, alias->name, (size_t)(dot - alias->name));
    bind(walk, node, name)->is_import = true;
}

static void walk_aliases(Walk *walk, Nodes names, bool is_from)
{
    for (uint32_t i = 0; i < names.count; i++) walk_alias(walk, names.items[i], is_from);
}

static Block *function_around(Block *block, const Symbols *symbols)
{
    for (block = block->parent; block != NULL; block = block->parent)
        if (block->kind == BLOCK_FUNCTION) return block;
    return symbols->blocks.data[0];
}

static void walk_outside(Walk *walk, const Node *node, Names names, Block *block)
{
    Span word = next_word(node->span, node->span.begin); /* the keyword */
    for (uint32_t i = 0; i < names.count; i++) {
        word = next_word(node->span, word.end);
        map_set(walk->arena, &walk->block->outside, names.items[i], block);
        add_use(walk, node, names.items[i], word)->local = local_of(walk, block, names.items[i]);
    }
}

static void walk_nonlocal(Walk *walk, const Node *node)
{
    const Names names = NODE_AS(Nonlocal, node)->names;
    Block *block = function_around(walk->block, walk->symbols);
    while (block->kind == BLOCK_FUNCTION && names.count > 0 &&
           !map_has(&block->by_name, names.items[0]) && block->parent != NULL)
        block = function_around(block, walk->symbols);
    walk_outside(walk, node, names, block);
}

static void walk_for(Walk *walk, const Node *node)
{
    const NodeFor *n = (const NodeFor *)node; /* `async for` has the same fields */
    walk_node(walk, n->iter);
    walk_target(walk, n->target);
    walk_all(walk, n->body);
    walk_all(walk, n->orelse);
}

static void walk_pattern_name(Walk *walk, const Node *node, Name name)
{
    walk_children(walk, node);
    if (name != NULL) bind(walk, node, name);
}

static void walk_augmented(Walk *walk, const NodeAugAssign *n)
{
    walk_target(walk, n->target);
    walk_node(walk, n->value);
}

static void walk_annotated(Walk *walk, const NodeAnnAssign *n)
{
    walk_node(walk, n->annotation);
    walk_optional(walk, n->value);
    walk_target(walk, n->target);
}

static void walk_statement(Walk *walk, const Node *node)
{
    switch ((int)node->kind) {
    case NODE_Assign:
        walk_node(walk, NODE_AS(Assign, node)->value);
        walk_targets(walk, NODE_AS(Assign, node)->targets);
        break;
    case NODE_AugAssign: walk_augmented(walk, NODE_AS(AugAssign, node)); break;
    case NODE_AnnAssign: walk_annotated(walk, NODE_AS(AnnAssign, node)); break;
    case NODE_TypeAlias:
        walk_target(walk, NODE_AS(TypeAlias, node)->name);
        walk_node(walk, NODE_AS(TypeAlias, node)->value);
        break;
    case NODE_Delete: walk_targets(walk, NODE_AS(Delete, node)->targets); break;
    case NODE_For:
    case NODE_AsyncFor: walk_for(walk, node); break;
    case NODE_withitem:
        walk_node(walk, NODE_AS(withitem, node)->context_expr);
        walk_target(walk, NODE_AS(withitem, node)->optional_vars);
        break;
    case NODE_Import: walk_aliases(walk, NODE_AS(Import, node)->names, false); break;
    case NODE_ImportFrom: walk_aliases(walk, NODE_AS(ImportFrom, node)->names, true); break;
    case NODE_Global:
        walk_outside(walk, node, NODE_AS(Global, node)->names, walk->symbols->blocks.data[0]);
        break;
    case NODE_Nonlocal: walk_nonlocal(walk, node); break;
    case NODE_ExceptHandler:
        walk_pattern_name(walk, node, NODE_AS(ExceptHandler, node)->name);
        break;
    case NODE_MatchAs: walk_pattern_name(walk, node, NODE_AS(MatchAs, node)->name); break;
    case NODE_MatchStar: walk_pattern_name(walk, node, NODE_AS(MatchStar, node)->name); break;
    case NODE_MatchMapping: walk_pattern_name(walk, node, NODE_AS(MatchMapping, node)->rest); break;
    default: walk_children(walk, node);
    }
}

static void walk_node(Walk *walk, const Node *node)
{
    switch ((int)node->kind) {
    case NODE_FunctionDef:
    case NODE_AsyncFunctionDef: walk_function(walk, node); break;
    case NODE_ClassDef: walk_class(walk, node); break;
    case NODE_Lambda: walk_lambda(walk, node); break;
    case NODE_ListComp: {
        const NodeListComp *n = NODE_AS(ListComp, node);
        walk_comprehension(walk, node, n->generators, NULL, n->elt);
        break;
    }
    case NODE_SetComp: {
        const NodeSetComp *n = NODE_AS(SetComp, node);
        walk_comprehension(walk, node, n->generators, NULL, n->elt);
        break;
    }
    case NODE_GeneratorExp: {
        const NodeGeneratorExp *n = NODE_AS(GeneratorExp, node);
        walk_comprehension(walk, node, n->generators, NULL, n->elt);
        break;
    }
    case NODE_DictComp: {
        const NodeDictComp *n = NODE_AS(DictComp, node);
        walk_comprehension(walk, node, n->generators, n->key, n->value);
        break;
    }
    case NODE_NamedExpr:
        walk_node(walk, NODE_AS(NamedExpr, node)->value);
        bind_walrus(walk, NODE_AS(NamedExpr, node)->target);
        break;
    case NODE_Name: add_use(walk, node, NODE_AS(Name, node)->id, name_span(node)); break;
    default: walk_statement(walk, node);
    }
}

/* ---- reads ---- */

LocalName *block_find(const Block *block, Name name)
{
    for (const Block *each = block; each != NULL; each = each->parent) {
        const Block *outside = map_get(&each->outside, name);
        if (outside != NULL) return map_get(&outside->by_name, name);
        if (each->kind == BLOCK_CLASS && each != block) continue;
        LocalName *local = map_get(&each->by_name, name);
        if (local != NULL) return local;
    }
    return NULL;
}

static void resolve(Walk *walk)
{
    const UseVec *uses = &walk->symbols->uses;
    for (size_t i = 0; i < uses->count; i++) {
        NameUse *use = uses->data[i];
        if (use->local == NULL) use->local = block_find(walk->readers.data[i], use->name);
        if (use->local != NULL) vec_push(walk->arena, &use->local->uses, use);
    }
}

Symbols *symbols_of(Arena *arena, Interner *names, const Module *module)
{
    Symbols *symbols = arena_new_of(arena, Symbols);
    Walk walk = {.arena = arena, .names = names, .symbols = symbols};
    open_block(&walk, BLOCK_MODULE, &module->tree->base, NULL);
    walk_all(&walk, module->tree->body);
    resolve(&walk);
    return symbols;
}

/* ---- questions ---- */

const NameUse *symbols_at(const Symbols *symbols, uint32_t offset)
{
    for (size_t i = 0; i < symbols->uses.count; i++) {
        const NameUse *use = symbols->uses.data[i];
        if (use->span.begin <= offset && offset <= use->span.end && use->span.begin < use->span.end)
            return use;
    }
    return NULL;
}
