"""What a client may do wrong, and what it may do in any order: tilec lsp answers by the protocol's
errors, goes on, and ends when it is told to. Prints a line a check."""
import json
import os
import random
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import TEXT, URI, Client, Ended  # noqa: E402

PLACE = {"textDocument": {"uri": URI}, "position": {"line": 9, "character": 20}}
REQUESTS = ["hover", "definition", "references", "documentHighlight", "documentSymbol", "completion",
            "signatureHelp", "prepareRename", "rename"]


def check_order():
    client = Client()
    assert client.fails("textDocument/hover", PLACE)["code"] == -32002
    client.notify("textDocument/didOpen", {})
    client.start()
    assert client.fails("initialize", {})["code"] == -32600
    assert client.fails("no/such", {})["code"] == -32601
    client.notify("$/unknown", {"a": 1})
    client.notify("no/such", None)
    client.send({"jsonrpc": "2.0", "id": 99, "result": None})
    client.request("shutdown")
    assert client.fails("textDocument/hover", PLACE)["code"] == -32600
    client.notify("exit")
    assert client.end() == 0
    client = Client()
    client.notify("exit")
    assert client.end() == 1, "it was not shut down"
    client = Client()
    client.start()
    assert client.end() == 1, "its input ended"
    print("requests before initialize and after shutdown, exit with and without shutdown")


def check_cancel():
    client = Client()
    client.start()
    client.open(URI, TEXT)
    client.number += 1
    number = client.number
    message = json.dumps({"jsonrpc": "2.0", "id": number, "method": "textDocument/hover", "params": PLACE})
    cancel = json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
    both = "".join(f"Content-Length: {len(text)}\r\n\r\n{text}" for text in (message, cancel))
    client.send_bytes(both.encode())
    assert client.answer(number)["error"]["code"] == -32800
    client.notify("$/cancelRequest", {"id": number})
    client.notify("$/cancelRequest", {"id": "nobody's"})
    assert client.request("textDocument/hover", PLACE) is not None
    assert client.stop() == 0
    print("requests that are cancelled before they are answered")


def broken(client, data):
    client.send_bytes(data)
    message = client.receive()
    assert message["id"] in (None, 1) and message["error"]["code"] in (-32700, -32600), message


def framed(text):
    data = text if isinstance(text, bytes) else text.encode()
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def check_broken():
    client = Client()
    client.start()
    broken(client, b"Content-Length: nothing\r\n\r\n")
    broken(client, b"Content-Length: -1\r\n\r\n")
    broken(client, b"Content-Length: 99999999999999999999\r\n\r\n")
    broken(client, b"Content-Type: text\r\n\r\n")
    for text in ("", "{", "nul", "[]", "[1]", "17", '"text"', "{}", '{"method": 1}', '{"id": 1}', "{" * 5000,
                 "[" * 100000, b"\xff\xfe", b'{"method": "\xff"}', '{"jsonrpc": "2.0", "id": {}, "method": "x"}',
                 '{"method": "initialize", "id": [1]}', '{"id": 1.5, "method": "shutdown"}', '{"method": "\\u0000"}'):
        broken(client, framed(text))
    client.send_bytes(b"content-length:2\ncontent-type: x\n\n{}")
    assert client.receive()["error"]["code"] == -32600
    assert client.fails("textDocument/documentSymbol", {"textDocument": {"uri": "x"}})["code"] == -32602
    assert client.stop() == 0
    print("messages without a length, of no JSON, of other JSON")


