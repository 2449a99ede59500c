# What lies around Warp's launches: captures of another library's, gradients in memory of other strides, kernels that are forgotten, streams,
# names of devices.
needs numpy
export TILE_DEVICE=emulator
cat > "$TMP/program.py" <<'P'
import warp as wp


@wp.kernel
def product(a: wp.array(dtype=float), b: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a[i] * b[i]


# what another library captures is done at once, for it to see
x, y = wp.array([1.0, 2.0, 3.0], dtype=float), wp.zeros(3, dtype=float)
with wp.ScopedCapture(external=True) as capture:
    wp.launch(product, dim=3, inputs=[x, x], outputs=[y])
print(y.numpy())

# an array that is given twice, whose gradient has other strides
x, y = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True), wp.zeros(3, dtype=float, requires_grad=True)
wide = wp.zeros(6, dtype=float)
x.grad = wide[::2]
tape = wp.Tape()
with tape:
    wp.launch(product, dim=3, inputs=[x, x], outputs=[y])
tape.backward(grads={y: wp.ones(3, dtype=float)})
print(x.grad.numpy(), wide.numpy())

# an array that a kernel reads and writes as two of its arguments, in either order, and as fields of a struct; and reads as all of them
@wp.kernel
def doubled(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * 2.0


@wp.kernel
def doubled_last(b: wp.array(dtype=float), a: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * 2.0


@wp.struct
class Pair:
    a: wp.array(dtype=float)
    b: wp.array(dtype=float)


@wp.kernel
def doubled_fields(pair: Pair):
    i = wp.tid()
    pair.b[i] = pair.a[i] * 2.0


@wp.kernel
def sum_of_all(pair: Pair, c: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = pair.a[i] * 2.0 + pair.b[i] * 3.0 + c[i] * 5.0 + pair.a[0] * 0.5


def in_place(kernel, give):
    x = wp.ones(4, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(kernel, dim=4, inputs=give(x))
    tape.backward(grads={x: wp.ones(4, dtype=float)})
    print(x.grad.numpy())


def pair_of(x):
    pair = Pair()
    pair.a = pair.b = x
    return pair


for kernel in (doubled, doubled_last):
    in_place(kernel, lambda x: [x, x])
in_place(doubled_fields, lambda x: [pair_of(x)])
x, y = wp.ones(4, dtype=float, requires_grad=True), wp.zeros(4, dtype=float, requires_grad=True)
tape = wp.Tape()
with tape:
    wp.launch(sum_of_all, dim=4, inputs=[pair_of(x), x], outputs=[y])
tape.backward(grads={y: wp.ones(4, dtype=float)})
print(x.grad.numpy())


# a module's kernels of one name are all forgotten when the module is changed
factor = 2.0


def make(plus):
    @wp.kernel
    def scaled(y: wp.array(dtype=float)):
        y[0] = factor + wp.static(plus)

    return scaled


y = wp.zeros(1, dtype=float)
made = [make(10.0), make(20.0)]
for factor in (2.0, 3.0):
    make(0.0).module.mark_modified()
    for kernel in made:
        wp.launch(kernel, dim=1, inputs=[y])
        print(y.numpy())

# a package that comes while another interpreter is asked is the first one's, too
import os

from tilec import modules, session

os.makedirs("own/warp")
with open("own/warp/mine.py", "w") as file:
    file.write("kind = 3\n")
folder = os.path.abspath("own")
session.the.open()
with session.lock, session.the.another([], []):
    session.the.open()
    session.the.add_package("warp.mine", os.path.join(folder, "warp", "mine.py"), folder)
    print(modules.exists("warp.mine"))
print(modules.exists("warp.mine"))

# streams: that which was set, and those that a copy, a launch and a graph are given
from warp import arrays, devices, launches

device, seen = wp.get_device(), []
null, first, second = device.null_stream, wp.Stream(cuda_stream=1), wp.Stream(cuda_stream=2)
handle, start, copied = devices.current_handle, launches._start, arrays._copied
launches._start = lambda *given: seen.append(handle())
arrays._copied = lambda *given: seen.append(handle())
wp.copy(y, y)
wp.set_stream(first)
wp.copy(y, y)
wp.copy(y, y, stream=second)
command = wp.launch(product, dim=1, inputs=[y, y], outputs=[y], record_cmd=True, stream=second)
command.launch()
command.launch(first)
with wp.ScopedCapture() as capture:
    pass
capture.graph.steps.append((launches._start, (), {}))
wp.capture_launch(capture.graph)
wp.capture_launch(capture.graph, second)
launches._start, arrays._copied = start, copied
print(seen, wp.get_stream() is first, device.null_stream is null)
wp.set_stream(null)
print(handle(), wp.get_stream() is null)

# a device by another name, for a while
device = wp.get_device()
with wp.ScopedDevice(device):
    wp.rename_device(device, "mine")
    with wp.ScopedDevice("mine"):
        print(wp.get_device(), wp.get_device("mine") is device, wp.get_device() is device)
wp.set_device(device)
print(wp.get_device() is device, wp.zeros(1, dtype=float).device)
wp.unmap_cuda_device("mine")
print(device, wp.get_device() is wp.get_device("cuda:0"))

# what is told of devices: the emulator's memory is the host's
import os

told = wp.print_diagnostics.__globals__["_facts"](wp.get_device())
whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
print(told["sm_count"] > 0, told["pci_bus_id"], device.total_memory == whole, 0 < device.free_memory <= whole, wp.get_device("cpu").sm_count)

# what is dropped while the interpreter shuts down, when names of modules are None already
from types import SimpleNamespace

from warp import dlpack, memory

memory._driver = dlpack._Deleter = None
memory._PinnedBlock.__del__(SimpleNamespace(pointer=1))
dlpack._Taken.__del__(SimpleNamespace(address=1))
print("dropped")
P
export TMP TILE_CACHE="$TMP/cache"
cd "$TMP" && python3 -m tilec run program.py
