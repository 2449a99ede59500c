# layers.awk: which folder may include which. Files on the command line; prints each include that breaks the table.
BEGIN {
    allow["base"] = "base"
    allow["target"] = "target base"
    allow["syntax"] = "syntax base"
    allow["ir"] = "ir base"
    allow["eval"] = "eval ir syntax target base"
    allow["passes"] = "passes ir target base"
    allow["codegen"] = "codegen ir target base runtime"
    allow["emit"] = "emit codegen ir target base runtime"
    allow["command"] = "command driver emit codegen passes eval ir syntax target base runtime"
    allow["driver"] = allow["command"]
    allow["library"] = "library driver codegen base target runtime"
    allow["runtime"] = "runtime"
}

function folder_of(path,   parts, n) {
    sub(/^\.\//, "", path)
    if (path ~ /^runtime\//) return "runtime"
    sub(/^compiler\//, "", path)
    n = split(path, parts, "/")
    return n > 1 ? parts[1] : "driver"
}

# What an include names: a folder of compiler/, the driver's own headers, or the runtime's.
function target_of(name,   parts, n) {
    sub(/^\.\.\//, "", name)
    if (name ~ /^tile\// || name == "abi.h" || name ~ /^emulator\//) return "runtime"
    n = split(name, parts, "/")
    return n > 1 ? parts[1] : ""
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    match($0, /"[^"]*"/)
    name = substr($0, RSTART + 1, RLENGTH - 2)
    from = folder_of(FILENAME)
    to = target_of(name)
    if (to == "") to = (from == "runtime") ? "runtime" : "driver"
    if (to == "driver" && name ~ /^tile_grammar\.h$/) to = "syntax"
    if (index(" " allow[from] " ", " " to " ") == 0) {
        printf "%s:%d: %s/ may not include \"%s\"\n", FILENAME, FNR, from, name
        bad = 1
    }
}

END { exit bad }
