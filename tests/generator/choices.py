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
