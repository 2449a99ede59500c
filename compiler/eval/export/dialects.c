/* dialects.c: what the compiler itself has to know of the dialects, which stdlib/_dialects.tile
 * says. */
#include "eval/export/export.h"

#include <string.h>

/* A dict of that module, or one without items. */
static const Object *dict_of(Eval *eval, Object *module, const char *name)
{
    bool found = false;
    const Object *dict = NULL;
    if (module != NULL && module->kind == OBJECT_MODULE)
        dict = unit_lookup(eval, module->as.unit, intern_text(eval->session->names, name),
                           UINT32_MAX, (Span){0}, &found);
    return dict != NULL && dict->kind == OBJECT_DICT ? dict : dict_new(eval);
}

void dialects_read(Eval *eval)
{
    Object *module = import_module(eval, intern_text(eval->session->names, "_dialects"), (Span){0});
    const Object *spelled = dict_of(eval, module, "SPELLINGS"),
                 *names = dict_of(eval, module, "TYPE_NAMES");
    for (size_t i = 0; i < spelled->as.dict.keys.count; i++)
        eval->spelled[spelled->as.dict.keys.data[i]->as.dtype] =
            spelled->as.dict.values.data[i]->as.text.data;
    for (size_t i = 0; i < names->as.dict.keys.count; i++) {
        const TypeName name = {names->as.dict.keys.data[i]->as.text.data,
                               names->as.dict.values.data[i]->as.dtype};
        vec_push(eval->arena, &eval->type_names, name);
    }
    eval->line_modules = dict_of(eval, module, "LINE_MODULES");
    eval->imported_as = dict_of(eval, module, "IMPORTED_AS");
    eval->dialects = dict_of(eval, module, "DIALECTS");
    eval->kernel_makers = dict_of(eval, module, "KERNEL_MAKERS");
}

/* What the program has by that name, in silence. */
static const Object *own_name(Program *program, const Object *name, bool *found)
{
    Eval *eval = &program->eval;
    eval->quiet++;
    const Object *object =
        scope_lookup(eval, program->unit->scope,
                     intern_text(eval->session->names, name->as.text.data), (Span){0}, found);
    eval->quiet--;
    return object;
}

void line_modules_bind(Program *program, const char *text, Bindings *bindings)
{
    Eval *eval = &program->eval;
    Interner *names = eval->session->names;
    const Object *modules = eval->line_modules;
    for (size_t i = 0; i < modules->as.dict.keys.count; i++) {
        const Object *name = modules->as.dict.keys.data[i];
        bool found = strstr(text, arena_printf(eval->arena, "%s.", name->as.text.data)) == NULL;
        if (!found) own_name(program, name, &found);
        if (found) continue;
        eval->quiet++;
        bindings_make(eval, bindings, intern_text(names, name->as.text.data))->object =
            import_module(eval, intern_text(names, modules->as.dict.values.data[i]->as.text.data),
                          (Span){0});
        eval->quiet--;
    }
}

LineModules line_modules_of(Program *program)
{
    const Object *modules = program->eval.line_modules;
    LineModules all = {.are_there = true};
    for (size_t i = 0; i < modules->as.dict.keys.count; i++) {
        bool found;
        const Object *module = own_name(program, modules->as.dict.keys.data[i], &found);
        const bool is_it =
            module != NULL && module->kind == OBJECT_MODULE &&
            strcmp(module->as.unit->name, modules->as.dict.values.data[i]->as.text.data) == 0;
        all.are_there = all.are_there && is_it;
        all.are_hidden = all.are_hidden || (found && !is_it);
    }
    return all;
}
