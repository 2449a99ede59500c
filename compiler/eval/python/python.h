/* python.h: the language, a section a file. It knows no IR: where a run-time value takes part, or a
 * kernel, it asks by the operations of values/operations.def. */
#ifndef TILEC_EVAL_PYTHON_H
#define TILEC_EVAL_PYTHON_H

#include "eval/text/text.h"
#include "eval/values/values.h"

#define BUILTIN(module, name, signature, handler) BuiltinHandler handler;
#include "eval/python/builtins.def"
#undef BUILTIN

/* Enters what this room has of operations.def, and its builtins. */
void python_offer(Eval *eval, Operations *operations);

/* ---- builtins.c ---- */

/* kind: a type, or a tuple of kinds. False: reported. */
bool object_is_instance(Eval *eval, const Object *object, const Object *kind, bool *out);
Object *builtin_call(Eval *eval, const BuiltinRow *row, const Arguments *arguments);
/* Before any of them is looked for. */
void builtins_add(Eval *eval, const BuiltinRow *rows, size_t count);
void builtins_bind(Eval *eval, const char *module, Bindings *bindings); /* all of a module's */
/* of text, lists, dicts, dtypes; NULL if absent */
Object *builtin_method(Eval *eval, Object *self, Name name);
/* Such a method as `str.upper` or `dict.fromkeys` is it, whose object is an argument. */
Object *builtin_of_kind(Eval *eval, const BuiltinRow *kind, Name name);

/* ---- call.c ---- */

Object *call_object(Eval *eval, Object *callee, const Arguments *arguments);
/* An instance of the class, whatever hook it has. */
Object *call_class_itself(Eval *eval, Object *class, const Arguments *arguments);
Object *call_simple(Eval *eval, Object *callee, int count, Object *const *positional, Span at);
Object *call_function(Eval *eval, Object *function, Object *self, const Arguments *arguments);

/* ---- definition.c ---- */

/* Whether a host evaluated the call before: to what. NULL: why it could not is reported. */
bool known_call(Eval *eval, const Node *node, Object **result);

/* ---- exceptions.c ---- */

/* Whether what ended the attempt is such an exception; what is not is passed on. */
bool attempt_raised(Eval *eval, Attempt *attempt, const char *name);
/* An instance of one of Python's own exceptions. */
Object *exception_new(Eval *eval, const char *name, const char *text);
/* Raises one; give NULL. */
void *raise_python(Eval *eval, const char *name, const char *text, Span at);
void *raise_no_key(Eval *eval, const Object *dict, Object *key, Span at);
void raise_object(Eval *eval, Object *exception, Span at);
/* What Python calls the error; NULL: nothing. */
Object *fault_exception(Eval *eval, Fault *fault);
/* It was not caught: the next `try` outside hears of it, else the user. */
Flow fault_pass_on(Eval *eval, const Fault *fault);

/* ---- expr.c ---- */

Object *eval_expr(Eval *eval, const Node *node);
const char *kind_text(Eval *eval, NodeKind kind); /* what people call it */
/* A function of this scope, its defaults evaluated. NULL: reported. */
Object *function_new(Eval *eval, const Node *node, Name name, const Nodearguments *parameters);
bool assign_target(Eval *eval, const Node *target, Object *object);

/* ---- format.c ---- */

Object *format_object(Eval *eval, Object *object, const char *spec, Span at);
/* `text % values` */
Object *text_percent(Eval *eval, const Object *text, Object *values, Span at);

/* ---- generator.c ---- */

/* False: it failed, which was reported. */
typedef bool GeneratorBody(Eval *eval, void *context);
/* An iterator over what the body yields, evaluated in a frame of its own, by degrees. */
Object *generator_new(Eval *eval, GeneratorBody *body, void *context, const Frame *frame,
                      const char *name);
Object *generator_yield(Eval *eval, Object *item, Span at); /* NULL: the body must end */
/* What the body of an iterator that has ended returned. */
Object *generator_result(Eval *eval, const Object *iterator);
void generators_abandon(Eval *eval);

/* ---- hosting.c ---- */

/* false: it can't cross, not reported */
bool host_value(Eval *eval, Object *object, HostValue *out);
Object *host_object(Eval *eval, const HostValue *value);
Object *host_function_named(Eval *eval, const char *name); /* of tile.host */
Object *host_call(Eval *eval, Name name, const Arguments *arguments);
Object *host_binary(Eval *eval, const char *op, Object *left, Object *right, Span at);
Object *host_unary(Eval *eval, const char *op, Object *operand, Span at);
Object *host_attribute(Eval *eval, Object *array, Name name, Span at, bool *found);
Object *host_item(Eval *eval, Object *array, Object *index, Span at);
bool host_set_item(Eval *eval, Object *array, Object *index, Object *value, Span at);

