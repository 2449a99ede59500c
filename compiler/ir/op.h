/* op.h: the rows of the op table (ops.def): codes, traits (traits.def), stages,
 * operands by their names (operands.def) and attributes (attrs.def). A part of ir.h. */
#ifndef TILEC_OP_H
#define TILEC_OP_H

#include "base/base.h"

typedef enum OpCode {
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} OpCode;

/* Traits are one bit each: more than an int has, which is all that ISO C lets an enum have. */
enum {
#define TRAIT(name, text) TRAIT_##name,
#include "ir/traits.def"
#undef TRAIT
    TRAIT_COUNT
};
__extension__ typedef enum OpTrait {
#define TRAIT(name, text) name = UINT64_C(1) << TRAIT_##name,
#include "ir/traits.def"
#undef TRAIT
    ELEMENTWISE = ELEM | RETYPES,
    ASYNC_PROXY = TMA | WGMMA
} OpTrait;
typedef uint64_t OpTraits;

/* How many bytes dp4a has of each of the two sides. */
enum { DP4A_BYTES = 4 };

/* Each stage has all that the ones before it have. */
typedef enum Stage {
    STAGE_TYPED,
    STAGE_LAID_OUT,
    STAGE_PIPELINED,
    STAGE_PLACED,
    STAGE_SYNCED,
    STAGE_THREADED
} Stage;

typedef enum StageMask {
    TILE = 1,
    THREAD = 2,
    BOTH = 3,
    HOST = 4,
    TYPED = 8,    /* in STAGE_TYPED alone */
    UNSYNCED = 16 /* up to STAGE_PLACED */
} StageMask;

typedef struct OpInfo {
    const char *name, *results, *operands, *text;
    int regions;
    unsigned stages;
    OpTraits traits;
} OpInfo;
const OpInfo *op_info(OpCode code);
bool op_find(const char *name, OpCode *out);
const char *stage_name(Stage stage);

typedef enum OperandName {
    OPERAND_, /* none */
#define OPERAND(name) OPERAND_##name,
#include "ir/operands.def"
#undef OPERAND
    OPERAND_COUNT
} OperandName;

typedef enum AttrKey {
#define ATTR(name, kind, text) ATTR_##name,
#include "ir/attrs.def"
#undef ATTR
    ATTR_COUNT
} AttrKey;

/* The key says which of them it has. */
typedef struct Attr {
    AttrKey key;
    int count; /* of integers */
    union {
        int64_t integer;
        double number;
        Name text;
        const int64_t *integers; /* NULL: none */
    };
} Attr;

#endif
