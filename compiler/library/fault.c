/* fault.c: the end of a build that went wrong inside the compiler. It is not the end of the
 * program: this stands for base/fault.c in the library. */
#include "library/library.h"

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local Refuge *current;

void refuge_set(Refuge *refuge)
{
    current = refuge;
}

void internal_error(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    if (!current) abort(); /* every thread of the library's has one */
    va_start(arguments, format);
    const int used = snprintf(current->text, current->bytes, "internal error: %s:%d: ", file, line);
    if (used >= 0 && (size_t)used < current->bytes)
        vsnprintf(current->text + used, current->bytes - (size_t)used, format, arguments);
    va_end(arguments);
    longjmp(current->place, 1);
}
