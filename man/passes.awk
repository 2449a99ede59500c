# passes.awk: the rows of passes.def as the list of tile-passes(7), in the order in which they run. The text in quotes is the reason; what
# stands between it and the name are the stages and, where the table has them, the properties.
FILENAME !~ /\.def$/ {
    if ($0 != "@PASSES@") {
        print
        next
    }
    printf "%s", text
    next
}
/^PASS\(/ {
    row = $0
    match(row, /"([^"\\]|\\.)*"/)
    why = substr(row, RSTART + 1, RLENGTH - 2)
    row = substr(row, 6, RSTART - 6) substr(row, RSTART + RLENGTH)
    gsub(/STAGE_/, "", row)
    count = split(row, parts, /[,()] */)
    text = text ".It Ic " parts[1] "\n" fill(toupper(substr(why, 1, 1)) substr(why, 2) ".")
    text = text ".br\n" fill(parts[2] == parts[3] ? "Stage: " parts[2] "." : "From " parts[2] " to " parts[3] ".")
    more = ""
    for (i = 4; i <= count; i++)
        if (parts[i] != "" && parts[i] != "0") more = more (more == "" ? "" : "; ") tolower(parts[i])
    if (more != "") text = text fill("Properties: " more ".")
}
