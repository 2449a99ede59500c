/* mutants.c: tilec run --leave-out, --leave-each-out: whether somebody misses an op. The program is
 * compiled once; a copy of this process, with all that it has loaded, runs it without one op. */
#include "command/mutants.h"

#include "tile/emulator.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMES = 10, LEAST = 2, MOST = 60 }; /* as long as the whole program, in seconds: for ever */

bool wants_mutants(const Options *options)
{
    return options->leave_out || options->leave_each_out;
}

/* The mutant's number in its kernel's code. */
static int number_in_code(const MutantVec *mutants, size_t number)
{
    int count = 0;
    for (size_t i = 0; i < number; i++)
        count += strcmp(mutants->data[i].code, mutants->data[number - 1].code) == 0;
    return count;
}

static void report_mutant(Session *session, const MutantVec *mutants, size_t number,
                          const char *outcome)
{
    const Mutant *mutant = &mutants->data[number - 1];
    diag_report(session->diags, DIAG_mutant, mutant->span, (int)number, mutant->what,
                mutant->kernel, mutant->code, number_in_code(mutants, number), outcome);
}

/* The exit status of the program without the op, the last thread first or the first one; -1: it did
 * not come to an end by itself. */
static int status_in_order(Session *session, Program *program, const char *statements,
                           size_t number, unsigned seconds, bool backwards)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
        alarm(seconds);
        tile_emulator_stop_at_fault(1);
        tile_emulator_set_checked(backwards ? 2 : 1);
        tile_emulator_leave_out((uint32_t)number);
        program_run(program, statements);
        _exit((int)session_status(session));
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* The first that says something. */
static int status_without(Session *session, Program *program, const char *statements, size_t number,
                          unsigned seconds)
{
    const int status = status_in_order(session, program, statements, number, seconds, false);
    return status ? status : status_in_order(session, program, statements, number, seconds, true);
}

/* Whether the text has the line "CODE N". */
static bool is_known(Session *session, const char *text, const MutantVec *mutants, size_t number)
{
    const char *line = arena_printf(session->arena, "%s %d\n", mutants->data[number - 1].code,
                                    number_in_code(mutants, number));
    const char *found = text ? strstr(text, line) : NULL;
    return found && (found == text || found[-1] == '\n');
}

static void leave_each_out(Session *session, const Options *options, Program *program,
                           const char *statements, const MutantVec *mutants)
{
    const char *which = options->leave_each_out;
    const bool all = strcmp(which, "all") == 0, predicates = strcmp(which, "predicates") == 0;
    size_t length;
    const char *known =
        options->missed ? os_read_file(session->arena, options->missed, &length) : NULL;
    int missed = 0, unmet = 0, count = 0;
    const uint64_t start = os_now_ns();
    const int whole = status_without(session, program, statements, 0, MOST);
    const uint64_t seconds = LEAST + TIMES * (os_now_ns() - start) / 1000000000;
    if (whole != EXIT_DONE) {
        diag_report(session->diags, DIAG_not_again, (Span){0}, whole);
        return;
    }
    for (size_t number = 1; number <= mutants->count; number++) {
        if (!all && mutants->data[number - 1].is_predicate != predicates) continue;
        const bool met = tile_emulator_came_to((uint32_t)number);
        const bool found =
            is_known(session, known, mutants, number) ||
            (met && status_without(session, program, statements, number,
                                   (unsigned)(seconds < MOST ? seconds : MOST)) != EXIT_DONE);
        count++;
        missed += found;
        unmet += !met;
        report_mutant(session, mutants, number,
                      found ? "missed"
                      : met ? "not missed"
                            : "nobody comes to it");
    }
    diag_report(session->diags, DIAG_mutants, (Span){0}, missed, count - unmet, unmet);
}

void run_mutants(Session *session, const Options *options, Program *program, const char *statements,
                 const MutantVec *mutants)
{
    const size_t number = options->leave_out ? strtoul(options->leave_out, NULL, 10) : 0;
    tile_emulator_leave_out((uint32_t)number);
    const bool fine = program_run(program, statements);
    if (number > mutants->count)
        diag_report(session->diags, DIAG_no_mutant, (Span){0}, (int)number);
    else if (number)
        report_mutant(session, mutants, number,
                      !tile_emulator_came_to((uint32_t)number) ? "nobody comes to it"
                      : fine                                   ? "not missed"
                                                               : "missed");
    if (fine && options->leave_each_out)
        leave_each_out(session, options, program, statements, mutants);
}
