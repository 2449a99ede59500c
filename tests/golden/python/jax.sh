# JAX's arrays: what a kernel returns is one of them, on the call's device.
needs jax
cd "$TMP" || exit
cat >use.py <<'END'
import jax.numpy as jnp
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def twice(n, block=64):
    @T.prim_func
    def main(A: T.Tensor((n,), T.float32), B: T.Tensor((n,), T.float32)):
        with T.Kernel(T.ceildiv(n, block), threads=64) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * 2

    return main


a = jnp.arange(1000, dtype=jnp.float32)
b = twice(1000)(a)
print(type(b) is type(a), b.device == a.device, b.shape, b.dtype, bool((b == 2 * a).all()))
END
JAX_PLATFORMS=cpu python3 -m tilec run use.py
