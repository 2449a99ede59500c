# docs/performance.md and its plots are what docs/performance.py makes of the measurements.
needs python3
python3 $TILE_ROOT/docs/performance.py $TMP
for file in $TMP/*; do diff $TILE_ROOT/docs/${file##*/} $file || echo "docs/performance.py makes ${file##*/} anew"; done
