/* fault.c: the end of a compiler that is wrong: what happened, and what makes it happen again.
 *
 * The state is broken, so nothing is asked of it: the command is what the system says it was, and
 * nothing that was registered to run at exit is run. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INTERNAL_STATUS = 4 };

/* As a shell would read it back. */
static void quote(const char *word, Buf *out)
{
    buf_char(out, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            buf_text(out, "'\\''");
        else
            buf_char(out, *word);
    buf_text(out, "' ");
}

/* Sources and other texts, not what an earlier run made of them. */
static void keep_file(Arena *arena, const char *folder, const char *path)
{
    struct stat info;
    size_t length;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return;
    const char *text = os_read_file(arena, path, &length), *slash = strrchr(path, '/');
    if (text != NULL && memchr(text, '\0', length) == NULL)
        os_write_file(os_join_path(arena, folder, slash != NULL ? slash + 1 : path), text, length);
}

static void keep_command(Arena *arena, const char *folder, const char *words, size_t length)
{
    Buf command = {0};
    char *where = getcwd(NULL, 0);
    buf_text(&command, "cd ");
    quote(where != NULL ? where : ".", &command);
    buf_char(&command, '\n');
    for (const char *word = words; word < words + length; word += strlen(word) + 1) {
        quote(word, &command);
        if (word == words) continue;
        keep_file(arena, folder, *word == '@' ? word + 1 : word);
    }
    buf_char(&command, '\n');
    os_write_file(os_join_path(arena, folder, "command"), command.data, command.length);
    buf_free(&command);
    free(where);
}

/* A folder with the command and the texts that it names. */
static void keep_reproducer(void)
{
    size_t length;
    Arena *arena = arena_new();
    const char *words = os_read_file(arena, "/proc/self/cmdline", &length);
    const char *folder = words != NULL ? os_temp_folder(arena) : NULL;
    if (folder == NULL) return;
    keep_command(arena, folder, words, length);
    fprintf(stderr, "The command and the files that it names are kept in %s.\n", folder);
}

static _Thread_local struct {
    void *place; /* a sigjmp_buf; NULL: the process ends */
    char *text;
    size_t size;
} refuge;

void fault_refuge_set(void *place, char *text, size_t size)
{
    refuge.place = place;
    refuge.text = text;
    refuge.size = size;
}

bool fault_refuge_is_set(void)
{
    return refuge.place != NULL;
}

void internal_error(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (refuge.place != NULL) {
        const int used = snprintf(refuge.text, refuge.size, "internal error: %s:%d: ", file, line);
        if (used >= 0 && (size_t)used < refuge.size)
            vsnprintf(refuge.text + used, refuge.size - (size_t)used, format, arguments);
        va_end(arguments);
        siglongjmp(*(sigjmp_buf *)refuge.place, 1);
    }
    fflush(NULL);
    fprintf(stderr, "tilec: internal error: %s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nThis is a fault of the compiler, not of the program that it was given.\n");
    fflush(stderr);
    va_end(arguments);
    keep_reproducer();
    fflush(stderr);
    _Exit(INTERNAL_STATUS);
}
