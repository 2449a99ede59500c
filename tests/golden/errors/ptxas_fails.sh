# A ptxas that is missing, fails, hangs, gives nothing, or tells of spills.
cd $TMP
cp $TILE_ROOT/samples/add_one/add_one.tile .
tool() { printf '#!/bin/sh\n%s\n' "$2" > $1; chmod +x $1; }
show() { echo "== $*"; $TILEC add_one.tile --arch=sm_80 -o x.o --ptxas="$@"; echo "exit status $?"; }
echo old > x.o
show ./missing
tool fails 'echo "ptxas fatal   : Unresolved extern function foo"; exit 255'
show ./fails
tool old 'echo "ptxas kernel.ptx, line 6; fatal   : Unsupported .version 8.0; current version is '"'7.8'"'"; exit 255'
show ./old
tool silent 'exit 3'
show ./silent
tool killed 'kill -9 $$'
show ./killed
tool hangs 'exec sleep 100'
show ./hangs --timeout=1
tool nothing 'exit 0'
show ./nothing
cat x.o
tool spills 'for last in "$@"; do [ "$before" = -o ] && echo cubin > "$last"; before=$last; done
cat <<END
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '"'add_one__0'"' for '"'sm_80'"'
ptxas info    : Function properties for add_one__0
    48 bytes stack frame, 40 bytes spill stores, 56 bytes spill loads
ptxas info    : Used 255 registers, 48 bytes cumulative stack size
END'
show ./spills
show ./spills -Werror
ls
