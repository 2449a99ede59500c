/* parse.c: a source: scanner, layout, grammar, checks, the tree as text. */
#include "fuzz.h"
#include "mutate_text.h"
#include "syntax/parser.h"

static void check_place(void *context, const Node *node)
{
    const Source *source = context;
    CHECK(node->span.source == source && node->span.begin <= node->span.end &&
          node->span.end <= source->length);
    node_visit_children(node, check_place, context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Session *session = session_new();
    Source *source = fuzz_source(session, "fuzz.tile", data, size);
    Module *module = parse_source(session, source);
    Buf text = {0};
    check_place(source, &module->tree->base);
    print_tree(&module->tree->base, &text);
    buf_free(&text);
    fuzz_close(session);
    return 0;
}
