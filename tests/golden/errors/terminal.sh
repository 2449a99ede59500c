# Nothing in a file, or on the command line, steers the terminal: what is quoted of it is written as numbers, in the line as a mark.
cd $TMP; printf 'x = 1\033[31m\n' > character.tile; printf "raise ValueError('a\\033[31mb\xe2\x80\xae', '\xc2\x9b')\n" > text.tile
$TILEC check character.tile; $TILEC run text.tile; $TILEC check $'red\033[31m'; $TILEC check $'broken\xff'
