/* utf8.c: one character to and from its bytes. */
#include "base/base.h"

static size_t length_of_lead(unsigned char lead)
{
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) /* a continuation, an overlong form, or past the last plane */
        return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

size_t utf8_decode(const char *text, size_t length, uint32_t *character)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t count = length == 0 ? 0 : length_of_lead(bytes[0]);
    if (count == 0 || count > length) return 0;
    uint32_t c = count == 1 ? bytes[0] : bytes[0] & (0x7fu >> count);
    for (size_t i = 1; i < count; i++) {
        if (!continues_character(text[i])) return 0;
        c = c << 6 | (bytes[i] & 0x3f);
    }
    bool overlong = (count == 3 && c < 0x800) || (count == 4 && c < 0x10000);
    if (overlong || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) return 0;
    *character = c;
    return count;
}

void buf_character(Buf *buf, uint32_t c)
{
    if (c < 0x80) {
        buf_char(buf, (char)c);
        return;
    }
    if (c < 0x800) {
        buf_char(buf, (char)(0xc0 | c >> 6));
    } else if (c < 0x10000) {
        buf_char(buf, (char)(0xe0 | c >> 12));
        buf_char(buf, (char)(0x80 | (c >> 6 & 0x3f)));
    } else {
        buf_char(buf, (char)(0xf0 | c >> 18));
        buf_char(buf, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_char(buf, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    buf_char(buf, (char)(0x80 | (c & 0x3f)));
}
