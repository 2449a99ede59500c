# What becomes of the kernels of a tree: those that its own code makes are compiled as they stand, whatever else fails in it.
cd $TMP; mkdir -p tree/inner; export TILEC_CACHE=$TMP/cache
cat > tree/host.py <<'END'
import argparse_of_someone
import pandas
import torch
import tilus
from tilus import float32, int32
from tilus.utils import cdiv

if torch.version.nothing:
    BLOCK = 32
else:
    BLOCK = 64

class Copy(tilus.Script):
    def __init__(self, block):
        super().__init__()
        self.block = block

    def __call__(self, n: int32, a: ~float32, b: ~float32):
        self.attrs.blocks = cdiv(n, self.block)
        self.attrs.warps = 1
        x = self.global_view(a, dtype=float32, shape=[n])
        y = self.global_view(b, dtype=float32, shape=[n])
        at = [self.blockIdx.x * self.block]
        self.store_global(y, self.load_global(x, offsets=at, shape=[self.block]), offsets=at)

class Wrong(tilus.Script):
    def __call__(self, n: int32, a: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        self.no_such_thing(a)

class NotMade(tilus.Script):
    def __init__(self, block):
        super().__init__()

    def __call__(self, a: ~float32):
        pass

def main(flag=argparse_of_someone.flag):
    rows = []
    for n in [1024, 1 << 34 >> 14]:
        a = torch.randn(n, dtype=torch.float32, device="cuda")
        b = torch.nothing_like_this(a)
        b = torch.empty_like(a)
        kernel = Copy(BLOCK)
        kernel(n, a, b)
        torch.testing.assert_close(a, b)
        while torch.what(n):
            Copy(128)(n, a, b)
        rows.append(pandas.what(kernel))
    frame = pandas.DataFrame(rows)
    print(frame)

if __name__ == "__main__":
    main()
    Wrong()(4, torch.empty(4))
END
cat > tree/inner/test_it.py <<'END'
import pytest
import unittest
import warp as wp
from typing import Any

@wp.kernel
def double(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] * 2.0

@wp.kernel
def any_type(a: wp.array(dtype=Any)):
    i = wp.tid()
    a[i] = a[i] + a[i]

def test_any(test, device):
    a = wp.zeros(4, dtype=wp.int32, device=device)
    wp.launch(any_type, dim=4, inputs=[a], device=device)
    test.assertEqual(a.numpy()[0], 0)

def test_refused(test, device):
    with pytest.raises(RuntimeError):
        wp.launch(any_type, dim=4, inputs=[wp.zeros(4, dtype=wp.mat33)], device=device)

@wp.kernel
def to_fail(a: wp.array(dtype=float)):
    a[0] = "no number"

@wp.kernel
def of_32_threads(a: wp.array(dtype=float)):
    assert wp.block_dim() == 32
    wp.tile_store(a, wp.tile_load(a, shape=32))

def test_to_fail(test, device):
    with test.assertRaises(TypeError):
        wp.launch(to_fail, dim=4, inputs=[wp.zeros(4, dtype=float)], device=device)

def test_unknown(test, device):
    a = wp.array(test.what(), dtype=float, device=device)
    wp.launch_tiled(of_32_threads, dim=1, inputs=[a], block_dim=32, device=device)
END
echo 'def broken(:' > tree/inner/broken.py
echo 'not python' > tree/notes.txt
show() { sed 's/, [0-9]* ms/, N ms/; s/"milliseconds": [0-9]*/"milliseconds": N/'; }
$TILEC migrate-report tree -j1 | show; echo "exit status $?"
$TILEC migrate-report tree/inner -j2 --diagnostics=json | show
$TILEC check --kernels tree/host.py | show
# modules of a tree are found from its top
mkdir -p whole/shared/kinds whole/tests
touch whole/shared/__init__.py whole/shared/kinds/__init__.py
echo 'WIDTH = 8' > whole/shared/kinds/widths.py
cat > whole/tests/test_width.py <<'END'
import warp as wp
from shared.kinds.widths import WIDTH

@wp.kernel
def wide(a: wp.array(dtype=float)):
    a[wp.tid()] = float(WIDTH)

def test_wide():
    wp.launch(wide, dim=WIDTH, inputs=[wp.zeros(WIDTH, dtype=float)])
END
$TILEC migrate-report whole | show
# a part of it, too, where the top says that it is one
touch whole/pyproject.toml
$TILEC migrate-report whole/tests | show
$TILEC migrate-report whole/tests/test_width.py | show
$TILEC migrate-report; echo "exit status $?"
$TILEC migrate-report nowhere; echo "exit status $?"
# a struct of which a field is not known has arrays all the same
cat > structs.py <<'END'
import warp as wp
from someone import made

@wp.struct
class State:
    x: wp.array(dtype=float)

@wp.kernel
def step(state: State):
    i = wp.tid()
    state.x[i] = 2.0 * state.x[i]

def test_step(test, device):
    state = State()
    state.x = made(5)
    wp.launch(step, dim=5, inputs=[state], device=device)
END
$TILEC migrate-report structs.py | show
# a kernel that is refused has its own reason alone, although it is looked at twice
cat > refused.py <<'END'
import tilelang
import tilelang.language as T
import torch

@tilelang.jit
def eager(X, Y):
    N = T.const("N")
    X: T.Tensor[[N], T.float32]
    Y: T.Tensor[[N], T.float32]
    with T.Kernel(N // 8, threads=32):
        T.alloc_tmem((8, 8), T.float32)

eager(torch.zeros(256), torch.zeros(256))
END
$TILEC migrate-report refused.py | show

# Parameters whose annotations are of names that nothing gives, in a kernel that nothing launches.
cat > annotated.py <<'END'
import warp as wp
from someones_structs import *

@wp.kernel
def annotated(state: State, a: wp.array(dtype=float)):
    a[wp.tid()] = state.x

@wp.kernel
def plain(a: wp.array(dtype=float)):
    a[wp.tid()] = 0.0
END
$TILEC migrate-report annotated.py | show
