/* units.c: from a TYPED kernel to the images of its variants on all architectures. */
#include "build/units.h"

#include <stdlib.h>
#include <string.h>

enum {
    VARIANT_MULTIPLE = ACCESS_BYTES
}; /* of the aligned variant: bytes of an address, or the least value of an integer */

/* ---- what a variant assumes ---- */

static bool is_assumable(const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    return !parameter->is_key && !parameter->is_workspace &&
           (type->kind == TYPE_POINTER ||
            (type->kind == TYPE_SCALAR && dtype_is_integer(type->dtype)));
}

/* An extent of elements of less than a byte fills the widest access by more of them. */
static int64_t integer_multiple(const Kernel *kernel)
{
    int64_t multiple = VARIANT_MULTIPLE;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const DType dtype = kernel->parameters[i].value->type->dtype;
        if (!dtype_is_packed(dtype)) continue;
        const int64_t each = VARIANT_MULTIPLE * 8 / dtype_memory_bits(dtype);
        multiple = each > multiple ? each : multiple;
    }
    return multiple;
}

int64_t *variant_multiples(Arena *arena, const Kernel *kernel)
{
    int64_t *multiples = arena_new_array(arena, int64_t, kernel->parameter_count + 1);
    const int64_t of_integers = integer_multiple(kernel);
    bool any = false;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        const bool is_pointer = parameter->value->type->kind == TYPE_POINTER;
        multiples[i] = !is_assumable(parameter) ? 1 : is_pointer ? VARIANT_MULTIPLE : of_integers;
        any |= multiples[i] > 1;
    }
    return any ? multiples : NULL;
}

/* What every variant assumes: that a pointer is aligned to its elements. NULL: nothing. */
static int64_t *element_multiples(Arena *arena, const Kernel *kernel)
{
    int64_t *multiples = arena_new_array(arena, int64_t, kernel->parameter_count + 1);
    bool any = false;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Type *type = kernel->parameters[i].value->type;
        multiples[i] = type->kind == TYPE_POINTER ? dtype_bytes(type->dtype) : 1;
        any |= multiples[i] > 1;
    }
    return any ? multiples : NULL;
}

/* What tells its code's name from other variants'. */
static const char *variant_suffix(const Kernel *typed, const int64_t *multiples)
{
    const int64_t of_integers = integer_multiple(typed);
    for (int i = 0; multiples && i < typed->parameter_count; i++) {
        const Parameter *parameter = &typed->parameters[i];
        const bool is_integer = parameter->value->type->kind == TYPE_SCALAR;
        if (is_integer && is_assumable(parameter) && multiples[i] < of_integers)
            return "_partly_aligned";
    }
    return multiples ? "_aligned" : "";
}

/* A lowered copy of a kernel, made under the assumptions; the caller's to free. NULL: reported.
 * What was assumed is the variant's to say from then on, so that equal code is equal text. */
static Kernel *lower_copy(const Kernel *typed, const ArchChoice *arch, const int64_t *multiples,
                          const PassOptions *passes)
{
    Kernel *kernel = kernel_clone(typed);
    kernel->name = intern_printf(
        typed->session->names, "%s%s%s%s", typed->name, variant_suffix(typed, multiples),
        arch->emulator ? "_emulated_" : "", arch->emulator ? arch->target->name : "");
    for (int i = 0; multiples && i < kernel->parameter_count; i++)
        if (kernel->parameters[i].multiple < multiples[i])
            kernel->parameters[i].multiple = multiples[i];
    kernel->wants_remarks = passes->reasons;
    kernel->is_strict = passes->strict && arch->emulator;
    if (!passes_run(kernel, arch->target, passes)) {
        kernel_free(kernel);
        return NULL;
    }
    for (int i = 0; i < kernel->parameter_count; i++) kernel->parameters[i].multiple = 1;
    return kernel;
}

