/* object.c: the kernel tables, images and typed entries as constants and functions of the host
 * module.
 *
 * What is written here is read by libtile: each struct below has the fields of its namesake in
 * runtime/include/tile/tile.h, in order. Only the entries and NAME_kernel are visible outside. */
#include "emit/emit.h"
#include "emit/site_arrays.h"

#include <llvm-c/Core.h>

#include <string.h>

#include "abi.h"
#include "emulator/abi.h"

enum { FIELDS = 8 };

typedef struct Writer {
    Codegen *codegen;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTypeRef pointer, i64, i32;
    Arena *arena;
    Name export;            /* whose tables are being written, and whose sections get them */
    const Carried *carried; /* or NULL */
    LLVMValueRef words, files;
} Writer;

/* ---- constants ---- */

static LLVMValueRef number32(const Writer *writer, int64_t value)
{
    return LLVMConstInt(writer->i32, (uint64_t)value, false);
}

static LLVMValueRef number64(const Writer *writer, int64_t value)
{
    return LLVMConstInt(writer->i64, (uint64_t)value, true);
}

static LLVMValueRef null_pointer(const Writer *writer)
{
    return LLVMConstNull(writer->pointer);
}

/* Where it ends up is the caller's to say. */
static LLVMValueRef private_constant(const Writer *writer, LLVMValueRef constant)
{
    LLVMValueRef global = LLVMAddGlobal(writer->module, LLVMTypeOf(constant), "");
    LLVMSetInitializer(global, constant);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, true);
    return global;
}

static LLVMValueRef private_global(const Writer *writer, LLVMValueRef constant, unsigned align)
{
    LLVMValueRef global = private_constant(writer, constant);
    if (align) LLVMSetAlignment(global, align);
    global_set_section(global, writer->export);
    return global;
}

static LLVMValueRef private_bytes(const Writer *writer, const char *bytes, size_t size)
{
    /* With a NUL behind: the driver reads PTX as text. */
    return private_global(writer, LLVMConstStringInContext2(writer->context, bytes, size, false),
                          16);
}

static LLVMValueRef private_text(const Writer *writer, const char *text)
{
    LLVMValueRef global = private_constant(
        writer, LLVMConstStringInContext2(writer->context, text, strlen(text), false));
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr); /* equal texts may be one */
    return global;
}

static LLVMValueRef structure(const Writer *writer, int count, LLVMValueRef *fields)
{
    return LLVMConstStructInContext(writer->context, fields, (unsigned)count, false);
}

/* An array of equal structs or numbers; NULL for an empty one. */
static LLVMValueRef private_array(const Writer *writer, LLVMValueRef *items, int count)
{
    if (count == 0) return null_pointer(writer);
    return private_global(writer, LLVMConstArray2(LLVMTypeOf(items[0]), items, (uint64_t)count), 0);
}

static LLVMValueRef *new_items(const Writer *writer, int count)
{
    return arena_new_array(writer->arena, LLVMValueRef, count + 1);
}

/* ---- the tables ---- */

static int parameter_bytes(const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    return parameter->is_key || type->kind == TYPE_POINTER ? 8 : dtype_bytes(type->dtype);
}

static int parameter_kind(const Kernel *kernel, int index)
{
    const Parameter *parameter = &kernel->parameters[index];
    const Type *type = parameter->value->type;
    if (!parameter->is_key)
        return type->kind == TYPE_POINTER ? TILE_PARAMETER_POINTER : TILE_PARAMETER_SCALAR;
    if (kernel_key_is_fixed(kernel, index)) return TILE_PARAMETER_KEY_FIXED;
    if (parameter->text != NULL) return TILE_PARAMETER_KEY_TEXT;
    return dtype_is_float(type->dtype) ? TILE_PARAMETER_KEY_FLOAT : TILE_PARAMETER_KEY;
}

static const char *parameter_type(const Parameter *parameter)
{
    return parameter->is_dtype       ? "dtype"
           : parameter->text != NULL ? "str"
                                     : dtype_name(parameter->value->type->dtype);
}

/* What any of the export's kernels does to a pointer's memory. */
static int64_t parameter_access(const ExportImages *export, int parameter)
{
    int64_t access = 0;
    for (int i = 0; i < export->specialisation_count; i++) {
        const Parameter *one = &export->specialisations[i].kernel->parameters[parameter];
        access |= (one->is_read ? TILE_READ : 0) | (one->is_written ? TILE_WRITTEN : 0);
    }
    return access;
}

