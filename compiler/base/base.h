/* base.h: the front door of base/: memory, names, text, sources, messages, the operating system.
 *
 * Nothing here knows what a compiler is. Every function that can fail says how; memory comes from
 * arenas and is released with them. There are no globals: what must be shared hangs off a Session.
 */
#ifndef TILEC_BASE_H
#define TILEC_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What sums and products of 64 bits are computed in. */
__extension__ typedef __int128 Wide;

/* ---- arena.c: bump allocation ------------------------------------------------------------- */

typedef struct Arena Arena;
typedef struct ArenaMark {
    void *chunk;
    size_t used;
} ArenaMark;

Arena *arena_new(void);
void arena_free(Arena *arena);
/* Zeroed memory, aligned to 16 bytes. Ends the process with a message if the system has none. */
void *arena_alloc(Arena *arena, size_t bytes);
size_t arena_bytes(const Arena *arena);                               /* that it takes */
char *arena_copy_text(Arena *arena, const char *text, size_t length); /* NUL-terminated */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
ArenaMark arena_mark(const Arena *arena);
void arena_reset(Arena *arena, ArenaMark mark); /* releases all that came after the mark */

#define arena_new_array(arena, T, count) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(count)))
#define arena_new_of(arena, T)           ((T *)arena_alloc((arena), sizeof(T)))

/* ---- intern.c: one pointer for each different text ----------------------------------------- */

typedef const char *Name; /* interned: equal texts are equal pointers */
typedef struct Interner Interner;

