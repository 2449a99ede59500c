"""Modules that are loaded: their kernels, compiled for a device and a number of threads, and what a GPU's driver says of them."""

import ctypes
import operator
import re
import types
import weakref

from tilec import device as _device
from tilec import native as _native
from tilec import session as _session
from tilec import source as _source
from tilec.kernels import structure as _structure
from tilec.session import Text as _Text
from warp import bounds as _bounds
from warp import checks as _checks
from warp import determinism as _determinism
from warp import devices as _devices
from warp import driver as _driver
from warp import words as _words
from warp._src.logger import log_warning
from warp.digest import codes as _codes

MOST_THREADS = 1024  # of a block
MOST_CLUSTER = 16  # blocks that Warp lets a cluster have
MOST_COMPILED = 8  # and those that are compiled: on every GPU that has clusters


def freed(error):
    """An error that keeps nothing of the kernel that it is of: a program which defines that anew is rid of the old one, whoever keeps
    the error."""
    error.__traceback__ = error.__context__ = None
    return error


# ---- how many threads a block has ----


def launch_block_dim(device, asked=None):
    """Of a launch that asks for so many; on a processor one, unless blocks of it were asked for."""
    from warp import config

    if not device.is_cpu:
        return 256 if asked is None or asked <= 0 else asked
    if asked is None or asked <= 0:
        return 1
    if asked > MOST_THREADS:
        raise ValueError(f"a block has at most {MOST_THREADS} on CPU devices, not block_dim={asked}")
    return asked if config.enable_cpu_blocks else 1


def _block_dim(given, module):
    if given is None:
        return module.options["block_dim"]
    try:
        found = 0 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        found = 0
    if found <= 0:
        raise ValueError(f"block_dim must be a positive integer, got {given!r}")
    return found


# ---- clusters ----


def check_cluster(value):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"cluster_dim is a number of blocks, not {value!r}")
    if not 1 <= value <= MOST_CLUSTER:
        raise ValueError(f"cluster_dim={value}: a cluster has 1 to {MOST_CLUSTER} blocks")
    return value


def cluster_of(kernel):
    """How many blocks the kernel wants to run together."""
    found = kernel.options.get("cluster_dim")
    if found is None:
        found = kernel.module.options.get("cluster_dim")
    return 1 if found is None else check_cluster(found)


def check_launch(kernel, device, blocks, max_blocks=0):
    """A launch of whole clusters, on a device that has them."""
    count = cluster_of(kernel)
    if count == 1 or not device.is_cuda or device.arch < 90:
        return
    if blocks % count:
        raise ValueError(f"Error launching kernel '{kernel.key}': its {blocks} blocks are not a multiple of cluster_dim={count}")
    if 0 < max_blocks < count:
        raise ValueError(f"Error launching kernel '{kernel.key}': max_blocks={max_blocks} is less than cluster_dim={count}")


# ---- what is loaded ----


class Entry:
    """The code of a kernel that was compiled without a call."""

    def __init__(self, address):
        self.address = address
        self.module, self.function = ctypes.c_void_p(), ctypes.c_void_p()

    def table(self):
        found = _structure(self.address).specialisations[0]
        image = found.variants[0].images[0]
        return image, image.entries[found.launch_count - 1]

    def loaded(self, cuda):
        """The driver's function, of the context that is current."""
        if not self.function.value:
            image, entry = self.table()
            status = cuda.cuModuleLoadData(ctypes.byref(self.module), ctypes.c_void_p(image.bytes))
            status = status or cuda.cuModuleGetFunction(ctypes.byref(self.function), self.module, entry.name)
            if status:
                raise _native.Error(f"CUDA's driver does not load {entry.name.decode()}: error {status}")
        return self.function

    def __del__(self):
        if self.module.value and _driver is not None:
            with _driver.current() as cuda:
                cuda.cuModuleUnload(self.module)


def _compiled(kernel, block_dim, device):
    """The Entry of a kernel for blocks of so many threads."""
    remote = kernel.__tile_remote__()
    with _session.lock:
        if device.is_cpu:
            with _session.the.on_host():
                return _compile(remote, block_dim)
        return _compile(remote, block_dim)


def _compile(remote, block_dim):
    statements = []
    bound = _Text("core.kernel_code(", remote, f".compile(block_dim={block_dim}))").bound(statements)
    try:
        return Entry(_session.the.run("\n".join([*statements, bound]))["built"][-1]["kernel"])
    except _native.CompileError as error:
        raise _words.reordered(error) from None


