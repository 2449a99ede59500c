/* text.c: methods of text, and text made by formats. */
#include "eval/python/python.h"

#include <string.h>

static Object *part_of(Eval *eval, const char *data, const char *end)
{
    return object_text(eval, data, (size_t)(end - data));
}

/* Into the list of a text's parts. False: reported. */
static bool add_part(Eval *eval, Object *list, const char *data, const char *end, Span at)
{
    if (!eval_works(eval, 1, at)) return false;
    list_append(eval, list, part_of(eval, data, end));
    return true;
}

static const char *text_end(const Object *text)
{
    return text->as.text.data + text->as.text.length;
}

/* ---- splitting ---- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static Object *split_words(Eval *eval, const char *data, const char *end, int64_t limit, Span at)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (;;) {
        while (data < end && is_space(*data)) data++;
        if (data == end) return list;
        const char *start = data;
        while (data < end && !is_space(*data)) data++;
        if (limit-- == 0) {
            while (is_space(end[-1])) end--;
            data = end;
        }
        if (!add_part(eval, list, start, data, at)) return NULL;
    }
}

static bool split_arguments(Eval *eval, const Bound *bound, const Object **separator,
                            int64_t *limit)
{
    *limit = -1;
    *separator = NULL;
    if (bound->values[2] != NULL && !object_as_int(eval, bound->values[2], "maxsplit", limit))
        return false;
    if (*limit < 0) *limit = -1;
    if (bound->values[1] == NULL || bound->values[1]->kind == OBJECT_NONE) return true;
    *separator = text_argument(eval, bound->values[1], "the separator", bound->at);
    if (*separator != NULL && (*separator)->as.text.length > 0) return true;
    if (*separator != NULL) FAIL(eval, empty_argument, bound->at, "the separator");
    return false;
}

const char *find_part(const char *data, const char *end, const Object *part)
{
    if (part->as.text.length == 1) return memchr(data, *part->as.text.data, (size_t)(end - data));
    return memmem(data, (size_t)(end - data), part->as.text.data, part->as.text.length);
}

static char *turned(Eval *eval, const char *data, size_t length)
{
    char *copy = arena_copy_text(eval->arena, data, length);
    for (size_t i = 0; i < length; i++) copy[i] = data[length - 1 - i];
    return copy;
}

/* memmem() needs no longer than both are, and there is none from behind. */
static const char *find_last(Eval *eval, const char *data, const char *end, const Object *part)
{
    const size_t length = (size_t)(end - data), wanted = part->as.text.length;
    const char *whole = turned(eval, data, length);
    const char *found = memmem(whole, length, turned(eval, part->as.text.data, wanted), wanted);
    return found != NULL ? end - (found - whole) - wanted : NULL;
}

Object *text_split(Eval *eval, const Bound *bound)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    const char *data = bound->values[0]->as.text.data, *end = text_end(bound->values[0]);
    const Object *separator;
    int64_t limit;
    if (!split_arguments(eval, bound, &separator, &limit)) return NULL;
    if (separator == NULL) return split_words(eval, data, end, limit, bound->at);
    for (const char *next; limit-- != 0 && (next = find_part(data, end, separator)) != NULL;) {
        if (!add_part(eval, list, data, next, bound->at)) return NULL;
        data = next + separator->as.text.length;
    }
    list_append(eval, list, part_of(eval, data, end));
    return list;
}

Object *text_rsplit(Eval *eval, const Bound *bound)
{
    const char *data = bound->values[0]->as.text.data, *end = text_end(bound->values[0]);
    const Object *separator;
    int64_t limit;
    if (!split_arguments(eval, bound, &separator, &limit)) return NULL;
    if (limit < 0) return text_split(eval, bound);
    if (separator == NULL)
        return FAIL(eval, unsupported, bound->at, "rsplit() by spaces with maxsplit");
    Object *backwards = object_list(eval, OBJECT_LIST, NULL, 0);
    const size_t length = (size_t)(end - data), width = separator->as.text.length;
    const char *first = turned(eval, data, length), *next = first;
    const char *wanted = turned(eval, separator->as.text.data, width);
    for (const char *found; limit-- != 0 && (found = memmem(next, length - (size_t)(next - first),
                                                            wanted, width)) != NULL;) {
        if (!add_part(eval, backwards, end - (found - next), end, bound->at)) return NULL;
        end -= (size_t)(found - next) + width;
        next = found + width;
    }
    list_append(eval, backwards, part_of(eval, data, end));
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = backwards->as.list.count; i-- > 0;)
        list_append(eval, list, backwards->as.list.items[i]);
    return list;
}

