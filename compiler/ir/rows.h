/* rows.h: what the files of ir/ share about the rows of ops.def and attrs.def; private to this
 * folder. */
#ifndef TILEC_IR_ROWS_H
#define TILEC_IR_ROWS_H

#include "ir/ir.h"

typedef enum AttrKind { ATTR_KIND_INT, ATTR_KIND_FLOAT, ATTR_KIND_INTS, ATTR_KIND_TEXT } AttrKind;

const char *attr_name(AttrKey key);
AttrKind attr_kind(AttrKey key);
bool attr_find(const char *name, AttrKey *out);
bool attr_is_of(AttrKey key, OpCode code);
/* Whether it is one of the words that stand there, a blank between two. */
bool is_among(const char *word, const char *words);
bool stage_find(const char *name, Stage *out);

/* What is wrong with these operands and results by the op's row ("operand 1 is no pointer"),
 * written to `out`; true if nothing is. */
bool row_fits(OpCode code, int operand_count, Value *const *operands, int result_count,
              const Type *const *result_types, Buf *out);

/* rules.c: what an op's operands, results, attributes and regions have to do with each other. The
 * row fits. What is broken is written to `out`; true if nothing is. */
bool rules_hold(const Kernel *kernel, const Op *op, Buf *out);
/* The same type; until layouts are chosen, whatever its layout. */
bool types_agree(const Kernel *kernel, const Type *a, const Type *b);

/* uses.c: an op that is new uses these, as many as it has room for; one that is erased uses
 * nothing. */
void uses_add(Op *op, Value *const *operands);
void uses_drop(Op *op);

/* type.c: as type_print, with the names of layouts (Layout -> text) in the place of those that have
 * one; may be NULL. */
void type_print_short(const Type *type, const Map *aliases, Buf *out);

/* The same type in another kernel's tables. */
const Type *type_import(TypeTable *types, LayoutTable *layouts, const Type *type);

#endif
