/* reference.c: what a parameter annotated Ref or Place stands for: a place (place.c), found when
 * the argument is evaluated. To bind the name of a Ref anew is to write to the place, to read it is
 * to read from there; a Place is taken apart by the library. Variables of the program that keep
 * their type are references to memory of their own. */
#include "eval/staging/staging.h"
#include "ir/fold.h"

#include <string.h>

static bool is_core(const Object *object, const char *name)
{
    return object->kind == OBJECT_BUILTIN && strcmp(object->as.builtin->module, "__core__") == 0 &&
           strcmp(object->as.builtin->name, name) == 0;
}

Object *core_marker(Eval *eval, const Bound *bound)
{
    return FAIL(eval, unsupported, bound->at, "a call of what marks parameters");
}

Name memory_name(Eval *eval)
{
    return intern_text(eval->session->names, "__memory__");
}

bool holds_memory(Eval *eval, const Object *object)
{
    return object->kind == OBJECT_INSTANCE &&
           class_find(object->as.instance->class, memory_name(eval)) != NULL;
}

static bool is_memory(Eval *eval, const Object *object)
{
    if (holds_memory(eval, object)) return true;
    const Type *type = argument_type(object);
    return type != NULL && type->kind != TYPE_SCALAR && type->kind != TYPE_POINTER &&
           type->kind != TYPE_VECTOR;
}

/* ---- variables ---- */

/* variable_at(memory, index): an element, by the name that it is given. */
Object *core_variable_at(Eval *eval, const Bound *bound)
{
    return place_new(eval, bound->values[0], bound->values[1], true);
}

/* variable(dtype, init, is_array): a number of that type, which keeps its type whatever is
 * assigned.
 */
Object *core_variable(Eval *eval, const Bound *bound)
{
    DType dtype;
    Value *init = NULL;
    if (!stage_ready(eval, bound->at) || !argument_dtype(eval, bound->values[0], bound->at, &dtype))
        return NULL;
    if (in_host_part(eval)) return FAIL(eval, outside_launch, bound->at);
    if (!argument_absent(bound->values[1])) {
        init = eval->parallel != NULL ? masked_number(eval, bound->values[1], dtype, bound->at)
                                      : stage_scalar(eval, bound->values[1], dtype, bound->at);
        if (init == NULL) return NULL;
    }
    const Type *type = type_var(core_types(eval),
                                init != NULL ? init->type : type_scalar(core_types(eval), dtype));
    Object *cell = object_new(eval, OBJECT_CELL);
    cell->as.ir.var = build_op(&eval->builder, OP_var, init != NULL, &init, 1, &type)->results;
    Object *variable = place_new(eval, cell, NULL, true);
    return argument_absent(bound->values[2]) ||
                   object_truth(eval, bound->values[2], &variable->as.place->is_array)
               ? variable
               : NULL;
}

/* set_variable(memory, value): the memory of a Place that is a variable. */
Object *core_set_variable(Eval *eval, const Bound *bound)
{
    const Slot slot = {.memory = bound->values[0]};
    if (slot.memory->kind != OBJECT_CELL)
        return FAIL(eval, expected_kind, bound->at, "what is set", "a variable",
                    object_repr(eval, slot.memory));
    return eval->ops->slot_write(eval, &slot, bound->values[1], bound->at) ? eval->none : NULL;
}

/* ---- arguments ---- */

/* What a name stands for as an annotation, in silence; NULL: it is no name, or stands for nothing.
 */
static Object *annotation_value(Eval *eval, const Function *function, const Node *annotation)
{
    if (annotation == NULL || (annotation->kind != NODE_Name && annotation->kind != NODE_Attribute))
        return NULL;
    Scope *saved = eval->frame->scope;
    eval->frame->scope = function->closure;
    eval->quiet++;
    Object *type = eval_expr(eval, annotation);
    eval->quiet--;
    eval->frame->scope = saved;
    return type;
}

