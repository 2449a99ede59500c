"""Tapes as diagrams of GraphViz: arrays, the kernels that read and write them, and the scopes that these were launched in."""

from warp import types as _types


def _quoted(text):
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Step:
    """A launch, or what else was recorded, in the scopes of these names."""

    def __init__(self, name, inputs, outputs, scopes):
        self.name, self.inputs, self.outputs, self.scopes = name, inputs, outputs, scopes

    def key(self):
        return self.name, self.scopes, [id(array) for _, array in self.inputs], [id(array) for _, array in self.outputs]


class _Repeat:
    """Steps that are done several times in this order."""

    def __init__(self, steps, times):
        self.steps, self.times = steps, times


LONGEST = 64  # of what is looked for again


def _folded(steps):
    made, at = [], 0
    keys = [step.key() for step in steps]
    while at < len(steps):
        best, times = 0, 1
        for length in range(1, min(LONGEST, (len(steps) - at) // 2) + 1):
            count = 1
            while keys[at + count * length : at + (count + 1) * length] == keys[at : at + length]:
                count += 1
            if count > 1 and count * length > best * times:
                best, times = length, count
        made.append(_Repeat(steps[at : at + max(best, 1)], times))
        at += max(best, 1) * times
    return made


def _named_arrays(names, values):
    from warp.tape import _arrays_in

    return [(name, array) for name, value in zip(names, values) for array in _arrays_in(value)]


def _steps(tape, ignore_scopes):
    """In the tape's order, each with the names of the scopes that it is in."""
    marks = {} if ignore_scopes else tape.scopes_at()
    scopes, made = (), []
    for place, record in enumerate(tape.launches):
        for name in marks.get(place, []):
            scopes = scopes[:-1] if name is None else (*scopes, name)
        if len(record) == 2:  # as of a copy: the first array is written
            arrays = [("", array) for array in record[1]]
            made.append(_Step("custom", arrays[1:], arrays[:1], scopes))
            continue
        kernel, inputs, outputs = record[0], record[3], record[4]
        names = kernel.parameters
        made.append(_Step(kernel.key, _named_arrays(names, inputs), _named_arrays(names[len(inputs) :], outputs), scopes))
    return made


class _Diagram:
    def __init__(self, labels, hidden, named):
        self.labels, self.hidden = labels, hidden
        self.lines, self.arrays, self.named = [], {}, named

    def name_of(self, array, name, longest):
        """A node's, whose label is what the program says, or what a kernel calls it."""
        node = f"array{id(array)}"
        known = self.arrays.get(node)
        label = self.named.get(id(array)) or self.labels.get(array) or name
        if known is None or longest and len(label) > len(known[0]):
            self.arrays[node] = label, array
        return node

    def add(self, number, step, longest):
        kernel = f"kernel{number}"
        self.lines.append(f"{kernel} [label={_quoted(step.name)}, shape=box];")
        for name, array in step.inputs:
            if id(array) not in self.hidden:
                self.lines.append(f"{self.name_of(array, name, longest)} -> {kernel};")
        for name, array in step.outputs:
            self.lines.append(f"{kernel} -> {self.name_of(array, name, longest)};")

    def array_lines(self):
        for node, (label, array) in self.arrays.items():
            tooltip = f"array: dtype={_types.type_repr(array.dtype)}, shape={tuple(array.shape)}"
            style = ", style=filled" if id(array) in self.named else ""
            yield f"{node} [label={_quoted(label or 'array')}, tooltip={_quoted(tooltip)}{style}];"


def _tracked(arrays, names):
    return {id(array): name for array, name in zip(arrays or [], [*(names or []), *[""] * len(arrays or [])])}


def diagram_of(tape, simplify_graph=True, hide_readonly_arrays=False, array_labels=None, choose_longest_node_name=True,
               ignore_graph_scopes=False, track_inputs=None, track_outputs=None, track_input_names=None, track_output_names=None,
               graph_direction="LR"):
    steps = _steps(tape, ignore_graph_scopes)
    written = {id(array) for step in steps for _, array in step.outputs}
    hidden = {id(array) for step in steps for _, array in step.inputs} - written if hide_readonly_arrays else set()
    named = {**_tracked(track_inputs, track_input_names), **_tracked(track_outputs, track_output_names)}
    diagram = _Diagram(array_labels or {}, hidden, named)
    open_scopes, number, clusters = (), 0, 0
    for repeat in _folded(steps) if simplify_graph else [_Repeat([step], 1) for step in steps]:
        wanted = repeat.steps[0].scopes
        while open_scopes != wanted[: len(open_scopes)]:
            diagram.lines.append("}")
            open_scopes = open_scopes[:-1]
        for name in wanted[len(open_scopes) :]:
            diagram.lines.append(f"subgraph cluster{clusters} {{ label={_quoted(name)};")
            clusters += 1
        open_scopes = wanted
        if repeat.times > 1:
            diagram.lines.append(f"subgraph cluster{clusters} {{ label={_quoted(f'repeated {repeat.times}x')};")
            clusters += 1
        for step in repeat.steps:
            diagram.add(number, step, choose_longest_node_name)
            number += 1
        if repeat.times > 1:
            diagram.lines.append("}")
    diagram.lines += ["}"] * len(open_scopes)
    return "\n".join(["digraph tape {", f"rankdir={graph_direction};", *diagram.lines, *diagram.array_lines(), "}", ""])
