/* carry.c: what an object carries of its program, for libtilec to compile more of it: the options
 * that the code follows from, and the texts of the files, the standard library's left out. */
#include "build/build.h"

static const char *glue(Session *session, const char *option, const char *value)
{
    return arena_printf(session->arena, "%s%s", option, value);
}

static int add_list(Session *session, const char *option, const TextList *list, const char **out)
{
    for (int i = 0; i < list->count; i++) out[i] = glue(session, option, list->items[i]);
    return list->count;
}

static int add_folders(Session *session, const TextList *list, const char **out)
{
    for (int i = 0; i < list->count; i++)
        out[i] = glue(session, "-I", session_recorded_path(session, list->items[i]));
    return list->count;
}

Carried *carry_program(Session *session, const Options *options, const Source *main,
                       const Program *program)
{
    enum { SINGLE_WORDS = 5 };
    Arena *arena = session->arena;
    const int lists = options->defines.count + options->import_paths.count + options->exports.count;
    const char **words = arena_new_array(arena, const char *, lists + SINGLE_WORDS);
    const Source **files = arena_new_array(arena, const Source *, program_input_count(program) + 1);
    Carried *carried = arena_new_of(arena, Carried);
    *carried = (Carried){.words = words, .files = files};
    int count = add_list(session, "-D", &options->defines, words);
    count += add_folders(session, &options->import_paths, words + count);
    count += add_list(session, "--export=", &options->exports, words + count);
    if (options->fast_math) words[count++] = "--fast-math";
    if (options->contraction)
        words[count++] = glue(session, "-ffp-contract=", options->contraction);
    if (options->lines) words[count++] = "-g";
    if (options->optimise) words[count++] = glue(session, "-O", options->optimise);
    if (options->prefix) words[count++] = glue(session, "--prefix=", options->prefix);
    carried->word_count = count;
    files[carried->file_count++] = main;
    for (int i = 0; i < program_input_count(program); i++)
        files[carried->file_count++] = program_input(program, i);
    return carried;
}