/* A class of types, such as Warp's ref[T], says by its attribute __parameter__ what it marks. */
static PlaceKind annotation_kind(Eval *eval, const Function *function, const Node *node)
{
    const Node *annotation = NODE_AS(arg, node)->annotation;
    if (annotation != NULL && annotation->kind == NODE_Subscript)
        annotation = NODE_AS(Subscript, annotation)->value;
    const Object *type = annotation_value(eval, function, annotation);
    if (type != NULL && object_is_record(type)) {
        type = class_find(type->as.list.class, intern_text(eval->session->names, "__parameter__"));
        return type != NULL && is_core(type, "Ref") ? PLACE_PART : PLACE_NONE;
    }
    if (type == NULL) return PLACE_NONE;
    if (is_core(type, "Lazy")) return PLACE_LAZY;
    if (is_core(type, "Ahead")) return PLACE_AHEAD;
    if (is_core(type, "Name")) return PLACE_NAME;
    return is_core(type, "Ref") ? PLACE_REF : is_core(type, "Place") ? PLACE_ANY : PLACE_NONE;
}

static const Nodearguments *parameters_of(const Function *function)
{
    return NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
}

static const Node *parameter_at(const Nodearguments *parameters, uint32_t index)
{
    uint32_t first = parameters->posonlyargs.count, then = parameters->args.count;
    if (index < first) return parameters->posonlyargs.items[index];
    if (index - first < then) return parameters->args.items[index - first];
    return index - first - then < parameters->kwonlyargs.count
               ? parameters->kwonlyargs.items[index - first - then]
               : NULL;
}

/* One kind a parameter; NULL: the function takes values alone. */
static const PlaceKind *function_places(Eval *eval, Function *function)
{
    if (function->places_known) return function->places;
    function->places_known = true;
    if (function->node->kind != NODE_FunctionDef) return NULL;
    const Nodearguments *parameters = parameters_of(function);
    uint32_t count =
        parameters->posonlyargs.count + parameters->args.count + parameters->kwonlyargs.count;
    PlaceKind *places = arena_new_array(eval->arena, PlaceKind, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        places[i] = annotation_kind(eval, function, parameter_at(parameters, i));
        if (places[i] != PLACE_NONE) function->places = places;
    }
    return function->places;
}

static PlaceKind kind_of_argument(Eval *eval, Object *callee, uint32_t index, Name name)
{
    bool bound = callee->kind == OBJECT_METHOD;
    if (bound || callee->kind == OBJECT_STATIC_METHOD) callee = callee->as.method.function;
    if (eval->staging == NULL || callee->kind != OBJECT_FUNCTION) return PLACE_NONE;
    const PlaceKind *places = function_places(eval, &callee->as.function);
    if (places == NULL) return PLACE_NONE;
    const Nodearguments *parameters = parameters_of(&callee->as.function);
    for (uint32_t i = 0;; i++) {
        const Node *parameter = parameter_at(parameters, i);
        if (parameter == NULL) return PLACE_NONE;
        if (name != NULL ? NODE_AS(arg, parameter)->arg == name : i == index + bound)
            return places[i];
    }
}

/* What a parameter was given is the value of a variable: to the library the parameter stands for
 * it, as it does where the function's statements stand at the call. NULL: it is none. */
static Object *given_variable(Eval *eval, Name name)
{
    const Frame *frame = eval->frame;
    const Binding *binding = bindings_get(&frame->scope->bindings, name);
    if (binding == NULL || binding->object == NULL || binding->object->kind != OBJECT_IR ||
        frame->arguments == NULL)
        return NULL;
    const Value *value = binding->object->as.ir.value;
    if (value->op == NULL || value->op->code != OP_var_get) return NULL;
    bool given = false;
    for (size_t i = 0; i < frame->arguments->positional.count; i++)
        given |= frame->arguments->positional.data[i] == binding->object;
    for (size_t i = 0; i < frame->arguments->named.count; i++)
        given |= frame->arguments->named.data[i] == binding->object;
    if (!given) return NULL;
    Object *cell = object_new(eval, OBJECT_CELL);
    cell->as.ir.var = operand_given(value->op, variable);
    return place_new(eval, cell, NULL, false);
}

