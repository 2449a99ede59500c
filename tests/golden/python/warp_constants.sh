# Warp's shim: constants with a type are in kernels what the type has of them.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >constants.py <<'END'
import warp as wp

LEAST = wp.constant(wp.float32(1.0e-46))


@wp.kernel
def numbers(y: wp.array(dtype=float)):
    wp.tile_store(y, wp.tile_arange(0.0, LEAST, LEAST, dtype=wp.float32))


FIRST, END, STEP = wp.constant(wp.float32(-1.0)), wp.constant(wp.int64(1)), wp.constant(wp.float32(0.5))


@wp.kernel
def steps(y: wp.array(dtype=float)):
    wp.tile_store(y, wp.tile_arange(FIRST, END, STEP, dtype=wp.float32))


y = wp.zeros(5, dtype=float)
wp.launch_tiled(steps, dim=[1], inputs=[y], block_dim=32)
print(y.numpy())
print(LEAST)
try:
    wp.launch_tiled(numbers, dim=[1], inputs=[wp.zeros(4, dtype=float)], block_dim=32)
except Exception as error:
    print(str(error).splitlines()[-1])
END
python3 -m tilec run constants.py

# What is computed of them has their type, too: more digits than a float's, and as many bits as an unsigned number's.
cat >typed.py <<'END'
import warp as wp

THIRD = wp.constant(wp.float64(1.0 / 3.0))
SEVEN, PRIME = wp.constant(wp.uint32(7)), wp.constant(wp.uint32(2654435761))


@wp.kernel
def numbers(n: int, reals: wp.array(dtype=wp.float64), wholes: wp.array(dtype=wp.uint64)):
    third = THIRD
    if n > 1:
        third = THIRD * THIRD
    reals[0] = third
    wholes[0] = wp.uint64(SEVEN - PRIME)


reals, wholes = wp.zeros(1, dtype=wp.float64), wp.zeros(1, dtype=wp.uint64)
wp.launch(numbers, dim=1, inputs=[2, reals, wholes])
print(reals.numpy()[0] == 1.0 / 3.0 * (1.0 / 3.0), wholes.numpy()[0])
END
python3 -m tilec run typed.py

# A vector or matrix is what the program computed, by numpy's functions, too, which no kernel's compiler has.
cat >computed.py <<'END'
import numpy as np
import warp as wp

TABLE = np.stack([np.ones(3), np.linspace(0.0, 1.0, 3), np.cos(np.arange(3.0))])
M = wp.constant(wp.types.matrix(shape=(3, 3), dtype=float)(np.linalg.inv(TABLE).flatten().tolist()))
V = wp.vec3(*np.linspace(1.0, 2.0, 3))


@wp.func
def row(i: int):
    return wp.dot(wp.vec3(M[i, 0], M[i, 1], M[i, 2]), V)


@wp.kernel
def numbers(y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = row(i)


y = wp.zeros(3, dtype=float)
wp.launch(numbers, dim=3, inputs=[y])
print(np.allclose(y.numpy(), np.linalg.inv(TABLE) @ np.linspace(1.0, 2.0, 3), rtol=1e-5))
END
python3 -m tilec run computed.py
