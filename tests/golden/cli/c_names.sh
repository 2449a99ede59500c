# What a header declares is no word of C or C++ and nothing twice, arguments with such names get an underscore, and headers of one
# name in two folders can both be included.
cd $TMP; cp $TILE_ROOT/samples/add_one/add_one.tile .
compile() { $TILEC "$@" --arch=emulator; echo "exit status $?"; }
for name in double xor main; do sed "s/^add_one = /$name = /" add_one.tile > named.tile; compile named.tile -o named.o; done
compile named.tile -o named.o --prefix=my_
for ending in kernel plan prepare shapes; do
  (cat add_one.tile; echo "add_one_$ending = AddOne(block_n=512, warps=2)") > twice.tile
  compile twice.tile --emit=obj,header -o twice.o
done
compile twice.tile --emit=ir -o twice.ir
for prefix in 1a 'a b' a-; do compile add_one.tile -o a.o --prefix="$prefix"; done
ls
echo '#include "k.h"' > k.c; cp k.c k.cpp
for name in int asm xor nullptr wchar_t constexpr out; do
  sed "s/a_ptr/$name/g" add_one.tile > argument.tile
  compile argument.tile -o k.o -H k.h; grep '^tile_status add_one(' k.h
  $TILE_CC -std=c99 -Wall -Wextra -Werror -I$TILE_ROOT/runtime/include -c k.c -o /dev/null
  g++ -std=c++20 -Wall -Wextra -Werror -I$TILE_ROOT/runtime/include -c k.cpp -o /dev/null
done
mkdir one two
for folder in one two; do compile add_one.tile -o $folder/k.o -H $folder/k.h --prefix=${folder}_; done
printf '#include "one/k.h"\n#include "two/k.h"\nvoid *used[] = {(void *)one_add_one, (void *)two_add_one};\n' > both.c
$TILE_CC -std=c99 -Wall -Wextra -Werror -I$TILE_ROOT/runtime/include -c both.c && echo "both declared"
