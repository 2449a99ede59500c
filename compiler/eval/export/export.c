/* export.c: which kernels a module exports, under which names, and for which keys. A module is
 * evaluated as far as that needs, no further. */
#include "eval/export/export.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- evaluating in the module's scope ---- */

/* Evaluates what may turn out to need a host module: then NULL, with a remark. */
static Object *eval_or_skip(Program *program, uint32_t index, const Node *node, bool *failed)
{
    Eval *eval = &program->eval;
    eval->needed_missing = NULL;
    eval->quiet++;
    Object *object = eval_in(eval, statement_scope(eval, program->unit, index), node);
    eval->quiet--;
    if (object != NULL) return object;
    if (eval->needed_missing != NULL) {
        diag_report(eval->session->diags, DIAG_statement_skipped, node->span,
                    "it needs a host module");
        return NULL;
    }
    object = eval_in(eval, statement_scope(eval, program->unit, index), node);
    *failed |= object == NULL;
    return object;
}

/* ---- collecting ---- */

typedef struct Entry {
    Name name;
    Span span;
    Object *instance;
    ObjectVec specialisations;
} Entry;

typedef VEC(Entry) EntryVec;

static bool add_specialisation(Eval *eval, Entry *entry, Object *object, Span at)
{
    if (entry->instance != NULL &&
        !instances_same(eval, entry->instance, object->as.specialisation->instance)) {
        FAIL(eval, export_twice, at, entry->name, "are different");
        if (entry->span.source != NULL)
            diag_note(eval->session->diags, entry->span, "it is exported here");
        return false;
    }
    entry->instance = object->as.specialisation->instance;
    for (size_t i = 0; i < entry->specialisations.count; i++)
        if (entry->specialisations.data[i] == object) return true;
    vec_push(eval->arena, &entry->specialisations, object);
    return true;
}

static Entry *find_entry(Eval *eval, EntryVec *entries, Name name, Span at)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->data[i].name == name) return &entries->data[i];
    vec_push(eval->arena, entries, ((Entry){.name = name, .span = at}));
    return &vec_last(entries);
}

static bool add_export(Eval *eval, EntryVec *entries, Name name, Object *object, Span at)
{
    if (object->kind == OBJECT_NONE) return true; /* of several, one that failed */
    if (object->kind == OBJECT_SPECIALISATION)
        return add_specialisation(eval, find_entry(eval, entries, name, at), object, at);
    if (object_is_sequence(object)) {
        for (uint32_t i = 0; i < object->as.list.count; i++)
            if (!add_export(eval, entries, name, object->as.list.items[i], at)) return false;
        return true;
    }
    if (!is_kernel(object)) {
        FAIL(eval, not_a_kernel, at, name, object_repr(eval, object));
        return false;
    }
    Object *specialisation = specialise(eval, object, &(Arguments){.at = at});
    return specialisation != NULL &&
           add_specialisation(eval, find_entry(eval, entries, name, at), specialisation, at);
}

static bool has_star(const Nodes *nodes)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        if (nodes->items[i]->kind == NODE_Starred) return true;
    return false;
}

/* `name = Class(...)`: exported where no key is open. */
static bool collect_name(Program *program, uint32_t index, const Node *target, const Node *from,
                         EntryVec *entries)
{
    Eval *eval = &program->eval;
    if (from->kind != NODE_Call || !node_makes_kernel(program, from, index)) return true;
    bool failed = false, open = false;
    Object *value = eval_or_skip(program, index + 1, target, &failed);
    if (value == NULL) return !failed;
    if (is_kernel(value) && (!kernel_has_open_key(eval, value, &open) || open)) return open;
    if (!is_kernel(value) && value->kind != OBJECT_SPECIALISATION && !object_is_sequence(value))
        return true;
    return add_export(eval, entries, NODE_AS(Name, target)->id, value,
                      program->unit->tree->tree->body.items[index]->span);
}

