/* format.c: text made by formats: f"{x:...}", format(), '...'.format() and 'text' % values. */
#include "eval/python/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- specifications: [[fill]align][sign][z][#][0][width][,][.precision][type] ---- */

enum { WIDTH_LIMIT = 1 << 16 };

typedef struct FormatSpec {
    char fill[5];    /* one character, as UTF-8 */
    char align;      /* '\0': as the kind of value has it */
    char sign, type; /* '\0': not given */
    bool alternate;
    bool drops_minus;     /* of what rounds to zero */
    char separator;       /* of thousands, or '\0' */
    int width, precision; /* -1: no precision is given */
    int digits;           /* at least, of an integer */
} FormatSpec;

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '^' || c == '=';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number at *text; false: too large. */
static bool read_number(const char **text, int *out)
{
    char *end;
    const long number = strtol(*text, &end, 10);
    *text = end;
    *out = (int)number;
    return number <= WIDTH_LIMIT;
}

static bool parse_spec(const char *spec, FormatSpec *out)
{
    *out = (FormatSpec){.fill = " ", .precision = -1};
    uint32_t character;
    const size_t first = spec[0] != '\0' ? utf8_decode(spec, strlen(spec), &character) : 0;
    const bool has_fill = first > 0 && first < sizeof out->fill && is_align(spec[first]);
    if (has_fill) {
        memcpy(out->fill, spec, first);
        out->fill[first] = '\0';
        spec += first;
    }
    if (is_align(*spec)) out->align = *spec++;
    if (*spec == '+' || *spec == '-' || *spec == ' ') out->sign = *spec++;
    out->drops_minus = *spec == 'z';
    spec += out->drops_minus;
    out->alternate = *spec == '#';
    spec += out->alternate;
    if (*spec == '0' && !has_fill) {
        strcpy(out->fill, "0");
        if (out->align == '\0') out->align = '0';
    }
    if (is_digit(*spec) && !read_number(&spec, &out->width)) return false;
    if (*spec == ',' || *spec == '_') out->separator = *spec++;
    if (*spec == '.') {
        spec++;
        if (!is_digit(*spec) || !read_number(&spec, &out->precision)) return false;
    }
    out->type = *spec;
    return *spec == '\0' || spec[1] == '\0';
}

/* What text has none of, or an integer; NULL: nothing of that is given. */
static const char *part_out_of_place(const FormatSpec *spec, bool is_text)
{
    if (!is_text) return spec->precision >= 0 ? "Precision" : NULL;
    return spec->sign != '\0'   ? "Sign"
           : spec->alternate    ? "Alternate form (#)"
           : spec->align == '=' ? "'=' alignment"
                                : NULL;
}

static bool refuses_separator(const FormatSpec *spec, bool is_text)
{
    if (is_text) return spec->separator != '\0';
    return spec->separator == ',' && spec->type != '\0' && strchr("boxX", spec->type) != NULL;
}

/* Whether the specification is one for numbers, or text, of this kind. */
static bool spec_fits(Eval *eval, const FormatSpec *spec, const Object *object, Span at)
{
    const bool is_float = object->kind == OBJECT_FLOAT, is_text = object->kind == OBJECT_TEXT;
    const char *types = is_float ? "eEfFgGn%" : is_text ? "s" : "bcdoxXneEfFgG%";
    const char *kind = is_float ? "float" : is_text ? "str" : "int";
    const bool as_float = spec->type != '\0' && strchr("eEfFgG%", spec->type) != NULL;
    if (spec->type != '\0' && strchr(types, spec->type) == NULL)
        return FAIL(eval, format_code, at, spec->type, kind) != NULL;
    if (is_float || as_float) return true;
    const char *part = part_out_of_place(spec, is_text);
    if (part != NULL)
        return FAIL(eval, format_part, at, part, is_text ? "string" : "integer") != NULL;
    return !refuses_separator(spec, is_text) ||
           FAIL(eval, format_separator, at, spec->separator, is_text ? 's' : spec->type) != NULL;
}

/* ---- padding ---- */

static void fill_with(Buf *out, const char *fill, size_t times)
{
    for (size_t i = 0; i < times; i++) buf_text(out, fill);
}