/* The code without the kernel's symbol: whether an assumption changed it, the text is the judge. */
static const char *code_text(Arena *arena, Kernel *kernel)
{
    Name name = kernel->name;
    kernel->name = kernel->export_name;
    Buf text = {0};
    kernel_print(kernel, &text);
    kernel->name = name;
    const char *copy = arena_copy_text(arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

/* ---- images ---- */

static int spills_of(const Image *image)
{
    int bytes = 0;
    for (int i = 0; i < image->entry_count; i++) bytes += image->entries[i].spill_bytes;
    return bytes;
}

static bool is_serialised(const Image *image)
{
    for (int i = 0; i < image->entry_count; i++)
        if (image->entries[i].serialised) return true;
    return false;
}

/* The target, if it had these features. */
static const Target *with_features(Arena *arena, const Target *target, unsigned features)
{
    if (target->features == features) return target;
    Target *other = arena_new_of(arena, Target);
    *other = *target;
    other->features = features;
    return other;
}

/* Kept where that spills less. It may be refused. */
static bool try_with(Stages *stages, const StartedImage *started, unsigned features)
{
    Session *session = stages->session;
    const PassOptions quiet = {.verify_each = stages->passes.verify_each,
                               .reasons = stages->passes.reasons,
                               .strict = stages->passes.strict};
    const ArchChoice arch = {.target =
                                 with_features(session->arena, started->arch->target, features)};
    const DiagMute mute = diag_mute(session->diags);
    Kernel *kernel = lower_copy(started->typed, &arch, started->multiples, &quiet);
    Image *image = started->image, other;
    diag_unmute(session->diags, mute);
    if (!kernel) return true;
    vec_push(session->arena, &stages->build->kernels, kernel);
    if (!image_start(stages->codegen, kernel, &arch, &other) ||
        !image_finish(stages->codegen, &other))
        return false;
    if (spills_of(&other) < spills_of(image) || (is_serialised(image) && !spills_of(&other)))
        *image = other;
    return true;
}

/* What leaves too few registers for the rest is left out, one after the other: products as one
 * straight line, reads long before their use, blocks of two, a single warp of producers, for a
 * warpgroup that gives its registers away, reads in front of barriers, sums of two iterations,
 * products in flight, producers, what is loaded ahead, and at last wgmma, as mma.sync takes its
 * operands and sums in smaller pieces. A few registers that spill cost less than producers gain.
 * Numbers that are kept for later uses are what costs least, so that they are left out alone, and
 * behind most of the others once more. */
static bool finish_image(Stages *stages, const StartedImage *started)
{
    static const struct {
        unsigned feature;
        int spills;   /* bytes of a thread that it is worth */
        int most;     /* bytes from which on it is no help; 0: there is no such limit */
        bool is_back; /* where that is not enough */
        int least;    /* bytes below which it is no help: products that wait for each other alone */
    } LEFT_OUT[] = {{MAY_UNROLL, 0, 0, false, 0},
                    {MAY_SHARE, 0, COST_SPILLS_OF_MEMORY, true, 0},
                    {MAY_READ_EARLY, 0, COST_SPILLS_OF_MEMORY, false, 0},
                    {MAY_MERGE, 0, 0, false, 0},
                    {MAY_ADD_WARP, 0, 0, false, 1},
                    {MAY_READ_FIRST, 0, COST_SPILLS_OF_MEMORY, false, 0},
                    {MAY_OVERLAP, 0, 0, false, 0},
                    {MAY_FLY, COST_PLAN_SPILLS, 0, false, 0},
                    {MAY_PLAN, COST_PLAN_SPILLS, 0, false, 0},
                    {MAY_HOLD, 0, COST_SPILLS_OF_MEMORY, false, 0},
                    {MAY_SHARE, 0, COST_SPILLS_OF_MEMORY, true, 0},
                    {HAS_WGMMA, 0, 0, false, 0}};
    const Image *image = started->image;
    unsigned features = started->arch->target->features;
    if (!image_finish(stages->codegen, started->image)) return false;
    for (size_t i = 0; i < sizeof LEFT_OUT / sizeof *LEFT_OUT; i++) {
        const unsigned feature = LEFT_OUT[i].feature;
        const int most = LEFT_OUT[i].most, spills = spills_of(image);
        if (!(started->uses & feature) || spills < LEFT_OUT[i].least || (most && spills >= most))
            continue;
        if (!is_serialised(image) && spills <= LEFT_OUT[i].spills) return true;
        features &= ~feature;
        if (!try_with(stages, started, features)) return false;
        if (LEFT_OUT[i].is_back) features |= feature;
    }
    return true;
}

bool finish_images(Stages *stages, size_t running)
{
    uint64_t start = os_now_ns();
    bool fine = true;
    for (; stages->started.count - stages->finished > running; stages->finished++)
        fine &= finish_image(stages, &stages->started.data[stages->finished]);
    times_add(stages->session->times, "waiting for ptxas", start);
    return fine;
}

static bool start_image(Stages *stages, Kernel *kernel, StartedImage started)
{
    if (!finish_images(stages, stages->jobs - 1)) return false;
    uint64_t start = os_now_ns();
    bool fine = image_start(stages->codegen, kernel, started.arch, started.image);
    started.image->arrays_of = started.typed;
    times_add(stages->session->times, "LLVM", start);
    started.uses = kernel->uses | (region_has(kernel->host, OP_wgmma) ? HAS_WGMMA : 0);
    /* ptxas takes too long for such an image to be asked again for the sake of a few numbers */
    if (started.image->asked_once)
        started.uses &= ~(unsigned)(MAY_READ_EARLY | MAY_READ_FIRST | MAY_SHARE);
    vec_push(stages->session->arena, &stages->started, started);
    return fine;
}

/* ---- variants ---- */

typedef struct Lowered { /* one an architecture; NULL: a configuration that it has no room for */
    Kernel **kernels;
    const char **texts;
} Lowered;

/* Lowers for all architectures under the same assumptions. A configuration may fail on some of
 * them. False: reported. */
static bool lower_all(Stages *stages, const Kernel *typed, const int64_t *multiples, Lowered *out)
{
    Arena *arena = stages->session->arena;
    const ArchList *archs = stages->archs;
    bool any = false;
    out->kernels = arena_new_array(arena, Kernel *, archs->count);
    out->texts = arena_new_array(arena, const char *, archs->count);
    for (size_t i = 0; i < archs->count; i++) {
        out->kernels[i] = lower_copy(typed, &archs->items[i], multiples, &stages->passes);
        out->texts[i] = "";
        if (!out->kernels[i] && !typed->configuration) return false;
        if (!out->kernels[i]) continue;
        any = true;
        vec_push(arena, &stages->build->kernels, out->kernels[i]);
        out->texts[i] = code_text(arena, out->kernels[i]);
    }
    return any;
}

static bool same_code(const Lowered *a, const Lowered *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0) return false;
    return true;
}

typedef struct Accesses { /* of global memory, that stand in a thread's program */
    int all, by_tma;
} Accesses;

static void count_access(Op *op, void *context)
{
    Accesses *accesses = context;
    bool is_global = op_has(op, TMA);
    for (int i = 0; i < op->operand_count; i++) {
        const Type *type = op->operands[i]->type;
        is_global |= type->kind == TYPE_POINTER && type->space == SPACE_GLOBAL;
    }
    accesses->all += is_global;
    accesses->by_tma += op_has(op, TMA);
}

static Accesses accesses_of(const Kernel *kernel)
{
    Accesses accesses = {0};
    region_visit_with(kernel->host, READS | WRITES, count_access, &accesses);
    return accesses;
}

/* As wide as those of the aligned code: a few more of them, of what is small. `general`: how many
 * there are where nothing is assumed. */
static bool is_as_wide(const Kernel *kernel, const Kernel *aligned, int general)
{
    const Accesses accesses = accesses_of(kernel), least = accesses_of(aligned);
    const int of_all = least.all / 4, of_saved = (general - least.all) / 8;
    return accesses.all <= least.all + (of_saved > of_all ? of_saved : of_all) &&
           accesses.by_tma >= least.by_tma;
}

/* What assumptions have to give on all architectures. */
typedef enum Wanted { SAME_CODE, AS_WIDE, ANY_CODE } Wanted;

/* What they have to give it of. */
typedef struct Like {
    const Lowered *aligned, *general; /* general: what nothing gives, for AS_WIDE; or NULL */
    Wanted wanted;
} Like;

static bool is_wanted(Arena *arena, Kernel *kernel, const Like *like, size_t arch)
{
    const Kernel *general = like->general ? like->general->kernels[arch] : NULL;
    switch (like->wanted) {
    case ANY_CODE: return true;
    case AS_WIDE:
        return is_as_wide(kernel, like->aligned->kernels[arch],
                          general ? accesses_of(general).all : 0);
    case SAME_CODE: return strcmp(code_text(arena, kernel), like->aligned->texts[arch]) == 0;
    }
    return false;
}

/* Whether they give the aligned code, or accesses as wide, or any where that has some: a trial,
 * which is not shown by --print-after and leaves nothing behind. */
static bool gives_code(Stages *stages, const Kernel *typed, const int64_t *multiples,
                       const Like *like)
{
    const PassOptions quiet = {.verify_each = stages->passes.verify_each,
                               .reasons = stages->passes.reasons,
                               .strict = stages->passes.strict};
    Arena *arena = stages->session->arena;
    bool same = true;
    for (size_t i = 0; same && i < stages->archs->count; i++) {
        if (!like->aligned->kernels[i]) continue;
        Kernel *kernel = lower_copy(typed, &stages->archs->items[i], multiples, &quiet);
        same = kernel && is_wanted(arena, kernel, like, i);
        if (kernel) kernel_free(kernel);
    }
    return same;
}

/* Assumes no more than what the code needs, so that more calls get it: each multiple is lowered to
 * the least that gives what is wanted, which is none, mostly, or nearly all. Trials may be refused.
 */
static void relax_multiples(Stages *stages, const Kernel *typed, const Like *like,
                            int64_t *multiples)
{
    const DiagMute mute = diag_mute(stages->session->diags);
    for (int i = 0; i < typed->parameter_count; i++) {
        int64_t least = multiples[i];
        const bool is_pointer = typed->parameters[i].value->type->kind == TYPE_POINTER;
        if (least == 1 || (is_pointer && like->wanted == AS_WIDE)) continue;
        multiples[i] = 1;
        if (gives_code(stages, typed, multiples, like)) continue;
        /* most calls that come to less than all of it come to none of it: no width is lost to it */
        const Like strict = {.aligned = like->aligned, .wanted = like->wanted};
        for (multiples[i] = least / 2; multiples[i] > 1; multiples[i] /= 2) {
            if (!gives_code(stages, typed, multiples, &strict)) break;
            least = multiples[i];
        }
        multiples[i] = least;
    }
    diag_unmute(stages->session->diags, mute);
}

static void make_mutants(Stages *stages, const Lowered *lowered)
{
    for (size_t i = 0; stages->wish.mutants && i < stages->archs->count; i++)
        if (lowered->kernels[i])
            mutants_make(lowered->kernels[i], lowered->texts[i], stages->session->arena,
                         stages->wish.mutants);
}

/* `assumed` is what it was lowered with, `multiples` what it says. */
static bool add_variant(Stages *stages, const Kernel *typed, const Lowered *lowered,
                        const int64_t *assumed, const int64_t *multiples, VariantImages *images)
{
    const ArchList *archs = stages->archs;
    *images =
        (VariantImages){.multiples = multiples,
                        .images = arena_new_array(stages->session->arena, Image, archs->count)};
    for (size_t i = 0; i < archs->count; i++) {
        if (!lowered->kernels[i]) continue;
        const StartedImage started = {.image = &images->images[images->image_count++],
                                      .typed = typed,
                                      .arch = &archs->items[i],
                                      .multiples = assumed};
        if (!start_image(stages, lowered->kernels[i], started)) return false;
    }
    return true;
}

static bool is_multicast(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_mbarrier_arrive_on_copies && op->operand_count > 2;
}

/* What only TMA can do asks for alignment: there is no variant without. */
static bool is_for_tensor_unit(const Kernel *typed)
{
    return region_find(typed->host, is_multicast, NULL) != NULL;
}

static size_t size_of(const Lowered *lowered, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++) size += strlen(lowered->texts[i]);
    return size;
}

