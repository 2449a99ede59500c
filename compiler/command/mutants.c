/* mutants.c: tilec run --leave-out, --leave-each-out: whether somebody misses an op. The program is
 * compiled once; a copy of this process, with all that it has loaded, runs it without one op. */
#include "command/mutants.h"

#include "tile/emulator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 512 };
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

static void report_mutant(Session *session, const MutantVec *mutants, size_t number, bool missed,
                          bool met, const char *evidence)
{
    const char *outcome = missed ? "missed"
                          : met  ? arena_printf(session->arena, "not missed: %s", evidence)
                                 : "nobody comes to it";
    const Mutant *mutant = &mutants->data[number - 1];
    diag_report(session->diags, DIAG_mutant, mutant->span, (int)number, mutant->what,
                mutant->kernel, mutant->code, number_in_code(mutants, number), outcome);
}

/* What is run again and again. */
typedef struct Subject {
    Session *session;
    Program *program;
    const char *statements;
    const MutantVec *mutants;
} Subject;

/* What is written at the other end until that is closed; as much of it as there is room for. */
static void read_all(int from, char text[TEXT])
{
    size_t length = 0;
    for (ssize_t more = 1; more > 0 && length<TEXT - 1; length += more> 0 ? (size_t)more : 0)
        more = read(from, text + length, TEXT - 1 - length);
    text[length] = 0;
}

static _Noreturn void run_without(const Subject *subject, size_t number, unsigned seconds,
                                  bool backwards, int evidence)
{
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    alarm(seconds);
    tile_emulator_stop_at_fault(1);
    tile_emulator_set_checked(backwards ? 2 : 1);
    tile_emulator_leave_out((uint32_t)number);
    program_run(subject->program, subject->statements);
    const char *text;
    const int strength = tile_emulator_evidence(&text);
    dprintf(evidence, "%d%d%s", strength, tile_emulator_goes_by_chance() != 0, text);
    _exit((int)session_status(subject->session));
}

/* The exit status of the program without the op, the last thread first or the first one; -1: it did
 * not come to an end by itself. */
static int status_in_order(const Subject *subject, size_t number, unsigned seconds, bool backwards,
                           char evidence[TEXT])
{
    int status, ends[2];
    if (pipe(ends)) return -1;
    const pid_t child = fork();
    if (child == 0) run_without(subject, number, seconds, backwards, ends[1]);
    close(ends[1]);
    read_all(ends[0], evidence);
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

/* The first that says something; if neither does, the evidence that says more. */
static int status_without(const Subject *subject, size_t number, unsigned seconds,
                          char evidence[TEXT])
{
    char other[TEXT];
    int status = status_in_order(subject, number, seconds, false, evidence);
    if (status || evidence[1] == '0') return status;
    status = status_in_order(subject, number, seconds, true, other);
    if (!status && other[0] > evidence[0]) memcpy(evidence, other, TEXT);
    return status;
}

/* Whether the text has the line "CODE N". */
static bool is_known(Session *session, const char *text, const MutantVec *mutants, size_t number)
{
    const char *line = arena_printf(session->arena, "%s %d\n", mutants->data[number - 1].code,
                                    number_in_code(mutants, number));
    const char *found = text ? strstr(text, line) : NULL;
    return found && (found == text || found[-1] == '\n');
}

static bool is_wanted(const Mutant *mutant, const char *which)
{
    return strcmp(which, "all") == 0 || mutant->is_predicate == (strcmp(which, "predicates") == 0);
}

/* How long a mutant may take; 0, which is reported: the program fails when it is run again. */
static unsigned seconds_for(const Subject *subject)
{
    char evidence[TEXT];
    const uint64_t start = os_now_ns();
    const int whole = status_without(subject, 0, MOST, evidence);
    const uint64_t seconds = LEAST + TIMES * (os_now_ns() - start) / 1000000000;
    if (whole != EXIT_DONE) diag_report(subject->session->diags, DIAG_not_again, (Span){0}, whole);
    return whole != EXIT_DONE ? 0 : (unsigned)(seconds < MOST ? seconds : MOST);
}

static void leave_each_out(const Subject *subject, const Options *options)
{
    Session *session = subject->session;
    const MutantVec *mutants = subject->mutants;
    size_t length;
    const char *known =
        options->missed ? os_read_file(session->arena, options->missed, &length) : NULL;
    char evidence[TEXT] = "";
    int missed = 0, unmet = 0, count = 0;
    unsigned seconds = 0;
    for (size_t number = 1; number <= mutants->count; number++) {
        if (!is_wanted(&mutants->data[number - 1], options->leave_each_out)) continue;
        const bool met = tile_emulator_came_to((uint32_t)number);
        bool found = is_known(session, known, mutants, number);
        if (met && !found) {
            if (!seconds) seconds = seconds_for(subject);
            if (!seconds) return;
            found = status_without(subject, number, seconds, evidence) != EXIT_DONE;
        }
        count++;
        missed += found;
        unmet += !met;
        report_mutant(session, mutants, number, found, met, evidence + 2);
    }
    diag_report(session->diags, DIAG_mutants, (Span){0}, missed, count - unmet, unmet);
}

void run_mutants(Session *session, const Options *options, Program *program, const char *statements,
                 const MutantVec *mutants)
{
    const Subject subject = {session, program, statements, mutants};
    const size_t number = options->leave_out ? strtoul(options->leave_out, NULL, 10) : 0;
    const char *evidence;
    tile_emulator_leave_out((uint32_t)number);
    const bool fine = program_run(program, statements);
    tile_emulator_evidence(&evidence);
    if (number > mutants->count)
        diag_report(session->diags, DIAG_no_mutant, (Span){0}, (int)number);
    else if (number)
        report_mutant(session, mutants, number, !fine, tile_emulator_came_to((uint32_t)number),
                      evidence);
    if (fine && options->leave_each_out) leave_each_out(&subject, options);
}
