"""What the generators of all dialects do by chance, and how they write lines."""

BATCH = 25


def architecture(seed):
    """Whose program the emulator runs, a batch after the other."""
    return "sm_80" if seed // BATCH % 3 == 0 else "sm_90a"


class Choices:
    """Needs self.random, and of a writer self.body and self.depth."""

    def pick(self, items):
        return self.random.choice(items)

    def chance(self, probability):
        return self.random.random() < probability

    def line(self, text):
        self.body.append("    " * self.depth + text)

    def insert(self, mark, text):
        """A line of the kernel's own, where so many were written."""
        self.body.insert(mark, " " * 8 + text)

    def within(self, *heads):
        return Within(self, heads)


class Within:
    """Lines under others, an indentation deeper each."""

    def __init__(self, program, heads, given=None, tail=None):
        self.program, self.heads, self.given, self.tail = program, heads, given, tail

    def __enter__(self):
        for head in self.heads:
            self.program.line(head)
            self.program.depth += 1
        return self.given

    def __exit__(self, *_):
        if self.tail:
            self.program.line(self.tail)
        self.program.depth -= len(self.heads)
