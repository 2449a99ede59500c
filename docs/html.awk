# html.awk -v title=TITLE -v root=PATH -v pages=FILE PAGE: a page of HTML from what cmark-gfm gives for it. `root` leads from the page to the
# folder of all pages; links to .md are to .html, and names of manual pages, which FILE lists, are links to these.
BEGIN {
    while ((getline name < pages) > 0) known[name] = 1
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>" title "</title>"
    print "<link rel=\"stylesheet\" href=\"" root "style.css\">\n</head>\n<body>"
    print "<nav><a href=\"" root "docs/README.html\">Documentation of tilec</a></nav>"
}
/<pre>/ { verbatim = 1 }
!verbatim {
    $0 = with_anchor($0)
    rest = $0
    $0 = ""
    while (match(rest, /[a-z][a-z-]*\([1-7]\)/)) {
        name = substr(rest, RSTART, RLENGTH)
        sub(/\(/, ".", name)
        sub(/\)/, "", name)
        found = substr(rest, RSTART, RLENGTH)
        if (name in known) found = "<a href=\"" root "man/" name ".html\">" found "</a>"
        $0 = $0 substr(rest, 1, RSTART - 1) found
        rest = substr(rest, RSTART + RLENGTH)
    }
    $0 = $0 rest
    $0 = gensub_links($0)
}
{ print }
/<\/pre>/ { verbatim = 0 }
END { print "</body>\n</html>" }
function gensub_links(line,   out, link) {
    while (match(line, /href="[^":]*\.md[#"]/)) {
        link = substr(line, RSTART, RLENGTH)
        sub(/\.md/, ".html", link)
        out = out substr(line, 1, RSTART - 1) link
        line = substr(line, RSTART + RLENGTH)
    }
    return out line
}
# A heading is the anchor that links to it name: its words in lower case, joined by hyphens.
function with_anchor(line,   text) {
    if (line !~ /^<h[1-6]>/) return line
    text = tolower(line)
    gsub(/<[^>]*>/, "", text)
    gsub(/[^a-z0-9 -]/, "", text)
    gsub(/ /, "-", text)
    sub(/>/, " id=\"" text "\">", line)
    return line
}
