# errors.awk: the rows of diag.def as the list of tile-errors(7), in order of their codes.
# The first text in quotes of what is left of the row, quotes inside it written as \".
function next_text(   text) {
    if (!match(rest, /"([^"\\]|\\.)*"/)) return ""
    text = substr(rest, RSTART + 1, RLENGTH - 2)
    rest = substr(rest, RSTART + RLENGTH)
    gsub(/\\"/, "\"", text)
    gsub(/\\\\/, "\\", text)
    return text
}
FILENAME !~ /\.def$/ {
    if ($0 != "@ERRORS@") {
        print
        next
    }
    for (i = 1; i <= count; i++)
        for (j = i + 1; j <= count; j++)
            if (codes[j] < codes[i]) {
                swap = codes[i]
                codes[i] = codes[j]
                codes[j] = swap
            }
    for (i = 1; i <= count; i++) printf "%s", item[codes[i]]
    next
}
/^DIAG\(/ {
    rest = $0
    split($0, parts, /[(, ]+/)
    code = parts[2]
    message = next_text()
    if (message == "%s") message = "The message itself says what is so."
    hint = next_text()
    codes[++count] = code
    item[code] = ".It " code " Pq " tolower(parts[3]) ", " parts[4] "\n" fill(message)
    if (hint != "") item[code] = item[code] ".br\n" fill(toupper(substr(hint, 1, 1)) substr(hint, 2) ".")
}
