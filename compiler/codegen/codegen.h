/* codegen.h: the front door of codegen/: from the program of one thread to an Image, and from a
 * kernel's host region to a host function. The LLVM C API is used here and in emit/, nowhere else.
 */
#ifndef TILEC_CODEGEN_H
#define TILEC_CODEGEN_H

#include <llvm-c/Types.h>

#include "ir/ir.h"
#include "target/cost.h"

typedef struct CodegenOptions {
    const char *host_triple; /* NULL: this machine's */
    const char *ptxas; /* NULL: looked for (CUDA_HOME, PATH, /usr/local/cuda); "" for none: PTX is
                          embedded */
    bool keep_llvm;    /* leave LLVM IR as text in the images */
    bool lines;        /* -g: line tables */
    int optimise;      /* 0 to 3 */
    uint64_t tool_limit_ns; /* after which ptxas is killed; 0: never */
    bool show_tools;        /* -v: the command of each tool on standard error */
    bool run_no_tools;      /* -###: that alone */
    struct Cache *cache;    /* of cubins; NULL: none is used */
} CodegenOptions;

typedef struct Codegen
    Codegen; /* one LLVM context, target machines made on demand, the host module */

/* What LLVM does once a process, before several threads make code generators. */
void codegen_prepare(Session *session);
Codegen *codegen_new(Session *session, const CodegenOptions *options); /* NULL: reported */
void codegen_free(Codegen *codegen);

/* All that outputs follow from beside the kernels: this program, its options, and its tools, which
 * only those for a GPU need. */
void codegen_add_identity(Codegen *codegen, bool for_gpu, Buf *out);

typedef enum ImageKind { IMAGE_CUBIN, IMAGE_PTX, IMAGE_EMULATOR } ImageKind;

typedef struct ImageEntry { /* one launch of the kernel */
    Name name; /* symbol in the image; of an emulator image, the ramp function in the host module */
    int warps;
    int expected;    /* blocks of a multiprocessor that it was planned for; 0: any number */
    int persistent;  /* each block does the work of several of the grid */
    int64_t grid;    /* blocks; 0: it is not known how many before the launch */
    int cluster[3];  /* extents in blocks */
    int merged[2];   /* of the text's blocks along x and y 2 to the power of this are one */
    int cooperative; /* blocks wait for each other */
    int dependent;   /* blocks wait for the launches before this one */
    int shared_bytes;
    int registers, spill_bytes; /* from ptxas; 0 if unknown */
    int serialised;             /* ptxas has wgmma instructions wait for each other */
} ImageEntry;

/* What the launch says of its blocks: how many, persistent, dependent, cluster, cooperative. */
void entry_set_launch_kind(ImageEntry *entry, const Op *launch);
int entry_blocks(const ImageEntry *entry); /* of a cluster */

/* A place of accesses, as tile_emu_site has it. */
enum { SITE_TILES = 2 };
typedef struct Site {
    Span span;
    int repeats;
    int tiles[SITE_TILES];
    int pointer; /* the parameter that it accesses memory through; -1: not known */
} Site;

typedef struct Image {
    const Target *target;
    ImageKind kind;
    const char *bytes; /* cubin or PTX; NULL for the emulator */
    size_t size;
    ImageEntry *entries;
    int entry_count;
    const char *maps; /* the kernel without its launches, as IR text: what tensor maps it takes;
                         NULL: none */
    const char *ptx;  /* text; NULL for the emulator */
    const char *llvm; /* text, with keep_llvm */
    bool in_order;    /* ptxas leaves instructions in their order */
    bool asked_once;  /* ptxas takes too long to be asked for better code */
    struct PtxasJob *job;
    const Site *sites; /* of an emulator image: what its accesses' site numbers mean */
    int site_count;
    const Kernel *arrays_of; /* the kernel as it was staged, whose arrays sites tell of; or NULL */
} Image;

/* Starts on a THREADED kernel; ptxas runs on its own until image_finish. For the emulator the
 * kernel's code goes into the host module. Entries are named kernel->name, with "_1", "_2" for
 * further launches. False: reported. */
bool image_start(Codegen *codegen, Kernel *kernel, const ArchChoice *arch, Image *out);
bool image_finish(Codegen *codegen, Image *image);

/* Adds a tile_host_function (runtime/include/tile/tile.h) for the kernel's host region to the host
 * module: one grid for each launch; extents below 0 or above 2147483647 (x) or 65535 (y, z) return
 * TILE_ERROR_ARGUMENT (-4). */
bool host_function(Codegen *codegen, Kernel *kernel, const char *symbol);

/* Adds a tile_map_function for an image's `maps` to the host module; how many there are. */
int maps_function(Codegen *codegen, const char *maps, const char *symbol);

LLVMModuleRef codegen_host_module(Codegen *codegen);
/* Puts a definition into the section of its kind (.text, .rodata, .data.rel.ro, .bss, .data) that
 * has `owner` behind its name, so that a linker leaves it out with its owner (--gc-sections). */
void global_set_section(LLVMValueRef global, const char *owner);
LLVMContextRef codegen_context(Codegen *codegen);
/* Optimises the host module and writes it as a relocatable object (the arena's memory). False:
 * reported. */
bool codegen_host_object(Codegen *codegen, Arena *arena, const char **bytes, size_t *size);

#endif
