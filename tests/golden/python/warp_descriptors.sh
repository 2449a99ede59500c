# Arrays whose class is the program's, which describes them to C itself: kernels work on what it says, and what is wrong of it is said.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import ctypes
import numpy as np
import warp as wp


class Elsewhere(wp.array):
    place = None

    def __ctype__(self):
        made = type(super().__ctype__()).from_buffer_copy(super().__ctype__())
        if self.place is not None:
            made.data = self.place.ptr
        return made


class Wrong(wp.array):
    def __ctype__(self):
        made = super().__ctype__()
        made.ndim = 2
        return made


class Other(wp.array):
    def __ctype__(self):
        return ctypes.c_uint64(0)


@wp.struct
class Bundle:
    x: wp.array[float]
    scale: float


@wp.kernel
def twice(x: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = x[i] * 2.0


def told(*given, **options):
    try:
        print(wp.launch(*given, **options))
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__, error)


x, out = Elsewhere([1.0, 2.0], dtype=float), wp.zeros(2, dtype=float)
wp.launch(twice, dim=2, inputs=[x, out])
print(out.numpy())
x.place = wp.array([3.0, 4.0], dtype=float)
wp.launch(twice, dim=2, inputs=[x, out])
print(out.numpy())
command = wp.launch(twice, dim=2, inputs=[out, out], record_cmd=True)
bundle = Bundle()
bundle.x = x
for kind in (Wrong, Other):
    bad = kind([1.0, 2.0], dtype=float)
    told(twice, dim=2, inputs=[bad, out])
    for step in (lambda: command.set_param_by_name("x", bad), lambda: setattr(bundle, "x", bad)):
        try:
            step()
        except (RuntimeError, TypeError) as error:
            print(type(error).__name__, error)
print(bundle.x is x, bundle._x_grad)
with wp.ScopedCapture(apic=True):
    told(twice, dim=2, inputs=[x, out])
P
python3 -m tilec run "$TMP/program.py"
