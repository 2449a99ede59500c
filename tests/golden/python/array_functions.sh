# What golden/run expects of the functions of host arrays is what numpy and torch give.
needs numpy
needs torch
cd "$TILE_ROOT/tests/golden/run" || exit
for library in numpy torch; do
    python3 -W ignore ${library}_functions.py | cmp - ${library}_functions.expected && echo "as $library says"
done
