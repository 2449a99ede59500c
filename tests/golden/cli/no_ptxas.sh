# Without ptxas the object holds PTX.
$TILEC ../passes/add_threads.ir --arch=sm_90a,sm_80 --ptxas=none --emit=manifest | grep -o '"kind": "[a-z]*", "bytes"'
