/* native.c: what --arch=native stands for: libtile's driver is asked which GPU there is. */
#include "driver.h"

#include <string.h>

#include "tile/tile.h"

/* The name of the row for this machine's first GPU. NULL: reported. */
static const char *native_arch(Session *session)
{
    const int compute = tile_device_compute(0);
    const Target *target = target_for_chip(compute);
    if (target) return target->name;
    const char *fault = compute ? arena_printf(session->arena, "its compute capability is %d.%d",
                                               compute / 10, compute % 10)
                                : tile_last_error();
    diag_report(session->diags, DIAG_no_native, (Span){0},
                *fault ? fault : "the driver shows none");
    return NULL;
}

bool choose_archs(Session *session, const char *text, ArchList *out)
{
    static const char native[] = "native";
    const char *plain = "", *separator = "";
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        const char *name = arena_copy_text(session->arena, item, length);
        if (strcmp(name, native) == 0 && (name = native_arch(session)) == NULL) return false;
        plain = arena_printf(session->arena, "%s%s%s", plain, separator, name);
        separator = ",";
        item += length;
        if (*item == '\0') return arch_parse(session, plain, out);
    }
}
