# examples.awk -v folder=FOLDER DIALECT.txt: a program for each section of a reference, FOLDER/DIALECT_NUMBER.tile, with all its examples where
# the section's program has the line EXAMPLES.
function finish(   file, i, j, indent) {
    if (!examples) return
    file = folder "/" dialect "_" sprintf("%02d", ++sections) ".tile"
    printf "" > file
    for (i = 1; i <= lines[program]; i++)
        if (text[program, i] !~ /^ *EXAMPLES$/) print text[program, i] > file
        else {
            indent = text[program, i]
            sub(/EXAMPLES/, "", indent)
            for (j = 1; j <= examples; j++) print (example[j] == "" ? "" : indent example[j]) > file
        }
    close(file)
    examples = 0
}
FNR == 1 {
    finish()
    sections = 0
    for (program in lines) delete lines[program]
    dialect = FILENAME
    sub(/.*\//, "", dialect)
    sub(/\.txt$/, "", dialect)
}
/^#/ { next }
/^program / { defined = $2; next }
/^\|/ { text[defined, ++lines[defined]] = substr($0, 3); next }
/^= / { finish(); next }
/^in / { program = $2; if (!(program in lines)) { print FILENAME ":" FNR ": no program " program > "/dev/stderr"; exit 1 } next }
/^    >/ { example[++examples] = substr($0, 7) }
END { finish() }
