"""What a capture's operations wait for: each is a node, behind those that its stream came to before."""


class Node:
    """An operation; `parents` are those that it waits for, `freed_by` that which ends it, if it is an allocation."""

    __slots__ = ("parents", "kind", "label", "number", "freed_by")

    def __init__(self, parents, kind, label, number):
        self.parents, self.kind, self.label, self.number = parents, kind, label, number
        self.freed_by = None

    def waits_for(self, other):
        """Whether it comes after the other one, whatever the schedule."""
        seen, left = set(), [self]
        while left:
            for parent in left.pop().parents:
                if parent is other:
                    return True
                if parent not in seen and parent.number > other.number:  # a node's parents are made before it
                    seen.add(parent)
                    left.append(parent)
        return False


AVAILABLE, FREED, INACCESSIBLE, USED_AFTER_FREE = 0, 1, 2, -2


def state_at(allocation, node):
    """What has become of an allocation where the node runs."""
    if node is not allocation and not node.waits_for(allocation):
        return INACCESSIBLE
    free = allocation.freed_by
    if free is None:
        return AVAILABLE
    if node is free or node.waits_for(free):
        return FREED
    return AVAILABLE if free.waits_for(node) else USED_AFTER_FREE


class Order:
    """The nodes of a capture, and how far each of its streams is."""

    def __init__(self, stream):
        self.nodes = []
        self.tips = {} if stream is None else {stream: frozenset()}

    def has(self, stream):
        return stream in self.tips

    def add(self, stream, kind, label=""):
        return self._add(self.tips.get(stream, frozenset()), [stream], kind, label)

    def _add(self, parents, streams, kind, label):
        made = Node(frozenset(parents), kind, label, len(self.nodes))
        self.nodes.append(made)
        for stream in streams:
            self.tips[stream] = frozenset([made])
        return made

    def free(self, allocation):
        """Ends an allocation behind all streams that came by it; the others go on beside."""
        streams = [stream for stream, tips in self.tips.items() if any(one is allocation or one.waits_for(allocation) for one in tips)]
        parents = [one for stream in streams for one in self.tips[stream]] or [allocation]
        allocation.freed_by = self._add(parents, streams, "free", "")
        return allocation.freed_by

    def wait(self, stream, tips):
        """What the stream does next is behind them; so it is a part of the capture, if it was none."""
        self.tips[stream] = self.tips.get(stream, frozenset()) | tips

    def dot(self, verbose=False):
        """The nodes as a text of Graphviz's."""
        lines = ["digraph capture {"]
        for node in self.nodes:
            words = node.kind + (f"\\n{node.label}" if node.label else "") + (f"\\n#{node.number}" if verbose else "")
            lines.append(f'  n{node.number} [shape=box, label="{words}"];')
            lines += [f"  n{parent.number} -> n{node.number};" for parent in sorted(node.parents, key=lambda one: one.number)]
        return "\n".join([*lines, "}"]) + "\n"
