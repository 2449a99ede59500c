/* object.c: the kernel tables, images and typed entries as constants and functions of the host
 * module.
 *
 * What is written here is read by libtile: each struct below has the fields of its namesake in
 * runtime/include/tile/tile.h, in order. Only the entries and NAME_kernel are visible outside. */
#include "emit/emit.h"

#include <llvm-c/Core.h>

#include <string.h>

#include "abi.h"

enum { FIELDS = 8 };

typedef struct Writer {
    Codegen *codegen;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTypeRef pointer, i64, i32;
    Arena *arena;
    Name export; /* whose tables are being written */
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

static LLVMValueRef private_global(const Writer *writer, LLVMValueRef constant, unsigned align)
{
    LLVMValueRef global = LLVMAddGlobal(writer->module, LLVMTypeOf(constant), "");
    LLVMSetInitializer(global, constant);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetGlobalConstant(global, true);
    if (align) LLVMSetAlignment(global, align);
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
    LLVMValueRef global = private_global(
        writer, LLVMConstStringInContext2(writer->context, text, strlen(text), false), 0);
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

static LLVMValueRef parameter_table(const Writer *writer, const Kernel *kernel)
{
    LLVMValueRef *items = new_items(writer, kernel->parameter_count);
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        const Type *type = parameter->value->type;
        int kind = parameter->is_key            ? TILE_PARAMETER_KEY
                   : type->kind == TYPE_POINTER ? TILE_PARAMETER_POINTER
                                                : TILE_PARAMETER_SCALAR;
        LLVMValueRef fields[] = {
            private_text(writer, parameter->name), private_text(writer, dtype_name(type->dtype)),
            number32(writer, kind), number32(writer, parameter_bytes(parameter))};
        items[i] = structure(writer, 4, fields);
    }
    return private_array(writer, items, kernel->parameter_count);
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
        LLVMValueRef fields[] = {
            private_text(writer, name),         emulated,
            number32(writer, entry->warps),     number32(writer, entry->shared_bytes),
            number32(writer, entry->registers), number32(writer, entry->spill_bytes)};
        items[i] = structure(writer, 6, fields);
    }
    return private_array(writer, items, image->entry_count);
}

static LLVMValueRef site_table(const Writer *writer, const Image *image)
{
    LLVMValueRef *items = new_items(writer, image->site_count);
    for (int i = 0; i < image->site_count; i++) {
        Span span = image->sites[i];
        Place place = span.source ? source_place(span.source, span.begin) : (Place){0, 0};
        LLVMValueRef fields[] = {private_text(writer, span.source ? span.source->path : "?"),
                                 number32(writer, place.line), number32(writer, place.column)};
        items[i] = structure(writer, 3, fields);
    }
    return private_array(writer, items, image->site_count);
}

/* A function of the runtime, by name. */
static LLVMValueRef runtime_function(const Writer *writer, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(writer->module, name);
    return function ? function : LLVMAddFunction(writer->module, name, type);
}

static LLVMValueRef emulator_run(const Writer *writer)
{
    LLVMTypeRef parameters[] = {writer->pointer, writer->pointer, writer->pointer, writer->pointer};
    return runtime_function(writer, "tile_emulator_run",
                            LLVMFunctionType(writer->i32, parameters, 4, false));
}

static LLVMValueRef image_struct(const Writer *writer, const Image *image)
{
    static const int kinds[] = {[IMAGE_CUBIN] = TILE_IMAGE_CUBIN,
                                [IMAGE_PTX] = TILE_IMAGE_PTX,
                                [IMAGE_EMULATOR] = TILE_IMAGE_EMULATOR};
    bool emulated = image->kind == IMAGE_EMULATOR;
    LLVMValueRef fields[] = {
        private_text(writer, image->target->name),
        emulated ? null_pointer(writer) : private_bytes(writer, image->bytes, image->size),
        entry_table(writer, image),
        site_table(writer, image),
        emulated ? emulator_run(writer) : null_pointer(writer),
        number64(writer, (int64_t)image->size),
        number32(writer, kinds[image->kind]),
        number32(writer, image->target->number),
        number32(writer, image->target->suffix),
        number32(writer, image->site_count),
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
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key)
            items[count++] = number64(writer, kernel->parameters[i].key);
    return private_array(writer, items, count);
}

