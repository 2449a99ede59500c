/* unicode.c: names beyond ASCII. Two spellings that Unicode holds to be the same letters (NFKC) are
 * one name, as in Python: a name's characters are taken apart, put in order, and composed again. */
#include "base/vec.h"
#include "syntax/parser.h"

#include <stdlib.h>
#include <string.h>

typedef struct Range {
    uint32_t first, last, value;
} Range;

static const Range name_ranges[] = {
#define NAME_RANGES
#include "syntax/unicode.def"
#undef NAME_RANGES
};

static const Range nfkc_ranges[] = {
#define NFKC_RANGES
#include "syntax/unicode.def"
#undef NFKC_RANGES
};

static const Range combining_ranges[] = {
#define COMBINING_RANGES
#include "syntax/unicode.def"
#undef COMBINING_RANGES
};

static const struct NfkcText {
    uint32_t character;
    char text[40];
} nfkc_texts[] = {
#define NFKC_TEXTS
#include "syntax/unicode.def"
#undef NFKC_TEXTS
};

typedef struct Pair {
    uint32_t whole, first, second;
} Pair;

static const Pair pairs[] = {
#define PAIRS
#include "syntax/unicode.def"
#undef PAIRS
};

static const uint16_t pair_order[] = {
#define PAIR_ORDER
#include "syntax/unicode.def"
#undef PAIR_ORDER
};

enum { /* Hangul syllables, from leading consonants, vowels and trailing consonants */
       SYLLABLES = 0xac00,
       SYLLABLE_COUNT = 11172,
       LEADS = 0x1100,
       LEAD_COUNT = 19,
       VOWELS = 0x1161,
       VOWEL_COUNT = 21,
       TRAILS = 0x11a7,
       TRAIL_COUNT = 28,
};

#define FIND(table, key, compare)                                                                  \
    bsearch((key), (table), sizeof(table) / sizeof *(table), sizeof *(table), (compare))

static int compare_range(const void *key, const void *row)
{
    uint32_t c = *(const uint32_t *)key;
    const Range *range = row;
    return c < range->first ? -1 : c > range->last;
}

/* For NfkcText and Pair: the character is the first field. */
static int compare_character(const void *key, const void *row)
{
    uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)row;
    return a < b ? -1 : a > b;
}

static int compare_parts(const void *key, const void *row)
{
    const Pair *a = key, *b = &pairs[*(const uint16_t *)row];
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a->second < b->second ? -1 : a->second > b->second;
}

bool is_name_character(uint32_t c, bool first)
{
    if (c < 0x80)
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (!first && c >= '0' && c <= '9');
    const Range *range = FIND(name_ranges, &c, compare_range);
    return range != NULL && (range->value == 2 || !first);
}

/* ---- taking apart ---- */

typedef struct Letter {
    uint32_t character, class; /* its combining class: 0 begins something new */
    size_t index;              /* keeps the order of equal classes */
} Letter;

typedef struct Letters {
    Arena *arena;
    VEC(Letter) list;
} Letters;

static void add_letter(Letters *letters, uint32_t c)
{
    const Range *range = FIND(combining_ranges, &c, compare_range);
    Letter letter = {c, range == NULL ? 0 : range->value, letters->list.count};
    vec_push(letters->arena, &letters->list, letter);
}

static void add_syllable(Letters *letters, uint32_t index)
{
    add_letter(letters, LEADS + index / (VOWEL_COUNT * TRAIL_COUNT));
    add_letter(letters, VOWELS + index / TRAIL_COUNT % VOWEL_COUNT);
    if (index % TRAIL_COUNT != 0) add_letter(letters, TRAILS + index % TRAIL_COUNT);
}

/* No character has parts of parts of parts. */
static void add_parts(Letters *letters, uint32_t c)
{
    const Pair *pair = FIND(pairs, &c, compare_character);
    if (c - SYLLABLES < SYLLABLE_COUNT) {
        add_syllable(letters, c - SYLLABLES);
    } else if (pair == NULL) {
        add_letter(letters, c);
    } else {
        add_parts(letters, pair->first);
        add_letter(letters, pair->second);
    }
}

static void add_text(Letters *letters, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        uint32_t c;
        size_t count = utf8_decode(text + at, length - at, &c);
        if (count == 0) return; /* reported: the file is not valid */
        at += count;
        const Range *range = FIND(nfkc_ranges, &c, compare_range);
        const struct NfkcText *several = FIND(nfkc_texts, &c, compare_character);
        if (several != NULL)
            add_text(letters, several->text, strlen(several->text));
        else
            add_parts(letters, range == NULL ? c : range->value + (c - range->first));
    }
}

/* ---- order, and putting together ---- */

static int compare_letters(const void *left, const void *right)
{
    const Letter *a = left, *b = right;
    if (a->class != b->class) return a->class < b->class ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort_marks(Letters *letters)
{
    Letter *list = letters->list.data;
    for (size_t i = 0, end; i < letters->list.count; i = end) {
        for (end = i + 1; end < letters->list.count && list[end].class != 0;) end++;
        size_t begin = list[i].class == 0 ? i + 1 : i;
        qsort(list + begin, end - begin, sizeof *list, compare_letters);
    }
}

/* 0: the two stay two. */
static uint32_t compose(uint32_t first, uint32_t second)
{
    if (first - LEADS < LEAD_COUNT && second - VOWELS < VOWEL_COUNT)
        return SYLLABLES + ((first - LEADS) * VOWEL_COUNT + second - VOWELS) * TRAIL_COUNT;
    if (first - SYLLABLES < SYLLABLE_COUNT && (first - SYLLABLES) % TRAIL_COUNT == 0 &&
        second - TRAILS - 1 < TRAIL_COUNT - 1)
        return first + (second - TRAILS);
    Pair key = {0, first, second};
    const uint16_t *found = FIND(pair_order, &key, compare_parts);
    return found == NULL ? 0 : pairs[*found].whole;
}

/* A mark joins the last letter unless one of its class, or of none, stands between. */
static void compose_letters(Letters *letters)
{
    Letter *list = letters->list.data, *base = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < letters->list.count; i++) {
        Letter letter = list[i];
        bool blocked = base != NULL && &list[kept - 1] != base &&
                       (list[kept - 1].class >= letter.class || letter.class == 0);
        uint32_t whole = base == NULL || blocked ? 0 : compose(base->character, letter.character);
        if (whole != 0) {
            base->character = whole;
            continue;
        }
        list[kept] = letter;
        if (letter.class == 0) base = &list[kept];
        kept++;
    }
    letters->list.count = kept;
}

void normalise_name(Arena *arena, const char *text, size_t length, Buf *out)
{
    ArenaMark mark = arena_mark(arena);
    Letters letters = {.arena = arena};
    add_text(&letters, text, length);
    sort_marks(&letters);
    compose_letters(&letters);
    for (size_t i = 0; i < letters.list.count; i++)
        buf_character(out, letters.list.data[i].character);
    arena_reset(arena, mark);
}
