"""The compute capability that kernels are compiled for, as programs ask for it; nvcc itself is not needed."""

from tilec import modules as _modules


def get_target_compute_version(target=None):
    import torch

    major, minor = torch.cuda.get_device_capability()
    return f"{major}.{minor}"


def parse_compute_version(compute_version):
    major, _, minor = str(compute_version).partition(".")
    return int(major), int(minor or 0)


def have_tma(target=None):
    return parse_compute_version(get_target_compute_version(target)) >= (9, 0)


_modules.become(__name__)
