# circles.awk: files that call each other, directly or by way of others, are read and changed together: how many there may be in such
# a circle. Standard input is the output of `nm -A` (paths below obj/), as of layers.awk. A circle is measured by the folder that has
# most of its files.
BEGIN {
    most = 8
}

{
    match($0, /obj\/[^:]*\.o:/)
    file = substr($0, RSTART + 4, RLENGTH - 7)
    if (!(file in files)) files[file] = ++count
    kind = $(NF - 1)
    if (kind == "U") users[$NF] = users[$NF] " " file
    else if (kind ~ /^[A-Z]$/ && file !~ /^library\//) definer[$NF] = file # the library has an internal_error of its own
}

function folder_of(file) {
    sub(/\/[^\/]*$/, "", file)
    return file
}

function report(size, members,   names, n, i, has, folder) {
    n = split(members, names, " ")
    for (i = 1; i <= n; i++)
        if (++has[folder_of(names[i])] > has[folder]) folder = folder_of(names[i])
    if (size <= (folder in limit ? limit[folder] : most)) return
    printf "%d files call each other, where %d may:%s\n", size, folder in limit ? limit[folder] : most, members
    bad = 1
}

# Tarjan: files from which the lowest one on the stack is reached again are a circle.
function visit(file,   names, n, i, size, members, member) {
    number[file] = low[file] = ++visited
    stack[++depth] = file
    open[file] = 1
    n = split(calls[file], names, " ")
    for (i = 1; i <= n; i++) {
        if (!(names[i] in number)) {
            visit(names[i])
            if (low[names[i]] < low[file]) low[file] = low[names[i]]
        } else if (open[names[i]] && number[names[i]] < low[file]) {
            low[file] = number[names[i]]
        }
    }
    if (low[file] != number[file]) return
    do {
        member = stack[depth--]
        open[member] = 0
        members = members " " member
        size++
    } while (member != file)
    if (size > 1) report(size, members)
}

END {
    for (symbol in definer) {
        n = split(users[symbol], names, " ")
        for (i = 1; i <= n; i++)
            if (names[i] != definer[symbol] && !((names[i], definer[symbol]) in seen)) {
                seen[names[i], definer[symbol]] = 1
                calls[names[i]] = calls[names[i]] " " definer[symbol]
            }
    }
    for (file in files)
        if (!(file in number)) visit(file)
    exit bad
}