/* In the program of a thread, or where a name is meant: a name of its own, an element of memory, or
 * a part of what these have. */
static Object *thread_place(Eval *eval, const Node *node)
{
    Slot *slot = target_place(eval, node);
    if (slot == NULL) return NULL;
    const Slot *root = slot;
    while (root->whole != NULL) root = root->whole;
    const Binding *own =
        root->memory == NULL ? bindings_get(&eval->frame->scope->bindings, root->name) : NULL;
    const bool is_place =
        root->memory != NULL ? root->index != NULL : own != NULL && own->object != NULL;
    if (is_place) {
        slot->assigns = true;
        return place_object(eval, slot);
    }
    eval_move(eval, node->span);
    Object *object = eval->ops->slot_read(eval, slot, eval->at);
    return object != NULL ? FAIL(eval, bad_reference, eval->at, object_repr(eval, object)) : NULL;
}

static bool names_memory(Eval *eval, const Node *node)
{
    if (node->kind != NODE_Name) return false;
    const Object *object = eval_expr(eval, node);
    return object != NULL && is_memory(eval, object);
}

/* What the library changes that is no name, an element's value for one, is a variable of nobody's.
 */
static Object *temporary_place(Eval *eval, const Node *node)
{
    Object *object = eval_expr(eval, node);
    if (object == NULL || object_is_variable(object)) return object;
    if (object_is_record(object)) { /* several numbers, by a name that nobody else has */
        Slot *slot = arena_new_of(eval->arena, Slot);
        *slot = (Slot){.scope = scope_new(eval, SCOPE_FUNCTION, NULL, eval->frame->scope->unit),
                       .name = intern_text(eval->session->names, "temporary"),
                       .assigns = true};
        Binding *binding = bindings_make(eval, &slot->scope->bindings, slot->name);
        return binding_set(eval, binding, object, node->span) ? place_object(eval, slot) : NULL;
    }
    Value *init = stage_operand(eval, object, node->span);
    if (init == NULL) return NULL;
    const Type *type = type_var(core_types(eval), init->type);
    Object *cell = object_new(eval, OBJECT_CELL);
    cell->as.ir.var = build_op(&eval->builder, OP_var, 1, &init, 1, &type)->results;
    return place_new(eval, cell, NULL, true);
}

static Object *eval_place(Eval *eval, const Node *node, PlaceKind kind)
{
    const bool assigns = kind == PLACE_REF || kind == PLACE_PART;
    Object *object, *index;
    if (kind == PLACE_NAME) return thread_place(eval, node);
    if (node->kind == NODE_Name) {
        object = named_variable(eval, NODE_AS(Name, node)->id);
        if (object != NULL && !assigns)
            return place_new(eval, object->as.place->memory, object->as.place->index, false);
        if (object == NULL && !assigns) object = given_variable(eval, NODE_AS(Name, node)->id);
        if (object != NULL) return object;
    }
    if (assigns && eval->frame->is_thread_code && !names_memory(eval, node))
        return kind == PLACE_REF && node->kind != NODE_Name ? temporary_place(eval, node)
                                                            : thread_place(eval, node);
    if (node->kind == NODE_Subscript) {
        object = eval_expr(eval, NODE_AS(Subscript, node)->value);
        index = object != NULL ? eval_expr(eval, NODE_AS(Subscript, node)->slice) : NULL;
        if (index == NULL) return NULL;
        if (is_memory(eval, object)) return place_new(eval, object, index, assigns);
        object = item_get(eval, object, index, node->span);
    } else {
        object = eval_expr(eval, node);
    }
    if (object == NULL || object_is_variable(object)) return object;
    if (object->kind == OBJECT_PLACE) /* handed on */
        return assigns ? place_new(eval, object->as.place->memory, object->as.place->index, true)
                       : object;
    if (!assigns || is_memory(eval, object)) return place_new(eval, object, NULL, assigns);
    eval_move(eval, node->span);
    return FAIL(eval, bad_reference, eval->at, object_repr(eval, object));
}

