/* emulator.c: the program of a thread as a CPU coroutine (runtime/emulator/abi.h). The ramp makes
 * the frame; every cooperative op stores what it wants into the thread's record, notes in the frame
 * where the code goes on, and returns. (LLVM has coroutines of its own: to split one of some ten
 * thousand blocks takes it minutes, and what lives across a suspension is known here.) */
#include "codegen/emulator.h"
#include "ir/group.h"
#include "ir/op_vec.h"
#include "codegen/quirks.h"
#include "target/cost.h"

#include <string.h>

/* What a frame begins with; slots follow. */
enum {
    FRAME_RESUME = 0, /* the function; NULL once the thread has ended */
    FRAME_THREAD = 8,
    FRAME_PARAMETERS = 16,
    FRAME_STATE = 24, /* an i32 */
    FRAME_SLOTS = 64
};

/* ---- the thread's record ---- */

LLVMValueRef emu_field(Gen *gen, size_t offset)
{
    return gen_offset(gen, gen->emulator->thread, (int64_t)offset);
}

LLVMValueRef emu_load(Gen *gen, size_t offset, LLVMTypeRef type)
{
    return LLVMBuildLoad2(gen->builder, type, emu_field(gen, offset), "");
}

void emu_store(Gen *gen, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(gen->builder, value, emu_field(gen, offset));
}

void emu_in(Gen *gen, int index, LLVMValueRef word)
{
    CHECK(index < TILE_EMU_IN_WORDS);
    emu_store(gen, offsetof(tile_emu_thread, in) + 4 * (size_t)index, word);
}

LLVMValueRef emu_out(Gen *gen, int index)
{
    CHECK(index < TILE_EMU_OUT_WORDS);
    return emu_load(gen, offsetof(tile_emu_thread, out) + 4 * (size_t)index, gen->types.i32);
}

/* 0: it is not known. */
static int tile_at(const Value *pointer)
{
    const Op *op = pointer->op;
    while (op != NULL && op_has(op, ALIAS)) op = op_aliased(op)->op;
    return op != NULL && op->code == OP_shared_base ? (int)op_int(op, ATTR_tile, 0) : 0;
}

/* The shared tiles that the op accesses; none if one of them is not known. */
static void find_tiles(const Op *op, int tiles[SITE_TILES])
{
    int count = 0;
    for (int i = 0; i < op->operand_count; i++) {
        const Type *type = op->operands[i]->type;
        if (type->kind != TYPE_POINTER ||
            (type->space != SPACE_SHARED && type->space != SPACE_CLUSTER))
            continue;
        const int tile = tile_at(op->operands[i]);
        if (tile == 0 || count == SITE_TILES) {
            memset(tiles, 0, SITE_TILES * sizeof *tiles);
            return;
        }
        tiles[count++] = tile;
    }
}

/* The parameter whose memory the op accesses. */
static int find_pointer(const Op *op)
{
    const Kernel *kernel = op->parent->kernel;
    for (int i = 0; i < op->operand_count; i++) {
        const Value *value = op->operands[i];
        if (value->type->kind != TYPE_POINTER || value->type->space != SPACE_GLOBAL) continue;
        while (value->op != NULL && op_has(value->op, ALIAS)) value = op_aliased(value->op);
        return kernel_parameter_of(kernel, value) != NULL ? value->index : -1;
    }
    return -1;
}

static int64_t site_add(Arena *arena, Sites *sites, const Site *site, const void *key)
{
    const size_t before = (size_t)(uintptr_t)map_get(&sites->last, key);
    vec_push(arena, &sites->items, *site);
    vec_push(arena, &sites->before, before);
    map_set(arena, &sites->last, key, (void *)(uintptr_t)sites->items.count);
    return (int64_t)sites->items.count - 1;
}

int64_t emu_site(Gen *gen, const Op *op)
{
    Sites *sites = gen->emulator->sites;
    Site site = {.span = op->span, .pointer = find_pointer(op)};
    const void *key = (const void *)((uintptr_t)op->span.begin + 1);
    size_t first = sites->items.count; /* of this place */
    find_tiles(op, site.tiles);
    for (size_t i = (size_t)(uintptr_t)map_get(&sites->last, key); i > 0;
         i = sites->before.data[i - 1]) {
        const Site *known = &sites->items.data[i - 1];
        const Span *span = &known->span;
        if (span->source != op->span.source || span->end != op->span.end) continue;
        if (memcmp(known->tiles, site.tiles, sizeof site.tiles) == 0 &&
            known->pointer == site.pointer)
            return (int64_t)i - 1;
        first = i - 1;
    }
    site.repeats = (int)(sites->items.count - first);
    return site_add(gen->codegen->session->arena, sites, &site, key);
}

