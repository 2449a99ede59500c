/* reduce.h: what `tilec reduce` may leave out of a text. */
#ifndef TILEC_COMMAND_REDUCE_H
#define TILEC_COMMAND_REDUCE_H

#include "base/base.h"
#include "base/vec.h"

enum { EDIT_PIECES = 16 };

typedef struct Piece { /* text[begin, end) becomes this */
    uint32_t begin, end;
    const char *text;
} Piece;

typedef struct Edit {
    Piece pieces[EDIT_PIECES]; /* in order, apart from each other */
    int piece_count;
} Edit;

typedef VEC(Edit) EditVec;

/* In the order in which they are worth trying. */
typedef enum EditRound {
    EDITS_STATEMENTS,  /* statements left out, by halves of a block down to single ones; control
                          whose  body is all that is left of it */
    EDITS_PARAMETERS,  /* the i-th parameter of a function, and the i-th of every so many arguments
                        */
    EDITS_EXPRESSIONS, /* an expression's own part in its place, items of lists left out, 0 */
    EDITS_NUMBERS,     /* smaller numbers */
    EDIT_ROUNDS,
} EditRound;

/* The edits of a round that a text allows. A text that does not parse has none. */
void edits_find(Session *session, const char *text, size_t length, EditRound round, EditVec *out);

#endif
