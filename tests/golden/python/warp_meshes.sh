# Triangle meshes: kernels read their points, velocities and corners by the mesh's id, and gradients go to them; other points take the old
# ones' place. Of boxes in groups they find where a group begins; who asks more of them is refused.
needs numpy
export PYTHONPATH=$TILE_ROOT/python TILE_DEVICE=emulator TILE_LIBRARIES=$TILE_BUILD
cat > "$TMP/program.py" <<'P'
import warp as wp


@wp.kernel
def read(id: wp.uint64, n: wp.array[int], p: wp.array[wp.vec3]):
    mesh = wp.mesh_get(id)
    n[0] = mesh.points.shape[0]
    n[1] = mesh.indices.shape[0]
    n[2] = mesh.velocities.shape[0]
    p[0] = wp.mesh_get_point(id, 4)
    p[1] = wp.mesh_eval_position(id, 1, 0.25, 0.5)
    p[2] = wp.mesh_eval_velocity(id, 1, 0.25, 0.5)
    p[3] = wp.mesh_eval_face_normal(id, 0)
    n[3] = wp.mesh_get_index(id, 5)
    s = wp.vec3()
    for i in range(mesh.points.shape[0]):
        s += mesh.points[i]
    p[4] = s
    p[5] = wp.mesh_get_velocity(id, 1)


def show(mesh):
    wp.launch(read, dim=1, inputs=[mesh.id, n, p])
    print(n.numpy(), p.numpy().tolist())


points = wp.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0]], dtype=wp.vec3)
indices = wp.array([0, 1, 2, 0, 2, 3], dtype=int)
n, p = wp.zeros(4, dtype=int), wp.zeros(6, dtype=wp.vec3)
show(wp.Mesh(points, indices))
mesh = wp.Mesh(points=points, indices=indices, velocities=points, bvh_constructor="sah")
show(mesh)
mesh.points = wp.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 4.0]], dtype=wp.vec3)
mesh.refit()
show(mesh)


@wp.kernel
def areas(id: wp.uint64, out: wp.array[float]):
    mesh = wp.mesh_get(id)
    a, b, c = wp.mesh_get_point(id, 3 * wp.tid()), mesh.points[mesh.indices[3 * wp.tid() + 1]], mesh.points[mesh.indices[3 * wp.tid() + 2]]
    wp.atomic_add(out, 0, 0.5 * wp.length(wp.cross(b - a, c - a)))


moved, area = wp.clone(points, requires_grad=True), wp.zeros(1, dtype=float, requires_grad=True)
moving = wp.Mesh(moved, indices)
with wp.Tape() as tape:
    wp.launch(areas, dim=2, inputs=[moving.id], outputs=[area])
tape.backward(area)
print(area.numpy(), moved.grad.numpy().tolist())


@wp.struct
class Scene:
    mesh: wp.handle
    first: int


@wp.kernel
def read_handles(id: wp.handle, scene: Scene, many: wp.array[wp.handle], p: wp.array[wp.vec3], scenes: wp.array[Scene]):
    i = wp.tid()
    p[i] = wp.mesh_get_point(id, i) + wp.mesh_get_point(many[i], i) + wp.mesh_eval_position(scene.mesh, scene.first, 0.25, 0.5)
    scenes[i].mesh = many[i]


scene, scenes, many = Scene(), wp.zeros(2, dtype=Scene), wp.array([mesh.id] * 2, dtype=wp.handle)
scene.mesh = mesh.id
wp.launch(read_handles, dim=2, inputs=[mesh.id, scene, many, p, scenes])
print(p.numpy()[:2].tolist(), (scenes.numpy()["mesh"] == mesh.id).all(), (many.numpy() == mesh.id).all())
for given in ((indices, indices), (points, points), (points, wp.zeros((2, 3), dtype=int))):
    try:
        wp.Mesh(*given)
    except RuntimeError as error:
        print(error)


@wp.kernel
def roots(id: wp.uint64, root: wp.array[int]):
    i = wp.tid()
    root[i] = wp.bvh_get_group_root(id, i)


@wp.kernel
def ask(id: wp.uint64, root: wp.array[int]):
    query = wp.bvh_query_aabb(id, wp.vec3(0.0), wp.vec3(1.0))
    i = int(0)
    while wp.bvh_query_next(query, i):
        root[i] = 1


root = wp.zeros(4, dtype=int)
groups = wp.array([2, 0, 2, 3], dtype=int)
for boxes in (wp.Bvh(points, points, "lbvh", groups), wp.Bvh(points, points)):
    boxes.refit()
    boxes.rebuild("sah")
    wp.launch(roots, dim=4, inputs=[boxes.id, root])
    print(root.numpy(), isinstance(boxes, wp.Bvh))
for given in ((points, points, "none"), (points, points, "cubql", groups), (points, indices), (points, points, None, indices)):
    try:
        wp.Bvh(*given)
    except (RuntimeError, ValueError) as error:
        print(error)
try:
    wp.launch(ask, dim=1, inputs=[boxes.id, root])
except RuntimeError as error:
    print(str(error).splitlines()[-1])
P
python3 -m tilec run "$TMP/program.py"