/* ---- suspensions ---- */

static void frame_store(Gen *gen, int64_t offset, LLVMValueRef value)
{
    LLVMBuildStore(gen->builder, value, gen_offset(gen, gen->frame, offset));
}

static LLVMValueRef frame_load(Gen *gen, int64_t offset, LLVMTypeRef type)
{
    return LLVMBuildLoad2(gen->builder, type, gen_offset(gen, gen->frame, offset), "");
}

/* The code from here on is what the thread's next resumption runs. */
static void resume_here(Gen *gen)
{
    EmulatorFunction *emulator = gen->emulator;
    LLVMBasicBlockRef resumed = gen_block(gen, "resumed");
    LLVMAddCase(emulator->resumption, gen_i32(gen, emulator->states++), resumed);
    gen_at(gen, resumed);
    gen_new_segment(gen);
}

/* Ends the segment. */
static void suspend(Gen *gen)
{
    frame_store(gen, FRAME_STATE, gen_i32(gen, gen->emulator->states));
    LLVMBuildBr(gen->builder, gen->emulator->suspended);
    resume_here(gen);
}

/* Only the switch of the entry says that a resumption might begin here. */
void emulator_cut(Gen *gen)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder);
    resume_here(gen);
    LLVMBasicBlockRef after = LLVMGetInsertBlock(gen->builder);
    gen_at(gen, before);
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
}

static void cooperate_at(Gen *gen, tile_emu_op op, LLVMValueRef mode)
{
    emu_store(gen, offsetof(tile_emu_thread, op), gen_i32(gen, op));
    emu_store(gen, offsetof(tile_emu_thread, mode), mode);
    emu_store(gen, offsetof(tile_emu_thread, site), gen_i32(gen, emu_site(gen, gen->op)));
    suspend(gen);
}

void emu_cooperate(Gen *gen, tile_emu_op op, int mode)
{
    cooperate_at(gen, op, gen_i32(gen, mode));
}

void emulator_give_way(Gen *gen)
{
    emu_cooperate(gen, TILE_EMU_NONE, 0);
}

/* Others have their turns after some rounds, as most loops do not wait. */
void emulator_go_round(Gen *gen, LLVMBasicBlockRef begin)
{
    enum { ROUNDS = 8 };
    LLVMBasicBlockRef due = gen_block(gen, "due");
    LLVMValueRef rounds = emu_load(gen, offsetof(tile_emu_thread, rounds), gen->types.i32);
    rounds = LLVMBuildAdd(gen->builder, rounds, gen_i32(gen, 1), "");
    emu_store(gen, offsetof(tile_emu_thread, rounds), rounds);
    rounds = LLVMBuildAnd(gen->builder, rounds, gen_i32(gen, ROUNDS - 1), "");
    LLVMBuildCondBr(gen->builder,
                    LLVMBuildICmp(gen->builder, LLVMIntEQ, rounds, gen_i32(gen, 0), ""), due,
                    begin);
    gen_at(gen, due);
    emulator_give_way(gen);
    LLVMBuildBr(gen->builder, begin);
}

/* ---- threads together ---- */

void emulator_barrier(Gen *gen, LLVMValueRef index, int count)
{
    emu_in(gen, 0, gen_i32(gen, count));
    cooperate_at(gen, TILE_EMU_BARRIER, index);
}

void emulator_warp_sync(Gen *gen)
{
    emu_cooperate(gen, TILE_EMU_WARP_SYNC, 0);
}

