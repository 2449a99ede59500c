# explain.awk: the pages of explain.txt as C, a text for each row of diag.def, which is read first. Run with LC_ALL=C.
function escape(line) {
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    gsub(/\t/, "\\t", line)
    gsub(/\?/, "\\?", line) # no trigraphs
    return line
}
BEGIN {
    print "/* Made from explain.txt by explain.awk. */"
    print "#include \"base/base.h\""
    print "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
    print "const char *diag_explanation(DiagCode code)"
    print "{"
    print "    static const char *const pages[DIAG_COUNT] = {"
}
FILENAME ~ /\.def$/ {
    if (sub(/^DIAG\(/, "") && split($0, row, /, */)) name[row[1]] = row[3]
    next
}
/^#/ && code == "" { next }
/^== / {
    if (code != "") print "        ,"
    code = $2
    if (!(code in name)) {
        print "explain.txt: diag.def has no " code > "/dev/stderr"
        exit 1
    }
    print "    [DIAG_" name[code] "] ="
    blank = 0
    next
}
$0 == "" { blank = 1; next }
code != "" {
    print "        \"" (blank ? "\\n" : "") escape($0) "\\n\""
    blank = 0
}
END { print "        ,\n    };\n    return pages[code] != NULL ? pages[code] : \"\";\n}" }
