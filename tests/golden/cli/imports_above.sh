# Relative imports of a program's file are of the package that it lies in, however far above, whatever folder it is compiled from.
mkdir -p $TMP/package/shapes/round $TMP/package/flat
cd $TMP/package
cat >scale.py <<'END'
def factor(n):
    return n + 1
END
cat >flat/utils.py <<'END'
import warp as wp

from ..scale import factor
from .wider import wide

FACTOR = factor(2)


@wp.func
def shifted(x: float):
    return x * wide + float(FACTOR)
END
echo 'wide = 10.0' >flat/wider.py
echo 'wide = 99.0' >shapes/round/wider.py
cat >shapes/round/kernels.py <<'END'
import warp as wp

from ...flat.utils import shifted
from ..names import NAME, offset
from .wider import wide


@wp.kernel
def shift(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = shifted(a[i]) + wp.static(wide) + float(offset)
END
cat >shapes/names.py <<'END'
from ..scale import factor

NAME, offset = "round", factor(4)
END
for from in . shapes/round ..; do
    (cd $from && $TILEC run --device=emulator "$(realpath --relative-to=. $TMP/package/shapes/round/kernels.py)" \
        'a = arange(3, float32); wp.launch(shift, dim=3, inputs=[a]); print(a, NAME)')
done
# Modules of the folder have the library's names, or are asked for by themselves; the folder's own text has names, too.
cat >flat/math.py <<'END'
import math


def twice(x):
    return x * math.sqrt(4.0)
END
echo 'LIMIT = 7' >__init__.py
cat >flat/kernels.py <<'END'
import math

import warp as wp

from . import math as own
from . import wider
from .. import LIMIT, scale
from .math import twice


@wp.kernel
def shift(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] + wp.static(twice(1.5) + own.twice(math.floor(2.5)) + wider.wide) + float(LIMIT + scale.factor(0))
END
for from in . flat ..; do
    (cd $from && $TILEC run --device=emulator "$(realpath --relative-to=. $TMP/package/flat/kernels.py)" \
        'a = arange(3, float32); wp.launch(shift, dim=3, inputs=[a]); print(a)')
done
# A package that the file lies in is found by its own name, and one file is one module, by whichever of its names.
cat >shapes/kinds.py <<'END'
class Kind:
    pass
END
cat >shapes/round/own.py <<'END'
import warp as wp

from package.flat.utils import shifted
from package.shapes.kinds import Kind
from package.shapes.round.wider import wide
from ..kinds import Kind as same

made = same()


@wp.kernel
def shift(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = shifted(a[i]) + wp.static(wide) + wp.static(1000.0 if isinstance(made, Kind) else 0.0)
END
for from in . shapes/round ..; do
    (cd $from && $TILEC run --device=emulator "$(realpath --relative-to=. $TMP/package/shapes/round/own.py)" \
        'a = arange(3, float32); wp.launch(shift, dim=3, inputs=[a]); print(a)')
done
sed -i 's/names import/missing_names import/' shapes/round/kernels.py
$TILEC run --device=emulator shapes/round/kernels.py 'a = arange(3, float32); wp.launch(shift, dim=3, inputs=[a])' 2>&1 | head -3
