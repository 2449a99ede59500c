# ops.awk: the rows of ops.def as the lists of tile-ops(7), under the headings of the table's comments, and those of traits.def and of attrs.def as one each.
function field(line, n,   parts) {
    split(line, parts, "\"")
    return parts[2 * n]
}
# The words of the row's nth list in parentheses, a comma between two.
function list_of(line, n,   parts) {
    split(line, parts, /[()]/)
    return parts[2 * n + 1]
}
# "NN", "a, b" -> "a: N, b: N"; a letter with a star stands for any number.
function operands(letters, names,   parts, count, i, at, letter, text, star) {
    count = split(names, parts, ", ")
    at = 1
    for (i = 1; i <= count; i++) {
        letter = substr(letters, at++, 1)
        star = substr(letters, at, 1) == "*"
        at += star
        text = text (i > 1 ? ", " : "") parts[i] (letter == "" ? "" : ": " letter (star ? "*" : ""))
    }
    return text
}
function close_list() {
    if (open) text = text ".El\n"
    open = 0
}
FILENAME !~ /\.def$/ {
    close_list()
    if ($0 == "@OPS@") printf "%s", text
    else if ($0 == "@TRAITS@") printf "%s", traits_list
    else if ($0 == "@ATTRIBUTES@") printf "%s", attributes
    else print
    next
}
/^TRAIT\(/ {
    split(substr($0, 7), parts, /, /)
    traits_list = traits_list ".It " tolower(parts[1]) "\n" fill(field($0, 1))
    next
}
/^ATTR\(/ {
    split(substr($0, 6), parts, /, /)
    attributes = attributes ".It Ic " parts[1] " Pq " tolower(parts[2]) "\n" fill(field($0, 1) ".")
}
/^\/\* ---- / {
    close_list()
    heading = $0
    sub(/^\/\* -+ /, "", heading)
    sub(/ -+ *\*\/$/, "", heading)
    text = text ".Ss " toupper(substr(heading, 1, 1)) substr(heading, 2) "\n"
    next
}
/^OP\(/ {
    if (!open) text = text ".Bl -tag -width Ds\n"
    open = 1
    name = $0
    sub(/^OP\(/, "", name)
    sub(/,.*/, "", name)
    result = field($0, 1)
    has = list_of($0, 2)
    rest = $0
    sub(/^OP\([^(]*\([^)]*\), \([^)]*\), /, "", rest)
    split(rest, parts, /, /)
    text = text ".It Xo\n.Ic " name "\n"
    list = operands(field($0, 2), list_of($0, 1))
    text = text (list == "" ? ".No \\&()" : ".Pq " list) "\n" (result == "" ? "" : ".No \\(-> " result "\n") ".Xc\n"
    text = text fill(field(rest, 1) ".")
    traits = tolower(parts[2])
    gsub(/ \| /, ", ", traits)
    stages = tolower(parts[3])
    gsub(/ \| /, ", ", stages)
    text = text ".br\n" (parts[1] != "0" ? parts[1] " region" (parts[1] == "1" ? "" : "s") "; " : "")
    text = text (traits == "0" || traits == "" ? "" : traits "; ") "stage: " stages "\n"
    if (has != "") text = text ".br\n" fill("attributes: " has)
}
