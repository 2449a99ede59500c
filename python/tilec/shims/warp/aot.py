"""Modules that are compiled ahead: the GPU's code in files, and beside them the text that it was made of.

A kernel's launch is host code, too, which is made when a program runs; so what load_aot_module() takes of a module is the text that the
files were made of: its kernels are what they were then, whatever their source says now, and their code is found where compiled code is
kept, or made of that text once more.
"""

import json
import os
import pathlib
import shutil
import subprocess

from tilec import native as _native
from tilec import session as _session
from tilec import source as _source
from tilec.kernels import ptx_of as _ptx_of
from tilec.kernels import structure as _structure
from tilec.session import Text as _Text
from warp import builds as _builds
from warp import devices as _devices
from warp import words as _words
from warp._src.logger import log_warning


def _module(module):
    from warp import launches

    if isinstance(module, launches.Module):
        return module
    return launches.get_module(module if isinstance(module, str) else module.__name__)


def _concrete(module):
    """The kernels that can be compiled; of the others the names."""
    found = {kernel.key: kernel for kernel in module.kernels.values()}
    live = [kernel for kernel in module._get_live_kernels() if found.get(kernel.key) is kernel]
    lacking = [kernel.key for kernel in live if kernel.is_generic and not kernel.overloads]
    kernels = _builds.concrete(live)
    if not kernels:
        raise RuntimeError(f"No compilable kernels found in module '{module.name}': it needs a kernel, or a generic kernel with overloads, "
                           "which wp.overload() makes")
    if lacking:
        log_warning(f"module '{module.name}': generic kernels without overloads are not compiled: {', '.join(sorted(lacking))}")
    if module.options["strip_hash"]:
        several = sorted([kernel.key for kernel in live if len(kernel.overloads) > 1])
        if several:
            raise RuntimeError(f"module '{module.name}': with strip_hash=True generic kernels with multiple overloads cannot be told apart, as "
                               f"their names have no hash suffixes: {', '.join(several)}")
    return kernels


def _check_clusters(module, arch):
    for kernel in module._get_live_kernels():
        if arch < 90 and _builds.cluster_of(kernel) > 1:
            raise RuntimeError(f"kernel '{kernel.key}' has cluster_dim={_builds.cluster_of(kernel)}, and sm_{arch} has no clusters")


def _ptx(kernels, arch, block_dim):
    """Of each kernel, one behind the other."""
    with _session.lock, _session.the.another([arch], ["--ptxas=none"]):
        texts = []
        for kernel in kernels:
            statements = []
            bound = _Text("core.kernel_code(", kernel.__tile_remote__(), f".compile(block_dim={block_dim}))").bound(statements)
            texts.append(_ptx_of(_structure(_session.the.run("\n".join([*statements, bound]))["built"][-1]["kernel"])))
    return "\n".join(texts).rstrip("\0") + "\n"


def _assembler():
    found = os.environ.get("TILEC_PTXAS") or shutil.which("ptxas")
    usual = "/usr/local/cuda/bin/ptxas"
    found = found or (usual if os.path.exists(usual) else None)
    if found is None:
        raise RuntimeError("cubins are made by ptxas, which is not installed: use_ptx=True writes PTX")
    return found


def _modules_of(ptx):
    """PTX is assembled one module at a time."""
    parts = ptx.split("\n.version ")
    return [parts[0] if i == 0 else f".version {one}" for i, one in enumerate(parts) if ".entry" in one]


def _cubins(ptx, arch, path):
    """One behind the other."""
    made = b""
    for text in _modules_of(ptx):
        source = path.with_suffix(".ptx.tmp")
        source.write_text(text.rstrip("\0"))
        target = f"sm_{arch}a" if ".target sm_90a" in text or arch == 90 else f"sm_{arch}"
        try:
            subprocess.run([_assembler(), f"-arch={target}", str(source), "-o", f"{path}.tmp"], check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"ptxas: {error.stderr.strip() or error.stdout.strip()}") from None
        finally:
            source.unlink()
        part = pathlib.Path(f"{path}.tmp").read_bytes()
        os.unlink(f"{path}.tmp")
        made += part
    return made