LLVMValueRef emulator_shuffle(Gen *gen, const char *mode, LLVMValueRef word, LLVMValueRef lane)
{
    static const char *const modes[] = {[TILE_EMU_SHUFFLE_IDX] = "idx",
                                        [TILE_EMU_SHUFFLE_UP] = "up",
                                        [TILE_EMU_SHUFFLE_DOWN] = "down",
                                        [TILE_EMU_SHUFFLE_XOR] = "xor"};
    for (int i = 0; i < 4; i++)
        if (strcmp(modes[i], mode) == 0) {
            emu_in(gen, 0, word);
            emu_in(gen, 1, lane);
            emu_in(gen, 2, gen_i32(gen, i));
            emu_cooperate(gen, TILE_EMU_SHUFFLE, i);
            return emu_out(gen, 0);
        }
    ICE("shuffle: no mode '%s'", mode);
}

LLVMValueRef emulator_redux(Gen *gen, const char *mode, bool is_signed, LLVMValueRef word)
{
    static const char *const modes[] = {
        [TILE_EMU_REDUX_ADD] = "add", [TILE_EMU_REDUX_AND] = "and", [TILE_EMU_REDUX_OR] = "or",
        [TILE_EMU_REDUX_XOR] = "xor", [TILE_EMU_REDUX_MIN] = "min", [TILE_EMU_REDUX_MAX] = "max"};
    int found = 0;
    while (strcmp(modes[found], mode) != 0) found++;
    if (found == TILE_EMU_REDUX_MIN && !is_signed) found = TILE_EMU_REDUX_UMIN;
    if (found == TILE_EMU_REDUX_MAX && !is_signed) found = TILE_EMU_REDUX_UMAX;
    emu_in(gen, 0, word);
    emu_cooperate(gen, TILE_EMU_REDUX, found);
    return emu_out(gen, 0);
}

LLVMValueRef emulator_vote(Gen *gen, LLVMValueRef condition)
{
    emu_in(gen, 0, LLVMBuildZExt(gen->builder, condition, gen->types.i32, ""));
    emu_cooperate(gen, TILE_EMU_VOTE, 0);
    return emu_out(gen, 0);
}

void emulator_cluster_arrive(Gen *gen, const Op *op)
{
    emu_cooperate(gen, TILE_EMU_CLUSTER_ARRIVE,
                  op_int(op, ATTR_relaxed, 0) ? TILE_EMU_ARRIVE_RELAXED
                  : op_int(op, ATTR_made, 0)  ? TILE_EMU_ARRIVE_MADE
                                              : 0);
}

void emulator_cluster_wait(Gen *gen)
{
    emu_cooperate(gen, TILE_EMU_CLUSTER_WAIT, 0);
}

/* The emulator needs no count to know who has come. */
void emulator_grid_sync(Gen *gen, LLVMValueRef count)
{
    (void)count;
    emu_cooperate(gen, TILE_EMU_GRID_SYNC, 0);
}

/* The emulator runs one launch after the other, as what a launch sees could not tell. */
void emulator_launch_wait(Gen *gen, LLVMValueRef next)
{
    (void)gen, (void)next;
}

/* An emulated thread has as many as it takes: what it may have on a GPU is counted. */
void emulator_setmaxnreg(Gen *gen, const Op *op)
{
    const bool more = strcmp(op_attr(op, ATTR_mode)->text, "inc") == 0;
    emu_in(gen, 0, gen_i32(gen, op_int(op, ATTR_count, 0)));
    emu_cooperate(gen, TILE_EMU_REGISTERS, more ? TILE_EMU_REGISTERS_INC : TILE_EMU_REGISTERS_DEC);
}

/* Of a thread as its block begins: as many as the launch leaves it, but no more than it is to have
 * at most, as ptxas has it; 0: nothing depends on it. */
static int first_registers(const Gen *gen, const Op *launch)
{
    const OpVec shares = region_list_those(gen->arena, launch->regions[0], OP_setmaxnreg);
    const int left = cost_registers_per_thread(gen->target, launch_warps(launch),
                                               (int)op_int(launch, ATTR_min_blocks, 1));
    int64_t most = 0;
    vec_each (share, &shares) most = larger_of(most, op_int(*share, ATTR_count, 0));
    return (int)lesser_of(most, cost_register_units(gen->target, left));
}

/* ---- where the thread is ---- */

LLVMValueRef emulator_shared(Gen *gen, int64_t offset)
{
    LLVMValueRef base = emu_load(gen, offsetof(tile_emu_thread, shared), gen->types.pointer);
    return gen_offset(gen, base, offset);
}

