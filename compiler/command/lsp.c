/* lsp.c: tilec lsp: serves an editor over standard input and output. */
#include "driver.h"
#include "lsp/lsp.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* What programs print as they are evaluated goes to standard error, not between the messages. */
ExitStatus command_lsp(Session *session, const Options *options)
{
    ArchList archs;
    if (!choose_archs(session, options->arch ? options->arch : ARCH_DEFAULT, &archs))
        return session_status(session);
    signal(SIGPIPE, SIG_IGN);
    fflush(stdout);
    const int out = dup(STDOUT_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    return serve(options, archs.items[0].target, STDIN_FILENO, out);
}
