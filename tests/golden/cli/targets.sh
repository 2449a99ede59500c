# Each architecture is compiled for, and named in the manifest and the header; compute_80 stays PTX of the lowest version.
for arch in sm_80 sm_86 sm_89 sm_90a sm_100a sm_120 compute_80; do
  $TILEC ../passes/add_threads.ir --arch=$arch --ptxas=none --emit=manifest | grep -o '"target": "[a-z0-9_]*"'
  $TILEC ../passes/add_threads.ir --arch=$arch --ptxas=none --emit=ptx | grep -m 2 -E '^\.(version|target)'
done
$TILEC ../passes/add_threads.ir --ptxas=none --emit=header | grep 'built for'
