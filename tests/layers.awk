# layers.awk: which room of the house may use which. Source files on the command line: prints each include that breaks the table. With
# -v symbols=1 the output of `nm -A` on standard input (paths below obj/): prints each call that breaks it, so that no declaration by
# hand goes around the includes.
BEGIN {
    nouns["base"] = "base"
    nouns["target"] = "target base"
    nouns["syntax"] = "syntax base"
    nouns["ir/layout"] = "ir/layout base"
    nouns["ir"] = "ir ir/dtype ir/layout base"
    nouns["ir/dtype"] = nouns["ir"]
    for (room in nouns) allow[room] = nouns[room]
    allow["eval"] = "eval syntax " nouns["ir"]
    language = "eval/values eval syntax ir/dtype base"
    allow["eval/values"] = "target " language
    allow["eval/text"] = "eval/text " language
    allow["eval/python"] = "eval/python " allow["eval/text"]
    allow["eval/staging"] = "eval/staging eval/python eval/text eval/values eval syntax " nouns["ir"]
    allow["eval/surface"] = "eval/surface " allow["eval/staging"]
    allow["eval/export"] = "eval/export " allow["eval/surface"]
    below = "target " nouns["ir"] " passes/pass"
    allow["passes/pass"] = below
    allow["passes/analysis"] = "passes/analysis " below
    allow["passes/ssa"] = "passes/ssa passes/analysis " below
    allow["passes/grad"] = "passes/grad passes/ssa passes/analysis " below
    allow["passes/layout"] = "passes/layout passes/analysis " below
    allow["passes/pipeline"] = "passes/pipeline passes/layout passes/analysis " below
    allow["passes/sync"] = "passes/sync passes/ssa passes/analysis " below
    allow["passes/lower"] = "passes/lower passes/layout passes/analysis " below
    allow["passes/thread"] = "passes/thread passes/analysis " below
    passes = "passes passes/analysis passes/ssa passes/layout passes/pipeline passes/sync passes/lower passes/thread passes/grad " below
    allow["passes"] = passes
    allow["codegen"] = "codegen target runtime " nouns["ir"]
    allow["emit"] = "emit codegen target runtime " nouns["ir"]
    allow["options"] = "options passes base" # --list of opt names the passes
    allow["build"] = "build options emit codegen eval eval/export syntax runtime passes passes/thread passes/grad " below
    allow["driver"] = "driver " allow["build"]
    allow["lsp"] = "lsp " allow["build"]
    allow["command"] = "command lsp " allow["driver"]
    allow["library"] = "library options driver build codegen eval eval/export target runtime " nouns["ir"]
    allow["main"] = "main library " allow["command"]
    allow["runtime"] = "runtime"
    split("main driver options", roots, " ")
    for (i in roots) root[roots[i]] = 1
}

# The room of a file of compiler/ or runtime/, its folder; the three at the root of compiler/ are a room each.
function room_of(path,   parts, n, name) {
    sub(/^\.\//, "", path)
    if (path ~ /^runtime\//) return "runtime"
    sub(/^compiler\//, "", path)
    n = split(path, parts, "/")
    name = parts[n]
    sub(/\..*/, "", name)
    if (n == 1) return name in root ? name : name == "commands" ? "options" : "main"
    if (parts[1] == "gen") return name ~ /^tile_/ ? "syntax" : name ~ /^ir_/ ? "ir" : name ~ /^explain_/ ? "base" : name ~ /^sentences_/ ? "lsp" : "eval/python"
    if (path ~ /^ir\/dtype(\.|$)/) return "ir/dtype" # the element types, which the language has too
    if (path ~ /^passes\/pass(\.h|es\.def)/) return "passes/pass"
    if (parts[1] == "command" || path ~ /^ir\/verify\//) return parts[1]
    return n == 2 ? parts[1] : parts[1] "/" parts[2]
}

# The room that an include names: a path below compiler/, or one of the runtime's headers.
function room_named(name, from) {
    sub(/^\.\.\//, "", name)
    if (name ~ /^tile\// || name == "abi.h" || name ~ /^emulator\//) return "runtime"
    if (name ~ /^tile_grammar\.h$/) return "syntax"
    if (name !~ /\// && from == "runtime") return "runtime"
    return room_of(name)
}

function allowed(from, to) {
    return index(" " allow[from] " ", " " to " ") > 0
}

symbols {
    match($0, /obj\/[^:]*\.o:/)
    file = substr($0, RSTART + 4, RLENGTH - 7)
    kind = $(NF - 1)
    if (kind == "U") users[$NF] = users[$NF] " " file
    else if (kind ~ /^[A-Z]$/) definers[$NF] = definers[$NF] " " file
    next
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    match($0, /"[^"]*"/)
    name = substr($0, RSTART + 1, RLENGTH - 2)
    from = room_of(FILENAME)
    if (!allowed(from, room_named(name, from))) {
        printf "%s:%d: %s may not include \"%s\"\n", FILENAME, FNR, from, name
        bad = 1
    }
}

# A symbol may have two definitions: the library has an internal_error of its own.
function any_allowed(from, to,   files, n, i) {
    n = split(to, files, " ")
    for (i = 1; i <= n; i++)
        if (allowed(room_of(from), room_of(files[i]))) return 1
    return 0
}

END {
    for (symbol in definers) {
        n = split(users[symbol], files, " ")
        for (i = 1; i <= n; i++) {
            if (any_allowed(files[i], definers[symbol])) continue
            printf "%s may not use %s of%s\n", files[i], symbol, definers[symbol]
            bad = 1
        }
    }
    exit bad
}
