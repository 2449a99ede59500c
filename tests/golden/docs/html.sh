# `make html`: every page, and each of its links, to a place in a page too, leads somewhere.
needs mandoc
needs cmark-gfm
make -s -C $TILE_ROOT BUILD=$TMP/build html Q=@ > /dev/null || exit
cd $TMP/build/html
find . -type f | LC_ALL=C awk '
    { there[$0] = 1; files[++count] = $0 }
    function resolved(path) {
        while (sub(/\/[^\/.][^\/]*\/\.\.\//, "/", path)) { }
        return path
    }
    # Links and places of all pages; a link is looked up when all are known.
    END {
        for (i = 1; i <= count; i++) {
            if (files[i] !~ /\.html$/) continue
            folder = files[i]
            sub(/[^\/]*$/, "", folder)
            whole = 0
            while ((getline line < files[i]) > 0) {
                whole = whole || line ~ /<\/html>/
                while (match(line, /(href|src|id)="[^"]*"/)) {
                    item = substr(line, RSTART, RLENGTH)
                    line = substr(line, RSTART + RLENGTH)
                    kind = item ~ /^id/ ? "id" : "link"
                    sub(/^[a-z]*="/, "", item)
                    sub(/"$/, "", item)
                    if (kind == "id") place[files[i] "#" item] = 1
                    else if (item ~ /^#/) links[++found] = files[i] "\t" files[i] item
                    else if (item !~ /^(http|mailto)/) links[++found] = files[i] "\t" resolved(folder item)
                }
            }
            if (!whole && files[i] != "./index.html") print files[i] " is cut"
        }
        for (i = 1; i <= found; i++) {
            split(links[i], part, /\t/)
            file = part[2]
            sub(/#.*/, "", file)
            if (!(file in there) || (part[2] ~ /#/ && !(part[2] in place))) print part[1] " leads to " part[2]
        }
        print (found > 300 ? "links are looked up" : "there are too few links")
    }'
ls man | wc -l
