# A loop of two products whose plan takes more registers than there are is built without it, and a remark says so.
cd $TMP
cat > ptxas <<'END'
#!/bin/bash
. $TILE_ROOT/tests/tools/fake_ptxas.bash
if [ "$threads" -gt 256 ]; then answer 168 400 400; else answer 255 0 0; fi
END
chmod +x ptxas
$TILEC $TILE_ROOT/tests/exec/attention.tile --arch=sm_90a --no-cache --ptxas=./ptxas -Rperf \
    --export 'k = attention.compile(*shapes(1, 2, 1024, 1024, 128))' -o k.o 2>&1 | grep -o 'a loop of products and other work that is not planned: .*' | sort | uniq -c