def _write(path, data):
    new = pathlib.Path(f"{path}.{os.getpid()}")
    new.write_bytes(data)
    os.replace(new, path)


def _folder(module_dir, identifier):
    from warp import config
    from warp._src import build

    if module_dir is not None:
        return pathlib.Path(module_dir)
    if config.kernel_cache_dir is None:
        build.init_kernel_cache()
    return pathlib.Path(config.kernel_cache_dir) / identifier


def _texts(kernels):
    """What the kernels were made of."""
    told = {}
    for kernel in kernels:
        path = kernel.func.__code__.co_filename
        text = pathlib.Path(_source.readable(path, getattr(kernel.func, "__tile_version__", None))).read_text()
        told[kernel.key] = {"path": path, "line": kernel.func.__code__.co_firstlineno, "text": text}
    return told


def _targets(device, arch):
    """(device or None, architecture) of each file; a processor has none."""
    found = []
    for one in device if isinstance(device, (list, tuple)) else [device] if device is not None or arch is None else []:
        place = _devices.get_device(one)
        found.append((place, place.get_cuda_compile_arch() if place.is_cuda else None))
    return found + [(None, one) for one in (arch if isinstance(arch, (list, tuple)) else [arch] if arch is not None else [])]


def compile_aot_module(module, device=None, arch=None, module_dir=None, use_ptx=None, strip_hash=None):
    """Writes the code of the module's kernels, for devices or for architectures, and gives the files' paths."""
    from warp import config

    module = _module(module)
    if strip_hash is not None:
        module.options["strip_hash"] = strip_hash
    targets = _targets(device, arch)
    for _, one in targets:
        if one is not None:
            _check_clusters(module, one)
    kernels = _concrete(module)
    identifier = module.get_module_identifier()
    module.resolved_options[module.options["block_dim"]] = module.resolve_options(config, module.options["block_dim"])
    folder = _folder(module_dir, identifier)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, one in targets:
        path = folder / module._get_compile_output_name(place, one, _is_ptx(module, place, one, use_ptx))
        paths.append(path)
        if not (path.exists() and config.cache_kernels):
            _write(path, _code(kernels, path, one, module.options["block_dim"]))
    _write(folder / f"{identifier}.json", json.dumps({"module": module.name, "kernels": _texts(kernels)}).encode())
    return paths


def _is_ptx(module, place, arch, asked):
    """A GPU of this process gets its own code, if there is an assembler for it."""
    if asked is None:
        asked = {"ptx": True, "cubin": False}.get(module.options["cuda_output"])
    if asked is None and arch is not None:
        try:
            _assembler()
        except RuntimeError:
            return True
        return False
    return bool(asked)


def _code(kernels, path, arch, block_dim):
    if arch is None:  # a processor's is made when it is launched: what it is made of
        return json.dumps(_texts(kernels)).encode()
    try:
        text = _ptx(kernels, arch, block_dim)
    except _native.CompileError as error:
        raise _words.reordered(error) from None
    return text.encode() if path.suffix == ".ptx" else _cubins(text, arch, path)


def load_aot_module(module, device=None, arch=None, module_dir=None, use_ptx=None, strip_hash=None):
    """The module's kernels are those that were compiled."""
    module = _module(module)
    if strip_hash is not None:
        module.options["strip_hash"] = strip_hash
    identifier = module.get_module_identifier()
    folder = _folder(module_dir, identifier)
    for place, one in _targets(device, arch):
        names = {module._get_compile_output_name(place, one, is_ptx) for is_ptx in ([use_ptx] if use_ptx is not None else [False, True])}
        if not any([(folder / name).exists() for name in names]):
            raise FileNotFoundError(f"module '{module.name}' is not compiled for {place or f'sm_{one}'}: no {' or '.join(sorted(names))} in {folder}")
    told = json.loads((folder / f"{identifier}.json").read_text())["kernels"]
    for kernel in module._get_live_kernels():
        if kernel.key in told:
            one = told[kernel.key]
            _source.put_back(kernel.func, one["text"], one["line"])
            kernel.forget()
    module.unload()
    for place, _ in _targets(device, arch):
        if place is not None:
            module.load(place)


__all__ = ["compile_aot_module", "load_aot_module"]
