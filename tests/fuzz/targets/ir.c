/* ir.c: a text of kernels: read, checked, printed and read again; what the verifier lets through
 * goes through the passes. */
#include "fuzz.h"
#include "mutate_text.h"
#include "run_passes.h"

static Kernel *read_one(Session *session, const char *path, const char *text, size_t length)
{
    int count = 0;
    Kernel **kernels = kernel_read(session, source_from_text(session, path, text, length), &count);
    for (int i = 1; i < count; i++) kernel_free(kernels[i]);
    return kernels ? kernels[0] : NULL;
}

static void read_again(Session *session, const Kernel *kernel)
{
    Buf first = {0}, second = {0};
    kernel_print(kernel, &first);
    Kernel *again = read_one(session, "printed.ir", first.data, first.length);
    CHECK(again);
    kernel_print(again, &second);
    CHECK(first.length == second.length && memcmp(first.data, second.data, first.length) == 0);
    kernel_free(again);
    buf_free(&first);
    buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Session *session = session_new();
    Kernel *kernel = read_one(session, "fuzz.ir", (const char *)data, size);
    if (kernel && kernel_verify(kernel)) {
        read_again(session, kernel);
        fuzz_passes(kernel);
    }
    if (kernel) kernel_free(kernel);
    fuzz_close(session);
    return 0;
}
