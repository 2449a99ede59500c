# Graphs in files with the code of their modules beside them, and the texts that it was made of; what was damaged is refused, what was
# there before stays if nothing new can be put there, and C loads it from bytes.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat >exports.py <<'END'
import ctypes
import os
import numpy as np
import warp as wp
import warp._src.context as context
from warp._src.apic.types import APICModuleBytes

wp.set_module_options({"cuda_output": "ptx"})


@wp.kernel
def scale(a: wp.array(dtype=float), b: wp.array(dtype=float), by: float):
    i = wp.tid()
    b[i] = a[i] * by


@wp.kernel
def shift(a: wp.array(dtype=float), by: float):
    i = wp.tid()
    a[i] = a[i] + by


a, b = wp.array([1.0, 2.0], dtype=float), wp.zeros(2, dtype=float)
with wp.ScopedCapture(apic=True) as capture:
    wp.launch(scale, dim=2, inputs=[a, b, 2.0])
    wp.launch(shift, dim=2, inputs=[b, 1.0])
    wp.launch(shift, dim=2, inputs=[b, 1.0], block_dim=64)
modules = list(capture.graph._apic_capture.collected_modules.values())
names = [one["binary_filename"] for one in modules]
print(len(modules), [one["module_hash"][:7] in name for one, name in zip(modules, names)], [name.partition(".")[2] for name in names])


def said(error):
    text = str(error)
    for i, one in enumerate(modules):
        text = text.replace(one["binary_filename"], f"CODE{i}").replace(one["cuda_compile_artifact"]["source_filename"], f"TEXT{i}")
        text = text.replace(one["module_hash"][:7], f"HASH{i}")
    return f"{type(error).__name__} {text.partition('([Errno')[0].partition(' in /')[0]}"


def refused(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except Exception as error:
        print(said(error))


def result(graph):
    wp.capture_launch(graph)
    got = wp.zeros(2, dtype=float)
    graph.get_param("b", got)
    return got.numpy()


wp.capture_save(capture.graph, "plain", inputs={"a": a}, outputs={"b": b})
print(sorted(os.listdir("plain_modules")) == sorted(names), [open(f"plain_modules/{name}").read().count(".entry") for name in names])
graph = wp.capture_load("plain")
print(result(graph), graph.params == wp.capture_load("plain").params, sorted(graph.params))

# what is damaged, or is gone
code = f"plain_modules/{names[0]}"
kept = open(code, "rb").read()
open(code, "wb").write(b"else")
refused(wp.capture_load, "plain")
os.unlink(code)
refused(wp.capture_load, "plain")
data = open("plain.wrp", "rb").read()
refused(wp.capture_load_from_bytes, data)
files = {name: open(f"plain_modules/{name}", "rb").read() for name in names[1:]} | {names[0]: np.frombuffer(kept, np.uint8)}
print(result(wp.capture_load_from_bytes(data, files)))

# the texts with it
wp.capture_save(capture.graph, "texts", outputs={"b": b}, source_fallback=True)
code, text = f"texts_modules/{names[0]}", f"texts_modules/{modules[0]['cuda_compile_artifact']['source_filename']}"
open(code, "wb").write(b"else")
print(len(os.listdir("texts_modules")), result(wp.capture_load("texts")))
os.unlink(text)
refused(wp.capture_load, "texts")
wp.capture_save(capture.graph, "texts", outputs={"b": b})
print(len(os.listdir("texts_modules")))
artifact = modules[0]["cuda_compile_artifact"]
open(artifact["source_path"], "a").write(" ")
refused(wp.capture_save, capture.graph, "texts", source_fallback=True)
os.unlink(artifact["source_path"])
refused(wp.capture_save, capture.graph, "texts", source_fallback=True)

# what was there stays there
before = {name: open(f"texts_modules/{name}", "rb").read() for name in sorted(os.listdir("texts_modules"))}
replace = os.replace


def failing(*places):
    def call(old, new):
        if new in places:
            raise OSError("no room")
        replace(old, new)

    return call


os.replace = failing("texts.wrp")
refused(wp.capture_save, capture.graph, "texts")
os.replace = replace
after = {name: open(f"texts_modules/{name}", "rb").read() for name in sorted(os.listdir("texts_modules"))}
print(before == after, result(wp.capture_load("texts")), sorted([one for one in os.listdir(".") if "texts" in one or "apic" in one]))
os.replace = failing("texts_modules")  # nor may it go back
refused(wp.capture_save, capture.graph, "texts")
os.replace = replace
room = next(one for one in os.listdir(".") if one.startswith(".warp-apic-"))
print(os.path.exists("texts_modules"), sorted(os.listdir(f"{room}/previous_modules")) == sorted(after))

# as C loads it
core, entries = context.runtime.core, (APICModuleBytes * 2)()


def load(*given):
    for entry, (name, bytes_) in zip(entries, given):
        held = ctypes.create_string_buffer(bytes_, len(bytes_))
        load.held.append(held)
        entry.filename, entry.data, entry.size = name.encode(), ctypes.addressof(held), len(bytes_)
    held = ctypes.create_string_buffer(data, len(data))
    number = core.wp_apic_load_graph_from_bytes(wp.get_device().context, ctypes.addressof(held), len(data), entries, len(given), 0)
    print(number is not None if number else said(context.runtime.get_error_string()))
    return number


load.held = []
core.wp_apic_destroy_graph(load((names[0], kept), (names[1], files[names[1]])))
load((names[0], kept), (names[0], kept))
load((names[0], kept))
END
python3 -m tilec run exports.py
