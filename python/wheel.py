"""wheel.py VERSION BUILD FOLDER: writes the wheel of the package tilec, with BUILD's libraries, into the folder.

A wheel is a zip file of the package and three files that say what is in it. Nothing is in it that varies: files are in order of
their names, and of one time.
"""

import base64
import hashlib
import pathlib
import sysconfig
import sys
import zipfile

LIBRARIES = "libtile.so", "libtile_emulator.so", "libtilec.so"
TIME = (1980, 1, 1, 0, 0, 0)


def metadata(version):
    return "\n".join([
        "Metadata-Version: 2.1", "Name: tilec", f"Version: {version}",
        "Summary: GPU tile kernels of Tilus, TileLang and Warp, compiled ahead of time or when they are called",
        "License: Apache-2.0", "Requires-Python: >=3.10", ""])


def tag():
    return "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")


def main(version, build, folder):
    here = pathlib.Path(__file__).resolve().parent
    info = f"tilec-{version}.dist-info"
    files = {str(path.relative_to(here)): path.read_bytes() for path in here.glob("tilec/**/*.py")}
    files.update({f"tilec/lib/{name}": (pathlib.Path(build) / name).read_bytes() for name in LIBRARIES})
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tilec\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode()
    record = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = "".join(record + [f"{info}/RECORD,,\n"]).encode()
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(folder) / f"tilec-{version}-{tag()}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, TIME)
            entry.external_attr = (0o755 if name.endswith(".so") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    print(path)


main(*sys.argv[1:])