static Object *pad(Eval *eval, const FormatSpec *spec, const char *sign, const Buf *body,
                   char default_align)
{
    const bool zeros = spec->align == '0'; /* in front of a number's digits, behind text */
    char align = zeros ? (default_align == '>' ? '=' : '<') : spec->align;
    if (align == '\0') align = default_align;
    const size_t length = strlen(sign) + count_characters(body->data, body->length);
    const size_t missing = (size_t)spec->width > length ? (size_t)spec->width - length : 0;
    const size_t before = align == '>' ? missing : align == '^' ? missing / 2 : 0;
    Buf out = {0};
    fill_with(&out, spec->fill, before);
    buf_text(&out, sign);
    if (align == '=') fill_with(&out, spec->fill, missing);
    buf_bytes(&out, body->data != NULL ? body->data : "", body->length);
    if (align != '=') fill_with(&out, spec->fill, missing - before);
    Object *text = object_text(eval, out.data != NULL ? out.data : "", out.length);
    buf_free(&out);
    return text;
}

/* ---- numbers ---- */

static void integer_digits(const FormatSpec *spec, uint64_t magnitude, Buf *out)
{
    if (spec->type == 'b') {
        int bits = 1;
        while (bits < 64 && magnitude >> bits != 0) bits++;
        while (bits-- > 0) buf_char(out, magnitude >> bits & 1 ? '1' : '0');
        return;
    }
    const char *format = spec->type == 'x'   ? "%0*llx"
                         : spec->type == 'X' ? "%0*llX"
                         : spec->type == 'o' ? "%0*llo"
                                             : "%0*llu";
    buf_printf(out, format, spec->digits, (unsigned long long)magnitude);
}

/* Without a type: as %g, but with a digit behind the point. */
static void short_float(const FormatSpec *spec, double magnitude, Buf *out)
{
    if (spec->precision < 0) {
        buf_float(out, magnitude);
        return;
    }
    const int precision = spec->precision > 0 ? spec->precision : 1;
    Buf scientific = {0};
    buf_printf(&scientific, "%.*e", precision - 1, magnitude);
    char *mark = strchr(scientific.data, 'e'), *last = mark;
    const long exponent = strtol(mark + 1, NULL, 10);
    if (exponent != precision - 1) {
        const size_t start = out->length;
        buf_printf(out, spec->alternate ? "%#.*g" : "%.*g", precision, magnitude);
        if (memchr(out->data + start, '.', out->length - start) == NULL &&
            memchr(out->data + start, 'e', out->length - start) == NULL)
            buf_text(out, ".0");
    } else { /* no digit is left for behind the point */
        while (!spec->alternate && precision > 1 && (last[-1] == '0' || last[-1] == '.')) {
            if (*--last == '.') break;
        }
        buf_bytes(out, scientific.data, (size_t)(last - scientific.data));
        buf_text(out, mark);
    }
    buf_free(&scientific);
}

static void float_digits(const FormatSpec *spec, double value, Buf *out)
{
    double magnitude = fabs(value);
    if (spec->type == '%') magnitude *= 100;
    if (!isfinite(magnitude)) {
        const bool large = spec->type != '\0' && strchr("EFG", spec->type) != NULL;
        buf_text(out, isnan(magnitude) ? (large ? "NAN" : "nan") : (large ? "INF" : "inf"));
    } else if (spec->type == '\0') {
        short_float(spec, magnitude, out);
    } else {
        const char letter = spec->type == '%' ? 'f' : spec->type == 'n' ? 'g' : spec->type;
        const char format[] = {'%', '#', '.', '*', letter, '\0'};
        const char plain[] = {'%', '.', '*', letter, '\0'};
        buf_printf(out, spec->alternate ? format : plain, spec->precision < 0 ? 6 : spec->precision,
                   magnitude);
    }
    if (spec->type == '%') buf_char(out, '%');
}

/* The digits in groups; zeros in front fill at least `width`. */
static void group_digits(Buf *out, const char *digits, size_t count, const FormatSpec *spec,
                         size_t width)
{
    const size_t every = spec->type != '\0' && strchr("boxX", spec->type) != NULL ? 4 : 3;
    size_t shown = count;
    while (shown + (shown - 1) / every < width) shown++;
    for (size_t i = 0; i < shown; i++) {
        if (i > 0 && (shown - i) % every == 0) buf_char(out, spec->separator);
        buf_char(out, i < shown - count ? '0' : digits[i - (shown - count)]);
    }
}

