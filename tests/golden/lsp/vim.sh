# What Vim makes of a file, where there is a Vim with colours.
if ! vim --version 2>/dev/null | grep -q '+syntax'; then echo "there is no vim that colours"; exit 77; fi
cat > "$TMP/check.vim" <<END
set runtimepath^=$TILE_BUILD/editors/vim
filetype plugin indent on
syntax on
edit $TILE_ROOT/samples/add_one/add_one.tile
let out = [&filetype, &shiftwidth, b:current_syntax]
for [line, column] in [[1, 1], [3, 1], [4, 20], [8, 1], [8, 7], [9, 9], [21, 55]]
  call add(out, getline(line)[column - 1:column + 5] . ': ' . synIDattr(synID(line, column, 1), 'name'))
endfor
call writefile(map(out, 'string(v:val)'), '$TMP/out')
qa!
END
timeout 60 vim -es -u NONE -N -i NONE -S "$TMP/check.vim" </dev/null >/dev/null 2>&1
cat "$TMP/out"
