# Where arrays are, as for a GPU: what a kernel gives is made there even if it takes no arrays; the host's arrays are refused.
needs torch
cd "$TMP"
python3 - <<'END'
import numpy
import torch
import types
from tilec import arrays, device

made = {}
torch.empty = lambda shape, dtype, device: made.update(shape=shape, dtype=dtype, device=device) or types.SimpleNamespace()
for is_emulator in (True, False):
    device.is_emulator = lambda: is_emulator
    arrays.empty_like(None, arrays.CODES["float32"], (2, 3))
    print(made)
    for array in (torch.zeros(4), numpy.zeros(4)):
        try:
            print(arrays.check_place(arrays.facts_of(array)))
        except TypeError as error:
            print(error)
END
# ---- torch comes for results of a GPU's, if nobody has imported it: numpy's would be in the host's memory
python3 - <<'END'
import sys

import numpy
from tilec import arrays, device

device.is_emulator = lambda: False
try:
    arrays.empty_like(None, arrays.CODES["float32"], (2, 3))
except Exception:  # there may be no GPU
    pass
print("torch" in sys.modules)
END
