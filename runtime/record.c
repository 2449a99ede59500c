/* record.c: TILE_RECORD: which specialisations a run asked for, as lines that tilec --export @FILE
 * takes. */
#include "runtime.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct line {
    struct line *next;
    char text[];
} line;

static struct {
    pthread_mutex_t lock;
    atomic_int state; /* 0: not asked yet; 1: off; 2: on */
    const char *path; /* once it is on */
    line *lines;      /* that were written, under the lock */
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { ASKED_NOT, OFF, ON };

static int ask_environment(void)
{
    pthread_mutex_lock(&record.lock);
    int state = atomic_load_explicit(&record.state, memory_order_relaxed);
    if (state == ASKED_NOT) {
        const char *path = secure_getenv("TILE_RECORD");
        record.path = path && *path ? strdup(path) : NULL;
        state = record.path ? ON : OFF;
        atomic_store_explicit(&record.state, state, memory_order_release);
    }
    pthread_mutex_unlock(&record.lock);
    return state;
}

int tile_is_recording(void)
{
    const int state = atomic_load_explicit(&record.state, memory_order_acquire);
    return (state == ASKED_NOT ? ask_environment() : state) == ON;
}

/* Under the lock. In one piece, so that the lines of several processes do not mix. */
static void write_line(const char *text, size_t length)
{
    const int file = open(record.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    line *made = malloc(sizeof *made + length + 1);
    if (made) {
        memcpy(made->text, text, length + 1);
        made->next = record.lines;
        record.lines = made;
    }
    /* What cannot be written is not recorded: the run goes on. */
    if (file >= 0 && write(file, text, length) < 0) (void)0;
    if (file >= 0) close(file);
}

void tile_record(const char *text)
{
    pthread_mutex_lock(&record.lock);
    const line *one = record.lines;
    while (one && strcmp(one->text, text) != 0) one = one->next;
    if (!one) write_line(text, strlen(text));
    pthread_mutex_unlock(&record.lock);
}
