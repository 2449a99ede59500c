"""How long what a program has a GPU do takes: each launch, copy and setting of memory for itself."""

import contextlib

from warp import devices as _devices
from warp import graphs as _graphs

TIMING_KERNEL, TIMING_KERNEL_BUILTIN, TIMING_MEMCPY, TIMING_MEMSET, TIMING_GRAPH, TIMING_ALL = 1, 2, 4, 8, 16, 0xFFFFFFFF


class TimingResult:
    """Of one of them: the device, a name, which kind it is, milliseconds."""

    def __init__(self, device, name, filter, elapsed):
        self.device, self.name, self.filter, self.elapsed = device, name, filter, elapsed


_open = []  # of each that is being timed: its filter, and what was done


def timing_begin(cuda_filter=TIMING_ALL, synchronize=True):
    if synchronize:
        _devices.synchronize()
    _open.append((cuda_filter, []))


def timing_end(synchronize=True):
    """What was done since timing_begin()."""
    _, found = _open.pop()
    if synchronize:
        _devices.synchronize()
    return [TimingResult(device, name, kind, _devices.get_event_elapsed_time(start, end)) for device, name, kind, start, end in found]


def is_open():
    return len(_open) > 0


def _is_wanted(kind, device):
    return bool(_open and _open[-1][0] & kind and device.is_cuda and not _graphs.is_capturing())


@contextlib.contextmanager
def measured(kind, name, device):
    """Around what is done on a device's current stream."""
    if not _is_wanted(kind, device):
        yield
        return
    start, end = [_devices.Event(device, enable_timing=True) for _ in range(2)]
    start.record()
    yield
    end.record()
    _open[-1][1].append((device, name, kind, start, end))


def copy_name(dest, src):
    return f"memcpy {'D' if src.device.is_cuda else 'H'}to{'D' if dest.device.is_cuda else 'H'}"


def timing_print(results, indent=""):
    """The results in their order, and their sums by names and devices."""
    if not results:
        print("No activity")
        return
    width = max([len("Activity"), *[len(one.name) for one in results]]) + 1
    line = f"{indent}----------------+---------+{'-' * width}"

    def table(title, columns, rows):
        print(f"{indent}{title}:")
        print(line)
        print(f"{indent}{columns[0]:15s} | {columns[1]:7s} | {columns[2]}")
        print(line)
        for elapsed, middle, name in rows:
            print(f"{indent}{elapsed:12.6f} ms | {middle:7} | {name}")

    def sums(names):
        return [(sum([one.elapsed for one, its in zip(results, names) if its == name]), names.count(name), name) for name in dict.fromkeys(names)]

    table("CUDA timeline", ("Time", "Device", "Activity"), [(one.elapsed, one.device.alias, one.name) for one in results])
    print()
    table("CUDA activity summary", ("Total time", "Count", "Activity"), sums([one.name for one in results]))
    print()
    table("CUDA device summary", ("Total time", "Count", "Device"), sums([one.device.alias for one in results]))


__all__ = ["TIMING_ALL", "TIMING_GRAPH", "TIMING_KERNEL", "TIMING_KERNEL_BUILTIN", "TIMING_MEMCPY", "TIMING_MEMSET", "TimingResult", "timing_begin",
           "timing_end", "timing_print"]
