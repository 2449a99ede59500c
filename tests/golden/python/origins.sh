# Parts of a system's own package that are kernels are taken from where it is installed, or from a folder that is named; without it they are
# absent. Numbers are converted by the kernel there, addresses are arguments.
needs numpy
cd "$TMP"
mkdir -p own/tilus/kernels
echo 'raise ImportError("this is not to be imported")' >own/tilus/__init__.py
echo 'from .twice import twice' >own/tilus/kernels/__init__.py
cat >own/tilus/kernels/twice.py <<'END'
from tilus.hidet.ir.dtypes import DataType, int32
from tilus.hidet.ir.type import void_p
from tilus.lang import Class, Script
from tilus.lang.script import autotune
from tilus.tensor import Tensor


class Place(Class):
    def __init__(self, block: int):
        self.block = block

    def of(self, index):
        return index * self.block


@autotune("block", [32, 64])
class Twice(Script):
    def __init__(self, dtype: DataType, block: int):
        super().__init__()
        self.dtype = dtype
        self.block = block

    def __call__(self, n: int32, a_ptr: void_p):
        self.attrs.blocks = (n + self.block - 1) // self.block
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=self.dtype, shape=[n])
        at = Place(self.block).of(self.blockIdx.x)
        self.store_global(a, self.load_global(a, offsets=[at], shape=[self.block]) * 2, offsets=[at])


def twice(a, dtype):
    Twice(dtype)(len(a), a)
    return a
END
cat >use.py <<'END'
import numpy
import tilus
from tilus.lang.instantiated_script import generate_schedules, span_space, tuning_metadata_matches

try:
    print(tilus.kernels.twice(numpy.arange(40, dtype=numpy.int32), tilus.int32).sum())
    from tilus.kernels.twice import Twice

    print(generate_schedules(Twice._autotune_space, Twice, (tilus.int32,)), generate_schedules(Twice._autotune_space, Twice, (tilus.int32, 32)))
except (AttributeError, ImportError) as error:
    print(error)
print(span_space({"m": [1, 2], "n, k": [[1, 2], [3, 4]]}))
print(tuning_metadata_matches({"gpu": "*"}, {"gpu": "a"}), tuning_metadata_matches({"gpu": "b"}, {"gpu": "a"}), tuning_metadata_matches(None, {}))
print([(str(d), d.signedness(), d.exponent_nbits, d.mantissa_nbits) for d in (tilus.int4, tilus.uint8, tilus.float4_e2m1, tilus.bfloat16, tilus.tfloat32)])
t = tilus.target
ours, family = tilus.get_current_target(), [t.nvgpu_sm100, t.nvgpu_sm100f, t.nvgpu_sm103f, t.nvgpu_sm103a]
print(ours, ours.supports(t.nvgpu_sm80), ours.supports(t.nvgpu_sm100), ours.supports(t.gpgpu_any), t.match_target(ours, [t.nvgpu_sm80, t.nvgpu_sm90, t.nvgpu_sm100]))
print([[int(a.supports(b)) for b in family] for a in family], t.amdgpu_any.supports(t.nvgpu_any))
END
TILE_ORIGINS=$TMP/own python3 -m tilec run use.py
PYTHONPATH=$PYTHONPATH:$TMP/own python3 -m tilec run use.py | sed -n 1p
python3 -m tilec run use.py | sed -n 1p
