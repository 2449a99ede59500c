# Of what `from module import *` takes, a kernel has the names that are known, where another name of that module cannot be evaluated.
cd "$TMP"
cat >settings.py <<'END'
from pathlib import Path

MODELS = Path(__file__).parents[1] / "models"
SIZE = 2.0
MASS = 1000.0 * SIZE**3
END
cat >program.py <<'END'
import warp as wp
from settings import *


@wp.kernel
def weigh(out: wp.array(dtype=float)):
    out[wp.tid()] = MASS


@wp.kernel
def load(out: wp.array(dtype=float)):
    out[wp.tid()] = float(len(MODELS))
END
"$TILEC" check --kernels program.py | sed 's/, [0-9]* ms)/)/'
