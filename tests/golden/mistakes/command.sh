# What a new user gets wrong on the command line, in C and with files; on five lines at most.
. ../../tools/mistakes.bash
cp "$TILE_ROOT/samples/add_one/add_one.tile" k.tile
try() { look_at "$1" '' "$2"; } # TITLE COMMAND
try 'no file' '$TILEC'
try 'a file that is missing' '$TILEC kernel.tile -o k.o'
try 'a command, misspelt' '$TILEC chek k.tile'
try 'an option, misspelt' '$TILEC k.tile --archs=sm_80 -o k.o'
try 'an architecture that there is not' '$TILEC k.tile --arch=sm_70 -o k.o'
try 'a kind of output that there is not' '$TILEC k.tile --emit=asm -o k.s'
try 'a level of optimisation' '$TILEC k.tile -O9 -o k.o'
try 'the source as output' '$TILEC k.tile -o k.tile'
try 'a folder that is missing' '$TILEC k.tile --arch=emulator -o build/k.o'
try 'two sources' '$TILEC k.tile k.tile -o k.o'
try 'an export without a name' '$TILEC k.tile --export "AddOne()" -o k.o'
try 'an export of what is no kernel' '$TILEC k.tile --export "k = 3" -o k.o'
try 'a C file' 'echo "int main(void) { return 0; }" > main.c; $TILEC main.c -o k.o'
try 'a kernel named as a word of C' '$TILEC k.tile --arch=emulator --export "double = add_one" -o k.o'
try 'a device that there is not' '$TILEC run --device=gpu k.tile 1'
try 'tests where there are none' '$TILEC test k.tile'
try 'a warning that there is not' '$TILEC k.tile -Werror=nothing -o k.o'
try 'a value that is no literal' '$TILEC k.tile -D BLOCK=128 -o k.o'
