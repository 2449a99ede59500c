"""Everything that tilec lsp sends, read by lsprotocol as what the protocol says that it is: what is of
another form is an error there."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import TEXT, URI, Client  # noqa: E402
from lsprotocol import converters, types  # noqa: E402

HERE = {"textDocument": {"uri": URI}, "position": {"line": 9, "character": 8}}
ASKED = [
    (types.InitializeResponse, "initialize", {"capabilities": {}}),
    (types.HoverResponse, "textDocument/hover", HERE),
    (types.DefinitionResponse, "textDocument/definition", {**HERE, "position": {"line": 9, "character": 20}}),
    (types.ReferencesResponse, "textDocument/references", {**HERE, "context": {"includeDeclaration": True}}),
    (types.DocumentHighlightResponse, "textDocument/documentHighlight", HERE),
    (types.DocumentSymbolResponse, "textDocument/documentSymbol", HERE),
    (types.CompletionResponse, "textDocument/completion", HERE),
    (types.SignatureHelpResponse, "textDocument/signatureHelp", {**HERE, "position": {"line": 9, "character": 35}}),
    (types.PrepareRenameResponse, "textDocument/prepareRename", HERE),
    (types.RenameResponse, "textDocument/rename", {**HERE, "newName": "tile"}),
    (types.HoverResponse, "textDocument/hover", {**HERE, "position": {"line": 2, "character": 0}}),
    (types.ShutdownResponse, "shutdown", None),
]


def without_none(value):
    if isinstance(value, dict):
        return {name: without_none(one) for name, one in value.items() if one is not None}
    return [without_none(one) for one in value] if isinstance(value, list) else value


def main():
    client, converter = Client(), converters.get_converter()
    for kind, method, params in ASKED:
        answer = client.answer(client.ask(method, params))
        assert "result" in answer, answer
        read = converter.structure(answer, kind)
        wanted = converter.unstructure(read, kind)
        assert without_none(wanted.get("result")) == without_none(answer["result"]), (wanted, answer)
        if method == "initialize":
            client.notify("initialized", {})
            client.open(URI, TEXT.replace("[n])\n        x", "[m])\n        x"), 1)
            (unknown,) = client.diagnostics(URI, 1)
            converter.structure(unknown, types.Diagnostic)
            client.change(URI, 2, {"text": TEXT})
            assert client.diagnostics(URI, 2) == []
    error = client.answer(client.ask("textDocument/hover", HERE))
    converter.structure(error, types.ResponseErrorMessage)
    client.notify("exit")
    assert client.end() == 0
    print("answers are of the protocol's types")


main()
