# What a refused call says is to be added to the file, or given to tilec, can be: afterwards the call is made.
cd $TMP
cat > own_name.py <<'END'
import tilelang
import tilelang.language as TL


@tilelang.jit
def scale(a: TL.Tensor[[TL.const("N")], TL.float32], c: TL.Tensor[[TL.dyn["m"]], TL.float32], by: float):
    N = a.shape[0]
    b = TL.empty((N,), TL.float32)
    with TL.Kernel(TL.ceildiv(N, 64), threads=64) as bx:
        for i in TL.Parallel(64):
            b[bx * 64 + i] = a[bx * 64 + i] * by
    return b


scale.compile(TL.Tensor((128,), TL.float32), by=2.0)
END
sed 's/TL/T/g' own_name.py > usual_name.py
cat > threads.py <<'END'
import warp as wp


@wp.kernel
def scale(x: wp.array(dtype=float), by: float, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * by


scale.compile(block_dim=64, tiled=0)
END
cat > script.py <<'END'
import tilus
from tilus import float32, int32


class Fill(tilus.Script):
    def __init__(self, block=64):
        super().__init__()
        self.block = block

    def __call__(self, n: int32, value: float, mode: str, a_ptr: ~float32):
        self.attrs.blocks = tilus.utils.cdiv(n, self.block)
        self.attrs.warps = 1
        a = self.global_view(a_ptr, dtype=float32, shape=[n])
        self.store_global(a, self.register_tensor(dtype=float32, shape=[self.block], init=value), offsets=[self.blockIdx.x * self.block])


fill = Fill(32)
fill.compile(value=1.0, mode="a")
fixed = Fill(32).compile(value=1.0, mode="b")
END
# look FILE CALL [--export TEXT]: the call of the file's object, then of what is made as each advice has it.
call() { $TILEC "${@:3}" --arch=emulator -o made.o "$1" && $TILEC run --device=emulator made.o "$2" > said 2>&1; }
look() {
    local file=$1 words=$2
    shift 2
    echo "== $file: $words"
    call "$file" "$words" "$@" && echo "nothing is missing"
    grep -o "; add .* command line" said
    sed -n "s/.*; add the lines\{0,1\} '\(.*\)' to the kernel's file.*/\1/p" said | sed "s/' and '/\n/" > lines
    sed -n "s/.*--export '\(.*\)' to tilec's command line.*/\1/p" said > option
    if [ -s lines ]; then
        cat "$file" lines > added.py
        call added.py "$words" "$@" && echo "the lines do" || cat said
    fi
    call "$file" "$words" "$@" --export "$(cat option)" && echo "the option does" || cat said
}
for file in usual_name own_name; do look $file.py 'print(scale(zeros(4, float32), zeros(3, float32), by=1.0))'; done
look threads.py 'x = zeros(4, float32); scale(4, x, 2.0, x, block_dim=32, tiled=0)'
look script.py 'fill(4, 1.5, "a", zeros(4, float32))'
look script.py 'fixed(4, 1.5, "b", zeros(4, float32))'
look script.py 'other(4, 1.5, "b", zeros(4, float32))' --export 'other = Fill(64).compile(value=3.0, mode="b")'