Object *text_splitlines(Eval *eval, const Bound *bound)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    const char *data = bound->values[0]->as.text.data, *end = text_end(bound->values[0]);
    while (data < end) {
        const char *next = memchr(data, '\n', (size_t)(end - data));
        const char *stop = next != NULL ? next : end;
        const bool has_return = stop > data && stop[-1] == '\r';
        if (!add_part(eval, list, data, has_return ? stop - 1 : stop, bound->at)) return NULL;
        data = next != NULL ? next + 1 : end;
    }
    return list;
}

static Object *partition(Eval *eval, const Bound *bound, bool last)
{
    const Object *text = bound->values[0];
    const Object *separator = text_argument(eval, bound->values[1], "the separator", bound->at);
    if (separator == NULL) return NULL;
    const char *data = text->as.text.data, *end = text_end(text);
    const char *found =
        last ? find_last(eval, data, end, separator) : find_part(data, end, separator);
    Object *empty = object_text(eval, "", 0), *whole = bound->values[0];
    Object *parts[3] = {last ? empty : whole, empty, last ? whole : empty};
    if (found != NULL) {
        parts[0] = part_of(eval, data, found);
        parts[1] = bound->values[1];
        parts[2] = part_of(eval, found + separator->as.text.length, end);
    }
    return object_list(eval, OBJECT_TUPLE, parts, 3);
}

Object *text_partition(Eval *eval, const Bound *bound)
{
    return partition(eval, bound, false);
}

Object *text_rpartition(Eval *eval, const Bound *bound)
{
    return partition(eval, bound, true);
}

/* ---- finding ---- */

static Object *find_at(Eval *eval, const Bound *bound, bool last, bool must)
{
    const Object *text = bound->values[0];
    const Object *part = text_argument(eval, bound->values[1], "what is looked for", bound->at);
    if (part == NULL) return NULL;
    const char *found = last ? find_last(eval, text->as.text.data, text_end(text), part)
                             : find_part(text->as.text.data, text_end(text), part);
    if (found == NULL && must) return FAIL(eval, not_found, bound->at, "substring");
    if (found == NULL) return object_int(eval, -1);
    const size_t before = (size_t)(found - text->as.text.data);
    return object_int(eval, (int64_t)count_characters(text->as.text.data, before));
}

Object *text_find(Eval *eval, const Bound *bound)
{
    return find_at(eval, bound, false, false);
}

Object *text_rfind(Eval *eval, const Bound *bound)
{
    return find_at(eval, bound, true, false);
}

Object *text_index(Eval *eval, const Bound *bound)
{
    return find_at(eval, bound, false, true);
}

Object *text_count(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    const Object *part = text_argument(eval, bound->values[1], "what is counted", bound->at);
    if (part == NULL) return NULL;
    int64_t count = 0;
    size_t step = part->as.text.length > 0 ? part->as.text.length : 1;
    const char *end = text_end(text);
    for (const char *next = text->as.text.data;
         next <= end && (next = find_part(next, end, part)) != NULL; next += step)
        count++;
    return object_int(eval, count);
}

/* ---- cutting and filling ---- */

static const char *behind_first(const char *first, const char *last)
{
    do first++;
    while (first < last && continues_character(*first));
    return first;
}

static const char *before_last(const char *first, const char *last)
{
    do last--;
    while (last > first && continues_character(*last));
    return last;
}

/* The letters to strip: those of one byte by a table. */
typedef struct Letters {
    const Object *text;
    bool bytes[128];
} Letters;

static void read_letters(const Object *text, Letters *out)
{
    *out = (Letters){.text = text};
    for (size_t i = 0; i < text->as.text.length; i++) {
        const unsigned char c = (unsigned char)text->as.text.data[i];
        if (c < 128) out->bytes[c] = true;
    }
}

static bool has_letter(Eval *eval, const Letters *letters, const char *begin, const char *end)
{
    const unsigned char c = (unsigned char)*begin;
    const Object *text = letters->text;
    if (c < 128) return letters->bytes[c];
    return eval_work(eval, text->as.text.length / WORK_BYTES) &&
           memmem(text->as.text.data, text->as.text.length, begin, (size_t)(end - begin));
}

