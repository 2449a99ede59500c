/* values.h: what values are, a section a file: they are made, compared, printed, counted; nothing
 * of a program is evaluated here. A function that returns NULL, false or FLOW_ERROR has reported
 * why. */
#ifndef TILEC_EVAL_VALUES_H
#define TILEC_EVAL_VALUES_H

#include "eval/values/operations.h"

/* ---- bindings.c ---- */

Scope *scope_new(Eval *eval, ScopeKind kind, Scope *parent, Unit *unit);
Binding *bindings_get(const Bindings *bindings, Name name);
Binding *bindings_make(Eval *eval, Bindings *bindings, Name name);
Scope *scope_for_closure(Scope *scope);

/* ---- classes.c ---- */

/* A method of an instance's class, to be called with the instance first; NULL: there is none. */
Object *special_method(Eval *eval, const Object *object, const char *name);
/* along the method resolution order; NULL if absent */
Object *class_find(const Object *class, Name name);
/* Whether they are one class of the program. */
bool class_is(const Class *a, const Class *b);
bool class_derives(const Object *class, const Object *base);
/* The number that an instance of a class such as IntEnum stands for; any other object is itself. */
Object *instance_number(Eval *eval, Object *object);
Object *instance_new(Eval *eval, Object *class);
/* What a function says by an attribute; NULL: nothing. */
const Object *said_of(Eval *eval, const Function *function, const char *name);
/* Of an instance or a record; NULL: it has none. */
Object *object_class(const Object *object);
bool object_is_record(const Object *object);
bool builtin_is(const Object *object, const char *name);
bool is_kernel(const Object *object); /* an instance of a class that is marked as a kernel */
bool class_is_kernel(const Object *class);
/* What gives kernels: one itself, or what is called or compiled for one. */
bool makes_kernels(const Object *object);
/* Whether the class says so by a boolean of that name. */
bool class_says(const Object *class, const char *name);

/* ---- dict.c ---- */

/* dict.c */
Object *dict_new(Eval *eval);
Object *dict_get(Eval *eval, const Object *dict, const Object *key);
/* The key's place, or how many there are. */
size_t dict_entry(Eval *eval, const Object *dict, const Object *key);
uint64_t object_hash(Eval *eval, const Object *object);
/* Whether Python would hash it, so that it may be a key. False: reported. */
bool key_is_fit(Eval *eval, const Object *key, Span at);
void dict_set(Eval *eval, Object *dict, Object *key, Object *value);
void dict_remove(Eval *eval, Object *dict, const Object *key); /* if it is there */
void dict_clear(Object *dict);

/* ---- fault.c ---- */

/* In silence: a `try` around it may want to know (raise.c). */
void fault_note(Eval *eval, DiagCode code, Span at, ...);
void *report_end(Eval *eval);
/* The place of ops and messages is `at` from here on, unless library code is running. */
/* Where the program writes down the argument that the object was given by, to the call at `at` of a
 * builtin or of a function of the library that hands it on; else `at`. */
Span argument_span(const Eval *eval, const Object *object, Span at);
/* The same of a keyword, and of argument `index` that stands in the text of the call. */
Span keyword_span(const Eval *eval, const Arguments *arguments, Name name);
Span extra_span(const Eval *eval, const Arguments *arguments, size_t index);
void eval_move(Eval *eval, Span at);
Span eval_move_to(Eval *eval, const Node *node); /* moves to the node, and says where that is */
/* Whether what is evaluated stands outside the launches of a kernel function (launches.c). */
bool in_host_part(const Eval *eval);
bool report_begin(Eval *eval);
/* The iterations of a parallel loop that are at hand. */
const Value *mask_now(const Eval *eval);

/* ---- limits.c ---- */

void eval_begin_work(Eval *eval);
/* Counts an iteration of a compile-time loop. */
bool eval_step(Eval *eval, Span at);
bool eval_may_call(Eval *eval, Span at); /* as often as this */
/* Whether what is evaluated, or is walked on the stack, may be nested deeper. */
bool eval_may_nest(Eval *eval, Span at);
/* Whether a kernel that has so many specialisations, or configurations, may get another. */
bool eval_may_add(Eval *eval, size_t count, const char *what, Span at);
/* Counts so many steps of work. False: there are none left, and whatever is evaluated next fails;
 * a walk that cannot fail itself just ends. */
bool eval_work(Eval *eval, uint64_t amount);
bool eval_goes_on(Eval *eval, Span at);                /* whether work and memory are left */
bool eval_works(Eval *eval, uint64_t amount, Span at); /* both */
bool eval_has_room(Eval *eval, size_t bytes, Span at);
/* Whether a text that is made may become so much longer. */
bool text_grows(Eval *eval, const Buf *text, size_t more, Span at);
/* Whether there is room for a list that is so long. */
bool list_fits(Eval *eval, size_t length, Span at);
bool text_add(Eval *eval, Buf *text, const char *data, size_t length, Span at);

/* ---- observe.c ---- */

/* The value at a place of the program's own text: for EvalOptions.observes. */
void observe(Eval *eval, Span at, Object *object);
Object *observed_object(const Eval *eval, Span at); /* NULL: nothing was evaluated there */
const char *observed_text(const Eval *eval, Span at);
/* What a person is told of it; nothing is evaluated. */
void object_explain(Eval *eval, const Object *object, Buf *out);