static LLVMValueRef parameter_table(const Writer *writer, const ExportImages *export)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    int count = kernel_argument_count(kernel);
    LLVMValueRef *items = new_items(writer, count);
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        LLVMValueRef fields[] = {private_text(writer, parameter->name),
                                 private_text(writer, parameter_type(parameter)),
                                 number32(writer, parameter_kind(kernel, i)),
                                 number32(writer, parameter_bytes(parameter)),
                                 number32(writer, parameter_access(export, i))};
        items[i] = structure(writer, 5, fields);
    }
    return private_array(writer, items, count);
}

/* The bytes `persistent`, `early` and `merged` of a tile_entry. */
static int64_t launch_flags_of(const ImageEntry *entry)
{
    return (entry->persistent ? 1 : 0) | (entry->dependent ? 1 << 8 : 0) |
           (int64_t)entry->merged[0] << 16 | (int64_t)entry->merged[1] << 24;
}

/* The bytes `cluster` and `cooperative` of a tile_entry, as hosts that are little-endian have them.
 */
static int64_t launch_kind_of(const ImageEntry *entry)
{
    int64_t word = entry->cooperative ? 1 : 0;
    for (int i = 2; i >= 0; i--)
        word = word << 8 | (entry_blocks(entry) > 1 ? entry->cluster[i] : 0);
    return word;
}

static LLVMValueRef entry_table(const Writer *writer, const Image *image)
{
    LLVMValueRef *items = new_items(writer, image->entry_count);
    for (int i = 0; i < image->entry_count; i++) {
        const ImageEntry *entry = &image->entries[i];
        LLVMValueRef emulated = null_pointer(writer);
        if (image->kind == IMAGE_EMULATOR) {
            emulated = LLVMGetNamedFunction(writer->module, entry->name);
            if (!emulated) ICE("the host module lacks the emulated kernel '%s'", entry->name);
            LLVMSetLinkage(emulated, LLVMInternalLinkage);
        }
        /* A cubin is asked for the symbol; the emulator only tells people what it ran. */
        const char *name = image->kind == IMAGE_EMULATOR ? writer->export : entry->name;
        LLVMValueRef fields[] = {private_text(writer, name),
                                 emulated,
                                 number32(writer, entry->warps),
                                 number32(writer, entry->shared_bytes),
                                 number32(writer, entry->registers),
                                 number32(writer, entry->spill_bytes),
                                 number32(writer, launch_flags_of(entry)),
                                 number32(writer, launch_kind_of(entry))};
        items[i] = structure(writer, sizeof fields / sizeof fields[0], fields);
    }
    return private_array(writer, items, image->entry_count);
}

/* The parameter's number among those that a launch has; -1: none. */
static int argument_index(const Kernel *kernel, int parameter)
{
    int index = 0;
    for (int i = 0; i < parameter; i++) index += !kernel->parameters[i].is_key;
    return parameter < 0 || kernel->parameters[parameter].is_key ? -1 : index;
}

/* A key is a number of the code's own. */
static LLVMValueRef array_number(const Writer *writer, const Kernel *kernel, ArrayNumber number)
{
    const Parameter *parameter =
        number.parameter >= 0 ? &kernel->parameters[number.parameter] : NULL;
    const bool is_key = parameter && parameter->is_key;
    const int bytes = parameter && !is_key ? dtype_bytes(parameter->value->type->dtype) : 0;
    const bool is_read = bytes == 4 || bytes == 8; /* others are not known */
    LLVMValueRef fields[] = {
        number64(writer, is_key              ? parameter->key
                         : bytes && !is_read ? -1
                                             : number.value),
        number32(writer, is_read ? argument_index(kernel, number.parameter) + 1 : 0),
        number32(writer, bytes)};
    return structure(writer, sizeof fields / sizeof fields[0], fields);
}

static LLVMValueRef array_numbers(const Writer *writer, const Kernel *kernel,
                                  const ArrayNumber *numbers)
{
    LLVMValueRef items[TILE_EMU_RANK];
    for (int i = 0; i < TILE_EMU_RANK; i++)
        items[i] = array_number(writer, kernel, i < TYPE_RANK ? numbers[i] : (ArrayNumber){0, -1});
    return LLVMConstArray(LLVMTypeOf(items[0]), items, TILE_EMU_RANK);
}

