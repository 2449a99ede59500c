/* cache.c: tilec cache [--clear]: where results of earlier runs are, how many and how large. */
#include "build/build_cache.h"

#include <errno.h>
#include <string.h>

static void print_use(const Cache *cache, const char *folder, Buf *out)
{
    const CacheUse use = cache_use(cache);
    buf_printf(out, "%s: %zu entr%s, %.1f MiB of at most %.0f MiB\n", folder, use.entries,
               use.entries == 1 ? "y" : "ies", (double)use.bytes / (1 << 20),
               (double)CACHE_LIMIT / (1 << 20));
}

static void show_cache(Session *session, const Options *options, const char *folder, Buf *out)
{
    const char *fault;
    Cache *cache = cache_open(session->arena, folder, CACHE_LIMIT, &fault);
    if (!cache)
        buf_printf(out, "%s: not used: %s\n", folder, fault);
    else if (options->clear && !cache_clear(cache))
        diag_report(session->diags, DIAG_cannot_write, (Span){0}, folder, strerror(errno));
    if (cache) print_use(cache, folder, out);
}

ExitStatus command_cache(Session *session, const Options *options)
{
    Buf text = {0};
    if (options->inputs.count) {
        diag_report(session->diags, DIAG_command_words, (Span){0}, "cache",
                    "no words; --clear empties it");
        return EXIT_USAGE;
    }
    const char *folder = chosen_cache(session, options);
    if (folder)
        show_cache(session, options, folder, &text);
    else
        buf_text(&text, "no cache is used\n");
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return session_status(session);
}
