/* base_test.c: memory, names, text, maps, places, messages, files and tools. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void test_arena(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    char *first = arena_alloc(arena, 10);
    assert_int_equal((uintptr_t)first % 16, 0);
    for (int i = 0; i < 10; i++) assert_int_equal(first[i], 0);
    ArenaMark mark = arena_mark(arena);
    for (int i = 0; i < 1000; i++) memset(arena_alloc(arena, 1000), 0xff, 1000);
    memset(arena_alloc(arena, 5 * 1024 * 1024), 0xff, 5 * 1024 * 1024);
    arena_reset(arena, mark);
    char *again = arena_alloc(arena, 100);
    for (int i = 0; i < 100; i++) assert_int_equal(again[i], 0);
    assert_string_equal(arena_printf(arena, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(arena_printf(arena, "%s", ""), "");
    assert_string_equal(arena_copy_text(arena, "abcdef", 3), "abc");
    arena_free(arena);
    arena_free(NULL);
}

static void test_reset_to_empty(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    ArenaMark mark = arena_mark(arena);
    arena_alloc(arena, 1);
    arena_reset(arena, mark);
    assert_non_null(arena_alloc(arena, 0));
    arena_free(arena);
}

static void test_vec(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    VEC(int) numbers = {0};
    for (int i = 0; i < 1000; i++) vec_push(arena, &numbers, i);
    for (int i = 0; i < 1000; i++) assert_int_equal(numbers.data[i], i);
    assert_int_equal(vec_last(&numbers), 999);
    assert_int_equal(vec_pop(&numbers), 999);
    assert_int_equal(numbers.count, 999);
    arena_free(arena);
}

static void test_intern(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Interner *names = interner_new(arena);
    Name kept[2000];
    for (int i = 0; i < 2000; i++) kept[i] = intern_printf(names, "name%d", i);
    for (int i = 0; i < 2000; i++) assert_ptr_equal(kept[i], intern_printf(names, "name%d", i));
    assert_ptr_equal(intern(names, "abc", 2), intern_text(names, "ab"));
    assert_ptr_not_equal(intern(names, "a\0b", 3), intern(names, "a\0c", 3));
    assert_string_equal(intern(names, NULL, 0), "");
    arena_free(arena);
}

static void test_map(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    static char keys[3000];
    Map map = {0};
    assert_null(map_get(&map, keys));
    map_remove(&map, keys);
    for (int i = 0; i < 3000; i++) map_set(arena, &map, keys + i, keys + 2999 - i);
    assert_int_equal(map.count, 3000);
    for (int i = 0; i < 3000; i += 3) map_remove(&map, keys + i);
    for (int i = 0; i < 3000; i++) {
        assert_int_equal(map_has(&map, keys + i), i % 3 != 0);
        assert_ptr_equal(map_get(&map, keys + i), i % 3 != 0 ? keys + 2999 - i : NULL);
    }
    map_set(arena, &map, keys + 1, NULL);
    assert_true(map_has(&map, keys + 1));
    assert_int_equal(map.count, 2000);
    arena_free(arena);
}

static void test_buf(void **state)
{
    (void)state;
    Buf buf = {0};
    buf_printf(&buf, "%s", "");
    assert_string_equal(buf.data, "");
    for (int i = 0; i < 1000; i++) buf_printf(&buf, "%d,", i);
    assert_int_equal(buf.length, 10 + 90 * 2 + 900 * 3 + 1000);
    buf_free(&buf);
    static const int64_t numbers[] = {INT64_MIN, -10, -1, 0, 9, 10, INT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char wanted[32];
        snprintf(wanted, sizeof wanted, "%lld", (long long)numbers[i]);
        buf_integer(&buf, numbers[i]);
        assert_string_equal(buf.data, wanted);
        buf_free(&buf);
    }
    buf_quoted(&buf, "a\"\\\n\t\x01\x80\xc3\xa4\0z", 11);
    assert_string_equal(buf.data, "\"a\\\"\\\\\\n\\t\\u0001\\udc80\xc3\xa4\\u0000z\"");
    buf_free(&buf);
}

static void test_utf8(void **state)
{
    (void)state;
    static const uint32_t characters[] = {0, 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        Buf buf = {0};
        uint32_t back = 1;
        buf_character(&buf, characters[i]);
        assert_int_equal(utf8_decode(buf.data, buf.length, &back), buf.length);
        assert_int_equal(back, characters[i]);
        assert_int_equal(utf8_decode(buf.data, buf.length - 1, &back), 0);
        buf_free(&buf);
    }
    static const char *const wrong[] = {"\x80",
                                        "\xc0\x80",
                                        "\xe0\x80\x80",
                                        "\xed\xa0\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xf0\x80\x80\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xc3z",
                                        "\xff"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint32_t character;
        assert_int_equal(utf8_decode(wrong[i], strlen(wrong[i]), &character), 0);
    }
}

static void assert_place(const Source *source, uint32_t offset, uint32_t line, uint32_t column)
{
    Location location = source_location(source, offset);
    assert_int_equal(location.line, line);
    assert_int_equal(location.column, column);
}

static void test_places(void **state)
{
    (void)state;
    Session *session = session_new();
    static const char text[] = "\xef\xbb\xbf"
                               "ab\r\n\xc3\xa4x\rlast";
    Source *source = source_from_text(session, "a.tile", text, sizeof text - 1);
    assert_place(source, 0, 1, 1);
    assert_place(source, 3, 1, 4);
    assert_place(source, 4, 2, 1);
    assert_place(source, 6, 2, 2);
    assert_place(source, 8, 3, 1);
    assert_place(source, 999, 3, 5);
    size_t length;
    assert_memory_equal(source_line(source, 1, &length), "ab", 2);
    assert_int_equal(length, 2);
    assert_memory_equal(source_line(source, 3, &length), "last", 4);
    assert_int_equal(length, 4);
    assert_null(source_line(source, 4, &length));
    assert_null(source_line(source, 0, &length));
    Span joined = span_join((Span){source, 4, 6}, (Span){source, 1, 2});
    assert_int_equal(joined.begin, 1);
    assert_int_equal(joined.end, 6);
    Source *empty = source_from_text(session, "empty", "", 0);
    assert_place(empty, 0, 1, 1);
    session_free(session);
}

/* Three messages in the wrong order, one twice, with notes and frames. */
static void report_some(Session *session, const Source *source)
{
    Diags *diags = session->diags;
    diag_push_frame(diags, (Span){source, 0, 3}, "while specialising %s", "gemm");
    diag_report(diags, DIAG_syntax, (Span){source, 5, 8}, "'x'", "')'");
    diag_note(diags, (Span){source, 0, 3}, "opened %s", "here");
    diag_report(diags, DIAG_syntax, (Span){source, 5, 8}, "'x'", "')'");
    diag_note(diags, (Span){source, 0, 3}, "lost with its report");
    diag_pop_frame(diags);
    diag_report(diags, DIAG_unterminated_string, (Span){source, 1, 2});
    diag_report(diags, DIAG_cannot_read, (Span){0}, "no.tile", "gone");
}