static bool assumes_integers(const Kernel *typed, const int64_t *multiples)
{
    for (int i = 0; i < typed->parameter_count; i++)
        if (typed->parameters[i].value->type->kind == TYPE_SCALAR && multiples[i] > 1) return true;
    return false;
}

/* Lengths that are no multiple of anything are common, addresses that are none are rare. Where the
 * accesses of the aligned variant are as wide without some of what it assumes of integers, a third
 * one assumes only the rest; between the two, as the first that a call fits is taken. */
static bool start_between(Stages *stages, const Kernel *typed, const Lowered *general,
                          const Lowered *aligned, const int64_t *multiples,
                          SpecialisationImages *images)
{
    const size_t count = stages->archs->count;
    Arena *arena = stages->session->arena;
    VariantImages *out = images->variants;
    Lowered between;
    bool gains = false;
    for (size_t i = 0; i < count; i++)
        gains |= general->kernels[i] && aligned->kernels[i] &&
                 !is_as_wide(general->kernels[i], aligned->kernels[i], 0);
    if (!gains || !assumes_integers(typed, multiples)) return true;
    int64_t *fewer = variant_multiples(arena, typed);
    for (int i = 0; i < typed->parameter_count; i++)
        if (typed->parameters[i].value->type->kind == TYPE_SCALAR) fewer[i] = multiples[i];
    const Like as_wide = {.aligned = aligned, .general = general, .wanted = AS_WIDE};
    relax_multiples(stages, typed, &as_wide, fewer);
    bool assumes_less = false;
    for (int i = 0; i < typed->parameter_count; i++) assumes_less |= fewer[i] < multiples[i];
    if (!assumes_less) return true;
    if (!lower_all(stages, typed, fewer, &between)) return false;
    out[2] = out[1];
    images->variant_count = 3;
    return add_variant(stages, typed, &between, fewer, fewer, &out[1]);
}

