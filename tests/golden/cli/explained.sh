# Each page of `tilec explain` is tried: its wrong example gives the code that it explains, its right one does not, and ends well.
# Every code has a page, with both examples or a reason why there are none.
cd $TMP
pages=$TILE_ROOT/compiler/base/explain.txt
mkdir bin work; ln -s "$TILEC" bin/tilec; export PATH=$TMP/bin:$PATH TILE_DEVICE=emulator

diff <(sed -n 's/^DIAG(\([A-Z0-9]*\),.*/\1/p' "$TILE_ROOT/compiler/base/diag.def" | LC_ALL=C sort) <(sed -n 's/^== //p' $pages | LC_ALL=C sort)
# A folder an example: work/CODE.NUMBER.wrong or .right, of a file and, in `run`, the commands.
LC_ALL=C awk '
function flush(   folder) {
    if (kind == "") return
    folder = "work/" code "." ++count "." kind
    system("mkdir " folder)
    printf "%s", file > (folder "/example.py")
    printf "%s", file > (folder "/example.ir")
    printf "%s", commands == "" ? "tilec check example.py\n" : commands > (folder "/run")
    close(folder "/example.py"); close(folder "/example.ir"); close(folder "/run")
    kind = ""
}
/^#/ && code == "" { next }
/^== / { flush(); if (code != "" && !told && count < 2) print code ": neither two examples nor a reason"; code = $2; count = told = 0; next }
/^Not tested: / { told = 1; next }
/^(Wrong|Right):$/ { flush(); kind = told ? "" : tolower(substr($1, 1, 5)); file = commands = ""; next }
kind == "" { next }
/^    \$ / { commands = commands substr($0, 7) "\n"; next }
/^    / || /^$/ { line = substr($0, 5); if (line != "" || file != "") file = file line "\n"; next }
END { flush() }' "$pages"

try() { # FOLDER
    local code=${1%%.*} status
    cd "work/$1" && bash run >said 2>&1
    status=$?
    case $1 in
        *.wrong) grep -qF "[$code]" said || { echo "== $1 does not give the code"; cat said; } ;;
        *) [ $status -eq 0 ] && ! grep -qF "[$code]" said || { echo "== $1 is not right: status $status"; cat said; } ;;
    esac
}
export -f try
ls work | xargs -n 1 -P 2 bash -c 'try "$0"'
