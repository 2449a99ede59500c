# run: --emit=ir --export 'k = Fill(Mode.B)' %s
# A member that a statement hands to a kernel is as it was: the enumeration does not wait for the statement, which needs a host.
import enum

import tilus
import torch
from tilus import int32


class Mode(enum.Enum):
    A = "a"
    B = "b"


class Fill(tilus.Script):
    def __init__(self, mode):
        super().__init__()
        self.mode = mode

    def __call__(self, p: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        g = self.global_view(p, dtype=int32, shape=[32])
        self.store_global(g, self.register_tensor(dtype=int32, shape=[32], init=7 if self.mode is Mode.B else 5), offsets=[0])


Fill(Mode.A)(torch.zeros(32, dtype=torch.int32))
