# A run whose statements never end takes so much memory and no more; the line is told.
cd $TMP
printf 'items = [1]\nwhile True:\n    items.extend(items)\n' > grows.tile
printf 'items = [1]\nwhile True:\n    items = items + items\n' > longer.tile
for f in grows longer; do
    ( ulimit -v 12000000; $TILEC run --device=emulator $f.tile; echo "status $?" )
done
