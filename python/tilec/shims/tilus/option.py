"""Options of Tilus's own compiler: what is set is kept, and changes nothing here."""

import types

_values = {"cache_dir": "", "parallel_workers": 0, "bench.warmup": 1, "bench.repeat": 5}


def get_option(name):
    return _values.get(name)


def set_option(name, value):
    _values[name] = value


def cache_dir(folder):
    _values["cache_dir"] = str(folder)


def parallel_workers(count):
    _values["parallel_workers"] = count


def bench_warmup(count):
    _values["bench.warmup"] = count


def bench_repeat(count):
    _values["bench.repeat"] = count


debug = types.SimpleNamespace(dump_ir=lambda enable=True: None, disable_ptxas_opt=lambda enabled=True: None,
                              launch_blocking=lambda enable=True: None)
