"""The GPU that kernels are made for, as programs ask for it."""

from tilec import modules as _modules


class CUDA:
    """Of a GPU what torch tells; on the emulator that of sm_90a."""

    platform = "CUDA"
    # Bytes a second, in millions: of the second-level cache, and of the memory of an H100.
    bandwidth = [5_500_000, 3_350_000]

    def __init__(self, target="cuda"):
        import torch

        told = torch.cuda.get_device_properties(0)
        self.target = target
        self.name = told.name
        self.sm_version = 10 * told.major + told.minor
        self.compute_capability = str(self.sm_version)
        self.compute_max_core = told.multi_processor_count
        self.warp_size = told.warp_size
        self.smem_cap = told.shared_memory_per_block_optin
        self.max_smem_usage = told.shared_memory_per_multiprocessor
        self.reg_cap = told.regs_per_multiprocessor
        self.l2_cache_size_bytes = told.L2_cache_size
        self.sm_partition = 4


_modules.become(__name__)
