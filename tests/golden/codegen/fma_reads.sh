# Operands of less than words that a product by fma reads along k: fewer elements at a time where a thread has many rows and columns, as each
# element then takes a register.
cd $TMP
product() { # M N
    cat > f.tile <<END
import tilus
from tilus import float8_e5m2, float32

class Product(tilus.Script):
    def __call__(self, a: ~float8_e5m2, b: ~float8_e5m2, c: ~float32):
        self.attrs.blocks = 1
        self.attrs.warps = 8
        left = self.shared_tensor(dtype=float8_e5m2, shape=[$1, 64])
        right = self.shared_tensor(dtype=float8_e5m2, shape=[$2, 64])
        self.store_shared(left, self.load_global(self.global_view(a, dtype=float8_e5m2, shape=[$1, 64]), offsets=[0, 0], shape=[$1, 64]))
        self.store_shared(right, self.load_global(self.global_view(b, dtype=float8_e5m2, shape=[$2, 64]), offsets=[0, 0], shape=[$2, 64]))
        self.sync()
        sums = self.register_tensor(dtype=float32, shape=[$1, $2], init=0.0)
        sums = self.dot(self.load_shared(left), self.load_shared(right).transpose(), sums)
        self.store_global(self.global_view(c, dtype=float32, shape=[$1, $2]), sums, offsets=[0, 0])

product = Product()
END
    $TILEC f.tile --arch=sm_80 -S -o f.ptx 2> /dev/null
    echo "$1 x $2: $(grep -hoE 'ld.shared(.v[24])?.b(8|16|32|64)' f.ptx | sort | uniq -c | tr -s ' \n' ' ')"
}
product 64 64
product 128 128
