# Triangle meshes: kernels read their points, velocities and corners by the mesh's id; other points take the old ones' place.
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
for given in ((indices, indices), (points, points), (points, wp.zeros((2, 3), dtype=int))):
    try:
        wp.Mesh(*given)
    except RuntimeError as error:
        print(error)
P
python3 -m tilec run "$TMP/program.py"
