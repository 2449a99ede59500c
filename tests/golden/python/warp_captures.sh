# Captures of several streams: which operations wait for which, what is done at once, pauses, allocations; which memory a launch reaches,
# events, and files that hold what was allocated meanwhile by its size alone.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >captures.py <<'END'
import numpy
import warp as wp
import warp._src.context as context


@wp.kernel
def scale(a: wp.array(dtype=float), b: wp.array(dtype=float), by: float):
    i = wp.tid()
    b[i] = a[i] * by


def refused(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except Exception as error:
        print(type(error).__name__, str(error)[:110])


a, b, c = wp.array([1.0, 2.0], dtype=float), wp.zeros(2, dtype=float), wp.zeros(2, dtype=float)
core = context.runtime.core
side, alone = wp.Stream(), wp.Stream()
with wp.ScopedCapture() as capture:
    first = core.wp_cuda_graph_insert_alloc_node(None, 4)
    with wp.ScopedStream(side):
        beside = core.wp_cuda_graph_insert_empty_node(None)
        wp.launch(scale, dim=2, inputs=[a, b, 2.0])
    second = core.wp_cuda_graph_insert_empty_node(None)
    free = core.wp_cuda_graph_insert_free_node(None, first)
    last = core.wp_cuda_graph_insert_empty_node(None)
    with wp.ScopedStream(alone, sync_enter=False):  # no part of the capture: done at once
        wp.launch(scale, dim=2, inputs=[a, c, 3.0])
    print(b.numpy(), c.numpy())
    wp.wait_stream(side)
    wp.launch(scale, dim=2, inputs=[b, c, 10.0])
    paused = context.capture_pause()
    b.fill_(7.0)
    print(wp.get_device().is_capturing, b.numpy())
    context.capture_resume(paused)
refused(context.capture_resume, capture.graph)
depends = core.wp_cuda_graph_node_depends_on
print(depends(beside, first), depends(second, beside), depends(free, beside), depends(free, second), depends(last, free))
print([core.wp_cuda_graph_alloc_query(first, one) for one in (beside, second, last)], core.wp_cuda_graph_alloc_query(second, beside))
wp.capture_launch(capture.graph)
print(b.numpy(), c.numpy())
wp.capture_debug_dot_print(capture.graph, "graph.dot", verbose=True)
print(open("graph.dot").read().count("->"))

# allocations: not where the device chooses; outside of a capture they are free
yes = wp.ones(1, dtype=int)
with wp.ScopedCapture() as inside:
    wp.zeros(4, dtype=float)


def grown():
    scale_to = wp.zeros(2, dtype=float)
    wp.launch(scale, dim=2, inputs=[a, scale_to, 5.0])
    wp.copy(b, scale_to)


def capture_if(body):
    with wp.ScopedCapture():
        wp.capture_if(yes, body)


refused(capture_if, grown)
refused(capture_if, inside.graph)
wp.capture_if(yes, grown)
print(b.numpy(), wp.get_device().is_capturing)

# which memory is reached
cpu = wp.zeros(2, dtype=float, device="cpu")
print(wp.can_access("cpu", cpu), wp.can_access("cuda:0", cpu), wp.can_access("cpu", a), wp.can_access("cuda:0", a))
refused(wp.can_access, "cpu", wp.array(dtype=float))
refused(setattr, wp.config, "launch_array_access_mode", 1)
for mode in (wp.config.LaunchArrayAccessMode.CHECKED, wp.config.LaunchArrayAccessMode.STRICT):
    wp.config.launch_array_access_mode = mode
    refused(wp.launch, scale, dim=2, inputs=[cpu, b, 2.0])
    refused(wp.launch, scale, dim=2, inputs=[wp.indexedarray(cpu, wp.zeros(2, dtype=int)), b, 2.0], record_cmd=True)
wp.config.launch_array_access_mode = wp.config.LaunchArrayAccessMode.RELAXED
with wp.ScopedMempool("cuda:0", False):
    plain = wp.zeros(2, dtype=float)
print(plain.memory_kind.name, wp.zeros(2, dtype=float)[1:].memory_kind.name, type(plain._allocator).__name__)
refused(plain[1:].ipc_handle)

# events
event = wp.Event(enable_timing=True)
print(event.is_complete, wp.get_event_elapsed_time(event, event))
wp.record_event(event)
wp.wait_event(event)
print(event.is_complete, wp.get_event_elapsed_time(event, event) == 0, wp.get_stream().is_complete)

# a file: of what was allocated meanwhile the size alone
with wp.ScopedCapture(apic=True) as capture:
    scratch = wp.empty(2, dtype=float)
    wp.launch(scale, dim=2, inputs=[a, scratch, 2.0])
    wp.launch(scale, dim=2, inputs=[scratch, b, 3.0])
regions = capture.graph._apic_capture
print(regions.get_region_id(scratch) in regions._transient_regions, regions.get_region_id(a) in regions._transient_regions, regions.operation_count)
print(regions.track_array(a)[1], regions.track_array(a[1:])[1], regions.track_array(a)[0] == regions.track_array(a[1:])[0])
wp.capture_save(capture.graph, "scaled", inputs={"a": a}, outputs={"b": b})
loaded = wp.capture_load("scaled")
wp.capture_launch(loaded)
loaded.get_param("b", c)
print(c.numpy())

# a copy takes what is there when the graph is launched
with wp.ScopedCapture() as capture:
    wp.copy(c, a)
a.fill_(8.0)
wp.capture_launch(capture.graph)
print(c.numpy())
a.assign([1.0, 2.0])

# what a graph for a file is not made of
idx = wp.zeros(2, dtype=int)
plain, host, seed = wp.indexedarray(b, idx), wp.zeros(2, dtype=float, device="cpu"), wp.zeros(1, dtype=float)
cmd = wp.launch(scale, dim=2, inputs=[a, b, 2.0], record_cmd=True)
cmd.set_param_at_index_from_ctype(0, a.__ctype__())
with wp.ScopedCapture(apic=True) as capture:
    for what in (lambda: wp.copy(b, host), lambda: wp.copy(host, b), lambda: wp.copy(plain, a), lambda: plain.fill_(1.0),
                 lambda: wp.array([1.0], dtype=float), lambda: wp.utils.array_sum(a), lambda: wp.utils.array_sum(a, out=seed, value_count=-1), cmd.launch):
        refused(what)
    core.wp_apic_end_recording(None)
    print(context.runtime._apic_capture is core.wp_apic_get_cuda_recording_state(), context.runtime._apic_capture.operation_count)
print(context.runtime._apic_capture)

# what the CPU's values choose is done at once; branches in files
count = wp.array([2], dtype=int, device="cpu")


def less():
    count.fill_(count.numpy()[0] - 1)


with wp.ScopedCapture(apic=True) as capture:
    wp.capture_while(count, less)
    wp.capture_if(yes, lambda: wp.launch(scale, dim=2, inputs=[a, b, 4.0]))
print(count.numpy())
wp.capture_save(capture.graph, "branch", outputs={"b": b})
loaded = wp.capture_load("branch")
wp.capture_launch(loaded)
loaded.get_param("b", c)
print(c.numpy())

# a file is there whole or as it was
import os

before, keeps = open("branch.wrp", "rb").read(), core.wp_apic_state_save


def half(capture, path, *ignored):
    open(path, "w").close()
    return False


core.wp_apic_state_save = half
refused(wp.capture_save, capture.graph, "branch")
core.wp_apic_state_save = keeps
capture.graph._apic_capture.collected_mesh_ids.add(1)
refused(wp.capture_save, capture.graph, "branch")
print(open("branch.wrp", "rb").read() == before, [name for name in os.listdir() if "part" in name])

# arguments as C has them
cmd.launch()
print(b.numpy())


@wp.struct
class Settings:
    by: wp.float16
    times: int
    shift: wp.vec2
    turn: wp.mat22
    kept: wp.array(dtype=float)


@wp.kernel
def settle(settings: Settings, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = settings.kept[i] * float(settings.by) * float(settings.times) + settings.shift[i] + settings.turn[1, i]


given = Settings()
given.by, given.times, given.shift, given.turn, given.kept = 0.5, 4, wp.vec2(10.0, 20.0), wp.mat22(1.0, 2.0, 100.0, 200.0), a
cmd = wp.launch(settle, dim=2, inputs=[Settings(), None], record_cmd=True)
cmd.set_param_at_index_from_ctype(0, given.__ctype__())
cmd.set_param_by_name_from_ctype("out", b.__ctype__())
cmd.launch()
print(b.numpy(), [type(one).__name__ for one in cmd.params[1:]])


# a kernel of geometry leaves the others of its module as they are
@wp.kernel
def queried(bvh: wp.uint64):
    query = wp.bvh_query_aabb(bvh, wp.vec3(), wp.vec3())


wp.load_module(device="cuda:0")
refused(wp.launch, queried, dim=1, inputs=[wp.uint64(1)])
END
python3 -m tilec run captures.py
