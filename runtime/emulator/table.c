/* table.c: the emulator as others find it: its entry, and what emulated code refers to. */
#include "../abi.h"
#include "abi.h"

#define SYMBOL(name)                                                                               \
    {                                                                                              \
#name, (void (*)(void))name                                                                \
    }

static const tile_emulator_symbol symbols[] = {
    SYMBOL(tile_emu_access),          SYMBOL(tile_emu_approximate),
    SYMBOL(tile_emu_argument),        SYMBOL(tile_emu_cluster_address),
    SYMBOL(tile_emu_copy_arrive),     SYMBOL(tile_emu_copy_async),
    SYMBOL(tile_emu_copy_commit),     SYMBOL(tile_emu_copy_wait),
    SYMBOL(tile_emu_fence_async),     SYMBOL(tile_emu_frame),
    SYMBOL(tile_emu_index),           SYMBOL(tile_emu_inject_fault),
    SYMBOL(tile_emu_mbarrier_arrive), SYMBOL(tile_emu_mbarrier_complete),
    SYMBOL(tile_emu_mbarrier_expect), SYMBOL(tile_emu_mbarrier_phase),
    SYMBOL(tile_emu_mbarrier_init),   SYMBOL(tile_emu_mbarrier_test),
    SYMBOL(tile_emu_print),           SYMBOL(tile_emu_stop),
    SYMBOL(tile_emu_tensor_add),      SYMBOL(tile_emu_tensor_commit),
    SYMBOL(tile_emu_tensor_copy),     SYMBOL(tile_emu_tensor_store),
    SYMBOL(tile_emu_tensor_wait),     SYMBOL(tile_emu_texture),
    SYMBOL(tile_emu_wgmma_commit),    SYMBOL(tile_emu_wgmma_in_flight),
    SYMBOL(tile_emu_wgmma_wait),
};

TILE_API const tile_emulator tile_the_emulator = {
    .run = tile_emulator_run,
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof symbols[0],
};
