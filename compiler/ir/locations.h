/* locations.h: locations in sources as the comments of IR text name them; private to this folder.
 */
#ifndef TILEC_IR_LOCATIONS_H
#define TILEC_IR_LOCATIONS_H

#include "base/base.h"

typedef struct Locations Locations;
Locations *locations_new(Session *session, Arena *scratch);
/* The comment "# path:line:column" that ends a line of the IR text; any other is passed over. */
void locations_add(Locations *locations, uint32_t ir_line, const char *comment, size_t length);
/* Once all are added: makes a source for each path. */
void locations_resolve(Locations *locations);
/* The place named on a line of the IR text; a span without source if none is. */
Span locations_find(const Locations *locations, uint32_t ir_line);

#endif
