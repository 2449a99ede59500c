/* context.h: analyses are asked for here, found when somebody asks, and kept until the kernel
 * changes: until a pass runs whose row in passes.def does not preserve them, or a pass says that it
 * changed what they look at. */
#ifndef TILEC_PASSES_ANALYSIS_CONTEXT_H
#define TILEC_PASSES_ANALYSIS_CONTEXT_H

#include "passes/analysis/ranges.h"
#include "passes/analysis/uniformity.h"
#include "passes/pass.h"

typedef enum Analysis {
#define ANALYSIS(name, text) ANALYSIS_##name,
#include "passes/analysis/analyses.def"
#undef ANALYSIS
    ANALYSIS_COUNT
} Analysis;
const char *analysis_name(Analysis analysis);

FactTable *analysis_ranges(PassContext *context);
Agreement *analysis_uniformity(PassContext *context);
/* The kernel has changed: all is gone that was asked for, and who asks again is answered anew. */
void analysis_invalidate(PassContext *context);
/* Likewise, but for the analyses of the mask, a bit each. */
void analysis_keep(PassContext *context, unsigned preserved);
/* Whether what is kept is what would be found now; else *wrong is a value of which it is not. */
bool analysis_holds(PassContext *context, const Value **wrong);

#endif