LLVMValueRef emulator_index(Gen *gen, OpCode code, int dim)
{
    CHECK(dim >= 0 && dim < 3);
    size_t offset = code == OP_block_idx  ? offsetof(tile_emu_thread, block)
                    : code == OP_grid_dim ? offsetof(tile_emu_thread, grid)
                                          : offsetof(tile_emu_thread, index);
    return emu_load(gen, offset + 4 * (size_t)dim, gen->types.i32);
}

LLVMValueRef emu_function(Gen *gen, const char *name, LLVMTypeRef result, int count,
                          LLVMTypeRef *types)
{
    LLVMValueRef function = LLVMGetNamedFunction(gen->module, name);
    if (function != NULL) return function;
    function =
        LLVMAddFunction(gen->module, name, LLVMFunctionType(result, types, (unsigned)count, false));
    function_set_flag(function, "nounwind");
    return function;
}

/* A function of the emulator's runtime is called with the thread, then the arguments. */
LLVMValueRef emu_call(Gen *gen, const char *name, LLVMTypeRef result, int count,
                      const LLVMValueRef *arguments)
{
    enum { MOST = 8 };
    LLVMTypeRef types[MOST];
    LLVMValueRef all[MOST] = {gen->emulator->thread};
    CHECK(count < MOST);
    for (int i = 0; i < count; i++) all[1 + i] = arguments[i];
    for (int i = 0; i <= count; i++) types[i] = LLVMTypeOf(all[i]);
    LLVMValueRef function = emu_function(gen, name, result, count + 1, types);
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, all,
                          (unsigned)count + 1, "");
}

void emu_attributes(LLVMValueRef function)
{
    const char *triple = LLVMGetTarget(LLVMGetGlobalParent(function));
    if (strncmp(triple, "x86_64", 6) ==
        0) /* F16C and FMA: conversions and llvm.fma need no library */
        function_set_text(function, "target-cpu", "x86-64-v3");
    function_set_text(function, "tilec-done", "");
    function_set_flag(function, "nounwind");
}

const Machine emulator_machine = {
    .emit = gen_op,
    .name = "emulator",
    .has_f16 = true,
    .has_fma = true,
    .cut = emulator_cut,
    .index = emulator_index,
    .shared = emulator_shared,
    .load = emulator_load,
    .store = emulator_store,
    .store_bits = emulator_store_bits,
    .atomic = emulator_atomic,
    .red = emulator_red,
    .print = emulator_print,
    .copy_async = emulator_copy_async,
    .copy_commit = emulator_copy_commit,
    .copy_arrive = emulator_copy_arrive,
    .mbarrier_init = emulator_mbarrier_init,
    .mbarrier_arrive = emulator_mbarrier_arrive,
    .mbarrier_expect = emulator_mbarrier_expect,
    .mbarrier_complete = emulator_mbarrier_complete,
    .mbarrier_phase = emulator_mbarrier_phase,
    .mbarrier_wait = emulator_mbarrier_wait,
    .tma_load = emulator_tma_load,
    .tma_store = emulator_tma_store,
    .tma_store_commit = emulator_tma_store_commit,
    .tma_store_wait = emulator_tma_store_wait,
    .copy_wait = emulator_copy_wait,
    .cluster_rank = emulator_cluster_rank,
    .cluster_address = emulator_cluster_address,
    .cluster_arrive = emulator_cluster_arrive,
    .cluster_wait = emulator_cluster_wait,
    .grid_sync = emulator_grid_sync,
    .launch_wait = emulator_launch_wait,
    .give_way = emulator_give_way,
    .go_round = emulator_go_round,
    .barrier = emulator_barrier,
    .warp_sync = emulator_warp_sync,
    .shuffle = emulator_shuffle,
    .redux = emulator_redux,
    .setmaxnreg = emulator_setmaxnreg,
    .elect = gen_is_first_lane,
    .vote = emulator_vote,
    .texture = emulator_texture,
    .check_index = emulator_check_index,
    .fault_injected = emulator_fault_injected,
    .stop = emulator_stop,
    .ldmatrix = emulator_ldmatrix,
    .stmatrix = emulator_stmatrix,
    .mma = emulator_mma,
    .wgmma = emulator_wgmma,
    .dot_commit = emulator_dot_commit,
    .wgmma_wait = emulator_wgmma_wait,
    .wgmma_in_flight = emulator_wgmma_in_flight,
    .fence_async = emulator_fence_async,
    .approximate = emulator_approximate,
};

