/* junit.c: JUnit's XML: a <testsuite> of <testcase>s, with what those that fail said. */
#include "command/junit.h"

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* What XML has no place for, control characters, becomes a question mark. */
static void put_character(char c, Buf *out)
{
    switch (c) {
    case '<': buf_text(out, "&lt;"); break;
    case '>': buf_text(out, "&gt;"); break;
    case '&': buf_text(out, "&amp;"); break;
    case '"': buf_text(out, "&quot;"); break;
    default: buf_char(out, (unsigned char)c < ' ' && c != '\t' && c != '\n' ? '?' : c);
    }
}

/* The first line alone. */
static void put_attribute(const char *name, const char *value, Buf *out)
{
    buf_printf(out, " %s=\"", name);
    for (; *value && *value != '\n'; value++) put_character(*value, out);
    buf_char(out, '"');
}

static void put_failure(const char *said, Buf *out)
{
    buf_text(out, "    <failure");
    put_attribute("message", said, out);
    buf_char(out, '>');
    for (; *said; said++) put_character(*said, out);
    buf_text(out, "</failure>\n");
}

static void put_skipped(const char *why, Buf *out)
{
    buf_text(out, "    <skipped");
    put_attribute("message", why, out);
    buf_text(out, "/>\n");
}

void junit_add(Buf *cases, const TestResult *result)
{
    buf_text(cases, "  <testcase");
    put_attribute("classname", result->file, cases);
    put_attribute("name", result->name, cases);
    buf_printf(cases, " time=\"%.3f\"", seconds(result->spent));
    if (!result->skipped && !result->failed) {
        buf_text(cases, "/>\n");
        return;
    }
    buf_text(cases, ">\n");
    if (result->skipped) put_skipped(result->skipped, cases);
    if (result->failed) put_failure(result->failed, cases);
    buf_text(cases, "  </testcase>\n");
}

void junit_print(const Buf *cases, const TestTotals *totals, Buf *out)
{
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
               " <testsuite name=\"tilec\" tests=\"%d\" failures=\"%d\" errors=\"0\" "
               "skipped=\"%d\" time=\"%.3f\">\n%s </testsuite>\n</testsuites>\n",
               totals->count, totals->failed, totals->skipped, seconds(totals->spent),
               cases->length ? cases->data : "");
}
