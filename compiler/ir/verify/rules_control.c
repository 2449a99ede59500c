/* rules_control.c: the rules of launches, control and variables. */
#include "ir/group.h"
#include "ir/verify/rules.h"

/* ---- the launch ---- */

bool rule_launch(const Check *check)
{
    const Op *op = check->op;
    for (int i = 0; i < 3; i++)
        if (!dtype_is_integer(operand_type_at(check, i)->dtype))
            return broken(check, "the grid's extents are integers");
    return require(check, op->parent == check->kernel->host,
                   "a launch stands in the host region itself") &&
           require(check, op->regions[0]->argument_count == 0,
                   "a launch's region has no arguments") &&
           require(check, in_range(op, ATTR_warps, 1, 32), "{warps} is from 1 to 32") &&
           require(check, !op_attr(op, ATTR_panel) || in_range(op, ATTR_panel, 1, INT16_MAX),
                   "a {panel} has one row at least") &&
           require(check,
                   !op_attr(op, ATTR_rasterize) || is_one_of(op, ATTR_rasterize, "row column longest"),
                   "{rasterize} is row or column") &&
           rule_cluster(check, op);
}

bool rule_i32(const Check *check)
{
    return require(check, result_type(check)->dtype == DTYPE_i32, "the result is an i32");
}

bool rule_block(const Check *check)
{
    return rule_i32(check) &&
           require(check, in_range(check->op, ATTR_dim, 0, 2), "{dim} is 0, 1 or 2");
}

bool rule_in_group(const Check *check)
{
    const int64_t begin = op_int(check->op, ATTR_begin, -1);
    const int64_t count = op_int(check->op, ATTR_count, 0);
    return require(check, result_type(check)->dtype == DTYPE_b1, "the result is boolean") &&
           require(check, begin >= 0 && count > 0 && count <= 1024 && begin <= 1024 - count,
                   "{begin} and {count} are no threads of a block") &&
           require(check, count == 1 || (begin % 32 == 0 && count % 32 == 0),
                   "a group is one thread or whole warps");
}

bool rule_print(const Check *check)
{
    for (int i = 0; i < check->op->operand_count; i++)
        if (dtype_bits(operand_type_at(check, i)->dtype) != 64)
            return broken(check, "what is printed is not 64 bits wide");
    return require(check, op_attr(check->op, ATTR_text) != NULL, "{text} is missing") &&
           require(check, check->op->operand_count <= PRINT_VALUES,
                   "there are 32 values at most");
}

/* Barriers of parts are what the pass sync makes, of a group's threads; one without an {index} has
 * no parts. */
static bool check_barrier_parts(const Check *check, int64_t parts)
{
    const Stage stage = check->kernel->stage;
    const int64_t count = op_int(check->op, ATTR_count, 0);
    return parts == 1 || (stage >= STAGE_SYNCED && parts_are_bits(check->op) &&
                          bits_is_power(count) && op_int(check->op, ATTR_index, 16) + parts <= 16 &&
                          (stage != STAGE_SYNCED || count * parts == op_threads(check->op).count));
}

bool rule_barrier(const Check *check)
{
    const int64_t parts = op_int(check->op, ATTR_slices, 1);
    const bool is_named = op_attr(check->op, ATTR_index) != NULL;
    return require(check, is_named == (op_attr(check->op, ATTR_count) != NULL),
                   "{index} and {count} come together") &&
           require(check,
                   !is_named || (in_range(check->op, ATTR_index, 1, 15) &&
                                 in_range(check->op, ATTR_count, 32, 1024) &&
                                 op_int(check->op, ATTR_count, 0) % 32 == 0),
                   "{index} is from 1 to 15, {count} whole warps") &&
           require(check, check_barrier_parts(check, parts),
                   "{slices} have a barrier each, up to 15, once there are such: of all threads") &&
           require(check,
                   check->op->operand_count == 0 ||
                       (check->op->operand_count == 1 && parts > 1 &&
                        operand_type(check, part)->kind == TYPE_SCALAR &&
                        operand_type(check, part)->dtype == DTYPE_i32),
                   "which of the {slices} it is, is an i32");
}

/* PTX ISA manual, "setmaxnreg". */
bool rule_setmaxnreg(const Check *check)
{
    return require(check,
                   in_range(check->op, ATTR_count, 24, 256) &&
                       op_int(check->op, ATTR_count, 0) % 8 == 0,
                   "{count} is from 24 to 256, a multiple of 8") &&
           require(check, is_one_of(check->op, ATTR_mode, "inc dec"), "{mode} is inc or dec");
}

