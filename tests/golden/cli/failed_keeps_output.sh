# A compile that fails leaves the old output as it was.
echo old > $TMP/out.o
printf 'a = (\n' > $TMP/broken.tile
cd $TMP && $TILEC broken.tile -o out.o
echo "status $?"; cat out.o; ls
