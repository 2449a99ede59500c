# A line for each place, however many there are; accesses of one place that some lanes do and others do not are told apart.
cd $TMP
{
    printf 'import warp as wp\n\n@wp.kernel\ndef k(a: wp.array(dtype=float), b: wp.array(dtype=float)):\n    i = wp.tid()\n'
    for i in $(seq 0 299); do echo "    b[i + $i * 32] = a[i]"; done
} > many.py
$TILEC run --device emulator --statistics many.py 'wp.launch(k, dim=32, inputs=[zeros((32,), float32), zeros((9600,), float32)])' > said || cat said
grep -c 'global write: 1 executions, 4 transactions, 4 ideal, 0 bank conflicts' said
cat > parted.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def parted(A: T.Tensor[[4, 32], T.float32]):
    B = T.empty((4, 32), T.float32)
    with T.Kernel(1, threads=32):
        for r, i in T.Parallel(4, 32):
            if (i + r) % 2 == 0:
                B[r, i] = A[r, i]
    return B
END
$TILEC run --device emulator --general --statistics parted.py 'parted(zeros((4, 32), float32))' | grep write
