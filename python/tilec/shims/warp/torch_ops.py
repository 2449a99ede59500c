"""What torch does with tensors of the device whose graph is captured: it is a part of the graph, as it would be of a driver's."""

import sys

from tilec import device as _device


def _tensors(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif hasattr(value, "data_ptr"):
            yield value


def _is_on_gpu(tensor):
    return tensor.is_cuda or _device.is_emulator()  # which works on the memory of torch's CPU


def _changed(operation, args, kwargs):
    """For each result the argument that it is, with what the operation wrote to it; None: it is another one."""
    arguments = operation._schema.arguments
    given = {one.name: args[i] if i < len(args) else kwargs.get(one.name) for i, one in enumerate(arguments)}
    found = []
    for result in operation._schema.returns:
        alias = result.alias_info
        same = [one.name for one in arguments if alias is not None and alias.is_write and one.alias_info is not None
                and one.alias_info.before_set == alias.before_set]
        found.append(given[same[0]] if same else None)
    return found


def again(operation, args, kwargs, results, device):
    """The operation when the graph is launched, in the order of Warp's own; what it gives goes to the tensors that it gave before."""
    import torch
    from warp import devices

    with torch.no_grad(), torch.cuda.stream(devices.stream_to_torch(device)):
        given = operation(*args, **kwargs)
        for old, new in zip(results, _tensors([given])):
            old.copy_(new)


def _is_view(operation):
    return any([one.alias_info is not None and not one.alias_info.is_write for one in operation._schema.returns])


def _mode(graphs):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Captured(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls):
            return False  # what would skip it is torch's compiler, which takes seconds to import

        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            graph = graphs.opened()
            if graph is None or _is_view(operation):
                return operation(*args, **kwargs)
            changes = operation._schema.is_mutable
            made = None if changes else operation(*args, **kwargs)
            places = list(_tensors([args, list(kwargs.values()), made]))
            if not any(map(_is_on_gpu, places)) or not graph.takes([graph.device]):
                return operation(*args, **kwargs) if changes else made
            if not changes:
                if list(_tensors([made])):
                    graph.note(again, (operation, args, kwargs, list(_tensors([made])), graph.device), {})
                return made
            graph.note(again, (operation, args, kwargs, [], graph.device), {})
            results = _changed(operation, args, kwargs)
            return results[0] if len(results) == 1 else tuple(results) if results else None

    return Captured()


class Watch:
    """While graphs are captured."""

    def __init__(self, graphs):
        self.graphs, self.mode = graphs, None

    def begin(self):
        if self.mode is None and "torch" in sys.modules:
            self.mode = _mode(self.graphs)
            self.mode.__enter__()

    def end(self):
        mode, self.mode = self.mode, None
        if mode is not None:
            mode.__exit__(None, None, None)
