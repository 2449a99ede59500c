# The same bytes whatever the folder, by relative and by absolute paths, its depth below the current one, the user's name and home, the
# locale, the time zone, the mask of new files, the number of processes and the cache.
cd "$TMP" || exit
for folder in one some/where/deeper; do
    mkdir -p $folder/source/parts $folder/build
    cp "$TILE_ROOT/samples/add_one/add_one.tile" $folder/source
    printf 'BLOCK = 128\n' > $folder/source/parts/sizes.py
    sed -i '1i from sizes import BLOCK' $folder/source/add_one.tile
    printf 'add_two = AddOne(block_n=256, warps=2)\n' >> $folder/source/add_one.tile
done
compile() { # FOLDER SOURCE OPTION...
    local folder=$1 source=$2
    shift 2
    cd "$folder/build" || exit
    env $setting "$TILEC" "$source/add_one.tile" -I"$source/parts" --arch=sm_80,emulator --ptxas=none -g --with-source -MMD -MF add_one.d \
        -o add_one.o -H add_one.h "$@" && cat add_one.o add_one.h | sha256sum
}
export LOCPATH=$TMP/locales setting=
mkdir "$LOCPATH"
localedef -i tr_TR -f UTF-8 "$LOCPATH/tr_TR.UTF-8" > said 2>&1 # where there are none, the variable is all that varies
first=$TMP/one other=$TMP/some/where/deeper
export -f compile
same() { [ "$1" = "$2" ] && echo "the same: $3" || echo "different: $3"; }
was=$(compile "$first" ../source --no-cache)
same "$was" "$(compile "$first" "$first/source" --no-cache)" 'an absolute path'
same "$was" "$(compile "$other" "$other/source" --no-cache)" 'another folder'
strings -a one/build/add_one.o | grep -E 'add_one.tile|parts' | sort -u
same "$was" "$(umask 077; setting='TZ=Asia/Kolkata HOME=/nowhere USER=nobody LOGNAME=nobody SOURCE_DATE_EPOCH=1 LC_ALL=tr_TR.UTF-8' compile "$other" "$other/source" -j1 --no-cache)" 'time zone, user, mask, locale, one process'
same "$was" "$(umask 022; setting='TZ=UTC LC_ALL=C' compile "$other" "$other/source" -j8)" 'eight processes'
same "$was" "$(compile "$first" "$first/source" -j8)" 'from the cache'
cut -d: -f1 some/where/deeper/build/add_one.d | head -n 1
echo '== nothing in common with the current folder: named from the main file on'
(cd / && "$TILEC" "$TMP/one/source/add_one.tile" -I"$TMP/one/source/parts" --arch=emulator --with-source -o "$TMP/far.o")
strings -a far.o | grep -E 'add_one.tile|parts' | sort -u
if unshare -rm true 2> /dev/null; then
    same "$was" "$(unshare -rm bash -c 'compile "$@"' _ "$other" "$other/source" --no-cache)" 'another user'
else
    echo "the same: another user"
fi
