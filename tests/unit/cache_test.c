/* cache_test.c: the folder of earlier results: what is put is got, and whatever happens to the
 * files, nothing else is. */
#include "codegen/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- calls of the system, of which one fails: the Makefile has the linker put these in between --
 */

static int calls, failing_call, error_of_call;

static bool fails(void)
{
    if (++calls != failing_call) return false;
    errno = error_of_call;
    return true;
}

#define WRAPPED(type, failed, name, parameters, ...)                                               \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        return fails() ? (failed) : __real_##name(__VA_ARGS__);                                    \
    }
/* An open with O_CREAT alone has a mode; without, it is not looked at. */
WRAPPED(int, -1, open, (const char *path, int flags, unsigned mode), path, flags, mode)
WRAPPED(ssize_t, -1, read, (int file, void *bytes, size_t count), file, bytes, count)
WRAPPED(ssize_t, -1, write, (int file, const void *bytes, size_t count), file, bytes, count)
WRAPPED(int, -1, rename, (const char *from, const char *to), from, to)
WRAPPED(int, -1, unlink, (const char *path), path)
WRAPPED(int, -1, stat, (const char *path, struct stat *out), path, out)
WRAPPED(int, -1, lstat, (const char *path, struct stat *out), path, out)
WRAPPED(int, -1, mkdir, (const char *path, unsigned mode), path, mode)
WRAPPED(DIR *, NULL, opendir, (const char *path), path)
WRAPPED(struct dirent *, NULL, readdir, (DIR * folder), folder)
WRAPPED(int, -1, utimensat, (int folder, const char *path, const struct timespec *times, int flags),
        folder, path, times, flags)

/* Says that it failed, and has closed the file all the same, as on NFS. */
int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    const bool failed = fails();
    const int result = __real_close(file);
    if (failed) errno = error_of_call;
    return failed ? -1 : result;
}

typedef struct Fixture {
    Arena *arena;
    char *folder;
    Cache *cache;
} Fixture;

static int set_up(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    const char *fault;
    f->arena = arena_new();
    f->folder = os_temp_folder(f->arena);
    f->cache = cache_open(f->arena, f->folder, CACHE_LIMIT, &fault);
    *state = f;
    return f->cache == NULL;
}

static int tear_down(void **state)
{
    Fixture *f = *state;
    os_remove_folder(f->folder);
    arena_free(f->arena);
    free(f);
    return 0;
}

static CacheKey key_of(const char *text)
{
    return cache_key(text, strlen(text));
}

static char *path_of(const Fixture *f, const CacheKey *key)
{
    char name[65];
    for (int i = 0; i < 32; i++) snprintf(name + 2 * i, 3, "%02x", key->bytes[i]);
    return os_join_path(f->arena, f->folder, name);
}

/* What the cache gives for the key is the text, or nothing. */
static bool holds(Fixture *f, const CacheKey *key, const char *text)
{
    const char *bytes;
    size_t length;
    if (!cache_get(f->cache, f->arena, key, &bytes, &length)) return false;
    assert_int_equal(length, strlen(text));
    assert_memory_equal(bytes, text, length);
    return true;
}

static void put_and_get(void **state)
{
    Fixture *f = *state;
    const CacheKey a = key_of("a"), b = key_of("b");
    assert_false(holds(f, &a, "text"));
    cache_put(f->cache, &a, "text", 4);
    cache_put(f->cache, &b, "", 0);
    assert_true(holds(f, &a, "text"));
    assert_true(holds(f, &b, ""));
    cache_put(f->cache, &a, "other", 5);
    assert_true(holds(f, &a, "other"));
    assert_int_equal(cache_use(f->cache).entries, 2);
    assert_true(cache_clear(f->cache));
    assert_int_equal(cache_use(f->cache).entries, 0);
    assert_false(holds(f, &a, "other"));
}

