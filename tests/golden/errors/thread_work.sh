# What is written down very often is refused before each thread's code is made, and soon.
cd $TMP
{
    cat <<'END'
import tilus
from tilus import float32


class Turned(tilus.Script):
    def __call__(self, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        a = self.global_view(a_ptr, dtype=float32, shape=[256, 160])
        b = self.global_view(b_ptr, dtype=float32, shape=[160, 256])
        x = self.load_global(a, offsets=[0, 0], shape=[256, 160])
END
    for ((i = 0; i < 1000; i++)); do echo '        self.store_global(b, self.transpose(x), offsets=[0, 0])'; done
    echo 'turned = Turned()'
} > turned.py
ulimit -t 20
for arch in sm_80 emulator; do $TILEC turned.py --arch=$arch --ptxas=none -o turned.o; echo "exit status $?"; done
