# --time-report: each stage once, with its total.
$TILEC $TILE_ROOT/samples/add_one/add_one.tile --arch=sm_80,emulator --ptxas=none --no-cache --time-report -o $TMP/x.o 2>&1 |
  awk '$3 != "ms" && $4 != "ms" && $5 != "ms" { print "odd:", $0 } { print $1 }' | grep -E '^(parse|evaluate|simplify|LLVM|waiting|object|total|odd:)'
