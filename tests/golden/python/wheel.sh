# The wheel: the same bytes twice, and what is in it works where it is unpacked.
needs python3
cd "$TMP"
python3 "$TILE_ROOT/python/wheel.py" 0.1.0 "$TILE_BUILD" one >/dev/null
python3 "$TILE_ROOT/python/wheel.py" 0.1.0 "$TILE_BUILD" two >/dev/null
cmp one/*.whl two/*.whl && echo same
python3 -m zipfile -e one/*.whl here
ls here here/tilec/lib here/tilec-0.1.0.dist-info
env -u TILE_LIBRARIES PYTHONPATH=here python3 -c '
import tilec
from tilec import device, native
print(device.name(), native.Interpreter().run("give(6 * 7)")["values"])
'