/* `a, b = A(), B()` names one each; `a, b = ...` what comes out of one expression. */
static bool collect_target(Program *program, uint32_t index, const Node *target, const Node *from,
                           EntryVec *entries)
{
    if (target->kind == NODE_Starred) target = NODE_AS(Starred, target)->value;
    if (target->kind == NODE_Name) return collect_name(program, index, target, from, entries);
    const Nodes *targets = parts_of(target), *values = parts_of(from);
    if (targets == NULL || targets->count == 0) return true;
    if (values != NULL &&
        (values->count != targets->count || has_star(targets) || has_star(values)))
        return true;
    bool good = true;
    for (uint32_t i = 0; i < targets->count; i++)
        good &= collect_target(program, index, targets->items[i],
                               values != NULL ? values->items[i] : from, entries);
    return good;
}

static bool collect_assign(Program *program, uint32_t index, EntryVec *entries)
{
    const Node *node = program->unit->tree->tree->body.items[index];
    bool good = true;
    if (node->kind == NODE_AnnAssign) {
        const NodeAnnAssign *assign = NODE_AS(AnnAssign, node);
        return assign->value == NULL ||
               collect_target(program, index, assign->target, assign->value, entries);
    }
    const NodeAssign *assign = NODE_AS(Assign, node);
    for (uint32_t i = 0; i < assign->targets.count; i++)
        good &= collect_target(program, index, assign->targets.items[i], assign->value, entries);
    return good;
}

/* Of `name.compile(...)` the name; else NULL. */
static const Node *compiled_name(Program *program, uint32_t index, const Node *call)
{
    if (call->kind != NODE_Call || NODE_AS(Call, call)->func->kind != NODE_Attribute) return NULL;
    const NodeAttribute *attribute = NODE_AS(Attribute, NODE_AS(Call, call)->func);
    const bool is_one = names_compile(attribute->attr) && attribute->value->kind == NODE_Name &&
                        node_makes_kernel(program, call, index);
    return is_one ? attribute->value : NULL;
}

static bool collect_compile(Program *program, uint32_t index, const Node *name, EntryVec *entries)
{
    const Node *node = program->unit->tree->tree->body.items[index];
    bool failed = false;
    Object *value = eval_or_skip(program, index, NODE_AS(Expr, node)->value, &failed);
    if (value == NULL) return !failed;
    return add_export(&program->eval, entries, NODE_AS(Name, name)->id, value, node->span);
}

/* A decorated function that became a kernel: exported where no key is open. */
static bool collect_function(Program *program, uint32_t index, EntryVec *entries)
{
    Eval *eval = &program->eval;
    const Node *node = program->unit->tree->tree->body.items[index];
    const NodeFunctionDef *function = NODE_AS(FunctionDef, node);
    bool found, open = false;
    if (function->decorator_list.count == 0) return true;
    eval->quiet++;
    Object *value = scope_lookup(eval, statement_scope(eval, program->unit, index + 1),
                                 function->name, node->span, &found);
    eval->quiet--;
    if (value == NULL || !is_kernel(value)) return true;
    if (!kernel_has_open_key(eval, value, &open) || open) return open;
    return add_export(eval, entries, function->name, value, node->span);
}

/* ---- what other statements make: loops, branches, calls of functions ---- */

static bool is_same_kernel(const Object *object, const Object *instance)
{
    return object != NULL && is_kernel(object) && object->as.instance == instance->as.instance;
}

/* The name of the module for a kernel: one that something needed already. NULL: it has none. */
static Name own_name(const Program *program, const MadeVec *made, const Object *instance)
{
    for (size_t i = 0; i < made->count; i++)
        if (made->data[i].name != NULL && is_same_kernel(made->data[i].object, instance))
            return made->data[i].name;
    const Unit *unit = program->unit;
    for (uint32_t i = 0; i < unit->tree->tree->body.count; i++) {
        if (unit->thunks[i].state != THUNK_DONE) continue;
        const BindingVec *bound = &unit->thunks[i].scope->bindings.list;
        for (size_t j = 0; j < bound->count; j++)
            if (is_same_kernel(bound->data[j]->object, instance)) return bound->data[j]->name;
    }
    return NULL;
}

static bool add_made(Program *program, const MadeVec *all, const Made *made, EntryVec *entries)
{
    Eval *eval = &program->eval;
    bool open = false;
    if (is_kernel(made->object) && (!kernel_has_open_key(eval, made->object, &open) || open))
        return open;
    Name name = made->name;
    if (name == NULL) name = own_name(program, all, made->object->as.specialisation->instance);
    if (name != NULL) return add_export(eval, entries, name, made->object, made->span);
    FAIL(eval, export_unnamed, made->span);
    return false;
}