static LLVMValueRef array_table(const Writer *writer, const Kernel *kernel, int parameter,
                                const SiteArray *array)
{
    LLVMValueRef fields[] = {private_text(writer, array->name),
                             number32(writer, argument_index(kernel, parameter)),
                             number32(writer, array->element_bits),
                             number32(writer, array->rank),
                             number32(writer, 0),
                             array_numbers(writer, kernel, array->shape),
                             array_numbers(writer, kernel, array->strides)};
    LLVMValueRef item = structure(writer, sizeof fields / sizeof fields[0], fields);
    return private_array(writer, &item, 1);
}

/* One a parameter; NULL for those that are no arrays. */
static LLVMValueRef *array_tables(const Writer *writer, const Image *image)
{
    const Kernel *kernel = image->arrays_of;
    if (image->site_count == 0 || !kernel) return NULL;
    const SiteArray *arrays = site_arrays(writer->arena, kernel);
    LLVMValueRef *tables = new_items(writer, kernel->parameter_count);
    for (int i = 0; i < kernel->parameter_count; i++)
        tables[i] =
            arrays[i].name ? array_table(writer, kernel, i, &arrays[i]) : null_pointer(writer);
    return tables;
}

static LLVMValueRef site_table(const Writer *writer, const Image *image)
{
    LLVMValueRef *items = new_items(writer, image->site_count);
    LLVMValueRef *arrays = array_tables(writer, image);
    for (int i = 0; i < image->site_count; i++) {
        const Site *site = &image->sites[i];
        const Span span = site->span;
        const bool is_array =
            arrays && site->pointer >= 0 && site->pointer < image->arrays_of->parameter_count;
        Location location =
            span.source ? source_location(span.source, span.begin) : (Location){0, 0};
        LLVMValueRef fields[] = {private_text(writer, span.source ? span.source->recorded : "?"),
                                 number32(writer, location.line),
                                 number32(writer, location.column),
                                 number32(writer, site->repeats),
                                 number32(writer, site->tiles[0]),
                                 number32(writer, site->tiles[1]),
                                 is_array ? arrays[site->pointer] : null_pointer(writer)};
        items[i] = structure(writer, sizeof fields / sizeof fields[0], fields);
    }
    return private_array(writer, items, image->site_count);
}

/* A function of the runtime, by name. */
static LLVMValueRef runtime_function(const Writer *writer, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(writer->module, name);
    return function ? function : LLVMAddFunction(writer->module, name, type);
}

static LLVMValueRef emulator_table(const Writer *writer)
{
    static const char name[] = "tile_the_emulator";
    LLVMValueRef global = LLVMGetNamedGlobal(writer->module, name);
    return global ? global : LLVMAddGlobal(writer->module, writer->pointer, name);
}

/* The function that describes an image's tensor maps, and how many there are. */
static LLVMValueRef maps_of(const Writer *writer, const Image *image, int *count)
{
    *count = 0;
    if (!image->maps) return null_pointer(writer);
    const char *symbol = arena_printf(writer->arena, "%s_maps", image->entries[0].name);
    *count = maps_function(writer->codegen, image->maps, symbol);
    return LLVMGetNamedFunction(writer->module, symbol);
}

static LLVMValueRef image_struct(const Writer *writer, const Image *image)
{
    int map_count;
    LLVMValueRef maps = maps_of(writer, image, &map_count);
    static const int kinds[] = {[IMAGE_CUBIN] = TILE_IMAGE_CUBIN,
                                [IMAGE_PTX] = TILE_IMAGE_PTX,
                                [IMAGE_EMULATOR] = TILE_IMAGE_EMULATOR};
    bool emulated = image->kind == IMAGE_EMULATOR;
    LLVMValueRef fields[] = {
        private_text(writer, image->target->name),
        emulated ? null_pointer(writer) : private_bytes(writer, image->bytes, image->size),
        entry_table(writer, image),
        site_table(writer, image),
        emulated ? emulator_table(writer) : null_pointer(writer),
        number64(writer, (int64_t)image->size),
        number32(writer, kinds[image->kind]),
        number32(writer, image->target->number),
        number32(writer, image->target->suffix),
        number32(writer, image->site_count),
        maps,
        number64(writer, map_count),
    };
    return structure(writer, sizeof fields / sizeof fields[0], fields);
}

