/* tape.h: a tape notes the launches of a thread, and goes back through them with their gradients
 * (libtile(3)). */
#ifndef TILE_TAPE_H
#define TILE_TAPE_H

#include <tile/dlpack.h>
#include <tile/tile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One thread at a time may use it. */
typedef struct tile_tape tile_tape;

TILE_API tile_status tile_tape_new(tile_tape **out);
TILE_API void tile_tape_free(tile_tape *tape); /* not between begin and end; NULL: nothing */

/* The gradient of a packed tensor: of the same type and shape, packed. Memory of both stays the
 * caller's. Kernels may be given parts of the tensor: their gradients are the same parts. */
TILE_API tile_status tile_tape_watch(tile_tape *tape, const DLTensor *tensor,
                                     const DLTensor *gradient);

/* Between them the launches of this thread are noted, behind those that were before. A kernel that
 * was compiled without its gradient, or is given a grid of its own, is refused there. A tape may
 * begin where others have: launches are noted on all of them, and the last one ends first. */
TILE_API tile_status tile_tape_begin(tile_tape *tape);
TILE_API tile_status tile_tape_end(tile_tape *tape);

/* Launches the gradients of what was noted, from the last launch to the first, on the stream: they
 * add to the gradients of what was read, from those of what was written, which the caller has set.
 * As often as is liked, in graph capture, too: nothing of it is noted on a tape. */
TILE_API tile_status tile_tape_backward(const tile_tape *tape, tile_stream stream);
/* Sets all gradients to zero, in stream order. */
TILE_API tile_status tile_tape_zero(const tile_tape *tape, tile_stream stream);
/* Forgets the launches; what is watched stays so. */
TILE_API tile_status tile_tape_reset(tile_tape *tape);

#ifdef __cplusplus
}
#endif

#endif
