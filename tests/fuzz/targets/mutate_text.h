/* mutate_text.h: changes that leave most of a text what it was: words, numbers and lines that go,
 * come twice or take each other's place. Of changes to bytes hardly one gets past the grammar. */
#ifndef TILEC_TESTS_MUTATE_TEXT_H
#define TILEC_TESTS_MUTATE_TEXT_H

#include <ctype.h>
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/* Bytes [begin, end) of the text. */
typedef struct Piece {
    size_t begin, end;
} Piece;

static size_t next_below(unsigned *seed, size_t limit)
{
    *seed = *seed * 1103515245u + 12345u;
    return limit ? (*seed >> 8) % limit : 0;
}

static int is_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c >= 0x80;
}

static Piece word_at(const uint8_t *data, size_t size, size_t at)
{
    Piece word;
    while (at < size && !is_word(data[at])) at++;
    for (word.begin = at; word.begin > 0 && is_word(data[word.begin - 1]);) word.begin--;
    for (word.end = at; word.end < size && is_word(data[word.end]);) word.end++;
    return word;
}

static Piece line_at(const uint8_t *data, size_t size, size_t at)
{
    Piece line;
    for (line.begin = at; line.begin > 0 && data[line.begin - 1] != '\n';) line.begin--;
    for (line.end = at; line.end < size && data[line.end] != '\n';) line.end++;
    if (line.end < size) line.end++;
    return line;
}

static size_t replace(uint8_t *data, size_t size, size_t room, Piece piece, const void *with,
                      size_t count)
{
    char copy[512];
    if (count > sizeof copy || size - (piece.end - piece.begin) + count > room) return size;
    memcpy(copy, with, count); /* it may be a part of the text */
    memmove(data + piece.begin + count, data + piece.end, size - piece.end);
    memcpy(data + piece.begin, copy, count);
    return size - (piece.end - piece.begin) + count;
}

static size_t change_number(uint8_t *data, size_t size, size_t room, size_t at, unsigned *seed)
{
    static const char *const numbers[] = {
        "0",    "1",     "2",      "3",          "7",          "16",         "31",
        "32",   "33",    "64",     "128",        "1024",       "-1",         "256",
        "4096", "65536", "100000", "2147483647", "2147483648", "4294967296", "9223372036854775807",
        "0.5",  "1e300"};
    const char *number = numbers[next_below(seed, sizeof numbers / sizeof *numbers)];
    while (at < size && !isdigit(data[at])) at++;
    return at == size ? size
                      : replace(data, size, room, word_at(data, size, at), number, strlen(number));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    const size_t at = next_below(&seed, size), from = next_below(&seed, size);
    const Piece word = word_at(data, size, at), other = word_at(data, size, from);
    const Piece line = line_at(data, size, at), source = line_at(data, size, from);
    switch (next_below(&seed, size ? 8 : 1)) {
    case 0:
    case 1: return LLVMFuzzerMutate(data, size, room);
    case 2: return replace(data, size, room, line, "", 0);
    case 3:
        return replace(data, size, room, (Piece){line.begin, line.begin}, data + source.begin,
                       source.end - source.begin);
    case 4: return replace(data, size, room, line, data + source.begin, source.end - source.begin);
    case 5: return change_number(data, size, room, at, &seed);
    default: return replace(data, size, room, word, data + other.begin, other.end - other.begin);
    }
}

#endif