static LLVMValueRef multiples_table(const Writer *writer, const int64_t *multiples, int count)
{
    if (!multiples) return null_pointer(writer);
    LLVMValueRef *items = new_items(writer, count);
    for (int i = 0; i < count; i++) items[i] = number32(writer, multiples[i]);
    return private_array(writer, items, count);
}

static LLVMValueRef variant_struct(const Writer *writer, const VariantImages *variant,
                                   int parameters)
{
    LLVMValueRef *images = new_items(writer, variant->image_count);
    for (int i = 0; i < variant->image_count; i++)
        images[i] = image_struct(writer, &variant->images[i]);
    LLVMValueRef fields[] = {multiples_table(writer, variant->multiples, parameters),
                             private_array(writer, images, variant->image_count),
                             number64(writer, variant->image_count)};
    return structure(writer, 3, fields);
}

static LLVMValueRef key_table(const Writer *writer, const Kernel *kernel)
{
    LLVMValueRef *items = new_items(writer, kernel->parameter_count);
    int count = 0;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (!parameter->is_key) continue;
        items[count++] = parameter->text != NULL
                             ? LLVMConstPtrToInt(private_text(writer, parameter->text), writer->i64)
                             : number64(writer, parameter->key);
    }
    return private_array(writer, items, count);
}

/* As tile_tensor has them: what is no number is a parameter's. */
static LLVMValueRef extent_table(const Writer *writer, const Extent *extents, int rank)
{
    LLVMValueRef *items = new_items(writer, rank);
    for (int i = 0; i < rank; i++)
        items[i] =
            number64(writer, extents[i].kind == EXTENT_PARAMETER ? TILE_SYMBOL(extents[i].parameter)
                                                                 : extents[i].value);
    return private_array(writer, items, rank);
}

static LLVMValueRef tensor_table(const Writer *writer, const Kernel *kernel)
{
    LLVMValueRef *items = new_items(writer, kernel->tensor_count);
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        LLVMValueRef fields[] = {
            private_text(writer, tensor->name),
            tensor->is_result ? null_pointer(writer)
                              : extent_table(writer, tensor->shape, tensor->rank),
            tensor->is_strided ? extent_table(writer, tensor->strides, tensor->rank)
                               : null_pointer(writer),
            number32(writer, dtype_code(tensor->dtype)),
            number32(writer, tensor->rank),
            number32(writer, tensor->pointer),
            number32(writer, tensor->dtype_key < 0 ? UINT32_MAX : (uint32_t)tensor->dtype_key),
            number32(writer, tensor->is_result),
            number32(writer, kernel->parameters[tensor->pointer].is_written),
        };
        items[i] = structure(writer, sizeof fields / sizeof fields[0], fields);
    }
    return private_array(writer, items, kernel->tensor_count);
}

/* Those that are zero when the kernel begins, or that it leaves so, too. */
static int64_t zero_workspaces(const Kernel *kernel, bool kept)
{
    int64_t bits = 0;
    int first = kernel_argument_count(kernel);
    for (int i = first; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        bits |= (int64_t)(kept ? parameter->is_kept : parameter->is_zeroed) << (i - first);
    }
    return bits;
}

static LLVMValueRef specialisation_struct(const Writer *writer, const ExportImages *export,
                                          const SpecialisationImages *specialisation)
{
    const Kernel *kernel = specialisation->kernel;
    const uint32_t lacks = (export->lacks_name ? TILE_LACKS_NAME : 0) |
                           (export->lacks_language ? TILE_LACKS_LANGUAGE : 0);
    int arguments = kernel_argument_count(kernel);
    LLVMValueRef host = LLVMGetNamedFunction(writer->module, specialisation->host_symbol);
    if (!host) ICE("the host module lacks '%s'", specialisation->host_symbol);
    LLVMSetLinkage(host, LLVMInternalLinkage);
    LLVMValueRef *variants = new_items(writer, specialisation->variant_count);
    for (int i = 0; i < specialisation->variant_count; i++)
        variants[i] = variant_struct(writer, &specialisation->variants[i], arguments);
    LLVMValueRef fields[] = {key_table(writer, kernel),
                             host,
                             private_array(writer, variants, specialisation->variant_count),
                             number32(writer, specialisation->variant_count),
                             number32(writer, specialisation->variants[0].images[0].entry_count),
                             number32(writer, kernel_workspace_count(kernel)),
                             number32(writer, zero_workspaces(kernel, false)),
                             tensor_table(writer, kernel),
                             kernel->configuration ? private_text(writer, kernel->configuration)
                                                   : null_pointer(writer),
                             number64(writer, (int64_t)specialisation->code),
                             number32(writer, specialisation->configuration_count),
                             number32(writer, lacks),
                             number32(writer, zero_workspaces(kernel, true))};
    return structure(writer, sizeof fields / sizeof fields[0], fields);
}

