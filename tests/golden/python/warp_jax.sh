# Warp's arrays as JAX's and the other way, types and devices of both; kernels as functions of JAX, with their gradients.
needs jax
export TILE_DEVICE=emulator
cd "$TMP"
cat >use.py <<'END'
import jax
import jax.numpy as jnp
import warp as wp

a = wp.array([1.0, 2.0, 3.0, 4.0], dtype=wp.bfloat16)
b = wp.to_jax(a)
print(b.dtype, jnp.sum(b.astype(jnp.float32)))
c = wp.from_jax(jnp.arange(6, dtype=jnp.float32).reshape(3, 2), dtype=wp.vec2)
print(c.dtype.__name__, c.shape, c.numpy().tolist())
print(wp.dtype_to_jax(wp.bool) is jnp.bool_, wp.dtype_from_jax(jnp.float16).__name__, wp.dtype_from_jax(jnp.dtype("uint8")).__name__)
print(wp.device_to_jax("cuda:0") in jax.local_devices(), wp.device_from_jax(jax.devices("cpu")[0]))


@wp.kernel
def scaled(x: wp.array(dtype=wp.vec2), by: float, y: wp.array(dtype=float), z: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    y[i] = wp.dot(x[i], x[i])
    z[i] = by * x[i]


@wp.kernel
def summed(x: wp.array2d(dtype=float), sums: wp.array(dtype=float)):
    i, j = wp.tid()
    wp.atomic_add(sums, i, x[i, j])


x = jnp.arange(6, dtype=jnp.float32).reshape(3, 2)
function = wp.jax_kernel(scaled, num_outputs=2)
print([one.tolist() for one in jax.jit(lambda x: function(x, 3.0))(x)], function is wp.jax_kernel(scaled, num_outputs=2))
print([one.tolist() for one in jax.vmap(lambda x: function(x, 2.0))(jnp.stack([x, x + 1]))])
add = wp.jax_kernel(summed, launch_dims=(2, 3), in_out_argnames=["sums"])
print(add(x.reshape(2, 3), jnp.ones(2))[0].tolist())
slope = wp.jax_kernel(scaled, num_outputs=2, enable_backward=True)


def loss(x):
    y, z = slope(x, 3.0)
    return jnp.sum(y) + jnp.sum(z)


print(jax.grad(loss)(x).tolist())


def twofold(a: wp.array(dtype=float), n: int, b: wp.array(dtype=float), c: wp.array(dtype=float)):
    wp.copy(b, a)
    wp.map(wp.add, a, a, out=c)


print([one.tolist() for one in jax.jit(lambda x: wp.jax_callable(twofold, num_outputs=2)(x, 5))(jnp.arange(3.0))])


# a loop within shard_map(), of which each round's result is along the mesh's axis what its operand is
@wp.kernel
def doubled(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


double = wp.jax_kernel(doubled)
spec = jax.sharding.PartitionSpec("x")
mapped = jax.shard_map(lambda x: jax.lax.scan(lambda now, _: (double(now)[0], None), x, None, length=3)[0],
                       mesh=jax.make_mesh((1,), ("x",), (jax.sharding.AxisType.Auto,)), in_specs=spec, out_specs=spec) if hasattr(jax, "shard_map") else lambda x: 8 * x
print(jax.jit(mapped)(jnp.arange(3.0)).tolist())
for wrong in (lambda: function(x), lambda: function(x.T, 1.0), lambda: jax.jit(function)(x, 2.0), lambda: wp.jax_kernel(scaled, block_dim=0),
              lambda: wp.jax_kernel(summed, in_out_argnames=["y"]), lambda: slope(x, 3.0, launch_dims=2)):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
END
python3 -m tilec run use.py
