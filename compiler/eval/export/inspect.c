/* inspect.c: an evaluated program's names and values, for tools that show them (eval/inspect.h). No
 * code of kernels runs here: properties stay properties. */
#include "eval/inspect.h"

#include "eval/export/export.h"

#include <string.h>

const Module *program_module(const Program *program)
{
    return program->unit->tree;
}

Object *program_observed(const Program *program, Span at)
{
    return observed_object(&program->eval, at);
}

const char *program_observed_text(const Program *program, Span at)
{
    return observed_text(&program->eval, at);
}

/* ---- evaluation that nobody hears of ---- */

typedef struct Silence {
    DiagMute mute;
    Aside aside;
} Silence;

static Silence begin_silence(Program *program)
{
    Eval *eval = &program->eval;
    eval_begin_work(eval);
    eval->quiet++;
    return (Silence){diag_mute(eval->session->diags), step_aside(eval)};
}

static void end_silence(Program *program, Silence silence)
{
    step_back(&program->eval, &silence.aside);
    program->eval.quiet--;
    diag_unmute(program->eval.session->diags, silence.mute);
}

static Object *lookup_in_unit(Program *program, Unit *unit, Name name)
{
    bool found = false;
    const Silence silence = begin_silence(program);
    Object *object = scope_lookup(&program->eval, unit->scope, name, (Span){0}, &found);
    end_silence(program, silence);
    return found ? object : NULL;
}

static Name name_of(Program *program, const char *text)
{
    return intern_text(program->eval.session->names, text);
}

Object *program_lookup(Program *program, const char *name)
{
    return lookup_in_unit(program, program->unit, name_of(program, name));
}

Object *program_import(Program *program, const char *path)
{
    const Silence silence = begin_silence(program);
    Object *module = import_module(&program->eval, name_of(program, path), (Span){0});
    end_silence(program, silence);
    return module != NULL && module->kind == OBJECT_MODULE ? module : NULL;
}

/* ---- attributes ---- */

static Object *method_of(Program *program, Object *self, Object *function)
{
    Object *method = object_new(&program->eval, OBJECT_METHOD);
    method->as.method.self = self;
    method->as.method.function = function;
    return method;
}

static Object *seen_through(Program *program, Object *self, Object *found)
{
    if (found == NULL || self->kind == OBJECT_CLASS || found->kind != OBJECT_FUNCTION) return found;
    return method_of(program, self, found);
}

/* The attribute of the object itself, or of the first class in order that has it. */
static const Binding *attribute_binding(Program *program, const Object *object, const char *text)
{
    const Name name = name_of(program, text);
    const Object *class = object->kind == OBJECT_CLASS ? object : object_class(object);
    const Binding *binding = object->kind == OBJECT_INSTANCE
                                 ? bindings_get(&object->as.instance->attributes, name)
                                 : NULL;
    for (int i = 0; class != NULL && binding == NULL && i < class->as.class->mro_count; i++)
        binding = bindings_get(&class->as.class->mro[i]->as.class->attributes, name);
    return binding != NULL && binding->object != NULL ? binding : NULL;
}

static const BuiltinRow *row_of_kind(const Program *program, const Object *object, const char *name)
{
    const Eval *eval = &program->eval;
    for (size_t i = 0; i < eval->rows.count; i++)
        if (strcmp(eval->rows.data[i].module, object_kind_name(object)) == 0 &&
            strcmp(eval->rows.data[i].name, name) == 0)
            return &eval->rows.data[i];
    return NULL;
}

static Object *method_of_kind(Program *program, Object *object, const char *name)
{
    const BuiltinRow *row = row_of_kind(program, object, name);
    return row != NULL && strcmp(row->signature, "@") != 0
               ? builtin_method(&program->eval, object, name_of(program, name))
               : NULL;
}

Object *object_attribute(Program *program, Object *object, const char *name)
{
    if (object->kind == OBJECT_MODULE) {
        bool found = false;
        const Silence silence = begin_silence(program);
        Object *value =
            attribute_find(&program->eval, object, name_of(program, name), (Span){0}, &found);
        end_silence(program, silence);
        return found ? value : NULL;
    }
    if (object->kind == OBJECT_CLASS || object_class(object) != NULL) {
        const Binding *binding = attribute_binding(program, object, name);
        const bool is_own = binding != NULL && binding->object->kind < OBJECT_CELL;
        return is_own ? seen_through(program, object, binding->object) : NULL;
    }
    return method_of_kind(program, object, name);
}

/* Of a statement that binds the name: evaluated, as an import leads on. */
static Span span_in_module(Program *program, Unit *unit, const char *text)
{
    const Name name = name_of(program, text);
    const IndexVec *statements = map_get(&unit->definitions, name);
    if (statements == NULL || lookup_in_unit(program, unit, name) == NULL) return (Span){0};
    const Thunk *thunk = &unit->thunks[vec_last(statements)];
    const Binding *binding =
        thunk->scope != NULL ? bindings_get(&thunk->scope->bindings, name) : NULL;
    return binding != NULL ? binding->at : (Span){0};
}

