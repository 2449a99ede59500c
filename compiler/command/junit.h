/* junit.h: what tests gave as JUnit's XML, which CI systems show. */
#ifndef TILEC_JUNIT_H
#define TILEC_JUNIT_H

#include "base/base.h"

typedef struct TestResult {
    const char *file, *name;
    const char *skipped; /* why; NULL: it was run */
    const char *failed;  /* its messages; NULL: it did not fail */
    uint64_t spent;      /* ns */
} TestResult;

typedef struct TestTotals {
    int count, failed, skipped;
    uint64_t spent; /* ns */
} TestTotals;

void junit_add(Buf *cases, const TestResult *result); /* a <testcase> */
/* The file around the cases. */
void junit_print(const Buf *cases, const TestTotals *totals, Buf *out);

#endif
