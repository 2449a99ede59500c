/* program.c: a program: made of a source, and run statement by statement. */
#include "eval/export/export.h"

#include <string.h>

/* ---- making ---- */

static Object *new_single(Eval *eval, ObjectKind kind, int64_t value)
{
    Object *object = object_new(eval, kind);
    object->as.integer = value;
    return object;
}

static void make_singles(Eval *eval)
{
    eval->none = new_single(eval, OBJECT_NONE, 0);
    eval->yes = new_single(eval, OBJECT_BOOL, 1);
    eval->no = new_single(eval, OBJECT_BOOL, 0);
    eval->ellipsis = new_single(eval, OBJECT_ELLIPSIS, 0);
    eval->poison = new_single(eval, OBJECT_POISON, 0);
}

/* Python's own names: those of C, then those that the library's prelude defines. */
static bool make_builtins(Eval *eval)
{
    Scope *own = scope_new(eval, SCOPE_BUILTINS, NULL, NULL);
    builtins_bind(eval, "builtins", &own->bindings);
    eval->builtins = own;
    Name name = intern_text(eval->session->names, "prelude");
    Object *prelude = import_module(eval, name, (Span){0});
    if (prelude != NULL && prelude->kind != OBJECT_MODULE)
        diag_report(eval->session->diags, DIAG_cannot_read, (Span){0}, eval->options.stdlib_folder,
                    "there is no standard library: no prelude.tile");
    if (prelude == NULL || prelude->kind != OBJECT_MODULE) return false;
    eval->builtins = prelude->as.unit->scope;
    bool found;
    eval->root_class = scope_lookup(eval, eval->builtins,
                                    intern_text(eval->session->names, "object"), (Span){0}, &found);
    dialects_read(eval);
    return true;
}

/* The table of operations, and the builtins. */
static void open_rooms(Eval *eval)
{
    Operations *operations = arena_new_of(eval->arena, Operations);
    python_offer(eval, operations);
    staging_offer(eval, operations);
    surface_offer(eval, operations);
    export_offer(eval, operations);
    eval->ops = operations;
}

static const char *folder_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? "."
                         : arena_copy_text(arena, path, (size_t)(slash - path) + (slash == path));
}

static Name stem_of(Interner *names, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    return intern(names, base, dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base));
}

typedef struct Mention {
    Name name;
    Nearest nearest;
    bool found;
} Mention;

static void mention_name(void *context, Name name)
{
    Mention *mention = context;
    mention->found |= name == mention->name;
    nearest_try(&mention->nearest, name);
}

static void find_mention(void *context, const Node *node)
{
    if (node->kind == NODE_Name) mention_name(context, NODE_AS(Name, node)->id);
    node_visit_children(node, find_mention, context);
}

/* A name that the module neither binds nor reads would be defined for nothing. */
static void check_mentioned(Program *program, Name name)
{
    Mention mention = {name, nearest_to(name), false};
    const Nodes body = program->unit->tree->tree->body;
    for (uint32_t i = 0; i < body.count; i++) {
        names_bound(&program->eval, body.items[i], mention_name, &mention);
        find_mention(&mention, body.items[i]);
    }
    if (mention.found) return;
    Diags *diags = program->eval.session->diags;
    diag_report(diags, DIAG_unknown_define, (Span){0}, name, program->unit->tree->source->path);
    diag_hint_nearest(diags, &mention.nearest);
}

/* "NAME=VALUE", VALUE an expression without the module's names; "NAME" alone is True. */
static void define_name(Program *program, const char *text)
{
    Eval *eval = &program->eval;
    if (strchr(text, '=') == NULL) text = arena_printf(eval->arena, "%s=True", text);
    const Source *source = source_from_text(eval->session, "<command line>", text, strlen(text));
    size_t errors = diag_error_count(eval->session->diags);
    Nodes body = parse_source(eval->session, source)->tree->body;
    if (diag_error_count(eval->session->diags) != errors) return;
    const NodeAssign *assign = body.count == 1 && body.items[0]->kind == NODE_Assign
                                   ? NODE_AS(Assign, body.items[0])
                                   : NULL;
    if (assign == NULL || assign->targets.count != 1 ||
        assign->targets.items[0]->kind != NODE_Name) {
        diag_report(eval->session->diags, DIAG_bad_define, (Span){0}, text);
        return;
    }
    Scope *scope = scope_new(eval, SCOPE_TOP, eval->builtins, program->unit);
    Object *value = eval_in(eval, scope, assign->value);
    Name name = NODE_AS(Name, assign->targets.items[0])->id;
    if (value == NULL) return;
    map_set(eval->arena, &program->unit->defined, name, value);
    check_mentioned(program, name);
}

