# Memory that torch gives back when the interpreter ends, in one collection with the modules of Warp's shim.
needs torch
cd "$TMP"
cat >end.py <<'END'
import warp as wp
import warp.dlpack


class Held:
    pass


held = Held()
held.itself = held
held.tensor = wp.to_torch(wp.zeros(16, dtype=float))
held.module = warp.dlpack.__dict__
warp.dlpack.held = held
del held
print("at the end")
END
python3 -m tilec run end.py
echo "exit status $?"