static LLVMValueRef choice_table(const Writer *writer, const ExportImages *export)
{
    LLVMValueRef *items = new_items(writer, export->choice_count);
    for (int i = 0; i < export->choice_count; i++) {
        const Choice *choice = &export->choices[i];
        LLVMValueRef *classes = new_items(writer, choice->class_count);
        for (int j = 0; j < choice->class_count; j++)
            classes[j] = number64(writer, choice->classes[j]);
        LLVMValueRef fields[] = {
            choice->device ? private_text(writer, choice->device) : null_pointer(writer),
            private_array(writer, classes, choice->class_count),
            number32(writer, choice->class_count),
            number32(writer, choice->specialisation),
            number32(writer, choice->configuration),
            number32(writer, 0),
        };
        items[i] = structure(writer, sizeof fields / sizeof fields[0], fields);
    }
    return private_array(writer, items, export->choice_count);
}

static LLVMValueRef state_cell(const Writer *writer)
{
    LLVMValueRef cell = LLVMAddGlobal(writer->module, writer->pointer, "");
    LLVMSetInitializer(cell, null_pointer(writer));
    LLVMSetLinkage(cell, LLVMPrivateLinkage);
    global_set_section(cell, writer->export);
    return cell;
}

/* The words and the files: one table for all kernels of the object. */
static void carry(Writer *writer, const Carried *carried)
{
    LLVMValueRef *words = new_items(writer, carried->word_count);
    LLVMValueRef *files = new_items(writer, carried->file_count);
    for (int i = 0; i < carried->word_count; i++)
        words[i] = private_text(writer, carried->words[i]);
    for (int i = 0; i < carried->file_count; i++) {
        const Source *file = carried->files[i];
        LLVMValueRef fields[] = {private_text(writer, file->recorded),
                                 private_text(writer, file->text),
                                 number64(writer, (int64_t)file->length)};
        files[i] = structure(writer, 3, fields);
    }
    writer->carried = carried;
    writer->words = private_array(writer, words, carried->word_count);
    writer->files = private_array(writer, files, carried->file_count);
}

static LLVMValueRef source_struct(const Writer *writer)
{
    if (!writer->carried) return null_pointer(writer);
    LLVMValueRef fields[] = {writer->words, writer->files,
                             number64(writer, writer->carried->word_count),
                             number64(writer, writer->carried->file_count)};
    return private_global(writer, structure(writer, 4, fields), 0);
}

/* A gradient's kernel, which is there before that whose gradient it is. */
static LLVMValueRef gradient_of(const Writer *writer, const ExportImages *export)
{
    if (!export->gradient) return null_pointer(writer);
    const char *name = arena_printf(writer->arena, "%s_kernel", export->gradient);
    return LLVMGetNamedGlobal(writer->module, name);
}

static LLVMValueRef kernel_global(const Writer *writer, const ExportImages *export)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    LLVMValueRef *items = new_items(writer, export->specialisation_count);
    for (int i = 0; i < export->specialisation_count; i++)
        items[i] = specialisation_struct(writer, export, &export->specialisations[i]);
    LLVMValueRef fields[] = {
        private_text(writer, export->name),
        parameter_table(writer, export),
        private_array(writer, items, export->specialisation_count),
        state_cell(writer),
        number32(writer, TILE_ABI_VERSION),
        number32(writer, kernel_argument_count(kernel)),
        number32(writer, export->specialisation_count),
        number32(writer, kernel->tensor_count),
        tensor_table(writer, kernel),
        choice_table(writer, export),
        number64(writer, export->choice_count),
        private_text(writer, export->plain_name),
        source_struct(writer),
        writer->carried ? state_cell(writer) : null_pointer(writer),
        gradient_of(writer, export),
    };
    LLVMValueRef constant = structure(writer, sizeof fields / sizeof fields[0], fields);
    LLVMValueRef global = LLVMAddGlobal(writer->module, LLVMTypeOf(constant),
                                        arena_printf(writer->arena, "%s_kernel", export->name));
    LLVMSetInitializer(global, constant);
    LLVMSetGlobalConstant(global, true);
    return global;
}

