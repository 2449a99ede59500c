"""What a module's kernels mean, as a hash, and what they are compiled to, both in an order that is that of no definition."""

import json

from tilec import device as _device
from warp import aot as _aot
from warp import builds as _builds
from warp import checks as _checks
from warp import devices as _devices
from warp.digest import Digest


def resolve_grid_stride(options, default):
    """Whether a kernel's threads go on to further elements: what the kernel says, else what its module does."""
    said = options.get("grid_stride")
    return bool(default if said is None else said)


class ModuleHasher:
    """Of some kernels, with the options that they are compiled by."""

    def __init__(self, kernels, options):
        default = options.get("default_grid_stride")
        for kernel in kernels:
            kernel.grid_stride = resolve_grid_stride(kernel.options, True if default is None else default)
        self.kernels = sorted(kernels, key=lambda one: (one.key, one.hash))
        self.options = options

    def get_hash(self):
        from warp import config

        made = Digest().value([config.verify_fp, config.fast_math, config.legacy_scalar_return_types])
        for name, value in sorted(self.options.items()):
            made.add(name).value(value)
        for kernel in self.kernels:
            made.kernel(kernel).several("overloads", sorted(kernel.overloads))
        return made.bytes()


class ModuleBuilder:
    """A module's kernels, compiled where it is made for the device that is current."""

    def __init__(self, module, options, hasher=None):
        self.module, self.options = module, options
        self.hasher = ModuleHasher(module._get_live_kernels(), options) if hasher is None else hasher
        self.kernels = _builds.concrete(self.hasher.kernels)
        self.code = module.note(_devices.get_device(), options.get("block_dim", module.options["block_dim"]))
        for kernel in self.kernels:
            self.code._entry(kernel)

    def codegen(self, device):
        """What compile_aot_module() writes: a GPU's PTX, or for a processor the text that its code is made of."""
        if device == "cpu":
            _checks.check_for_processor(self.kernels)
            return json.dumps(_aot._texts(self.kernels))
        arch = 90 if _device.is_emulator() else _devices.get_cuda_device().get_cuda_compile_arch()
        return _aot._ptx(self.kernels, arch, self.code.block_dim)

    def build_meta(self):
        """How much shared memory a block of each kernel has."""
        return {f"{one.get_mangled_name()}_cuda_kernel_forward_smem_bytes": self.code._entry(one).table()[1].shared_bytes for one in self.kernels}