def check_parameters():
    client = Client()
    client.start()
    client.open(URI, TEXT)
    odd = [None, [], 1, "x", {}, {"textDocument": 1}, {"textDocument": {"uri": 1}}, {"textDocument": {"uri": URI}},
           {"textDocument": {"uri": URI}, "position": []}, {"textDocument": {"uri": URI}, "position": {}},
           {"textDocument": {"uri": URI}, "position": {"line": -1, "character": -5}},
           {"textDocument": {"uri": URI}, "position": {"line": 1 << 62, "character": 1 << 62}},
           {"textDocument": {"uri": URI}, "position": {"line": "1", "character": None}, "newName": 7}]
    for method in REQUESTS:
        for params in odd:
            message = client.answer(client.ask("textDocument/" + method, params))
            assert ("result" in message) != ("error" in message), message
    for method in ("didOpen", "didChange", "didClose", "didSave"):
        for params in odd:
            if method != "didClose" or params is None or not isinstance(params, dict):
                client.notify("textDocument/" + method, params)
    client.change(URI, 2, {"text": "x = 1", "range": {"start": {"line": 9, "character": 9}, "end": {}}}, {}, {"range": 1})
    client.change(URI, 3, {"text": 5}, {"text": TEXT}, {"text": "", "range": {
        "start": {"line": 1 << 40, "character": 0}, "end": {"line": 0, "character": 0}}})
    assert client.diagnostics(URI, 3) == []
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.fails("textDocument/hover", PLACE)["code"] == -32602
    assert client.stop() == 0
    print("parameters of other forms, documents that are not open, places that are not there")


def edited(choose, text):
    """A text as it is while somebody types: cut, doubled, with odd characters."""
    at = choose.randrange(len(text) + 1)
    what = choose.choice(["", "(", ")", "[", "'", '"""', "\n", "    ", ".", ",", "=", "#", "\\", "\t", "\U0001d70b", "é",
                          "def ", "class ", "self.", "for x in ", ":", "@", "\r\n", "\r", "lambda: ", "f'{", "import "])
    return text[:at] + what + text[at + choose.choice([0, 0, 1, 7, 60]):]


def check_edits(seed, count):
    """Random texts, and every request at random places of them."""
    choose, client, text = random.Random(seed), Client(), TEXT
    client.start()
    client.open(URI, text)
    for version in range(2, count + 2):
        text = edited(choose, text if choose.random() < 0.8 and len(text) < 3000 else TEXT)
        client.change(URI, version, {"text": text})
        for method in choose.sample(REQUESTS, 3):
            line = choose.randrange(text.count("\n") + 2)
            params = {"textDocument": {"uri": URI}, "newName": "other",
                      "position": {"line": line, "character": choose.randrange(60)}}
            message = client.answer(client.ask("textDocument/" + method, params))
            assert ("result" in message) != ("error" in message), (text, message)
        if version % 5 == 0:
            client.diagnostics(URI, version)
        client.told.clear()
    assert client.stop() == 0
    print("texts that are being typed, asked about anywhere")


def check_faults():
    """A fault of the compiler itself: it is told, and the server goes on."""
    client = Client()
    client.start()
    client.open(URI, TEXT)
    client.open("file:///nowhere/slow.tile", TEXT.replace("n // 64", "len([i for i in range(10**9)])"))
    os.kill(client.process.pid, signal.SIGABRT)
    while client.told == [] or client.told[-1]["method"] != "window/logMessage":
        client.told.append(client.receive())
    assert client.told[-1]["params"]["message"].startswith("internal error: "), client.told[-1]
    assert client.request("textDocument/hover", PLACE) is not None
    os.kill(client.process.pid, signal.SIGABRT)
    number = client.ask("textDocument/hover", PLACE)
    answer = client.answer(number)
    assert "result" in answer or answer["error"]["code"] == -32603, answer
    assert client.stop() == 0
    print("internal errors of the compiler")


def check_garbage(seed, count):
    """Bytes at random: the server goes on, or its input has ended."""
    choose = random.Random(seed)
    for _ in range(count):
        client = Client()
        client.start()
        for _ in range(20):
            data = bytes(choose.randrange(256) for _ in range(choose.randrange(200)))
            client.send_bytes(framed(data) if choose.random() < 0.7 else data + b"\r\n\r\n")
        client.process.stdin.close()
        try:
            while True:
                client.receive()
        except (Ended, ValueError):
            pass
        assert client.process.wait(60) == 1
        client.process.stdout.close()
    print("bytes at random")


check_order()
check_cancel()
check_broken()
check_parameters()
check_faults()
count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
check_edits(5, count)
check_garbage(7, 1 + count // 30)
