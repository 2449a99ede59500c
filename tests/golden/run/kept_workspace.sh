# A workspace that a kernel is to leave zero, and does not.
cd $TMP
cat >kept.tile <<'T'
import __core__ as core
import tilus
from tilus import int32
from tilus.tensor import zeros

class Counts(tilus.Script):
    def __init__(self, leaves):
        super().__init__()
        self.leaves = leaves

    def __call__(self, c: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        counter = core.workspace(core.int32, [8], keep=True)
        self.store_global(counter, self.load_global(counter, offsets=[0], shape=[8]) + 7, offsets=[0])
        self.store_global(self.global_view(c, dtype=int32, shape=[8]), self.load_global(counter, offsets=[0], shape=[8]), offsets=[0])
        if self.leaves == 0:
            self.store_global(counter, self.register_tensor(dtype=int32, shape=[8], init=0), offsets=[0])

for leaves in 0, 1:
    c = zeros((8,), int32)
    Counts(leaves)(c)
    print(c)
T
TILE_DEVICE=emulator $TILEC run kept.tile
