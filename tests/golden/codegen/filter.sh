# A filter of 5 x 5 is one straight line of 26 loads, which are on the way together. They share the weights of both sides, 6 powers beside the 25
# of what is loaded, and where rows and columns are: 14 comparisons where 50 are written.
cd $TMP
cat >filter.tile <<'T'
import warp as wp


@wp.kernel
def smooth(src: wp.array2d(dtype=float), tone: float, dst: wp.array2d(dtype=float)):
    y, x = wp.tid()
    h, w = src.shape[0], src.shape[1]
    centre = src[y, x]
    total = float(0.0)
    weights = float(0.0)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            p = src[wp.clamp(y + dy, 0, h - 1), wp.clamp(x + dx, 0, w - 1)]
            k = wp.exp(-float(dx * dx + dy * dy) / 4.5) * wp.exp(-(p - centre) * (p - centre) * tone)
            total += p * k
            weights += k
    dst[y, x] = total / weights
T
$TILEC filter.tile --arch=sm_90a --ptxas=none --emit=ptx --export 'k = smooth.compile(block_dim=256, tiled=0)' -o k.ptx
awk '/ld.global/ { loads++ } /max.s32/ { clamps++ } /ex2/ { powers++ } /div.rn/ { divisions++ } /bra/ { branches++ }
     /^}/ { print loads, "loads,", clamps, "clamps,", powers, "powers,", divisions, "divisions,", branches + 0, "branches"; exit }' k.ptx
