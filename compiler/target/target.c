/* target.c: looks up rows of targets.def and reads what --arch names. */
#include "target/target.h"

#include "base/vec.h"

#include <string.h>

static const Target *target_rows(size_t *count)
{
    static const Target rows[] = {
#define TARGET(id, text, ...) {.name = #id, .description = text, __VA_ARGS__},
#include "target/targets.def"
#undef TARGET
    };
    *count = sizeof rows / sizeof *rows;
    return rows;
}

bool target_has(const Target *target, TargetFeature feature)
{
    return (target->features & (unsigned)feature) != 0;
}

const Target *target_at(size_t index)
{
    size_t count;
    const Target *rows = target_rows(&count);
    return index < count ? &rows[index] : NULL;
}

static const Target *find_target(const char *name, size_t length)
{
    const Target *target;
    for (size_t i = 0; (target = target_at(i)) != NULL; i++)
        if (strlen(target->name) == length && memcmp(target->name, name, length) == 0)
            return target;
    return NULL;
}

/* As the loader picks: the chip's own code, else that of the nearest older chip of its generation,
 * else PTX. */
static int chip_rank(const Target *target, int number)
{
    enum { EXACT = 3000, SAME_MAJOR = 2000, PORTABLE = 1000 };
    if (target->number > number) return 0;
    if (target_has(target, IS_PORTABLE)) return PORTABLE + target->number;
    if (target->number == number) return EXACT;
    bool same_major = target->number / 10 == number / 10;
    return same_major && target->suffix == 0 ? SAME_MAJOR + target->number : 0;
}

const Target *target_for_chip(int number)
{
    const Target *best = NULL, *target;
    for (size_t i = 0; (target = target_at(i)) != NULL; i++)
        if (chip_rank(target, number) > (best != NULL ? chip_rank(best, number) : 0)) best = target;
    return best;
}

/* After the PTX ISA's release history; a version between two rows came with the later one's toolkit
 * at the latest. */
const char *target_toolkit(const Target *target)
{
    static const struct Release {
        int ptx;
        const char *toolkit;
    } releases[] = {{70, "11.0"}, {78, "11.8"}, {80, "12.0"}, {85, "12.5"},
                    {86, "12.7"}, {87, "12.8"}, {88, "12.9"}};
    const size_t count = sizeof releases / sizeof *releases;
    for (size_t i = 0; i < count; i++)
        if (releases[i].ptx >= target->ptx) return releases[i].toolkit;
    return "13.0";
}

const Target *target_find(const char *name)
{
    return find_target(name, strlen(name));
}

static const char *known_names(Arena *arena)
{
    const char *names = "";
    const Target *target;
    for (size_t i = 0; (target = target_at(i)) != NULL; i++)
        names = arena_printf(arena, "%s%s, ", names, target->name);
    return arena_printf(arena, "%snative, emulator, emulator:ARCH", names);
}

/* One item of the list; a plain "emulator" is left without a target. */
static bool parse_item(const char *item, size_t length, ArchChoice *choice)
{
    static const char emulator[] = "emulator";
    size_t prefix = sizeof emulator - 1;
    choice->emulator = length >= prefix && memcmp(item, emulator, prefix) == 0;
    if (!choice->emulator) {
        choice->target = find_target(item, length);
        return choice->target != NULL;
    }
    choice->target = NULL;
    if (length == prefix) return true;
    if (item[prefix] != ':') return false;
    choice->target = find_target(item + prefix + 1, length - prefix - 1);
    return choice->target != NULL;
}

static const Target *default_target(const ArchList *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].emulator) return list->items[i].target;
    return target_find("sm_90a");
}

static bool has_choice(const ArchList *list, ArchChoice choice)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].target == choice.target && list->items[i].emulator == choice.emulator)
            return true;
    return false;
}

/* Plain emulators get their architecture; what is named twice is built once. */
static void finish_list(const ArchList *parsed, ArchList *out)
{
    const Target *fallback = default_target(parsed);
    for (size_t i = 0; i < parsed->count; i++) {
        ArchChoice choice = parsed->items[i];
        if (choice.target == NULL) choice.target = fallback;
        if (!has_choice(out, choice)) out->items[out->count++] = choice;
    }
}

bool arch_parse(Session *session, const char *text, ArchList *out)
{
    VEC(ArchChoice) choices = {0};
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        ArchChoice choice;
        if (!parse_item(item, length, &choice)) {
            diag_report(session->diags, DIAG_unknown_arch, (Span){0},
                        arena_copy_text(session->arena, item, length), known_names(session->arena));
            return false;
        }
        vec_push(session->arena, &choices, choice);
        item += length;
        if (*item == '\0') break;
    }
    *out = (ArchList){arena_new_array(session->arena, ArchChoice, choices.count), 0};
    finish_list(&(ArchList){choices.data, choices.count}, out);
    return true;
}
