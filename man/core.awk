# core.awk: the rows CORE of builtins.def as the list of tile-core(7), in their order.
FILENAME !~ /\.def$/ {
    if ($0 != "@CORE@") {
        print
        next
    }
    printf "%s", text
    next
}
/^CORE\("/ {
    split($0, parts, "\"")
    text = text (parts[4] == "@" ? ".It Ic " parts[2] : ".It Xo\n.Fo " parts[2]) "\n"
    if (parts[4] != "@") {
        count = split(parts[4], parameters, /, /)
        for (i = 1; i <= count; i++) text = text ".Fa " roff(parameters[i]) "\n"
        text = text ".Fc\n.Xc\n"
    }
    sentence = parts[6]
    text = text fill(toupper(substr(sentence, 1, 1)) substr(sentence, 2) ".")
}
