# literals.awk: no pass has numbers of machines or tuned numbers of its own: they stand in compiler/target. Prints each line of the
# source files on the command line with a number that looks like one, outside of comments and strings, unless a rule of `allow` says
# what else it is. Passes are asked for all of `suspects`, what else asks for targets (evaluator, codegen, build) for `budgets`.
BEGIN {
    split("24 28 32 48 64 96 128 132 160 192 200 224 240 248 255 256 264 384 512 764 768 1024 1536 2048 4096 65536 166912 232448", numbers, " ")
    for (i in numbers) suspects[numbers[i]] = 1
    split("28 132 200 240 255 264 764 1024 1536 2048 65536 166912 232448", numbers, " ")
    for (i in numbers) budgets[numbers[i]] = 1

    # pattern of the line, and what the number is
    words = "bits|DTYPE|hash" # 32 and 64: bits of a type, or of the compiler's own words
    allow["WORK_OF_"] = "the evaluator's own work"
    allow["targets\\[32\\]|masks|flips\\[32\\]|repeats\\[32\\]|: 32;|32 - own"] = "bits of a thread's index, an i32"
    allow["DEPTH|DEEPEST|MOST_|MOST =|LIMIT|enum \\{ MOST"] = "how much the compiler looks at, for its own time"
    allow["1 << 64"] = "a number past all of 64 bits"
    allow["PAGE = 64"] = "how many answers are kept together"
    allow["divisor_common\\(offset, 1024\\)"] = "the largest divisor that an analysis speaks of"
}

# The line without comments and strings.
function code_of(line,   out) {
    out = line
    gsub(/"([^"\\]|\\.)*"/, "\"\"", out)
    gsub(/\/\*.*\*\//, "", out)
    if (in_comment) {
        if (!match(out, /\*\//)) return ""
        out = substr(out, RSTART + 2)
        in_comment = 0
    }
    if (match(out, /\/\*/)) {
        out = substr(out, 1, RSTART - 1)
        in_comment = 1
    }
    return out
}

function is_allowed(code, number,   pattern) {
    if (code ~ words && (number == 32 || number == 64)) return 1
    for (pattern in allow)
        if (code ~ pattern) {
            used[pattern] = 1
            return 1
        }
    return 0
}

FNR == 1 { in_comment = 0; is_pass = FILENAME ~ /compiler\/passes\// }

{
    code = code_of($0)
    rest = code
    while (match(rest, /[0-9A-Za-z_.]+/)) {
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (!(word in budgets) && !(is_pass && word in suspects)) continue
        if (is_allowed(code, word)) continue
        printf "%s:%d: %s is a number of a machine or a tuned one: it belongs to compiler/target\n", FILENAME, FNR, word
        bad = 1
    }
}

END {
    for (pattern in allow)
        if (!(pattern in used)) {
            printf "literals.awk: nothing is allowed by '%s' any more\n", pattern
            bad = 1
        }
    exit bad
}
