/* arguments.c: the arguments of tile.host's functions, checked as they are taken. */
#include "command/array/arguments.h"

#include <math.h>
#include <string.h>

const HostValue *argument(const Arguments *arguments, int index, const char *name)
{
    const HostCall *call = arguments->call;
    if (index >= 0 && index < call->argument_count) return &call->arguments[index];
    for (int i = 0; i < call->named_count; i++)
        if (strcmp(call->names[i], name) == 0) return &call->named[i];
    return NULL;
}

bool complain(const Arguments *arguments, const char *name, const char *wanted)
{
    ArrayContext *context = arguments->context;
    diag_report(context->session->diags, DIAG_array_argument, context->at, arguments->call->name,
                name, wanted);
    return false;
}

const HostValue *take_value(const Arguments *arguments, int index, const char *name,
                            const HostValue *otherwise)
{
    const HostValue *value = argument(arguments, index, name);
    if (!value) value = otherwise;
    if (value && value_is_number(value)) return value;
    complain(arguments, name, "a number");
    return NULL;
}

bool take_number(const Arguments *arguments, int index, const char *name, double otherwise,
                 double *out)
{
    const HostValue given = {.kind = HOST_FLOAT, .number = otherwise},
                    *value = take_value(arguments, index, name, &given);
    if (value) *out = value_number(value);
    return value != NULL;
}

bool take_integer(const Arguments *arguments, int index, const char *name, int64_t otherwise,
                  int64_t *out)
{
    const HostValue *value = argument(arguments, index, name);
    *out = otherwise;
    if (!value && otherwise != INT64_MIN) return true;
    if (value && value->kind == HOST_FLOAT && value->number > -0x1p63 && value->number < 0x1p63 &&
        value->number == trunc(value->number))
        *out = (int64_t)value->number;
    else if (value && (value->kind == HOST_INT || value->kind == HOST_BOOL))
        *out = value->integer;
    else
        return complain(arguments, name, "an integer");
    return true;
}

bool take_array(const Arguments *arguments, int index, const char *name, const Array **out)
{
    const HostValue *value = argument(arguments, index, name);
    if (!value || value->kind != HOST_ARRAY) return complain(arguments, name, "an array");
    *out = value->array;
    return true;
}

bool take_dtype(const Arguments *arguments, int index, DType otherwise, DType *out)
{
    const HostValue *value = argument(arguments, index, "dtype");
    *out = otherwise;
    if (!value) return true;
    if (value->kind != HOST_DTYPE) return complain(arguments, "dtype", "an element type");
    *out = value->dtype;
    return true;
}

bool take_shape(const Arguments *arguments, int index, int *rank, int64_t *shape)
{
    const HostValue *value = argument(arguments, index, "shape");
    if (value && value->kind == HOST_INT) {
        *rank = 1;
        shape[0] = value->integer;
        return true;
    }
    bool fine = value && (value->kind == HOST_TUPLE || value->kind == HOST_LIST) &&
                value->count <= ARRAY_RANK;
    for (int i = 0; fine && i < value->count; i++) {
        fine = value->items[i].kind == HOST_INT;
        shape[i] = value->items[i].integer;
    }
    if (!fine) return complain(arguments, "shape", "an integer or a tuple of at most 8");
    *rank = value->count;
    return true;
}

bool take_path(const Arguments *arguments, int index, const char **out)
{
    const HostValue *value = argument(arguments, index, "path");
    if (!value || value->kind != HOST_TEXT) return complain(arguments, "path", "a text");
    *out = value->text;
    return true;
}

HostStatus give_array(HostValue *result, Array *array)
{
    if (!array) return HOST_FAILED;
    *result = (HostValue){.kind = HOST_ARRAY, .array = array};
    return HOST_OK;
}

HostStatus give_bool(HostValue *result, bool value)
{
    *result = (HostValue){.kind = HOST_BOOL, .integer = value};
    return HOST_OK;
}
