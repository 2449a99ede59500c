"""How much processor time requests on a text of 1,000 lines take, with an edit before each, as while
somebody types. Prints whether each kind stays below the bound; the figures go to standard error."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Client, place_of  # noqa: E402

URI = "file:///nowhere/long.tile"
HEAD = "import tilus\nfrom tilus import float32, int32\n"
KERNEL = '''

# Kernel number {0}.
class Scale{0}(tilus.Script):
    def __init__(self, width, factor):
        super().__init__()
        self.width = width
        self.factor = factor

    def scaled(self, tile):
        return tile * self.factor

    def __call__(self, n: int32, source: ~float32, target: ~float32):
        self.attrs.blocks = n // self.width
        self.attrs.warps = 1
        a = self.global_view(source, dtype=float32, shape=[n])
        x = self.load_global(a, offsets=[self.blockIdx.x * self.width], shape=[self.width])
        y = self.scaled(x)
        for i in range(4):
            y = y + x * i
        b = self.global_view(target, dtype=float32, shape=[n])
        self.store_global(b, y, offsets=[self.blockIdx.x * self.width])


scale_{0} = Scale{0}(width=64, factor={0}.0)
'''
BOUND = 0.050  # seconds a request
COUNT = 20
LINES = 1000


def long_text():
    text, number = HEAD, 0
    while text.count("\n") < LINES:
        text += KERNEL.format(number)
        number += 1
    return text


def processor_seconds(client):
    with open(f"/proc/{client.process.pid}/schedstat") as file:
        return int(file.read().split()[0]) / 1e9


class Typist:
    """Adds a blank in the middle of the text, or takes it away again."""

    def __init__(self, client, text):
        self.client, self.text, self.version = client, text, 1
        self.line, self.character = place_of(text, "scaled(x)", nth=15)
        client.open(URI, text)
        assert client.diagnostics(URI, 1) == []

    def type(self):
        self.version += 1
        at = {"line": self.line, "character": self.character + len("scaled(")}
        new, end = ("", {**at, "character": at["character"] + 1}) if self.version % 2 else (" ", at)
        self.client.change(URI, self.version, {"range": {"start": at, "end": end}, "text": new})


def main():
    if not os.path.exists("/proc/self/schedstat"):
        print("the system does not tell the processor time of a process", file=sys.stderr)
        sys.exit(77)
    client, text = Client(), long_text()
    client.start()
    typist = Typist(client, text)
    place = {"textDocument": {"uri": URI}, "position": {"line": typist.line, "character": typist.character + 2}}
    for method in ("hover", "definition", "completion", "signatureHelp", "documentSymbol", "documentHighlight",
                   "references", "prepareRename"):
        begin = processor_seconds(client)
        for _ in range(COUNT):
            typist.type()
            client.answer(client.ask("textDocument/" + method, place))
        each = (processor_seconds(client) - begin) / COUNT
        print(f"{method}: {each * 1e3:.1f} ms", file=sys.stderr)
        print(f"{method} of {LINES} lines:", "below the bound" if each < BOUND else f"{each * 1e3:.0f} ms")
    begin = processor_seconds(client)
    for _ in range(3):
        typist.type()
        assert client.diagnostics(URI, typist.version) == []
    print(f"diagnostics: {(processor_seconds(client) - begin) / 3 * 1e3:.1f} ms", file=sys.stderr)
    assert client.stop() == 0


main()