class Hooks:
    """What is launched of a kernel."""

    def __init__(self, forward, backward, cluster_dim):
        self.forward, self.backward, self.cluster_dim = forward, backward, cluster_dim
        self.forward_smem_bytes = forward.table()[1].shared_bytes if forward is not None else 0
        self.backward_smem_bytes = 0


# A name that nothing is there for: the module's other kernels are loaded all the same, and this one's launch tells it.
_ABSENT = re.compile(r"\bwp\.\w+ is not supported: |functions in CUDA C\+\+ are not taken")


class ModuleExec:
    """A module for a device and a number of threads; its kernels are compiled when they are asked for."""

    def __init__(self, module, device, block_dim):
        self.device, self.block_dim = device, block_dim
        self.module_name = module.name
        self.module = weakref.ref(module)
        self.compile_arch = device.get_cuda_compile_arch() if device.is_cuda else None
        self.entries = weakref.WeakKeyDictionary()
        self.is_loaded = False

    def _entry(self, kernel):
        if kernel not in self.entries:
            self.entries[kernel] = _compiled(kernel, self.block_dim, self.device)
        return self.entries[kernel]

    def _get_forward_cuda_kernel(self, kernel):
        return self._entry(kernel)

    def get_kernel_hooks(self, kernel):
        clusters = cluster_of(kernel) if self.compile_arch is not None and self.compile_arch >= 90 else 1
        return Hooks(self._entry(kernel), None, clusters)

    @property
    def module_hash(self):
        return self.module().get_module_hash(self.block_dim)

    @property
    def kernel_hooks(self):
        """What there is of each kernel."""
        return self.entries

    def load(self, module):
        """Compiles its kernels. One that a generic kernel is not taken for is an error where it is launched."""
        if self.is_loaded:
            return self
        _determinism.check_module(module)
        failed, why = [], None
        for kernel in module.concrete():
            try:
                self._entry(kernel)
            except _native.CompileError as error:
                if _ABSENT.search(str(error)) is not None:
                    continue
                if not kernel.is_instance:
                    raise
                failed.append(kernel.key)
                why = freed(error)
        if failed:
            log_warning(f"module '{module.name}': not compiled: {', '.join(sorted(failed))}; the last one's error: {str(why).splitlines()[-1]}", once=True)
        self.is_loaded = True
        return self


def _mentioned(function):
    """What names in a function's text mean, also those of modules, and what its parameters are if nobody says so."""
    names = [name for code in _codes(function.__code__) for name in (*code.co_names, *code.co_freevars)]
    known = _source.names_of(function)
    yield from function.__defaults__ or ()
    for name in names:
        found = known.get(name)
        yield found
        if isinstance(found, types.ModuleType):
            for other in names:
                yield vars(found).get(other)


def functions_of(function, seen=None):
    """The functions that a kernel calls, and those that these call."""
    from warp.launches import Function

    seen = {} if seen is None else seen
    for found in _mentioned(function):
        for one in [found, *found.earlier] if isinstance(found, Function) else []:
            if id(one) not in seen:
                seen[id(one)] = one
                functions_of(one.func, seen)
    return list(seen.values())


def concrete(kernels):
    """Those of some kernels that leave no type open: of a generic one its overloads."""
    return [one for kernel in kernels for one in (kernel.overloads.values() if kernel.is_generic else [kernel])]


