# The completion for bash, asked as bash asks it.
make -s -C $TILE_ROOT BUILD=$TMP docs > /dev/null || exit
tilec() { $TILEC "$@"; }
. $TMP/tilec.bash
ask() { COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tilec 2> /dev/null; echo "$*: ${COMPREPLY[*]}"; }
ask tilec --arc
ask tilec --arch = sm_9
ask tilec --emit = th
ask tilec --device = e
(cd $TMP; ask tilec inf)
ask tilec -MM
cd $TILE_ROOT/samples/add_one; ask tilec check add
