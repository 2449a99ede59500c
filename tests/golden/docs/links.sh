# What pages link to is there: files of the tree in Markdown, and headings; and each test or page that features.md names.
cd $TILE_ROOT
anchors() { grep -E '^#+ ' "$1" | sed -E 's/^#+ //' | tr 'A-Z' 'a-z' | sed -E 's/[^a-z0-9 -]//g; s/ /-/g'; }
for page in *.md docs/*.md docs/*/*.md; do
    awk '/^```/ { inside = !inside } !inside' "$page" | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//' | while read -r link; do
        file=$(dirname "$page")/${link%%#*}
        case $link in
            http*) continue ;;
            '#'*) file=$page ;;
        esac
        [ -e "$file" ] || echo "$page: there is no $link"
        case $link in *'#'*) anchors "$file" | grep -qx -e "${link#*#}" || echo "$page: there is no heading $link" ;; esac
    done
    # Names of manual pages in sections 1 to 7 are the project's own.
    grep -ohE '\b(lib)?tile[a-z-]*\([1-7]\)' "$page" | tr '(' . | tr -d ')' | sort -u | while read -r name; do
        [ -e "man/$name" ] || [ -e "man/$name.in" ] || echo "$page: there is no manual page $name"
    done
done
grep -oE '`(compiler|docs|man|python|runtime|samples|stdlib|tests)/[A-Za-z0-9_./-]+`' docs/features.md | tr -d '`' | while read -r path; do
    [ -e "$path" ] || echo "features.md: there is no $path"
done