bool rule_anchor(const Check *check)
{
    const Type *type = operand_type(check, tile);
    if (type->kind == TYPE_VAR) type = type->content;
    const Attr *attr = op_attr(check->op, ATTR_text);
    if (!require(check, type->kind == TYPE_TILE || type->kind == TYPE_SHARED, "it is of a tile") ||
        !require(check, attr != NULL, "{text} is the layout"))
        return false;
    const Value *tile = operand(check->op, tile);
    const char *text = attr->text;
    const Layout *layout = layout_read(check->kernel->layouts, &text);
    bool fits = layout != NULL && layout->rank == type->rank;
    for (int d = 0; fits && d < type->rank; d++) fits = layout->shape[d] == type->shape[d];
    return require(check, fits, "{text} is a layout of the tile's shape") &&
           require(check, type->kind == TYPE_TILE || layout_is_order(layout),
                   "{text} is no order of the shared tile's elements") &&
           require(check,
                   type->kind == TYPE_TILE || (tile->op && tile->op->code == OP_shared_alloc),
                   "a shared tile is laid out as a whole");
}

bool rule_assume(const Check *check)
{
    const int count = check->op->operand_count;
    return require(check,
                   dtype_is_integer(operand_type(check, value)->dtype) &&
                       (count < 2 || dtype_is_integer(operand_type(check, limit)->dtype)),
                   "the value is an integer") &&
           require(check, count <= 2, "there is one limit at most") &&
           require(check, in_range(check->op, ATTR_multiple, 1, INT64_MAX),
                   "{multiple} is positive") &&
           require(check,
                   op_int(check->op, ATTR_low, INT64_MIN) <=
                       op_int(check->op, ATTR_high, INT64_MAX),
                   "{low} is above {high}");
}

/* ---- control ---- */

static bool check_values(const Check *check, int count, Value *const *values, int wanted_count,
                         const Type *const *wanted, const char *what)
{
    bool fits = count == wanted_count;
    for (int i = 0; fits && i < count; i++)
        fits = values[i] != NULL && agree(check, values[i]->type, wanted[i]);
    return require(check, fits, what);
}

/* The region ends in `code`, whose operands from `first` on have those types. */
static bool check_end(const Check *check, const Region *region, OpCode code, int first, int count,
                      const Type *const *types)
{
    const Op *end = region->last;
    if (end == NULL || end->code != code || end->operand_count < first) {
        buf_printf(check->out, "a region does not end in '%s'", op_info(code)->name);
        return false;
    }
    return check_values(check, end->operand_count - first, end->operands + first, count, types,
                        code == OP_yield ? "a region yields other types than those carried"
                                         : "'condition' passes on other types than those carried");
}

static bool check_for_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    const Region *body = op->regions[0];
    const Type *index = operand_type(check, begin);
    if (!dtype_is_integer(index->dtype) || operand_type(check, end) != index ||
        operand_type(check, step) != index)
        return broken(check, "begin, end and step are integers of one type");
    if (body->argument_count == 0 || body->arguments[0]->type != index)
        return broken(check, "the region's first argument is the index");
    return check_values(check, op->operand_count - operand_index(op, init), operand_list(op, init),
                        op->result_count, types,
                        "initial values and results differ in type or number") &&
           check_values(check, body->argument_count - 1, body->arguments + 1, op->result_count,
                        types, "the region's arguments and the results differ in type or number") &&
           check_end(check, body, OP_yield, 0, op->result_count, types);
}

static bool check_while_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    if (!check_values(check, op->operand_count, op->operands, op->result_count, types,
                      "initial values and results differ in type or number"))
        return false;
    for (int i = 0; i < 2; i++)
        if (!check_values(check, op->regions[i]->argument_count, op->regions[i]->arguments,
                          op->result_count, types,
                          "a region's arguments and the results differ in type or number"))
            return false;
    return check_end(check, op->regions[0], OP_condition, 1, op->result_count, types) &&
           check_end(check, op->regions[1], OP_yield, 0, op->result_count, types);
}

static bool check_if_types(const Check *check, const Type *const *types)
{
    const Op *op = check->op;
    return require(check, operand_type(check, condition)->dtype == DTYPE_b1,
                   "the condition is boolean") &&
           require(check,
                   op->regions[0]->argument_count == 0 && op->regions[1]->argument_count == 0,
                   "the regions have no arguments") &&
           check_end(check, op->regions[0], OP_yield, 0, op->result_count, types) &&
           check_end(check, op->regions[1], OP_yield, 0, op->result_count, types);
}

