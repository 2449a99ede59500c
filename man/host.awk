# host.awk: the functions of host arrays as the lists of tile-host(7): of stdlib/compat, in the order of the files. A function is listed
# where a module offers it; its name in numpy and torch stands behind it where it has one there.
# The files come in this order: the host's table, the modules' lists of names, the functions, the page.
function module() { return substr(FILENAME, match(FILENAME, /[a-z_]*\.tile$/), RLENGTH - 5) }
function text_of(parameters,   i, count, words, made) {
    count = split_top(parameters, words)
    for (i = 1; i <= count; i++) made = made ".Fa " quoted(words[i]) "\n"
    return made
}
# At commas outside of brackets.
function split_top(parameters, words,   i, c, depth, count) {
    count = parameters == "" ? 0 : 1
    words[1] = ""
    for (i = 1; i <= length(parameters); i++) {
        c = substr(parameters, i, 1)
        if (c ~ /[([{]/) depth++
        if (c ~ /[)\]}]/) depth--
        if (c == "," && depth == 0) {
            words[++count] = ""
            i++
        } else {
            words[count] = words[count] c
        }
    }
    return count
}
function quoted(word) { return word ~ / / ? "\"" word "\"" : word }
# What it is called there, or that it is not there.
function where_else(name,   told) {
    if ((name in numpy) && numpy[name] != name) told = told ".Pp\nIn numpy\n.Li " numpy[name] " .\n"
    if ((name in torch) && torch[name] != name) told = told ".Pp\nIn torch\n.Li " torch[name] " .\n"
    if (!(name in numpy) && !(name in torch)) return told fill("Of tile.host alone.")
    if (!(name in numpy)) return told fill("Not in numpy.")
    return (name in torch) ? told : told fill("Not in torch.")
}
# Lists of imported names: `name` or `name as other`.
/^from (__host__|compat\.[a-z_]*arrays) import \($/ && file_is_list() { inside = 1; next }
inside && /^\)/ { inside = 0; next }
inside || (/^from (__host__|compat\.[a-z_]*arrays) import [a-z]/ && file_is_list()) {
    line = $0
    sub(/^from .* import /, "", line)
    count = split(line, parts, /, *|,$/)
    for (i = 1; i <= count; i++) {
        split(parts[i], pair, " as ")
        gsub(/ /, "", pair[1]); gsub(/ /, "", pair[2])
        if (pair[1] != "") offer(pair[1], pair[2] == "" ? pair[1] : pair[2])
    }
    next
}
function file_is_list() { return module() ~ /^(host|numpy|torch_arrays|array_methods|torch_methods)$/ && FILENAME !~ /\.in$/ }
function offer(name, as) {
    if (module() == "host") public[name] = 1
    if (module() == "numpy" && as !~ /^_/) numpy[name] = as
    if (module() == "torch_arrays") torch[name] = as
    if (module() ~ /_methods$/) methods[as] = 1
}
FILENAME ~ /\.c$/ {
    if (/^ *\{"[a-z_]*", function_/) own[substr($0, index($0, "\"") + 1, index($0, "\",") - index($0, "\"") - 1)] = 1
    next
}
FILENAME ~ /(torch|torch_arrays|numpy)\.tile$/ && /^def [a-z]/ {
    match($0, /[a-z][a-z0-9_]*\(/)
    name = substr($0, RSTART, RLENGTH - 1)
    if (FILENAME ~ /numpy/) numpy[name] = name
    else if (!(name in torch)) torch[name] = name
}
FILENAME ~ /(\/arrays|host)\.tile$/ {
    if (/^# ---- /) {
        title = $0
        gsub(/^# ---- | ----$/, "", title)
        sentence = ""
    } else if (/^# /) {
        sentence = sentence (sentence == "" ? "" : " ") substr($0, 3)
    } else if (/^def [a-z]/) {
        match($0, /[a-z][a-z0-9_]*\(/)
        name = substr($0, RSTART, RLENGTH - 1)
        rest = substr($0, RSTART + RLENGTH)
        sub(/\):.*$/, "", rest)
        if (!((FILENAME ~ /arrays/) && !(name in public))) {
            if (FILENAME ~ /host/) title = "arrays that are made"
            if (!(title in lists)) order[++titles] = title
            lists[title] = lists[title] ".It Xo\n.Fo " name "\n" text_of(rest) ".Fc" (name in methods ? "\n, a method, too" : "") "\n.Xc\n" \
                (sentence == "" ? "" : fill(sentence)) where_else(name)
        }
        sentence = ""
    } else if (!/^ *$/) {
        sentence = ""
    }
    next
}
FILENAME ~ /\.in$/ {
    if ($0 != "@HOST@") {
        print
        next
    }
    for (i = 1; i <= titles; i++) {
        print ".Ss " toupper(substr(order[i], 1, 1)) substr(order[i], 2) "\n.Bl -tag -width Ds\n" lists[order[i]] ".El"
    }
    alone("numpy", numpy)
    alone("torch", torch)
}
function alone(library, names,   name, list, count, i, told) {
    for (name in names)
        if (!(name in public) && !(name in own)) list[++count] = names[name]
    sort_names(list, count)
    for (i = 1; i <= count; i++) told = told (i > 1 ? ", " : "") list[i]
    printf "%s", ".Ss Functions of " library " alone\n" fill(told ".")
}
function sort_names(list, count,   i, j, name) {
    for (i = 2; i <= count; i++) {
        name = list[i]
        for (j = i - 1; j >= 1 && list[j] > name; j--) list[j + 1] = list[j]
        list[j + 1] = name
    }
}