/* Runs it, in silence where it needs a host module. False: it did not run. */
static bool run_or_skip(Program *program, uint32_t index, Makes makes, bool *failed)
{
    Eval *eval = &program->eval;
    const Node *node = program->unit->tree->tree->body.items[index];
    const Name name = intern_text(eval->session->names, "a statement");
    eval->steps_left = UNROLL_LIMIT;
    eval->needed_missing = NULL;
    eval->quiet++;
    bool done = thunk_force(eval, program->unit, index, name, node->span);
    eval->quiet--;
    if (!done && eval->needed_missing == NULL && makes == MAKES_COMPILED) {
        eval->steps_left = UNROLL_LIMIT;
        done = thunk_force(eval, program->unit, index, name, node->span);
        *failed = !done;
    } else if (!done) {
        diag_report(eval->session->diags, DIAG_statement_skipped, node->span,
                    eval->needed_missing != NULL ? "it needs a host module" : "it fails");
    }
    return done;
}

static bool collect_made(Program *program, uint32_t index, Makes least, EntryVec *entries)
{
    const Makes makes = statement_makes(program, index);
    bool failed = false;
    if (makes < least || !run_or_skip(program, index, makes, &failed)) return !failed;
    const MadeVec *made = &program->unit->thunks[index].made;
    bool good = true;
    for (size_t i = 0; i < made->count; i++)
        good &= add_made(program, made, &made->data[i], entries);
    return good;
}

static bool collect_statement(Program *program, uint32_t index, EntryVec *entries)
{
    const Node *node = program->unit->tree->tree->body.items[index];
    const Node *name;
    switch ((int)node->kind) {
    case NODE_FunctionDef: return collect_function(program, index, entries);
    case NODE_Expr:
        name = compiled_name(program, index, NODE_AS(Expr, node)->value);
        return name != NULL ? collect_compile(program, index, name, entries)
                            : collect_made(program, index, MAKES_COMPILED, entries);
    case NODE_Assign:
    case NODE_AnnAssign:
        return collect_assign(program, index, entries) &&
               collect_made(program, index, MAKES_COMPILED, entries);
    default: return collect_made(program, index, MAKES_KERNELS, entries);
    }
}

/* The module's own assertions, where they can be evaluated when it is compiled: behind one that
 * does not hold nothing else is looked at. */
static bool assertions_hold(Program *program)
{
    Eval *eval = &program->eval;
    const Name name = intern_text(eval->session->names, "an assertion");
    const Nodes body = program->unit->tree->tree->body;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_Assert) continue;
        Attempt attempt = {.quiet = eval->quiet + 1, .frame = eval->frame, .outer = eval->attempt};
        eval->attempt = &attempt;
        eval->quiet++;
        const bool holds = thunk_force(eval, program->unit, i, name, body.items[i]->span);
        eval->quiet--;
        eval->attempt = attempt.outer;
        if (holds || !attempt.failed || attempt.fault.code != DIAG_assertion) continue;
        return thunk_force(eval, program->unit, i, name, body.items[i]->span);
    }
    return true;
}

static bool collect_module(Program *program, EntryVec *entries)
{
    bool good = assertions_hold(program);
    if (!good) return false;
    for (uint32_t i = 0; i < program->unit->tree->tree->body.count; i++)
        good &= collect_statement(program, i, entries);
    return good;
}

/* Where the module has a compiled kernel by the name, what it was compiled of: a line asks for it
 * with other keys. */
static void see_kernel(Program *program, Name name, Scope *scope)
{
    bool found;
    Eval *eval = &program->eval;
    eval->quiet++;
    const Object *value = scope_lookup(eval, program->unit->scope, name, (Span){0}, &found);
    eval->quiet--;
    if (value != NULL && value->kind == OBJECT_SPECIALISATION)
        bindings_make(eval, &scope->bindings, name)->object = value->as.specialisation->instance;
}

/* What the expression of an export sees beside the module: the kernels that are exported already,
 * and what stands for tensors in lines that libtile writes. */
