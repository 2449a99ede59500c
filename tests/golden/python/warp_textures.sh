# Textures of Warp: what their texels are read as, between and outside of them, at mip levels, in structs and arrays; copies; gradients.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import numpy as np
import warp as wp

CLOSEST, LINEAR = wp.TextureFilterMode.CLOSEST, wp.TextureFilterMode.LINEAR
WRAP, CLAMP, MIRROR, BORDER = wp.TextureAddressMode


@wp.struct
class Painted:
    picture: wp.Texture2D
    scale: float


@wp.kernel
def along(tex: wp.Texture1D, at: wp.array(dtype=float), lod: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.texture_sample(tex, at[i], dtype=float, lod=lod[i])


@wp.kernel
def over(tex: wp.Texture2D, at: wp.array(dtype=wp.vec2), out: wp.array(dtype=wp.vec4)):
    i = wp.tid()
    out[i] = wp.texture_sample(tex, at[i], dtype=wp.vec4)


@wp.kernel
def within(tex: wp.Texture3D, at: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.texture_sample(tex, at[i], dtype=float)


@wp.kernel
def painted(one: Painted, several: wp.array(dtype=wp.Texture2D), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = one.scale * wp.texture_sample(one.picture, 0.5, 0.5, dtype=float)
    out[i] += wp.texture_sample(several[i], wp.vec2(0.5, 0.5), dtype=float) + float(several[i].width * 100)


def line(data, at, lod=None, **options):
    out = wp.zeros(len(at), dtype=float)
    lod = wp.full(len(at), -1.0) if lod is None else wp.array(lod, dtype=float)
    wp.launch(along, dim=len(at), inputs=[wp.Texture1D(data, **options), wp.array(at, dtype=float), lod], outputs=[out])
    return out.numpy().tolist()


data = np.array([0, 10, 20, 30], dtype=np.float32)
print("at texels", line(data, [0.125, 0.375, 0.5, 1.0]))
for mode in (WRAP, CLAMP, MIRROR, BORDER):
    print(mode.name, line(data, [-0.125, 1.0, 1.125, 1.375], address_mode=mode), line(data, [-0.1, 1.2], address_mode=mode, filter_mode=CLOSEST))
print("in texels", line(data, [0.5, 1.0, 3.75], normalized_coords=False))
print("of an array on the device", line(wp.array(data, dtype=float), [0.125, 0.375]))
print("levels", line(data, [0.25] * 5, [0.0, 0.5, 1.0, 2.0, 9.0], num_mip_levels=0))
print("nearest level", line(data, [0.125] * 2, [0.4, 0.6], num_mip_levels=2, mip_filter_mode=CLOSEST))
for kind, values in ((np.uint8, [0, 51, 255]), (np.int16, [-32768, 0, 32767]), (np.float16, [0.5, -2, 7]), (np.int32, [-1000, 16777217, 5])):
    print(kind.__name__, line(np.array(values, kind), [1 / 6, 0.5, 5 / 6], filter_mode=CLOSEST))

picture = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
tex = wp.Texture2D(picture)
out = wp.zeros(2, dtype=wp.vec4)
wp.launch(over, dim=2, inputs=[tex, wp.array([[0.5, 0.25], [0.5, 0.5]], dtype=wp.vec2)], outputs=[out])
print(tex.width, tex.height, tex.num_channels, tex.dtype.__name__, out.numpy().tolist())

block = wp.Texture3D(np.arange(8, dtype=np.float32).reshape(2, 2, 2))
out = wp.zeros(2, dtype=float)
wp.launch(within, dim=2, inputs=[block, wp.array([[0.25, 0.25, 0.75], [0.5, 0.5, 0.5]], dtype=wp.vec3)], outputs=[out])
print(out.numpy().tolist())

one = Painted()
one.picture, one.scale = wp.Texture2D(np.full((2, 2), 0.5, np.float32)), 3.0
several = wp.array([wp.Texture2D(np.full((4, 2 + i), float(i), np.float32)) for i in range(3)], dtype=wp.Texture2D)
out = wp.zeros(3, dtype=float)
wp.launch(painted, dim=3, inputs=[one, several], outputs=[out])
print(out.numpy().tolist())

# ---- copies ----
source, target = wp.array(picture, dtype=wp.vec4), wp.zeros((2, 3), dtype=wp.vec4)
tex = wp.Texture2D(np.zeros_like(picture))
with wp.ScopedCapture() as capture:
    tex.copy_from(source)
    tex.copy_to(target)
print(target.numpy().sum(), end=" ")
wp.capture_launch(capture.graph)
again = wp.Texture2D(cuda_array=tex.cuda_array)
copy = np.zeros_like(picture)
again.copy_to(copy)
print(target.numpy().sum(), (copy == picture).all(), tex.id == tex.cuda_texture)
for wrong in (lambda: wp.Texture2D(picture, filter_mode=5), lambda: wp.Texture2D(picture[:, :, :3]), lambda: wp.Texture1D(data, num_mip_levels=4),
              lambda: tex.copy_from(picture[:1]), lambda: tex.copy_to(copy.astype(np.int32)), lambda: tex.cuda_surface,
              lambda: wp.Texture1D(np.zeros(2, np.int32), filter_mode=LINEAR), lambda: wp.Texture1D(np.zeros(2, np.float64))):
    try:
        wrong()
    except (ValueError, RuntimeError) as error:
        print(type(error).__name__, error)

# ---- gradients ----
for mode in (WRAP, CLAMP, MIRROR, BORDER):
    at, lod = wp.array([0.3, 0.95, 1.1], dtype=float, requires_grad=True), wp.array([-1.0, 0.25, 0.5], dtype=float, requires_grad=True)
    out = wp.zeros(3, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(along, dim=3, inputs=[wp.Texture1D(data * data, address_mode=mode, num_mip_levels=2), at, lod], outputs=[out])
    tape.backward(grads={out: wp.ones(3)})
    print(mode.name, at.grad.numpy().round(2).tolist(), lod.grad.numpy().round(2).tolist())

# Texels between which there is no slope, in textures of many: none is read together with its neighbour.
for extent in (100, 4099, 8191, 40000):
    texels = np.zeros(extent, dtype=np.float32)
    texels[extent // 3 : extent // 3 + 2] = texels[-2:] = 1.0
    for normalized in (True, False):
        places = np.array([extent // 3 + 0.625, extent // 3 + 1.375, extent - 1.25], dtype=np.float64) / (extent if normalized else 1)
        at = wp.array(places, dtype=float, requires_grad=True)
        out = wp.zeros(3, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(along, dim=3, inputs=[wp.Texture1D(texels, normalized_coords=normalized), at, wp.full(3, -1.0)], outputs=[out])
        tape.backward(grads={out: wp.ones(3)})
        assert at.grad.numpy().tolist() == [0.0] * 3, (extent, normalized, at.grad.numpy())


# modes by their names in kernels
@wp.kernel
def told(mode: int, is_mirror: wp.array[int]):
    if mode == int(wp.TextureAddressMode.MIRROR):
        is_mirror[0] = 1
    is_mirror[1] = int(wp.TextureFilterMode.LINEAR)


is_mirror = wp.zeros(2, dtype=int)
wp.launch(told, dim=1, inputs=[int(MIRROR), is_mirror])
print(is_mirror)
P
python3 -m tilec run "$TMP/program.py"
