# What torch does while a graph of Warp's is captured: it is a part of the graph, and done when that is launched.
needs torch
export TILE_DEVICE=emulator
cd $TMP
cat >captured.py <<'END_PY'
import torch
import warp as wp


@wp.kernel
def inc(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = a[i] + 1.0


n = 4
t = torch.zeros(n, device="cuda")
a = wp.from_torch(t)
with wp.ScopedDevice("cuda:0"), torch.cuda.stream(wp.stream_to_torch("cuda:0")):
    wp.capture_begin()
    t += 1.0
    wp.launch(inc, dim=n, inputs=[a])
    u = t * 2.0
    u[1:].add_(torch.ones_like(u)[1:])
    v = torch.empty(n, device="cuda")
    torch.add(t, u, out=v)
    w, where = torch.max(v, 0)
    wp.launch(inc, dim=n, inputs=[a])
    paused = wp.capture_pause()
    t += 100.0
    wp.capture_resume(paused)
    graph = wp.capture_end()
print(t.tolist())
for i in range(3):
    wp.capture_launch(graph)
print(t.tolist(), u.tolist(), v.tolist(), w.item(), where.item())
t += 1.0
print(t.tolist())
END_PY
python3 -m tilec run captured.py
