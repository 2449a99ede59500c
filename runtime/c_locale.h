/* c_locale.h: numbers as C writes and reads them, in a program that has a locale of its own. */
#ifndef TILE_C_LOCALE_H
#define TILE_C_LOCALE_H

#include <locale.h>

/* Gives this thread the C locale, and returns what it had, for tile_leave_c_locale. The C library
 * holds the C locale: asking for it allocates nothing. */
static inline locale_t tile_enter_c_locale(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static inline void tile_leave_c_locale(locale_t before)
{
    uselocale(before);
}

#endif
