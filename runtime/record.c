/* record.c: TILE_RECORD: which specialisations a run asked for, as lines that tilec --export @FILE
 * takes. */
#include "tune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
    char *path;       /* once it is on */
    line *lines;      /* that were written, under the lock */
    char fault[512];  /* why one could not be; empty: all could; under the lock */
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

/* In one piece, so that the lines of several processes do not mix. 0, or an errno. */
static int append(const char *text, size_t length)
{
    const int file = open(record.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    const ssize_t put = write(file, text, length);
    const int error = put < 0 ? errno : (size_t)put < length ? ENOSPC : 0;
    return close(file) && !error ? errno : error;
}

/* Under the lock. What cannot be written is not recorded, and the run goes on. The first fault. */
static int write_line(const char *text, size_t length)
{
    const int error = append(text, length), is_first = error && !*record.fault;
    line *made = malloc(sizeof *made + length + 1);
    if (made) {
        memcpy(made->text, text, length + 1);
        made->next = record.lines;
        record.lines = made;
    }
    if (is_first)
        snprintf(record.fault, sizeof record.fault, "TILE_RECORD: cannot write '%.300s': %s",
                 record.path, strerror(error));
    return is_first;
}

const char *tile_record_fault(void)
{
    pthread_mutex_lock(&record.lock);
    const char *fault = *record.fault ? record.fault : NULL;
    pthread_mutex_unlock(&record.lock);
    return fault;
}

void tile_record(const char *text)
{
    pthread_mutex_lock(&record.lock);
    const line *one = record.lines;
    while (one && strcmp(one->text, text) != 0) one = one->next;
    const int is_fault = !one && record.path && write_line(text, strlen(text));
    pthread_mutex_unlock(&record.lock);
    if (is_fault) tile_log("%s", record.fault);
}

/* Of a plug-in that goes. */
static __attribute__((destructor)) void forget(void)
{
    pthread_mutex_lock(&record.lock);
    for (line *next; record.lines; record.lines = next) {
        next = record.lines->next;
        free(record.lines);
    }
    atomic_store_explicit(&record.state, OFF, memory_order_release);
    free(record.path);
    record.path = NULL;
    pthread_mutex_unlock(&record.lock);
}
