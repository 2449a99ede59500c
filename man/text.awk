# text.awk: plain text as mdoc, in lines of at most 78 characters, each sentence on lines of its own.
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text
}
function fill(text,   words, count, i, line, out) {
    count = split(roff(text), words, / +/)
    for (i = 1; i <= count; i++) {
        if (line != "" && length(line) + 1 + length(words[i]) > 78) {
            out = out line "\n"
            line = ""
        }
        if (line == "" && words[i] ~ /^[.']/) words[i] = "\\&" words[i]
        line = line (line == "" ? "" : " ") words[i]
        if (i < count && words[i] ~ /[.?!][)\]"']*$/) {
            out = out line "\n"
            line = ""
        }
    }
    return out line "\n"
}
