/* survey.c: the kernels that a program's own host code makes: its module is executed, then its
 * tests and what nobody calls, and each kernel is staged as it was asked for. */
#include "eval/export/export.h"

#include <string.h>

/* ---- the kernels that a text defines ---- */

/* What a decorator or base is called, and of what: `tilelang.jit(...)`. */
static const char *last_name(const Node *node, const char **owner)
{
    *owner = "";
    if (node->kind == NODE_Call) node = NODE_AS(Call, node)->func;
    if (node->kind == NODE_Name) return NODE_AS(Name, node)->id;
    if (node->kind != NODE_Attribute) return "";
    const char *name = NODE_AS(Attribute, node)->attr;
    while (node->kind == NODE_Attribute) node = NODE_AS(Attribute, node)->value;
    if (node->kind == NODE_Name) *owner = NODE_AS(Name, node)->id;
    return name;
}

static bool has_text(const Object *texts, const char *text)
{
    for (uint32_t i = 0; object_is_sequence(texts) && i < texts->as.list.count; i++)
        if (strcmp(texts->as.list.items[i]->as.text.data, text) == 0) return true;
    return false;
}

static bool is_maker(const Eval *eval, const Node *node)
{
    const char *owner, *name = last_name(node, &owner);
    const Object *makers = eval->kernel_makers;
    for (size_t i = 0; i < makers->as.dict.keys.count; i++)
        if (strcmp(makers->as.dict.keys.data[i]->as.text.data, name) == 0)
            return has_text(makers->as.dict.values.data[i], owner);
    return false;
}

static bool has_maker(const Eval *eval, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++)
        if (is_maker(eval, nodes.items[i])) return true;
    return false;
}

typedef struct Finder {
    const Eval *eval;
    const Survey *survey;
    int found;
} Finder;

static void find_one(Finder *finder, const Node *node, Name name, Nodes makers)
{
    if (!has_maker(finder->eval, makers)) return;
    finder->survey->find(finder->survey->context, node->span,
                         span_join(makers.items[0]->span, node->span), name);
    finder->found++;
}

/* Of those in one another the outermost. */
static void find_kernels(void *context, const Node *node)
{
    Finder *finder = context;
    const int before = finder->found;
    if (node->kind == NODE_FunctionDef)
        find_one(finder, node, NODE_AS(FunctionDef, node)->name,
                 NODE_AS(FunctionDef, node)->decorator_list);
    else if (node->kind == NODE_ClassDef)
        find_one(finder, node, NODE_AS(ClassDef, node)->name, NODE_AS(ClassDef, node)->bases);
    if (finder->found == before) node_visit_children(node, find_kernels, finder);
}

static bool has_kernels(Program *program, const Survey *survey)
{
    Finder finder = {&program->eval, survey, 0};
    const Nodes body = program->unit->tree->tree->body;
    for (uint32_t i = 0; i < body.count; i++) find_kernels(&finder, body.items[i]);
    return finder.found > 0;
}

/* ---- running host code ---- */

static const size_t HOST_MEMORY_LIMIT = (size_t)1 << 30;