static Object *strip(Eval *eval, const Bound *bound, bool left, bool right)
{
    const char *first = bound->values[0]->as.text.data, *last = text_end(bound->values[0]);
    const bool given = bound->values[1] != NULL && bound->values[1]->kind != OBJECT_NONE;
    const Object *letters = given ? text_argument(eval, bound->values[1], "the letters", bound->at)
                                  : object_text(eval, " \t\n\r\v\f", 6);
    if (letters == NULL) return NULL;
    Letters set;
    read_letters(letters, &set);
    while (left && first < last && has_letter(eval, &set, first, behind_first(first, last)))
        first = behind_first(first, last);
    while (right && first < last && has_letter(eval, &set, before_last(first, last), last))
        last = before_last(first, last);
    return part_of(eval, first, last);
}

Object *text_strip(Eval *eval, const Bound *bound)
{
    return strip(eval, bound, true, true);
}

Object *text_lstrip(Eval *eval, const Bound *bound)
{
    return strip(eval, bound, true, false);
}

Object *text_rstrip(Eval *eval, const Bound *bound)
{
    return strip(eval, bound, false, true);
}

enum { MOST_WIDTH = 1 << 20 };

static Object *justify(Eval *eval, const Bound *bound, const char *align)
{
    int64_t width;
    if (!object_as_int(eval, bound->values[1], "the width", &width)) return NULL;
    const char *fill = bound->values[2] != NULL && bound->values[2]->kind == OBJECT_TEXT
                           ? bound->values[2]->as.text.data
                           : " ";
    if (width > MOST_WIDTH) return FAIL(eval, text_width, bound->at);
    if (width < 0) width = 0;
    const Object *text = bound->values[0];
    int64_t missing = width - (int64_t)count_characters(text->as.text.data, text->as.text.length);
    int64_t left = *align == '<'   ? 0
                   : *align == '>' ? missing
                                   : missing / 2 + (missing & width & 1);
    Buf buf = {0};
    const size_t fills = missing > 0 ? (size_t)missing * strlen(fill) : 0;
    const bool good = eval_works(eval, fills / WORK_LETTERS, bound->at) &&
                      text_grows(eval, &buf, text->as.text.length + fills, bound->at);
    for (int64_t i = 0; good && i < left; i++) buf_text(&buf, fill);
    buf_bytes(&buf, text->as.text.data, text->as.text.length);
    for (int64_t i = left; good && i < missing; i++) buf_text(&buf, fill);
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

Object *text_ljust(Eval *eval, const Bound *bound)
{
    return justify(eval, bound, "<");
}

Object *text_rjust(Eval *eval, const Bound *bound)
{
    return justify(eval, bound, ">");
}

Object *text_center(Eval *eval, const Bound *bound)
{
    return justify(eval, bound, "^");
}

Object *text_zfill(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    bool sign = text->as.text.length > 0 && strchr("+-", text->as.text.data[0]) != NULL;
    Object *digits = part_of(eval, text->as.text.data + sign, text_end(text));
    int64_t width;
    if (!object_as_int(eval, bound->values[1], "the width", &width)) return NULL;
    if (width < 1) width = 1;
    Bound inner = {.values = {digits, object_int(eval, width - sign), object_text(eval, "0", 1)},
                   .at = bound->at};
    Object *filled = text_rjust(eval, &inner);
    return sign ? operate_binary(eval, OPERATOR_Add, object_text(eval, text->as.text.data, 1),
                                 filled, bound->at)
                : filled;
}

static Object *remove_part(Eval *eval, const Bound *bound, bool front)
{
    Object *test = front ? text_startswith(eval, bound) : text_endswith(eval, bound);
    if (test == NULL || test == eval->no) return test != NULL ? bound->values[0] : NULL;
    size_t length = bound->values[1]->as.text.length;
    const char *data = bound->values[0]->as.text.data;
    return front ? part_of(eval, data + length, text_end(bound->values[0]))
                 : part_of(eval, data, text_end(bound->values[0]) - length);
}

Object *text_removeprefix(Eval *eval, const Bound *bound)
{
    return remove_part(eval, bound, true);
}

Object *text_removesuffix(Eval *eval, const Bound *bound)
{
    return remove_part(eval, bound, false);
}

/* ---- letters ---- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
    return is_upper(c) || is_lower(c) || (unsigned char)c >= 128;
}

static bool is_alnum(char c)
{
    return is_alpha(c) || is_digit(c);
}

static bool is_name(char c)
{
    return is_alnum(c) || c == '_';
}

static Object *capitalize(Eval *eval, const Object *text, bool every_word)
{
    char *copy = arena_copy_text(eval->arena, text->as.text.data, text->as.text.length);
    bool first = true;
    for (size_t i = 0; i < text->as.text.length; i++) {
        if (first && is_lower(copy[i]))
            copy[i] = (char)(copy[i] - 32);
        else if (!first && is_upper(copy[i]))
            copy[i] = (char)(copy[i] + 32);
        first = every_word && !is_alpha(copy[i]);
    }
    return object_text(eval, copy, text->as.text.length);
}

Object *text_capitalize(Eval *eval, const Bound *bound)
{
    return capitalize(eval, bound->values[0], false);
}

Object *text_title(Eval *eval, const Bound *bound)
{
    return capitalize(eval, bound->values[0], true);
}

static Object *all_letters(Eval *eval, const Object *text, bool (*test)(char))
{
    for (size_t i = 0; i < text->as.text.length; i++)
        if (!test(text->as.text.data[i])) return eval->no;
    return object_bool(eval, text->as.text.length > 0);
}

/* Whether there are letters of one case and none of the other. */
static Object *one_case(Eval *eval, const Object *text, bool (*wanted)(char), bool (*other)(char))
{
    bool some = false;
    for (size_t i = 0; i < text->as.text.length; i++) {
        if (other(text->as.text.data[i])) return eval->no;
        some |= wanted(text->as.text.data[i]);
    }
    return object_bool(eval, some);
}

Object *text_isdigit(Eval *eval, const Bound *bound)
{
    return all_letters(eval, bound->values[0], is_digit);
}

Object *text_isalpha(Eval *eval, const Bound *bound)
{
    return all_letters(eval, bound->values[0], is_alpha);
}

Object *text_isalnum(Eval *eval, const Bound *bound)
{
    return all_letters(eval, bound->values[0], is_alnum);
}

Object *text_isspace(Eval *eval, const Bound *bound)
{
    return all_letters(eval, bound->values[0], is_space);
}

Object *text_isupper(Eval *eval, const Bound *bound)
{
    return one_case(eval, bound->values[0], is_upper, is_lower);
}

Object *text_islower(Eval *eval, const Bound *bound)
{
    return one_case(eval, bound->values[0], is_lower, is_upper);
}

Object *text_isidentifier(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    if (text->as.text.length > 0 && is_digit(text->as.text.data[0])) return eval->no;
    return all_letters(eval, text, is_name);
}

/* ---- characters and digits ---- */

Object *builtin_ord(Eval *eval, const Bound *bound)
{
    const Object *text = text_argument(eval, bound->values[0], "the argument of ord()", bound->at);
    if (text == NULL) return NULL;
    const unsigned char *c = (const unsigned char *)text->as.text.data;
    size_t length = text->as.text.length;
    int tail = c[0] < 0x80 ? 0 : c[0] < 0xE0 ? 1 : c[0] < 0xF0 ? 2 : 3;
    if (length != (size_t)tail + 1) return FAIL(eval, one_character, bound->at);
    int64_t value = tail == 0 ? c[0] : c[0] & (0x3F >> tail);
    for (int i = 1; i <= tail; i++) value = value << 6 | (c[i] & 0x3F);
    return object_int(eval, value);
}

Object *builtin_chr(Eval *eval, const Bound *bound)
{
    int64_t value;
    if (!object_as_int(eval, bound->values[0], "the argument of chr()", &value)) return NULL;
    if (value < 0 || value > 0x10FFFF) return FAIL(eval, character_number, bound->at);
    char text[4];
    int tail = value < 0x80 ? 0 : value < 0x800 ? 1 : value < 0x10000 ? 2 : 3;
    static const unsigned char LEADS[] = {0, 0xC0, 0xE0, 0xF0};
    for (int i = tail; i > 0; i--, value >>= 6) text[i] = (char)(0x80 | (value & 0x3F));
    text[0] = (char)(LEADS[tail] | value);
    return object_text(eval, text, (size_t)tail + 1);
}

static Object *digits_of(Eval *eval, const Bound *bound, const char *spec)
{
    int64_t value;
    Object *number = bound->values[0];
    if (number->kind == OBJECT_WIDE) return format_object(eval, number, spec, bound->at);
    if (!object_as_int(eval, number, "the argument", &value)) return NULL;
    return format_object(eval, object_int(eval, value), spec, bound->at);
}

Object *builtin_hex(Eval *eval, const Bound *bound)
{
    return digits_of(eval, bound, "#x");
}

Object *builtin_oct(Eval *eval, const Bound *bound)
{
    return digits_of(eval, bound, "#o");
}

Object *builtin_bin(Eval *eval, const Bound *bound)
{
    return digits_of(eval, bound, "#b");
}
