# Operands of less than words that a product by fma reads along k: as many elements at a time as a thread has registers for, as each element
# then takes a register.
cd $TMP
product() { # M N
    cat > f.tile <<END
import tilus
from tilus import int16, int32

class Product(tilus.Script):
    def __call__(self, a: ~int16, b: ~int16, c: ~int32):
        self.attrs.blocks = 1
        self.attrs.warps = 8
        left = self.shared_tensor(dtype=int16, shape=[$1, 64])
        right = self.shared_tensor(dtype=int16, shape=[$2, 64])
        self.store_shared(left, self.load_global(self.global_view(a, dtype=int16, shape=[$1, 64]), offsets=[0, 0], shape=[$1, 64]))
        self.store_shared(right, self.load_global(self.global_view(b, dtype=int16, shape=[$2, 64]), offsets=[0, 0], shape=[$2, 64]))
        self.sync()
        sums = self.register_tensor(dtype=int32, shape=[$1, $2], init=0)
        sums = self.dot(self.load_shared(left), self.load_shared(right).transpose(), sums)
        self.store_global(self.global_view(c, dtype=int32, shape=[$1, $2]), sums, offsets=[0, 0])

product = Product()
END
    $TILEC f.tile --arch=sm_80 -S -o f.ptx 2> /dev/null
    echo "$1 x $2: $(grep -hoE 'ld.shared(.v[24])?.b(8|16|32|64)' f.ptx | sort | uniq -c | tr -s ' \n' ' ')"
}
product 64 64
product 128 128