/* ---- the coroutine ---- */

/* Tells the emulator what memory the launch was given. */
static void note_argument(Gen *gen, LLVMValueRef pointer)
{
    LLVMTypeRef types[2] = {gen->types.pointer, gen->types.pointer};
    LLVMValueRef note =
        emu_function(gen, "tile_emu_argument", LLVMVoidTypeInContext(gen->context), 2, types);
    LLVMValueRef arguments[2] = {gen->emulator->thread, pointer};
    LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(note), note, arguments, 2, "");
}

/* The parameters that the launch gives, in order: NULL ends them. */
static const Parameter *next_given(const Gen *gen, int *index)
{
    const Kernel *kernel = gen->kernel;
    while (*index < kernel->parameter_count && kernel->parameters[*index].is_key) ++*index;
    return *index < kernel->parameter_count ? &kernel->parameters[(*index)++] : NULL;
}

/* Memory for the frame, and what it begins with. */
static void build_ramp(Gen *gen, LLVMValueRef ramp, LLVMValueRef resume)
{
    GenTypes *types = &gen->types;
    gen->function = ramp;
    gen_at(gen, gen_block(gen, "entry"));
    LLVMBasicBlockRef made = gen_block(gen, "made"), done = gen_block(gen, "done");
    LLVMValueRef thread = LLVMGetParam(ramp, 0), parameters = LLVMGetParam(ramp, 1);
    LLVMTypeRef given[2] = {types->pointer, types->i64};
    LLVMValueRef make = emu_function(gen, "tile_emu_frame", types->pointer, 2, given);
    LLVMValueRef arguments[2] = {thread, gen_int(gen, types->i64, (int64_t)gen->frame_bytes)};
    gen->frame = LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(make), make, arguments, 2, "");
    LLVMBuildCondBr(gen->builder, LLVMBuildIsNull(gen->builder, gen->frame, ""), done, made);
    gen_at(gen, made);
    frame_store(gen, FRAME_RESUME, resume);
    frame_store(gen, FRAME_THREAD, thread);
    frame_store(gen, FRAME_PARAMETERS, parameters);
    frame_store(gen, FRAME_STATE, gen_i32(gen, 0));
    gen->emulator->thread = thread;
    const Parameter *parameter;
    for (int i = 0, index = 0; (parameter = next_given(gen, &i)) != NULL; index++) {
        const Type *type = parameter->value->type;
        if (type->kind == TYPE_POINTER && !parameter_is_map(parameter))
            note_argument(gen, gen_argument(gen, type, parameters, index));
    }
    LLVMBuildBr(gen->builder, done);
    gen_at(gen, done);
    LLVMBuildRet(gen->builder, gen->frame);
}

static void define_parameters(Gen *gen)
{
    LLVMValueRef parameters = frame_load(gen, FRAME_PARAMETERS, gen->types.pointer);
    const Kernel *kernel = gen->kernel;
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key)
            gen_define(gen, kernel->parameters[i].value, gen_key(gen, &kernel->parameters[i]));
    const Parameter *parameter;
    for (int i = 0, index = 0; (parameter = next_given(gen, &i)) != NULL; index++)
        gen_define(gen, parameter->value,
                   parameter_is_map(parameter)
                       ? gen_place(gen, parameters, index)
                       : gen_argument(gen, parameter->value->type, parameters, index));
}

/* The thread's whole program, entered where the frame says. */
static void build_resume(Gen *gen, LLVMValueRef resume, const Op *launch)
{
    EmulatorFunction *emulator = gen->emulator;
    GenTypes *types = &gen->types;
    gen->function = resume;
    gen->frame = LLVMGetParam(resume, 0);
    gen->frame_bytes = FRAME_SLOTS;
    gen_at(gen, gen_block(gen, "entry"));
    emulator->suspended = gen_block(gen, "suspended");
    gen->first = emulator->thread = frame_load(gen, FRAME_THREAD, types->pointer);
    LLVMValueRef state = frame_load(gen, FRAME_STATE, types->i32);
    emulator->resumption = LLVMBuildSwitch(gen->builder, state, emulator->suspended, 16);
    resume_here(gen);
    define_parameters(gen);
    gen_region(gen, launch->regions[0]);
    emu_store(gen, offsetof(tile_emu_thread, op), gen_i32(gen, TILE_EMU_NONE));
    frame_store(gen, FRAME_RESUME, LLVMConstNull(types->pointer));
    LLVMBuildBr(gen->builder, emulator->suspended);
    gen_at(gen, emulator->suspended);
    LLVMBuildRetVoid(gen->builder);
}