Span object_attribute_place(Program *program, Object *object, const char *name)
{
    if (object->kind == OBJECT_MODULE) return span_in_module(program, object->as.unit, name);
    const Binding *binding = attribute_binding(program, object, name);
    return binding != NULL ? binding->at : (Span){0};
}

/* ---- members ---- */

typedef struct Members {
    Program *program;
    Object *object;
    MemberVisit *visit;
    void *context;
    Map seen; /* names */
} Members;

static bool is_new_member(Members *members, const char *text)
{
    const Name name = name_of(members->program, text);
    if (map_has(&members->seen, name)) return false;
    map_set(members->program->eval.arena, &members->seen, name, NULL);
    return true;
}

static void visit_bindings(Members *members, const Bindings *bindings)
{
    for (size_t i = 0; i < bindings->list.count; i++) {
        const Binding *binding = bindings->list.data[i];
        if (binding->object == NULL || !is_new_member(members, binding->name)) continue;
        Object *object = binding->object->kind < OBJECT_CELL ? binding->object : NULL;
        members->visit(members->context, members->program, binding->name,
                       seen_through(members->program, members->object, object));
    }
}

/* Modules of the compiler's own are no business of those who use the library. */
static bool is_internal(const Object *object)
{
    return object != NULL && object->kind == OBJECT_MODULE &&
           strncmp(object->as.unit->name, "__", 2) == 0;
}

static void visit_module_name(void *context, Name name)
{
    Members *members = context;
    if (strcmp(name, "*") == 0 || !is_new_member(members, name)) return;
    Object *object = object_attribute(members->program, members->object, name);
    if (!is_internal(object)) members->visit(members->context, members->program, name, object);
}

/* Methods that the compiler has for values of the kind. */
static void visit_rows(Members *members)
{
    const Eval *eval = &members->program->eval;
    const char *kind = object_kind_name(members->object);
    for (size_t i = 0; i < eval->rows.count; i++) {
        const BuiltinRow *row = &eval->rows.data[i];
        if (strcmp(row->module, kind) != 0 || !is_new_member(members, row->name)) continue;
        members->visit(members->context, members->program, row->name,
                       method_of_kind(members->program, members->object, row->name));
    }
}

static void visit_staged(Members *members)
{
    const char *name;
    for (size_t i = 0; (name = staged_attribute_name(i)) != NULL; i++)
        if (is_new_member(members, name))
            members->visit(members->context, members->program, name, NULL);
}

static void visit_fields(Members *members)
{
    const Object *fields =
        class_find(members->object->as.list.class, name_of(members->program, "__fields__"));
    const bool is_list = fields != NULL && object_is_sequence(fields);
    for (uint32_t i = 0; is_list && i < fields->as.list.count; i++) {
        const Object *name = fields->as.list.items[i];
        if (name->kind == OBJECT_TEXT && is_new_member(members, name->as.text.data))
            members->visit(members->context, members->program, name->as.text.data, NULL);
    }
}

void object_members(Program *program, Object *object, MemberVisit *visit, void *context)
{
    Members members = {program, object, visit, context, {0}};
    const Object *class = object->kind == OBJECT_CLASS ? object : object_class(object);
    if (object->kind == OBJECT_MODULE) {
        const Silence silence = begin_silence(program);
        module_visit_names(&program->eval, object, visit_module_name, &members);
        end_silence(program, silence);
    }
    if (object->kind == OBJECT_INSTANCE) visit_bindings(&members, &object->as.instance->attributes);
    if (object_is_record(object)) visit_fields(&members);
    for (int i = 0; class != NULL && i < class->as.class->mro_count; i++)
        visit_bindings(&members, &class->as.class->mro[i]->as.class->attributes);
    if (object_is_staged(object)) visit_staged(&members);
    visit_rows(&members);
}

void program_builtins(Program *program, MemberVisit *visit, void *context)
{
    Unit *prelude = program->eval.builtins->unit;
    if (prelude != NULL) object_members(program, prelude->object, visit, context);
    Members members = {program, program->eval.none, visit, context, {0}};
    for (const Scope *scope = program->eval.builtins; scope != NULL; scope = scope->parent)
        if (scope->kind == SCOPE_BUILTINS) visit_bindings(&members, &scope->bindings);
}

/* A file a/b.tile is a.b, and a/__init__.tile is a; NULL: one that is nobody else's
 * business. */
static const char *module_of_file(Program *program, const char *file)
{
    static const char INIT[] = "/__init__";
    char *name = arena_copy_text(program->eval.arena, file, strcspn(file, "."));
    const size_t length = strlen(name), init = sizeof INIT - 1;
    if (length > init && strcmp(name + length - init, INIT) == 0) name[length - init] = '\0';
    if (name[0] == '_' || strstr(name, "/_") != NULL || strncmp(name, "compat/", 7) == 0)
        return NULL;
    for (char *c = name; *c != '\0'; c++)
        if (*c == '/') *c = '.';
    return name;
}