Interner *interner_new(Arena *arena);
Name intern(Interner *names, const char *text, size_t length);
Name intern_text(Interner *names, const char *text);
Name intern_printf(Interner *names, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- buf.c: growing text ------------------------------------------------------------------- */

typedef struct Buf {
    char *data; /* NUL-terminated once anything was added; malloc'd */
    size_t length, capacity;
} Buf;

void buf_free(Buf *buf);
void buf_char(Buf *buf, char c);
void buf_fill(Buf *buf, char c, size_t count);
void buf_bytes(Buf *buf, const void *bytes, size_t length);
void buf_text(Buf *buf, const char *text);
void buf_integer(Buf *buf, int64_t number);
void buf_printf(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(Buf *buf, const char *format, va_list arguments);
void buf_quoted(Buf *buf, const char *text, size_t length); /* "..." with C (and JSON) escapes */
/* The shortest digits that read back as the same number, as Python prints them. */
void buf_float(Buf *buf, double number);

/* ---- utf8.c -------------------------------------------------------------------------------- */

/* The bytes of the character that `text` starts with; 0 if they are not valid UTF-8. */
size_t utf8_decode(const char *text, size_t length, uint32_t *character);
/* Whether a byte is one of a character, but not its first. */
static inline bool continues_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}
void buf_character(Buf *buf, uint32_t character); /* as UTF-8; surrogates too, as three bytes */

/* ---- map.c: hash map from pointers (interned names, nodes, values) to pointers ------------- */

typedef struct Map {
    struct MapSlot {
        const void *key;
        void *value;
    } * slots;
    size_t count, capacity;
} Map; /* {0} is an empty map */

void *map_get(const Map *map, const void *key); /* NULL if absent */
bool map_has(const Map *map, const void *key);
void map_set(Arena *arena, Map *map, const void *key, void *value);
void map_add(Arena *arena, Map *map, const void *key); /* to a set, of which map_has asks */
/* Of a map of numbers; `otherwise`: absent. */
intptr_t map_number(const Map *map, const void *key, intptr_t otherwise);
void map_set_number(Arena *arena, Map *map, const void *key, intptr_t number);
void map_remove(Map *map, const void *key);

/* ---- numbers -------------------------------------------------------------------------------- */

static inline int64_t lesser_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t larger_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- stack.c -------------------------------------------------------------------------------- */

/* Whether the running thread's stack has so little left that what nests is to end with an error. */
bool stack_is_low(void);

/* What a thread of the compiler has: chains of ops are followed as far as a kernel is long. */
enum { STACK_BYTES = 64 << 20 };
void stack_raise(void); /* the main thread's limit to STACK_BYTES, or as far as the system lets it */

/* ---- source.c: files and places in them ---------------------------------------------------- */

typedef struct Source {
    Name path;        /* as the user wrote it, or "<command line>" */
    Name recorded;    /* what outputs have in its place: Session.path_maps */
    const char *text; /* NUL-terminated; a leading byte-order mark is skipped */
    size_t length;
    uint32_t *lines; /* byte offset of each line's start */
    uint32_t line_count;
} Source;

/* A place: bytes [begin, end) of a source; source is NULL for "nowhere". */
typedef struct Span {
    const Source *source;
    uint32_t begin, end;
} Span;

typedef struct Location { /* lines count from 1, columns from 1 in characters (code points) */
    uint32_t line, column;
} Location;

typedef struct Session Session;

Source *source_from_text(Session *session, const char *path, const char *text, size_t length);
Source *source_from_file(Session *session, const char *path); /* NULL: reported */
Location source_location(const Source *source, uint32_t offset);
/* The line's text without its newline; NULL if there is no such line. */
const char *source_line(const Source *source, uint32_t line, size_t *length);
Span span_join(Span first, Span last);

/* ---- diag.c, render.c: messages ------------------------------------------------------------ */

typedef enum Severity { SEVERITY_REMARK, SEVERITY_WARNING, SEVERITY_ERROR } Severity;

typedef enum DiagCode {
#define DIAG(code, severity, name, format, hint) DIAG_##name,
#include "base/diag.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

typedef struct DiagRow {
    const char *code, *name, *format, *hint; /* hint may be NULL */
    Severity severity;
} DiagRow;

const DiagRow *diag_row(DiagCode code);
/* The page of explain.txt: the cause, a wrong and a right example. */
const char *diag_explanation(DiagCode code);
const char *diag_exception(DiagCode code); /* Python's, by its name; NULL: it has none for it */
DiagCode
diag_find(const char *code_or_name); /* "E0101" or "unexpected_token"; DIAG_COUNT if none */

typedef struct Diags Diags;

/* Reports the row's message with its printf arguments. One report a place and code; after
 * `max_errors` errors the rest is counted only. Notes attach to the report made last. */
void diag_report(Diags *diags, DiagCode code, Span at, ...);
/* The same with a text that is made already. */
void diag_report_text(Diags *diags, DiagCode code, Span at, const char *text);
/* A message's text alone. */
char *diag_text(Arena *arena, DiagCode code, va_list arguments);
void diag_note(Diags *diags, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Frames are noted under every report made while they are open ("while specialising gemm"). */
void diag_push_frame(Diags *diags, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* In place of the row's own hint, for what was reported last. */
void diag_hint(Diags *diags, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The place of what was reported last, and another one for it. */
Span diag_place(const Diags *diags);
void diag_move(Diags *diags, Span at);
void diag_pop_frame(Diags *diags);
void diag_limit_errors(Diags *diags, size_t max_errors);
void diag_promote(Diags *diags, DiagCode code); /* a warning becomes an error */
void diag_demote(Diags *diags, DiagCode code);  /* it is a warning again */
void diag_silence(Diags *diags, DiagCode code); /* a warning or remark is not reported */
void diag_ask_for(Diags *diags, DiagCode code); /* it is */
/* Whether it would be reported: what it takes work to find out is not looked for else. */
bool diag_is_wanted(const Diags *diags, DiagCode code);
/* The groups of warnings ("all", "extra"), perhaps several times; NULL: there are no more. */
const char *diag_group_at(size_t index);
/* Visits the warnings of the group. False: there is no such group. */
bool diag_each_of_group(const char *group, void (*visit)(void *context, DiagCode code),
                        void *context);
/* What is reported until it is unmuted counts meanwhile, and is then as if it had not been. */
typedef struct DiagMute {
    size_t count, error_count;
    bool muted;
    const char *error; /* the first one that another mute has seen, which this one is within */
    Span error_at;
} DiagMute;
DiagMute diag_mute(Diags *diags);
void diag_unmute(Diags *diags, DiagMute before);
/* The first error since diag_mute, unmuted since or not, but for those that a mute within it has
 * seen; NULL: there was none. */
const char *diag_muted_error(const Diags *diags, Span *at);
/* What was reported since there were so many reports, as bytes, and such bytes reported again: from
 * a process that this one forked, whose sources are this one's. */
size_t diag_report_count(const Diags *diags);
void diag_put_since(const Diags *diags, size_t count, Buf *out);
void diag_take(Diags *diags, const char *bytes, size_t length);
size_t diag_error_count(const Diags *diags);
/* Whether an error was reported whose code begins with `prefix` ("E06": targets and tools). */
bool diag_has_errors_of(const Diags *diags, const char *prefix);
/* The text of the first report of it; NULL: there is none. */
const char *diag_reported(const Diags *diags, DiagCode code);
size_t diag_count(const Diags *diags); /* of every severity: a mark to compare against */

typedef enum DiagFormat { DIAG_TEXT, DIAG_JSON } DiagFormat;
/* All messages so far in order of place, with carets (and colours), or one JSON object a line. */
void diag_render(const Diags *diags, DiagFormat format, bool colour, Buf *out);

/* An invariant of the compiler is broken: says what and where, keeps the command and its files, and
 * exits with status 4 (fault.c). */
_Noreturn void internal_error(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Where who serves others goes on behind an internal error, a sigjmp_buf of the only thread, and
 * room for what happened; NULL: nobody does. What was at work then is not to be touched again. */
void fault_refuge_set(void *place, char *text, size_t size);
bool fault_refuge_is_set(void);
#define ICE(...)         internal_error(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) ((condition) ? (void)0 : ICE("check failed: %s", #condition))

/* ---- nearest.c ------------------------------------------------------------------------------ */

/* Of the names that are tried, the one that is most like the wanted one, if one is like it. */
typedef struct Nearest {
    const char *wanted, *best; /* best NULL: none yet */
    int cost;
} Nearest;
Nearest nearest_to(const char *wanted);
void nearest_try(Nearest *nearest, const char *name);
/* "did you mean ...?", if one was found. */
void diag_hint_nearest(Diags *diags, const Nearest *nearest);

/* ---- times.c: where the time goes ----------------------------------------------------------- */

/* Stages with the time that each took in all, in the order of their first end. */
typedef struct Times {
    struct TimesRow {
        const char *name; /* kept by the caller */
        uint64_t total_ns;
        int count;
    } rows[128]; /* further names count as the last */
    int count;
} Times;

/* Counts the time since `start_ns` (os_now_ns) for the stage; NULL: nobody asked. */
void times_add(Times *times, const char *name, uint64_t start_ns);
void times_print(const Times *times, Buf *out); /* a line a stage, and the total */

/* ---- session: what one run of the compiler shares ------------------------------------------ */

/* Of paths that begin with `from`, that is replaced by `to`. */
typedef struct PathMap {
    const char *from, *to;
} PathMap;

struct Session {
    Arena *arena; /* lives as long as the run */
    Interner *names;
    Diags *diags;
    Times *times; /* NULL: nobody asked */
    const PathMap *path_maps;
    int path_map_count;
};

Session *session_new(void);
void session_free(Session *session);
/* How a stage ended: `good`. One that failed and reported nothing is an internal error: no run ends
 * without a result or a reason. */
bool stage_result(const Session *session, bool good, const char *stage);
/* The path as outputs have it: the last map that begins as it does is applied. */
Name session_recorded_path(const Session *session, const char *path);

/* ---- os.c: files and tools ------------------------------------------------------------------ */

/* Reads a whole file into the arena (NUL-terminated). NULL with errno set on failure. */
char *os_read_file(Arena *arena, const char *path, size_t *length);
/* Writes beside `path` and renames, so that a reader sees the old file or the whole new one. "-" is
 * standard output. False with errno set on failure. */
bool os_write_file(const char *path, const void *bytes, size_t length);
typedef struct OsOutput {
    const char *path;
    const void *bytes;
    size_t length;
    char *file, *staged; /* where the path leads, and its new bytes beside it, until they get its
                          * name; NULL: a stream */
} OsOutput;
/* Writes all of them as os_write_file does, the names in the order given, or none: no file gets its
 * name before every file and stream has its bytes. NULL, or the one that failed, with errno set. */
const OsOutput *os_write_files(Arena *arena, OsOutput *outputs, size_t count);
bool os_file_exists(const char *path);
/* Whether it is a device, a pipe or "-": what has no place beside it. */
bool os_is_stream(const char *path);
/* Whether both name one regular file that there is. */
bool os_same_file(const char *path, const char *other);
char *os_join_path(Arena *arena, const char *folder, const char *file);
/* Without links and dots, as far as it exists. */
char *os_real_path(Arena *arena, const char *path);
char *os_working_folder(Arena *arena); /* NULL: it was removed */
char *os_temp_folder(Arena *arena);    /* a fresh private folder, or NULL */
void os_remove_folder(const char *path);
void os_remove_temp_folders(void); /* those of this process that are still there */
/* The program or the library that this code is in. */
char *os_own_file(Arena *arena);
char *os_find_program(Arena *arena, const char *name); /* by PATH; NULL if there is none */
/* What the process's environment has under that name; NULL: it has none. */
const char *os_environment(const char *name);

typedef struct OsProcess OsProcess;
/* Starts a program with standard output and error collected; NULL with errno set if it can't start.
 */
OsProcess *os_start(Arena *arena, const char *const *arguments);
/* Waits; returns the exit status (OS_KILLED + signal if killed); its output is in *output. */
int os_wait(OsProcess *process, char **output);
enum { OS_TIMED_OUT = -1, OS_KILLED = 256 };
/* The same; a program that still runs `limit_ns` after its start is killed: OS_TIMED_OUT. 0 waits
 * forever. */
int os_wait_for(OsProcess *process, uint64_t limit_ns, char **output);
uint64_t os_now_ns(void); /* monotonic */
/* Numbers and letters are C's on this thread, whatever locale the process has. Threads do not get
 * it from the one that starts them. */
void os_use_c_locale(void);

#endif
