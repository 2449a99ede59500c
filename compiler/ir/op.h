/* op.h: the rows of the op table (ops.def): codes, traits, stages, operands by their names
 * (operands.def) and attributes (attrs.def). A part of ir.h. */
#ifndef TILEC_OP_H
#define TILEC_OP_H

#include "base/base.h"

typedef enum OpCode {
#define OP(name, ...) OP_##name,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} OpCode;

typedef enum OpTrait {
    PURE = 1 << 0,
    READS = 1 << 1,
    WRITES = 1 << 2,
    COOP = 1 << 3,
    TERM = 1 << 4,
    ELEM = 1 << 5,
    COMMUTES = 1 << 6,
    QUOTIENT = 1 << 7,
    REMAINDER = 1 << 8,
    LOOP = 1 << 9,
    ALIAS = 1 << 10,
    REMAT = 1 << 11,
    DERIVES = 1 << 12,
    DOT = 1 << 13,
    ELEMENT = 1 << 14,
    SCATTERED = 1 << 15,
    ATOMIC = 1 << 16,
    COPY = 1 << 17,
    STORES = 1 << 18,
    SHARED = 1 << 19,
    ASYNC = 1 << 20,
    TMA = 1 << 21,
    WGMMA = 1 << 22,
    WAITS = 1 << 23,
    BARRIER = 1 << 24,
    PIPELINE_BARRIER = 1 << 25,
    MBARRIER = 1 << 26,
    INITS = 1 << 27,
    ARRIVES = 1 << 28,
    ACQUIRES = 1 << 29,
    LOCAL = 1 << 30,
    ASYNC_PROXY = TMA | WGMMA
} OpTrait;

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
    unsigned traits, stages;
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

typedef struct Attr {
    AttrKey key;
    int64_t integer;
    double number;
    Name text;
    const int64_t *integers;
    int count;
} Attr;

#endif
