"""A kernel's operations and the bytes that it moves, counted in its IR: loops and grids of extents that are known."""

import dataclasses
import math
import re

_RESULT = re.compile(r"\s*(%[\w.]+) = (\w+)(.*?) : (.*)$")
_SHAPE = re.compile(r"<(\w+), \[([^]]*)\]")
_NAMES = re.compile(r"%[\w.]+")
_MOVES = ("load", "copy", "copy_async", "store", "gather", "scatter")
# Multiplications and additions a cycle of one multiprocessor's matrix units, in 16 bits, and its clock in GHz.
_RATES = {"80": (2048, 1.41), "86": (1024, 1.7), "89": (1024, 2.5), "90": (4096, 1.83)}


@dataclasses.dataclass
class AnalysisResult:
    total_flops: int
    total_global_bytes: int
    estimated_time: float
    expected_tflops: float
    expected_bandwidth_GBps: float


class Analyzer:
    def __init__(self, fn, device):
        self.text = fn.get_tir() if hasattr(fn, "get_tir") else fn.script()
        self.device = device
        self.total_flops = self.total_global_bytes = 0
        self.numbers, self.types = {}, {}

    def shape(self, name):
        found = _SHAPE.search(self.types.get(name, ""))
        return [int(one) for one in found[2].split(", ") if one.isdigit()] if found else []

    def bytes(self, name):
        kind = _SHAPE.search(self.types[name])[1]
        return math.prod(self.shape(name)) * int(re.search(r"\d+", kind)[0]) // 8

    def is_view(self, name):
        return self.types.get(name, "").startswith("view")

    def look(self, op, result, names, times):
        if op == "dot" and len(names) >= 2:
            (m, k), n = self.shape(names[0])[-2:], self.shape(result or names[2])[-1]
            self.total_flops += 2 * m * n * k * times
        elif op in _MOVES and any([self.is_view(name) for name in names]):
            tiles = [name for name in ([result] if result else names) if self.shape(name) and not self.is_view(name)]
            if tiles:
                self.total_global_bytes += min([self.bytes(name) for name in tiles]) * times

    def ir_pass(self):
        times = [1]
        for line in self.text.split("\n"):
            line = line.partition(" # ")[0]
            found = _RESULT.match(line)
            words = line.split()
            if found:
                result, op, rest, self.types[found[1]] = found[1], found[2], found[3], found[4]
                told = re.search(r"\{value = (-?\d+)\}", rest)
                if op == "const" and told:
                    self.numbers[result] = int(told[1])
                self.look(op, result, _NAMES.findall(rest), times[-1])
            elif words and not line.rstrip().endswith("{"):
                self.look(words[0], None, _NAMES.findall(line), times[-1])
            if words and words[0].startswith("}"):  # another region may begin on the line
                times.pop()
            if line.rstrip().endswith("{"):
                times.append(times[-1] * self.trips(words))
        return self

    def trips(self, words):
        names = [self.numbers.get(word.rstrip(",")) for word in words[1:4]] if words else []
        if words[:1] == ["launch"]:
            return math.prod([one or 1 for one in names])
        if words[:1] == ["for"] and None not in names and len(names) == 3:
            return max(0, -((names[0] - names[1]) // names[2]))
        return 1

    def calculate(self):
        bandwidth = self.device.bandwidth[1] / 1000
        rate = _RATES.get(self.device.compute_capability)
        peak = round(rate[0] * rate[1] * self.device.compute_max_core / 1e3, 1) if rate else None
        moving = self.total_global_bytes / (bandwidth * 1e9)
        time = max(moving, self.total_flops / (peak * 1e12)) if peak else moving
        return AnalysisResult(self.total_flops, self.total_global_bytes, time, peak, bandwidth)

    @classmethod
    def analysis(cls, fn, device):
        return cls(fn, device).ir_pass().calculate()
