// extension.js: a client of `tilec lsp` for Visual Studio Code, upon its own interface alone.
"use strict";
const vscode = require("vscode");
const { spawn } = require("child_process");

// ---- messages ----

// A server that runs: requests are promises, notifications go to `told`.
class Server {
  constructor(path, words, told) {
    this.told = told;
    this.number = 0;
    this.waiting = new Map();
    this.received = Buffer.alloc(0);
    this.process = spawn(path, ["lsp", ...words], { stdio: ["pipe", "pipe", "ignore"] });
    this.process.on("error", (error) => this.end(error));
    this.process.on("exit", () => this.end(new Error("tilec lsp has ended")));
    this.process.stdin.on("error", () => {});
    this.process.stdout.on("data", (data) => this.take(data));
  }
  end(error) {
    this.ended = error;
    for (const { fail } of this.waiting.values()) fail(error);
    this.waiting.clear();
  }
  send(message) {
    const data = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    if (!this.ended) this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${data.length}\r\n\r\n`), data]));
  }
  notify(method, params) {
    this.send({ method, params });
  }
  request(method, params, token) {
    const id = ++this.number;
    token?.onCancellationRequested(() => this.notify("$/cancelRequest", { id }));
    return new Promise((done, fail) => {
      if (this.ended) return fail(this.ended);
      this.waiting.set(id, { done, fail });
      this.send({ id, method, params });
    });
  }
  take(data) {
    this.received = Buffer.concat([this.received, data]);
    for (;;) {
      const head = this.received.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/Content-Length: *(\d+)/i.exec(this.received.toString("ascii", 0, head))[1]);
      if (this.received.length < head + 4 + length) return;
      const message = JSON.parse(this.received.toString("utf8", head + 4, head + 4 + length));
      this.received = this.received.subarray(head + 4 + length);
      this.handle(message);
    }
  }
  handle(message) {
    if (message.method) return this.told(message.method, message.params);
    const { done, fail } = this.waiting.get(message.id) ?? {};
    this.waiting.delete(message.id);
    if (message.error) fail?.(new Error(message.error.message));
    else done?.(message.result);
  }
}

// ---- from the protocol's values to the editor's ----

const position = (at) => new vscode.Position(at.line, at.character);
const range = (of) => new vscode.Range(position(of.start), position(of.end));
const location = (of) => new vscode.Location(vscode.Uri.parse(of.uri), range(of.range));
const plain = (at) => ({ line: at.line, character: at.character });
const place = (document, at) => ({
  textDocument: { uri: document.uri.toString() },
  position: plain(at),
});

function diagnostic(of) {
  const result = new vscode.Diagnostic(range(of.range), of.message, of.severity - 1);
  result.code = of.code;
  result.source = of.source;
  result.relatedInformation = of.relatedInformation.map(
    (one) => new vscode.DiagnosticRelatedInformation(location(one.location), one.message));
  return result;
}

function symbol(of) {
  const result = new vscode.DocumentSymbol(of.name, "", of.kind - 1, range(of.range), range(of.selectionRange));
  result.children = of.children.map(symbol);
  return result;
}

function completion(of) {
  const result = new vscode.CompletionItem(of.label, of.kind - 1);
  result.detail = of.detail;
  return result;
}

function signatures(of) {
  const result = new vscode.SignatureHelp();
  result.signatures = of.signatures.map((one) => {
    const information = new vscode.SignatureInformation(one.label, one.documentation);
    information.parameters = one.parameters.map((each) => new vscode.ParameterInformation(each.label));
    return information;
  });
  result.activeSignature = of.activeSignature;
  result.activeParameter = of.activeParameter;
  return result;
}

function edits(of) {
  const result = new vscode.WorkspaceEdit();
  for (const [uri, list] of Object.entries(of.changes))
    for (const one of list) result.replace(vscode.Uri.parse(uri), range(one.range), one.newText);
  return result;
}

// ---- what the editor asks for ----

function providers(server, languages) {
  const ask = (method, convert, more = {}) => async (document, at, ...rest) => {
    const token = rest.find((one) => one?.onCancellationRequested);
    const result = await server.request("textDocument/" + method, { ...place(document, at), ...more }, token);
    return result && convert(result);
  };
  const on = languages.map((language) => ({ language, scheme: "file" }));
  const api = vscode.languages;
  return [
    api.registerHoverProvider(on, {
      provideHover: ask("hover", (of) => new vscode.Hover(new vscode.MarkdownString(of.contents.value), range(of.range))) }),
    api.registerDefinitionProvider(on, { provideDefinition: ask("definition", location) }),
    api.registerReferenceProvider(on, { provideReferences: ask("references", (list) => list.map(location)) }),
    api.registerDocumentHighlightProvider(on, {
      provideDocumentHighlights: ask("documentHighlight",
        (list) => list.map((one) => new vscode.DocumentHighlight(range(one.range), one.kind - 1))) }),
    api.registerDocumentSymbolProvider(on, {
      provideDocumentSymbols: (document, token) => ask("documentSymbol", (list) => list.map(symbol))(document, { line: 0, character: 0 }, token) }),
    api.registerCompletionItemProvider(on, {
      provideCompletionItems: ask("completion", (of) => of.items.map(completion)) }, "."),
    api.registerSignatureHelpProvider(on, { provideSignatureHelp: ask("signatureHelp", signatures) }, "(", ","),
    api.registerRenameProvider(on, {
      prepareRename: ask("prepareRename", (of) => ({ range: range(of.range), placeholder: of.placeholder })),
      provideRenameEdits: (document, at, newName, token) => ask("rename", edits, { newName })(document, at, token) }),
  ];
}

function follow(server, languages) {
  const name = (document) => ({ uri: document.uri.toString(), version: document.version });
  const ours = (document) => languages.includes(document.languageId) && document.uri.scheme === "file";
  const open = (document) => ours(document) && server.notify("textDocument/didOpen",
    { textDocument: { ...name(document), languageId: document.languageId, text: document.getText() } });
  const part = (of) => ({ range: { start: plain(of.range.start), end: plain(of.range.end) }, text: of.text });
  const change = ({ document, contentChanges }) => ours(document) && server.notify("textDocument/didChange",
    { textDocument: name(document), contentChanges: contentChanges.map(part) });
  const close = (document) => ours(document) && server.notify("textDocument/didClose", { textDocument: name(document) });
  vscode.workspace.textDocuments.forEach(open);
  return [vscode.workspace.onDidOpenTextDocument(open), vscode.workspace.onDidChangeTextDocument(change),
    vscode.workspace.onDidCloseTextDocument(close)];
}

let server;

exports.activate = async (context) => {
  const settings = vscode.workspace.getConfiguration("tilec");
  const languages = settings.get("languages");
  const shown = vscode.languages.createDiagnosticCollection("tilec");
  server = new Server(settings.get("path"), settings.get("arguments"), (method, params) => {
    if (method === "textDocument/publishDiagnostics")
      shown.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
  });
  try {
    await server.request("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
  } catch (error) {
    vscode.window.showErrorMessage(`tilec lsp does not start: ${error.message}. The setting tilec.path names the compiler.`);
    return;
  }
  server.notify("initialized", {});
  context.subscriptions.push(shown, ...providers(server, languages), ...follow(server, languages));
};

exports.deactivate = async () => {
  if (!server || server.ended) return;
  await server.request("shutdown", null);
  server.notify("exit", null);
};