static bool begins(Name name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static uint32_t count_required(const NodeFunctionDef *function)
{
    const Nodearguments *parameters = NODE_AS(arguments, function->args);
    const uint32_t count = parameters->posonlyargs.count + parameters->args.count;
    return count - parameters->defaults.count;
}

/* What an argument is that nobody gives: a device is the one at hand, all else unknown. */
static Object *unknown_argument(Eval *eval, const NodeFunctionDef *function, uint32_t index)
{
    const Nodearguments *parameters = NODE_AS(arguments, function->args);
    const uint32_t first = parameters->posonlyargs.count;
    const Node *parameter = index < first ? parameters->posonlyargs.items[index]
                                          : parameters->args.items[index - first];
    return strcmp(NODE_AS(arg, parameter)->arg, "device") == 0 ? eval->none : eval->poison;
}

/* Of a function of the module that stands by itself: tests, and what takes nothing. */
static bool is_entry(const Eval *eval, const NodeFunctionDef *function)
{
    static const char *const prefixes[] = {"test", "main", "run", "bench"};
    if (map_has(&eval->called, function)) return false;
    if (function->decorator_list.count == 0 && count_required(function) == 0) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (begins(function->name, prefixes[i])) return true;
    return false;
}

static void call_unknown(Eval *eval, Object *callee, const NodeFunctionDef *function, Object *self)
{
    Arguments arguments = {.at = function->base.span};
    const uint32_t count = count_required(function);
    for (uint32_t i = 0; i < count; i++)
        vec_push(eval->arena, &arguments.positional,
                 i == 0 && self != NULL ? self : unknown_argument(eval, function, i));
    eval->steps_left = UNROLL_LIMIT;
    call_object(eval, callee, &arguments);
}

static void call_tests(Eval *eval, Object *class, Nodes body)
{
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_FunctionDef) continue;
        const NodeFunctionDef *function = NODE_AS(FunctionDef, body.items[i]);
        if (!begins(function->name, "test") || map_has(&eval->called, function)) continue;
        Object *method = class_find(class, function->name);
        if (method != NULL && method->kind == OBJECT_FUNCTION && count_required(function) > 0)
            call_unknown(eval, method, function, instance_new(eval, class));
    }
}

/* What is decorated, as by marks of a test, takes what is left of its parameters. */
static void call_entry(Program *program, const Node *node)
{
    Eval *eval = &program->eval;
    const bool is_class = node->kind == NODE_ClassDef;
    if (!is_class &&
        (node->kind != NODE_FunctionDef || !is_entry(eval, NODE_AS(FunctionDef, node))))
        return;
    const Name name = is_class ? NODE_AS(ClassDef, node)->name : NODE_AS(FunctionDef, node)->name;
    const Binding *binding = bindings_get(&program->unit->scope->bindings, name);
    Object *object = binding != NULL ? binding->object : NULL;
    if (object == NULL) return;
    if (is_class && object->kind == OBJECT_CLASS)
        call_tests(eval, object, NODE_AS(ClassDef, node)->body);
    else if (object->kind == OBJECT_FUNCTION && object->as.function.node == node)
        call_unknown(eval, object, NODE_AS(FunctionDef, node), NULL);
    else if (object->kind == OBJECT_FUNCTION)
        call_object(eval, object, &(Arguments){.at = node->span});
}

static void run_host_code(Program *program)
{
    Eval *eval = &program->eval;
    const Nodes body = program->unit->tree->tree->body;
    Frame frame = {.scope = program->unit->scope, .is_surveyed = true};
    eval->frame = &frame;
    eval_block(eval, body);
    for (uint32_t i = 0; i < body.count; i++) call_entry(program, body.items[i]);
    eval->frame = NULL;
}

/* Arrays that are made and never computed with are no reason to take all memory; and what they
 * take is not counted with the kernels. */
static void run_within_memory(Program *program)
{
    const size_t most = program->eval.options.max_memory;
    program->eval.options.max_memory = HOST_MEMORY_LIMIT;
    run_host_code(program);
    program->eval.options.max_memory =
        arena_bytes(program->eval.arena) + (most != 0 ? most : MEMORY_LIMIT);
}

/* ---- staging ---- */

/* The function of the program's that the kernel was made of, or its class. */
static Span span_of(const Object *instance)
{
    const Instance *kernel = instance->as.instance;
    for (size_t i = 0; i < kernel->attributes.list.count; i++) {
        const Object *value = kernel->attributes.list.data[i]->object;
        if (value != NULL && value->kind == OBJECT_FUNCTION && value->as.function.unit != NULL &&
            !value->as.function.unit->is_library)
            return value->as.function.node->span;
    }
    return kernel->class->as.class->at;
}