/* The larger one first, as ptxas takes longer for it. What the aligned one has to assume is found
 * out while ptxas is at work, where there are jobs for all images: no image is finished then, and
 * made once more if it spills, before that is known. */
static bool start_both(Stages *stages, const Kernel *typed, const Lowered *general,
                       const Lowered *aligned, int64_t *multiples, SpecialisationImages *images)
{
    VariantImages *out = images->variants;
    const size_t count = stages->archs->count;
    const int64_t *of_elements = element_multiples(stages->session->arena, typed);
    const bool late = stages->jobs >= 2 * count,
               aligned_first = size_of(aligned, count) > size_of(general, count);
    const Like same = {.aligned = aligned, .wanted = SAME_CODE};
    bool fine = true;
    if (!late) relax_multiples(stages, typed, &same, multiples);
    for (int i = 0; i < 2 && fine; i++)
        fine = (i == 0) == aligned_first
                   ? add_variant(stages, typed, aligned, multiples, multiples, &out[0])
                   : add_variant(stages, typed, general, NULL, of_elements, &out[1]);
    if (late) relax_multiples(stages, typed, &same, multiples);
    return fine && start_between(stages, typed, general, aligned, multiples, images);
}

/* Both at least. */
static int64_t *joined_multiples(Arena *arena, const Kernel *typed, const int64_t *a,
                                 const int64_t *b)
{
    int64_t *joined = arena_new_array(arena, int64_t, typed->parameter_count + 1);
    for (int i = 0; i < typed->parameter_count; i++) joined[i] = b && b[i] > a[i] ? b[i] : a[i];
    return joined;
}

