"""Calls that were planned: the launches that libtilec told of, made again on other arrays of the same kind.

A plan knows for each argument of each launch where it comes from: an array of the call, one that the call makes, or a
value. Numbers that a kernel takes at run time, by the name of a parameter of the call, are taken from each call anew.
"""

import ctypes
import struct

from tilec import arrays, native

_FORMATS = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f", "f64": "d",
    "f16": "e", "b1": "?",
}


class Launch:
    """One launch: cells that hold the arguments' values, and the array of their addresses."""

    __slots__ = ("kernel", "cells", "pointers", "places", "kept", "count", "address")

    def __init__(self, told):
        arguments = told["arguments"]
        self.kernel = told["kernel"]
        self.count = len(arguments)
        self.cells = (ctypes.c_uint64 * (self.count + 1))()
        start = ctypes.addressof(self.cells)
        self.pointers = (ctypes.c_void_p * (self.count + 1))(*[start + 8 * i for i in range(self.count)])
        self.address = ctypes.addressof(self.pointers)
        self.places = []  # (cell, number of the array)
        self.kept = []
        for i, argument in enumerate(arguments):
            if "array" in argument:
                self.places.append((i, argument["array"]))
            elif "text" in argument:
                text = ctypes.create_string_buffer(argument["text"].encode())
                self.kept.append(text)
                self.cells[i] = ctypes.addressof(text)
            else:
                self.cells[i] = argument["bits"]

    def structure(self):
        return native.Kernel.from_address(self.kernel)


class Plan:
    """What a call does: its launches, the arrays that it makes, and what it gives."""

    __slots__ = ("launches", "results", "value", "given", "scalars")

    def __init__(self, answer, given):
        self.launches = [Launch(told) for told in answer["launches"]]
        self.results = [(result["dtype"], tuple(result["shape"])) for result in answer["results"]]
        self.value = answer["values"][0] if answer["values"] else None
        self.given = given
        self.scalars = []

    def run(self, facts, model=None, stream=None):
        """With the facts of the call's arrays, in order."""
        model = model or (facts[0] if facts else None)
        made = [arrays.empty_like(model, code, shape) for code, shape in self.results]
        for one in facts:
            if one.device[0] == arrays.CPU:
                arrays.check_place(one)
        pointers = [one.pointer for one in facts]
        for one in made:
            pointers.append(arrays.facts_of(one).pointer)
        if stream is None:
            stream = arrays.current_stream(model)
        for one in self.launches:
            cells = one.cells
            for cell, number in one.places:
                cells[cell] = pointers[number]
            status = native.launch(one.kernel, stream, None, 0, one.address)
            if status:
                native.check(status)
        if arrays.waits(model):
            native.check(native.synchronize(None))
        return self._shaped(self.value, facts, made)

    def _shaped(self, value, facts, made):
        if isinstance(value, dict) and "array" in value:
            number = value["array"]
            return made[number - self.given] if number >= self.given else facts[number].owner
        if isinstance(value, dict) and "tuple" in value:
            return tuple([self._shaped(item, facts, made) for item in value["tuple"]])
        if isinstance(value, list):
            return [self._shaped(item, facts, made) for item in value]
        return None if isinstance(value, dict) else value

    # ---- numbers of the call ----

    def find_scalars(self, named):
        """`named`: numbers by the names of the call's parameters. Those that every launch takes by that name as run-time
        values, and the results' shapes do not depend on, change from call to call. Gives their names."""
        if self.results:
            return []
        for name, value in named.items():
            uses = []
            for one in self.launches:
                kernel = one.structure()
                for i in range(one.count):
                    parameter = kernel.parameters[i]
                    if parameter.name.decode() != name:
                        continue
                    code = _FORMATS.get(parameter.type.decode())
                    if parameter.kind != native.SCALAR or code is None or not _fits(code, value, one.cells[i]):
                        uses = None
                        break
                    uses.append((one, i, struct.Struct("<" + code)))
                if uses is None:
                    break
            if uses:
                self.scalars.append((name, uses))
        return [name for name, _ in self.scalars]

    def set_scalars(self, named):
        for name, uses in self.scalars:
            value = named[name]
            for one, cell, form in uses:
                form.pack_into(one.cells, cell * 8, value)


def _fits(code, value, cell):
    try:
        packed = struct.pack("<" + code, value)
    except (struct.error, OverflowError):
        return False
    return packed == struct.pack("<Q", cell)[: len(packed)]
