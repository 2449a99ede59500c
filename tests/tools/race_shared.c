#include "fault_injection.h"
#include <stdio.h>
#include <stdlib.h>

#ifndef ROWS
#define ROWS 256
#endif
#ifndef COLUMNS
#define COLUMNS 384
#endif

int main(void)
{
    enum {
        M = ROWS,
        N = COLUMNS, /* more blocks than run at a time, of those that take turns */
        K = 256
    };
    void *a, *b, *c, *zeros = calloc(K * (M > N ? M : N), 2); /* of the larger operand */
    tile_alloc(&a, M * K * 2);
    tile_alloc(&b, K * N * 2);
    tile_alloc(&c, M * N * 2);
    tile_copy_in(a, zeros, M * K * 2, NULL);
    tile_copy_in(b, zeros, K * N * 2, NULL);
    tile_status status = mm(NULL, M, N, K, a, b, c);
    printf("%s\n%s\n", tile_status_name(status), tile_last_error());
    free(zeros);
    return 0;
}