void program_modules(Program *program, MemberVisit *visit, void *context)
{
    for (size_t i = 0; i < stdlib_file_count; i++) {
        const char *name = module_of_file(program, stdlib_files[i].name);
        if (name != NULL) visit(context, program, name, NULL);
    }
}

/* ---- facts ---- */

static const struct {
    const char *name, *sentence;
} SENTENCES[] = {
#define CORE(name, signature, handler, sentence) {name, sentence},
#define BUILTIN(module, name, signature, handler)
#include "eval/export/builtins.def"
#include "eval/python/builtins.def"
#include "eval/staging/builtins.def"
#include "eval/surface/builtins.def"
#undef CORE
#undef BUILTIN
};

static const char *sentence_of(const BuiltinRow *row)
{
    if (strcmp(row->module, "__core__") != 0) return NULL;
    for (size_t i = 0; i < sizeof SENTENCES / sizeof *SENTENCES; i++)
        if (strcmp(SENTENCES[i].name, row->name) == 0) return SENTENCES[i].sentence;
    return NULL;
}

static void add_function(const Object *object, bool skips_self, ObjectFacts *out)
{
    if (object == NULL) return;
    if (object->kind == OBJECT_BUILTIN) {
        out->name = object->as.builtin->name;
        out->signature = object->as.builtin->signature;
        out->sentence = sentence_of(object->as.builtin);
    }
    if (object->kind == OBJECT_BUILTIN) out->skips_self = skips_self;
    if (object->kind != OBJECT_FUNCTION) return;
    out->function = object->as.function.node;
    out->skips_self = skips_self;
    if (out->definition.source == NULL) out->definition = object->as.function.node->span;
}

static Object *own_attribute(Program *program, const Object *instance, const char *name)
{
    const Binding *own = bindings_get(&instance->as.instance->attributes, name_of(program, name));
    return own != NULL ? own->object : NULL;
}

/* A kernel, or any other instance that can be called: its function. */
static void add_instance(Program *program, const Object *object, ObjectFacts *out)
{
    Object *function = own_attribute(program, object, "__kernel_body__");
    if (function == NULL) function = own_attribute(program, object, "__kernel_function__");
    if (function != NULL) {
        add_function(function, false, out);
        return;
    }
    out->definition = object->as.instance->class->as.class->at;
    add_function(class_find(object->as.instance->class, name_of(program, "__call__")), true, out);
}

static void add_class(Program *program, const Object *object, ObjectFacts *out)
{
    out->definition = object->as.class->at;
    add_function(class_find(object, name_of(program, "__init__")), true, out);
}

static void add_module(const Object *object, ObjectFacts *out)
{
    const Unit *unit = object->as.unit;
    if (unit->tree != NULL) out->definition = (Span){unit->tree->source, 0, 0};
}

static ObjectCategory category_of(const Object *object)
{
    switch ((int)object->kind) {
    case OBJECT_FUNCTION:
    case OBJECT_BUILTIN:
    case OBJECT_STATIC_METHOD: return CATEGORY_FUNCTION;
    case OBJECT_METHOD:
    case OBJECT_CLASS_METHOD: return CATEGORY_METHOD;
    case OBJECT_CLASS: return CATEGORY_CLASS;
    case OBJECT_MODULE: return CATEGORY_MODULE;
    case OBJECT_DTYPE:
    case OBJECT_POINTER_TYPE:
    case OBJECT_TENSOR_TYPE: return CATEGORY_TYPE;
    case OBJECT_PROPERTY: return CATEGORY_PROPERTY;
    default: return CATEGORY_VALUE;
    }
}

static void add_callable(Program *program, const Object *object, ObjectFacts *out)
{
    switch ((int)object->kind) {
    case OBJECT_FUNCTION:
    case OBJECT_BUILTIN: add_function(object, false, out); break;
    case OBJECT_METHOD:
    case OBJECT_CLASS_METHOD: add_function(object->as.method.function, true, out); break;
    case OBJECT_PROPERTY:
    case OBJECT_STATIC_METHOD: add_function(object->as.method.function, false, out); break;
    case OBJECT_CLASS: add_class(program, object, out); break;
    case OBJECT_INSTANCE: add_instance(program, object, out); break;
    case OBJECT_SPECIALISATION:
        add_instance(program, object->as.specialisation->instance, out);
        break;
    case OBJECT_MODULE: add_module(object, out); break;
    default: break;
    }
}

/* The types of what was staged may be gone: observed_text() has them. */
void object_facts(Program *program, Object *object, ObjectFacts *out)
{
    *out = (ObjectFacts){.category = category_of(object), .text = object_kind_name(object)};
    add_callable(program, object, out);
    if (object_is_staged(object) || object->kind == OBJECT_TUPLE || object->kind == OBJECT_LIST)
        return;
    Buf text = {0};
    object_explain(&program->eval, object, &text);
    out->text = arena_copy_text(program->eval.arena, text.data, text.length);
    buf_free(&text);
}
