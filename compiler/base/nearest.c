/* nearest.c: for a name that there is not, the one that somebody may have meant. */
#include "base/base.h"

#include <ctype.h>
#include <string.h>

enum {
    LETTERS = 40,
    MOVE = 2,
    CASE = 1 /* the cost of a letter more, less or else; and of its case */
};

Nearest nearest_to(const char *wanted)
{
    return (Nearest){.wanted = wanted};
}

static int change(char a, char b)
{
    return a == b ? 0 : tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE : MOVE;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[LETTERS + 1];
    for (size_t j = 0; j <= b_length; j++) row[j] = MOVE * (int)j;
    for (size_t i = 0; i < a_length; i++) {
        int corner = row[0];
        row[0] = MOVE * (int)(i + 1);
        for (size_t j = 0; j < b_length; j++) {
            const int moved = least(row[j], row[j + 1]) + MOVE;
            const int next = least(corner + change(a[i], b[j]), moved);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    return row[b_length];
}

/* What is not meant to be seen is not meant, either. */
void nearest_try(Nearest *nearest, const char *name)
{
    const size_t length = strlen(nearest->wanted), other = strlen(name);
    if (length > LETTERS || other > LETTERS || (name[0] == '_' && nearest->wanted[0] != '_'))
        return;
    const int cost = distance(nearest->wanted, length, name, other);
    if (cost * 3 > (int)(length + other + 3) || (nearest->best && cost >= nearest->cost)) return;
    nearest->best = name;
    nearest->cost = cost;
}

void diag_hint_nearest(Diags *diags, const Nearest *nearest)
{
    if (nearest->best) diag_hint(diags, "did you mean '%s'?", nearest->best);
}
