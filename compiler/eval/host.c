/* host.c: numbers of host code, and what kernels get of them. */
#include "eval/host.h"

bool value_is_number(const HostValue *value)
{
    return value->kind == HOST_INT || value->kind == HOST_FLOAT || value->kind == HOST_BOOL;
}

double value_number(const HostValue *number)
{
    return number->kind == HOST_FLOAT ? number->number : (double)number->integer;
}

bool value_encode(Session *session, Span at, const char *parameter, DType dtype,
                  const HostValue *value, uint64_t *cell)
{
    const bool is_any = dtype_is_float(dtype) || dtype == DTYPE_b1;
    if (!value_is_number(value) || (value->kind == HOST_FLOAT && !is_any)) {
        diag_report(session->diags, DIAG_argument_kind, at, parameter,
                    value_is_number(value) ? "an integer" : "a number");
        return false;
    }
    if (dtype_is_float(dtype))
        *cell = dtype_encode(dtype, value_number(value));
    else if (dtype == DTYPE_b1) /* a GPU looks at the lowest bit alone */
        *cell = value_number(value) != 0;
    else
        *cell = (uint64_t)value->integer;
    if (is_any || dtype_takes(dtype, value->integer)) return true;
    diag_report(session->diags, DIAG_argument_range, at, parameter, (long long)value->integer,
                dtype_user_name(dtype));
    return false;
}
