#!/usr/bin/env bash
# html.sh FOLDER PAGE...: the documentation as HTML in FOLDER: the texts of the project and of docs/ by cmark-gfm, and the manual pages that are
# named (built ones, such as build/man/tilec.1) by mandoc, with links between all of them.
set -eu
folder=$(realpath -m "$1")
shift
pages=()
for page; do pages+=("$(realpath "$page")"); done
cd "$(dirname "$0")/.."
mkdir -p "$folder/man"
printf '%s\n' "${pages[@]##*/}" >"$folder/pages"
cp docs/style.css "$folder/style.css"

for text in *.md docs/*.md docs/*/*.md; do
    target=$folder/${text%.md}.html
    mkdir -p "$(dirname "$target")"
    root=$(sed 's|[^/]*$||; s|[^/]*/|../|g' <<<"$text")
    cmark-gfm --unsafe -e table "$text" |
        LC_ALL=C awk -v title="$(sed -n '1s/^# //p' "$text")" -v root="$root" -v pages="$folder/pages" -f docs/html.awk >"$target"
done
# Pages of other projects, such as setlocale(3), stay names.
own_links() {
    LC_ALL=C awk -v pages="$folder/pages" '
        BEGIN { while ((getline name < pages) > 0) known[name ".html"] = 1 }
        {
            out = ""
            while (match($0, /<a class="Xr" href="[^"]*"[^>]*>[^<]*<\/a>/)) {
                link = substr($0, RSTART, RLENGTH)
                name = link
                sub(/^[^"]*"Xr" href="/, "", name)
                sub(/".*/, "", name)
                if (!(name in known)) gsub(/<[^>]*>/, "", link)
                out = out substr($0, 1, RSTART - 1) link
                $0 = substr($0, RSTART + RLENGTH)
            }
            print out $0
        }'
}
for page in "${pages[@]}"; do
    mandoc -T html -O style=../style.css,man=%N.%S.html "$page" | own_links >"$folder/man/${page##*/}.html"
done
cp docs/*.svg "$folder/docs"
cat >"$folder/index.html" <<'END'
<!DOCTYPE html>
<meta http-equiv="refresh" content="0; url=docs/README.html">
<a href="docs/README.html">Documentation of tilec</a>
END
rm "$folder/pages"
