/* remark.c: what passes say of a kernel's speed. */
#include "ir/ir.h"

#include <stdarg.h>
#include <stdio.h>

void kernel_remark(Kernel *kernel, Span span, const char *format, ...)
{
    if (!kernel->wants_remarks) return;
    va_list arguments;
    char text[512];
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    Remark *remark = arena_new_of(kernel->arena, Remark);
    *remark = (Remark){.next = kernel->remarks, .span = span};
    remark->text = arena_copy_text(kernel->arena, text,
                                   (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    kernel->remarks = remark;
}
