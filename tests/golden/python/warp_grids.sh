# Hash grids of Warp: what kernels find of points near a place, by every pair of points; groups, cells that wrap, points that move;
# loops over what a query finds, within each other and with a gradient.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import numpy as np
import warp as wp


def make(dtype, vector):
    @wp.kernel(module="unique")
    def count(grid: wp.uint64, p: wp.array(dtype=vector), reach: dtype, n: wp.array[int], s: wp.array[int]):
        i = wp.hash_grid_point_id(grid, wp.tid())
        query = wp.hash_grid_query(grid, p[i], reach)
        j = int(0)
        while wp.hash_grid_query_next(query, j):
            if wp.length(p[j] - p[i]) <= reach:
                n[i] += 1
                s[i] += j

    return count


@wp.kernel
def of_group(grid: wp.uint64, p: wp.array[wp.vec3], groups: wp.array[int], reach: float, n: wp.array[int]):
    i = wp.tid()
    query = wp.hash_grid_query(grid, p[i], reach, groups[i])
    j = int(-1)
    while wp.hash_grid_query_next(query, j):
        if wp.length(p[j] - p[i]) <= reach:
            n[i] += 1
    if wp.hash_grid_query_next(query, j):
        n[i] = -1


@wp.kernel
def candidates(grid: wp.uint64, order: wp.array[int]):
    query = wp.hash_grid_query(grid, wp.vec3(0.0), 100.0)
    i = int(0)
    j = int(0)
    while wp.hash_grid_query_next(query, j):
        order[i] = j
        i += 1


@wp.struct
class Points:
    grid: wp.uint64
    p: wp.array[wp.vec3]
    reach: float


@wp.func
def any_near(points: Points, i: int):
    for j in wp.hash_grid_query(points.grid, points.p[i], points.reach):
        if j != i and wp.length(points.p[j] - points.p[i]) <= points.reach:
            return j
    return -1


@wp.func
def paths_of_two(points: Points, i: int):
    n = int(0)
    for j in wp.hash_grid_query(points.grid, points.p[i], points.reach):
        if j == i or wp.length(points.p[j] - points.p[i]) > points.reach:
            continue
        for k in wp.hash_grid_query(points.grid, points.p[j], points.reach):
            if k != j and wp.length(points.p[k] - points.p[j]) <= points.reach:
                n += 1
    return n


@wp.kernel
def loops(points: Points, near: wp.array[int], paths: wp.array[int], all: wp.array[int]):
    i = wp.tid()
    near[i] = any_near(points, i)
    paths[i] = paths_of_two(points, i)
    query = wp.hash_grid_query(points.grid, points.p[i], 100.0)
    n = int(0)
    for j in query:
        n += 1
        if n == 3:
            break
    for j in query:  # where the other one ended
        n += 1
    all[i] = n


@wp.kernel
def weights(grid: wp.uint64, p: wp.array[wp.vec3], reach: float, w: wp.array[float]):
    i = wp.tid()
    total = float(0.0)
    for j in wp.hash_grid_query(grid, p[i], reach):
        d = p[i] - p[j]
        rest = reach * reach - wp.dot(d, d)
        if rest > 0.0:
            total += rest * rest
    w[i] = total


random = np.random.default_rng(0)
COUNT = 200
for dtype, vector, exact in ((float, wp.vec3, np.float32), (wp.float64, wp.vec3d, np.float64)):
    kernel = make(dtype, vector)
    for extents, cell, reach in (((8, 8, 8), 0.25, 0.25), ((4, 5, 3), 0.125, 0.375), ((16, 16, 16), 0.5, 0.0625)):
        grid = wp.HashGrid(*extents, dtype=dtype)
        grid.reserve(COUNT)
        for moved in (1.0, 3.0):
            places = (moved * random.uniform(-1.0, 1.0, (COUNT, 3))).astype(exact)
            p = wp.array(places, dtype=vector)
            grid.build(p, cell)
            n, s = wp.zeros(COUNT, dtype=int), wp.zeros(COUNT, dtype=int)
            wp.launch(kernel, dim=COUNT, inputs=[grid.id, p, reach, n, s])
            near = np.linalg.norm(places[:, None] - places[None], axis=2) <= reach
            print((n.numpy() == near.sum(1)).all(), (s.numpy() == (near * np.arange(COUNT)).sum(1)).all(), near.sum() > COUNT)