/* BLAKE3 of nothing and of "abc". */
static void known_hashes(void **state)
{
    (void)state;
    static const uint8_t none[] = {0xaf, 0x13, 0x49, 0xb9}, abc[] = {0x64, 0x37, 0xb3, 0xac};
    const CacheKey a = key_of(""), b = key_of("abc");
    assert_memory_equal(a.bytes, none, sizeof none);
    assert_memory_equal(b.bytes, abc, sizeof abc);
}

/* ---- damage ---- */

/* A damaged entry is nothing, and gone. */
static void expect_removed(Fixture *f, const CacheKey *key, const char *bytes, size_t size)
{
    char *path = path_of(f, key);
    assert_true(os_write_file(path, bytes, size));
    assert_false(holds(f, key, "payload"));
    assert_false(os_file_exists(path));
}

static void damaged(void **state)
{
    Fixture *f = *state;
    size_t size;
    const CacheKey key = key_of("key"), other = key_of("other");
    cache_put(f->cache, &key, "payload", 7);
    const char *path = path_of(f, &key);
    char *good = os_read_file(f->arena, path, &size);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            good[i] ^= (char)(1 << bit);
            expect_removed(f, &key, good, size);
            good[i] ^= (char)(1 << bit);
        }
    for (size_t length = 0; length < size; length++) expect_removed(f, &key, good, length);
    char *longer = arena_alloc(f->arena, size + 1);
    memcpy(longer, good, size);
    expect_removed(f, &key, longer, size + 1);
    expect_removed(f, &other, good, size); /* another key's entry */
    os_write_file(path, good, size);
    assert_true(holds(f, &key, "payload"));
}

static void foreign_files(void **state)
{
    Fixture *f = *state;
    const CacheKey key = key_of("key"), folder = key_of("folder");
    const char *note = os_join_path(f->arena, f->folder, "README");
    const char *stale =
        arena_printf(f->arena, "%s.1.2.tmp", path_of(f, &key)); /* a writer that died */
    const char *backup = arena_printf(f->arena, "%s.backup", path_of(f, &key));
    const struct timeval long_ago[2] = {{1000000000, 0}, {1000000000, 0}};
    os_write_file(note, "text", 4);
    os_write_file(backup, "text", 4);
    os_write_file(stale, "half", 4);
    mkdir(path_of(f, &folder), 0700);
    utimes(stale, long_ago);
    utimes(backup, long_ago);
    cache_put(f->cache, &key, "text", 4);
    cache_put(f->cache, &folder, "text", 4);
    assert_false(holds(f, &folder, "text"));
    assert_int_equal(cache_use(f->cache).entries, 1);
    assert_false(os_file_exists(stale));
    assert_true(cache_clear(f->cache));
    assert_true(os_file_exists(note));
    assert_true(os_file_exists(backup));
}

/* ---- size ---- */

static void set_age(Fixture *f, const CacheKey *key, int hours)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    now.tv_sec -= hours * 3600 + 60;
    const struct timeval times[2] = {now, now};
    assert_int_equal(utimes(path_of(f, key), times), 0);
}

static void kept_small(void **state)
{
    Fixture *f = *state;
    const char *fault;
    enum { COUNT = 8, BYTES = 2000 };
    static char block[BYTES];
    CacheKey keys[COUNT + 1];
    const char *bytes;
    size_t length;
    f->cache = cache_open(f->arena, f->folder, COUNT * 2110, &fault);
    for (int i = 0; i <= COUNT; i++) {
        keys[i] = key_of(arena_printf(f->arena, "%d", i));
        if (i == COUNT) /* the oldest was used again */
            assert_true(cache_get(f->cache, f->arena, &keys[0], &bytes, &length));
        cache_put(f->cache, &keys[i], block, BYTES);
        if (i < COUNT) set_age(f, &keys[i], 100 - i);
    }
    assert_true(cache_use(f->cache).bytes <= COUNT * 2110 / 4 * 3);
    assert_true(cache_get(f->cache, f->arena, &keys[0], &bytes, &length));
    assert_false(cache_get(f->cache, f->arena, &keys[1], &bytes, &length));
    assert_true(cache_get(f->cache, f->arena, &keys[COUNT], &bytes, &length));
    static char large[COUNT * 2110]; /* one that would push out all others */
    const CacheKey too_large = key_of("too large");
    cache_put(f->cache, &too_large, large, sizeof large);
    assert_false(os_file_exists(path_of(f, &too_large)));
}

