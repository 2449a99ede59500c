# -MMD writes a rule beside the output.
set -e
$TILEC ../passes/add_threads.ir --ptxas=none -o $TMP/add.o -MMD -MP -MT 'add$x.o'
cat $TMP/add.d
