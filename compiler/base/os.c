/* os.c: files and tools. */
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- files ---- */

/* Reads to the end: pipes have no size to ask for. */
static bool read_all(int file, Buf *out)
{
    char block[64 * 1024];
    for (;;) {
        ssize_t got = read(file, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) return true;
        buf_bytes(out, block, (size_t)got);
    }
}

static bool write_all(int file, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t put = write(file, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

static void close_keeping_errno(int file)
{
    int kept = errno;
    close(file);
    errno = kept;
}

char *os_read_file(Arena *arena, const char *path, size_t *length)
{
    int file = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return NULL;
    Buf buf = {0};
    bool done = read_all(file, &buf);
    close_keeping_errno(file);
    char *text = done ? arena_copy_text(arena, buf.data, buf.length) : NULL;
    *length = buf.length;
    buf_free(&buf);
    return text;
}

static bool write_and_close(int file, const void *bytes, size_t length)
{
    bool done = write_all(file, bytes, length);
    if (!done) {
        close_keeping_errno(file);
        return false;
    }
    return close(file) == 0;
}

/* A new file beside `path`, with the permissions that the user's mask gives (mkstemp would not). */
static int open_beside(const char *path, char *name, size_t size)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        unsigned long long salt = (unsigned long long)os_now_ns() + (unsigned)attempt;
        int needed = snprintf(name, size, "%s.%ld.%llx.tmp", path, (long)getpid(), salt);
        if (needed < 0 || (size_t)needed >= size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) return file;
    }
    return -1;
}

static void unlink_keeping_errno(const char *path)
{
    int kept = errno;
    unlink(path);
    errno = kept;
}

/* The name of a new file beside `path` with these bytes, or NULL. */
static char *stage_file(Arena *arena, const char *path, const void *bytes, size_t length)
{
    char name[PATH_MAX + 64];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    int file = open_beside(path, name, sizeof name);
    if (file < 0) return NULL;
    if (write_and_close(file, bytes, length)) return arena_copy_text(arena, name, strlen(name));
    unlink_keeping_errno(name);
    return NULL;
}

/* Opened by its name, a file that it goes to would be written from its start. */
static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           strcmp(path, "/dev/fd/1") == 0;
}