class Loaded:
    """Of a module: what it is loaded for."""

    def __init__(self):
        self.execs = {}  # by the device's context and the number of threads
        self.resolved_options = {}
        self.hashers = {}  # those that its hashes came from

    def is_anything(self):
        return bool(self.kernels or self.functions or self.structs)

    def concrete(self):
        """The kernels that leave no type open."""
        return concrete(self._get_live_kernels())

    def _get_live_kernels(self):
        return list(self.made)

    @property
    def references(self):
        """The modules whose functions its kernels call."""
        return {one.module for kernel in self._get_live_kernels() for one in functions_of(kernel.func)} - {self}

    @property
    def dependents(self):
        """The modules whose kernels call its functions."""
        from warp import launches

        return {one for one in map(launches.get_module, launches.modules()) if self in one.references}

    @staticmethod
    def _get_kernel_tid_extent_limit(kernel):
        """How many coordinates the kernel asks for, whose extents have a limit."""
        return _bounds.tid_rank(kernel.func)

    def resolve_options(self, config, block_dim=None):
        """The options with which its kernels are compiled: what it leaves open, the configuration says."""
        found = {"verify_fp": config.verify_fp, **{name: getattr(config, name, None) if value is None else value for name, value in self.options.items()}}
        return found if block_dim is None else {**found, "block_dim": block_dim}

    def note(self, device, block_dim):
        """It is used there with so many threads; what is compiled for it is found when it is launched."""
        key = device.context, block_dim
        found = self.execs.get(key)
        if found is None:
            from warp import config

            found = self.execs[key] = ModuleExec(self, device, block_dim)
            self.resolved_options[block_dim] = self.resolve_options(config, block_dim)
        return found

    def load(self, device=None, block_dim=None):
        """Each kernel is compiled when it is asked for; wp.load_module() asks for all."""
        device = _devices.get_device(device)
        _determinism.check_module(self)
        _checks.check_module(self)
        if device.is_cpu:
            _checks.check_for_processor(self.concrete())
        if block_dim is None:
            block_dim = 1 if device.is_cpu else self.options["block_dim"]
        return self.note(device, launch_block_dim(device, block_dim))

    def unload(self):
        self.execs.clear()
        self.forget_options()

    def forget_options(self):
        self.resolved_options.clear()
        self.hashers.clear()


def load_on(module, device, block_dim=None):
    """Compiles its kernels. What is there already is enough where no number of threads is asked for."""
    there = [one for (context, _), one in module.execs.items() if context == device.context] if block_dim is None else []
    for one in there or [module.load(device, block_dim)]:
        one.load(module)


# ---- what the driver says ----

_LOCAL_BYTES, _NUMBER_OF_REGISTERS, _MOST_SHARED_BYTES, _CLUSTERS_THAT_ARE_NOT_PORTABLE = 3, 4, 8, 14  # CUfunction_attribute
_last = [0]  # CUresult
_told = [None]  # why another function did nothing, where that was later


def _succeeds(status):
    _last[0], _told[0] = status, None
    return status == 0


def tell_error(text):
    _told[0] = text


def error_text():
    """Why what was asked last is not there."""
    if _told[0] is not None:
        return _told[0]
    return "the emulator has no registers" if _device.is_emulator() else _driver.error_text(_last[0])


def configure_shared(context, entry, count):
    """So many bytes of shared memory may a launch ask for; False: there are not so many."""
    if _device.is_emulator():
        return True
    with _driver.current() as cuda:
        return _succeeds(cuda.cuFuncSetAttribute(entry.loaded(cuda), _MOST_SHARED_BYTES, count))


def allow_clusters(context, entry, count):
    """The kernel may have clusters of so many blocks, which 8 are on every GPU."""
    if _device.is_emulator():
        return True
    with _driver.current() as cuda:
        return _succeeds(cuda.cuFuncSetAttribute(entry.loaded(cuda), _CLUSTERS_THAT_ARE_NOT_PORTABLE, int(count > MOST_COMPILED)))


def kernel_properties(context, forward, values, count):
    """Fills in the registers and the bytes of local memory of a thread; False: the driver does not say."""
    if _device.is_emulator():  # which has no registers
        return False
    with _driver.current() as cuda:
        function, value = forward.loaded(cuda), ctypes.c_int()
        for i, which in enumerate((_NUMBER_OF_REGISTERS, _LOCAL_BYTES)[:count]):
            if not _succeeds(cuda.cuFuncGetAttribute(ctypes.byref(value), which, function)):
                return False
            values[i] = value.value
    return True


def _check_kernel(kernel, what):
    from warp.launches import Kernel

    if not isinstance(kernel, Kernel):
        raise TypeError(f"{what}: expected a wp.Kernel, got {kernel!r}")


def _check_concrete(kernel, what):
    if kernel.is_generic:
        raise RuntimeError(f"{what} of the generic kernel '{kernel.key}' requires a concrete overload: make one by wp.overload()")


