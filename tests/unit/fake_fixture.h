/* fake_fixture.h: tests of libtile against the fake driver, each in a process of its own. */
#ifndef FAKE_FIXTURE_H
#define FAKE_FIXTURE_H

#include "../tools/fake_cuda.h"
#include "tile/tile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- children -------------------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) failed(__FILE__, __LINE__, #condition);                                  \
    } while (0)

static _Noreturn void failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: not so: %s (last error: %s)\n", file, line, condition,
            tile_last_error());
    _exit(1);
}

__attribute__((unused)) static int says(const char *part)
{
    return strstr(tile_last_error(), part) != NULL;
}

static fake_cuda_state *fake;
static fake_cuda_depth_function *fake_depth;
static fake_cuda_current_function *fake_current;
static fake_cuda_push_function *fake_push;

static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    CHECK(address);
    memcpy(function, &address, sizeof address);
}

/* The library lies beside the test program. */
static void load_fake(void)
{
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    CHECK(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "libfake_cuda.so");
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    fake_cuda_state_function *get;
    find(library, "fake_cuda_get", &get);
    find(library, "fake_cuda_depth", &fake_depth);
    find(library, "fake_cuda_current", &fake_current);
    find(library, "fake_cuda_push", &fake_push);
    fake = get();
    setenv("TILE_CUDA_LIBRARY", path, 1);
    unsetenv("TILE_DEVICE");
}

/* Runs `body` in a child with the fake driver; `number` is for the body. */
static int number_of_run;
__attribute__((unused)) static int run_numbered(void (*body)(void), int number)
{
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        number_of_run = number;
        load_fake();
        body();
        exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

__attribute__((unused)) static void run(void (*body)(void))
{
    assert_int_equal(run_numbered(body, 0), 0);
}

#define TEST(name)                                                                                 \
    static void name##_body(void);                                                                 \
    static void name(void **unused)                                                                \
    {                                                                                              \
        (void)unused;                                                                              \
        run(name##_body);                                                                          \
    }                                                                                              \
    static void name##_body(void)

#endif