static LLVMValueRef specialisation_struct(const Writer *writer,
                                          const SpecialisationImages *specialisation)
{
    const Kernel *kernel = specialisation->kernel;
    LLVMValueRef host = LLVMGetNamedFunction(writer->module, specialisation->host_symbol);
    if (!host) ICE("the host module lacks '%s'", specialisation->host_symbol);
    LLVMSetLinkage(host, LLVMInternalLinkage);
    LLVMValueRef *variants = new_items(writer, specialisation->variant_count);
    for (int i = 0; i < specialisation->variant_count; i++)
        variants[i] = variant_struct(writer, &specialisation->variants[i], kernel->parameter_count);
    LLVMValueRef fields[] = {key_table(writer, kernel), host,
                             private_array(writer, variants, specialisation->variant_count),
                             number32(writer, specialisation->variant_count),
                             number32(writer, specialisation->variants[0].images[0].entry_count)};
    return structure(writer, 5, fields);
}

static LLVMValueRef state_cell(const Writer *writer)
{
    LLVMValueRef cell = LLVMAddGlobal(writer->module, writer->pointer, "");
    LLVMSetInitializer(cell, null_pointer(writer));
    LLVMSetLinkage(cell, LLVMPrivateLinkage);
    return cell;
}

static LLVMValueRef kernel_global(const Writer *writer, const ExportImages *export)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    LLVMValueRef *items = new_items(writer, export->specialisation_count);
    for (int i = 0; i < export->specialisation_count; i++)
        items[i] = specialisation_struct(writer, &export->specialisations[i]);
    LLVMValueRef fields[] = {
        private_text(writer, export->name),
        parameter_table(writer, kernel),
        private_array(writer, items, export->specialisation_count),
        state_cell(writer),
        number32(writer, TILE_ABI_VERSION),
        number32(writer, kernel->parameter_count),
        number32(writer, export->specialisation_count),
        number32(writer, 0),
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
    if (type->kind == TYPE_POINTER) return writer->pointer;
    if (parameter->is_key) return writer->i64;
    if (type->dtype == DTYPE_f32) return LLVMFloatTypeInContext(writer->context);
    if (type->dtype == DTYPE_f64) return LLVMDoubleTypeInContext(writer->context);
    return LLVMIntTypeInContext(writer->context, (unsigned)dtype_bytes(type->dtype) * 8);
}

/* Stores the arguments from `first` on and gives the array of pointers to them that libtile takes.
 */
static LLVMValueRef pack_arguments(const Writer *writer, LLVMBuilderRef builder,
                                   LLVMValueRef function, const Kernel *kernel, unsigned first)
{
    unsigned count = (unsigned)kernel->parameter_count;
    LLVMTypeRef array_type = LLVMArrayType2(writer->pointer, count ? count : 1);
    LLVMValueRef array = LLVMBuildAlloca(builder, array_type, "arguments");
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef argument = LLVMGetParam(function, first + i);
        LLVMValueRef cell =
            LLVMBuildAlloca(builder, LLVMTypeOf(argument), kernel->parameters[i].name);
        LLVMBuildStore(builder, argument, cell);
        LLVMValueRef indices[] = {number32(writer, 0), number32(writer, i)};
        LLVMBuildStore(builder, cell,
                       LLVMBuildInBoundsGEP2(builder, array_type, array, indices, 2, ""));
    }
    return array;
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
    for (int i = 0; entry->takes_arguments && i < kernel->parameter_count; i++)
        types[count++] = argument_type(writer, &kernel->parameters[i]);
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
    LLVMValueRef arguments =
        pack_arguments(writer, builder, function, export->specialisations[0].kernel, 1);
    LLVMValueRef operands[] = {kernel, LLVMGetParam(function, 0), null_pointer(writer),
                               number32(writer, 0), arguments};
    finish_entry(writer, builder, "tile_launch", operands, 5);
}

/* tile_status NAME_plan(..., tile_plan *out) */
static void plan_entry(const Writer *writer, const ExportImages *export, LLVMValueRef kernel,
                       LLVMBuilderRef builder)
{
    const Entry entry = {.suffix = "_plan", .trailing = writer->pointer, .takes_arguments = true};
    LLVMValueRef function = begin_entry(writer, &entry, export, builder);
    LLVMValueRef arguments =
        pack_arguments(writer, builder, function, export->specialisations[0].kernel, 0);
    LLVMValueRef operands[] = {kernel, arguments,
                               LLVMGetParam(function, LLVMCountParams(function) - 1)};
    finish_entry(writer, builder, "tile_plan_launch", operands, 3);
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

bool emit_object(Codegen *codegen, Arena *arena, const ExportImages *exports, int count,
                 const char **bytes, size_t *size)
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
    for (int i = 0; i < count; i++) {
        writer.export = exports[i].name;
        LLVMValueRef kernel = kernel_global(&writer, &exports[i]);
        launch_entry(&writer, &exports[i], kernel, builder);
        plan_entry(&writer, &exports[i], kernel, builder);
        prepare_entry(&writer, &exports[i], kernel, builder);
    }
    LLVMDisposeBuilder(builder);
    return codegen_host_object(codegen, arena, bytes, size);
}
