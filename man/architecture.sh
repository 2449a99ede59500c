#!/usr/bin/env bash
# architecture.sh TILEC: writes ARCHITECTURE.md to standard output. In architecture.md.in a line
#   @file NAME    is the text of a file of man/
#   @typed        the launch of the kernel of architecture.tile as it was evaluated
#   @after PASS   the same behind a pass, of the variant for aligned arguments
#   @ptx          the instructions of that variant for sm_90a
#   @passes       the rows of passes.def as a table
#   @properties   those of properties.def
set -eu
tilec=$(realpath "$1")
cd "$(dirname "$0")"

indented() { sed 's/^\(.\)/    \1/'; }
# Of the last kernel printed, without places in the source; the layouts' names first.
launch() { awk '/^kernel /{ text = "" } { sub(/ # [^#]*:[0-9]+:[0-9]+$/, "") } /^  #/ { text = text substr($0, 3) "\n" } /^  launch /, /^  }$/ { text = text substr($0, 3) "\n" } END { printf "%s", text }'; }
ptx() { awk '/^\.visible/ { wanted = /_aligned\(/ } /^}/ { inside = 0 } inside && NF && !/^[\t ]*(\.reg|\/\/)/ { text = text $0 "\n" } /^{/ { inside = wanted } END { printf "%s", text }' | expand -t 4 | sed 's/^    //'; }
passes() {
    echo "| pass | needs | gives | breaks | preserves | why here |"
    echo "|---|---|---|---|---|---|"
    sed -nE 's/^PASS\((\w+), "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)", "(.*)"\)$/| `\1` | \2 | \3 | \4 | \5 | \6 |/p' ../compiler/passes/passes.def
}
properties() {
    echo "| property | what is true |"
    echo "|---|---|"
    sed -nE 's/^PROPERTY\((\w+), \w+, \w+, "(.*)"\)$/| \1 | \2 |/p' ../compiler/passes/properties.def
}

while IFS= read -r line; do
    case $line in
        '@file '*) indented <"${line#@file }" ;;
        @typed) "$tilec" architecture.tile --emit=ir -o - | launch | indented ;;
        '@after '*) "$tilec" architecture.tile --arch=sm_90a --ptxas=none --emit=ptx -o /dev/null --print-after="${line#@after }" 2>&1 | launch | indented ;;
        @ptx) "$tilec" architecture.tile --arch=sm_90a --ptxas=none --emit=ptx -o - | ptx | indented ;;
        @passes) passes ;;
        @properties) properties ;;
        *) printf '%s\n' "$line" ;;
    esac
done <architecture.md.in
