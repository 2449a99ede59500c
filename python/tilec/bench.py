"""python -m tilec bench FILE.py [NAME...]: times what the functions bench_* of a file give.

Such a function sets up, and gives what is to be timed: a function without arguments, or several by their names in a dict.
"""

import os
import runpy
import sys

from tilec import device, kernels, native


def _benchmarks(path, wanted):
    names = runpy.run_path(path, run_name=os.path.splitext(os.path.basename(path))[0])
    found = {name: value for name, value in names.items() if name.startswith("bench_") and callable(value)}
    missing = [name for name in wanted if name not in found]
    if missing or not found:
        sys.exit(f"{path}: " + (f"there is no {missing[0]}" if missing else "no function's name begins with bench_"))
    return {name: found[name] for name in wanted or found}


def _line(label, times):
    if device.is_emulator():
        return f"{label}: ran on the emulator, whose times say nothing"
    mean, least, most = (1e3 * kernels.summary(times, mode=mode) for mode in ("mean", "min", "max"))
    return f"{label}: {mean:.2f} us on average, {least:.2f} to {most:.2f}, {len(times)} calls"


def _timed(function):
    function()  # compiles
    native.check(native.synchronize(None))
    return kernels.times(function)


def main(path, wanted):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    for name, benchmark in _benchmarks(path, wanted).items():
        given = benchmark()
        for part, function in given.items() if isinstance(given, dict) else [("", given)]:
            label = f"{name}[{part}]" if part else name
            if not callable(function):
                sys.exit(f"{label}: it gives {function!r}, not a function to be timed")
            print(_line(label, _timed(function)), flush=True)