static const char *base_prefix(const FormatSpec *spec)
{
    if (!spec->alternate) return "";
    return spec->type == 'x'   ? "0x"
           : spec->type == 'X' ? "0X"
           : spec->type == 'o' ? "0o"
           : spec->type == 'b' ? "0b"
                               : "";
}

static bool all_zero(const Buf *digits)
{
    for (size_t i = 0; i < digits->length && digits->data[i] != 'e'; i++)
        if (digits->data[i] >= '1' && digits->data[i] <= '9') return false;
    return digits->length > 0 && is_digit(digits->data[0]);
}

static Object *format_number(Eval *eval, const FormatSpec *spec, const Object *number)
{
    const bool as_float = number->kind == OBJECT_FLOAT ||
                          (spec->type != '\0' && strchr("eEfFgG%", spec->type) != NULL);
    Buf digits = {0}, body = {0};
    bool negative;
    if (as_float) {
        const double value = object_number(number);
        negative = signbit(value) && !isnan(value);
        float_digits(spec, value, &digits);
    } else {
        uint64_t magnitude;
        if (!wide_parts(number, &negative, &magnitude))
            return FAIL(eval, wide_integer, eval->at, object_repr(eval, number), "");
        integer_digits(spec, magnitude, &digits);
    }
    if (spec->drops_minus && all_zero(&digits)) negative = false;
    const char *sign = arena_printf(eval->arena, "%s%s",
                                    negative            ? "-"
                                    : spec->sign == '+' ? "+"
                                    : spec->sign == ' ' ? " "
                                                        : "",
                                    as_float ? "" : base_prefix(spec));
    const size_t whole = as_float ? strspn(digits.data, "0123456789") : digits.length;
    if (spec->separator != '\0' && whole > 0) {
        const size_t others = strlen(sign) + digits.length - whole, width = (size_t)spec->width;
        const bool zeros =
            spec->align == '0' || (spec->align == '=' && strcmp(spec->fill, "0") == 0);
        group_digits(&body, digits.data, whole, spec, zeros && width > others ? width - others : 0);
        buf_bytes(&body, digits.data + whole, digits.length - whole);
    } else {
        buf_bytes(&body, digits.data, digits.length);
    }
    Object *result = pad(eval, spec, sign, &body, '>');
    buf_free(&digits);
    buf_free(&body);
    return result;
}

/* ---- one value ---- */

static Object *format_text_value(Eval *eval, const FormatSpec *spec, const Object *object)
{
    Buf body = {0};
    object_print(eval, object, TEXT_STR, &body);
    for (size_t end = 0, count = 0; spec->precision >= 0 && end < body.length; end++) {
        count += !continues_character(body.data[end]);
        if (count > (size_t)spec->precision) body.length = end;
    }
    Object *result = pad(eval, spec, "", &body, object_is_number(object) ? '>' : '<');
    buf_free(&body);
    return result;
}