/* ---- the typed entries ---- */

static LLVMTypeRef argument_type(const Writer *writer, const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    if (type->kind == TYPE_POINTER || parameter->text != NULL) return writer->pointer;
    if (parameter->is_key && !dtype_is_float(type->dtype)) return writer->i64;
    if (type->dtype == DTYPE_f32) return LLVMFloatTypeInContext(writer->context);
    if (type->dtype == DTYPE_f64) return LLVMDoubleTypeInContext(writer->context);
    return LLVMIntTypeInContext(writer->context, (unsigned)dtype_bytes(type->dtype) * 8);
}

/* An array of `count` pointers on the stack, and the place of one. */
static LLVMValueRef new_array(const Writer *writer, LLVMBuilderRef builder, int count)
{
    return LLVMBuildArrayAlloca(builder, writer->pointer, number32(writer, count ? count : 1), "");
}

static void set_item(const Writer *writer, LLVMBuilderRef builder, LLVMValueRef array, int index,
                     LLVMValueRef item)
{
    LLVMValueRef at = number32(writer, index);
    LLVMBuildStore(builder, item,
                   LLVMBuildInBoundsGEP2(builder, writer->pointer, array, &at, 1, ""));
}

/* The arguments of a call of libtile: an array of the tensors, if the kernel takes some, and one of
 * pointers to the others. */
typedef struct Packed {
    LLVMValueRef tensors, others;
} Packed;

static Packed pack_arguments(const Writer *writer, LLVMBuilderRef builder, LLVMValueRef function,
                             const Kernel *kernel, unsigned first)
{
    EntryArgument *arguments =
        arena_new_array(writer->arena, EntryArgument, kernel->parameter_count + 1);
    int count = entry_arguments(kernel, arguments), others = 0;
    Packed packed = {new_array(writer, builder, kernel->tensor_count),
                     new_array(writer, builder, count)};
    for (int i = 0; i < count; i++) {
        LLVMValueRef value = LLVMGetParam(function, first + (unsigned)i);
        if (arguments[i].tensor) {
            set_item(writer, builder, packed.tensors, (int)(arguments[i].tensor - kernel->tensors),
                     value);
            continue;
        }
        LLVMValueRef cell =
            LLVMBuildAlloca(builder, LLVMTypeOf(value), arguments[i].parameter->name);
        LLVMBuildStore(builder, value, cell);
        set_item(writer, builder, packed.others, others++, cell);
    }
    return packed;
}

typedef struct Entry {
    const char *suffix;            /* of the symbol, after the kernel's name */
    LLVMTypeRef leading, trailing; /* a parameter before and one after the kernel's own, or NULL */
    bool takes_arguments;
} Entry;

static LLVMValueRef begin_entry(const Writer *writer, const Entry *entry,
                                const ExportImages *export, LLVMBuilderRef builder)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    LLVMTypeRef *types = arena_new_array(writer->arena, LLVMTypeRef, kernel->parameter_count + 2);
    unsigned count = 0;
    if (entry->leading) types[count++] = entry->leading;
    EntryArgument *arguments =
        arena_new_array(writer->arena, EntryArgument, kernel->parameter_count + 1);
    int taken = entry->takes_arguments ? entry_arguments(kernel, arguments) : 0;
    for (int i = 0; i < taken; i++) types[count++] = argument_type(writer, arguments[i].parameter);
    if (entry->trailing) types[count++] = entry->trailing;
    LLVMValueRef function = LLVMAddFunction(
        writer->module, arena_printf(writer->arena, "%s%s", export->name, entry->suffix),
        LLVMFunctionType(writer->i32, types, count, false));
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(writer->context, function, ""));
    return function;
}

static void finish_entry(const Writer *writer, LLVMBuilderRef builder, const char *callee,
                         LLVMValueRef *operands, unsigned count)
{
    LLVMTypeRef types[FIELDS];
    for (unsigned i = 0; i < count; i++) types[i] = LLVMTypeOf(operands[i]);
    LLVMTypeRef type = LLVMFunctionType(writer->i32, types, count, false);
    LLVMBuildRet(builder, LLVMBuildCall2(builder, type, runtime_function(writer, callee, type),
                                         operands, count, ""));
}

