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

/* ---- drawing ---- */

static void draw_cell(const Layout *layout, const int32_t *coordinates, Buf *out)
{
    Holder holder = layout_find_holder(layout, coordinates);
    if (layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP] == 0)
        buf_printf(out, "%d", holder.reg);
    else
        buf_printf(out, "%d:%d", holder.lane + (holder.warp << layout->bits[LAYOUT_LANE]),
                   holder.reg);
}

static size_t cell_width(const Layout *layout, const int32_t *coordinates)
{
    Buf cell = {0};
    draw_cell(layout, coordinates, &cell);
    size_t width = cell.length;
    buf_free(&cell);
    return width;
}

/* The last coordinates, then the next; false after all. Counts dimensions [0, count). */
static bool next_coordinates(const Layout *layout, int count, int32_t *coordinates)
{
    for (int d = count - 1; d >= 0; d--) {
        if (++coordinates[d] < layout->shape[d]) return true;
        coordinates[d] = 0;
    }
    return false;
}

static size_t widest_cell(const Layout *layout)
{
    int32_t coordinates[LAYOUT_RANK] = {0};
    size_t widest = 0;
    do {
        size_t width = cell_width(layout, coordinates);
        widest = width > widest ? width : widest;
    } while (next_coordinates(layout, layout->rank, coordinates));
    return widest;
}

static void draw_row(const Layout *layout, int32_t *coordinates, size_t width, Buf *out)
{
    int last = layout->rank - 1, columns = layout->rank > 0 ? layout->shape[last] : 1;
    for (int column = 0; column < columns; column++) {
        if (last >= 0) coordinates[last] = column;
        size_t space = width - cell_width(layout, coordinates) + (column > 0);
        buf_printf(out, "%*s", (int)space, "");
        draw_cell(layout, coordinates, out);
    }
    if (last >= 0) coordinates[last] = 0;
    buf_char(out, '\n');
}

static void draw_legend(const Layout *layout, Buf *out)
{
    bool is_shared = layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP] == 0;
    buf_text(out, is_shared ? "offset" : "thread:register");
    int copies = 1 << __builtin_popcount(layout_replica_mask(layout));
    if (copies > 1) buf_printf(out, ", the first of %d threads that hold each element", copies);
    buf_char(out, '\n');
}

/* Above rank 2, one grid for each index of the leading dimensions. */
void layout_draw(const Layout *layout, Buf *out)
{
    int32_t coordinates[LAYOUT_RANK] = {0};
    size_t width = widest_cell(layout);
    int leading = layout->rank > 2 ? layout->rank - 2 : 0;
    draw_legend(layout, out);
    do {
        if (leading > 0) {
            print_list(coordinates, leading, ", ", out);
            buf_text(out, ":\n");
        }
        int rows = layout->rank > 1 ? layout->shape[leading] : 1;
        for (int row = 0; row < rows; row++) {
            if (layout->rank > 1) coordinates[leading] = row;
            draw_row(layout, coordinates, width, out);
        }
        if (layout->rank > 1) coordinates[leading] = 0;
    } while (next_coordinates(layout, leading, coordinates));
}
