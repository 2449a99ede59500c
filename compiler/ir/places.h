/* places.h: places in sources as the comments of IR text name them; private to this folder. */
#ifndef TILEC_IR_PLACES_H
#define TILEC_IR_PLACES_H

#include "base/base.h"

typedef struct Places Places;
Places *places_new(Session *session, Arena *scratch);
/* The comment "# path:line:column" that ends a line of the IR text; any other is passed over. */
void places_add(Places *places, uint32_t ir_line, const char *comment, size_t length);
/* Once all are added: makes a source for each path. */
void places_resolve(Places *places);
/* The place named on a line of the IR text; a span without source if none is. */
Span places_find(const Places *places, uint32_t ir_line);

#endif