/* ---- folders ---- */

static void folders(void **state)
{
    Fixture *f = *state;
    const char *fault = NULL;
    struct stat info;
    char *deep = os_join_path(f->arena, f->folder, "a/b/c");
    assert_non_null(cache_open(f->arena, deep, CACHE_LIMIT, &fault));
    assert_int_equal(stat(deep, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    chmod(deep, 0770);
    assert_null(cache_open(f->arena, deep, CACHE_LIMIT, &fault));
    assert_string_equal(fault, "other users may write to it");
    os_write_file(os_join_path(f->arena, f->folder, "file"), "", 0);
    assert_null(
        cache_open(f->arena, os_join_path(f->arena, f->folder, "file/x"), CACHE_LIMIT, &fault));
    assert_null(
        cache_open(f->arena, os_join_path(f->arena, f->folder, "file"), CACHE_LIMIT, &fault));
    assert_null(cache_open(f->arena, "/proc/self/tilec", CACHE_LIMIT, &fault));
    if (geteuid() == 0) assert_int_equal(chown(f->folder, 1, 1), 0);
    if (geteuid() == 0) assert_null(cache_open(f->arena, f->folder, CACHE_LIMIT, &fault));
}

static void names_of_the_folder(void **state)
{
    Fixture *f = *state;
    setenv("TILEC_CACHE", "off", 1);
    assert_null(cache_folder(f->arena));
    setenv("TILEC_CACHE", "/some/where", 1);
    assert_string_equal(cache_folder(f->arena), "/some/where");
    unsetenv("TILEC_CACHE");
    setenv("XDG_CACHE_HOME", "/xdg", 1);
    assert_string_equal(cache_folder(f->arena), "/xdg/tilec");
    setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored, says its standard */
    setenv("HOME", "/home/someone", 1);
    assert_string_equal(cache_folder(f->arena), "/home/someone/.cache/tilec");
    unsetenv("HOME");
    assert_null(cache_folder(f->arena));
}

/* ---- a full disk ---- */

static void full_disk(void **state)
{
    Fixture *f = *state;
    const CacheKey key = key_of("key");
    static char block[100000];
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        cache_put(f->cache, &key, block, sizeof block);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    const char *bytes;
    size_t length;
    assert_false(cache_get(f->cache, f->arena, &key, &bytes, &length));
    assert_int_equal(rmdir(f->folder), 0); /* nothing is left behind */
    f->cache = cache_open(f->arena, f->folder, CACHE_LIMIT, &(const char *){NULL});
}

/* ---- a file system that fails, as one of another machine does ---- */

/* What a build does; whatever fails, what it gets is right. */
static void use_cache(Fixture *f, const CacheKey *key, int round)
{
    const char *bytes, *fault, *text = round % 2 ? "odd" : "even";
    size_t length;
    Cache *cache = cache_open(f->arena, f->folder, CACHE_LIMIT, &fault);
    if (!cache) return;
    if (cache_get(cache, f->arena, key, &bytes, &length)) assert_string_equal(bytes, "unchanging");
    cache_put(cache, key, "unchanging", 11);
    const CacheKey own = key_of(text);
    cache_put(cache, &own, text, strlen(text) + 1);
    if (cache_get(cache, f->arena, &own, &bytes, &length)) assert_string_equal(bytes, text);
}

static int files_of(const Fixture *f)
{
    int count = 0;
    DIR *folder = opendir(f->folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static void each_call_fails_once(void **state)
{
    Fixture *f = *state;
    static const int errors[] = {ESTALE, EBUSY, EIO, EACCES, ENOSPC, EDQUOT, EROFS, EINTR, ENOENT};
    const CacheKey key = key_of("key");
    int round = 0;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        error_of_call = errors[i];
        failing_call = 1;
        do {
            calls = 0;
            use_cache(f, &key, round++);
        } while (calls >= failing_call++); /* so many there are */
    }
    assert_true(round > 100);
    failing_call = 0;
    use_cache(f, &key, round);
    const char *bytes;
    size_t length;
    assert_true(cache_get(f->cache, f->arena, &key, &bytes, &length));
    assert_string_equal(bytes, "unchanging");
    assert_true(cache_clear(f->cache));
    assert_int_equal(files_of(f), 2);
}

/* Of files of the future, too, the oldest go first. */
static void clock_goes_back(void **state)
{
    Fixture *f = *state;
    enum { COUNT = 8 };
    static char block[1000];
    const char *fault;
    CacheKey keys[COUNT];
    f->cache = cache_open(f->arena, f->folder, (COUNT - 1) * 1110, &fault);
    for (int i = 0; i < COUNT; i++) {
        keys[i] = key_of(arena_printf(f->arena, "%d", i));
        cache_put(f->cache, &keys[i], block, sizeof block);
        const struct timeval later = {.tv_sec = time(NULL) + 1000000 + 1000 * i};
        if (i < COUNT - 1)
            assert_int_equal(utimes(path_of(f, &keys[i]), (struct timeval[]){later, later}), 0);
    }
    const char *bytes;
    size_t length;
    assert_true(cache_use(f->cache).bytes <= (COUNT - 1) * 1110);
    assert_true(cache_get(f->cache, f->arena, &keys[COUNT - 2], &bytes, &length));
    assert_int_equal(length, sizeof block);
}

/* ---- many at a time ---- */

enum { WRITERS = 16, ROUNDS = 100, KEYS = 4, LARGE = 30000, KILLS = 200 };

/* Puts what the key says, or looks whether what is there is that. */
static bool one_round(Fixture *f, int writer, int round)
{
    static char block[LARGE];
    const int which = (writer + round) % KEYS;
    const CacheKey key = key_of(arena_printf(f->arena, "%d", which));
    const char *bytes;
    size_t length;
    memset(block, 'a' + which, sizeof block);
    if (round % 3 == 0) cache_put(f->cache, &key, block, sizeof block - (size_t)which);
    if (!cache_get(f->cache, f->arena, &key, &bytes, &length)) return true;
    return length == sizeof block - (size_t)which && memcmp(bytes, block, length) == 0;
}

static pid_t start_writer(Fixture *f, int writer)
{
    pid_t child = fork();
    if (child != 0) return child;
    bool fine = true;
    for (int round = 0; round < ROUNDS; round++) fine &= one_round(f, writer, round);
    _exit(!fine);
}

/* Each does all its rounds; many are killed as they write, and begin again. */
static void several_writers(void **state)
{
    Fixture *f = *state;
    pid_t writers[WRITERS];
    unsigned random = 1;
    int status;
    for (int i = 0; i < WRITERS; i++) writers[i] = start_writer(f, i);
    for (int kills = 0; kills < KILLS; kills++) {
        random = random * 1103515245 + 12345;
        const int which = (int)(random >> 16) % WRITERS;
        usleep(random >> 20 & 511);
        kill(writers[which], SIGKILL);
        waitpid(writers[which], &status, 0);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
        writers[which] = start_writer(f, which);
    }
    for (int i = 0; i < WRITERS; i++) {
        waitpid(writers[i], &status, 0);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < KEYS; i++) assert_true(one_round(f, i, 1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(put_and_get),
        TEST(known_hashes),
        TEST(damaged),
        TEST(foreign_files),
        TEST(kept_small),
        TEST(folders),
        TEST(full_disk),
        TEST(several_writers),
        TEST(names_of_the_folder),
        TEST(each_call_fails_once),
        TEST(clock_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
