/* mutate_text.h: changes that leave most of a text what it was: words, numbers, lines, statements
 * with all that is indented under them and what is in brackets go, come twice or take each other's
 * place. Of changes to bytes hardly one gets past the grammar. */
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
    char copy[4096];
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

/* ---- subtrees ---- */

static size_t indent_at(const uint8_t *data, size_t size, size_t begin)
{
    size_t count = 0;
    while (begin + count < size && data[begin + count] == ' ') count++;
    return count;
}

/* A line and those below it that are indented further. */
static Piece statement_at(const uint8_t *data, size_t size, size_t at)
{
    Piece statement = line_at(data, size, at);
    const size_t indent = indent_at(data, size, statement.begin);
    while (statement.end < size && indent_at(data, size, statement.end) > indent)
        statement.end = line_at(data, size, statement.end).end;
    return statement;
}

/* What is between the next bracket and the one that closes it. */
static Piece brackets_at(const uint8_t *data, size_t size, size_t at)
{
    int depth = 1;
    while (at < size && data[at] != '(' && data[at] != '[' && data[at] != '{') at++;
    Piece inside = {at < size ? at + 1 : size, at < size ? at + 1 : size};
    for (; inside.end < size; inside.end++) {
        const uint8_t c = data[inside.end];
        depth += c == '(' || c == '[' || c == '{';
        depth -= c == ')' || c == ']' || c == '}';
        if (depth == 0) break;
    }
    return inside;
}

static void reverse(uint8_t *data, size_t begin, size_t end)
{
    for (; begin + 1 < end; begin++, end--) {
        const uint8_t last = data[end - 1];
        data[end - 1] = data[begin];
        data[begin] = last;
    }
}

static size_t swap(uint8_t *data, size_t size, Piece a, Piece b)
{
    if (a.begin > b.begin) return swap(data, size, b, a);
    if (a.end > b.begin) return size;
    reverse(data, a.begin, b.end);
    const size_t second = a.begin + (b.end - b.begin), third = b.end - (a.end - a.begin);
    reverse(data, a.begin, second);
    reverse(data, second, third);
    reverse(data, third, b.end);
    return size;
}

static size_t change_subtree(uint8_t *data, size_t size, size_t room, unsigned *seed)
{
    Piece (*const find)(const uint8_t *, size_t, size_t) =
        next_below(seed, 2) ? statement_at : brackets_at;
    const Piece one = find(data, size, next_below(seed, size)),
                other = find(data, size, next_below(seed, size));
    switch (next_below(seed, 4)) {
    case 0: return replace(data, size, room, one, "", 0);
    case 1:
        return replace(data, size, room, (Piece){one.begin, one.begin}, data + one.begin,
                       one.end - one.begin);
    default: return swap(data, size, one, other);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    const size_t at = next_below(&seed, size), from = next_below(&seed, size);
    const Piece word = word_at(data, size, at), other = word_at(data, size, from);
    const Piece line = line_at(data, size, at), source = line_at(data, size, from);
    switch (next_below(&seed, size ? 11 : 1)) {
    case 0:
    case 1: return LLVMFuzzerMutate(data, size, room);
    case 2: return replace(data, size, room, line, "", 0);
    case 3:
        return replace(data, size, room, (Piece){line.begin, line.begin}, data + source.begin,
                       source.end - source.begin);
    case 4: return replace(data, size, room, line, data + source.begin, source.end - source.begin);
    case 5: return change_number(data, size, room, at, &seed);
    case 6:
    case 7:
    case 8: return change_subtree(data, size, room, &seed);
    default: return replace(data, size, room, word, data + other.begin, other.end - other.begin);
    }
}

#endif
