"""What tilec lsp offers, asked for as an editor does, in each dialect. Prints a line a check."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Client, place_of  # noqa: E402

URI = "file:///nowhere/sum%20of%20squares.tile"
TILUS = '''# Text: \U0001d70b ≤ 4.
import math
import tilus
from tilus import float32, int32


# Sums of the squares of 64 numbers a block.
class Squares(tilus.Script):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def scaled(self, tile, factor):
        return tile * factor

    def __call__(
        self, n: int32, source: ~float32, target: ~float32
    ):
        self.attrs.blocks = n // self.width
        self.attrs.warps = 1
        view = self.global_view(source, dtype=float32, shape=[n])
        x = self.load_global(view, offsets=[self.blockIdx.x * self.width], shape=[self.width])
        y = self.scaled(x, factor=math.pi); name = "\U0001d70b"; z = y * x
        total = self.sum(z, dim=0, keepdim=True)
        out = self.global_view(target, dtype=float32, shape=[n // self.width])
        self.store_global(out, total, offsets=[self.blockIdx.x])


squares = Squares(width=64)
'''
TILELANG = '''import tilelang
import tilelang.language as T


@T.prim_func
def scale(A: T.Tensor((128, 64), "float16"), B: T.Tensor((128, 64), "float16")):
    with T.Kernel(4, threads=128) as block:
        tile = T.alloc_shared((32, 64), "float16")
        T.copy(A[block * 32, 0], tile)
        for i, j in T.Parallel(32, 64):
            tile[i, j] = tile[i, j] * 2
        T.copy(tile, B[block * 32, 0])
'''
WARP = '''import warp as wp


@wp.func
def twice(x: float):
    """Two times x."""
    return x + x


@wp.kernel
def double(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = twice(a[i])
'''


def value(hover):
    return hover["contents"]["value"]


def labels(completion):
    return {item["label"]: item.get("detail") for item in completion["items"]}


class Session:
    """A text that is open, edited and asked about."""

    def __init__(self, client, uri, text):
        self.client, self.uri, self.text, self.version = client, uri, text, 1
        client.open(uri, text)

    def diagnostics(self):
        return self.client.diagnostics(self.uri, self.version)

    def edit(self, old, new):
        """Changes a part of the text, as an editor says it: by its range."""
        begin, end = place_of(self.text, old), place_of(self.text, old, len(old))
        self.text = self.text.replace(old, new, 1)
        self.version += 1
        self.client.change(self.uri, self.version, {"text": new, "range": {
            "start": dict(zip(("line", "character"), begin)),
            "end": dict(zip(("line", "character"), end))}})

    def ask(self, method, words, offset=0, nth=0, **more):
        return self.client.at(method, self.uri, *place_of(self.text, words, offset, nth), **more)

    def hover(self, words, offset=0, nth=0):
        return value(self.ask("hover", words, offset, nth))

    def complete(self, words):
        return labels(self.ask("completion", words, len(words)))

    def place(self, words, offset=0, nth=0):
        line, character = place_of(self.text, words, offset, nth)
        return {"line": line, "character": character}

    def renamed(self, edits):
        """The text after edits of a rename."""
        lines = self.text.split("\n")
        for edit in sorted(edits, key=lambda edit: -edit["range"]["start"]["character"]):
            at, end = edit["range"]["start"], edit["range"]["end"]
            units = lines[at["line"]].encode("utf-16-le")
            lines[at["line"]] = (units[:at["character"] * 2] + edit["newText"].encode("utf-16-le")
                                 + units[end["character"] * 2:]).decode("utf-16-le")
        return "\n".join(lines)


def check_diagnostics(session):
    assert session.diagnostics() == []
    session.edit("n // self.width\n        self.attrs.warps", "n // self.width +\n        self.attrs.warps")
    session.edit("total = self.sum(z,", "total = self.summ(z,")
    (syntax,) = session.diagnostics()
    assert syntax["code"] == "E0107" and syntax["severity"] == 1 and syntax["source"] == "tilec", syntax
    session.edit("n // self.width +\n        self.attrs.warps", "n // self.width\n        self.attrs.warps")
    (unknown,) = session.diagnostics()
    assert "summ" in unknown["message"] and "did you mean 'sum'?" in unknown["message"], unknown
    assert unknown["range"]["start"]["line"] == session.place("self.summ")["line"]
    session.edit("self.summ(z,", "self.sum(z,")
    assert session.diagnostics() == []
    session.edit("self.scaled(x, factor", "self.scaled(x, factors")
    (keyword,) = session.diagnostics()
    (defined, *_) = keyword["relatedInformation"]
    assert defined["location"]["uri"] == session.uri, keyword
    assert defined["location"]["range"]["start"] == session.place("def scaled"), keyword
    session.edit("self.scaled(x, factors", "self.scaled(x, factor")
    assert session.diagnostics() == []
    session.edit("def scaled", "def after(self):\n        return\n        self.sync()\n\n    def scaled")
    (unreached,) = session.diagnostics()
    assert unreached["code"] == "W0305" and unreached["severity"] == 2, unreached
    session.edit("def after(self):\n        return\n        self.sync()\n\n    def scaled", "def scaled")
    assert session.diagnostics() == []
    print("diagnostics: codes, ranges, hints, related places, as the text is edited")


def check_hover(session):
    assert "class Squares(width)" in session.hover("Squares(width=64)")
    assert "Sums of the squares" in session.hover("Squares(width=64)")
    assert "x: tile<f32, [64]>" in session.hover("x = self.load")
    assert "z: tile<f32, [64]>" in session.hover("z = y"), "behind a character of two units"
    assert "layout {shape [64] block [64] reg [[1]] lane [[2],[4]," in session.hover("x, factor"), session.hover("x, factor")
    assert "n: i32" in session.hover("n // self.width")
    assert "width: int = 64" in session.hover("self.width\n", 6)
    assert "def load_global(src, /, *, offsets, shape" in session.hover("load_global")
    assert "A part of a view as a tile" in session.hover("load_global"), "a sentence of the manual"
    assert "def load_global(" in session.hover("offsets=[self"), "a keyword is of what is called"
    assert "module math" in session.hover("math.pi")
    assert "float = 3.14159" in session.hover("math.pi", 6)
    assert "def scaled(tile, factor)" in session.hover("self.scaled", 6)
    assert session.ask("hover", "# Text") is None
    print("hover: values with types, shapes and layouts, signatures, sentences")


def check_definition(session):
    def target(words, offset=0, nth=0):
        return session.ask("definition", words, offset, nth)

    assert target("total, offsets")["range"]["start"] == session.place("total =")
    assert target("self.scaled(x", 6)["range"]["start"] == session.place("scaled(self")
    assert target("Squares(width")["range"]["start"] == session.place("Squares(tilus")
    assert target("self.width\n", 6)["range"]["start"]["line"] == session.place("self.width =")["line"]
    library = target("load_global")
    path = library["uri"].replace("file://", "")
    line = open(path).read().split("\n")[library["range"]["start"]["line"]]
    assert "def load_global(" in line, line
    assert target("# Text") is None
    print("definition: names, functions, attributes, the standard library's text")
    return path


def check_completion(session):
    session.edit("        view = ", "        self.\n        view = ")
    members = session.complete("        self.")
    assert members["load_global"] == "load_global(src, /, *, offsets, shape, dims=None, out=None)", members
    assert members["scaled"] == "scaled(tile, factor)" and members["width"] == "int = 64", members
    assert "__call__" not in members
    session.edit("        self.\n        view", "        to\n        view")
    names = session.complete("        to")
    assert {"total", "x", "self", "n", "squares", "tilus", "len", "return"} <= set(names), names
    session.edit("        to\n        view", "        self.attrs.\n        view")
    assert {"blocks", "warps"} <= set(session.complete("        self.attrs."))
    session.edit("        self.attrs.\n        view", "        self.sum(x, \n        view")
    assert {"dim=", "keepdim="} <= set(session.complete("self.sum(x, "))
    help_ = session.ask("signatureHelp", "self.sum(x, ", len("self.sum(x, "))
    label = help_["signatures"][0]["label"]
    assert label.startswith("sum(x") and help_["activeParameter"] == 1, help_
    begin, end = help_["signatures"][0]["parameters"][1]["label"]
    assert label[begin:end].startswith("dim"), help_
    session.edit("        self.sum(x, \n        view", "        self.sum(x, keepdim=\n        view")
    help_ = session.ask("signatureHelp", "x, keepdim=", len("x, keepdim="))
    begin, end = help_["signatures"][0]["parameters"][help_["activeParameter"]]["label"]
    assert help_["signatures"][0]["label"][begin:end].startswith("keepdim"), help_
    session.edit("        self.sum(x, keepdim=\n        view", "        tilus.\n        view")
    assert {"Script", "cdiv", "float16"} <= set(session.complete("        tilus.")), "evaluated when it is asked for"
    session.edit("        tilus.\n        view", "        view")
    session.edit("# Text", "from tilus import flo\n# Text")
    assert {"float16", "float32", "Script"} <= set(session.complete("import flo"))
    session.edit("from tilus import flo\n", "import ti\n")
    assert {"tilus", "tilelang", "math"} <= set(session.complete("import ti"))
    session.edit("import ti\n", "")
    assert session.ask("completion", "# Text", 4)["items"] == []
    assert session.diagnostics() == []
    print("completion and signature help: members, names, parameters, imports, in texts that are not whole")


def check_rename(session):
    (edits,) = session.ask("rename", "z = y", newName="product")["changes"].values()
    assert session.renamed(edits) == session.text.replace("z = y", "product = y").replace(
        "sum(z", "sum(product"), edits
    (edits,) = session.ask("rename", "factor)", newName="by")["changes"].values()
    assert session.renamed(edits) == session.text.replace("factor", "by"), edits
    for words, name, why in (("squares =", "x", "local to a function"), ("z = y", "x", "used there"),
                             ("z = y", "for", "no name"), ("z = y", "a b", "no name"),
                             ("math.pi", "m", "local to a function")):
        params = {"textDocument": {"uri": session.uri}, "position": session.place(words), "newName": name}
        error = session.client.fails("textDocument/rename", params)
        assert error["code"] == -32803 and why in error["message"], error
    assert session.ask("prepareRename", "z = y")["placeholder"] == "z"
    kinds = [one["kind"] for one in session.ask("documentHighlight", "z = y")]
    assert kinds == [3, 2], kinds
    assert len(session.ask("references", "z = y", context={"includeDeclaration": False})) == 1
    print("rename of locals and of parameters, highlights, references")


def check_outline(session):
    outline = session.client.request("textDocument/documentSymbol", {"textDocument": {"uri": session.uri}})
    assert [(one["name"], one["kind"]) for one in outline] == [("Squares", 5), ("squares", 13)], outline
    assert [one["name"] for one in outline[0]["children"]] == ["__init__", "scaled", "__call__"], outline
    print("document symbols")


def check_library(session, path):
    library = Session(session.client, "file://" + path, open(path).read())
    library.edit("import", "imp ort")
    session.edit("# Text", "# text")
    assert session.diagnostics() == []
    told = [one for one in session.client.told if one["params"].get("uri") == library.uri]
    assert told == [], told
    print("nothing is said of the standard library's text")


def check_imports(client, folder):
    """A module that is open, and not saved, is what another one imports."""
    with open(os.path.join(folder, "helper.tile"), "w") as file:
        file.write("size = 1\n")
    helper = Session(client, f"file://{folder}/helper.tile", "size = 32\ndef half(x):\n    return x // 2\n")
    user = Session(client, f"file://{folder}/user.tile", TILUS.replace(
        "import math\n", "import math\nfrom helper import half, size\n").replace("width=64", "width=half(size)"))
    assert user.diagnostics() == []
    assert "width: int = 16" in user.hover("self.width\n", 6)
    assert user.ask("definition", "half(size)")["uri"] == helper.uri
    helper.edit("def half", "def halves")
    (error, *_) = user.diagnostics()
    assert "half" in error["message"], error
    print("modules that are open, and not saved")


def check_dialects(client):
    tilelang = Session(client, "file:///nowhere/scale.py", TILELANG)
    assert tilelang.diagnostics() == []
    assert "tile: shared<f16, [32, 64]" in tilelang.hover("tile = T"), tilelang.hover("tile = T")
    assert "def copy(" in tilelang.hover("T.copy", 2)
    assert "A: view<f16, [128, 64]" in tilelang.hover("A[block"), tilelang.hover("A[block")
    tilelang.edit("        T.copy(A", "        T.\n        T.copy(A")
    members = tilelang.complete("        T.")
    assert members["alloc_shared"].startswith("alloc_shared(shape"), members["alloc_shared"]
    assert {"copy", "gemm", "Parallel", "Kernel"} <= set(members)
    warp = Session(client, "file:///nowhere/double.py", WARP)
    assert warp.diagnostics() == []
    assert "Two times x." in warp.hover("twice(a")
    warp.edit("    b[i]", "    wp.\n    b[i]")
    assert {"tid", "tile_load", "sin", "Tape"} <= set(warp.complete("    wp."))
    print("TileLang and Warp")


def main(folder):
    client = Client()
    result = client.start()
    assert result["capabilities"]["positionEncoding"] == "utf-16" and result["serverInfo"]["name"] == "tilec"
    session = Session(client, URI, TILUS)
    check_diagnostics(session)
    check_hover(session)
    path = check_definition(session)
    check_completion(session)
    check_rename(session)
    check_outline(session)
    check_library(session, path)
    check_imports(client, folder)
    check_dialects(client)
    client.notify("textDocument/didClose", {"textDocument": {"uri": URI}})
    assert client.stop() == 0
    assert not os.path.exists(path), "the library's text goes with the server"
    bytes_ = Client()
    assert bytes_.start(["utf-32", "utf-8"])["capabilities"]["positionEncoding"] == "utf-8"
    bytes_.open(URI, TILUS)
    line, _ = place_of(TILUS, "z = y")
    character = len(TILUS.split("\n")[line].split("z = y")[0].encode())
    assert "z: tile<f32, [64]>" in value(bytes_.at("hover", URI, line, character))
    assert bytes_.stop() == 0
    print("positions in bytes, where the client knows them")


main(sys.argv[1])
