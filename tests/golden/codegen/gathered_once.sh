# One stage of what threads gather is gathered an iteration ahead, to a place of its own, where as many blocks have room.
cd $TILE_ROOT/tests/exec
for stages in 1 2; do
    $TILEC gathered_stages.tile --emit=ptx --arch=sm_90a -o $TMP/out.ptx -Rperf \
        --export "both = both_gathered.compile(num_stages=$stages)" 2>&1 | grep -oE 'remark: a loop (not )?multi-buffered.*' | sort -u
done