/* A function without parameters, whose result is the argument's value. */
static Object *eval_lazily(Eval *eval, const Node *node)
{
    NodeLambda *lambda = arena_new_of(eval->arena, NodeLambda);
    Nodearguments *parameters = arena_new_of(eval->arena, Nodearguments);
    parameters->base = (Node){.kind = NODE_arguments, .span = node->span};
    lambda->base = (Node){.kind = NODE_Lambda, .span = node->span};
    lambda->args = &parameters->base;
    lambda->body = (Node *)node;
    return eval_expr(eval, &lambda->base);
}

/* The names of the kernel's own that an expression has. */
typedef struct NameSearch {
    Eval *eval;
    Scope *scope; /* where they get bound, to what they stand for */
} NameSearch;

static bool is_own_name(const Scope *scope, Name name)
{
    for (; scope != NULL && scope->kind >= SCOPE_CLASS; scope = scope->parent) {
        const Binding *binding = bindings_get(&scope->bindings, name);
        if (binding != NULL && binding->object != NULL) return true;
    }
    return false;
}

static void bind_own_name(void *context, const Node *node)
{
    const NameSearch *search = context;
    if (node->kind != NODE_Name) {
        node_visit_children(node, bind_own_name, context);
        return;
    }
    const Name name = NODE_AS(Name, node)->id;
    if (!is_own_name(search->scope->parent, name)) return;
    Object *object = name_read(search->eval, name, node->span);
    if (object != NULL)
        bindings_make(search->eval, &search->scope->bindings, name)->object = object;
}

/* As a statement of a module, by Python's own rules and whatever run-time control the call is
 * under. To read a variable of the kernel is part of the kernel, so that is done before. */
static Object *eval_ahead(Eval *eval, const Node *node)
{
    Scope *outer = eval->frame->scope;
    NameSearch search = {eval, scope_new(eval, SCOPE_FUNCTION, outer, outer->unit)};
    bind_own_name(&search, node);
    const Aside aside = step_aside(eval);
    Frame frame = {.scope = search.scope, .caller = aside.frame};
    eval->frame = &frame;
    Object *object = eval_expr(eval, node);
    step_back(eval, &aside);
    if (object == NULL || !object_is_staged(object)) return object;
    return FAIL(eval, not_static, node->span, "this", object_repr(eval, object));
}

/* uint64(0xFF51AFD7ED558CCD) in a kernel: a literal that no integer with a sign is. */
static Object *wide_literal(Eval *eval, const Object *callee, const Node *node)
{
    if (eval->staging == NULL || callee->kind != OBJECT_DTYPE || callee->as.dtype != DTYPE_u64 ||
        node->kind != NODE_Constant)
        return NULL;
    const Literal *literal = &NODE_AS(Constant, node)->value;
    if (literal->kind != LITERAL_INT || literal->too_large || literal->integer <= INT64_MAX)
        return NULL;
    return object_ir(eval, build_const(&eval->builder, DTYPE_u64, (int64_t)literal->integer));
}

Object *eval_argument_of(Eval *eval, Object *callee, uint32_t index, Name name, const Node *node)
{
    PlaceKind kind = kind_of_argument(eval, callee, index, name);
    Object *wide = wide_literal(eval, callee, node);
    if (wide != NULL) return wide;
    if (kind == PLACE_LAZY) return eval_lazily(eval, node);
    if (kind == PLACE_AHEAD) return eval_ahead(eval, node);
    return kind == PLACE_NONE ? eval_expr(eval, node) : eval_place(eval, node, kind);
}

