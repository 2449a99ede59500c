# ptxas makes a cubin for each architecture that is no PTX.
needs ptxas
for arch in sm_80 sm_86 sm_89 sm_90a sm_100a sm_120 compute_80; do
  $TILEC ../passes/add_threads.ir --arch=$arch --emit=manifest | grep -o '"target": "[a-z0-9_]*", "kind": "[a-z]*"'
done
