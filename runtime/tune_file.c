/* tune_file.c: what tuning chose, kept on disk for later processes.
 *
 * A file for each question, named by a hash of it; a text that says the question again, then what
 * was measured, then a checksum of all before. It is written beside and renamed, so a reader sees a
 * whole file or none; one that is not exactly what is expected counts for nothing. Nothing that
 * goes wrong here is an error of the call. */
#include "tune.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LINE "tile tuning 1\n"
enum { MOST_BYTES = 1 << 16 };

/* ---- texts ----------------------------------------------------------------------------------- */

/* FNV-1a: each of its steps is a bijection, so no change of one byte goes unseen. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static const uint64_t hash_start = UINT64_C(0xcbf29ce484222325);

typedef struct text {
    char *bytes;
    size_t used, size;
    int failed;
} text;

static void add(text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(out->bytes + out->used, out->size - out->used, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= out->size - out->used)
        out->failed = 1;
    else
        out->used += (size_t)length;
}

/* The code that a configuration is on this device. */
static uint64_t code_of(const tile_specialisation *configuration, uint32_t compute)
{
    uint64_t hash = hash_bytes(hash_start, &configuration->code, sizeof configuration->code);
    for (uint32_t i = 0; i < configuration->variant_count; i++) {
        const tile_image *image = tile_pick_image(&configuration->variants[i], compute);
        if (image) hash = hash_bytes(hash, image->bytes, image->size);
    }
    return hash;
}

/* A line for each thing that the choice follows from. */
static void add_question(text *out, const tile_question *question, const tile_driver *driver)
{
    const tile_gpu *gpu = &driver->gpus[question->device];
    const tile_specialisation *first = tile_configuration(question, 0);
    add(out, FIRST_LINE "kernel %s\ndevice %s\ncompute %u\ndriver %d\nvariant %u\nsizes",
        question->kernel->name, gpu->name, gpu->compute, driver->version, question->variant);
    for (uint32_t i = 0; i < question->class_count; i++)
        add(out, " %" PRId64, question->classes[i]);
    add(out, "\n");
    for (uint32_t i = 0; i < first->configuration_count; i++)
        add(out, "code %016" PRIx64 " %s\n", code_of(first + i, gpu->compute),
            first[i].configuration);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int is_own_folder(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
           !(found.st_mode & (S_IWGRP | S_IWOTH));
}

/* Makes it with those above it. */
static void make_folder(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    mkdir(path, 0700);
}

int tile_cache_folder(char *path, int make)
{
    const char *named = secure_getenv("TILE_CACHE"), *cache = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    int length = -1;
    if (named && *named)
        length = strcmp(named, "off") == 0 ? -1 : snprintf(path, TILE_PATH_BYTES, "%s", named);
    else if (cache && *cache == '/')
        length = snprintf(path, TILE_PATH_BYTES, "%s/tile", cache);
    else if (home && *home == '/')
        length = snprintf(path, TILE_PATH_BYTES, "%s/.cache/tile", home);
    if (length < 0 || length >= TILE_PATH_BYTES / 2) return 0;
    if (make) make_folder(path);
    return is_own_folder(path);
}

static int find_path(const text *question, char *path, int make)
{
    if (question->failed || !tile_cache_folder(path, make)) return 0;
    const uint64_t hash = hash_bytes(hash_start, question->bytes, question->used);
    const uint64_t other = hash_bytes(~hash_start, question->bytes, question->used);
    sprintf(path + strlen(path), "/%016" PRIx64 "%016" PRIx64 ".tune", hash, other);
    return 1;
}

/* The whole file and a NUL; 0: there is none, or it is too large. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t used = 0;
    struct stat found;
    if (file < 0) return 0;
    while (used < size - 1 && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
        const ssize_t got = read(file, bytes + used, size - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(file);
    bytes[used] = '\0';
    return used < size - 1 ? used : 0;
}

static int write_all(int file, const char *bytes, size_t count)
{
    while (count) {
        const ssize_t written = write(file, bytes, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return 0;
        bytes += written;
        count -= (size_t)written;
    }
    return fsync(file) == 0;
}

static void write_file(const char *path, const text *content)
{
    char beside[TILE_PATH_BYTES + 16];
    snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    const int file = mkstemp(beside);
    if (file < 0) return;
    const int fine = write_all(file, content->bytes, content->used);
    if (close(file) != 0 || !fine || rename(beside, path) != 0) unlink(beside);
}

/* ---- both ways ------------------------------------------------------------------------------- */

static text new_text(void)
{
    text made = {.bytes = malloc(MOST_BYTES), .size = MOST_BYTES};
    made.failed = !made.bytes;
    if (made.failed) made.size = 0;
    return made;
}

/* What stands behind the question: the times, the choice, the checksum; nothing else. */
static int read_answer(const char *file, size_t size, const char *at, uint32_t count,
                       uint32_t *chosen)
{
    char expected[32];
    char *end;
    for (uint32_t i = 0; i < count; i++) {
        if (strncmp(at, "time ", 5) != 0) return 0;
        strtoll(at + 5, &end, 10);
        if (end == at + 5 || *end != '\n') return 0;
        at = end + 1;
    }
    if (strncmp(at, "choice ", 7) != 0 || at[7] < '0' || at[7] > '9') return 0;
    const unsigned long number = strtoul(at + 7, &end, 10);
    if (*end != '\n' || number >= count) return 0;
    at = end + 1;
    sprintf(expected, "check %016" PRIx64 "\n", hash_bytes(hash_start, file, (size_t)(at - file)));
    if (strcmp(at, expected) != 0 || at + strlen(at) != file + size) return 0;
    *chosen = (uint32_t)number;
    return 1;
}

int tile_tune_read(const tile_question *question, const tile_driver *driver, uint32_t *chosen)
{
    char path[TILE_PATH_BYTES];
    text asked = new_text(), file = new_text();
    int found = 0;
    if (!asked.failed && !file.failed) {
        add_question(&asked, question, driver);
        file.used = find_path(&asked, path, 0) ? read_file(path, file.bytes, file.size) : 0;
        found = !asked.failed && file.used > asked.used &&
                memcmp(file.bytes, asked.bytes, asked.used) == 0 &&
                read_answer(file.bytes, file.used, file.bytes + asked.used,
                            tile_configuration(question, 0)->configuration_count, chosen);
    }
    free(asked.bytes);
    free(file.bytes);
    return found;
}

void tile_tune_write(const tile_question *question, const tile_driver *driver, uint32_t chosen,
                     const double *nanoseconds)
{
    char path[TILE_PATH_BYTES];
    text out = new_text();
    if (!out.failed) {
        add_question(&out, question, driver);
        const int is_kept = find_path(&out, path, 1);
        for (uint32_t i = 0; i < tile_configuration(question, 0)->configuration_count; i++)
            add(&out, "time %.0f\n", nanoseconds[i]);
        add(&out, "choice %u\n", chosen);
        add(&out, "check %016" PRIx64 "\n", hash_bytes(hash_start, out.bytes, out.used));
        if (is_kept && !out.failed) write_file(path, &out);
    }
    free(out.bytes);
}
