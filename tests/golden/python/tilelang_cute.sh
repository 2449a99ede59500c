# The algebra of CuTe's layouts: a layout of layouts is asked at each coordinate; what is recovered of TileLang's layouts is what they are.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/algebra.py" <<'P2'
import itertools

import tilec
from tilelang.cuda.intrinsics import make_mma_swizzle_layout
from tilelang.layout import Layout, cute
from tilelang.layout.swizzle import make_half_bank_swizzled_layout
from tvm import ir, tirx


def each(layout):
    return [layout(i) for i in range(cute.size(layout))]


wide = cute.make_layout((6, (2, 4)), stride=(8, (1, 2)))
print(wide, wide[1], cute.rank(wide), cute.size(wide), cute.cosize(wide), wide(7), wide((1, (1, 2))), cute.flatten(wide))
print(cute.make_column_major_layout((3, (1, 5))), cute.make_row_major_layout((3, (1, 5))), cute.make_identity_layout((3, (2, 5)))(17))

for a in (cute.make_layout((4, 6), stride=(6, 1)), cute.make_layout(((2, 3), 4), stride=((12, 1), 3)), cute.make_layout(24, stride=5)):
    for b in (cute.make_layout((3, 4), stride=(8, 2)), cute.make_layout((2, 2, 3), stride=(12, 1, 4)), cute.make_layout(6, stride=4)):
        try:
            found = cute.composition(a, b)
            assert each(found) == [a(b(i)) for i in range(cute.size(b))], (a, b, found)
            print(a, "of", b, "=", found)
        except tilec.Error as error:
            print(error)
    left, right = cute.left_inverse(a), cute.right_inverse(a)
    assert all([left(a(i)) == i for i in range(cute.size(a))]) and all([a(right(i)) == i for i in range(cute.size(right))])
    print(cute.coalesce(a), left, right)

block = cute.make_layout((2, 3), stride=(1, 4))
rest = cute.complement(block, 48)
assert sorted([x + y for x, y in itertools.product(each(block), each(rest))]) == list(range(48))
print(rest, cute.logical_product(block, cute.make_layout(4)), cute.tiled_product(block, cute.make_layout((2, 2))))
print(cute.blocked_product(block, cute.make_layout((2, 2))), cute.logical_divide(cute.make_layout(24), cute.make_layout(4, stride=3)))
print(cute.filter(cute.make_layout((2, 5, 3), stride=(1, 0, 2))), cute.coalesce(cute.make_layout((4, 8)), 16))
print(cute.compatible((6, 4), ((2, 3), (4,))), cute.compatible((24,), (6, 4)), cute.congruent((1, (2, 3)), (4, (5, 6))))

turned = cute.make_layout((3, 4), stride=(cute.E(1), 2 * cute.E(0)))
print(turned, turned((2, 3)), cute.coshape(turned), cute.composition(cute.make_layout((8, 3), stride=(3, 1)), turned))
print(cute.to_python(cute.from_python((1, 2)) + (3,)), cute.from_python(cute.ScaledBasis(3, (1, 0))) + cute.E(0))
for text in ("((2,8@1),3):(1,(2))", "4@0@1"):
    print(cute.IntTuple.parse(text.split(":")[0]))
offset, part = cute.restrict(cute.make_layout((8, (4, 2)), stride=(4, (1, 32))), [ir.Range.from_min_extent(2, 3), ir.Range.from_min_extent(4, 4)])
print(offset, part, ir.structural_equal(part, cute.Layout.parse("(3,4):(4,1)")), cute.Swizzle.parse("Sw<2,4,3>").recast(8, 16))

blocked = Layout((6, 8), lambda i, j: (j // 4) * 24 + i * 4 + j % 4)
print(cute.Layout.from_tilelang(blocked), cute.Layout.from_tilelang(Layout((4, 4), lambda i, j: i * j)))
two = Layout((6, 8), lambda i, j: [j // 2, i * 2 + j % 2])
print(cute.Layout.from_tilelang_hierarchical(two), cute.Layout.from_tilelang_hierarchical(Layout((4, 4), lambda i, j: [i + j, j])))
back = cute.Layout.from_tilelang_hierarchical(two).to_tilelang()
print(back.is_equal(Layout((6, 8), lambda i, j: [j // 2, 0])), back.places()[11])
rows = tirx.decl_buffer((16, 32), "float16", scope="shared")
for made in (make_half_bank_swizzled_layout(rows), make_mma_swizzle_layout(rows), make_mma_swizzle_layout(rows, is_smooth=True)):
    found = cute.ComposedLayout.from_tilelang(made, rows)
    print(found.swizzle, found.offset, found.layout, cute.ComposedLayout.from_tilelang(made).swizzle)
P2
cd "$TMP" && python3 -m tilec run algebra.py
