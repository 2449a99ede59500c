/* depfile.c: a Make rule that names what an output was made from. */
#include "emit/emit.h"

/* Make's quoting: a backslash before space and '#', two dollars for one. */
static void print_name(const char *name, Buf *out)
{
    for (; *name; name++) {
        if (*name == ' ' || *name == '#') buf_char(out, '\\');
        if (*name == '$') buf_char(out, '$');
        buf_char(out, *name);
    }
}

void emit_depfile(const char *target, const char *const *inputs, int count, bool phony, Buf *out)
{
    print_name(target, out);
    buf_char(out, ':');
    for (int i = 0; i < count; i++) {
        buf_text(out, i ? " \\\n  " : " ");
        print_name(inputs[i], out);
    }
    buf_char(out, '\n');
    for (int i = 1; phony && i < count; i++) {
        print_name(inputs[i], out);
        buf_text(out, ":\n");
    }
}
