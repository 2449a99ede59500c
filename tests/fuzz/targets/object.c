/* object.c: a file that `tilec info` is to tell about. */
#include "fuzz.h"
#include "command/object_view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Session *session = session_new();
    Buf text = {0};
    const char *fault = NULL;
    const ObjectView *view = view_open(session->arena, (const char *)data, size, &fault);
    CHECK(view || fault);
    if (view) view_print(view, &text);
    buf_free(&text);
    fuzz_close(session);
    return 0;
}
