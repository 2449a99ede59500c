/* buf.c: growing text. */
#include "base/base.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(Buf *buf)
{
    free(buf->data);
    *buf = (Buf){0};
}

static void buf_reserve(Buf *buf, size_t more)
{
    if (buf->capacity - buf->length > more) return;
    size_t capacity = buf->capacity == 0 ? 128 : buf->capacity;
    while (capacity - buf->length <= more) capacity *= 2;
    char *data = realloc(buf->data, capacity);
    if (data == NULL) {
        fprintf(stderr, "tilec: out of memory (%zu bytes of text)\n", capacity);
        exit(3);
    }
    buf->data = data;
    buf->capacity = capacity;
}

void buf_bytes(Buf *buf, const void *bytes, size_t length)
{
    buf_reserve(buf, length);
    if (length > 0) memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void buf_fill(Buf *buf, char c, size_t count)
{
    buf_reserve(buf, count);
    memset(buf->data + buf->length, c, count);
    buf->length += count;
    buf->data[buf->length] = '\0';
}

void buf_char(Buf *buf, char c)
{
    buf_bytes(buf, &c, 1);
}

void buf_text(Buf *buf, const char *text)
{
    buf_bytes(buf, text, strlen(text));
}

void buf_integer(Buf *buf, int64_t number)
{
    char digits[20];
    size_t first = sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do digits[--first] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0) digits[--first] = '-';
    buf_bytes(buf, digits + first, sizeof digits - first);
}

void buf_vprintf(Buf *buf, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    const size_t room = buf->capacity - buf->length;
    int length = vsnprintf(room > 0 ? buf->data + buf->length : NULL, room, format, arguments);
    if (length < 0) ICE("cannot format '%s'", format);
    if ((size_t)length >= room) {
        buf_reserve(buf, (size_t)length);
        vsnprintf(buf->data + buf->length, (size_t)length + 1, format, again);
    }
    buf->length += (size_t)length;
    va_end(again);
}

void buf_printf(Buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    buf_vprintf(buf, format, arguments);
    va_end(arguments);
}

static const char *short_escape(unsigned char c)
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    }
    return NULL;
}

/* A byte that is no UTF-8 becomes \udcXX, as Python's surrogateescape has it: JSON stays valid, and
 * a reader can get the byte back. */
void buf_quoted(Buf *buf, const char *text, size_t length)
{
    const unsigned char *bytes = (const unsigned char *)text;
    buf_char(buf, '"');
    for (size_t i = 0; i < length;) {
        uint32_t character;
        size_t count = utf8_decode(text + i, length - i, &character);
        if (short_escape(bytes[i]) != NULL)
            buf_text(buf, short_escape(bytes[i]));
        else if (count == 0)
            buf_printf(buf, "\\udc%02x", bytes[i]);
        else if (bytes[i] < 0x20 || bytes[i] == 0x7f)
            buf_printf(buf, "\\u%04x", bytes[i]);
        else
            buf_bytes(buf, bytes + i, count);
        i += count == 0 ? 1 : count;
    }
    buf_char(buf, '"');
}

static bool reads_back(double number, int precision, char *digits, size_t size)
{
    double back = 0;
    snprintf(digits, size, "%.*g", precision, number);
    return sscanf(digits, "%lf", &back) == 1 && back == number;
}

/* A power of two may lie in the middle of two numbers of 16 digits, and only the larger one be read
 * as it: numbers below lie closer than those above. */
static bool reads_back_above(double number, char *digits, size_t size)
{
    double back = 0;
    const int mode = fegetround();
    fesetround(number < 0 ? FE_DOWNWARD : FE_UPWARD);
    snprintf(digits, size, "%.16g", number);
    fesetround(mode);
    return sscanf(digits, "%lf", &back) == 1 && back == number;
}

void buf_float(Buf *out, double number)
{
    if (isnan(number)) {
        buf_text(out, "nan");
        return;
    }
    if (isinf(number)) {
        buf_text(out, number > 0 ? "inf" : "-inf");
        return;
    }
    char digits[40];
    int precision = 1;
    while (precision <= 16 && !reads_back(number, precision, digits, sizeof digits)) precision++;
    if (precision > 16 && !reads_back_above(number, digits, sizeof digits))
        snprintf(digits, sizeof digits, "%.17g", number);
    double magnitude = fabs(number);
    if (magnitude >= 1e16 || (magnitude != 0 && magnitude < 1e-4)) {
        buf_text(out, digits);
        return;
    }
    if (strchr(digits, 'e') != NULL) /* %g turns to exponents earlier than Python does */
        snprintf(digits, sizeof digits, "%.0f", number);
    buf_text(out, digits);
    if (strchr(digits, '.') == NULL) buf_text(out, ".0");
}