static const char *title_of(Eval *eval, const Specialisation *specialisation)
{
    Signature signature;
    const char *name = kernel_name(specialisation->instance);
    if (!signature_read(eval, specialisation->instance, specialisation->at, &signature))
        return name;
    return specialisation_title(eval, &signature, specialisation, name);
}

static void stage_one(Eval *eval, Specialisation *specialisation, const Survey *survey)
{
    survey->begin(survey->context);
    SurveyedKernel kernel = {.at = span_of(specialisation->instance)};
    eval->steps_left = UNROLL_LIMIT;
    if (specialisation_build(eval, specialisation)) kernel.kernel = specialisation->kernel;
    kernel.title = title_of(eval, specialisation);
    survey->visit(survey->context, &kernel);
}

/* One that was made and not launched, as it is compiled where no key is open; else NULL. */
static Specialisation *compile_alone(Eval *eval, Object *instance)
{
    bool found = false;
    eval->quiet++;
    Object *method = attribute_find(eval, instance, intern_text(eval->session->names, "compile"),
                                    span_of(instance), &found);
    Object *made = method != NULL && found
                       ? call_simple(eval, method, 0, NULL, span_of(instance))
                       : specialise(eval, instance, &(Arguments){.at = span_of(instance)});
    eval->quiet--;
    return made != NULL && made->kind == OBJECT_SPECIALISATION ? made->as.specialisation : NULL;
}

/* How often a kernel was staged that was made of this text, this time included. */
static int count_staged(Eval *eval, Map *staged, Span at)
{
    const char *text = at.source->text + at.begin;
    int *count = map_get(staged, text);
    if (count == NULL) {
        count = arena_new_of(eval->arena, int);
        *count = 0;
        map_set(eval->arena, staged, text, count);
    }
    return ++*count;
}

/* What its parameters are annotated with is not what a call tells. False: reported. */
static bool look_at_signature(Eval *eval, Object *instance, const Survey *survey)
{
    Signature signature;
    const SurveyedKernel kernel = {.at = span_of(instance)};
    survey->begin(survey->context);
    if (signature_read(eval, instance, kernel.at, &signature)) return true;
    survey->visit(survey->context, &kernel);
    return false;
}

static void stage_all(Eval *eval, const Survey *survey)
{
    enum { MOST_OF_A_KERNEL = 12 }; /* of a loop over sizes the others say the same */
    Map staged = {0};               /* by the text of what they are made of */
    const ObjectVec surveyed = eval->surveyed;
    for (size_t i = 0; i < surveyed.count; i++) {
        if (surveyed.data[i]->kind != OBJECT_SPECIALISATION) continue;
        Specialisation *specialisation = surveyed.data[i]->as.specialisation;
        if (count_staged(eval, &staged, span_of(specialisation->instance)) <= MOST_OF_A_KERNEL)
            stage_one(eval, specialisation, survey);
    }
    for (size_t i = 0; i < eval->refusable.count; i++)
        count_staged(eval, &staged, span_of(eval->refusable.data[i]));
    for (size_t i = 0; i < surveyed.count; i++) {
        if (surveyed.data[i]->kind == OBJECT_SPECIALISATION) continue;
        const Span at = span_of(surveyed.data[i]);
        if (map_has(&staged, at.source->text + at.begin)) continue;
        Specialisation *specialisation = compile_alone(eval, surveyed.data[i]);
        if (specialisation == NULL) {
            if (!look_at_signature(eval, surveyed.data[i], survey)) count_staged(eval, &staged, at);
            continue;
        }
        count_staged(eval, &staged, at);
        stage_one(eval, specialisation, survey);
    }
}

void program_survey(Program *program, const Survey *survey)
{
    Eval *eval = &program->eval;
    const Name name = intern_text(eval->session->names, "__name__");
    if (!has_kernels(program, survey)) return;
    program->unit->is_eager = true;
    bindings_make(eval, &program->unit->scope->bindings, name)->object =
        object_text(eval, "__main__", strlen("__main__"));
    run_within_memory(program);
    stage_all(eval, survey);
}
