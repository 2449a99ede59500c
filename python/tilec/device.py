"""The device that kernels run on: the GPU where there is one, else the emulator."""

import os

from tilec import native

_chosen = []


def name():
    """What TILE_DEVICE says, else "cuda" if the driver shows a GPU, else "emulator"."""
    if not _chosen:
        choose(os.environ.get("TILE_DEVICE") or ("cuda" if native.device_count() > 0 else "emulator"))
    return _chosen[0]


def choose(device):
    native.check(native.set_device_name(device.encode()))
    _chosen[:] = [device]


def is_emulator():
    return name() == "emulator"


def computes():
    """The kinds of GPUs that code is made for; none: the emulator."""
    if is_emulator():
        return []
    return sorted({native.device_compute(i) for i in range(native.device_count())})
