# Assertions of Warp's kernels, by the module's mode: in release mode nobody checks them; in debug mode they are checked, and what fails
# in a kernel of a processor ends the process.
needs numpy
export TILE_DEVICE=emulator
cd $TMP
cat >checked.py <<'END_PY'
import sys

import warp as wp


@wp.func
def positive(x: int):
    assert x > 0, "what is counted is positive"
    return x


@wp.kernel
def counted(a: wp.array(dtype=int)):
    i = wp.tid()
    a[i] = positive(a[i]) + 1


def launch(first, device=None):
    a = wp.array([first, 3], dtype=int, device=device)
    wp.launch(counted, dim=2, inputs=[a], device=device)
    print(a.numpy(), flush=True)


launch(0)
wp.set_module_options({"mode": "debug"})
launch(1)
try:
    launch(0)
except Exception as error:
    print(str(error).splitlines()[-1])
wp.set_module_options({"mode": "release"})
launch(-7, "cpu")
wp.set_module_options({"mode": None})
wp.config.mode = "debug"
launch(5, "cpu")
launch(-7, "cpu")
END_PY
{ python3 -m tilec run checked.py 2>said; echo "status $?"; } 2>/dev/null
sed 's/.*Assertion failed: [^ ]*checked/Assertion failed: checked/' said
# ---- numbers that are not finite ----
cat >finite.py <<'END_PY'
import warp as wp


@wp.struct
class Pair:
    x: float
    v: wp.vec2


@wp.kernel
def divided(a: wp.array(dtype=float), p: wp.array(dtype=Pair), n: wp.array(dtype=int)):
    i = wp.tid()
    a[i] = 1.0 / a[i]
    p[i].v[1] = -wp.log(float(i - 1))
    n[i] = i


wp.config.verify_fp = True
wp.launch(divided, dim=3, inputs=[wp.array([0.0, 1.0, -0.0], dtype=float), wp.zeros(3, dtype=Pair), wp.zeros(3, dtype=int)])
wp.launch(divided, dim=0, inputs=[wp.array([0.0, 1.0, -0.0], dtype=float), wp.zeros(3, dtype=Pair), wp.zeros(3, dtype=int)])
wp.launch(divided, dim=6, inputs=[wp.zeros(6), wp.zeros(6, dtype=Pair), wp.zeros(6, dtype=int)], device="cpu")
END_PY
python3 -m tilec run finite.py
# ---- elements outside of tiles ----
cat >tiles.py <<'END_PY'
import sys

import warp as wp


@wp.kernel
def picked(a: wp.array(dtype=int), i: int):
    t = wp.tile_ones(shape=(2, 3), dtype=int)
    a[0] = t[1, i]


@wp.kernel
def picked_behind(a: wp.array(dtype=int)):
    t = wp.tile_ones(shape=(2, 3), dtype=int)
    a[0] = wp.tile_extract(t, 2, -1)


wp.set_module_options({"mode": sys.argv[1]})
a = wp.zeros(1, dtype=int)
for kernel, index in (picked, [2]), (picked, [3]), (picked, [-1]), (picked_behind, []):
    try:
        wp.launch(kernel, dim=1, inputs=[a, *index], block_dim=32)
        print(a.numpy(), flush=True)
    except Exception as error:
        print("refused" if sys.argv[1] == "release" else str(error).splitlines()[-1], flush=True)
END_PY
python3 -m tilec run tiles.py debug
python3 -m tilec run tiles.py release
