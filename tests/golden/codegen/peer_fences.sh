# What threads have read of another block's shared memory is kept from that block's TMA by a fence of the cluster's memory, not of their
# own block's alone.
cd $TMP
cat >k.tile <<'T'
import tilus
from tilus import float32, int32

class Peers(tilus.Script):
    def __init__(self, peers: bool):
        super().__init__()
        self.peers = peers

    def __call__(self, rounds: int32, x_ptr: ~float32, y_ptr: ~float32):
        self.attrs.blocks = 2
        self.attrs.warps = 4
        self.attrs.cluster_blocks = 2
        x = self.global_view(x_ptr, dtype=float32, shape=[rounds * 2 * 64, 64])
        y = self.global_view(y_ptr, dtype=float32, shape=[rounds * 2 * 64, 64])
        own = self.shared_tensor(dtype=float32, shape=[64, 64])
        full = self.mbarrier.alloc([1])
        for k in range(rounds):
            row = (k * 2 + self.blockIdx.x) * 64
            with self.single_warp(0):
                with self.single_thread():
                    self.mbarrier.arrive_and_expect_tx(full, transaction_bytes=own.nbytes)
                self.tma.global_to_shared(src=x, dst=own, offsets=[row, 0], mbarrier=full)
            self.mbarrier.wait(full, k % 2)
            self.cluster.sync()
            other = self.load_shared(self.cluster.map_shared(own, 1 - self.cluster.blockRank) if self.peers else own)
            self.store_global(y, other, offsets=[row, 0])
            self.cluster.sync()
T
for peers in True False; do
    $TILEC k.tile --arch=sm_90a --ptxas=none --emit=ptx --export "k = Peers($peers)" -o k.ptx 2>&1 | grep error:
    awk '/^\.visible/ { on = /_aligned/ } on' k.ptx | grep -oE 'ld\.shared::cluster|ld\.shared\.|fence\.proxy\.async[a-z.:]*' | uniq | sed "s/^/$peers: /"
done
