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


print(LEAST)
try:
    wp.launch_tiled(numbers, dim=[1], inputs=[wp.zeros(4, dtype=float)], block_dim=32)
except Exception as error:
    print(str(error).splitlines()[-1])
END
python3 -m tilec run constants.py
