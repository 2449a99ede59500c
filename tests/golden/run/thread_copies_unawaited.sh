# Threads that copy by themselves, and do not wait, or arrive without their copies, are found by the emulator.
cd $TMP
for change in 's/T.ptx_wait_group(1)/T.sync_threads()/' 's/T.cp_async_barrier_noinc(filled/T.barrier_arrive(filled/'; do
  sed "$change" $TILE_ROOT/tests/exec/thread_copies.tile > copies.tile
  $TILEC run --device=emulator copies.tile 'from tile.host import *
from tilus import float16, float32, int32
shifted(random((1024,), float32))
gathered(random((128, 384), float16), random((32, 384), float16), arange(6, int32))' 2>&1 | grep -oE 'unfinished copy: thread [0-9]+ of block \(0, 0, 0\) reads' | sort -u
done
