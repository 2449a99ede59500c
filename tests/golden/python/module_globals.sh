# A function that a kernel calls assigns a global name of a module of the program: it reads what it assigned.
needs numpy
export PYTHONPATH=$TILE_ROOT/python TILE_DEVICE=emulator TILE_LIBRARIES=$TILE_BUILD
cat >"$TMP/state.py" <<'P'
_STATE = None
LIMIT = 5


class State:
    def __init__(self):
        self.count = 0


def state():
    global _STATE
    if _STATE is None:
        _STATE = State()
        _STATE.count = LIMIT
    _STATE.count = _STATE.count + 1
    return _STATE
P
cat >"$TMP/globals.py" <<'P'
import numpy
import state
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[0])
def counted():
    @T.prim_func
    def main(A: T.Tensor((32,), "int32")):
        with T.Kernel(1, threads=32):
            first = state.state().count
            second = state.state().count
            for i in T.Parallel(32):
                A[i] = first * 100 + second

    return main


print(numpy.asarray(counted()())[0], state._STATE)
P
cd "$TMP" && python3 -m tilec run globals.py
