/* gradients.c: kernels that are staged for their gradients, and launched so. What text they are
 * made of asks core.differentiates(), and says the derivatives that its ops do not tell. */
#include "eval/export/export.h"

/* The same specialisation may be exported under another name, too; staging settles what its keys
 * leave open. */
Specialisation unstaged_copy(Eval *eval, const Specialisation *specialisation)
{
    Specialisation copy = *specialisation;
    copy.kernel = NULL;
    copy.keys = arena_new_array(eval->arena, Object *, copy.key_count + 1);
    for (int i = 0; i < copy.key_count; i++) copy.keys[i] = specialisation->keys[i];
    return copy;
}

bool stage_named(Eval *eval, Specialisation *specialisation, Name name, bool is_gradient)
{
    const bool before = eval->differentiates;
    eval->differentiates = is_gradient;
    const bool good = specialisation_stage(eval, specialisation, name, name);
    eval->differentiates = before;
    return good;
}

Specialisation *specialisation_differentiated(Eval *eval, Specialisation *specialisation)
{
    if (specialisation->gradient != NULL) return specialisation->gradient;
    Specialisation *copy = arena_new_of(eval->arena, Specialisation);
    *copy = unstaged_copy(eval, specialisation);
    const Name name = intern_printf(eval->session->names, "%s__run%zu",
                                    kernel_name(specialisation->instance), eval->kernels.count);
    if (!stage_named(eval, copy, name, true)) return NULL;
    specialisation->gradient = copy;
    return copy;
}

/* launch_gradient(kernel, positional, named, gradients, consume, each, retained). */
Object *core_launch_gradient(Eval *eval, const Bound *bound)
{
    Arguments arguments = {.at = bound->at};
    const Object *positional = bound->values[1];
    GradientLaunch gradient = {.arrays = iterate(eval, bound->values[3], bound->at),
                               .retained = ""};
    if (gradient.arrays == NULL || !object_is_sequence(positional) ||
        !take_named(eval, bound->values[2], &arguments) ||
        (!argument_absent(bound->values[4]) &&
         !object_truth(eval, bound->values[4], &gradient.consumes)) ||
        (!argument_absent(bound->values[5]) &&
         !object_truth(eval, bound->values[5], &gradient.each)))
        return NULL;
    if (!argument_absent(bound->values[6])) {
        if (bound->values[6]->kind != OBJECT_TEXT)
            return FAIL(eval, expected_kind, bound->at, "what is retained", "text",
                        object_repr(eval, bound->values[6]));
        gradient.retained = bound->values[6]->as.text.data;
    }
    for (uint32_t i = 0; i < positional->as.list.count; i++)
        vec_push(eval->arena, &arguments.positional, positional->as.list.items[i]);
    return launch_gradient(eval, bound->values[0], &arguments, &gradient);
}
