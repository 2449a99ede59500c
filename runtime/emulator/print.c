/* print.c: what emulated code prints. A kernel's text comes out whole, whatever other threads of
 * the program print. */
#include <stdio.h>
#include <string.h>

#include "../c_locale.h"
#include "emulator/emulator.h"

enum { TEXT = 4096, CONVERSION = 64 };

typedef struct Line {
    char text[TEXT];
    size_t length;
} Line;

static void append(Line *line, const char *text, size_t length)
{
    const size_t room = sizeof line->text - line->length;
    length = length < room ? length : room;
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

/* Formats are checked by the compiler: each conversion is of a 64-bit integer or of a double. */
static void append_value(Line *line, const char *conversion, size_t length, const uint32_t *slot)
{
    char format[CONVERSION], text[512];
    if (length >= sizeof format) return;
    memcpy(format, conversion, length);
    format[length] = '\0';
    int written;
    if (strchr("eEfFgGaA", conversion[length - 1])) {
        double value;
        memcpy(&value, slot, sizeof value);
        written = snprintf(text, sizeof text, format, value);
    } else {
        long long value;
        memcpy(&value, slot, sizeof value);
        written = conversion[length - 1] == 'c' ? snprintf(text, sizeof text, "%c", (int)value)
                                                : snprintf(text, sizeof text, format, value);
    }
    if (written > 0)
        append(line, text, (size_t)written < sizeof text ? (size_t)written : sizeof text - 1);
}

TILE_API void tile_emu_print(tile_emu_thread *thread, const char *format, uint32_t count)
{
    Line line = {.length = 0};
    uint32_t used = 0;
    const locale_t before = tile_enter_c_locale();
    while (*format) {
        const size_t plain = strcspn(format, "%");
        append(&line, format, plain);
        format += plain;
        if (!*format) break;
        const size_t length = 1 + strcspn(format + 1, "diouxXceEfFgGaA%") + 1;
        if (format[length - 1] == '%')
            append(&line, "%", 1);
        else if (used < count)
            append_value(&line, format, length, thread->in + 2 * used++);
        format += length;
    }
    tile_leave_c_locale(before);
    fwrite(line.text, 1, line.length, stdout);
    fflush(stdout);
}
