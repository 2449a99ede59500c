# dialect.awk: the @REFERENCE@ of a page as mdoc: the sections of reference/DIALECT.txt, each name with how it is called (signatures.awk),
# its sentence and its example. With -v check=1 what the reference lacks instead: names, entries, sentences, examples.
# The form of the reference: reference/README.md.
function quoted(text) {
    text = roff(text)
    gsub(/"/, "\\(dq", text)
    return "\"" text "\""
}
function add(line) { text = text line "\n" }
function verbatim(rows, count,   i, line) {
    add(".Bd -literal -offset indent -compact")
    for (i = 1; i <= count; i++) {
        line = roff(rows[i])
        add(line ~ /^[.']/ ? "\\&" line : line)
    }
    add(".Ed")
}
function missing(what) { # said where that is asked for; a page has what there is
    if (!check) return
    print reference ": " what
    wrong = 1
}
# names MODULE [CLASS or - [PREFIX [NAME...]]]
function read_names(module, class, prefix, first, last,   command, line, field, i, wanted) {
    for (i = first; i <= last; i++) wanted[$i] = 1
    command = "LC_ALL=C awk -f man/signatures.awk -v stdlib=stdlib -v module=" module (class != "" && class != "-" ? " -v class=" class : "")
    while ((command | getline line) > 0) {
        split(line, field, /\t/)
        if ((prefix field[1]) in arguments || (first <= last && !(field[1] in wanted))) continue
        arguments[prefix field[1]] = field[2]
        order[++total] = prefix field[1]
    }
    close(command)
}
function end_entry(   i) {
    if (!entries) return
    if (!said) missing(entry[1] " has no sentence")
    if (!shown && !excused) missing(entry[1] " has no example")
    for (i = 1; i <= entries && shown; i++)
        if (arguments[entry[i]] != "" && !is_used(entry[i])) missing("no example calls " entry[i])
    if (shown) verbatim(example, shown)
    entries = said = shown = excused = 0
}
# Whether the entry's example has the name, without what stands before it as a word of its own.
function is_used(name,   i) {
    sub(/.*\./, "", name)
    for (i = 1; i <= shown; i++)
        if ((" " example[i] " ") ~ ("[^A-Za-z0-9_]" name "[^A-Za-z0-9_]")) return 1
    return 0
}
function begin_entry(line,   i) {
    end_entry()
    if (!listed) add(".Bl -tag -width Ds")
    listed = 1
    entries = split(line, entry, / /)
    add(".It Xo")
    for (i = 1; i <= entries; i++) {
        if (!(entry[i] in arguments)) missing("nothing is called " entry[i])
        if (entry[i] in written) missing(entry[i] " is there twice")
        written[entry[i]] = 1
        add(".Li " quoted(owner entry[i] arguments[entry[i]]) (i < entries ? " ," : ""))
    }
    add(".Xc")
}
function end_section() {
    end_entry()
    if (listed) add(".El")
    listed = 0
}
function end_reference(   i) {
    if (!total) return
    end_section()
    for (i = 1; i <= total; i++)
        if (!(order[i] in written)) missing("no entry for " order[i])
}
FNR == 1 && FILENAME !~ /\.in$/ { reference = FILENAME }
FILENAME ~ /\.in$/ {
    end_reference()
    total = 0
    if ($0 == "@REFERENCE@") printf "%s", text
    else print
    next
}
/^#/ || /^$/ { next }
/^names / { read_names($2, $3, $4 == "-" ? "" : $4, 5, NF); next }
/^of( |$)/ { owner = $2; next }
/^program / { name = $2; next }
/^\|/ { program[name, ++lines[name]] = substr($0, 3); framed[name] = framed[name] || $0 ~ /^\|  +EXAMPLES$/; next }
/^= / { end_section(); add(".Sh " toupper(substr($0, 3))); next }
/^in / {
    if (framed[$2] && !seen[$2]++) {
        text = text fill("The examples are lines of the program \"" $2 "\":")
        for (i = 1; i <= lines[$2]; i++) frame[i] = program[$2, i]
        verbatim(frame, lines[$2])
    } else if (framed[$2]) text = text fill("The examples are lines of the program \"" $2 "\".")
    next
}
/^    >/ { example[++shown] = substr($0, 7); next }
/^    / {
    said = 1
    excused = excused || $0 ~ /[Aa]s in the examples? |^ *(Refused|Hints?|What T\.__getattr__)/
    text = text fill(substr($0, 5))
    next
}
listed == 0 && /\.$/ { add(".Pp"); text = text fill($0); next }
{ begin_entry($0) }
END {
    if (check) end_reference()
    if (wrong) exit 1
}
