/* reader.h: the reading of the textual IR: what its files share. Private to this folder. */
#ifndef TILEC_IR_READER_H
#define TILEC_IR_READER_H

#include "ir/ir.h"
#include "ir/locations.h"
#include "ir/tokens.h"
#include "base/vec.h"

enum { DEEPEST_REGION = 100, MOST_VALUES = 4096, MOST_ELEMENTS = 65536 };

typedef struct Token {
    IrToken kind;
    uint32_t begin, end, line;
    bool is_first; /* on its line */
} Token;

typedef VEC(Value *) ValueVec;
typedef VEC(const Type *) TypeVec;
typedef VEC(Name) NameVec;
typedef VEC(int64_t) IntVec;

typedef struct Reader {
    Session *session;
    const Source *source;
    Arena *scratch;
    Interner *names; /* of values, in scratch */
    VEC(Token) tokens;
    size_t at;
    Locations *locations;
    Kernel *kernel;
    Map values;  /* Name -> Value */
    Map layouts; /* Name -> Layout: aliases */
    int depth;
    bool failed;
} Reader;

/* ---- read_type.c: tokens, words, numbers, types. What gives a bool or a pointer has reported what
 * is wrong where that is false or NULL; the first fault alone is reported ---- */

void ir_scan_all(Reader *reader);
const Token *ir_token(const Reader *reader);
const Token *ir_token_after(const Reader *reader, size_t distance);
void ir_advance(Reader *reader);
const char *ir_token_text(const Reader *reader, const Token *token);
Span ir_span_from(const Reader *reader, const Token *first);
bool ir_fail(Reader *reader, const Token *at, const char *text);
bool ir_expected(Reader *reader, const char *what);
bool ir_take(Reader *reader, IrToken kind);
bool ir_need(Reader *reader, IrToken kind, const char *what);
bool ir_take_word(Reader *reader, const char *word);
Name ir_read_string(Reader *reader);
Name ir_read_word(Reader *reader);
bool ir_read_int(Reader *reader, int64_t *out);
bool ir_read_number(Reader *reader, double *out);
bool ir_read_ints(Reader *reader, bool dynamic, IntVec *out);
const Type *ir_read_type(Reader *reader);
/* "#l0 = {shape ...}" as often as it comes. */
bool ir_read_aliases(Reader *reader);

#endif
