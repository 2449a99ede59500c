# Arrays that a thread's own array of numbers is not seen as: of more of them, of others, and at addresses of other arrays.
cat >"$TMP/places.tile" <<'END'
import warp as wp


@wp.kernel
def beyond(y: wp.array(dtype=wp.vec3)):
    numbers = wp.zeros(shape=(8,), dtype=wp.float32)
    seen = wp.array(ptr=numbers.ptr, shape=(3,), dtype=wp.vec3)
    y[0] = seen[0]


@wp.kernel
def others(y: wp.array(dtype=wp.vec3d)):
    numbers = wp.zeros(shape=(8,), dtype=wp.float32)
    seen = wp.array(ptr=numbers.ptr, shape=(1,), dtype=wp.vec3d)
    y[0] = seen[0]


@wp.kernel
def vectors(y: wp.array(dtype=float)):
    numbers = wp.zeros(shape=(8,), dtype=wp.vec2)
    seen = wp.array(ptr=numbers.ptr, shape=(3,), dtype=float)
    y[0] = seen[0]


@wp.kernel
def between(y: wp.array(dtype=wp.vec2)):
    numbers = wp.zeros(shape=(8,), dtype=wp.vec2)
    seen = wp.array(ptr=numbers.ptr + wp.uint64(12), shape=(3,), dtype=wp.vec2)
    y[0] = seen[0]


@wp.kernel
def behind(y: wp.array(dtype=wp.vec2)):
    numbers = wp.zeros(shape=(8,), dtype=wp.vec2)
    seen = wp.array(ptr=numbers.ptr + wp.uint64(48), shape=(3,), dtype=wp.vec2)
    y[0] = seen[0]
END
cd "$TMP"
for kernel in beyond others vectors between behind; do
    "$TILEC" check --export "k = $kernel.compile(block_dim=64)" places.tile 2>&1 | grep 'error'
done