/* ---- import.c ---- */

Object *import_module(Eval *eval, Name path, Span at); /* MODULE or MISSING; NULL: reported */
Unit *unit_new(Eval *eval, Name name, const Source *source, bool is_library);
void unit_take_told(Eval *eval, Unit *unit); /* what a host says of its names */
void units_take_told(Eval *eval);            /* of those that functions have changed */
Flow eval_import(Eval *eval, const NodeImport *node);
/* Whether the import of the module's text is of another one of the program's, and no library's. */
bool import_is_own(Eval *eval, const Unit *unit, const Node *node);
/* The name among those that `from module import *` takes, in this unit. */
Object *star_lookup(Eval *eval, const Unit *unit, const NodeImportFrom *node, Name name, Span at,
                    bool *found);
Flow eval_import_from(Eval *eval, const NodeImportFrom *node);
/* The names that a MODULE has, those of `from module import *` among them, some more than once. */
void module_visit_names(Eval *eval, Object *module, void (*visit)(void *, Name), void *context);
/* What is known of a host module without a host, else reports; NULL. */
Object *missing_attribute(Eval *eval, const Object *missing, Name name, Span at);
/* reports; NULL */
Object *missing_needed(Eval *eval, const Object *missing, Name attribute, Span at);
/* The element type that an argument is, or names; false: reported. */
bool argument_dtype(Eval *eval, const Object *object, Span at, DType *out);

/* ---- items.c ---- */

/* A `for` of a comprehension or an unrolled loop over what is known now. NULL: reported. */
Object *iterate(Eval *eval, Object *iterable, Span at); /* a LIST or TUPLE of the items */
/* The elements along the first dimension; false: reported. */
bool array_length(Eval *eval, Object *array, Span at, int64_t *out);
Object *item_get(Eval *eval, Object *object, Object *index, Span at);
bool item_set(Eval *eval, Object *object, Object *index, Object *value, Span at);
bool item_delete(Eval *eval, Object *object, Object *index, Span at);
/* As text: by str() for 's', by repr() for 'r' and 'a'. */
Object *object_converted(Eval *eval, Object *object, char conversion);
bool list_may_change(Eval *eval, const Object *list, Span at);
/* The place that an index stands for, among `length`. False: reported. */
bool normal_index(Eval *eval, const Object *object, Object *index, int64_t length, Span at,
                  int64_t *out);
Object *set_new(Eval *eval);

/* ---- iterator.c ---- */

enum { CONTROL_ANY = INT32_MAX, CONTROL_NONE = -1 };
Object *iterator_new(Eval *eval, Object *items);            /* over a list; NULL gives NULL */
Object *iterator_of(Eval *eval, Object *iterable, Span at); /* as iter() */
/* The next item; *item NULL: there is none. False: reported. */
bool iterator_pull(Eval *eval, Object *iterator, Span at, Object **item);
/* Run-time control may decide how far it gets: the depths of control that it may be asked at. */
bool iterator_may_move(Eval *eval, const Object *iterator, Span at);
Object *iterator_drain(Eval *eval, Object *iterator, Span at); /* all that is left, as a list */

/* ---- match.c ---- */

Flow run_match(Eval *eval, const Node *node);

/* ---- nearest.c ---- */

void nearest_try_scope(Eval *eval, Nearest *nearest, const Scope *scope);
void nearest_try_attributes(Eval *eval, Nearest *nearest, const Object *object);
void nearest_try_parameters(Nearest *nearest, const Nodearguments *parameters);
/* As a hint of what was reported last. NULL. */
void *nearest_hint(Eval *eval, const Nearest *nearest);
/* For a name that is not defined: which import the program is lacking; false: none has it. */
bool hint_import(Eval *eval, const Unit *unit, Name name, Span at);

/* ---- numbers.c ---- */

/* A dict of a mapping or of pairs; a dict is that itself. NULL: reported. */
Object *dict_from(Eval *eval, Object *other, Span at);
/* min or max of two: now, or staged. */
Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at);

/* ---- object.c ---- */

Object *attribute_get(Eval *eval, Object *object, Name name, Span at);
/* absent: not reported */
Object *attribute_find(Eval *eval, Object *object, Name name, Span at, bool *found);
bool attribute_set(Eval *eval, Object *object, Name name, Object *value, Span at);
bool attribute_put(Eval *eval, Object *object, Name name, Object *value, Span at); /* as it is */
bool attribute_delete(Eval *eval, Object *object, Name name, Span at);
/* Setting and removing items of an object's __dict__. False: reported. */
bool mirror_set(Eval *eval, const Object *dict, const Object *key, Object *value, Span at);
bool mirror_delete(Eval *eval, const Object *dict, const Object *key, Span at);
/* A class from its parts: `type(name, bases, dict)`. */
Object *class_make(Eval *eval, Name name, const ObjectVec *bases, const Object *attributes,
                   Span at);