/* tile_status NAME(tile_stream stream, ...) */
static void launch_entry(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                         LLVMBuilderRef builder)
{
    const Entry entry = {.suffix = "", .leading = writer->pointer, .takes_arguments = true};
    LLVMValueRef function = begin_entry(writer, &entry, export, builder);
    LLVMValueRef stream = LLVMGetParam(function, 0);
    const Kernel *typed = export->specialisations[0].kernel;
    Packed packed = pack_arguments(writer, builder, function, typed, 1);
    LLVMValueRef plain[] = {kernel, stream, null_pointer(writer), number32(writer, 0),
                            packed.others};
    LLVMValueRef tensors[] = {kernel, stream, packed.tensors, packed.others};
    if (typed->tensor_count)
        finish_entry(writer, builder, "tile_launch_tensors", tensors, 4);
    else
        finish_entry(writer, builder, "tile_launch", plain, 5);
}

/* tile_status NAME_plan(..., tile_plan *out) */
static void plan_entry(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                       LLVMBuilderRef builder)
{
    const Entry entry = {.suffix = "_plan", .trailing = writer->pointer, .takes_arguments = true};
    LLVMValueRef function = begin_entry(writer, &entry, export, builder);
    LLVMValueRef out = LLVMGetParam(function, LLVMCountParams(function) - 1);
    const Kernel *typed = export->specialisations[0].kernel;
    Packed packed = pack_arguments(writer, builder, function, typed, 0);
    LLVMValueRef plain[] = {kernel, packed.others, out};
    LLVMValueRef tensors[] = {kernel, packed.tensors, packed.others, out};
    if (typed->tensor_count)
        finish_entry(writer, builder, "tile_plan_tensors", tensors, 4);
    else
        finish_entry(writer, builder, "tile_plan_launch", plain, 3);
}

/* tile_status NAME_shapes(...) */
static void shapes_entry(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                         LLVMBuilderRef builder)
{
    const Entry entry = {.suffix = "_shapes", .takes_arguments = true};
    LLVMValueRef function = begin_entry(writer, &entry, export, builder);
    Packed packed = pack_arguments(writer, builder, function, export->specialisations[0].kernel, 0);
    LLVMValueRef operands[] = {kernel, packed.tensors, packed.others};
    finish_entry(writer, builder, "tile_shape_tensors", operands, 3);
}

/* tile_status NAME_prepare(int device) */
static void prepare_entry(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                          LLVMBuilderRef builder)
{
    const Entry entry = {.suffix = "_prepare", .leading = writer->i32};
    LLVMValueRef function = begin_entry(writer, &entry, export, builder);
    LLVMValueRef operands[] = {kernel, LLVMGetParam(function, 0)};
    finish_entry(writer, builder, "tile_prepare", operands, 2);
}

static void write_entries(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                          LLVMBuilderRef builder)
{
    launch_entry(writer, export, kernel, builder);
    plan_entry(writer, export, kernel, builder);
    prepare_entry(writer, export, kernel, builder);
    if (has_results(export->specialisations[0].kernel))
        shapes_entry(writer, export, kernel, builder);
}

bool emit_object(Codegen *codegen, Arena *arena, const ExportImages *exports, int count,
                 const EmitWish *wish, const char **bytes, size_t *size)
{
    LLVMContextRef context = codegen_context(codegen);
    Writer writer = {.codegen = codegen,
                     .context = context,
                     .module = codegen_host_module(codegen),
                     .pointer = LLVMPointerTypeInContext(context, 0),
                     .i64 = LLVMInt64TypeInContext(context),
                     .i32 = LLVMInt32TypeInContext(context),
                     .arena = arena};
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    if (wish->carried) {
        writer.export = "tile_source";
        carry(&writer, wish->carried);
    }
    for (int i = 0; i < 2 * count; i++) {
        const ExportImages *export = &exports[i % count];
        if (export->is_gradient != (i < count)) continue; /* those first, as others name them */
        writer.export = export->name;
        LLVMValueRef kernel = kernel_global(&writer, export);
        if (!wish->tables_only) write_entries(&writer, export, kernel, builder);
    }
    LLVMDisposeBuilder(builder);
    return codegen_host_object(codegen, arena, bytes, size);
}
