# embed.awk: the standard library's files as C: names relative to stdlib/, texts as string literals, one
# a line. Run with LC_ALL=C so that bytes stay bytes.
function escape(line)
{
    gsub(/\\/, "&&", line)
    gsub(/"/, "\\\"", line)
    gsub(/\t/, "\\t", line)
    gsub(/\r/, "\\r", line)
    gsub(/\?/, "\\?", line) # no trigraphs
    return line
}

BEGIN {
    print "/* Made from stdlib/ by embed.awk. */"
    print "#include \"eval/python/python.h\""
    print "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
    for (i = 1; i < ARGC; i++) {
        file = ARGV[i]
        printf "static const char text_%d[] =\n    \"\"\n", i
        while ((getline line < file) > 0)
            printf "    \"%s\\n\"\n", escape(line)
        close(file)
        print "    ;"
    }
    print "const StdlibFile stdlib_files[] = {"
    for (i = 1; i < ARGC; i++) {
        name = ARGV[i]
        sub(/^stdlib\//, "", name)
        printf "    {\"%s\", text_%d, sizeof text_%d - 1},\n", name, i, i
    }
    print "    {0, 0, 0},"
    print "};"
    printf "const size_t stdlib_file_count = %d;\n", ARGC - 1
}
