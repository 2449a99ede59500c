# Fast launches see that nobody helps as checked ones do, and within seconds, also those that count while they wait.
export TILE_EMULATOR=fast
for n in 'counts()' 'counts_atomics()'; do
    timeout 60 $TILEC run --device emulator spins.tile "$n" 2>&1 | sed -n 's/block ([0-9, ]*): thread [0-9]*/some thread/; /deadlock/p'
done
timeout 60 $TILEC test --device emulator spins.tile 2>&1 | sed -n 's/block ([0-9, ]*): thread [0-9]*/some thread/; /deadlock\|^ok\|^FAIL/p'