/* The aligned one, and one that assumes what it needs to be there at all, if that is less. */
static bool start_aligned(Stages *stages, const Kernel *typed, int64_t *multiples,
                          SpecialisationImages *out)
{
    Arena *arena = stages->session->arena;
    Lowered aligned, least;
    int64_t *needed = joined_multiples(arena, typed, multiples, NULL);
    if (!lower_all(stages, typed, multiples, &aligned)) return false;
    const Like any = {.aligned = &aligned, .wanted = ANY_CODE};
    relax_multiples(stages, typed, &any, needed);
    if (!lower_all(stages, typed, needed, &least)) return false;
    const bool both =
        !stages->wish.general_only && !same_code(&least, &aligned, stages->archs->count);
    if (both) {
        make_mutants(stages, &aligned);
        const Like same = {.aligned = &aligned, .wanted = SAME_CODE};
        relax_multiples(stages, typed, &same, multiples);
        if (!add_variant(stages, typed, &aligned, multiples, multiples, &out->variants[0]))
            return false;
    }
    make_mutants(stages, &least);
    out->variant_count = both ? 2 : 1;
    const int64_t *says = joined_multiples(arena, typed, needed, element_multiples(arena, typed));
    return add_variant(stages, typed, &least, needed, says, &out->variants[both]);
}

/* Up to three variants: aligned first where alignment changes the code on some architecture, at
 * last the one that assumes no more than aligned elements. */