static Scope *text_scope(Program *program, const char *text, const EntryVec *known)
{
    Eval *eval = &program->eval;
    Interner *names = eval->session->names;
    Scope *scope = scope_new(eval, SCOPE_TOP, program->unit->scope, program->unit);
    line_modules_bind(program, text, &scope->bindings);
    for (size_t i = 0; i < known->count; i++)
        if (known->data[i].instance != NULL)
            bindings_make(eval, &scope->bindings, known->data[i].name)->object =
                known->data[i].instance;
    if (strstr(text, ".compile(") != NULL)
        see_kernel(program, intern(names, text, strcspn(text, " =")), scope);
    return scope;
}

/* "NAME = EXPR" of the command line. */
static bool collect_text(Program *program, const char *text, const EntryVec *known,
                         EntryVec *entries)
{
    Eval *eval = &program->eval;
    const Source *source = source_from_text(eval->session, "<command line>", text, strlen(text));
    size_t errors = diag_error_count(eval->session->diags);
    const Module *module = parse_source(eval->session, source);
    if (diag_error_count(eval->session->diags) != errors) return false;
    Nodes body = module->tree->body;
    const Node *node = body.count == 1 && body.items[0]->kind == NODE_Assign ? body.items[0] : NULL;
    const Node *target = node != NULL && NODE_AS(Assign, node)->targets.count == 1
                             ? NODE_AS(Assign, node)->targets.items[0]
                             : NULL;
    if (target == NULL || target->kind != NODE_Name) {
        Span all = {source, 0, (uint32_t)source->length};
        FAIL(eval, export_form, body.count > 0 ? body.items[0]->span : all);
        return false;
    }
    Object *value = eval_in(eval, text_scope(program, text, known), NODE_AS(Assign, node)->value);
    return value != NULL && add_export(eval, entries, NODE_AS(Name, target)->id, value, node->span);
}

/* ---- staging what was collected ---- */

enum { KEY_LETTERS = 40 /* of a key in a symbol */ };

/* As people write it, with letters for what a symbol cannot hold: 0p5 for 0.5, m3 for -3. */
static void append_key(Buf *out, const Parameter *parameter)
{
    Buf text = {0};
    if (parameter->text != NULL)
        buf_text(&text, parameter->text);
    else if (parameter->is_dtype)
        buf_printf(&text, "%lld", (long long)parameter->key);
    else
        key_print(parameter, &text);
    buf_printf(out, "__%s_", parameter->name);
    for (size_t i = 0; i < text.length && i < KEY_LETTERS; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (isalnum(c) || c == '_')
            buf_char(out, (char)c);
        else if (c == '.' || c == '-')
            buf_char(out, c == '.' ? 'p' : 'm');
        else if (c != '+' || parameter->text != NULL)
            buf_printf(out, "x%02x", c);
    }
    buf_free(&text);
}

/* The symbol in the object: the export's name and the keys, readable and different for each. */
static Name kernel_symbol(Eval *eval, const Kernel *kernel, Map *taken)
{
    Buf buf = {0};
    buf_text(&buf, kernel->export_name);
    bool keyed = false;
    for (int i = 0; i < kernel->parameter_count; i++) {
        if (kernel->parameters[i].is_key) append_key(&buf, &kernel->parameters[i]);
        keyed |= kernel->parameters[i].is_key;
    }
    if (!keyed) buf_text(&buf, "__0");
    Name symbol = intern(eval->session->names, buf.data, buf.length);
    for (int i = 1; map_has(taken, symbol); i++)
        symbol = intern_printf(eval->session->names, "%s_%d", buf.data, i);
    buf_free(&buf);
    map_set(eval->arena, taken, symbol, eval);
    return symbol;
}

/* Whether calls of one can be calls of the other: types may differ where keys say so. */
static bool same_interface(const Kernel *a, const Kernel *b)
{
    bool same = a->parameter_count == b->parameter_count && a->tensor_count == b->tensor_count;
    for (int i = 0; same && i < a->parameter_count; i++) {
        const Parameter *left = &a->parameters[i], *right = &b->parameters[i];
        same = (left->name == right->name || left->is_workspace) && left->is_key == right->is_key &&
               left->is_dtype == right->is_dtype && !left->text == !right->text &&
               left->value->type->kind == right->value->type->kind &&
               (left->value->type->kind == TYPE_POINTER ||
                left->value->type->dtype == right->value->type->dtype);
    }
    return same;
}

