# Where a loop carries more vectors than a thread has registers for in the layout of what they are multiplied with, each thread has its own
# share of them: how many registers each carried tile takes, in both variants.
cd $TMP
$TILEC $TILE_ROOT/tests/exec/carried_vectors.tile --arch=sm_90a --export "k = steps.compile(tile=32, n=16, rounds=4)" --emit=ptx --print-after infer_layout -o f.ptx 2>&1 |
    awk '/^  #l[0-9]+ =/ {
             bits = $0; count = 0
             if (!sub(/.* reg \[/, "", bits)) bits = ""
             sub(/\]\].*/, "]", bits)
             while (sub(/\[[0-9,]*\]/, "", bits)) count++
             registers[$1] = 2 ^ count
         }
         / = for / {
             types = $0; list = ""
             sub(/ \(.*/, "", types)
             while (match(types, /tile<[^>]*>/)) {
                 one = substr(types, RSTART, RLENGTH)
                 types = substr(types, RSTART + RLENGTH)
                 sub(/.*, /, "", one); sub(/>/, "", one)
                 list = list " " registers[one]
             }
             print "a loop carries tiles of" list
         }'