static bool start_variants(Stages *stages, const Kernel *typed, SpecialisationImages *out)
{
    Arena *arena = stages->session->arena;
    int64_t *multiples = variant_multiples(arena, typed);
    Lowered general, aligned;
    out->variants = arena_new_array(arena, VariantImages, 3);
    if (multiples && is_for_tensor_unit(typed)) return start_aligned(stages, typed, multiples, out);
    if (!lower_all(stages, typed, NULL, &general)) return false;
    bool both = multiples && !stages->wish.general_only;
    if (both && !lower_all(stages, typed, multiples, &aligned)) return false;
    both = both && !same_code(&general, &aligned, stages->archs->count);
    if (both) make_mutants(stages, &aligned);
    make_mutants(stages, &general);
    out->variant_count = both ? 2 : 1;
    if (both) return start_both(stages, typed, &general, &aligned, multiples, out);
    return add_variant(stages, typed, &general, NULL, element_multiples(arena, typed),
                       out->variants);
}

bool unit_start(Stages *stages, Unit *unit)
{
    Diags *diags = stages->session->diags;
    DiagMute mute = {0};
    if (unit->typed->configuration && !finish_images(stages, 0)) return false;
    if (unit->typed->configuration) mute = diag_mute(diags);
    bool fine = start_variants(stages, unit->typed, unit->images);
    if (!unit->typed->configuration) return fine;
    /* Whether it can be built is known when all tools have answered. */
    fine = finish_images(stages, 0) && fine;
    if (!fine) {
        unit->fault = diag_muted_error(diags, &unit->fault_at);
        unit->images->variant_count = 0;
    }
    diag_unmute(diags, mute);
    return true;
}

Kernel *host_kernel(Stages *stages, const Kernel *typed)
{
    const PassOptions passes = {.stop_after = "buffer_extents"};
    Kernel *kernel = kernel_clone(typed);
    vec_push(stages->session->arena, &stages->build->kernels, kernel);
    return passes_run(kernel, stages->archs->items[0].target, &passes) ? kernel : NULL;
}

void export_each_image(const ExportImages *export, ImageFunction *visit, void *context)
{
    for (int i = 0; i < export->specialisation_count; i++)
        for (int j = 0; j < export->specialisations[i].variant_count; j++)
            for (int k = 0; k < export->specialisations[i].variants[j].image_count; k++)
                visit(&export->specialisations[i].variants[j].images[k], context);
}

/* ---- as bytes ---- */

void put_number(Buf *out, uint64_t number)
{
    buf_bytes(out, &number, sizeof number);
}

void put_text(Buf *out, const char *text)
{
    buf_bytes(out, text, strlen(text) + 1);
}

/* What no use was made of. */
static unsigned features_left_out(const Target *target)
{
    return target_find(target->name)->features & ~target->features;
}

static void put_image(const Image *image, bool with_bytes, Buf *out)
{
    put_text(out, image->target->name);
    put_number(out, features_left_out(image->target));
    put_number(out, image->kind);
    put_number(out, image->size);
    put_number(out, (uint64_t)image->entry_count);
    for (int i = 0; i < image->entry_count; i++) {
        const ImageEntry *entry = &image->entries[i];
        put_text(out, entry->name);
        put_number(out, (uint64_t)entry->warps);
        put_number(out, (uint64_t)entry->persistent);
        put_number(out, (uint64_t)entry->cooperative);
        put_number(out, (uint64_t)entry->dependent);
        for (int d = 0; d < 3; d++) put_number(out, (uint64_t)entry->cluster[d]);
        for (int d = 0; d < 2; d++) put_number(out, (uint64_t)entry->merged[d]);
        put_number(out, (uint64_t)entry->shared_bytes);
        put_number(out, (uint64_t)entry->registers);
        put_number(out, (uint64_t)entry->spill_bytes);
        put_number(out, (uint64_t)entry->serialised);
    }
    if (with_bytes) put_text(out, image->maps ? image->maps : "");
    if (with_bytes && image->bytes) buf_bytes(out, image->bytes, image->size);
}

void put_unit(const SpecialisationImages *images, bool with_bytes, Buf *out)
{
    put_number(out, (uint64_t)images->variant_count);
    for (int i = 0; i < images->variant_count; i++) {
        const VariantImages *variant = &images->variants[i];
        const int count = kernel_argument_count(images->kernel);
        put_number(out, variant->multiples ? (uint64_t)count : 0);
        for (int j = 0; variant->multiples && j < count; j++)
            put_number(out, (uint64_t)variant->multiples[j]);
        put_number(out, (uint64_t)variant->image_count);
        for (int j = 0; j < variant->image_count; j++)
            put_image(&variant->images[j], with_bytes, out);
    }
}