static bool same_keys(const Kernel *a, const Kernel *b)
{
    for (int i = 0; i < a->parameter_count; i++)
        if (a->parameters[i].is_key && !kernel_key_is_fixed(a, i) &&
            !keys_equal(&a->parameters[i], &b->parameters[i]))
            return false;
    return true;
}

/* Whether there is something wrong with two of them. */
typedef const char *PairFault(const Kernel *a, const Kernel *b);

static const char *interface_fault(const Kernel *a, const Kernel *b)
{
    return same_interface(a, b) ? NULL : "take different arguments";
}

static const char *key_fault(const Kernel *a, const Kernel *b)
{
    return same_keys(a, b) ? "differ in a value alone that a call cannot give" : NULL;
}

static bool check_pairs(Eval *eval, const Entry *entry, const Export *export, PairFault *fault)
{
    for (int i = 1; i < export->specialisation_count; i++)
        for (int j = 0; j < i; j++) {
            const char *what = fault(export->specialisations[i], export->specialisations[j]);
            if (what == NULL) continue;
            Span at = entry->specialisations.data[i]->as.specialisation->at;
            FAIL(eval, export_twice, at, entry->name, what);
            diag_note(eval->session->diags, entry->specialisations.data[j]->as.specialisation->at,
                      "the other one is made here");
            return false;
        }
    return true;
}

/* A call must tell the specialisations of one export from each other. */
static bool check_export(Eval *eval, const Entry *entry, const Export *export)
{
    return check_pairs(eval, entry, export, interface_fault) &&
           check_pairs(eval, entry, export, key_fault);
}

/* Under `name`, which of a gradient is another one than the entry's. */
static bool stage_entry(Eval *eval, const Entry *entry, Name name, Map *taken, Export *out)
{
    *out = (Export){.name = name, .span = entry->span, .is_gradient = name != entry->name};
    out->specialisations = arena_new_array(eval->arena, Kernel *, entry->specialisations.count);
    bool good = true;
    for (size_t i = 0; i < entry->specialisations.count; i++) {
        Specialisation copy =
            unstaged_copy(eval, entry->specialisations.data[i]->as.specialisation);
        eval->steps_left = UNROLL_LIMIT;
        if (!stage_named(eval, &copy, name, out->is_gradient)) {
            good = false;
            continue;
        }
        for (Kernel *kernel = copy.kernel; kernel != NULL; kernel = kernel->next_configuration)
            kernel->name = kernel_symbol(eval, kernel, taken);
        out->specialisations[out->specialisation_count++] = copy.kernel;
    }
    kernels_tie_dtypes(out->specialisations, out->specialisation_count);
    for (int i = 0; i < out->specialisation_count; i++) {
        const Kernel *first = out->specialisations[i];
        for (Kernel *next = first->next_configuration; next; next = next->next_configuration)
            for (int j = 0; j < first->tensor_count; j++)
                next->tensors[j].dtype_key = first->tensors[j].dtype_key;
    }
    return good && check_export(eval, entry, out);
}

static Name gradient_name(Eval *eval, Name name)
{
    return intern_printf(eval->session->names, "%s_grad", name);
}

/* By the options, or as one of them was compiled. */
static bool wants_gradient(const Eval *eval, const Entry *entry)
{
    for (int i = 0; i < eval->options.gradient_count; i++)
        if (strcmp(eval->options.gradients[i], entry->name) == 0 ||
            strcmp(eval->options.gradients[i], "*") == 0)
            return true;
    for (size_t i = 0; i < entry->specialisations.count; i++)
        if (entry->specialisations.data[i]->as.specialisation->has_gradient) return true;
    return false;
}

/* What the texts ask for; of the module itself, where there are none, all that it exports. */
static bool collect(Program *program, const char *const *texts, int text_count, EntryVec *entries)
{
    if (text_count == 0) return collect_module(program, entries);
    bool good = true;
    for (int i = 0; i < text_count; i++) good &= collect_text(program, texts[i], entries, entries);
    return good;
}

