/* driver.h: from a source file to outputs: the pipeline as a list. The one place that knows every
 * stage. */
#ifndef TILEC_DRIVER_H
#define TILEC_DRIVER_H

#include "build/build.h"

/* Compiles all specialisations of all exports for all architectures and links them into one object.
 * False: reported. */
bool build_exports(Session *session, const Options *options, const ArchList *archs,
                   const ExportList *exports, const BuildWish *wish, Build *out);
void build_free(Build *build);

/* The commands (commands.def): each returns the exit status and has reported. */
#define COMMAND(name, spelling, arguments, help)                                                          \
    ExitStatus command_##name(Session *session, const Options *options);
#include "commands.def"
#undef COMMAND

/* arch_parse, for which "native" becomes the architecture of this machine's first GPU
 * (command/native.c).
 */
bool choose_archs(Session *session, const char *text, ArchList *out);
#endif
