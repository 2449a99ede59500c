/* arguments.h: what a function of tile.host finds of its arguments, and what it gives. */
#ifndef TILEC_COMMAND_ARRAY_ARGUMENTS_H
#define TILEC_COMMAND_ARRAY_ARGUMENTS_H

#include "command/array/arrays.h"

typedef struct Arguments {
    ArrayContext *context;
    const HostCall *call;
} Arguments;

typedef HostStatus ArrayFunction(const Arguments *arguments, HostValue *result);

/* By position, else by name; NULL if it is not given. */
const HostValue *argument(const Arguments *arguments, int index, const char *name);
/* Reports that an argument is not what is wanted; false. */
bool complain(const Arguments *arguments, const char *name, const char *wanted);
/* The number itself, `otherwise` if it is not given. NULL: reported, as it is where there is
 * neither. */
const HostValue *take_value(const Arguments *arguments, int index, const char *name,
                            const HostValue *otherwise);
/* False: reported. */
bool take_number(const Arguments *arguments, int index, const char *name, double otherwise,
                 double *out);
/* Whole floats are integers. `otherwise` INT64_MIN: it must be given. */
bool take_integer(const Arguments *arguments, int index, const char *name, int64_t otherwise,
                  int64_t *out);
bool take_array(const Arguments *arguments, int index, const char *name, const Array **out);
bool take_dtype(const Arguments *arguments, int index, DType otherwise, DType *out);
bool take_shape(const Arguments *arguments, int index, int *rank, int64_t *shape);
bool take_path(const Arguments *arguments, int index, const char **out);
HostStatus give_array(HostValue *result, Array *array); /* NULL: it was reported */
HostStatus give_bool(HostValue *result, bool value);

/* ---- array/methods.c: NULL if arrays have no method of that name ---- */
ArrayFunction *array_method(const char *name);

/* ---- array/primitives.c: NULL if there is no such function; those of the library begin with _
 * ---- */
ArrayFunction *array_primitive(const char *name);
const char *array_primitive_name(size_t index); /* NULL: there are no more */

#endif