static void test_render_text(void **state)
{
    (void)state;
    Session *session = session_new();
    Source *source = source_from_text(session, "a.tile", "abc\n\txyz(\n", 10);
    report_some(session, source);
    assert_int_equal(diag_error_count(session->diags), 3);
    Buf out = {0};
    diag_render(session->diags, DIAG_TEXT, false, &out);
    assert_string_equal(out.data, "tilec: error: cannot read 'no.tile': gone [E0701]\n"
                                  "a.tile:1:2: error: this string is never closed [E0102]\n"
                                  "    1 | abc\n"
                                  "      |  ^\n"
                                  "  hint: add the closing quote\n"
                                  "a.tile:2:2: error: unexpected 'x'; expected ')' [E0107]\n"
                                  "    2 |         xyz(\n"
                                  "      |         ^^^\n"
                                  "a.tile:1:1: note: opened here\n"
                                  "a.tile:1:1: note: while specialising gemm\n");
    buf_free(&out);
    diag_render(session->diags, DIAG_TEXT, true, &out);
    assert_non_null(strstr(out.data, "\033[1;31m^^^\033[0m"));
    buf_free(&out);
    session_free(session);
}

static void test_render_json(void **state)
{
    (void)state;
    Session *session = session_new();
    Source *source = source_from_text(session, "a.tile", "abc\n\txyz(\n", 10);
    report_some(session, source);
    Buf out = {0};
    diag_render(session->diags, DIAG_JSON, true, &out);
    const char *last = strstr(out.data, "{\"severity\":\"error\",\"code\":\"E0107\"");
    assert_non_null(last);
    assert_string_equal(
        last,
        "{\"severity\":\"error\",\"code\":\"E0107\",\"name\":\"syntax\","
        "\"message\":\"unexpected 'x'; expected ')'\",\"file\":\"a.tile\",\"line\":2,\"column\":2,"
        "\"end_line\":2,\"end_column\":5,\"begin\":5,\"end\":8,\"notes\":["
        "{\"message\":\"opened here\",\"file\":\"a.tile\",\"line\":1,\"column\":1,\"end_line\":1,"
        "\"end_column\":4,\"begin\":0,\"end\":3},"
        "{\"message\":\"while specialising gemm\",\"file\":\"a.tile\",\"line\":1,\"column\":1,"
        "\"end_line\":1,\"end_column\":4,\"begin\":0,\"end\":3}]}\n");
    buf_free(&out);
    session_free(session);
}

