# Functions of the host that torch is asked to compile, beside kernels that use what they compute.
cd $TMP
cat > compiled.py <<'END'
import torch
import warp as wp


@torch.compile(dynamic=True)
def doubled(n):
    return n + n


@torch.compile
def more(n):
    return n + 1


N = doubled(more(3))


@wp.kernel
def fill(a: wp.array(dtype=float)):
    a[wp.tid()] = float(N)


fill.compile(block_dim=64)


if __name__ == "__main__":
    a = wp.zeros(4, dtype=float)
    wp.launch(fill, dim=4, inputs=[a])
    print(a.numpy())
END
$TILEC check compiled.py && $TILEC run compiled.py
