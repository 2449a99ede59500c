"""Files of a saved graph: its own, and in a folder beside it the code of the modules whose kernels it launches, for whoever launches them
without Python; a program that loads the graph finds out whether they are what was saved."""

import hashlib
import json
import os
import pathlib
import shutil
import tempfile

from tilec import native as _native
from warp import aot as _aot

# ---- which modules ----


def _launches(graph):
    """(kernel, threads of a block) of each launch of the graph, those of its branches' graphs, too."""
    from warp.graphs import Graph
    from warp.launches import _run

    for function, args, _ in graph.steps:
        for one in args:
            if isinstance(one, Graph):
                yield from _launches(one)
        if function is _run.__wrapped__:
            kernel, inputs, outputs, block_dim = args[1], args[3], args[4], args[7]
            yield kernel.of([*inputs, *outputs]), block_dim


def modules_of(graph, folder):
    """By their hashes, what is known of the modules; their code is written to the folder."""
    groups = {}
    for kernel, block_dim in _launches(graph) if graph.device.is_cuda else ():
        if isinstance(block_dim, int):
            groups.setdefault((kernel.module, block_dim), {})[kernel.get_mangled_name()] = kernel
    found = {}
    for key, kernels in groups.items():
        try:
            made = _module(graph.device, folder, *key, list(kernels.values()))
        except _native.CompileError:  # what it is compiled for a call alone says
            continue
        found[made["module_hash"]] = made
    return found


def _module(device, folder, module, block_dim, kernels):
    arch = device.get_cuda_compile_arch()
    said = hashlib.sha256(module.get_module_hash(block_dim) + repr((block_dim, sorted([one.key for one in kernels]))).encode())
    is_ptx = _aot._is_ptx(module, device, arch, None)
    name = f"wp_{module.name}_{said.hexdigest()[:7]}"
    path = pathlib.Path(folder) / f"{name}.sm{arch}{device._get_cuda_arch_suffix(arch)}.{'ptx' if is_ptx else 'cubin'}"
    source = path.with_name(f"{name}.json")
    path.write_bytes(_aot._code(kernels, path, arch, block_dim))
    source.write_text(json.dumps({"module": module.name, "kernels": _aot._texts(kernels)}))
    return {
        "module_name": module.name, "module_hash": said.hexdigest(), "module_exec": module.note(device, block_dim),
        "binary_filename": path.name, "binary_path": str(path),
        "cuda_compile_artifact": {
            "source_path": str(source), "source_filename": source.name, "source_stat": identity(os.stat(source)),
            "fallback_reason": "available",
        },
    }


def _digest(data):
    return hashlib.sha256(bytes(data)).hexdigest()


def digests(modules, texts):
    """What a graph was saved with: of each module the name and the SHA-256 of its code and of its text, which is None without."""
    found = []
    for one in modules.values():
        artifact = one.get("cuda_compile_artifact") or {}
        source = artifact.get("source_filename") if artifact.get("source_filename") in texts else None
        code = pathlib.Path(one["binary_path"]).read_bytes()
        found.append((one["binary_filename"], _digest(code), source, source and _digest(texts[source])))
    return found


def check(recorded, found):
    """What lies beside a graph is what was saved with it: the code of a module, or at least its text. `found`: bytes by names of files."""
    for name, digest, source, source_digest in recorded:
        if name in found and _digest(found[name]) == digest:
            continue
        why = f"its packaged binary {name} " + ("fails its SHA-256 check" if name in found else "was not found")
        if source is not None and source in found and _digest(found[source]) == source_digest:
            continue
        if source is not None:
            why += f", and its generated source {source} " + ("fails it, too" if source in found else "was not found")
        raise RuntimeError(f"Failed to load APIC graph: {why}")


def beside(path):
    """The bytes of the modules of a graph's file."""
    folder = pathlib.Path(f"{path.removesuffix('.wrp')}_modules")
    return {one.name: one.read_bytes() for one in folder.iterdir()} if folder.is_dir() else {}


# ---- the text that they were made of ----


def identity(stat):
    """What a file is told by from one that takes its place, or that is written anew."""
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _source(artifact):
    """The name and the bytes of what a module was made of; ValueError: why it cannot be had."""
    from warp._src import context

    if not artifact or artifact.get("fallback_reason") != "available":
        raise ValueError("there is no text that it was made of")
    path, name = artifact.get("source_path"), artifact.get("source_filename")
    if not path:
        raise ValueError("no generated source path was recorded")
    if not name or os.path.basename(name) != name:
        raise ValueError("the source filename is invalid")
    if artifact.get("source_stat") is None:
        raise ValueError("the source file was missing when the module was loaded")
    try:
        with context.open_file(path, "rb") as file:
            begin = identity(os.fstat(file.fileno()))
            if begin != tuple(artifact["source_stat"]):
                raise ValueError("the source file changed after the module was loaded")
            data = file.read()
        end = identity(os.stat(path))
    except OSError as error:
        raise ValueError(f"the source file is unavailable ({error})") from None
    if end != begin:
        raise ValueError("the source file changed while it was being read")
    return name, data


def sources(modules):
    """By names, the texts of all; RuntimeError: which are not to be had."""
    found, missing = {}, []
    for key, one in modules.items():
        try:
            name, data = _source(one.get("cuda_compile_artifact"))
            found[name] = data
        except ValueError as error:
            missing.append(f"{one['module_name']} ({os.path.splitext(one['binary_filename'])[0]}): {error}")
    if missing:
        raise RuntimeError("Failed to save APIC graph with source_fallback=True: " + "; ".join(missing))
    return found


# ---- writing them ----


def save(final, modules, texts, write):
    """Writes all files beside their places, the graph's by write(path), and then puts them there: what was there before is there still
    if something fails."""
    from warp._src import context

    base = final.removesuffix(".wrp")
    room = tempfile.mkdtemp(prefix=".warp-apic-", dir=os.path.dirname(os.path.abspath(final)))
    staged = os.path.join(room, os.path.basename(base))
    try:
        os.mkdir(f"{staged}_modules")
        for one in modules.values():
            shutil.copy2(one["binary_path"], os.path.join(f"{staged}_modules", one["binary_filename"]))
        for name, data in texts.items():
            with context.open_file(os.path.join(f"{staged}_modules", name), "wb") as file:
                file.write(data)
        write(f"{staged}.wrp")
        _publish(base, staged, room, len(modules) > 0)
    except _Kept as kept:
        raise RuntimeError(str(kept)) from kept.__cause__
    except BaseException:
        shutil.rmtree(room, ignore_errors=True)
        raise
    shutil.rmtree(room, ignore_errors=True)


class _Kept(Exception):
    """What was there before could not be put back, and lies in a folder."""


def _publish(base, staged, room, has_modules):
    undo = []
    try:
        if os.path.isdir(f"{base}_modules"):
            _move(f"{base}_modules", os.path.join(room, "previous_modules"), undo)
        if has_modules:
            _move(f"{staged}_modules", f"{base}_modules", undo)
        os.replace(f"{staged}.wrp", f"{base}.wrp")
    except OSError as error:
        try:
            for old, new in reversed(undo):
                os.replace(new, old)
        except OSError:
            raise _Kept(f"Failed to save APIC graph: {error}. Recovery files have been preserved in {room}") from error
        raise


def _move(old, new, undo):
    os.replace(old, new)
    undo.append((old, new))
