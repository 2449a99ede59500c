# Whoever ends tilec by a signal finds nothing of it in the folder for temporary files, whichever process of it was at work.
cd $TMP; cp $TILE_ROOT/samples/add_one/add_one.tile .; echo 'other = AddOne(block_n=256, warps=2)' >> add_one.tile; mkdir temporary
printf '#!/bin/sh\ntouch '$TMP'/started\nexec sleep 2\n' > ptxas; chmod +x ptxas
for signal in TERM HUP; do
  for jobs in 1 2; do
    rm -f started
    TMPDIR=$TMP/temporary env --default-signal=TERM,HUP $TILEC add_one.tile --arch=sm_80 --ptxas=$TMP/ptxas --no-cache -j $jobs -o add_one.o & process=$!
    for i in {1..200}; do [ -e started ] && break; sleep 0.05; done
    kill -$signal $process; wait $process 2> /dev/null; echo "$signal, $jobs jobs: status $?"
    for i in {1..100}; do [ -z "$(ls temporary)" ] && break; sleep 0.05; done
    ls temporary
  done
done 2> /dev/null
ls
