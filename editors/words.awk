# words.awk: fills the words of the compiler's own tables into a template: @CONTROL@, @OPERATORS@, @CONSTANTS@, @DTYPES@, @BUILTINS@ and
# @EXCEPTIONS@, separated by the variable `separator`. Before the template come token.c, dtype.c, the builtins.def and the prelude.
function add(list, word) { words[list] = words[list] (words[list] == "" ? "" : separator) word }
FILENAME ~ /token\.c$/ {
    if (match($0, /^        \[TOKEN_[A-Z]+\] = "'[A-Za-z]+'"/)) {
        split($0, parts, "'")
        word = parts[2]
        if (word ~ /^(True|False|None)$/) add("CONSTANTS", word)
        else if (word ~ /^(and|in|is|not|or)$/) add("OPERATORS", word)
        else if (word !~ /^(case|match|type)$/) add("CONTROL", word) # these are names elsewhere: the templates have them
    }
    next
}
FILENAME ~ /dtype\.c$/ {
    if (match($0, /^        \[DTYPE_[a-z0-9]+\] = "/)) {
        split($0, parts, "\"")
        add("DTYPES", parts[2])
    }
    next
}
FILENAME ~ /\.def$/ {
    split($0, parts, "\"")
    if ($0 ~ /^BUILTIN\("builtins"/) add("BUILTINS", parts[4])
    next
}
FILENAME ~ /prelude\.tile$/ {
    if (match($0, /^class [A-Z][A-Za-z]*/)) add("EXCEPTIONS", substr($0, 7, RLENGTH - 6))
    next
}
{
    for (list in words) gsub("@" list "@", words[list])
    print
}
