# Colors for a graph's nodes by both orders, groups of one color made alike in size, and what is refused, to C, too.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import numpy as np
import warp as wp

rng = np.random.default_rng(5)
pairs = rng.integers(0, 200, (600, 2)).astype(np.int32)
pairs = pairs[pairs[:, 0] != pairs[:, 1]]
edges, colors = wp.array(pairs, dtype=int, device="cpu"), wp.empty(200, dtype=int, device="cpu")
for algorithm in wp.utils.GraphColoringAlgorithm:
    count = wp.utils.graph_coloring_assign(edges, colors, algorithm)
    ratio = wp.utils.graph_coloring_balance(edges, colors, count, 1.2)
    found = colors.numpy()
    sizes = [len(group) for group in wp.utils.graph_coloring_get_groups(colors, count)]
    print(algorithm.name, count <= 9, (found[pairs[:, 0]] != found[pairs[:, 1]]).all(), sum(sizes), max(sizes) / min(sizes) == ratio, ratio < 2)

square = wp.array([[0, 1], [1, 2], [2, 3], [3, 0]], dtype=int, device="cpu")
colors = wp.empty(4, dtype=int, device="cpu")
print(wp.utils.graph_coloring_assign(square, colors), [group.tolist() for group in wp.utils.graph_coloring_get_groups(colors, 2, False)])
loose, colors = wp.empty((0, 2), dtype=int, device="cpu"), wp.array([0, 0, 0, 0, 0, 1], dtype=int, device="cpu")
print(wp.utils.graph_coloring_balance(loose, colors, 2, 2.0, max_iterations=1), colors.numpy().tolist())
print(wp.utils.graph_coloring_balance(loose, colors, 2, 1.0), colors.numpy().tolist())
for wrong in (lambda: wp.utils.graph_coloring_assign(wp.array([[0, 9]], dtype=int, device="cpu"), colors),
              lambda: wp.utils.graph_coloring_balance(square, colors, 1, 1.1), lambda: wp.utils.graph_coloring_balance(square, colors, 2, 1.1, max_iterations=True)):
    try:
        wrong()
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__, error)

# As C calls them: an error's text is asked for.
from warp._src.context import runtime

core, pair = runtime.core, wp.empty(2, dtype=int, device="cpu")
one, three = wp.array([[0, 1]], dtype=int, device="cpu"), wp.empty((1, 2, 2), dtype=int, device="cpu")
print(core.wp_graph_coloring(2, one.__ctype__(), 0, pair.__ctype__()), pair.numpy(), core.wp_balance_coloring(2, one.__ctype__(), 2, 1.1, 5, pair.__ctype__(), None))
for given in ((2, three.__ctype__(), 0, pair.__ctype__()), (2, one.__ctype__(), 9, pair.__ctype__()), (3, one.__ctype__(), 0, pair.__ctype__())):
    print(core.wp_graph_coloring(*given), runtime.get_error_string())
print(core.wp_balance_coloring(2, one.__ctype__(), 2, 1.1, -1, pair.__ctype__(), None), runtime.get_error_string())
print(core.wp_init(b"0"), runtime.get_error_string().partition(":")[0], core.wp_init(wp.__version__.encode()))
P
python3 -m tilec run "$TMP/program.py"
