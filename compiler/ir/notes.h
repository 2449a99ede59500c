/* notes.h: what printed IR says in comments of a kernel that is pipelined or placed: its shared
 * buffers, the roles of its threads, the plan of its loops. All of it follows from the ops alone,
 * so that text that was read is printed with the same comments. Private to this folder. */
#ifndef TILEC_IR_NOTES_H
#define TILEC_IR_NOTES_H

#include "ir/ir.h"

/* Each writes to `out` and is true, or there is nothing to say. */
bool note_of_buffer(const Op *op, Buf *out);          /* a shared_alloc: stages, bytes, offset */
bool note_of_role(const Op *op, int index, Buf *out); /* the threads of a group's region */
bool note_of_loop(const Op *op, int index, Buf *out); /* how a loop's body is pipelined */

#endif
