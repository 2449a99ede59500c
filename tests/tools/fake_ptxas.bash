# For scripts that stand in for ptxas in a test; they source this with the arguments that they got. `level` is then the option -O, `blocks` and
# `threads` are what the kernel's bounds ask for; `answer REGISTERS STORES [LOADS]` prints ptxas's report of the kernel, with so many bytes of
# spills, and leaves a cubin.
for last in "$@"; do
    [ "$before" = -o ] && cubin=$last
    [[ $last == *.ptx ]] && ptx=$last
    [[ $last == -O? ]] && level=$last
    before=$last
done
blocks=$(sed -n 's/^\.minnctapersm //p' "$ptx")
threads=$(sed -n 's/^\.maxntid \([0-9]*\).*/\1/p' "$ptx")
answer() { # REGISTERS STORES [LOADS]
    echo "ptxas info    : Compiling entry function '$(sed -n 's/.*\.entry \([A-Za-z_0-9]*\).*/\1/p' "$ptx" | head -1)' for 'sm_90a'"
    echo "    0 bytes stack frame, $2 bytes spill stores, ${3:-0} bytes spill loads"
    echo "ptxas info    : Used $1 registers, used 0 barriers"
    echo "cubin of $1 registers" > "$cubin"
}