const char *taker_bytes(Taker *taker, size_t count)
{
    const char *bytes = taker->at;
    taker->failed |= count > taker->left;
    if (taker->failed) return NULL;
    taker->at += count;
    taker->left -= count;
    return bytes;
}

uint64_t taker_number(Taker *taker)
{
    uint64_t number = 0;
    const char *bytes = taker_bytes(taker, sizeof number);
    if (bytes) memcpy(&number, bytes, sizeof number);
    return number;
}

const char *taker_text(Taker *taker)
{
    return taker->failed ? NULL : taker_bytes(taker, strnlen(taker->at, taker->left) + 1);
}

/* How many of something follow: each is a byte at least. */
static uint64_t take_count(Taker *taker)
{
    const uint64_t count = taker_number(taker);
    taker->failed |= count > taker->left;
    return taker->failed ? 0 : count;
}

static void take_entry(Taker *taker, ImageEntry *out)
{
    const char *name = taker_text(taker);
    out->name = name ? intern_text(taker->session->names, name) : NULL;
    out->warps = (int)taker_number(taker);
    out->persistent = (int)taker_number(taker);
    out->cooperative = (int)taker_number(taker);
    out->dependent = (int)taker_number(taker);
    for (int d = 0; d < 3; d++) out->cluster[d] = (int)taker_number(taker);
    for (int d = 0; d < 2; d++) out->merged[d] = (int)taker_number(taker);
    out->shared_bytes = (int)taker_number(taker);
    out->registers = (int)taker_number(taker);
    out->spill_bytes = (int)taker_number(taker);
    out->serialised = (int)taker_number(taker);
}

/* One of those asked for, by name, without the features that no use was made of. */
static const Target *take_target(Taker *taker, const ArchList *archs)
{
    const char *name = taker_text(taker);
    const unsigned left_out = (unsigned)taker_number(taker);
    for (size_t i = 0; name && i < archs->count; i++) {
        const Target *target = archs->items[i].target;
        if (strcmp(target->name, name) == 0)
            return with_features(taker->session->arena, target, target->features & ~left_out);
    }
    taker->failed = true;
    return NULL;
}

static void take_image(Taker *taker, const ArchList *archs, bool with_bytes, Image *out)
{
    *out = (Image){.target = take_target(taker, archs)};
    out->kind = (ImageKind)taker_number(taker);
    out->size = taker_number(taker);
    const uint64_t count = take_count(taker);
    out->entries = arena_new_array(taker->session->arena, ImageEntry, count + 1);
    out->entry_count = (int)count;
    for (uint64_t i = 0; i < count; i++) take_entry(taker, &out->entries[i]);
    const char *maps = with_bytes ? taker_text(taker) : NULL;
    out->maps = maps && *maps ? maps : NULL;
    if (with_bytes && out->kind != IMAGE_EMULATOR) out->bytes = taker_bytes(taker, out->size);
    if (out->kind == IMAGE_PTX) out->ptx = out->bytes;
}

static void take_variant(Taker *taker, const ArchList *archs, bool with_bytes, int arguments,
                         VariantImages *out)
{
    Arena *arena = taker->session->arena;
    const uint64_t multiples = take_count(taker);
    *out = (VariantImages){0};
    if (multiples && multiples != (uint64_t)arguments) taker->failed = true;
    if (taker->failed) return;
    int64_t *numbers = arena_new_array(arena, int64_t, multiples + 1);
    for (uint64_t i = 0; i < multiples; i++) numbers[i] = (int64_t)taker_number(taker);
    if (multiples) out->multiples = numbers;
    const uint64_t images = take_count(taker);
    out->images = arena_new_array(arena, Image, images + 1);
    for (uint64_t i = 0; i < images && !taker->failed; i++)
        take_image(taker, archs, with_bytes, &out->images[out->image_count++]);
}

void take_unit(Taker *taker, const ArchList *archs, bool with_bytes, SpecialisationImages *out)
{
    const uint64_t count = take_count(taker);
    out->variants = arena_new_array(taker->session->arena, VariantImages, count + 1);
    out->variant_count = 0;
    for (uint64_t i = 0; i < count && !taker->failed; i++)
        take_variant(taker, archs, with_bytes, kernel_argument_count(out->kernel),
                     &out->variants[out->variant_count++]);
}
