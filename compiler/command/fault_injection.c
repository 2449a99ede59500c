/* fault_injection.c: tilec run --leave-out, --leave-each-out: whether somebody misses an op. The
 * program is compiled once; a copy of this process, with all that it has loaded, runs it without
 * one op. */
#include "command/fault_injection.h"

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

/* `met` is what tile_emulator_came_to says. */
static void report_mutant(Session *session, const MutantVec *mutants, size_t number, bool missed,
                          int met, const char *evidence)
{
    const Mutant *mutant = &mutants->data[number - 1];
    const char *outcome = missed     ? "missed"
                          : met == 2 ? arena_printf(session->arena, "not missed: %s", evidence)
                          : !met     ? "nobody comes to it"
                          : mutant->is_fixed ? "it holds in every call"
                                             : "it holds for all who come to it";
    diag_report(session->diags, DIAG_mutant, mutant->span, (int)number, mutant->what,
                mutant->kernel, mutant->code, number_in_code(mutants, number), outcome);
}

/* What came of a run. */
typedef struct Outcome {
    int status;      /* to exit with; -1: it did not come to an end by itself */
    int strength;    /* of the evidence */
    int by_chance;   /* as tile_emulator_goes_by_chance says */
    bool differs;    /* memory ended otherwise than with all ops, though nothing was said */
    uint64_t digest; /* of memory */
    char evidence[TEXT];
} Outcome;

/* What is run again and again. */
typedef struct Subject {
    Session *session;
    Program *program;
    const char *statements;
    const MutantVec *mutants;
    Outcome whole[2]; /* with all ops, the first thread first and the last one */
} Subject;

static _Noreturn void run_without(const Subject *subject, size_t number, unsigned seconds,
                                  bool backwards, int to)
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
    Outcome outcome = {.status = (int)session_status(subject->session),
                       .strength = tile_emulator_evidence(&text),
                       .by_chance = tile_emulator_goes_by_chance(),
                       .digest = tile_emulator_digest()};
    snprintf(outcome.evidence, sizeof outcome.evidence, "%s", text);
    _exit(write(to, &outcome, sizeof outcome) != sizeof outcome);
}

/* Whether memory ended otherwise than with the op: for certain, as its lack may change who comes
 * first, but that of a condition does not. */
static bool differs(const Subject *subject, size_t number, const Outcome *outcome, bool backwards)
{
    const bool certain = outcome->by_chance < 2 || subject->mutants->data[number - 1].is_predicate;
    return certain && outcome->digest != subject->whole[backwards].digest;
}

/* What comes of the program without the op, the last thread first or the first one. */
static Outcome outcome_in_order(const Subject *subject, size_t number, unsigned seconds,
                                bool backwards)
{
    Outcome outcome = {.status = -1};
    int ends[2];
    if (pipe(ends)) return outcome;
    const pid_t child = fork();
    if (child == 0) run_without(subject, number, seconds, backwards, ends[1]);
    close(ends[1]);
    if (read(ends[0], &outcome, sizeof outcome) != sizeof outcome) outcome.status = -1;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    if (number && !outcome.status) outcome.differs = differs(subject, number, &outcome, backwards);
    return outcome;
}

/* Of the two orders, the first that says something; if neither does, that with evidence that says
 * more. */
static Outcome outcome_without(const Subject *subject, size_t number, unsigned seconds)
{
    const Outcome first = outcome_in_order(subject, number, seconds, false);
    if (first.status || first.differs || !first.by_chance) return first;
    const Outcome second = outcome_in_order(subject, number, seconds, true);
    const bool says = second.status || second.differs;
    return says || second.strength > first.strength ? second : first;
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

/* Runs it with all ops, and says how long a mutant may take; 0, which is reported: it fails. */
static unsigned run_whole(Subject *subject)
{
    const uint64_t start = os_now_ns();
    for (int i = 0; i < 2; i++) {
        const Outcome whole = outcome_in_order(subject, 0, MOST, i == 1);
        subject->whole[i] = whole;
        if (whole.status == EXIT_DONE) continue;
        diag_report(subject->session->diags, DIAG_not_again, (Span){0}, whole.status);
        return 0;
    }
    const uint64_t seconds = LEAST + TIMES * (os_now_ns() - start) / 1000000000;
    return (unsigned)(seconds < MOST ? seconds : MOST);
}

static void leave_each_out(Subject *subject, const Options *options)
{
    Session *session = subject->session;
    const MutantVec *mutants = subject->mutants;
    const Source *file = options->missed ? source_from_file(session, options->missed) : NULL;
    if (options->missed && !file) return;
    const char *known = file ? file->text : NULL;
    int missed = 0, unmet = 0, count = 0;
    unsigned seconds = 0;
    for (size_t number = 1; number <= mutants->count; number++) {
        if (!is_wanted(&mutants->data[number - 1], options->leave_each_out)) continue;
        const int met = tile_emulator_came_to((uint32_t)number);
        bool found = is_known(session, known, mutants, number);
        Outcome outcome = {0};
        if (met == 2 && !found) {
            if (!seconds) seconds = run_whole(subject);
            if (!seconds) return;
            outcome = outcome_without(subject, number, seconds);
            /* Of what orders others each need is to be told: here the emulator lacks a check. */
            const bool unsaid = outcome.differs && !mutants->data[number - 1].is_predicate;
            if (unsaid) snprintf(outcome.evidence, TEXT, "but memory ends otherwise");
            found = (outcome.status != EXIT_DONE || outcome.differs) && !unsaid;
        }
        count++;
        missed += found;
        unmet += met < 2 && !found;
        report_mutant(session, mutants, number, found, met, outcome.evidence);
    }
    diag_report(session->diags, DIAG_mutants, (Span){0}, missed, count - unmet, unmet);
}

void run_mutants(Session *session, const Options *options, Program *program, const char *statements,
                 const MutantVec *mutants)
{
    Subject subject = {
        .session = session, .program = program, .statements = statements, .mutants = mutants};
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
