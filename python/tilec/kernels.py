"""Kernels of a program in Python: called with arrays, asked for their code, measured."""

import ctypes
import sys
import time

from tilec import device, native, session
from tilec.calls import Callee
from tilec.session import Text

SYMBOL = -(1 << 63)


def structure(address):
    return native.Kernel.from_address(address)


def keys_of(kernel):
    """The integer keys of the first specialisation, by the numbers of their parameters."""
    found = {}
    keys = [i for i in range(kernel.parameter_count) if kernel.parameters[i].kind >= native.KEY]
    for place, index in enumerate(keys):
        if kernel.parameters[index].kind == native.KEY:
            found[index] = kernel.specialisations[0].keys[place]
    return found


def tensors_of(kernel):
    """(name, type code, extents, is it a result) of each tensor; an extent that is known at the call alone is the name of
    its parameter."""
    found = []
    keys = keys_of(kernel)
    for i in range(kernel.tensor_count):
        tensor = kernel.specialisations[0].tensors[i]
        shape = []
        for d in range(tensor.ndim):
            extent = tensor.shape[d] if tensor.shape else None
            if extent is not None and extent <= SYMBOL + kernel.parameter_count:
                index = extent - SYMBOL - 1
                extent = keys.get(index, kernel.parameters[index].name.decode()) if index >= 0 else None
            shape.append(extent)
        found.append((tensor.name.decode(), tensor.dtype, tuple(shape), bool(tensor.is_result)))
    return found


def ptx_of(kernel):
    """None: there is none, as of an image for the emulator."""
    texts = []
    for i in range(kernel.specialisation_count):
        variant = kernel.specialisations[i].variants[0]
        for j in range(variant.image_count):
            image = variant.images[j]
            if image.kind == native.IMAGE_PTX:
                texts.append(ctypes.string_at(image.bytes, image.size).decode(errors="replace"))
    return "\n".join(texts) or None


class Compiled(Callee):
    """A kernel and what it is called with; `built` are tile_kernels that were compiled without a call."""

    def __init__(self, remote, parameters=(), built=()):
        super().__init__(remote, parameters)
        self.built = list(built)
        self.code = None

    def structure(self):
        """Of the call that was planned last, else of what was built; None: nothing is known before a call."""
        if self.last is not None and self.last.launches:
            return self.last.launches[-1].structure()
        return structure(self.built[-1]["kernel"]) if self.built else None

    def ptx(self):
        """That of the GPU, on the emulator of sm_90a; None: it is known with a call's arguments alone."""
        known = self.structure()
        text = ptx_of(known) if known is not None else None
        if text is not None or not self.built:
            return text
        with session.lock, session.the.another(device.computes() or [90], ["--ptxas=none"]):
            statements = []
            self.remote.bind(statements)
            built = session.the.run("\n".join(statements))["built"] if statements else self.remote._built
            return ptx_of(structure(built[-1]["kernel"]))

    def code_text(self):
        """PTX, or the IR where there is none."""
        if self.code is None:
            text = self.ptx()
            self.code = text if text is not None else session.evaluate(Text("core.kernel_text(", self.remote, ")"))
        return self.code

    def resources(self):
        """Registers, spilled bytes, shared memory and warps of each launch."""
        known = self.structure()
        if known is None:
            return []
        image = known.specialisations[0].variants[0].images[0]
        names = "registers", "spill_bytes", "shared_bytes", "warps"
        return [{name: getattr(image.entries[i], name) for name in names} for i in range(known.specialisations[0].launch_count)]


# ---- time ----


def _gpu():
    torch = sys.modules.get("torch")
    return torch if torch is not None and not device.is_emulator() and torch.cuda.is_available() else None


def times(function, warmup_ms=25.0, rep_ms=100.0, warmup=None, repeat=None, flush=True):
    """Milliseconds of each call. On a GPU by events, with the second-level cache flushed before each; on the emulator of one
    call by the clock."""
    torch = _gpu()
    if torch is None:
        start = time.perf_counter()
        function()
        return [1e3 * (time.perf_counter() - start)]
    function()
    torch.cuda.synchronize()
    cache = torch.empty(256 << 20, dtype=torch.int8, device="cuda") if flush else None
    events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(5)]

    def measure(pairs):
        for begin, end in pairs:
            if cache is not None:
                cache.zero_()
            begin.record()
            function()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) for begin, end in pairs]

    estimate = max(sum(measure(events)) / len(events), 1e-3)
    for _ in range(warmup if warmup is not None else max(1, int(warmup_ms / estimate))):
        function()
    count = repeat if repeat is not None else max(1, int(rep_ms / estimate))
    return measure([(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)])


def summary(values, quantiles=None, mode="mean"):
    ordered = sorted(values)
    if quantiles:
        found = [ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in quantiles]
        return found[0] if len(found) == 1 else found
    if mode == "median":
        return ordered[len(ordered) // 2]
    return {"mean": sum(ordered) / len(ordered), "min": ordered[0], "max": ordered[-1]}[mode]
