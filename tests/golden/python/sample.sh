# samples/python, by numpy on the emulator: a program, its tests and its benchmark in one file; statements over the kernels of a .tile file.
needs numpy
needs pytest
cp "$TILE_ROOT"/samples/python/softmax.py "$TILE_ROOT"/samples/python/swish.tile "$TMP"
cd "$TMP" || exit
python3 -m tilec run softmax.py
python3 -m tilec test -q -p no:cacheprovider softmax.py | sed 's/ in [0-9.]*s//'
python3 -m tilec bench softmax.py bench_softmax
cat > several.py <<'END'
from softmax import numbers, softmax


def bench_sizes():
    return {columns: lambda: softmax(8, columns)(numbers(8, columns)) for columns in (32, 64)}


def bench_wrong():
    return 3
END
python3 -m tilec bench several.py
python3 -m tilec bench several.py bench_nothing
python3 -m tilec run swish.tile 'x = numpy.arange(4, dtype=numpy.float32); y = x * 0; swish(4, x, y); print(y.round(4).tolist())'
python3 -m tilec run swish.tile 'swash(4)' 2>&1 | tail -n 1 | cut -d. -f1
python3 -m tilec bench; python3 -m tilec > /dev/null 2>&1 || echo "no command: exit status $?"
