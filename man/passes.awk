# passes.awk: the rows of passes.def as the list of tile-passes(7), in the order in which they run: the reason, and the properties that a
# pass needs, gives and breaks.
FILENAME !~ /\.def$/ {
    if ($0 != "@PASSES@") {
        print
        next
    }
    printf "%s", text
    next
}
function clause(word, names) {
    return names == "" ? "" : " " word " " names "."
}
/^PASS\(/ {
    split($0, parts, "\"")
    name = parts[1]
    gsub(/PASS\(|, *$/, "", name)
    why = parts[10]
    text = text ".It Ic " name "\n" fill(toupper(substr(why, 1, 1)) substr(why, 2) ".")
    properties = clause("Needs", parts[2]) clause("Gives", parts[4]) clause("Breaks", parts[6])
    text = text ".br\n" fill(substr(properties, 2))
}
