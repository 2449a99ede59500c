# options.awk: puts the rows of options.def and commands.def into the manual page's template.
function field(line, n,   parts, count) { # the n-th "quoted" text of a row
    count = split(line, parts, "\"")
    return parts[2 * n]
}
/^OPTION\(/ { options = options ".It Li \"" roff(field($0, 1) (field($0, 1) ~ /=$/ ? "" : " ") field($0, 2)) "\"\n" fill(field($0, 3)); next }
/^COMMAND\(/ {
    commands = commands ".It Cm " field($0, 1) " Ar " roff(field($0, 2)) "\n" fill(field($0, 3))
    next
}
FILENAME !~ /\.def$/ {
    if ($0 == "@OPTIONS@") printf "%s", options
    else if ($0 == "@COMMANDS@") printf "%s", commands
    else print
}