static void test_render_odd_places(void **state)
{
    (void)state;
    Session *session = session_new();
    Buf text = {0};
    for (int i = 0; i < 500; i++) buf_text(&text, "\xe4\xbd\xa0 \x1b[31m\t\xff");
    Source *source = source_from_text(session, "wide", text.data, text.length);
    for (uint32_t at = 0; at <= source->length; at += 97)
        diag_report(session->diags, DIAG_bad_utf8, (Span){source, at, at + 300});
    Buf out = {0};
    diag_limit_errors(session->diags, 1000);
    diag_render(session->diags, DIAG_TEXT, false, &out);
    assert_null(strchr(out.data, '\033'));
    buf_free(&out);
    buf_free(&text);
    session_free(session);
}

static void test_limits(void **state)
{
    (void)state;
    Session *session = session_new();
    Source *source = source_from_text(session, "a", "0123456789", 10);
    diag_limit_errors(session->diags, 3);
    for (uint32_t i = 0; i < 10; i++)
        diag_report(session->diags, DIAG_bad_utf8, (Span){source, i, i + 1});
    assert_int_equal(diag_error_count(session->diags), 10);
    Buf out = {0};
    diag_render(session->diags, DIAG_TEXT, false, &out);
    assert_non_null(strstr(out.data, "7 more errors are not shown"));
    buf_free(&out);
    diag_silence(session->diags, DIAG_character_name);
    diag_report(session->diags, DIAG_character_name, (Span){source, 0, 1});
    assert_int_equal(diag_count(session->diags), 10);
    session_free(session);
    session = session_new();
    diag_promote(session->diags, DIAG_character_name);
    diag_report(session->diags, DIAG_character_name, (Span){0});
    assert_int_equal(diag_error_count(session->diags), 1);
    session_free(session);
}

/* A trial within a trial hides neither what the outer one saw nor what it sees afterwards. */
static void test_mutes(void **state)
{
    (void)state;
    Span at;
    Session *session = session_new();
    const DiagMute outer = diag_mute(session->diags);
    DiagMute inner = diag_mute(session->diags);
    diag_report(session->diags, DIAG_raised, (Span){0}, "a trial's");
    diag_unmute(session->diags, inner);
    assert_null(diag_muted_error(session->diags, &at));
    diag_report(session->diags, DIAG_raised, (Span){0}, "its own");
    inner = diag_mute(session->diags);
    diag_unmute(session->diags, inner);
    assert_non_null(strstr(diag_muted_error(session->diags, &at), "its own"));
    diag_unmute(session->diags, outer);
    assert_int_equal(diag_count(session->diags), 0);
    session_free(session);
}

static void test_diag_table(void **state)
{
    (void)state;
    for (DiagCode code = 0; code < DIAG_COUNT; code++) {
        const DiagRow *row = diag_row(code);
        assert_int_equal(diag_find(row->code), code); /* so no code or name stands twice */
        assert_int_equal(diag_find(row->name), code);
        char first = row->severity == SEVERITY_ERROR     ? 'E'
                     : row->severity == SEVERITY_WARNING ? 'W'
                                                         : 'R';
        assert_int_equal(row->code[0], first);
        assert_int_equal(strlen(row->code), 5);
    }
    assert_int_equal(diag_find("nothing"), DIAG_COUNT);
}

static void test_files(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    char *folder = os_temp_folder(arena);
    assert_non_null(folder);
    char *path = os_join_path(arena, folder, "file");
    assert_true(os_write_file(path, "one", 3));
    assert_true(os_write_file(path, "two\0x", 5));
    size_t length;
    char *text = os_read_file(arena, path, &length);
    assert_int_equal(length, 5);
    assert_memory_equal(text, "two\0x\0", 6);
    assert_true(os_write_file("/dev/null", "x", 1));
    assert_false(os_write_file(os_join_path(arena, folder, "none/file"), "x", 1));
    assert_null(os_read_file(arena, folder, &length));
    os_remove_folder(folder);
    assert_false(os_file_exists(folder));
    assert_string_equal(os_join_path(arena, "a/", "b"), "a/b");
    assert_string_equal(os_join_path(arena, "a", "/b"), "/b");
    arena_free(arena);
}

static void test_times(void **state)
{
    (void)state;
    Times times = {0};
    Buf text = {0};
    uint64_t start = os_now_ns();
    times_add(NULL, "nobody asked", start);
    times_add(&times, "second", start - 3000000);
    times_add(&times, "first", start - 5000000);
    times_add(&times, "second", start - 4000000);
    enum { ROWS = sizeof times.rows / sizeof *times.rows };
    for (int i = 0; i < ROWS + 10; i++) { /* more names than rows: counted all the same */
        char *name = malloc(8);
        snprintf(name, 8, "n%d", i);
        times_add(&times, name, os_now_ns());
        if (i >= ROWS - 2) free(name);
    }
    times_print(&times, &text);
    char *first = strstr(text.data, "first"), *total = strstr(text.data, "total");
    assert_true(text.data == strstr(text.data, "second"));
    assert_non_null(first);
    assert_true(strtod(text.data + 20, NULL) >= 7 && strtod(first + 20, NULL) >= 5);
    assert_true(strtod(total + 20, NULL) >= 12);
    for (int i = 2; i < times.count; i++) free((void *)(uintptr_t)times.rows[i].name);
    buf_free(&text);
}