Program *program_new(Session *session, const Source *source, const EvalOptions *options)
{
    Arena *arena = arena_new();
    Program *program = arena_new_of(arena, Program);
    Eval *eval = &program->eval;
    size_t errors = diag_error_count(session->diags);
    *eval = (Eval){.session = session,
                   .arena = arena,
                   .options = *options,
                   .host = options->host,
                   .folder = folder_of(arena, source->path)};
    open_rooms(eval);
    eval_begin_work(eval);
    make_singles(eval);
    if (options->observes) {
        eval->observed = arena_new_of(arena, Map);
        eval->observed_source = source;
    }
    if (make_builtins(eval))
        program->unit = unit_new(eval, stem_of(session->names, source->path), source, false);
    for (int i = 0; program->unit != NULL && i < options->define_count; i++)
        define_name(program, options->defines[i]);
    if (program->unit != NULL && diag_error_count(session->diags) == errors) return program;
    program_free(program);
    return NULL;
}

void program_free(Program *program)
{
    if (program == NULL) return;
    generators_abandon(&program->eval);
    for (size_t i = 0; i < program->eval.kernels.count; i++)
        kernel_free(program->eval.kernels.data[i]);
    arena_free(program->eval.arena);
}

size_t program_bytes(const Program *program)
{
    size_t bytes = arena_bytes(program->eval.arena);
    for (size_t i = 0; i < program->eval.kernels.count; i++) {
        const Kernel *kernel = program->eval.kernels.data[i];
        bytes += arena_bytes(kernel->arena) + arena_bytes(kernel->ops);
    }
    return bytes;
}

int program_input_count(const Program *program)
{
    return (int)program->eval.inputs.count;
}

const Source *program_input(const Program *program, int index)
{
    return program->eval.inputs.data[index];
}

Object *eval_in(Eval *eval, Scope *scope, const Node *node)
{
    Frame frame = {.scope = scope, .caller = eval->frame};
    Scope *running = eval->running;
    eval->frame = &frame;
    if (scope->kind == SCOPE_STATEMENT) eval->running = scope;
    eval_move(eval, node->span);
    eval->steps_left = UNROLL_LIMIT;
    Object *object = eval_expr(eval, node);
    eval->frame = frame.caller;
    eval->running = running;
    return object;
}

/* ---- running ---- */

static bool run_statements(Eval *eval, Scope *scope, Nodes body)
{
    Frame frame = {.scope = scope};
    eval->frame = &frame;
    Flow flow = eval_block(eval, body);
    eval->frame = NULL;
    return stage_result(eval->session, flow != FLOW_ERROR || eval->has_ended, "run");
}

static Scope *text_scope(Eval *eval, Unit *unit)
{
    Scope *scope = scope_new(eval, SCOPE_TOP, unit->scope, unit);
    scope->host_names = true;
    return unit->statements = scope;
}

static bool run_text(Eval *eval, Scope *scope, const char *statements)
{
    const Source *source =
        source_from_text(eval->session, "<statements>", statements, strlen(statements));
    size_t errors = diag_error_count(eval->session->diags);
    const Module *module = parse_source(eval->session, source);
    return diag_error_count(eval->session->diags) == errors &&
           run_statements(eval, scope, module->tree->body);
}

bool program_run(Program *program, const char *statements)
{
    Eval *eval = &program->eval;
    Unit *unit = program->unit;
    Name name = intern_text(eval->session->names, "__name__");
    if (statements == NULL) {
        unit->is_eager = true;
        bindings_make(eval, &unit->scope->bindings, name)->object =
            object_text(eval, "__main__", strlen("__main__"));
        return run_statements(eval, unit->scope, unit->tree->tree->body);
    }
    return run_text(eval, text_scope(eval, unit), statements);
}

bool program_continue(Program *program, const char *statements)
{
    Eval *eval = &program->eval;
    Scope *scope = program->unit->statements;
    eval_begin_work(eval);
    return run_text(eval, scope != NULL ? scope : text_scope(eval, program->unit), statements);
}