bool os_is_stream(const char *path)
{
    struct stat info;
    return is_standard_output(path) ||
           (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static bool write_stream(const OsOutput *output)
{
    if (is_standard_output(output->path)) {
        fflush(stdout);
        return write_all(STDOUT_FILENO, output->bytes, output->length);
    }
    int file = open(output->path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && write_and_close(file, output->bytes, output->length);
}

char *os_real_path(Arena *arena, const char *path)
{
    char real[PATH_MAX];
    const char *found = realpath(path, real) != NULL ? real : path;
    return arena_copy_text(arena, found, strlen(found));
}

static bool stage(Arena *arena, OsOutput *output)
{
    output->staged = NULL;
    if (os_is_stream(output->path)) return true;
    /* a symbolic link stays one */
    output->file = os_real_path(arena, output->path);
    output->staged = stage_file(arena, output->file, output->bytes, output->length);
    return output->staged != NULL;
}

static bool give_name(OsOutput *output)
{
    if (output->staged == NULL) return true;
    if (rename(output->staged, output->file) != 0) return false;
    output->staged = NULL;
    return true;
}

/* The first for which the step fails, or NULL. */
static OsOutput *write_each(Arena *arena, OsOutput *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!stage(arena, &outputs[i])) return &outputs[i];
    for (size_t i = 0; i < count; i++)
        if (outputs[i].staged == NULL && !write_stream(&outputs[i])) return &outputs[i];
    for (size_t i = 0; i < count; i++)
        if (!give_name(&outputs[i])) return &outputs[i];
    return NULL;
}

const OsOutput *os_write_files(Arena *arena, OsOutput *outputs, size_t count)
{
    for (size_t i = 0; i < count; i++) outputs[i].staged = NULL;
    const OsOutput *failed = write_each(arena, outputs, count);
    for (size_t i = 0; i < count; i++)
        if (outputs[i].staged != NULL) unlink_keeping_errno(outputs[i].staged);
    return failed;
}

bool os_write_file(const char *path, const void *bytes, size_t length)
{
    OsOutput output = {.path = path, .bytes = bytes, .length = length};
    Arena *arena = arena_new();
    const bool fine = os_write_files(arena, &output, 1) == NULL;
    int kept = errno;
    arena_free(arena);
    errno = kept;
    return fine;
}

bool os_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool os_same_file(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

char *os_join_path(Arena *arena, const char *folder, const char *file)
{
    size_t length = strlen(folder);
    if (length == 0 || file[0] == '/') return arena_copy_text(arena, file, strlen(file));
    return arena_printf(arena, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", file);
}

/* As the shell names it, if that is where we are: links on the way stay what they are. */
char *os_working_folder(Arena *arena)
{
    const char *named = getenv("PWD");
    struct stat a, b;
    if (named != NULL && named[0] == '/' && stat(named, &a) == 0 && stat(".", &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return arena_copy_text(arena, named, strlen(named));
    char *text = getcwd(NULL, 0);
    char *folder = text != NULL ? arena_copy_text(arena, text, strlen(text)) : NULL;
    free(text);
    return folder;
}

const char *os_environment(const char *name)
{
    return getenv(name);
}

static const char *temp_root(void)
{
    const char *root = getenv("TMPDIR");
    return root != NULL && root[0] != '\0' ? root : "/tmp";
}

/* By its name a process knows its own, when a signal ends it. */
char *os_temp_folder(Arena *arena)
{
    return mkdtemp(arena_printf(arena, "%s/tilec-%ld-XXXXXX", temp_root(), (long)getpid()));
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info, (void)kind, (void)where;
    return remove(path);
}

void os_remove_folder(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void os_remove_temp_folders(void)
{
    char own[40], path[PATH_MAX];
    const int length = snprintf(own, sizeof own, "tilec-%ld-", (long)getpid());
    DIR *root = opendir(temp_root());
    for (const struct dirent *entry; root != NULL && (entry = readdir(root)) != NULL;) {
        if (strncmp(entry->d_name, own, (size_t)length) != 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", temp_root(), entry->d_name) < (int)sizeof path)
            os_remove_folder(path);
    }
    if (root != NULL) closedir(root);
}

/* ---- tools ---- */

static bool is_program(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

typedef struct OwnFile {
    uintptr_t address; /* of something in it */
    const char *path;  /* "": the program */
} OwnFile;

static int look_for_address(struct dl_phdr_info *info, size_t size, void *context)
{
    OwnFile *own = context;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || own->address < begin ||
            own->address - begin >= info->dlpi_phdr[i].p_memsz)
            continue;
        own->path = info->dlpi_name;
        return 1;
    }
    return 0;
}

char *os_own_file(Arena *arena)
{
    OwnFile own = {.address = (uintptr_t)os_own_file, .path = ""};
    dl_iterate_phdr(look_for_address, &own);
    const char *path = *own.path != '\0' ? own.path : "/proc/self/exe";
    return arena_copy_text(arena, path, strlen(path));
}

char *os_find_program(Arena *arena, const char *name)
{
    if (strchr(name, '/') != NULL)
        return is_program(name) ? arena_copy_text(arena, name, strlen(name)) : NULL;
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        size_t length = strcspn(path, ":");
        char *folder = length == 0 ? "." : arena_copy_text(arena, path, length);
        char *candidate = os_join_path(arena, folder, name);
        if (is_program(candidate)) return candidate;
        path += length + (path[length] == ':');
    }
    return NULL;
}

struct OsProcess {
    Arena *arena;
    pid_t id;
    uint64_t started_ns;
    int output; /* in memory: the program can never block on us, as on a full pipe or disk */
};

/* 0 or an errno. */
static int spawn_program(pid_t *id, int output, const char *const *arguments)
{
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (error == 0)
        error = posix_spawnp(id, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

OsProcess *os_start(Arena *arena, const char *const *arguments)
{
    OsProcess *process = arena_new_of(arena, OsProcess);
    process->arena = arena;
    process->output = memfd_create("tilec-output", MFD_CLOEXEC);
    if (process->output < 0) return NULL;
    process->started_ns = os_now_ns();
    int error = spawn_program(&process->id, process->output, arguments);
    if (error == 0) return process;
    close(process->output);
    errno = error;
    return NULL;
}

/* False once `limit_ns` has passed since the program was started; 0: there is no limit. */
static bool wait_within(const OsProcess *process, uint64_t limit_ns, int *status)
{
    for (;;) {
        pid_t got = waitpid(process->id, status, limit_ns ? WNOHANG : 0);
        if (got == process->id) return true;
        if (got < 0 && errno == ECHILD) { /* this process ignores SIGCHLD: nobody knows */
            *status = 0;
            return true;
        }
        CHECK(got == 0 || errno == EINTR);
        if (got == 0 && os_now_ns() - process->started_ns > limit_ns) return false;
        if (got == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

int os_wait_for(OsProcess *process, uint64_t limit_ns, char **output)
{
    int status;
    bool ended = wait_within(process, limit_ns, &status);
    if (!ended) {
        kill(process->id, SIGKILL);
        wait_within(process, 0, &status);
    }
    Buf buf = {0};
    if (lseek(process->output, 0, SEEK_SET) < 0 || !read_all(process->output, &buf))
        buf_text(&buf, "(its output could not be read)\n");
    close(process->output);
    *output = arena_copy_text(process->arena, buf.data, buf.length);
    buf_free(&buf);
    if (!ended) return OS_TIMED_OUT;
    return WIFSIGNALED(status) ? OS_KILLED + WTERMSIG(status) : WEXITSTATUS(status);
}

int os_wait(OsProcess *process, char **output)
{
    return os_wait_for(process, 0, output);
}

uint64_t os_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The C library holds the C locale: asking for it allocates nothing. */
void os_use_c_locale(void)
{
    uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}