/* What a loop carries has the results' types at its start, in its regions and at their ends. */
static bool check_carried(const Check *check, bool (*rule)(const Check *, const Type *const *))
{
    Arena *arena = arena_new();
    const Type **types = arena_new_array(arena, const Type *, check->op->result_count);
    for (int i = 0; i < check->op->result_count; i++) types[i] = check->op->results[i].type;
    bool holds = rule(check, types);
    arena_free(arena);
    return holds;
}

bool rule_for(const Check *check)
{
    const bool plain = op_attr(check->op, ATTR_stages) == NULL;
    return check_carried(check, check_for_types) &&
           require(check, plain || in_range(check->op, ATTR_stages, 0, LOOP_STAGES),
                   "a loop has 0 to 64 {stages}");
}

bool rule_while(const Check *check)
{
    return check_carried(check, check_while_types);
}

/* The threads outside of a group come by: there is nothing that they do together, or that others
 * could meet. */
static bool check_others(const Check *check)
{
    if (!is_group(check->op)) return true;
    for (const Op *op = check->op->regions[1]->first; op; op = op_next(op)) {
        const bool variable = op_row_names(op->code, OPERAND_variable);
        if (op->region_count || (op_has(op, READS | WRITES | COOP) && !variable))
            return broken(check, "who is not in a thread group does something in its stead");
    }
    return true;
}

/* The pass `lanes` takes it apart. */
static bool check_idle(const Check *check)
{
    const Op *op = check->op, *otherwise = op->regions[1]->first;
    if (!op_int(op, ATTR_idle, 0)) return true;
    return require(check, check->kernel->stage == STAGE_TYPED, "{idle} is gone at this stage") &&
           require(check, op->result_count == 0 && (!otherwise || otherwise->code == OP_yield),
                   "an {idle} branch has one way, and no results");
}

bool rule_if(const Check *check)
{
    return check_carried(check, check_if_types) && check_others(check) && check_idle(check);
}

static bool ends_with(const Region *region, int count)
{
    const Op *end = region->last;
    return end && end->code == OP_yield && end->operand_count >= count;
}

bool rule_custom_vjp(const Check *check)
{
    const Op *op = check->op;
    bool fine = ends_with(op->regions[0], op->result_count) && op->regions[0]->argument_count == 0;
    for (int i = 0; fine && i < op->result_count; i++)
        fine = op->regions[0]->last->operands[i]->type == op->results[i].type;
    return require(check, fine, "the first region yields the results") &&
           require(check, ends_with(op->regions[1], op->operand_count),
                   "the second region yields an adjoint for each input");
}

bool rule_grad(const Check *check)
{
    const Op *op = check->op;
    const Region *region = op->regions[0];
    bool fine =
        region->argument_count == op->operand_count && op->result_count == op->operand_count;
    for (int i = 0; fine && i < op->operand_count; i++)
        fine = region->arguments[i]->type == op->operands[i]->type &&
               op->results[i].type == op->operands[i]->type &&
               dtype_is_float(op->operands[i]->type->dtype);
    return require(check, fine, "inputs are floats: an argument of the region and a result each") &&
           require(check, ends_with(region, 0), "the region yields");
}

/* The region's op is the one that the terminator belongs to, and nothing follows. */
bool rule_yield(const Check *check)
{
    const Op *op = check->op, *around = op->parent->parent;
    bool belongs =
        around != NULL &&
        (around->code == OP_for || around->code == OP_if || around->code == OP_custom_vjp ||
         around->code == OP_grad || (around->code == OP_while && op->parent == around->regions[1]));
    return require(check, belongs,
                   "'yield' ends regions of for, if, custom_vjp, grad, and the second of while") &&
           require(check, op->next == NULL, "ops follow the end of the region");
}

bool rule_condition(const Check *check)
{
    const Op *op = check->op, *around = op->parent->parent;
    return require(check,
                   around != NULL && around->code == OP_while && op->parent == around->regions[0],
                   "'condition' ends the first region of while") &&
           require(check, op->next == NULL, "ops follow the end of the region") &&
           require(check, operand_type(check, condition)->dtype == DTYPE_b1,
                   "the condition is boolean");
}

bool rule_var(const Check *check)
{
    const Op *op = check->op;
    return require(check, op->operand_count <= 1, "a variable has one initial value at most") &&
           require(check,
                   op->operand_count == 0 ||
                       agree(check, operand_type(check, init), result_type(check)->content),
                   "the initial value is not of the variable's type");
}

bool rule_var_get(const Check *check)
{
    return require(check, agree(check, result_type(check), operand_type(check, variable)->content),
                   "the result is not of the variable's type");
}

bool rule_var_set(const Check *check)
{
    return require(check,
                   agree(check, operand_type(check, value), operand_type(check, variable)->content),
                   "the value is not of the variable's type");
}
