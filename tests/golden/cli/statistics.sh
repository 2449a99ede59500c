# A line for each place, however many there are.
cd $TMP
{
    printf 'import warp as wp\n\n@wp.kernel\ndef k(a: wp.array(dtype=float), b: wp.array(dtype=float)):\n    i = wp.tid()\n'
    for i in $(seq 0 299); do echo "    b[i + $i * 32] = a[i]"; done
} > many.py
$TILEC run --device emulator --statistics many.py 'wp.launch(k, dim=32, inputs=[zeros((32,), float32), zeros((9600,), float32)])' > said || cat said
grep -c 'global write: 1 executions, 4 transactions, 4 ideal, 0 bank conflicts' said
