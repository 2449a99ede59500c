"""The TextMate grammar, and Vim's words, against the language: the keywords are those that the server
offers, which are the lexer's; and files are coloured as Python's tokenizer divides them. A small
reader of such grammars, line by line, knows `match`, `begin` and `end`, `captures` and `include`."""
import json
import keyword
import os
import re
import sys
import tokenize

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Client  # noqa: E402


class Grammar:
    def __init__(self, path):
        with open(path) as file:
            self.json = json.load(file)
        self.compiled = {}

    def regex(self, text):
        if text not in self.compiled:
            self.compiled[text] = re.compile(text)
        return self.compiled[text]

    def rules(self, patterns):
        """The rules of a list of patterns, includes resolved."""
        for pattern in patterns:
            if "include" in pattern:
                included = self.json["repository"][pattern["include"][1:]]
                yield from self.rules(included["patterns"] if "patterns" in included and "begin" not in included
                                      else [included])
            else:
                yield pattern

    def colour(self, lines):
        """Of each line, for each character the name of the innermost rule that covers it."""
        stack = [(self.json["patterns"], None, None)]  # patterns, the regex that ends them, name
        for line in lines:
            names, at = [None] * len(line), 0
            while at <= len(line):
                patterns, end, name = stack[-1]
                best = None
                if end is not None and (found := end.search(line, at)):
                    best = (found.start(), found, None)
                for rule in self.rules(patterns):
                    found = self.regex(rule.get("match") or rule["begin"]).search(line, at)
                    if found and (best is None or found.start() < best[0]):
                        best = (found.start(), found, rule)
                if best is None:
                    names[at:] = [name] * (len(line) - at)
                    break
                begin, found, rule = best
                names[at:begin] = [name] * (begin - at)
                self.cover(names, found, name if rule is None else rule.get("name", name), rule)
                if rule is None:
                    stack.pop()
                elif "begin" in rule:
                    ending = re.sub(r"\\1", lambda _: re.escape(found.group(1)), rule["end"])
                    stack.append((rule["patterns"], self.regex(ending), rule.get("name")))
                if found.end() == at == len(line) and rule is not None:
                    break
                at = found.end()
                if at == len(line) and rule is not None and "begin" not in rule and stack[-1][1] is None:
                    break
                if at == len(line) and not (stack[-1][1] and stack[-1][1].search(line, at)):
                    break
            yield names

    @staticmethod
    def cover(names, found, name, rule):
        names[found.start():found.end()] = [name] * (found.end() - found.start())
        for number, capture in (rule or {}).get("captures", {}).items():
            begin, end = found.span(int(number))
            names[begin:end] = [capture["name"]] * (end - begin)


WANTED = {tokenize.COMMENT: "comment.", tokenize.NUMBER: "constant.numeric.", tokenize.STRING: "string."}
WORDS = ("keyword.", "constant.language.")


def check_file(grammar, path):
    """How many tokens were looked at."""
    with open(path, "rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    with open(path) as file:
        colours = list(grammar.colour(file.read().split("\n")))
    count = 0
    for token in tokens:
        (line, begin), (last, end) = token.start, token.end
        if line == 0 or not token.string.strip():
            continue
        is_word = token.type == tokenize.NAME and keyword.iskeyword(token.string)
        wanted = WORDS if is_word else (WANTED[token.type],) if token.type in WANTED else None
        seen = colours[line - 1][begin] or "nothing"
        if wanted is None:
            # Other names and operators are no keyword, comment or string; but for soft keywords.
            if token.type == tokenize.NAME and token.string not in ("match", "case", "type", "_"):
                assert not seen.startswith(("keyword.", "comment.", "string.", "constant.numeric")), (path, token, seen)
            continue
        assert seen.startswith(wanted), (path, token, seen)
        if line == last and token.type != tokenize.STRING:
            assert all((one or "").startswith(wanted) for one in colours[line - 1][begin:end]), (path, token)
        if token.type == tokenize.STRING:
            assert (colours[last - 1][end - 1] or "").startswith("string."), (path, token, colours[last - 1][end - 1])
        count += 1
    return count


def offered_keywords():
    client = Client()
    client.start()
    client.open("file:///nowhere/x.tile", "\n")
    items = client.at("completion", "file:///nowhere/x.tile", 0, 0)["items"]
    assert client.stop() == 0
    return {item["label"] for item in items if item["kind"] == 14}


SOFT = {"match", "case", "type"}


def grammar_keywords(grammar):
    words = set()
    for rule in grammar.json["repository"]["keyword"]["patterns"]:
        found = re.fullmatch(r"\\b\(\?:([A-Za-z|]+)\)\\b", rule["match"])
        words |= set(found.group(1).split("|")) if found else set(re.findall(r"match|case|type", rule["match"]))
    return words


def vim_keywords(path):
    words = set()
    with open(path) as file:
        for line in file:
            found = re.match(r"syntax keyword tile(?:Control|Operator|Constant) (.*)", line)
            words |= set(found.group(1).split()) if found else set()
    return words | SOFT


def main(folder, files):
    grammar = Grammar(os.path.join(folder, "textmate", "tile.tmLanguage.json"))
    keywords = offered_keywords()
    assert keywords - SOFT == set(keyword.kwlist), keywords ^ set(keyword.kwlist)
    assert grammar_keywords(grammar) == keywords, grammar_keywords(grammar) ^ keywords
    assert vim_keywords(os.path.join(folder, "vim", "syntax", "tile.vim")) == keywords
    print("the keywords of the grammars are the lexer's")
    count = sum(check_file(grammar, path) for path in files)
    assert count > 1000, count
    print("tokens have the colours of their kinds")
    for name in ("package.json", "language-configuration.json", "tile.tmLanguage.json"):
        with open(os.path.join(folder, "vscode", name)) as file:
            json.load(file)
    print("the files of the extension are JSON")


main(sys.argv[1], sys.argv[2:])
