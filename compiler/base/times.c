/* times.c: where the time goes, for --time-report. */
#include "base/base.h"

#include <string.h>

static struct TimesRow *find_row(Times *times, const char *name)
{
    enum { CAPACITY = sizeof times->rows / sizeof times->rows[0] };
    for (int i = 0; i < times->count; i++)
        if (strcmp(times->rows[i].name, name) == 0) return &times->rows[i];
    if (times->count == CAPACITY) return &times->rows[CAPACITY - 1];
    times->rows[times->count].name = name;
    return &times->rows[times->count++];
}

void times_add(Times *times, const char *name, uint64_t start_ns)
{
    if (times == NULL) return;
    struct TimesRow *row = find_row(times, name);
    row->total_ns += os_now_ns() - start_ns;
    row->count++;
}

void times_print(const Times *times, Buf *out)
{
    uint64_t total = 0;
    for (int i = 0; i < times->count; i++) {
        const struct TimesRow *row = &times->rows[i];
        buf_printf(out, "%-20s %10.3f ms  %5d times\n", row->name, (double)row->total_ns / 1e6,
                   row->count);
        total += row->total_ns;
    }
    buf_printf(out, "%-20s %10.3f ms\n", "total", (double)total / 1e6);
}
