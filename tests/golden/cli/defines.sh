# -D: the module's name is the value, whatever the module assigns; in functions, classes and a run file alike.
cd $TMP
cat > d.tile <<'T'
import tilus
from tilus import float32, int32
COUNT = 4
NAME = 'own'
class K(tilus.Script):
    def __call__(self, n: int32, a_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = COUNT
        g = self.global_view(a_ptr, dtype=float32, shape=[n])
        self.store_global(g, self.load_global(g, offsets=[0], shape=[128]) + 1.0, offsets=[0])
k = K()
def show():
    return COUNT, NAME
T
echo 'print(show(), EXTRA)' | cat d.tile - > main.tile
$TILEC d.tile --emit=ir | grep -o 'warps = [0-9]*'
$TILEC d.tile --emit=ir -DCOUNT=8 | grep -o 'warps = [0-9]*'
$TILEC run d.tile 'print(show())'
$TILEC run d.tile 'print(show(), COUNT)' -D COUNT=2*3 -D "NAME='other'"
$TILEC run main.tile -D EXTRA -D COUNT=0x10
for wrong in 'a.b=3' 'a b=3' 'A=unknown' '=3' 'A=1;B=2'; do $TILEC check d.tile -D "$wrong"; echo "exit status $?"; done
for wrong in COUMT=8 count=8 ELSE=1; do $TILEC check d.tile -D $wrong; echo "exit status $?"; done