def get_cuda_kernel_properties(kernel, device=None, block_dim=None):
    what = "get_cuda_kernel_properties"
    _check_kernel(kernel, what)
    _check_concrete(kernel, what)
    device = _devices.get_device(device)
    if not device.is_cuda:
        raise RuntimeError(f"{what} requires a CUDA device, not {device}")
    threads = _block_dim(block_dim, kernel.module)
    from warp._src.context import runtime

    place, loaded, cause = f"'{kernel.key}' on {device} with block_dim={threads}", None, None
    module, key = kernel.module, kernel.key
    try:
        loaded = module.load(device, threads)
        forward = loaded._get_forward_cuda_kernel(kernel)
    except Exception as error:
        cause = freed(error)
    kernel = None
    if cause is not None:
        raise RuntimeError(f"Failed to load CUDA kernel {place}: {cause}") from cause
    if forward is None:
        raise RuntimeError(f"Failed to load forward CUDA kernel {place}")
    values = (ctypes.c_int * 2)()
    if not runtime.core.wp_cuda_get_kernel_properties(device.context, forward, values, 2):
        raise RuntimeError(f"Failed to query CUDA kernel properties of '{key}': {runtime.get_error_string()}")
    return {"register_count": values[0], "local_memory_size": values[1]}


_THREADS_OF_MULTIPROCESSOR = 39  # CUdevice_attribute


def _blocks_at_a_time(entry, threads, device):
    """How many blocks a multiprocessor runs at a time."""
    if _device.is_emulator():
        return 2048 // threads
    count = ctypes.c_int()
    shared = entry.table()[1].shared_bytes
    good = configure_shared(device.context, entry, shared)
    with _driver.current() as cuda:
        good = good and _succeeds(cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(count), entry.loaded(cuda), threads, ctypes.c_size_t(shared)))
    if not good:
        raise RuntimeError(f"CUDA's driver does not say how many blocks run at a time: {error_text()}")
    return count.value


def get_suggested_block_size(kernel, device=None):
    """The number of threads with which most threads run at a time, and how many blocks fill the device."""
    _check_kernel(kernel, "get_suggested_block_size")
    device = _devices.get_device(device)
    if device.is_cpu:
        return 1, 1
    _check_concrete(kernel, "get_suggested_block_size")
    try:
        return _suggested(kernel, device)
    except Exception as error:
        failure = freed(error)
    kernel = None
    raise failure


def _suggested(kernel, device):
    bound = min(kernel.most_threads, MOST_THREADS)
    full = 2048 if _device.is_emulator() else _driver.attribute(_THREADS_OF_MULTIPROCESSOR, device.ordinal)
    best = 0, 0, 0
    for threads in sorted({one for one in (1024, 512, 256, 128, bound // 32 * 32) if 0 < one <= bound} or {bound}, reverse=True):
        blocks = _blocks_at_a_time(kernel.module.note(device, threads)._entry(kernel), threads, device)
        best = max(best, (blocks * threads, threads, blocks))
        if best[0] == full:
            break
    return best[1], best[2] * device.sm_count


class _LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]


def get_cuda_max_cluster_dim(kernel, device=None, block_dim=None):
    """How many blocks of the kernel's a cluster has at most."""
    _check_kernel(kernel, "get_cuda_max_cluster_dim")
    device = _devices.get_device(device)
    if not device.is_cuda or device.arch < 90:
        return 1
    _check_concrete(kernel, "get_cuda_max_cluster_dim")
    try:
        return _most_of_cluster(kernel, device, _block_dim(block_dim, kernel.module))
    except Exception as error:
        failure = freed(error)
    kernel = None
    raise failure


def _most_of_cluster(kernel, device, threads):
    entry = kernel.module.note(device, threads)._entry(kernel)
    if _device.is_emulator():
        return MOST_COMPILED
    count = ctypes.c_int()
    config = _LaunchConfig((MOST_CLUSTER, 1, 1), (threads, 1, 1), entry.table()[1].shared_bytes, None, None, 0)
    good = allow_clusters(device.context, entry, MOST_COMPILED)
    with _driver.current() as cuda:
        good = good and _succeeds(cuda.cuOccupancyMaxPotentialClusterSize(
            ctypes.byref(count), entry.loaded(cuda), ctypes.byref(config)))
    if not good:
        raise RuntimeError(f"CUDA's driver does not say how large a cluster is: {error_text()}")
    return count.value


__all__ = ["get_cuda_kernel_properties", "get_cuda_max_cluster_dim", "get_suggested_block_size"]