def near_of(p, reach):
    near = np.linalg.norm(p[:, None] - p[None], axis=2) <= reach
    np.fill_diagonal(near, False)
    return near


p = wp.array(places.astype(np.float32), dtype=wp.vec3)
of = np.array(random.integers(-1, 3, COUNT), dtype=np.int32)
groups = wp.array(of, dtype=int)
grid = wp.HashGrid(6, 6, 6)
grid.build(p, 0.5, groups=groups)
n = wp.zeros(COUNT, dtype=int)
wp.launch(of_group, dim=COUNT, inputs=[grid.id, p, groups, 1.0, n])
near = (np.linalg.norm(p.numpy()[:, None] - p.numpy()[None], axis=2) <= 1.0) & (of[:, None] == of[None])
print((n.numpy() == near.sum(1)).all(), near.sum() > COUNT)

near = near_of(p.numpy(), 0.5)
points = Points()
points.p, points.reach = p, 0.5
grid.build(p, 0.5)
points.grid = grid.id
found, paths, all = [wp.zeros(COUNT, dtype=int) for k in range(3)]
wp.launch(loops, dim=COUNT, inputs=[points, found, paths, all])
found = found.numpy()
print(np.where(near.any(1), near[np.arange(COUNT), found], found == -1).all(), near.any(1).sum() not in (0, COUNT))
print((paths.numpy() == near.astype(int).sum(1) @ near).all(), set(all.numpy().tolist()))

q, w = wp.array(p.numpy(), dtype=wp.vec3, requires_grad=True), wp.zeros(COUNT, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    grid.build(q, 0.5)
    wp.launch(weights, dim=COUNT, inputs=[grid.id, q, 1.0, w])
tape.backward(grads={w: wp.ones(COUNT, dtype=float)})
d = p.numpy()[:, None].astype(float) - p.numpy()[None]
rest = np.maximum(1.0 - (d**2).sum(2), 0.0)
print(np.allclose(w.numpy(), (rest**2).sum(1), rtol=1e-5), np.allclose(q.grad.numpy(), -8.0 * (rest[..., None] * d).sum(1), rtol=1e-4, atol=1e-4))

# Each point once, however far it is looked for; and none before the grid is built.
order = wp.full(COUNT, -1, dtype=int)
wp.launch(candidates, dim=1, inputs=[grid.id, order])
print(sorted(order.numpy()) == list(range(COUNT)))
order.fill_(-1)
wp.launch(candidates, dim=1, inputs=[wp.HashGrid(4, 4, 4).id, order])
print(order.numpy().max())

# Places that no cell's number is large enough for are in the last ones.
far = wp.array([[np.inf, -1e30, 0.0], [0.1, 0.1, 0.1]], dtype=wp.vec3)
grid.build(far, 0.5)
order.fill_(-1)
wp.launch(candidates, dim=1, inputs=[grid.id, order])
print(sorted(order.numpy()[:2].tolist()), order.numpy()[2])

for wrong in (lambda: wp.HashGrid(0, 1, 1), lambda: wp.HashGrid(1.5, 1, 1), lambda: wp.HashGrid(1 << 20, 1 << 20, 1), lambda: wp.HashGrid(1, 1, 1, dtype=int),
              lambda: grid.build(p, 0.0), lambda: grid.build(order, 1.0), lambda: grid.build(p, 1.0, groups=wp.zeros(3, dtype=int))):
    try:
        wrong()
    except (RuntimeError, TypeError, ValueError) as error:
        print(error)
print(isinstance(grid, wp.HashGrid))
P
python3 -m tilec run "$TMP/program.py"
