"""Tilus's targets: kinds of GPUs, and which of them can run what is written for another. tilec itself asks the device."""

import contextlib
import dataclasses

from tilec import device as _device
from tilec import modules as _modules
from tilec import native as _native


@dataclasses.dataclass(frozen=True)
class TargetProperties:
    compute_capability: tuple = (0, 0)
    feature_suffix: str = None
    shared_memory_per_block: int = 0


@dataclasses.dataclass(frozen=True)
class Target:
    kind: str
    arch: str
    properties: TargetProperties

    def __str__(self):
        return f"{self.kind}/{self.arch}"

    def is_nvgpu(self):
        return self.kind == "nvgpu"

    def is_amdgpu(self):
        return self.kind == "amdgpu"

    def supports(self, target):
        """Features of an architecture ("a") are its alone, those of a family ("f") its later members', too; the others stay."""
        if target.kind != self.kind:
            return target.kind == "gpgpu"
        mine, asked = self.properties, target.properties
        if target.arch == "any" or not self.is_nvgpu():
            return target.arch in ("any", self.arch)
        if asked.feature_suffix == "a":
            return mine.feature_suffix == "a" and mine.compute_capability == asked.compute_capability
        if asked.feature_suffix == "f" and (mine.feature_suffix is None or mine.compute_capability[0] != asked.compute_capability[0]):
            return False
        return mine.compute_capability >= asked.compute_capability


# Kilobytes of shared memory that a block may have, by compute capability.
_SHARED = {(7, 0): 96, (7, 5): 64, (8, 0): 163, (8, 6): 99, (8, 7): 163, (8, 8): 99, (8, 9): 99, (9, 0): 227, (10, 0): 227, (10, 3): 227,
           (11, 0): 227, (12, 0): 99, (12, 1): 99}


def _nvgpu(capability, suffix=None):
    major, minor = capability
    return Target("nvgpu", f"sm{major}{minor}{suffix or ''}", TargetProperties(capability, suffix, _SHARED.get(capability, 99) << 10))


gpgpu_any = Target("gpgpu", "any", TargetProperties())
amdgpu_any = Target("amdgpu", "any", TargetProperties(shared_memory_per_block=64 << 10))
nvgpu_any = Target("nvgpu", "any", TargetProperties(shared_memory_per_block=64 << 10))
for _capability in _SHARED:
    for _suffix in (None, "f", "a") if _capability >= (10, 0) else (None, "a") if _capability == (9, 0) else (None,):
        _target = _nvgpu(_capability, _suffix)
        globals()[f"nvgpu_{_target.arch}"] = _target

_current = None


def get_default_target():
    """That of the device; the emulator is one of sm_90a."""
    number = 90 if _device.is_emulator() else _native.device_compute(0)
    return _nvgpu((number // 10, number % 10), "a" if number >= 90 else None)


def get_current_target():
    return _current or get_default_target()


def set_current_target(target):
    global _current
    _current = target


@contextlib.contextmanager
def scope(target):
    before = _current
    set_current_target(target)
    try:
        yield target
    finally:
        set_current_target(before)


def match_target(target, target_templates):
    """The one of them, the highest, that the target can run; None: there is none."""
    fine = [one for one in target_templates if target.supports(one)]
    return max(fine, key=lambda one: (one.properties.compute_capability, one.properties.feature_suffix or ""), default=None)


_modules.become(__name__)
