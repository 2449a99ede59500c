# mandoc(1) warns of nothing in the pages.
needs mandoc
make -s -C $TILE_ROOT BUILD=$TMP/build manual Q=@ > /dev/null || exit
cd $TMP/build/man
mandoc -T lint -W warning *.[1-9]
echo "$(ls | wc -l) pages"
