/* object_view.c: reads a relocatable ELF file of 64 bits, least byte first, as tilec writes for
 * all its hosts.
 *
 * Each section gets an address of its own, far from the others, and the words that a linker would
 * fill are filled with these addresses: so a pointer of a table is read like any number and looked
 * up. Nothing of the file is trusted: every offset is checked. */
#include "command/object_view.h"

#include "base/vec.h"

#include <elf.h>
#include <string.h>

enum { SECTION_SHIFT = 40, MOST_SECTIONS = 4096, LONGEST_TEXT = 1 << 16 }; /* 1 TiB a section */

typedef struct Section {
    Elf64_Shdr header;
    char *bytes; /* a copy, relocated; NULL if the file has none */
} Section;

struct ObjectView {
    Arena *arena;
    const char *bytes;
    size_t size;
    Elf64_Ehdr header;
    Section *sections;
    VEC(ObjectSymbol) symbols;
};

bool view_is_elf(const char *bytes, size_t size)
{
    return size >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

/* ---- sections ---- */

static bool is_inside(const ObjectView *view, uint64_t offset, uint64_t size)
{
    return offset <= view->size && size <= view->size - offset;
}

static bool read_header(ObjectView *view, const char **fault)
{
    const Elf64_Ehdr *header = &view->header;
    *fault = "it is no ELF file of 64 bits";
    if (!is_inside(view, 0, sizeof *header)) return false;
    memcpy(&view->header, view->bytes, sizeof *header);
    if (!view_is_elf(view->bytes, view->size) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB)
        return false;
    *fault = "it is linked already: name the object";
    if (header->e_type != ET_REL) return false;
    *fault = "its section table is broken";
    return header->e_shentsize == sizeof(Elf64_Shdr) && header->e_shnum < MOST_SECTIONS &&
           is_inside(view, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr));
}

static bool read_sections(ObjectView *view)
{
    int count = view->header.e_shnum;
    uint64_t room = view->size; /* sections lie side by side, so they are no more than the file */
    view->sections = arena_new_array(view->arena, Section, count + 1);
    for (int i = 0; i < count; i++) {
        Section *section = &view->sections[i];
        memcpy(&section->header,
               view->bytes + view->header.e_shoff + (size_t)i * sizeof(Elf64_Shdr),
               sizeof section->header);
        if (section->header.sh_type == SHT_NOBITS || section->header.sh_type == SHT_NULL) continue;
        if (!is_inside(view, section->header.sh_offset, section->header.sh_size) ||
            section->header.sh_size > room)
            return false;
        room -= section->header.sh_size;
        section->bytes = arena_copy_text(view->arena, view->bytes + section->header.sh_offset,
                                         section->header.sh_size);
    }
    return true;
}

static const Section *section_at(const ObjectView *view, uint64_t index)
{
    return index < view->header.e_shnum ? &view->sections[index] : NULL;
}

/* ---- symbols and relocations ---- */

static uint64_t address_of(uint64_t section, uint64_t offset)
{
    return ((section + 1) << SECTION_SHIFT) + offset;
}

static bool read_symbol(const Section *table, uint64_t index, Elf64_Sym *out)
{
    if (!table || !table->bytes || index >= table->header.sh_size / sizeof *out) return false;
    memcpy(out, table->bytes + index * sizeof *out, sizeof *out);
    return true;
}

/* The words of 64 bits. */
static bool is_word(const ObjectView *view, uint64_t info)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(info);
    return (view->header.e_machine == EM_X86_64 && type == R_X86_64_64) ||
           (view->header.e_machine == EM_AARCH64 && type == R_AARCH64_ABS64);
}

/* What is no word of 64 bits is one of 32, whose value is of no interest here. */
static bool relocate(const ObjectView *view, const Section *target, const Section *symbols,
                     const Elf64_Rela *entry)
{
    Elf64_Sym symbol;
    const bool is_wide = is_word(view, entry->r_info);
    const uint64_t size = target->header.sh_size, bytes = is_wide ? 8 : 4;
    if (size < bytes || entry->r_offset > size - bytes ||
        !read_symbol(symbols, ELF64_R_SYM(entry->r_info), &symbol))
        return false;
    if (!is_wide) return true;
    const uint64_t value =
        symbol.st_shndx == SHN_UNDEF
            ? 0
            : address_of(symbol.st_shndx, symbol.st_value + (uint64_t)entry->r_addend);
    memcpy(target->bytes + entry->r_offset, &value, sizeof value);
    return true;
}