/* ---- distances that are known though their ends are not ---- */

/* Of a value that is a sum of others: those, and by what each is multiplied. */
typedef struct Terms {
    int count;
    const Value *values[2];
    int64_t factors[2];
} Terms;

static Terms terms_of(const Value *value)
{
    const Op *op = value->op;
    int64_t known;
    if (op == NULL) return (Terms){0};
    const Value *a = operand_given(op, a), *b = operand_given(op, b);
    switch ((int)op->code) {
    case OP_add: return (Terms){2, {a, b}, {1, 1}};
    case OP_sub: return (Terms){2, {a, b}, {1, -1}};
    case OP_neg: return (Terms){1, {a}, {-1}};
    case OP_mul:
        if (value_constant(b, &known)) return (Terms){1, {a}, {known}};
        if (value_constant(a, &known)) return (Terms){1, {b}, {known}};
        return (Terms){0};
    case OP_cast:
        if (dtype_is_signed(value->type->dtype) && dtype_is_signed(a->type->dtype) &&
            dtype_bits(value->type->dtype) >= dtype_bits(a->type->dtype))
            return (Terms){1, {a}, {1}};
        return (Terms){0};
    default: return (Terms){0};
    }
}

typedef struct Linear { /* the sum of factors times values */
    Arena *arena;
    Map factors;               /* Value -> int64_t */
    VEC(const Value *) values; /* each behind what it is a sum of */
    Map first;                 /* Value -> the first one that is computed like it */
    VEC(const Value *) firsts;
} Linear;

static const Value *first_of(Linear *linear, const Value *value);

/* Two ops of one region that nothing stands between which may write: they read the same. */
static bool reads_alike(const Op *earlier, const Op *later)
{
    enum { MOST = 256 }; /* ops between them that are looked at */
    int looked = 0;
    if (earlier->parent != later->parent) return false;
    const Op *op = later->previous;
    while (op && op != earlier && looked++ < MOST && !op->region_count &&
           !op_has(op, WRITES | BARRIER))
        op = op->previous;
    return op == earlier;
}

static bool is_read(const Op *op)
{
    return op_has(op, READS) && !op_has(op, WRITES | COOP);
}

static bool computed_alike(Linear *linear, const Op *a, const Op *b)
{
    bool same = op_alike(a, b);
    for (int i = 0; same && i < a->operand_count; i++)
        same = first_of(linear, a->operands[i]) == first_of(linear, b->operands[i]);
    return same && (op_has(a, PURE) || reads_alike(a, b) || reads_alike(b, a));
}

/* What no sum is taken apart into may be computed twice, as in x[n // 8 * b : n // 8 * b + 8], or
 * read twice, as in x[first[b] : first[b] + 8]. */
static const Value *first_of(Linear *linear, const Value *value)
{
    enum { MOST = 256 }; /* each is compared with those before it */
    const Value *first = map_get(&linear->first, value);
    const Op *op = value->op;
    if (first != NULL || op == NULL || !(op_has(op, PURE) || is_read(op)) ||
        op->result_count != 1 || op->region_count != 0 || stack_is_low())
        return first != NULL ? first : value;
    for (int i = 0; i < op->operand_count; i++) first_of(linear, op->operands[i]);
    for (size_t i = 0; first == NULL && i < linear->firsts.count; i++)
        if (computed_alike(linear, op, linear->firsts.data[i]->op)) first = linear->firsts.data[i];
    if (first == NULL && linear->firsts.count < MOST)
        vec_push(linear->arena, &linear->firsts, value);
    first = first != NULL ? first : value;
    map_set(linear->arena, &linear->first, value, (void *)(uintptr_t)first);
    return first;
}

