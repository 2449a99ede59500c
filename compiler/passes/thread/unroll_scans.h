/* unroll_scans.h: a part of unroll_runs. */
#ifndef TILEC_UNROLL_SCANS_H
#define TILEC_UNROLL_SCANS_H

#include "passes/analysis/ranges.h"

/* A loop whose step is 1. False: it is no scan, and is as it was. */
bool unroll_scan(FactTable *facts, Op *loop);

#endif
