/* context.c: see context.h. */
#include "passes/analysis/context.h"

const char *analysis_name(Analysis analysis)
{
    static const char *const NAMES[ANALYSIS_COUNT] = {
#define ANALYSIS(name, text) #name,
#include "passes/analysis/analyses.def"
#undef ANALYSIS
    };
    return NAMES[analysis];
}

FactTable *analysis_ranges(PassContext *context)
{
    if (!context->ranges) context->ranges = facts_new(context->kernel);
    return context->ranges;
}

Agreement *analysis_uniformity(PassContext *context)
{
    if (!context->uniformity) context->uniformity = agreement_new(context);
    return context->uniformity;
}

void analysis_keep(PassContext *context, unsigned preserved)
{
    if (!(preserved & 1u << ANALYSIS_UNIFORMITY)) {
        agreement_free(context->uniformity);
        context->uniformity = NULL;
    }
    if (!(preserved & 1u << ANALYSIS_RANGES)) {
        facts_free(context->ranges);
        context->ranges = NULL;
    }
}

void analysis_invalidate(PassContext *context)
{
    analysis_keep(context, 0);
}

bool analysis_holds(PassContext *context, const Value **wrong)
{
    *wrong = NULL;
    if (!context->ranges) return true;
    FactTable *fresh = facts_new(context->kernel);
    *wrong = facts_compare(context->ranges, fresh);
    facts_free(fresh);
    return *wrong == NULL;
}