static Name ramp_name(Codegen *codegen, const Kernel *kernel, int launch)
{
    for (int i = 0;; i++) {
        Name name =
            intern_printf(codegen->session->names, "%s.emulated.%d.%d", kernel->name, i, launch);
        if (map_has(&codegen->ramps, name)) continue;
        map_set(codegen->session->arena, &codegen->ramps, name, codegen);
        return name;
    }
}

static void ramp_emit(Codegen *codegen, Kernel *kernel, LLVMModuleRef module, const Op *launch,
                      Image *out, Sites *sites)
{
    ImageEntry *entry = &out->entries[out->entry_count];
    Gen gen = gen_new(codegen, kernel, &emulator_machine, out->target, module);
    LLVMTypeRef types[2] = {gen.types.pointer, gen.types.pointer};
    *entry = (ImageEntry){
        .name = ramp_name(codegen, kernel, out->entry_count),
        .warps = launch_warps(launch),
        .shared_bytes = (int)op_int(launch, ATTR_bytes, 0),
        .registers = first_registers(&gen, launch),
    };
    entry_set_launch_kind(entry, launch);
    out->entry_count++;
    LLVMValueRef ramp =
        LLVMAddFunction(module, entry->name, LLVMFunctionType(gen.types.pointer, types, 2, false));
    LLVMTypeRef nothing = LLVMVoidTypeInContext(gen.context);
    LLVMValueRef resume =
        LLVMAddFunction(module, intern_printf(codegen->session->names, "%s.resume", entry->name),
                        LLVMFunctionType(nothing, types, 1, false));
    LLVMSetLinkage(resume, LLVMInternalLinkage);
    emu_attributes(ramp);
    emu_attributes(resume);
    parameter_set_flag(resume, 0, "noalias");
    EmulatorFunction emulator = {.sites = sites};
    gen.emulator = &emulator;
    build_resume(&gen, resume, launch);
    build_ramp(&gen, ramp, resume);
    gen_free(&gen);
}

static const char emulator_passes[] =
    "cgscc(inline),function(sroa,early-cse<memssa>," QUIRK_INSTCOMBINE ",simplifycfg,"
    "loop-mssa(loop-simplifycfg,licm,loop-rotate),dse,adce,simplifycfg),globaldce";
static const char emulator_passes_quick[] = "globaldce";

/* As nvptx_passes_large. */
static const char emulator_passes_large[] =
    "function(sroa,early-cse,simplifycfg,instsimplify,adce),globaldce";

static const char *passes_for(const Codegen *codegen, LLVMModuleRef module)
{
    if (quirk_has_large_function(module)) return emulator_passes_large;
    return codegen->options.optimise > 0 ? emulator_passes : emulator_passes_quick;
}

/* Functions are the host module's from here on; splitting has made more of them. */
static void module_hide(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function) && LLVMGetLinkage(function) == LLVMExternalLinkage)
            LLVMSetVisibility(function, LLVMHiddenVisibility);
}

bool emulator_image(Codegen *codegen, Kernel *kernel, Image *out)
{
    LLVMModuleRef module = host_module_new(codegen, kernel->name);
    Sites sites = {0};
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) ramp_emit(codegen, kernel, module, op, out, &sites);
    module_check(module, kernel->name);
    passes_on_module(module, codegen->host_target, passes_for(codegen, module));
    module_hide(module);
    if (codegen->options.keep_llvm) {
        char *text = LLVMPrintModuleToString(module);
        out->llvm = arena_copy_text(codegen->session->arena, text, strlen(text));
        LLVMDisposeMessage(text);
    }
    module_link(codegen, module);
    out->kind = IMAGE_EMULATOR;
    out->sites = sites.items.data;
    out->site_count = (int)sites.items.count;
    return true;
}
