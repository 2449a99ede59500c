# Snippets of C++ (wp.func_native) in programs that run in Python: made in functions, defined again under their name, with gradients,
# written to by reference, refused.
needs numpy
export TILE_DEVICE=emulator
cd $TMP
cat >snippets.py <<'END_PY'
import warp as wp


def told(function, *arguments, **named):
    try:
        function(*arguments, **named)
    except Exception as error:
        print(str(error).splitlines()[-1])


# ---- in a function, whose names annotations are of; again under the same name ----
def made(dtype, by):
    @wp.func_native(f"return x * {by} + 1;")
    def grown(x: dtype) -> dtype:
        """What grows."""

    @wp.kernel
    def kernel(a: wp.array(dtype=dtype)):
        i = wp.tid()
        a[i] = grown(a[i])

    a = wp.ones(2, dtype=dtype)
    wp.launch(kernel, dim=2, inputs=[a])
    print(grown.__doc__, a.numpy())

    @wp.func_native("return x - 5;")
    def grown(x: dtype) -> dtype: ...

    wp.launch(kernel, dim=2, inputs=[a])
    print(a.numpy())


made(int, 3)
made(wp.float64, "0.5")


# ---- gradients, references ----
@wp.func_native("y = x * x;", adj_snippet="adj_x += 2.0f * x * adj_y; adj_y = 0.0f;")
def square(x: float, y: wp.ref[float]): ...


@wp.kernel
def squared(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    square(a[i], b[i])


a, b = wp.array([1.0, 2.0], dtype=float, requires_grad=True), wp.zeros(2, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(squared, dim=2, inputs=[a], outputs=[b])
tape.backward(grads={b: wp.ones(2)})
print(b.numpy(), a.grad.numpy(), squared.adj is not None)


@wp.func_native("y = x;")
def put(x: float, y: wp.ref[float]): ...


@wp.kernel
def puts(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    put(a[0], b[0])


wp.launch(puts, dim=1, inputs=[a, b], record_tape=False)
print(b.numpy())
with wp.Tape() as tape:
    told(wp.launch, puts, dim=1, inputs=[a], outputs=[b])
    told(tape.backward, grads={b: wp.ones(2)})


# ---- refused ----
@wp.struct
class Pair:
    x: float


@wp.func_native("return {};")
def pair(x: float) -> Pair: ...


@wp.kernel
def pairs(a: wp.array(dtype=float)):
    a[0] = pair(a[0]).x


told(wp.launch, pairs, dim=1, inputs=[a])


# Of a snippet that is not taken alone the call is refused, where a kernel has one.
@wp.func_native("using T = float; return x;")
def templated(x: float) -> float: ...


def chosen(native):
    @wp.kernel(module="unique")
    def choose(a: wp.array(dtype=float)):
        if wp.static(native):
            a[0] = wp.static(templated)(a[0])
        else:
            a[0] = a[0] + 1.0

    wp.launch(choose, dim=1, inputs=[a])


chosen(False)
print(a.numpy())
told(chosen, True)
told(square, 1.0, 2.0)
END_PY
python3 -m tilec run snippets.py