/* A line behind all others sees what names are then. */
static void find_lacks(Program *program, ExportList *out)
{
    Eval *eval = &program->eval;
    bool is_name;
    const LineModules modules = line_modules_of(program);
    eval->quiet++;
    for (int i = 0; i < out->count; i++) {
        Export *export = &out->items[i];
        const Object *named =
            scope_lookup(eval, program->unit->scope, export->name, export->span, &is_name);
        /* Where such a name is something else, no line can make it the module's. */
        export->lacks_name = named == NULL || !is_kernel(named) || modules.are_hidden;
        export->lacks_language = !modules.are_there;
    }
    eval->quiet--;
}

bool program_export(Program *program, const char *const *texts, int text_count, ExportList *out)
{
    Eval *eval = &program->eval;
    EntryVec entries = {0};
    Map taken = {0};
    shadows_of_module(eval, program->unit);
    bool good = collect(program, texts, text_count, &entries);
    *out = (ExportList){.items = arena_new_array(eval->arena, Export, 2 * entries.count + 1)};
    for (size_t i = 0; i < entries.count; i++)
        good &= stage_entry(eval, &entries.data[i], entries.data[i].name, &taken,
                            &out->items[out->count++]);
    for (size_t i = 0; i < entries.count; i++)
        if (wants_gradient(eval, &entries.data[i]))
            good &= stage_entry(eval, &entries.data[i], gradient_name(eval, entries.data[i].name),
                                &taken, &out->items[out->count++]);
    if (good) find_lacks(program, out);
    return stage_result(eval->session, good, "evaluate");
}

/* The first specialisation of what goes by the name that the text begins with. */
static const Specialisation *find_model(Eval *eval, const EntryVec *entries, const char *text)
{
    Name name = intern(eval->session->names, text, strcspn(text, " ="));
    for (size_t i = 0; i < entries->count; i++)
        if (entries->data[i].name == name && entries->data[i].specialisations.count > 0)
            return entries->data[i].specialisations.data[0]->as.specialisation;
    return NULL;
}

bool program_export_wanted(Program *program, const char *const *texts, int text_count,
                           const char *wanted, ExportList *out)
{
    Eval *eval = &program->eval;
    EntryVec known = {0}, entries = {0};
    Map taken = {0};
    bool good = collect(program, texts, text_count, &known);
    eval->model = find_model(eval, &known, wanted);
    good = good && collect_text(program, wanted, &known, &entries);
    eval->model = NULL;
    *out = (ExportList){.items = arena_new_array(eval->arena, Export, entries.count + 1)};
    for (size_t i = 0; good && i < entries.count; i++)
        good = stage_entry(eval, &entries.data[i], entries.data[i].name, &taken,
                           &out->items[out->count++]);
    return stage_result(eval->session, good, "evaluate");
}

/* ---- what is no export ---- */

/* The value of a name of the module; NULL: `fault` says why not. */
static Object *try_name(Program *program, Name name, Span at, Fault *fault)
{
    bool found;
    Eval *eval = &program->eval;
    Attempt attempt = {.quiet = eval->quiet + 1, .frame = eval->frame, .outer = eval->attempt};
    eval->attempt = &attempt;
    eval->quiet++;
    eval->glances = true;
    Object *value = scope_lookup(eval, program->unit->scope, name, at, &found);
    eval->glances = false;
    eval->quiet--;
    eval->attempt = attempt.outer;
    *fault = attempt.fault;
    return value;
}

static const Nodes *makers_of(const Node *node)
{
    if (node->kind == NODE_FunctionDef) return &NODE_AS(FunctionDef, node)->decorator_list;
    return node->kind == NODE_ClassDef ? &NODE_AS(ClassDef, node)->bases : NULL;
}

