# circles.awk: the output of `nm -A` on standard input (paths below obj/): prints each file of a circle of files that call each other
# where it has more than `most` (8). -v except=REGEX leaves out files whose circles are not to be looked at.
BEGIN { if (!most) most = 8 }

{
    match($0, /obj\/[^:]*\.o:/)
    file = substr($0, RSTART + 4, RLENGTH - 7)
    files[file] = 1
    kind = $(NF - 1)
    if (kind == "U") users[$NF] = users[$NF] " " file
    else if (kind ~ /^[A-Z]$/) definer[$NF] = file
}

# Marks all that `from` calls, by any way.
function reach(from,   stack, depth, at, n, i, next_files) {
    depth = 1
    stack[1] = from
    while (depth > 0) {
        at = stack[depth--]
        n = split(calls[at], next_files, " ")
        for (i = 1; i <= n; i++)
            if (!((from, next_files[i]) in reached)) {
                reached[from, next_files[i]] = 1
                stack[++depth] = next_files[i]
            }
    }
}

END {
    for (name in definer) {
        n = split(users[name], callers, " ")
        for (i = 1; i <= n; i++)
            if (callers[i] != definer[name] && !((callers[i], definer[name]) in known)) {
                known[callers[i], definer[name]] = 1
                calls[callers[i]] = calls[callers[i]] " " definer[name]
            }
    }
    for (file in files) reach(file)
    for (file in files) {
        if (except && file ~ except) continue
        size = 0
        for (other in files) size += ((file, other) in reached) && ((other, file) in reached)
        if (size > most) {
            printf "%s is one of %d files that call each other\n", file, size
            bad = 1
        }
    }
    exit bad
}
