# A sample in a tree whose path has blanks; what make cannot name it refuses at once.
tree="$TMP/a tree"
mkdir "$tree"; cp -r $TILE_ROOT/runtime $TILE_ROOT/samples "$tree"; ln -s $TILE_BUILD "$tree/build"
make -s -C "$tree/samples/add_one" CC="$TILE_CC" run; echo "exit status $?"
make -s -C "$tree/samples/add_one" CC="$TILE_CC" TILE_BUILD=../../build TILE_OUT=../made run; echo "exit status $?"
ls "$tree/samples/made" | grep -v '\.gc..$' # what a build for coverage leaves there
printf 'include %s\nall:\n' "${tree// /\\ }/runtime/tile.mk" > $TMP/Makefile
make -s -C $TMP 2>&1 | sed 's/.*\*\*\*/***/'
make -s -C $TILE_ROOT/samples/add_one TILE_OUT="$tree" 2>&1 | sed 's/.*\*\*\*/***/'