bool program_report_unmade(Program *program)
{
    Eval *eval = &program->eval;
    const Nodes body = program->unit->tree->tree->body;
    const size_t errors = diag_error_count(eval->session->diags);
    for (uint32_t i = 0; i < body.count; i++) {
        const Node *node = body.items[i];
        const Nodes *makers = makers_of(node);
        Fault fault;
        bool found;
        if (makers == NULL || makers->count == 0) continue;
        const Name name = node->kind == NODE_FunctionDef ? NODE_AS(FunctionDef, node)->name
                                                         : NODE_AS(ClassDef, node)->name;
        const Object *value = try_name(program, name, node->span, &fault);
        if (value == NULL && fault.text != NULL)
            scope_lookup(eval, program->unit->scope, name, node->span, &found);
        else if (value != NULL && value->kind == OBJECT_MISSING)
            missing_needed(eval, value, NULL, makers->items[0]->span);
    }
    return diag_error_count(eval->session->diags) != errors;
}

/* Of an instance of a class of kernels, with keys that nothing gives a value. */
static bool tell_instance(Program *program, const Node *node)
{
    Eval *eval = &program->eval;
    const NodeAssign *assign = NODE_AS(Assign, node);
    if (assign->targets.count != 1 || assign->targets.items[0]->kind != NODE_Name) return false;
    const Name name = NODE_AS(Name, assign->targets.items[0])->id;
    Fault fault;
    bool open = false;
    Object *value = try_name(program, name, node->span, &fault);
    if (value == NULL || !is_kernel(value) || !kernel_has_open_key(eval, value, &open) || !open)
        return false;
    diag_note(eval->session->diags, node->span,
              "'%s' has parameters that are told when it is compiled, as in %s.compile(%s)", name,
              name, open_keys(eval, value));
    return true;
}

/* A class that could be one of kernels, but for its base. */
static bool tell_class(Program *program, const Node *node)
{
    const NodeClassDef *class = NODE_AS(ClassDef, node);
    for (uint32_t i = 0; i < class->body.count; i++) {
        const Node *method = class->body.items[i];
        if (method->kind != NODE_FunctionDef ||
            strcmp(NODE_AS(FunctionDef, method)->name, "__call__") != 0)
            continue;
        diag_note(program->eval.session->diags, node->span,
                  "'%s' can be called, but has no base whose instances are kernels", class->name);
        return true;
    }
    return false;
}

/* Of a function or class that something else was to make a kernel of. */
static bool tell_one(Program *program, const Node *node)
{
    Eval *eval = &program->eval;
    Diags *diags = eval->session->diags;
    const bool is_function = node->kind == NODE_FunctionDef;
    const Name name =
        is_function ? NODE_AS(FunctionDef, node)->name : NODE_AS(ClassDef, node)->name;
    Fault fault;
    if (makers_of(node)->count == 0) return !is_function && tell_class(program, node);
    const Object *value = try_name(program, name, node->span, &fault);
    if (value != NULL && value->kind == OBJECT_CLASS && class_is_kernel(value))
        diag_note(diags, node->span,
                  "'%s' is a class of kernels: bind one to a name, as in k = %s()", name, name);
    else if (value != NULL && is_kernel(value))
        diag_note(diags, node->span, "'%s' is a kernel that is compiled by %s.compile(...)", name,
                  name);
    else
        return false;
    return true;
}

/* Of a statement that compiles kernels, but not here and now. */
static bool tell_statement(Program *program, uint32_t index)
{
    const Node *node = program->unit->tree->tree->body.items[index];
    Diags *diags = program->eval.session->diags;
    if (statement_makes(program, index) != MAKES_COMPILED) return false;
    if (program->unit->thunks[index].state == THUNK_DONE)
        diag_note(diags, node->span,
                  "this compiles no kernel when the file is compiled: __name__ is '%s' then, as in "
                  "an import",
                  program->unit->name);
    else
        diag_note(diags, node->span,
                  "this is left out when the file is compiled: it needs a host "
                  "module");
    return true;
}

void program_tell_unexported(Program *program)
{
    enum { MOST = 4 };
    const Nodes body = program->unit->tree->tree->body;
    uint32_t told = 0;
    for (uint32_t i = 0; i < body.count && told < MOST; i++)
        if (body.items[i]->kind == NODE_Assign) told += tell_instance(program, body.items[i]);
    const bool has_instances = told > 0; /* of the classes, which then are not told of */
    for (uint32_t i = 0; i < body.count && told < MOST; i++)
        told += makers_of(body.items[i]) == NULL ? tell_statement(program, i)
                : !has_instances                 ? tell_one(program, body.items[i])
                                                 : 0;
}
