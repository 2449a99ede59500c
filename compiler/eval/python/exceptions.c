/* exceptions.c: Python's own exceptions, and the errors of messages as such. */
#include "eval/python/python.h"

#include <string.h>

/* What Python calls the errors that a program may count on. */
static const struct {
    DiagCode code;
    const char *exception;
} EXCEPTIONS[] = {
    {DIAG_unknown_name, "NameError"},
    {DIAG_maybe_unbound, "UnboundLocalError"},
    {DIAG_host_module, "ImportError"},
    {DIAG_no_module, "ImportError"},
    {DIAG_unknown_import, "ImportError"},
    {DIAG_unknown_attribute, "AttributeError"},
    {DIAG_missing_argument, "TypeError"},
    {DIAG_unknown_parameter, "TypeError"},
    {DIAG_many_arguments, "TypeError"},
    {DIAG_argument_twice, "TypeError"},
    {DIAG_no_constructor, "TypeError"},
    {DIAG_conversion_value, "TypeError"},
    {DIAG_call_refused, "TypeError"},
    {DIAG_argument_extent, "TypeError"},
    {DIAG_extents_disagree, "TypeError"},
    {DIAG_extent_range, "TypeError"},
    {DIAG_argument_dtype, "TypeError"},
    {DIAG_argument_rank, "TypeError"},
    {DIAG_argument_strides, "TypeError"},
    {DIAG_compiled_for, "TypeError"},
    {DIAG_key_given, "TypeError"},
    {DIAG_unknown_told, "TypeError"},
    {DIAG_configuration_name, "TypeError"},
    {DIAG_configurations_differ, "TypeError"},
    {DIAG_member_count, "TypeError"},
    {DIAG_member_arguments, "TypeError"},
    {DIAG_not_callable, "TypeError"},
    {DIAG_number_text, "ValueError"},
    {DIAG_value_range, "ValueError"},
    {DIAG_shift_count, "ValueError"},
    {DIAG_nan_to_integer, "ValueError"},
    {DIAG_power_modulus, "ValueError"},
    {DIAG_number_base, "ValueError"},
    {DIAG_text_width, "ValueError"},
    {DIAG_one_character, "ValueError"},
    {DIAG_character_number, "ValueError"},
    {DIAG_tab_size, "ValueError"},
    {DIAG_negative_length, "ValueError"},
    {DIAG_empty_argument, "ValueError"},
    {DIAG_not_found, "ValueError"},
    {DIAG_bad_format, "ValueError"},
    {DIAG_format_code, "ValueError"},
    {DIAG_format_part, "ValueError"},
    {DIAG_format_separator, "ValueError"},
    {DIAG_format_nesting, "ValueError"},
    {DIAG_format_brace, "ValueError"},
    {DIAG_percent_ends, "ValueError"},
    {DIAG_percent_width, "ValueError"},
    {DIAG_percent_letter, "ValueError"},
    {DIAG_print_values, "ValueError"},
    {DIAG_print_many, "ValueError"},
    {DIAG_print_conversion, "ValueError"},
    {DIAG_slice_size, "ValueError"},
    {DIAG_zip_lengths, "ValueError"},
    {DIAG_zero_step, "ValueError"},
    {DIAG_wide_integer, "ValueError"},
    {DIAG_generator_running, "ValueError"},
    {DIAG_pairs_needed, "ValueError"},
    {DIAG_changed_meanwhile, "ValueError"},
    {DIAG_unknown_choice, "ValueError"},
    {DIAG_count_range, "ValueError"},
    {DIAG_tile_shape, "ValueError"},
    {DIAG_no_dimension, "ValueError"},
    {DIAG_misplaced, "RuntimeError"},
    {DIAG_result_length, "MemoryError"},
    {DIAG_too_many_generators, "RuntimeError"},
    {DIAG_match_args, "TypeError"},
    {DIAG_immutable, "AttributeError"},
    {DIAG_not_numbers, "TypeError"},
    {DIAG_bad_operands, "TypeError"},
    {DIAG_int_overflow, "OverflowError"},
    {DIAG_zero_division, "ZeroDivisionError"},
    {DIAG_index_range, "IndexError"},
    {DIAG_no_key, "KeyError"},
    {DIAG_bad_index, "TypeError"},
    {DIAG_recursion, "RecursionError"},
    {DIAG_assertion, "AssertionError"},
    {DIAG_static_assertion, "AssertionError"},
    {DIAG_run_mismatch, "AssertionError"},
    {DIAG_unpack, "ValueError"},
    {DIAG_not_iterable, "TypeError"},
    {DIAG_expected_kind, "TypeError"},
    {DIAG_stop_iteration, "StopIteration"},
    {DIAG_changed_size, "RuntimeError"},
    {DIAG_host_only, "ValueError"},
    {DIAG_host_loop, "ValueError"},
    {DIAG_host_choice, "ValueError"},
    {DIAG_no_launch, "ValueError"},
    {DIAG_extents_differ, "ValueError"},
    {DIAG_result_under_control, "ValueError"},
    {DIAG_unknown_extent, "ValueError"},
    {DIAG_untold_extent, "ValueError"},
    {DIAG_too_many_workspaces, "ValueError"},
    {DIAG_list_chosen, "ValueError"},
    {DIAG_parallel_return, "ValueError"},
    {DIAG_loop_unsettled, "ValueError"},
    {DIAG_parallel_extent, "ValueError"},
    {DIAG_reducer_use, "ValueError"},
    {DIAG_unnamed_tile, "ValueError"},
    {DIAG_configurations_failed, "ValueError"},
    {DIAG_no_dimensions, "ValueError"},
    {DIAG_tensor_size, "ValueError"},
    {DIAG_cannot_combine, "ValueError"},
    {DIAG_squeezed_extent, "ValueError"},
    {DIAG_bad_dims, "ValueError"},
    {DIAG_empty_slice, "ValueError"},
    {DIAG_slice_step, "ValueError"},
    {DIAG_slice_start, "ValueError"},
    {DIAG_no_part, "ValueError"},
    {DIAG_not_contiguous, "ValueError"},
    {DIAG_remote_part, "ValueError"},
    {DIAG_local_array, "ValueError"},
    {DIAG_block_threads, "ValueError"},
    {DIAG_grid_rank, "ValueError"},
    {DIAG_cluster_size, "ValueError"},
    {DIAG_cluster_grid, "ValueError"},
    {DIAG_layout_shape, "ValueError"},
    {DIAG_layout_order, "ValueError"},
    {DIAG_barrier_threads, "ValueError"},
    {DIAG_thread_group, "ValueError"},
    {DIAG_tile_threads, "ValueError"},
    {DIAG_parallel_iterations, "ValueError"},
};

