# What programs compute with Tilus's layouts and types outside of kernels, by the names of modules that are functions of the module above, too.
export TILE_DEVICE=emulator
cat >"$TMP/layouts.py" <<'P'
from tilus.ir.layout import register_layout as first
from tilus.ir.layout.global_layout import GlobalLayout
from tilus.ir.layout.ops import shared_column_major, shared_layout, shared_permute, shared_reshape, shared_row_major
from tilus.ir.layout.ops.register_ops import reduce, spatial
from tilus.ir.layout.register_layout import canonicalize_layout, register_layout
from tilus.ir.layout.shared_layout import SharedLayout, canonicalize_shared_layout
from tilus.ir.layout import register_layout as second, shared_layout as third, global_row_major
import tilus
import tilus.ir.layout.shared_layout

for shape, modes, threads, own in [([6], [2, 3], [0, 1], []), ([6], [2, 3], [1, 0], []), ([8, 6], [2, 2, 2, 3, 2], [-4, 0, 1, 3], [2, 4])]:
    layout = canonicalize_layout(register_layout(shape, modes, threads, own))
    print(layout.mode_shape, layout.spatial_modes, layout.local_modes, layout == first(shape, modes, threads, own) == second(shape, modes, threads, own))
print(spatial(4, 8) == tilus.ir.layout.ops.spatial(4, 8), third([4], [4], [1]) == shared_row_major(4))

from tilus.ir.layout.ops import *

held = reduce(spatial(3, 4), dims=[0]).local(2)
print(held.shape, [held.get_spatial([i]) for i in range(0, 8, 2)], [held.get_local([i]) for i in range(4)], held.with_shape([1, 8]).get_spatial([0, 5]))
print([held.get_global(spatial_index=i, local_index=1) for i in (0, 3, 4, 11)], tilus.ir.layout.ops.reshape(spatial(4, 8), [8, 4]).mode_shape)

parts = SharedLayout.create(shape=[32, 16], mode_shape=[4, 8, 2, 2, 4], mode_strides=[64, 8, 256, 4, 1], optional_swizzle=None)
print(canonicalize_shared_layout(parts).mode_shape, canonicalize_shared_layout(parts).mode_strides)
column = shared_layout([12], [3, 4], [1, 3])
print(shared_reshape(column, [3, 4]) == shared_column_major(3, 4), shared_reshape(shared_row_major(12), [1, 3, 4]) == shared_row_major(1, 3, 4))
print(shared_permute(shared_row_major(3, 4), [1, 0]) == shared_column_major(4, 3))
for shape in ([4, 3], [5, 3]):
    try:
        shared_reshape(column, shape)
    except RuntimeError as error:
        print(str(error).splitlines()[0])

turned = GlobalLayout.create([4, 6], 24, lambda axes: axes[0] + 4 * axes[1])
print(turned.strides, turned(3, 5), global_row_major(4, 6)(3, 5), global_row_major(4, 6).size)
print(tilus.utils.lcm(4, 6), tilus.utils.is_power_of_two(12), tilus.utils.floor_log2(9), tilus.utils.nbytes_from_nbits(16), tilus.utils.same_list([1], [1]))
print([isinstance(one, tilus.DataType) for one in (tilus.float16, tilus.void_p, 3, object())], isinstance(turned, GlobalLayout), isinstance(parts, GlobalLayout))
tilus.option.bench_repeat(3)
print(tilus.option.get_option("bench.repeat"))

from tilus.hidet.ir.dtypes import float16, float32
from tilus.ir.layout.cuda.tcgen05.smem import CanonicalSharedLayout, Tcgen05SwizzleMode, canonicalize_shared_layout, generate_canonical_layout
print(spatial(2, 2).local(1, 2).visualize())
print(replicated(2, num_workers=2).visualize())
print(shared_row_major(2, 12).visualize())
for major in ("MN", "K"):
    for mode in (Tcgen05SwizzleMode.NO_SWIZZLE, Tcgen05SwizzleMode.B32_SWIZZLE, Tcgen05SwizzleMode.B128_SWIZZLE):
        one = generate_canonical_layout((128, 128), float16, major, mode)
        print(one, canonicalize_shared_layout(one.as_shared_layout(), float16) == one, one.as_shared_layout()(9, 10))
print(CanonicalSharedLayout(major_kind="K", swizzle_mode=Tcgen05SwizzleMode.B32_SWIZZLE, SBO=64, LBO=128, m=2, k=2, T=4).as_shared_layout())
print(canonicalize_shared_layout(shared_row_major(8, 12), float32))
P
cd "$TMP" && python3 -m tilec run layouts.py
