/* tune.c: what stands in a file of tuning behind its question, with a checksum that is right; and
 * the file as it is. */
#include "fuzz.h"

#include "../../../runtime/tune_file.c"

/* Not reached from here. */
const tile_image *tile_pick_image(const tile_variant *variant, uint32_t compute)
{
    (void)variant;
    (void)compute;
    return NULL;
}

const tile_specialisation *tile_configuration(const tile_question *question, uint32_t index)
{
    return question->kernel->specialisations + index;
}

static void read_text(char *text, size_t length)
{
    uint32_t choice = 0;
    for (uint32_t configurations = 1; configurations < 4; configurations++)
        if (read_answer(text, length, text, configurations, &choice))
            CHECK(choice < configurations);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 32);
    memcpy(text, data, size);
    text[size] = '\0';
    read_text(text, size);
    const int added =
        sprintf(text + size, "check %016" PRIx64 "\n", hash_bytes(hash_start, data, size));
    read_text(text, size + (size_t)added);
    free(text);
    return 0;
}
