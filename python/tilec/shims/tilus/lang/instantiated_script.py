"""How a script's configurations follow from what it was decorated with, and what choices among them are of."""

import inspect
import itertools
import re


def span_space(space):
    """Each choice of the space, as a dict: {"m": [1, 2], "n, k": [[1, 2], [3, 4]]} has four."""
    axes = []
    for names, values in space.items():
        names = [name.strip() for name in names.split(",")]
        axes.append([dict(zip(names, value if len(names) > 1 else [value])) for value in values])
    return [{name: value for part in chosen for name, value in part.items()} for chosen in itertools.product(*axes)]


def generate_schedules(space, script_cls, script_args=(), script_kwargs=None):
    """The choices of the parameters that a call of the class leaves open."""
    given = inspect.signature(script_cls.__init__).bind_partial(None, *script_args, **(script_kwargs or {})).arguments
    found = []
    for choice in span_space(space):
        taken = {name: value for name, value in choice.items() if name not in given}
        if taken not in found:
            found.append(taken)
    return found


def _tilus_version():
    import tilus

    return re.split(r"\.dev|\+", tilus.__version__)[0]


def collect_tuning_metadata():
    """What a choice by time holds for."""
    from tilec import device, native

    number = 90 if device.is_emulator() else native.device_compute(0)
    gpu, cuda = "emulator", ""
    if not device.is_emulator():
        import torch

        gpu, cuda = torch.cuda.get_device_name(), torch.version.cuda or ""
    return {"tilus_version": _tilus_version(), "target": f"sm_{number}", "gpu": gpu, "compute_capability": f"{number // 10}.{number % 10}",
            "cuda_version": cuda}


def tuning_metadata_matches(saved, current):
    """Whether a choice that was kept holds here: "*" is any."""
    return isinstance(saved, dict) and all([saved.get(name) in ("*", value) for name, value in current.items()])