/* False: there are too many. */
static bool collect(Linear *linear, const Value *value)
{
    if (map_has(&linear->factors, value)) return true;
    if (stack_is_low()) return false;
    map_set(linear->arena, &linear->factors, value, arena_new_of(linear->arena, int64_t));
    const Terms terms = terms_of(value);
    for (int i = 0; i < terms.count; i++)
        if (!collect(linear, terms.values[i])) return false;
    const Value *first = terms.count == 0 ? first_of(linear, value) : value;
    if (first != value) return collect(linear, first);
    vec_push(linear->arena, &linear->values, value);
    return true;
}

static bool add_value(Linear *linear, const Value *value, int64_t by, int64_t factor)
{
    const Value *first = terms_of(value).count == 0 ? map_get(&linear->first, value) : NULL;
    int64_t *sum = map_get(&linear->factors, first != NULL ? first : value);
    return !__builtin_mul_overflow(by, factor, &factor) &&
           !__builtin_add_overflow(*sum, factor, sum);
}

/* What is left when sums are taken apart, the last ones first; false: not a number. */
static bool take_apart(Linear *linear, int64_t *constant)
{
    int64_t known, product;
    for (size_t i = linear->values.count; i-- > 0;) {
        const Value *value = linear->values.data[i];
        const int64_t factor = *(int64_t *)map_get(&linear->factors, value);
        const Terms terms = terms_of(value);
        if (factor == 0) continue;
        if (fold_value(value, NULL, NULL, &known)) {
            if (__builtin_mul_overflow(known, factor, &product) ||
                __builtin_add_overflow(*constant, product, constant))
                return false;
            continue;
        }
        if (terms.count == 0) return false;
        for (int k = 0; k < terms.count; k++)
            if (!add_value(linear, terms.values[k], factor, terms.factors[k])) return false;
    }
    return true;
}

/* difference(a, b): a - b where it is known now, else None. */
Object *core_difference(Eval *eval, const Bound *bound)
{
    const Value *a = stage_index(eval, bound->values[0], bound->at),
                *b = a != NULL ? stage_index(eval, bound->values[1], bound->at) : NULL;
    int64_t constant = 0;
    if (b == NULL) return NULL;
    Linear linear = {.arena = arena_new()};
    const bool known = collect(&linear, a) && collect(&linear, b) && add_value(&linear, a, 1, 1) &&
                       add_value(&linear, b, 1, -1) && take_apart(&linear, &constant);
    arena_free(linear.arena);
    return known ? object_int(eval, constant) : eval->none;
}

/* memory_kind(memory): "view", "shared", "register", "local", "variable", or "" for what is no
 * memory. */
Object *core_memory_kind(Eval *eval, const Bound *bound)
{
    static const char *const NAMES[] = {[TYPE_VIEW] = "view",
                                        [TYPE_SHARED] = "shared",
                                        [TYPE_TILE] = "register",
                                        [TYPE_LOCAL] = "local"};
    const Type *type = argument_type(bound->values[0]);
    const char *name =
        type != NULL && type->kind < sizeof NAMES / sizeof *NAMES && NAMES[type->kind] != NULL
            ? NAMES[type->kind]
        : bound->values[0]->kind == OBJECT_CELL ? "variable"
                                                : "";
    return object_text(eval, name, strlen(name));
}

/* `x: int32` makes a run-time scalar of that type from what is given, in a kernel. */
Object *argument_converted(Eval *eval, const Function *function, const Nodearg *parameter,
                           Object *value)
{
    if (eval->staging == NULL || parameter->annotation == NULL ||
        function->node->kind == NODE_Lambda)
        return value;
    if (!object_is_number(value) && value->kind != OBJECT_IR) return value;
    if (value->kind == OBJECT_IR && !type_is_scalar(value->as.ir.value->type)) return value;
    const Object *type = annotation_value(eval, function, parameter->annotation);
    if (type == NULL || type->kind != OBJECT_DTYPE) return value;
    return object_ir(eval, stage_scalar(eval, value, type->as.dtype, eval->at));
}
