"""What programs ask of a target: kernels are for the device that there is."""

from tvm.target import Target


def determine_target(target="auto", return_object=False):
    """The target's name, or what has it and the GPU's kind."""
    from tilelang.contrib import nvcc

    if target == "auto":
        target = Target.current() or "cuda"
    if not return_object:
        return target
    if isinstance(target, Target):
        return target
    return Target({"kind": str(target), "arch": "sm_" + nvcc.get_target_compute_version().replace(".", "")})


def auto_detect_target():
    return determine_target()


def check_cuda_availability():
    import torch

    return torch.cuda.is_available()


def _compute(target):
    from tilelang.contrib import nvcc

    arch = str(getattr(target, "arch", None) or "").removeprefix("sm_").rstrip("af")
    return int(arch) if arch.isdigit() else int(nvcc.get_target_compute_version(target).replace(".", ""))


def target_is_cuda(target):
    return getattr(getattr(target, "kind", None), "name", target) == "cuda"


def target_is_hip(target):
    return False


target_is_volta, target_is_turing, target_is_ampere, target_is_hopper, target_is_sm120 = [
    lambda target, least=least, most=most: target_is_cuda(target) and least <= _compute(target) <= most
    for least, most in ((70, 74), (75, 79), (80, 89), (90, 99), (120, 129))
]


def target_has_async_copy(target):
    return target_is_cuda(target) and _compute(target) >= 80


def target_has_ldmatrix(target):
    return target_is_cuda(target) and _compute(target) >= 75


def target_has_stmatrix(target):
    return target_is_cuda(target) and _compute(target) >= 90


def target_has_bulk_copy(target):
    return target_is_cuda(target) and _compute(target) >= 90


__all__ = [name for name in dir() if not name.startswith("_")]
