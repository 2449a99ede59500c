#!/usr/bin/env bash
# page.sh [--update] PAGE.md PREFIX: follows a page of the documentation by copy and paste alone, in a fresh folder, where tilec is installed
# under PREFIX, and compares what its commands print with what it shows. A line `...` in the page stands for any lines.
# A line `<!-- needs WHAT... -->` in it names what tests/run knows as needed. With --update the page shows what was printed.
set -u
update=0
[ "$1" = --update ] && { update=1; shift; }
page=$(realpath "$1") prefix=$(realpath "$2") tools=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMP=$work
for what in $(sed -n 's/^<!-- needs \(.*\) -->$/\1/p' "$page"); do needs "$what"; done

mkdir "$work/blocks" "$work/here" "$work/bin"
LC_ALL=C awk -v folder="$work/blocks" -f "$tools/page.awk" "$page"
printf '#!/bin/sh\nexec %s "$@"\n' "${TILE_CC:-gcc}" >"$work/bin/cc"
chmod +x "$work/bin/cc"
# As where a reader has installed it: in /usr/local all of these are there without a word.
export PATH=$work/bin:$prefix/bin:$PATH CC=cc PKG_CONFIG_PATH=$prefix/lib/pkgconfig CMAKE_PREFIX_PATH=$prefix \
    C_INCLUDE_PATH=$prefix/include LIBRARY_PATH=$prefix/lib LD_LIBRARY_PATH=$prefix/lib TILE_LIBRARIES=$prefix/lib \
    PYTHONPATH=$tools/../../python
export TILE_DEVICE=emulator; unset TILE_EMULATOR
cd "$work/here" || exit

# Whether lines are those of a pattern, in which `...` is any number of them.
matches() { # PATTERN TEXT
    LC_ALL=C awk '
        NR == FNR { wanted[++count] = $0; next }
        { line[++lines] = $0 }
        function fits(i, j) {
            for (; i <= count; i++) {
                if (wanted[i] == "...") {
                    for (; j <= lines + 1; j++) if (fits(i + 1, j)) return 1
                    return 0
                }
                if (j > lines || wanted[i] != line[j]) return 0
                j++
            }
            return j == lines + 1
        }
        END { exit !fits(1, 1) }' "$1" "$2"
}
status=0 ended=0
: >"$work/said"
settle() { # the last commands: what they said is shown, or they said nothing and ended well
    [ -s "$work/said" ] || [ $ended -ne 0 ] || return 0
    echo "not in the page, behind the commands of block $last, which ended with status $ended:"
    cat "$work/said"
    status=1
}
while read -r kind number name; do
    case $kind in
        file) mkdir -p "$(dirname "$name")" && cp "$work/blocks/$number" "$name" ;;
        run)
            settle
            last=$number
            ended=0
            bash "$work/blocks/$number" >"$work/said" 2>&1 </dev/null || ended=$?
            ;;
        said)
            if ! matches "$work/blocks/$number" "$work/said"; then
                status=1
                echo "line $name shows other lines than the commands print:"
                diff -u "$work/blocks/$number" "$work/said"
                cp "$work/said" "$work/blocks/$number"
            fi
            : >"$work/said"
            ended=0
            ;;
    esac
done <"$work/blocks/steps"
settle
[ $update -eq 0 ] || LC_ALL=C awk -v folder="$work/blocks" '
    /^```/ { inside = !inside; if (inside) count++ }
    !skips { print }
    /^```output/ && inside { skips = 1; file = folder "/" count; while ((getline line < file) > 0) print line }
    /^```/ && !inside { if (skips) print; skips = 0 }' "$page" >"$work/page" && { [ $update -eq 0 ] || cp "$work/page" "$page"; }
exit $status
