/* layouts.h: what infer_layout.c decides and convert.c carries out; private to this folder. */
#ifndef TILEC_PASSES_LAYOUT_LAYOUTS_H
#define TILEC_PASSES_LAYOUT_LAYOUTS_H

#include "base/vec.h"
#include "passes/analysis/access.h"

/* One launch at work. */
typedef struct Inference {
    Kernel *kernel;
    Region *region;
    FactTable *facts;
    Arena *arena; /* of the pass */
    const Target *target;
    int warps; /* that share the tiles of the op at hand; 0: one thread has them */
    /* bytes of shared memory beside the author's tiles, for what groups convert beside each other
     */
    int64_t room;
    Map held;     /* loops -> bytes of shared tiles that they hold, and one more */
    int64_t work; /* for the elements that a thread has, of each op */
    bool failed;
} Inference;

/* Sets `warps` for what is asked about the op. */
void inference_enter(Inference *inference, const Op *op);

/* ---- anchor.c ---- */

/* The layout that an anchor op asks for, for the threads at hand; NULL: reported. */
const Layout *anchor_layout(Inference *inference, const Op *op);
/* Of a shared tile: sets it, and erases the op. */
void anchor_shared(Op *op, void *context);

/* ---- propose.c: the layout that an op would like best ---- */

typedef struct DotLayouts {
    const Layout *a, *b, *c;
} DotLayouts;
/* `c` is what the accumulator has or NULL; dots by fma work in any layout whose vectors lie along
 * one dimension. */
DotLayouts propose_dot(const Inference *inference, const Op *dot, const Layout *c);
/* What an access likes; threads have `most` elements side by side at most, or any (0). */
const Layout *propose_access(const Inference *inference, Op *op, int most);
/* Threads have so many elements side by side along the dimension that is contiguous in memory, which
 * there is one of. */
const Layout *propose_run(const Inference *inference, Op *op, int run);
/* Cycles of a multiprocessor that what the lanes of a warp tell each other in a reduction takes, if
 * the operand has the layout. */
int64_t exchanged_cycles(const Inference *inference, const Op *reduce, const Layout *operand);
const Layout *propose_default(const Inference *inference, const Type *tile);
/* The same for what goes to shared memory, or comes from there. */
const Layout *propose_shared(const Inference *inference, const Type *tile, int most);
/* As many of a thread's elements along the dimension as there are. */
const Layout *propose_along(const Inference *inference, const Type *tile, int dim);
/* Elements a thread, as a power of two: longer vectors would leave threads without work. */
int elements_each(const Inference *inference, const Type *tile);
const Layout *propose_scattered(const Inference *inference, Op *op, int most);
/* Elements side by side that a thread may have of what an access moves, `most` of them at most. */
int run_limit(const Inference *inference, const Type *tile, int most);
/* Bytes next to each other in memory that one access of a warp covers when the tile has this
 * layout. */
int64_t access_segment(const Inference *inference, Op *op, const Layout *layout);
/* Layout of an op's operand from that of its result: broadcast, reshape, transpose; NULL: there is
 * none. */
const Layout *derive_operand(const Inference *inference, const Op *op, const Layout *result);
const Layout *derive_result(const Inference *inference, const Op *op, const Layout *operand);
/* Warps have to tell each other, where what is reduced has the layout. */
bool reduces_across_warps(const Op *reduce, const Layout *layout);
/* Of what a warp's lanes combine for the reduction, `result`, or the same shared among them, where
 * that is less work; `told`: then each tells the others. */
const Layout *halved_layout(const Inference *inference, const Op *reduce, const Layout *operand,
                            const Layout *result, bool told);

/* The layout of a scan's operand and result: `operand` if that will do. */
const Layout *scan_layout(const Inference *inference, const Op *op, const Layout *operand);

/* ---- tma_store.c ---- */
/* Makes a store that is {tma} one by TMA; false: its tile does not lie so. */
bool store_by_tma(Inference *inference, Op *store);

/* ---- mbarrier_copy.c: visitors, before shared tiles are laid out and after ---- */
void lay_out_for_copies(Op *op, void *context);
void copy_for_mbarriers(Op *op, void *context);

/* ---- partial_sums.c ---- */
/* Of what loops add up the threads' own parts are carried, and combined behind the loop. */
void carry_partial_sums(Inference *inference);
/* A reduction of which each thread keeps its own part. */
bool reduces_to_parts(const Op *reduce);

/* ---- convert.c ---- */

/* The type of a tile with the layout's shape. */
const Type *tile_of_layout(const Inference *inference, const Type *tile, const Layout *layout);

/* Makes each operand's layout the one that its op needs; the values have layouts. */
void insert_converts(Inference *inference);
/* infer_layout.c: gives an op's shared tile its layout; a visitor. */
void lay_out_shared(Op *op, void *context);
/* reshape.c: a shared tile that is used in another shape lies so that both have a layout. */
void prepare_reshaped(Op *op, void *context);
void lay_out_reshaped(Inference *inference, Op *op);
/* reshape.c: a shared tile whose elements lie in order. */
const Type *linear_type(const Kernel *kernel, const Type *tile);
/* reshape.c: a reshape that no layout does without moving elements becomes stores and loads. */
void reshape_through_shared(Inference *inference, Op *op);
/* Converts that need shared memory become stores and loads of it. */
void expand_converts(Inference *inference);

#endif
