"""What is installed here, and where kernels run."""

import importlib.metadata
import platform
import sys

import numpy

from warp import devices as _devices


def _compiler_version():
    """What compiled Python: what compiled libtile is not told anywhere."""
    return platform.python_compiler()


def print_diagnostics():
    """Prints it, and gives it by names."""
    import warp

    info = {
        "warp_python": warp.__version__, "warp_native": warp.__version__, "warp_clang": None, "llvm": None, "numpy": numpy.__version__,
        "python": sys.version.split()[0], "platform": platform.platform(), "cuda_enabled": True, "cuda_toolkit": _devices.get_cuda_toolkit_version(),
        "cuda_driver": _devices.get_cuda_driver_version(), "nvrtc": None, "cuda_compatibility": True, "mathdx_enabled": False, "libmathdx": "",
        "cubql_enabled": False, "nanovdb": None, "host_compiler": _compiler_version(), "debug": False, "verify_fp": bool(warp.config.verify_fp),
        "fast_math": False,
    }
    for name in ("torch", "jax", "jaxlib"):
        try:
            info[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    info["devices"] = [_facts(device) for device in _devices.get_devices()]
    print("Software")
    for name, value in info.items():
        if name != "devices":
            print(f"  {name}: {value}")
    print("Devices")
    for facts in info["devices"]:
        print(f"  {facts['alias']}: {facts['name']}")
        if "arch" in facts:
            print(f"    {facts['arch']}, {facts['sm_count']} SMs, {facts['memory_gb']} GB, PCI {facts['pci_bus_id']}")
            print(f"    GPU->CPU mem: {facts['is_cpu_memory_access_from_gpu_supported']}")
            print(f"    CPU->GPU mem: {facts['is_gpu_memory_access_from_cpu_supported']}")
            print(f"    CPU/GPU atomics: {facts['is_cpu_gpu_atomic_supported']}")
    return info


_ACCESS = "is_cpu_memory_access_from_gpu_supported", "is_gpu_memory_access_from_cpu_supported", "is_cpu_gpu_atomic_supported"


def _facts(device):
    facts = {"alias": device.alias, "name": device.name}
    if device.is_cuda:
        whole = device.total_memory
        facts.update(arch=f"sm_{device.arch}", sm_count=device.sm_count, memory_gb=None if whole is None else round(whole / (1 << 30), 1),
                     mempool_enabled=device.is_mempool_enabled, pci_bus_id=device.pci_bus_id)
        facts.update({name: getattr(device, name) for name in _ACCESS})
    return facts


__all__ = ["print_diagnostics"]
