/* text.c: layouts as text: printed, read back exactly, drawn. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

#include <string.h>

static const char *const AXIS_NAMES[LAYOUT_AXES] = {"reg", "lane", "warp"};

/* ---- printing ---- */

static void print_list(const int32_t *numbers, int count, const char *separator, Buf *out)
{
    buf_char(out, '[');
    for (int i = 0; i < count; i++)
        buf_printf(out, "%s%d", i == 0 ? "" : separator, (int)numbers[i]);
    buf_char(out, ']');
}

static void print_axis(const Layout *layout, LayoutAxis axis, Buf *out)
{
    buf_printf(out, " %s [", AXIS_NAMES[axis]);
    for (int bit = 0; bit < layout->bits[axis]; bit++) {
        buf_text(out, bit == 0 ? "" : ",");
        print_list(layout_basis(layout, axis, bit), layout->rank, ",", out);
    }
    buf_char(out, ']');
}

/* Axes without bits are left out, so a shared layout has `reg` (its offsets) alone. */
void layout_print(const Layout *layout, Buf *out)
{
    buf_text(out, "{shape ");
    print_list(layout->shape, layout->rank, ", ", out);
    buf_text(out, " block ");
    print_list(layout->block, layout->rank, ", ", out);
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        if (layout->bits[axis] > 0) print_axis(layout, (LayoutAxis)axis, out);
    buf_char(out, '}');
}

/* ---- reading ---- */

static void skip_space(const char **text)
{
    while (**text == ' ' || **text == '\t' || **text == '\n' || **text == '\r') (*text)++;
}

static bool accept(const char **text, const char *word)
{
    skip_space(text);
    if (strncmp(*text, word, strlen(word)) != 0) return false;
    *text += strlen(word);
    return true;
}

static bool read_number(const char **text, int32_t *number)
{
    skip_space(text);
    if (**text < '0' || **text > '9') return false;
    int32_t value = 0;
    const char *at = *text;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (value > (INT32_MAX - 9) / 10) return false;
        value = value * 10 + (*at - '0');
    }
    *text = at;
    *number = value;
    return true;
}

static bool read_list(const char **text, int32_t *numbers, int limit, int *count)
{
    *count = 0;
    if (!accept(text, "[")) return false;
    if (accept(text, "]")) return true;
    do {
        if (*count == limit || !read_number(text, &numbers[*count])) return false;
        ++*count;
    } while (accept(text, ","));
    return accept(text, "]");
}

static bool read_vector(const char **text, const Layout *layout, int32_t *basis)
{
    int count;
    return read_list(text, basis, LAYOUT_RANK, &count) && count == layout->rank;
}

static bool read_axis(const char **text, Layout *layout, LayoutAxis axis)
{
    if (!accept(text, AXIS_NAMES[axis])) return true;
    if (!accept(text, "[")) return false;
    if (accept(text, "]")) return true;
    do {
        int at = layout_index_bits(layout);
        if (at == LAYOUT_BITS || !read_vector(text, layout, layout->basis[at])) return false;
        layout->bits[axis]++;
    } while (accept(text, ","));
    return accept(text, "]");
}

static bool read_extents(const char **text, Layout *layout)
{
    int rank = 0, blocks = 0;
    if (!accept(text, "{") || !accept(text, "shape") ||
        !read_list(text, layout->shape, LAYOUT_RANK, &rank) || !accept(text, "block") ||
        !read_list(text, layout->block, LAYOUT_RANK, &blocks))
        return false;
    layout->rank = (uint8_t)rank;
    return rank == blocks;
}

const Layout *layout_read(LayoutTable *table, const char **text)
{
    Layout layout = {0};
    if (!read_extents(text, &layout)) return NULL;
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        if (!read_axis(text, &layout, (LayoutAxis)axis)) return NULL;
    if (!accept(text, "}") || !layout_is_valid(&layout)) return NULL;
    return layout_intern(table, &layout);
}
