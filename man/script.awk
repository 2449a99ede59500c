# script.awk: the operations of stdlib/tilus/*.tile as the lists of tile(5), under the headings of their comments.
BEGIN {
    headings["Instructions"] = ""
    headings["Script"] = ""
    headings["ThreadOperations"] = "Threads"
    headings["Atomic"] = "Atomics"
    headings["MBarrier"] = "Mbarriers"
    headings["Tma"] = "Copies by TMA"
    headings["Wgmma"] = "Products in flight"
    headings["Fence"] = "Fences"
    prefixes["Atomic"] = "atomic."
    prefixes["MBarrier"] = "mbarrier."
    prefixes["Tma"] = "tma."
    prefixes["Wgmma"] = "wgmma."
    prefixes["Fence"] = "fence."
}
function quoted(text) {
    text = roff(text)
    gsub(/"/, "\\(dq", text)
    return text
}
function close_list() {
    if (open) text = text ".El\n"
    open = 0
}
FILENAME !~ /\.tile$/ {
    if ($0 != "@SCRIPT@") {
        print
        next
    }
    close_list()
    printf "%s", text
    next
}
/^class / {
    class = $0
    sub(/^class /, "", class)
    sub(/[(:].*/, "", class)
    prefix = prefixes[class]
    wanted = class in headings
    heading = headings[class]
    next
}
/^    # ---- / {
    heading = $0
    sub(/^ *# -+ /, "", heading)
    sub(/ -+ *$/, "", heading)
    heading = toupper(substr(heading, 1, 1)) substr(heading, 2)
    next
}
/^    @property/ { property = 1; next }
/^    def [a-z]/ && wanted {
    if (heading != shown) {
        close_list()
        text = text ".Ss Script: " tolower(substr(heading, 1, 1)) substr(heading, 2) "\n"
        shown = heading
    }
    if (!open) text = text ".Bl -item -compact -offset indent\n"
    open = 1
    line = $0
    sub(/^ *def /, "", line)
    sub(/:$/, "", line)
    sub(/\(self\)/, "()", line)
    sub(/\(self, /, "(", line)
    if (property) sub(/\(\)/, "", line)
    text = text ".It\n.Li \"" quoted("self." prefix line) "\"\n"
}
{ property = 0 }
