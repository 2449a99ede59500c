# sentences.awk: the sentences of man/reference as a table for sentence_of(): the dialect, the name, what is said of it.
function quoted(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}
function end_entry(   i) {
    for (i = 1; i <= count && said != ""; i++) print "    {" quoted(dialect) ", " quoted(entry[i]) ", " quoted(said) "},"
    count = 0
    said = ""
}
BEGIN {
    print "/* Generated of man/reference. */"
    print "#include \"lsp/lsp.h\"\n"
    print "const Sentence sentences[] = {"
}
FNR == 1 {
    end_entry()
    dialect = FILENAME
    sub(/.*\//, "", dialect)
    sub(/\.txt$/, "", dialect)
    listed = 0
}
/^=/ { end_entry(); listed = 1; next } # entries stand in sections alone
!listed || /^(of|in|program|names|#|\|)/ || /^$/ { end_entry(); next }
/^    >/ { next }
/^    / {
    sub(/^ +/, "")
    sub(/ *[Aa]s in the example of .*/, "")
    if ($0 != "") said = said (said == "" ? "" : " ") $0
    next
}
{
    end_entry()
    count = /\.$/ ? 0 : split($0, entry, / /) # a text of the section ends like a sentence
}
END {
    end_entry()
    print "};"
    print "const size_t sentence_count = sizeof sentences / sizeof *sentences;"
}
