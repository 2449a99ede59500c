# libtile neither prints nor ends a program: nothing in it calls what does.
nm -u $TILE_BUILD/libtile.a | grep -E ' U (_?exit|_Exit|quick_exit|abort|__assert_fail|perror|puts|putchar|fputs|fputc|v?f?printf|__v?f?printf_chk)$'
nm -u $TILE_BUILD/libtile.a | grep -c -w malloc | awk '{ print ($1 > 0 ? "its calls are seen" : "no calls are seen") }'