Object *class_new(Eval *eval, const NodeClassDef *node);

/* ---- operate.c ---- */

Object *operate_binary(Eval *eval, Operator op, Object *left, Object *right, Span at);
/* `left op= right`: by the class's own method (__iadd__ and the like) if it has one. */
Object *operate_in_place(Eval *eval, Operator op, Object *left, Object *right, Span at);
Object *operate_unary(Eval *eval, Operator op, Object *operand, Span at);
Object *operate_compare(Eval *eval, Operator op, Object *left, Object *right, Span at);
/* Reports that the operands have no such operator; NULL. */
Object *no_operator(Eval *eval, Operator op, Object *left, Object *right, Span at);

/* ---- raise.c ---- */

/* The body of `with` from that item on, and then the context's __exit__, whatever happens. */
typedef Flow WithBody(Eval *eval, const NodeWith *node, uint32_t index);
Flow guard_context(Eval *eval, WithBody *body, const NodeWith *node, uint32_t index,
                   Object *context, Object *method);
Flow run_raise(Eval *eval, const Node *node);
Flow run_assert(Eval *eval, const Node *node);
Flow run_try(Eval *eval, const Node *node);

/* ---- scope.c ---- */

/* What belongs to the code that is being evaluated, not to what it happens to need: a module's
 * statement, a kernel. */
typedef struct Aside {
    Frame *frame;
    Staging *staging;
    Builder builder;
    LoopTrial *trial;
    Scope *running;
    Parallel *parallel;
    const ActiveCall *calling;
    Span at;
    int control, tests, library;
} Aside;
bool scope_assign(Eval *eval, Scope *scope, Name name, Object *object, Span at);
/* NULL with *found false: there is none (not reported). */
Object *scope_lookup(Eval *eval, Scope *scope, Name name, Span at, bool *found);
Object *name_read(Eval *eval, Name name, Span at);

/* ---- module.c ---- */

/* Runs the module's statement, if it has not run; `name` is what asks for it. False: reported. */
bool thunk_force(Eval *eval, Unit *unit, uint32_t index, Name name, Span at);
/* A module's name as statements after `index` see it (UINT32_MAX: all). */
Object *unit_lookup(Eval *eval, Unit *unit, Name name, uint32_t index, Span at, bool *found);
/* A module's name as code that runs now sees it, while a statement of the module is running. */
Object *unit_lookup_now(Eval *eval, Unit *unit, Name name, Span at, bool *found);
void unit_index(Eval *eval, Unit *unit);
Aside step_aside(Eval *eval);
void step_back(Eval *eval, const Aside *aside);

/* ---- sets.c ---- */

Object *set_from_items(Eval *eval, const Object *items); /* of a list; NULL gives NULL */
/* Sets, and what may stand beside them: NULL with *known false where the operator is none of
 * theirs.
 */
Object *operate_sets(Eval *eval, Operator op, Object *left, Object *right, bool *known);

/* ---- stmt.c ---- */

Flow eval_block(Eval *eval, Nodes statements);
Flow eval_rest(Eval *eval, Rest *rest);
Flow eval_statement(Eval *eval, const Node *statement);

/* ---- survey.c ---- */

/* Whether a statement that fails is left out, as it is host code that is looked at alone. */
bool is_surveyed(const Eval *eval);
/* In such code: a name that cannot be evaluated is unknown from there on. False: it is none. */
bool survey_leaves_name(Eval *eval, Name name);
/* Whether a call of it at hand is of such code. */
bool survey_reaches(Eval *eval, const Function *function);
/* After a statement failed: what it binds is unknown, and what may run of it is run. */
Flow survey_left(Eval *eval, const Node *statement);
/* The kernel that the program made of the same class and arguments before, in the place of an
 * instance that is not made yet; NULL: there is none. */
Object *survey_made_before(Eval *eval, const Object *instance, const Function *constructor);
/* Whether a test is looked at though a mark of it fails. */
bool survey_keeps(const Eval *eval, const Object *object);

/* ---- text.c ---- */

/* Where the text first stands from `data` on; NULL: nowhere. */
const char *find_part(const char *data, const char *end, const Object *part);
/* The standard library's files, as the build embeds them. */
typedef struct StdlibFile {
    const char *name, *text;
    size_t length;
} StdlibFile;
extern const StdlibFile stdlib_files[];
extern const size_t stdlib_file_count;

#endif
