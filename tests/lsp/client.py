"""A client of the Language Server Protocol, as small as a test needs: the standard library alone."""
import json
import os
import select
import subprocess
import time

# A document that clients open where any kernel does.
URI = "file:///nowhere/kernel.tile"
TEXT = '''import tilus
from tilus import float32, int32


class Copy(tilus.Script):
    def __call__(self, n: int32, source: ~float32, target: ~float32):
        self.attrs.blocks = n // 64
        self.attrs.warps = 1
        a = self.global_view(source, dtype=float32, shape=[n])
        x = self.load_global(a, offsets=[self.blockIdx.x * 64], shape=[64])
        b = self.global_view(target, dtype=float32, shape=[n])
        self.store_global(b, x, offsets=[self.blockIdx.x * 64])


copy = Copy()
'''


class Ended(Exception):
    """The server ended, or said nothing for too long."""


class Client:
    """Talks to `tilec lsp`; what the server says of its own accord is kept in `told`."""

    def __init__(self, *options, seconds=60, **environment):
        self.process = subprocess.Popen(
            [os.environ["TILEC"], "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **environment})
        self.seconds, self.number, self.bytes, self.told = seconds, 0, b"", []

    # ---- messages ----

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        data = json.dumps(message).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def read_more(self, end):
        ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
        data = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
        if not data:
            raise Ended(f"exit status {self.process.poll()}")
        self.bytes += data

    def receive(self):
        """The next message."""
        end = time.monotonic() + self.seconds
        while b"\r\n\r\n" not in self.bytes:
            self.read_more(end)
        header, self.bytes = self.bytes.split(b"\r\n\r\n", 1)
        length = int(header.split(b":")[1])
        while len(self.bytes) < length:
            self.read_more(end)
        data, self.bytes = self.bytes[:length], self.bytes[length:]
        return json.loads(data)

    # ---- requests ----

    def ask(self, method, params=None):
        """Sends a request, and gives its number."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def answer(self, number):
        """The answer to that request, an error among them."""
        while True:
            message = self.receive()
            if "method" in message:
                self.told.append(message)
            elif message["id"] == number:
                return message

    def request(self, method, params=None):
        """The result of a request."""
        message = self.answer(self.ask(method, params))
        assert "error" not in message, message
        return message["result"]

    def fails(self, method, params=None):
        """The error that a request gets."""
        message = self.answer(self.ask(method, params))
        assert "error" in message, message
        return message["error"]

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    # ---- a session ----

    def start(self, encodings=None):
        general = {"positionEncodings": encodings} if encodings else {}
        result = self.request("initialize", {"processId": None, "rootUri": None,
                                             "capabilities": {"general": general}})
        self.notify("initialized", {})
        return result

    def stop(self):
        """Shuts the server down, and gives its exit status."""
        self.request("shutdown")
        self.notify("exit")
        return self.end()

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(self.seconds)
        self.process.stdout.close()
        return status

    def open(self, uri, text, version=1):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "tile", "version": version, "text": text}})

    def change(self, uri, version, *changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def diagnostics(self, uri, version):
        """What is published of that version of a text."""
        while True:
            for message in self.told:
                params = message.get("params", {})
                if params.get("uri") == uri and params.get("version") == version:
                    self.told.remove(message)
                    return params["diagnostics"]
            message = self.receive()
            if "method" in message:
                self.told.append(message)

    def at(self, method, uri, line, character, **more):
        return self.request("textDocument/" + method, {
            "textDocument": {"uri": uri}, "position": {"line": line, "character": character}, **more})


def place_of(text, words, offset=0, nth=0):
    """(line, character) of the nth place of the words in a text, in UTF-16 units, and so far in."""
    start = -1
    for _ in range(nth + 1):
        start = text.index(words, start + 1)
    before = text[:start + offset]
    line = before.rsplit("\n", 1)[-1]
    return before.count("\n"), len(line.encode("utf-16-le")) // 2
