/* generator.c: functions that yield, and generator expressions. Their bodies are evaluated as far
 * as the next item is asked for, each on a thread of its own; only one thread ever runs: the one
 * that asks waits for the one that answers. */
#include "eval/python/python.h"

#include <pthread.h>
#include <semaphore.h>

enum { GENERATOR_LIMIT = 500, STACK_SIZE = 64 << 20 };

typedef enum GeneratorState {
    GENERATOR_NEW,
    GENERATOR_PAUSED,
    GENERATOR_RUNNING,
    GENERATOR_DONE
} GeneratorState;

struct Generator {
    Eval *eval;
    GeneratorState state;
    GeneratorBody *body;
    void *context;
    Frame frame;
    const char *name; /* NULL: of library code, which messages do not show */
    pthread_t thread;
    sem_t asked, answered;
    Object *item; /* that it gives; NULL at its end */
    bool failed, abandoned;
    int library; /* the evaluator's, in the body */
    int depth;   /* that it had when it was asked */
};

/* What belongs to the one that asks. */
typedef struct Asker {
    Frame *frame;
    Attempt *attempt;
    Span at;
    int depth, library;
} Asker;

static void *run_generator(void *argument)
{
    Generator *generator = argument;
    os_use_c_locale();
    sem_wait(&generator->asked);
    generator->failed = !generator->body(generator->eval, generator->context);
    generator->item = NULL;
    generator->state = GENERATOR_DONE;
    sem_post(&generator->answered);
    return NULL;
}

static bool start(Eval *eval, Generator *generator, Span at)
{
    pthread_attr_t attributes;
    if (eval->generators.count >= GENERATOR_LIMIT) {
        FAIL(eval, too_many_generators, at, (int)eval->generators.count);
        return false;
    }
    sem_init(&generator->asked, 0, 0);
    sem_init(&generator->answered, 0, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    bool good = pthread_create(&generator->thread, &attributes, run_generator, generator) == 0;
    pthread_attr_destroy(&attributes);
    if (good)
        vec_push(eval->arena, &eval->generators, generator);
    else
        FAIL(eval, too_many_generators, at, (int)eval->generators.count);
    return good;
}

static void finish(Eval *eval, Generator *generator)
{
    pthread_join(generator->thread, NULL);
    sem_destroy(&generator->asked);
    sem_destroy(&generator->answered);
    for (size_t i = 0; i < eval->generators.count; i++)
        if (eval->generators.data[i] == generator)
            eval->generators.data[i] = eval->generators.data[--eval->generators.count];
}

static void resume(Generator *generator)
{
    generator->state = GENERATOR_RUNNING;
    sem_post(&generator->asked);
    while (sem_wait(&generator->answered) != 0) continue;
}

/* The body's frame is called by the one that asks. */
static Asker enter(Eval *eval, Generator *generator, Span at)
{
    const Asker asker = {eval->frame, eval->attempt, eval->at, eval->depth, eval->library};
    generator->frame.caller = eval->frame;
    generator->frame.control = eval->control;
    eval->frame = &generator->frame;
    eval->library = generator->library;
    generator->depth = eval->depth;
    if (generator->name != NULL) {
        CallStep step = {at, arena_printf(eval->arena, "in the generator %s", generator->name)};
        vec_push(eval->arena, &eval->steps, step);
    }
    return asker;
}

static void leave(Eval *eval, Generator *generator, const Asker *asker)
{
    if (generator->name != NULL) eval->steps.count--;
    eval->frame = asker->frame;
    eval->attempt = asker->attempt;
    eval->depth = asker->depth;
    eval->library = asker->library;
    eval_move(eval, asker->at);
}

static bool pull_generator(Eval *eval, Object *iterator, Span at, Object **item)
{
    Generator *generator = iterator->as.iterator.generator;
    if (generator->state == GENERATOR_DONE) return true; /* it failed before: there is no more */
    if (generator->state == GENERATOR_RUNNING) {
        FAIL(eval, generator_running, at);
        return false;
    }
    if (eval->steps.count >= CALL_LIMIT) {
        FAIL(eval, recursion, at, CALL_LIMIT);
        return false;
    }
    if (generator->state == GENERATOR_NEW && !start(eval, generator, at)) return false;
    const Asker asker = enter(eval, generator, at);
    resume(generator);
    leave(eval, generator, &asker);
    if (generator->state == GENERATOR_DONE) finish(eval, generator);
    *item = generator->item;
    return !generator->failed;
}

Object *generator_new(Eval *eval, GeneratorBody *body, void *context, const Frame *frame,
                      const char *name)
{
    Generator *generator = arena_new_of(eval->arena, Generator);
    generator->eval = eval;
    generator->body = body;
    generator->context = context;
    generator->frame = *frame;
    generator->frame.generator = generator;
    generator->library = eval->library;
    generator->name = name;
    Object *iterator = iterator_new(eval, eval->none);
    iterator->as.iterator.pull = pull_generator;
    iterator->as.iterator.generator = generator;
    return iterator;
}

Object *generator_yield(Eval *eval, Object *item, Span at)
{
    Generator *generator = eval->frame->generator;
    if (generator == NULL) return FAIL(eval, yield_place, at, "a 'yield' that no loop asks for");
    if (generator->abandoned) return NULL;
    if (eval->control > generator->frame.control)
        return FAIL(eval, yield_place, at, "a 'yield' under run-time control");
    if (eval->attempt != NULL && eval->attempt->frame == eval->frame)
        return FAIL(eval, yield_place, at, "a 'yield' in a 'try'");
    generator->item = item;
    generator->state = GENERATOR_PAUSED;
    const Span place = eval->at;
    const int depth = eval->depth - generator->depth;
    sem_post(&generator->answered);
    while (sem_wait(&generator->asked) != 0) continue;
    eval->depth = generator->depth + depth;
    eval_move(eval, place);
    return generator->abandoned ? NULL : eval->none;
}

Object *generator_result(Eval *eval, const Object *iterator)
{
    const Generator *generator = iterator->as.iterator.generator;
    const bool returned = generator != NULL && generator->frame.result != NULL;
    return returned ? generator->frame.result : eval->none;
}

/* Its body ends where it stands, as if that had failed in silence. */
static void abandon(Eval *eval, Generator *generator)
{
    generator->abandoned = true;
    eval->quiet++;
    const Asker asker = enter(eval, generator, eval->at);
    resume(generator);
    leave(eval, generator, &asker);
    finish(eval, generator);
    eval->quiet--;
}

void generators_abandon(Eval *eval)
{
    while (eval->generators.count > 0) abandon(eval, vec_last(&eval->generators));
}

Object *iterator_method_close(Eval *eval, const Bound *bound)
{
    Object *iterator = bound->values[0];
    Generator *generator = iterator->as.iterator.generator;
    iterator->as.iterator.ended = true;
    if (generator == NULL || generator->state != GENERATOR_PAUSED) return eval->none;
    abandon(eval, generator);
    generator->state = GENERATOR_DONE;
    return eval->none;
}
