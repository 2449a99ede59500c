// The extension for Visual Studio Code, with as much of the editor's interface as it takes: a text is opened, edited and asked about.
"use strict";
const assert = require("assert");
const Module = require("module");

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } toJSON() { return [this.start, this.end]; } }
class Location { constructor(uri, range) { Object.assign(this, { uri, range }); } }
class Uri {
  constructor(text) { this.text = text; this.scheme = text.split(":")[0]; }
  static parse(text) { return new Uri(text); }
  toString() { return this.text; }
}
class WorkspaceEdit { constructor() { this.edits = []; } replace(uri, range, text) { this.edits.push({ range, text }); } }
const record = (...names) => class { constructor(...values) { names.forEach((name, i) => { this[name] = values[i]; }); } };

const providers = {}, events = {}, shown = new Map(), errors = [];
let arrived = () => {};
const settings = { path: process.env.TILEC, arguments: [], languages: ["tile"] };
const documents = [];
const vscode = {
  Position, Range, Location, Uri, WorkspaceEdit,
  Diagnostic: record("range", "message", "severity"), DiagnosticRelatedInformation: record("location", "message"),
  DocumentSymbol: record("name", "detail", "kind", "range", "selectionRange"), CompletionItem: record("label", "kind"),
  SignatureHelp: record(), SignatureInformation: record("label", "documentation"), ParameterInformation: record("label"),
  Hover: record("contents", "range"), MarkdownString: record("value"), DocumentHighlight: record("range", "kind"),
  languages: new Proxy({ createDiagnosticCollection: () => ({ set: (uri, list) => { shown.set(uri.text, list); arrived(); } }) }, {
    get: (own, name) => own[name] ?? ((selector, provider) => Object.assign(providers, provider)) }),
  workspace: { textDocuments: documents, getConfiguration: () => ({ get: (name) => settings[name] }),
    onDidOpenTextDocument: (on) => { events.open = on; }, onDidChangeTextDocument: (on) => { events.change = on; },
    onDidCloseTextDocument: (on) => { events.close = on; } },
  window: { showErrorMessage: (text) => errors.push(text) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const text = "import tilus\n\n\ndef double(number):\n    result = number * 2\n    return result\n";
const document = { uri: new Uri("file:///nowhere/a.tile"), version: 1, languageId: "tile", getText: () => text };
const told = () => new Promise((done) => { arrived = done; });

async function main() {
  const extension = require(process.argv[2]);
  documents.push(document);
  const context = { subscriptions: [] }, first = told();
  await extension.activate(context);
  assert.deepStrictEqual(errors, []);
  await first;
  assert.deepStrictEqual(shown.get(document.uri.text), []);
  const at = new Position(4, 6);
  assert.strictEqual((await providers.provideDocumentSymbols(document)).map((one) => one.name).join(), "double");
  assert.strictEqual((await providers.provideDefinition(document, new Position(5, 12))).range.start.line, 4);
  assert.match((await providers.provideHover(document, new Position(3, 5))).contents.value, /def double\(number\)/);
  assert.strictEqual((await providers.provideDocumentHighlights(document, at)).length, 2);
  assert.strictEqual((await providers.provideReferences(document, at)).length, 2);
  assert.strictEqual((await providers.prepareRename(document, at)).placeholder, "result");
  assert.strictEqual((await providers.provideRenameEdits(document, at, "twice")).edits.length, 2);
  await assert.rejects(providers.provideRenameEdits(document, at, "number"), /used there/);
  const changed = told();
  document.version = 2;
  events.change({ document, contentChanges: [{ range: new Range(new Position(5, 4), new Position(5, 10)), text: "tilus.(double(" }] });
  await changed;
  assert.strictEqual(shown.get(document.uri.text)[0].severity, 0);
  assert.ok((await providers.provideCompletionItems(document, new Position(5, 10))).some((one) => one.label === "Script"));
  const help = await providers.provideSignatureHelp(document, new Position(5, 18));
  assert.strictEqual(help.signatures[0].label, "double(number)");
  await extension.deactivate();
  settings.path = "/nowhere/tilec";
  await extension.activate(context);
  assert.match(errors[0], /does not start/);
  console.log("the extension starts the server, follows edits, and asks");
}

main().catch((error) => { console.log(error); process.exit(1); });
