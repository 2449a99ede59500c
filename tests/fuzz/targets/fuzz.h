/* fuzz.h: what the targets of libFuzzer share. Each gives one part of the compiler or the runtime
 * any bytes at all: whatever they are, it ends, in reasonable time and memory, and says what is
 * wrong with them.
 *
 * internal_error is wrapped (-Wl,--wrap): a broken invariant is a crash like any other. */
#ifndef TILEC_TESTS_FUZZ_H
#define TILEC_TESTS_FUZZ_H

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *count, char ***words);

/* As the compiler does. */
int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count, (void)words;
    stack_raise();
    return 0;
}

_Noreturn void __wrap_internal_error(const char *file, int line, const char *format, ...);
_Noreturn void __wrap_internal_error(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: internal error: ", file, line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    abort();
}

__attribute__((unused)) static Source *fuzz_source(Session *session, const char *path,
                                                   const uint8_t *data, size_t size)
{
    return source_from_text(session, path, (const char *)data, size);
}

/* Messages are made as a user sees them: a wrong place breaks the rendering. */
__attribute__((unused)) static void fuzz_close(Session *session)
{
    Buf text = {0};
    diag_render(session->diags, DIAG_TEXT, false, &text);
    diag_render(session->diags, DIAG_JSON, false, &text);
    buf_free(&text);
    session_free(session);
}

#endif
