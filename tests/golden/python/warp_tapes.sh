# What a tape of Warp's has of its launches, as a list that a program may change, and as a diagram.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import warp as wp


@wp.kernel
def twice(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = 2.0 * x[i]


@wp.kernel
def summed(y: wp.array(dtype=float), total: wp.array(dtype=float)):
    wp.atomic_add(total, 0, y[wp.tid()])


x, y, total = [wp.zeros(n, dtype=float, requires_grad=True) for n in (4, 4, 1)]
with wp.Tape() as tape:
    tape.record_scope_begin("a loop")
    for _ in range(3):
        wp.launch(twice, dim=4, inputs=[x], outputs=[y])
        wp.launch(summed, dim=4, inputs=[y], outputs=[total], block_dim=64)
    tape.record_scope_end()
    wp.launch(twice, dim=4, inputs=[y], outputs=[x])
names = {}
for line in tape.visualize(array_labels={total: "the total"}).splitlines():
    for word in line.replace("[", " ").replace(";", " ").split():
        if word.startswith("array") and word[5:].isdigit():
            names.setdefault(word, f"array{len(names)}")
            line = line.replace(word, names[word])
    print(line)
print(tape.visualize(simplify_graph=False, hide_readonly_arrays=True).count("->"))
kernel, dim, most, inputs, outputs, device, block_dim, _ = tape.launches[1]
print(kernel.key, dim, inputs[0] is y, outputs[0] is total, block_dim)
tape.backward(grads={total: wp.ones(1)})
print(x.grad.numpy().tolist())
tape.launches[0][6] = 4096
try:
    tape.backward(grads={total: wp.ones(1)})
except RuntimeError as error:
    print(error)


@wp.kernel
def squared(x: wp.array[float], y: wp.array[float]):
    i = wp.tid()
    y[i] = x[i] * x[i]


# An array with gaps, whose gradient nobody has, or lies otherwise.
x, y, given = wp.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], dtype=float)[::2], wp.zeros(3, dtype=float, requires_grad=True), wp.zeros(3, dtype=float)
with wp.Tape() as tape:
    wp.launch(squared, dim=3, inputs=[x], outputs=[y])
tape.backward(grads={y: wp.ones(3, dtype=float)})
wp.launch(squared, dim=3, inputs=[x], outputs=[y], adj_inputs=[given], adj_outputs=[wp.ones(6, dtype=float)[::2]], adjoint=True)
print(given.numpy().tolist())


# The gradient that a function of a struct has of its author.
@wp.struct
class Pair:
    s: float
    kind: float
    v: wp.vec3


@wp.func
def of_pair(x: Pair):
    return x.v[0] * 2.0, x.s * x.kind


@wp.func_grad(of_pair)
def adj_of_pair(x: Pair, a: float, b: float):
    wp.adjoint[x.s] += b * 10.0
    wp.adjoint[x.kind] += b * 30.0
    wp.adjoint[x.v][1] += a * 20.0


@wp.kernel
def of_pairs(x: wp.array[Pair], out: wp.array[float]):
    a, b = of_pair(x[0])
    out[0] = a + b


pairs, out = wp.zeros(1, dtype=Pair, requires_grad=True), wp.zeros(1, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(of_pairs, dim=1, inputs=[pairs], outputs=[out])
tape.backward(grads={out: wp.ones(1, dtype=float)})
print(pairs.grad.numpy())


# What is counted has no gradient, of bytes as of other integers, in a struct and by itself.
@wp.struct
class Masks:
    first: wp.array[wp.uint8]
    second: wp.array[wp.int8]


@wp.kernel
def masked(x: wp.array[float], m: wp.array[wp.uint8], masks: Masks, y: wp.array[float]):
    i = wp.tid()
    if m[i] != wp.uint8(0) and masks.first[i] != wp.uint8(1) and masks.second[i] != wp.int8(1):
        y[i] = x[i] * x[i]


masks = Masks()
masks.first, masks.second = wp.array([0, 0, 1, 0], dtype=wp.uint8), wp.array([0, 0, 0, 0], dtype=wp.int8)
mask = wp.array([1, 0, 1, 1], dtype=wp.uint8)
x, y = wp.array([1.0, 2.0, 3.0, 4.0], dtype=float, requires_grad=True), wp.zeros(4, dtype=float, requires_grad=True)
with wp.Tape() as tape:
    wp.launch(masked, dim=4, inputs=[x, mask, masks], outputs=[y])
tape.backward(grads={y: wp.ones(4, dtype=float)})
print(x.grad.numpy().tolist())
P
python3 -m tilec run "$TMP/program.py"