/* {:c}: the character with that number. */
static Object *numbered_character(Eval *eval, const Object *number)
{
    Buf buf = {0};
    buf_character(&buf, (uint32_t)number->as.integer);
    Object *text = object_text(eval, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

/* Python's own containers have no formats. */
static bool takes_no_format(const Object *object)
{
    const ObjectKind kind = object->kind;
    return kind == OBJECT_NONE || kind == OBJECT_LIST || kind == OBJECT_TUPLE ||
           kind == OBJECT_DICT || kind == OBJECT_SET;
}

Object *format_object(Eval *eval, Object *object, const char *text, Span at)
{
    FormatSpec spec;
    Object *method = special_method(eval, object, "__format__");
    if (method != NULL) {
        Object *given = object_text(eval, text, strlen(text));
        Object *result = eval->ops->call_simple(eval, method, 2, (Object *[]){object, given}, at);
        if (result == NULL || result->kind == OBJECT_TEXT) return result;
        return FAIL(eval, expected_kind, at, "what __format__ returns", "a str",
                    object_repr(eval, result));
    }
    if (text[0] == '\0') return object_converted(eval, object, 's');
    if (takes_no_format(object))
        return raise_python(
            eval, "TypeError",
            arena_printf(eval->arena, "unsupported format string passed to %s.__format__",
                         object == eval->none ? "NoneType" : object_kind_name(object)),
            at);
    if (!parse_spec(text, &spec)) return FAIL(eval, bad_format, at, text);
    if (!object_is_real(object) && object->kind != OBJECT_TEXT)
        return format_text_value(eval, &spec, object);
    if (!spec_fits(eval, &spec, object, at)) return NULL;
    if (object->kind == OBJECT_TEXT) return format_text_value(eval, &spec, object);
    if (spec.type != 'c') return format_number(eval, &spec, object);
    if (object->kind == OBJECT_WIDE || object->as.integer < 0 || object->as.integer > 0x10ffff)
        return raise_python(eval, "OverflowError", "%c arg not in range(0x110000)", at);
    return format_text_value(eval, &spec, numbered_character(eval, object));
}

Object *builtin_format(Eval *eval, const Bound *bound)
{
    const char *spec = "";
    if (bound->values[1] != NULL) {
        const Object *text = text_argument(eval, bound->values[1], "the format", bound->at);
        if (text == NULL) return NULL;
        spec = text->as.text.data;
    }
    return format_object(eval, bound->values[0], spec, bound->at);
}

/* ---- '...'.format(...) ---- */

typedef struct Formatting {
    const Object *values, *named;
    uint32_t next;
    Span at;
} Formatting;

static Object *field_root(Eval *eval, Formatting *formatting, const char *name, size_t length)
{
    const Object *values = formatting->values;
    bool number = length == 0 || is_digit(name[0]);
    uint32_t index = length == 0 ? formatting->next++ : (uint32_t)strtoul(name, NULL, 10);
    if (number && index < values->as.list.count) return values->as.list.items[index];
    if (number)
        return FAIL(eval, index_range, formatting->at, (long long)index, "the values of format()",
                    (long long)values->as.list.count);
    Object *key = object_text(eval, name, length);
    Object *value = dict_get(eval, formatting->named, key);
    return value != NULL ? value : raise_no_key(eval, formatting->named, key, formatting->at);
}

/* name, then .attribute and [key] */
static Object *field_value(Eval *eval, Formatting *formatting, const char *field, const char *end)
{
    size_t length = strcspn(field, ".[!:}");
    Object *value = field_root(eval, formatting, field, length);
    field += length;
    while (value != NULL && field < end && (*field == '.' || *field == '[')) {
        bool attribute = *field++ == '.';
        length = strcspn(field, attribute ? ".[!:}" : "]");
        Object *key = is_digit(*field) ? object_int(eval, strtol(field, NULL, 10))
                                       : object_text(eval, field, length);
        value = attribute ? attribute_get(eval, value, intern(eval->session->names, field, length),
                                          formatting->at)
                          : item_get(eval, value, key, formatting->at);
        field += length + !attribute;
    }
    return value;
}

static Object *format_text(Eval *eval, Formatting *formatting, const char *data, const char *end,
                           int depth);

/* One {field!conversion:spec}; `end` is its closing brace. */
static Object *format_field(Eval *eval, Formatting *formatting, const char *data, const char *end,
                            int depth)
{
    Object *value = field_value(eval, formatting, data, end);
    const char *colon = memchr(data, ':', (size_t)(end - data));
    const char *mark = memchr(data, '!', (size_t)((colon != NULL ? colon : end) - data));
    if (value == NULL) return NULL;
    if (mark != NULL) value = object_converted(eval, value, mark[1]);
    Object *spec = colon == NULL ? object_text(eval, "", 0)
                                 : format_text(eval, formatting, colon + 1, end, depth + 1);
    return spec != NULL ? format_object(eval, value, spec->as.text.data, formatting->at) : NULL;
}

static const char *field_end(const char *data, const char *end)
{
    int depth = 1;
    for (; data < end; data++) {
        depth += (*data == '{') - (*data == '}');
        if (depth == 0) return data;
    }
    return NULL;
}

static Object *format_text(Eval *eval, Formatting *formatting, const char *data, const char *end,
                           int depth)
{
    Buf buf = {0};
    bool good = depth < 3;
    if (!good) FAIL(eval, format_nesting, formatting->at);
    for (; good && data < end; data++) {
        if ((*data == '{' || *data == '}') && data + 1 < end && data[1] == *data) {
            buf_char(&buf, *data++);
            continue;
        }
        if (*data != '{') {
            buf_char(&buf, *data);
            continue;
        }
        const char *close = field_end(data + 1, end);
        Object *text =
            close != NULL ? format_field(eval, formatting, data + 1, close, depth) : NULL;
        if (close == NULL) FAIL(eval, format_brace, formatting->at);
        good = text != NULL &&
               text_add(eval, &buf, text->as.text.data, text->as.text.length, formatting->at);
        data = good ? close : data;
    }
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

Object *text_format(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    Formatting formatting = {.values = bound->rest, .named = bound->values[1], .at = bound->at};
    return format_text(eval, &formatting, text->as.text.data,
                       text->as.text.data + text->as.text.length, 0);
}

/* ---- 'text' % values ---- */

/* %[(key)][flags][width][.precision]letter */
typedef struct Percent {
    Eval *eval;
    Span at;
    const char *start, *next; /* of the text; what is not yet read */
    Object *values;
    uint32_t used;
    bool has_keys;
    FormatSpec spec;
    bool left, zeros;
} Percent;

static Object *percent_fails(Percent *percent, const char *text)
{
    return raise_python(percent->eval, "TypeError", text, percent->at);
}

static Object *percent_value(Percent *percent)
{
    Object *values = percent->values;
    const bool is_tuple = values->kind == OBJECT_TUPLE;
    if (percent->used >= (is_tuple ? values->as.list.count : 1u))
        return percent_fails(percent, "not enough arguments for format string");
    const uint32_t index = percent->used++;
    return is_tuple ? values->as.list.items[index] : values;
}

static Object *percent_keyed(Percent *percent)
{
    Eval *eval = percent->eval;
    const char *key = percent->next + 1, *end = strchr(key, ')');
    if (end == NULL) return FAIL(eval, percent_ends, percent->at, " key");
    if (percent->values->kind == OBJECT_TUPLE || percent->values->kind == OBJECT_TEXT)
        return percent_fails(percent, "format requires a mapping");
    percent->has_keys = true;
    percent->next = end + 1;
    return item_get(eval, percent->values, object_text(eval, key, (size_t)(end - key)),
                    percent->at);
}

/* A width or precision, which may be one of the values. */
static bool percent_number(Percent *percent, int *out)
{
    *out = 0;
    if (*percent->next != '*') {
        if (!is_digit(*percent->next) || read_number(&percent->next, out)) return true;
        FAIL(percent->eval, percent_width, percent->at);
        return false;
    }
    percent->next++;
    Object *value = percent_value(percent);
    int64_t number;
    if (value == NULL || !object_as_int(percent->eval, value, "what '*' stands for", &number))
        return false;
    *out = (int)(number < -WIDTH_LIMIT  ? -WIDTH_LIMIT
                 : number > WIDTH_LIMIT ? WIDTH_LIMIT
                                        : number);
    return true;
}

static bool percent_spec(Percent *percent)
{
    FormatSpec *spec = &percent->spec;
    *spec = (FormatSpec){.fill = " ", .precision = -1};
    percent->left = percent->zeros = false;
    for (;; percent->next++) {
        const char c = *percent->next;
        if (c == '-')
            percent->left = true;
        else if (c == '0')
            percent->zeros = true;
        else if (c == '#')
            spec->alternate = true;
        else if (c == '+' || (c == ' ' && spec->sign == '\0'))
            spec->sign = c;
        else if (c != ' ')
            break;
    }
    if (!percent_number(percent, &spec->width)) return false;
    if (spec->width < 0) {
        percent->left = true;
        spec->width = -spec->width;
    }
    if (*percent->next == '.') {
        percent->next++;
        if (!percent_number(percent, &spec->precision)) return false;
        if (spec->precision < 0) spec->precision = 0;
    }
    percent->next += strspn(percent->next, "hlL");
    spec->align = percent->left ? '<' : '>';
    return true;
}

/* A number for a conversion of integers or floats. NULL: reported. */
static Object *percent_operand(Percent *percent, Object *value, char letter)
{
    Eval *eval = percent->eval;
    const bool decimal = letter == 'd';
    if (object_is_real(value) && (value->kind != OBJECT_FLOAT || strchr("oxX", letter) == NULL))
        return value->kind == OBJECT_FLOAT && decimal
                   ? builtin_int(eval, &(Bound){.values = {value}, .at = percent->at})
                   : value;
    return percent_fails(
        percent,
        strchr("doxX", letter) == NULL
            ? arena_printf(eval->arena, "must be real number, not %s", object_kind_name(value))
            : arena_printf(eval->arena, "%%%c format: %s is required, not %s", letter,
                           decimal ? "a real number" : "an integer", object_kind_name(value)));
}

static Object *percent_numeric(Percent *percent, Object *value, char letter)
{
    FormatSpec *spec = &percent->spec;
    Object *number = percent_operand(percent, value, letter);
    if (number == NULL) return NULL;
    spec->type = letter;
    if (strchr("doxX", letter) != NULL) {
        spec->digits = spec->precision < 0 ? 0 : spec->precision;
        spec->precision = -1;
    }
    if (percent->zeros && !percent->left) {
        spec->align = '=';
        strcpy(spec->fill, "0");
    }
    return format_number(percent->eval, spec, number);
}

static Object *percent_convert(Percent *percent, Object *value)
{
    Eval *eval = percent->eval;
    const char letter = *percent->next == 'i' || *percent->next == 'u' ? 'd' : *percent->next;
    if (letter == '\0') return FAIL(eval, percent_ends, percent->at, "");
    if (strchr("sra", letter) != NULL || object_is_staged(value))
        return format_text_value(eval, &percent->spec,
                                 object_converted(eval, value, letter == 's' ? 's' : letter));
    if (letter == 'c') {
        const bool is_number = value->kind == OBJECT_INT;
        if (!is_number && (value->kind != OBJECT_TEXT ||
                           count_characters(value->as.text.data, value->as.text.length) != 1))
            return percent_fails(percent, "%c requires int or char");
        if (is_number) value = builtin_chr(eval, &(Bound){.values = {value}, .at = percent->at});
        return value != NULL ? format_text_value(eval, &percent->spec, value) : NULL;
    }
    if (strchr("doxXeEfFgG", letter) != NULL) return percent_numeric(percent, value, letter);
    return FAIL(eval, percent_letter, percent->at, letter, (unsigned char)letter,
                (int)(percent->next - percent->start));
}

static Object *percent_one(Percent *percent)
{
    Object *value = NULL;
    if (*percent->next == '%') return object_text(percent->eval, "%", 1);
    if (*percent->next == '(' && (value = percent_keyed(percent)) == NULL) return NULL;
    if (!percent_spec(percent)) return NULL;
    if (value == NULL && *percent->next != '\0' && (value = percent_value(percent)) == NULL)
        return NULL;
    return percent_convert(percent, value);
}

Object *text_percent(Eval *eval, const Object *text, Object *values, Span at)
{
    const char *data = text->as.text.data, *end = data + text->as.text.length;
    Percent percent = {.eval = eval, .at = at, .start = data, .next = data, .values = values};
    Buf buf = {0};
    Object *result = eval->none;
    for (; result != NULL && percent.next < end; percent.next++) {
        if (*percent.next != '%') {
            buf_char(&buf, *percent.next);
            continue;
        }
        percent.next++;
        result = percent_one(&percent);
        if (result != NULL &&
            !text_add(eval, &buf, result->as.text.data, result->as.text.length, at))
            result = NULL;
    }
    if (result != NULL && !percent.has_keys && values->kind != OBJECT_DICT &&
        percent.used < (values->kind == OBJECT_TUPLE ? values->as.list.count : 1))
        result = percent_fails(&percent, "not all arguments converted during string formatting");
    if (result != NULL) result = object_text(eval, buf.data != NULL ? buf.data : "", buf.length);
    buf_free(&buf);
    return result;
}
