# Where one tile was, another is that nobody writes: its own bytes are meant, not the place's.
cat > "$TMP/reused.tile" << 'END'
import tilus
from tilus import float16, float32

class Plain(tilus.Script):
    def __call__(self, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        gb = self.global_view(b_ptr, dtype=float32, shape=[128])
        first = self.shared_tensor(dtype=float32, shape=[128])
        self.store_shared(first, self.register_tensor(dtype=float32, shape=[128], init=1.0))
        self.sync()
        value = self.load_shared(first)
        self.sync()
        self.free_shared(first)
        second = self.shared_tensor(dtype=float32, shape=[128])
        self.store_global(gb, value + self.load_shared(second), offsets=[0])
        self.free_shared(second)

class Matrix(tilus.Script):
    def __call__(self, a_ptr: ~float16, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 4
        ga = self.global_view(a_ptr, dtype=float16, shape=[64, 32])
        gb = self.global_view(b_ptr, dtype=float32, shape=[64, 64])
        first = self.shared_tensor(dtype=float16, shape=[64, 32])
        self.store_shared(first, self.load_global(ga, offsets=[0, 0], shape=[64, 32]))
        self.sync()
        a = self.load_shared(first)
        self.sync()
        self.free_shared(first)
        second = self.shared_tensor(dtype=float16, shape=[64, 32])
        sums = self.dot(self.load_shared(second), self.transpose(a), acc_dtype=float32)
        self.store_global(gb, sums, offsets=[0, 0])
        self.free_shared(second)

class Copied(tilus.Script):
    def __init__(self, again: bool):
        self.again = again

    def __call__(self, a_ptr: ~float32, b_ptr: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 1
        ga = self.global_view(a_ptr, dtype=float32, shape=[128])
        gb = self.global_view(b_ptr, dtype=float32, shape=[128])
        first = self.shared_tensor(dtype=float32, shape=[128])
        self.copy_async(ga, first, offsets=[0])
        self.copy_async_wait_all()
        self.sync()
        value = self.load_shared(first)
        self.store_global(gb, value, offsets=[0])
        self.sync()
        self.free_shared(first)
        second = self.shared_tensor(dtype=float32, shape=[128])
        if self.again:
            self.copy_async(ga, second, offsets=[0])
            self.copy_async_wait_all()
            self.sync()
        self.store_global(gb, self.load_shared(second), offsets=[0])
        self.free_shared(second)
END
cd "$TMP"
for statements in 'Plain()(b)' 'Matrix()(zeros((64, 32), float16), zeros((64, 64), float32))' 'Copied(False)(a, b)' 'Copied(True)(a, b); print(b[127])'; do
    "$TILEC" run reused.tile "a = arange(128, float32); b = zeros((128,), float32); $statements" 2>&1
done
