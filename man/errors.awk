# errors.awk: the rows of diag.def, and the pages of explain.txt about them, as the list of tile-errors(7), in order of their codes.
# The first text in quotes of what is left of the row, quotes inside it written as \".
function next_text(   text) {
    if (!match(rest, /"([^"\\]|\\.)*"/)) return ""
    text = substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    gsub(/\\"/, "\"", text)
    gsub(/\\\\/, "\\", text)
    return text
}
# A line of an example, as it stands.
function literal(line) {
    line = roff(line)
    return line ~ /^[.']/ ? "\\&" line : line
}
function end_example() {
    if (in_example) page[code] = page[code] ".Ed\n"
    in_example = held = 0
}
FILENAME !~ /\.(def|txt)$/ {
    if ($0 != "@ERRORS@") {
        print
        next
    }
    end_example()
    for (i = 1; i <= count; i++)
        for (j = i + 1; j <= count; j++)
            if (codes[j] < codes[i]) {
                swap = codes[i]
                codes[i] = codes[j]
                codes[j] = swap
            }
    for (i = 1; i <= count; i++) printf "%s%s%s", item[codes[i]], page[codes[i]], advice[codes[i]]
    next
}
FILENAME ~ /\.def$/ && /^DIAG\(/ {
    rest = $0
    split($0, parts, /[(, ]+/)
    code = parts[2]
    message = next_text()
    if (message == "%s") message = "The message itself says what is so."
    hint = next_text()
    codes[++count] = code
    item[code] = ".It " code " Pq " tolower(parts[3]) ", " parts[4] "\n" fill(message)
    if (hint != "") advice[code] = ".Pp\n" fill("What to do: " hint ".")
}
FILENAME ~ /\.def$/ { next }
/^#/ && !in_pages { next }
/^== / {
    end_example()
    in_pages = 1
    code = $2
    page[code] = ".Pp\n"
    next
}
/^(Wrong|Right):$/ {
    end_example()
    page[code] = page[code] ".Pp\n" $0 "\n.Bd -literal -offset 4n\n"
    in_example = 1
    next
}
$0 == "" {
    held++ # blank lines within an example stay
    next
}
in_example {
    while (held-- > 0 && page[code] !~ /-offset 4n\n$/) page[code] = page[code] "\n"
    held = 0
    page[code] = page[code] literal(substr($0, 5)) "\n"
    next
}
in_pages {
    if (held) page[code] = page[code] (page[code] ~ /\.Pp\n$/ ? "" : ".Pp\n")
    held = 0
    page[code] = page[code] fill($0)
}
