# Warp's arrays as JAX's and the other way, types and devices of both.
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
END
python3 -m tilec run use.py