/* ---- range.c ---- */

/* range(start, stop, step); step NULL: 1, stop NULL: from 0 to start. NULL: reported. */
Object *range_new(Eval *eval, Object *const given[3], Span at);
/* How many numbers it has; false: that is not known, or no int64. */
bool range_count(const Object *range, int64_t *out);
uint64_t range_length(const Object *range); /* of three known numbers */
int64_t range_number(const Object *range, uint64_t index);
bool range_has(const Object *range, int64_t number); /* of one whose count is known */

/* ---- record.c ---- */

Object *record_new(Eval *eval, Object *class, Object *const *parts, size_t count);
/* A part by its name in the class's `__fields__`; NULL: there is none of that name. */
Object *record_field(Eval *eval, const Object *record, Name name);
/* Like it, but for one thing: an item or a part by name. NULL: reported. */
Object *record_with_item(Eval *eval, Object *record, Object *index, Object *value, Span at);
Object *record_with_field(Eval *eval, Object *record, Name name, Object *value, Span at);
/* A record whose class says `__absent__`: it stands for a value that is not there. */
bool object_is_absent(const Object *object);
/* As a name keeps it: with register tiles of its own, unless its class is a `__reference__`. */
Object *record_hold(Eval *eval, Object *record, bool temporaries);

/* ---- value.c ---- */

typedef enum TextStyle { TEXT_STR, TEXT_REPR } TextStyle;
Object *object_new(Eval *eval, ObjectKind kind);
/* The element type of a tensor or of a value, as the dialects call it (stdlib/_dialects.tile). */
Object *object_dtype(Eval *eval, DType dtype);
const char *dtype_spelling(const Object *dtype);
Object *object_bool(Eval *eval, bool value);
Object *object_int(Eval *eval, int64_t value);
Object *object_float(Eval *eval, double value);
/* The number in that type, rounded or wrapped, which the object remembers: in a kernel it is of it.
 * A float that becomes an integer lies within int64. */
Object *object_of_dtype(Eval *eval, const Object *number, DType dtype);
/* The type that the number was made of; false: it was written without one. */
bool number_said(const Object *number, DType *out);
Object *object_text(Eval *eval, const char *data, size_t length);
/* Of text that lies in the arena already, with a zero behind it. */
Object *object_text_adopt(Eval *eval, char *data, size_t length);
Object *object_list(Eval *eval, ObjectKind kind, Object *const *items, size_t count);
void list_append(Eval *eval, Object *list, Object *item);
const char *object_kind_name(const Object *object);
bool object_is_number(const Object *object); /* compile-time BOOL, INT or FLOAT */
bool object_is_real(const Object *object);   /* one of these, or a WIDE */
/* Of UTF-8. */
size_t count_characters(const char *text, size_t length);
bool object_is_staged(const Object *object); /* IR or TILE */
double object_number(const Object *object);
/* Exactly, of numbers: -1, 0, 1; 2: a NaN is not ordered. */
int object_order_numbers(const Object *a, const Object *b);
bool object_is_sequence(const Object *object); /* TUPLE or LIST */
/* Instances: the same one. eval NULL: it is known that they hold little. */
bool object_equal(Eval *eval, const Object *a, const Object *b);
/* As the language has it: __eq__ of instances decides, wherever they lie. */
bool object_agrees(Eval *eval, const Object *a, const Object *b);
/* What was found by such comparisons; NULL: one of them was reported. */
Object *unless_equal_failed(Eval *eval, Object *found);
bool object_is(Eval *eval, const Object *a, const Object *b); /* the same object */
void object_print(Eval *eval, const Object *object, TextStyle style, Buf *out);
const char *object_repr(Eval *eval, const Object *object); /* in the arena */
/* Truth of a compile-time value; false: reported. */
bool object_truth(Eval *eval, Object *object, bool *out);
/* As a condition takes it: what its __bool__ gives if the run tells that; any other object is
 * itself. NULL: reported. */
Object *object_condition(Eval *eval, Object *object);
/* Whether it is what __len__ may return. False: reported. */
bool length_is_fit(Eval *eval, const Object *length, Span at);
/* Of a call's results: an int that fits, else reported as `what`. */
bool object_as_int(Eval *eval, Object *object, const char *what, int64_t *out);
bool dtype_by_user_name(const Eval *eval, const char *name,
                        DType *out);           /* and by what else it is called */
bool object_is_variable(const Object *object); /* a place that assigning to its name writes to */
const Object *text_argument(Eval *eval, const Object *object, const char *what, Span at);

/* ---- wide.c: arithmetic of ints ---- */

/* An INT where it fits, else a WIDE. */
Object *object_of_wide(Eval *eval, Wide value);
/* Of two ints, by an operator that gives one, with a count or divisor that is fit for it. */
Object *wide_binary(Eval *eval, Operator op, const Object *left, const Object *right, Span at);
Object *wide_unary(Eval *eval, Operator op, const Object *operand, Span at);
/* Of an int. False: its magnitude has more than 64 bits. */
bool wide_parts(const Object *number, bool *negative, uint64_t *magnitude);
/* The number of the type that is equal, for a uint64 the INT with its bits; `wraps`: or the one
 * with as many bits of it as the type has. NULL: reported. */
Object *wide_of_dtype(Eval *eval, const Object *object, DType dtype, bool wraps, Span at);

#endif
