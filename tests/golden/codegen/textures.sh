# A texture is read by one instruction, whatever it holds, and by the mip level that is asked for.
cd $TMP
cat > k.py <<'P'
import warp as wp


@wp.kernel
def shaded(line: wp.Texture1D, picture: wp.Texture2D, blocks: wp.array(dtype=wp.Texture3D), shades: wp.array(dtype=wp.vec4)):
    i = wp.tid()
    u = (float(i) + 0.5) / float(picture.width)
    color = wp.texture_sample(picture, wp.vec2(u, 0.5), dtype=wp.vec4, lod=1.0)
    shades[i] = color * wp.texture_sample(line, u, dtype=float) + wp.texture_sample(blocks[i], u, 0.5, 0.5, dtype=wp.vec4)
P
$TILEC k.py --export 'shaded = shaded.compile(block_dim=128)' --arch=sm_90a --ptxas=none --emit=ptx -o k.ptx 2> /dev/null
grep -o 'tex\.[a-z0-9.]*' k.ptx | sort | uniq -c