static bool relocate_section(ObjectView *view, const Section *list)
{
    const Section *target = section_at(view, list->header.sh_info);
    const Section *symbols = section_at(view, list->header.sh_link);
    if (!target || !target->bytes || !symbols) return false;
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= list->header.sh_size;
         at += sizeof(Elf64_Rela)) {
        Elf64_Rela entry;
        memcpy(&entry, list->bytes + at, sizeof entry);
        if (!relocate(view, target, symbols, &entry)) return false;
    }
    return true;
}

static const char *section_text(const Section *section, uint64_t offset)
{
    if (!section || !section->bytes || offset >= section->header.sh_size) return NULL;
    size_t room = section->header.sh_size - offset;
    if (room > LONGEST_TEXT) room = LONGEST_TEXT;
    return memchr(section->bytes + offset, '\0', room) ? section->bytes + offset : NULL;
}

static bool collect_symbols(ObjectView *view, const Section *table)
{
    const Section *names = section_at(view, table->header.sh_link);
    Elf64_Sym symbol;
    for (uint64_t i = 0; read_symbol(table, i, &symbol); i++) {
        if (ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || symbol.st_shndx == SHN_UNDEF ||
            ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT)
            continue;
        const char *name = section_text(names, symbol.st_name);
        if (!name) return false;
        ObjectSymbol found = {name, address_of(symbol.st_shndx, symbol.st_value), symbol.st_size};
        vec_push(view->arena, &view->symbols, found);
    }
    return true;
}

static bool resolve(ObjectView *view)
{
    bool fine = true;
    for (int i = 0; fine && i < view->header.e_shnum; i++) {
        const Section *section = &view->sections[i];
        if (section->header.sh_type == SHT_RELA) fine = relocate_section(view, section);
        if (section->header.sh_type == SHT_SYMTAB) fine = collect_symbols(view, section);
    }
    return fine;
}

/* ---- the front ---- */

const ObjectView *view_open(Arena *arena, const char *bytes, size_t size, const char **fault)
{
    ObjectView *view = arena_new_of(arena, ObjectView);
    *view = (ObjectView){.arena = arena, .bytes = bytes, .size = size};
    if (!read_header(view, fault)) return NULL;
    *fault = "its sections are broken";
    return read_sections(view) && resolve(view) ? view : NULL;
}

size_t view_size(const ObjectView *view)
{
    return view->size;
}

const char *view_machine(const ObjectView *view)
{
    switch (view->header.e_machine) {
    case EM_X86_64: return "x86_64";
    case EM_AARCH64: return "aarch64";
    default: return "an unknown machine";
    }
}

bool view_symbol(const ObjectView *view, size_t index, ObjectSymbol *out)
{
    if (index >= view->symbols.count) return false;
    *out = view->symbols.data[index];
    return true;
}

static const Section *find_section(const ObjectView *view, uint64_t address, uint64_t *offset)
{
    uint64_t index = address >> SECTION_SHIFT;
    *offset = address & (((uint64_t)1 << SECTION_SHIFT) - 1);
    const Section *section = index == 0 ? NULL : section_at(view, index - 1);
    return section && section->header.sh_flags & SHF_ALLOC ? section
                                                           : NULL; /* sections that are loaded */
}

static bool section_holds(const Section *section, uint64_t offset, size_t size)
{
    return section && offset <= section->header.sh_size && size <= section->header.sh_size - offset;
}

bool view_holds(const ObjectView *view, uint64_t address, size_t size)
{
    uint64_t offset;
    const Section *section = find_section(view, address, &offset);
    return section_holds(section, offset, size);
}

const char *view_bytes(const ObjectView *view, uint64_t address, size_t size)
{
    uint64_t offset;
    const Section *section = find_section(view, address, &offset);
    if (!section_holds(section, offset, size) || !section->bytes) return NULL;
    return section->bytes + offset;
}

bool view_read(const ObjectView *view, uint64_t address, void *out, size_t size)
{
    const char *bytes = view_bytes(view, address, size);
    if (bytes) memcpy(out, bytes, size);
    return bytes != NULL;
}

const char *view_text(const ObjectView *view, uint64_t address)
{
    uint64_t offset;
    const Section *section = find_section(view, address, &offset);
    return section_text(section, offset);
}