static void test_repeated_frames(void **state)
{
    (void)state;
    Session *session = session_new();
    Source *source = source_from_text(session, "f", "abc", 3);
    Span again = {source, 1, 2};
    diag_push_frame(session->diags, (Span){source, 0, 1}, "outer");
    for (int i = 0; i < 200; i++) diag_push_frame(session->diags, again, "again");
    diag_push_frame(session->diags, again, "inner");
    diag_report(session->diags, DIAG_raised, (Span){0}, "x");
    Buf text = {0};
    diag_render(session->diags, DIAG_JSON, false, &text);
    const char *inner = strstr(text.data, "inner"), *first = strstr(text.data, "again");
    const char *more = strstr(text.data, "... the same 199 more times");
    const char *outer = strstr(text.data, "outer");
    assert_true(inner && first && more && outer && inner < first && first < more && more < outer);
    assert_null(strstr(first + 1, "again"));
    buf_free(&text);
    session_free(session);
}

/* How many frames of a kilobyte fit before the stack is low; the address keeps each a frame. */
static int frames_left(const char *outer)
{
    char frame[1024];
    memset(frame, outer != NULL, sizeof frame);
    return stack_is_low() ? 0 : 1 + frames_left(frame) + (frame[1] - (outer != NULL));
}

static void *count_frames(void *out)
{
    *(int *)out = frames_left(NULL);
    return NULL;
}

/* It goes by the thread's own stack, of which a quarter is left. */
static void test_stack(void **state)
{
    (void)state;
    assert_false(stack_is_low());
    for (int megabytes = 1; megabytes <= 4; megabytes *= 4) {
        int count = 0;
        pthread_t thread;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, (size_t)megabytes << 20);
        assert_int_equal(pthread_create(&thread, &attributes, count_frames, &count), 0);
        pthread_join(thread, NULL);
        pthread_attr_destroy(&attributes);
        assert_in_range(count, 256 * megabytes, 768 * megabytes);
    }
}

static void test_tools(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    assert_non_null(os_find_program(arena, "sh"));
    assert_null(os_find_program(arena, "no-such-program-here"));
    const char *noisy[] = {"sh", "-c",
                           "i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); "
                           "done; echo bad >&2; exit 7",
                           NULL};
    OsProcess *first = os_start(arena, noisy), *second = os_start(arena, noisy);
    assert_non_null(first);
    assert_non_null(second);
    char *output;
    assert_int_equal(os_wait(first, &output), 7);
    assert_int_equal(strlen(output), 20000 * 11 + 4);
    assert_int_equal(os_wait(second, &output), 7);
    const char *killed[] = {"sh", "-c", "kill -9 $$", NULL};
    assert_int_equal(os_wait(os_start(arena, killed), &output), OS_KILLED + 9);
    const char *endless[] = {"sleep", "100", NULL}, *brief[] = {"echo", "done", NULL};
    uint64_t start = os_now_ns();
    assert_int_equal(os_wait_for(os_start(arena, endless), 50000000, &output), OS_TIMED_OUT);
    assert_true(os_now_ns() - start < 20000000000u);
    assert_int_equal(os_wait_for(os_start(arena, brief), 20000000000u, &output), 0);
    assert_string_equal(output, "done\n");
    const char *missing[] = {"/no/such/program", NULL};
    assert_null(os_start(arena, missing));
    arena_free(arena);
}

/* What another process says of a stage that failed, after so many errors. */
static int status_of_failure(int errors)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        Session *session = session_new();
        if (!freopen("/dev/null", "w", stderr)) _exit(100);
        while (errors-- > 0) diag_report(session->diags, DIAG_raised, (Span){0}, "text");
        _exit(stage_result(session, false, "test"));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_stage_result(void **state)
{
    (void)state;
    Session *session = session_new();
    assert_true(stage_result(session, true, "test"));
    session_free(session);
    assert_int_equal(status_of_failure(0), 4);
    assert_int_equal(status_of_failure(1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_reset_to_empty),
        cmocka_unit_test(test_vec),
        cmocka_unit_test(test_intern),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_buf),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_render_text),
        cmocka_unit_test(test_render_json),
        cmocka_unit_test(test_render_odd_places),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_mutes),
        cmocka_unit_test(test_diag_table),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_tools),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_repeated_frames),
        cmocka_unit_test(test_stage_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
