/* object_view.h: an object of tilec as data: sections with their relocations applied, nothing run.
 */
#ifndef TILEC_COMMAND_OBJECT_VIEW_H
#define TILEC_COMMAND_OBJECT_VIEW_H

#include "base/base.h"

typedef struct ObjectView ObjectView;

bool view_is_elf(const char *bytes, size_t size);
/* NULL with *fault set if it is not what tilec writes. The bytes must stay. */
const ObjectView *view_open(Arena *arena, const char *bytes, size_t size, const char **fault);
const char *view_machine(const ObjectView *view);
size_t view_size(const ObjectView *view);

/* Addresses are the view's own; 0 is NULL. */
typedef struct ObjectSymbol {
    const char *name;
    uint64_t address, size;
} ObjectSymbol;
/* The index-th symbol of data that other objects see and this one defines: of functions there are
 * others, whose names are the kernels' own. False past the end. */
bool view_symbol(const ObjectView *view, size_t index, ObjectSymbol *out);

/* Whether [address, address + size) is inside a section; the others: one that the file has bytes
 * of.
 */
bool view_holds(const ObjectView *view, uint64_t address, size_t size);
bool view_read(const ObjectView *view, uint64_t address, void *out, size_t size);
const char *view_bytes(const ObjectView *view, uint64_t address, size_t size); /* or NULL */
const char *view_text(const ObjectView *view, uint64_t address); /* NULL unless it ends */

/* What its kernels are (object_print.c). NULL, or what is wrong with the object. */
const char *view_print(const ObjectView *view, Buf *out);
const char *view_fault(const ObjectView *view); /* that alone */

#endif
