# With --export what it names is exported, and nothing else of the file is built: not what cannot be, nor what would be by itself.
cd $TMP
cat > kernels.py <<'END'
import tilus
from tilus import float32, int32


class Fill(tilus.Script):
    def __init__(self, value: float):
        super().__init__()
        self.value = value

    def __call__(self, n: int32, a_ptr: ~float32):
        assert self.value >= 0, "less than nothing"
        self.attrs.blocks = 1
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        self.store_global(a, self.register_tensor(dtype=float32, shape=[32], init=self.value), offsets=[0])


fill_one = Fill(1.0)
wrong = Fill(-1.0)
for value in [2.0, -2.0]:
    fill_two = Fill(value).compile()
END
names() { $TILEC kernels.py --arch=emulator -o out.o -H out.h "$@" > said 2>&1; echo "exit status $?"; sed -n 's/: error: /&/p' said; [ -f out.h ] && sed -n 's/^tile_status \([a-z_]*\)(.*/\1/p' out.h; rm -f out.h out.o; }
echo '== the file'; names
echo '== one of it'; names --export 'fill_one = fill_one'
echo '== two'; names --export 'one = fill_one' --export 'three = Fill(3.0)'
echo '== what cannot be built'; names --export 'one = fill_one' --export 'minus = wrong'
echo '== a file of them'; printf 'four = Fill(4.0)\nfill_one = Fill(1.0)\n' > wanted; names --export @wanted