static Object *exception_with(Eval *eval, const char *name, Object *argument)
{
    bool found;
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    if (class == NULL || class->kind != OBJECT_CLASS) return NULL;
    return eval->ops->call_simple(eval, class, 1, &argument, eval->at);
}

Object *exception_new(Eval *eval, const char *name, const char *text)
{
    return exception_with(eval, name, object_text(eval, text, strlen(text)));
}

/* What a test says of itself: tile.testing has the class. */
static bool is_skip(Eval *eval, const Object *exception)
{
    return exception->kind == OBJECT_INSTANCE &&
           class_find(exception->as.instance->class,
                      intern_text(eval->session->names, "__test_skipped__")) != NULL;
}

static const char *exception_text(Eval *eval, Object *exception)
{
    if (exception->kind != OBJECT_INSTANCE) return object_repr(eval, exception);
    const char *name = exception->as.instance->class->as.class->name;
    Buf buf = {0};
    object_print(eval, exception, TEXT_STR, &buf);
    const char *text = buf.length == 0 ? name
                       : is_skip(eval, exception)
                           ? arena_printf(eval->arena, "%s", buf.data)
                           : arena_printf(eval->arena, "%s: %s", name, buf.data);
    buf_free(&buf);
    return text;
}

void raise_object(Eval *eval, Object *exception, Span at)
{
    const char *text = exception_text(eval, exception);
    eval->raised = exception;
    if (is_skip(eval, exception))
        FAIL(eval, test_skipped, at, text);
    else
        FAIL(eval, raised, at, text);
    eval->raised = NULL;
}

void *raise_python(Eval *eval, const char *name, const char *text, Span at)
{
    Object *exception = exception_new(eval, name, text);
    if (exception != NULL) raise_object(eval, exception, at);
    return NULL;
}

static void hint_keys(Eval *eval, const Object *dict)
{
    enum { MOST = 16 };
    const size_t count = dict->as.dict.keys.count;
    Buf text = {0};
    for (size_t i = 0; i < count && i < MOST; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", object_repr(eval, dict->as.dict.keys.data[i]));
    if (count > MOST) buf_printf(&text, " and %zu more", count - MOST);
    if (count == 0)
        diag_hint(eval->session->diags, "the dict is empty");
    else
        diag_hint(eval->session->diags, "the keys are %s", text.data);
    buf_free(&text);
}

/* KeyError's argument is the key itself. */
void *raise_no_key(Eval *eval, const Object *dict, Object *key, Span at)
{
    eval->raised = exception_with(eval, "KeyError", key);
    FAIL(eval, no_key, at, object_repr(eval, key));
    if (eval->quiet == 0) hint_keys(eval, dict);
    eval->raised = NULL;
    return NULL;
}

Object *fault_exception(Eval *eval, Fault *fault)
{
    if (fault->exception != NULL) return fault->exception;
    for (size_t i = 0; i < sizeof EXCEPTIONS / sizeof *EXCEPTIONS; i++)
        if (EXCEPTIONS[i].code == fault->code)
            return fault->exception = exception_new(eval, EXCEPTIONS[i].exception, fault->text);
    return NULL;
}

/* It was not caught: the next `try` outside hears of it, else the user. */
Flow fault_pass_on(Eval *eval, const Fault *fault)
{
    Attempt *outer = eval->attempt;
    if (outer != NULL && outer->quiet == eval->quiet) {
        outer->failed = true;
        outer->fault = *fault;
    }
    if (report_begin(eval))
        diag_report_text(eval->session->diags, fault->code, fault->at,
                         arena_printf(eval->session->arena, "%s", fault->text));
    report_end(eval);
    return FLOW_ERROR;
}

bool attempt_raised(Eval *eval, Attempt *attempt, const char *name)
{
    bool found;
    if (!attempt->failed) return false;
    Object *exception = fault_exception(eval, &attempt->fault);
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    if (exception != NULL && class != NULL && exception->kind == OBJECT_INSTANCE &&
        class_derives(exception->as.instance->class, class))
        return true;
    fault_pass_on(eval, &attempt->fault);
    return false;
}
