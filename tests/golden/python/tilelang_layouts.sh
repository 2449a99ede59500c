# What programs look at of TileLang's layouts, and of TVM, outside of kernels: swizzled places, numbers of places, options in force.
export TILE_DEVICE=emulator
cat >"$TMP/layouts.py" <<'P'
import tilelang
from tilelang.layout import Layout
from tilelang.layout.swizzle import make_full_bank_swizzled_layout, make_half_bank_swizzled_layout, make_linear_layout, make_quarter_bank_swizzled_layout
from tvm import arith, tirx, transform

for make, lines in ((make_full_bank_swizzled_layout, 8), (make_half_bank_swizzled_layout, 4), (make_quarter_bank_swizzled_layout, 2)):
    flat = make(tirx.decl_buffer((16, 64), "float16", scope="shared"))
    deep = make(tirx.decl_buffer((2, 16, 64), "float16", scope="shared"))
    print(make.__name__, flat.get_output_shape(), len(set(flat.places())) == 16 * 64, deep.is_equal(flat.expand([2])))
    # a column of 16 bytes: of the 8 groups of banks, as many as rows can be told apart by
    banks = {(place[2] // 8) % 8 for place in (flat.place((row, 0)) for row in range(8))}
    print(len(banks), [flat.place((row, 8))[2] // 8 for row in range(8)])

same = arith.Analyzer().can_prove_equal
turned = Layout([2, 32], lambda i, j: [j, i]).get_linearized_forward_index()
print(same(turned, Layout([2, 32], lambda i, j: j * 2 + i).get_linearized_forward_index()))
print(same(turned, make_linear_layout(tirx.decl_buffer((2, 32))).get_linearized_forward_index()), same(3, 3))

with transform.PassContext(config={tilelang.PassConfigKey.TL_DISABLE_TMA_LOWER: True}):
    print(transform.PassContext.current().config)
print(transform.PassContext.current().config, tilelang.is_cache_enabled())
P
cd "$TMP" && python3 -m tilec run layouts.py
