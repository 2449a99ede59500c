#!/usr/bin/env bash
# bare.sh COMMAND...: runs it where nothing is seen of CUDA and no terminal can be opened, in mounts of its own, and under a locale that
# writes 1,5 if there is one. Exit status 77, with the reason, where the system lets nobody have such mounts.
set -eu

hide() { # PATH: an empty folder, or an empty file, in its place
    [ ! -d "$1" ] || mount -t tmpfs -o ro none "$1"
    [ -d "$1" ] || [ ! -e "$1" ] || mount --bind /dev/null "$1"
}

# All that is called ptxas on the path, toolkits where they are looked for, and the driver.
hide_cuda() {
    local folder path= library
    hide "$(realpath -m "${CUDA_HOME:-/usr/local/cuda}")"
    for folder in /usr/local/cuda* /opt/cuda*; do [ -L "$folder" ] || hide "$folder"; done
    while IFS= read -r -d : folder; do
        [ -x "$folder/ptxas" ] || path+=${path:+:}$folder
    done <<<"$PATH:"
    export PATH=$path
    unset CUDA_HOME
    for library in $(ldconfig -p 2>/dev/null | sed -n 's/.*libcuda\.so.* => //p'); do hide "$(realpath "$library")"; done
}

hide_terminals() {
    hide /dev/pts
    hide /dev/ptmx
}

# The system's, else one made here.
choose_locale() {
    local folder=$1
    words=(LC_ALL=de_DE.UTF-8)
    if ! locale -a 2>/dev/null | grep -qi '^de_DE\.utf-\?8$'; then
        localedef -i de_DE -f UTF-8 "$folder/de_DE.UTF-8" >/dev/null 2>&1 || {
            echo "bare.sh: there is no locale de_DE.UTF-8, and localedef makes none"
            words=()
            return 0
        }
        words+=(LOCPATH="$folder")
    fi
}

if [ "${1:-}" = --inside ]; then
    folder=$2
    shift 2
    hide_cuda
    hide_terminals
    ! command -v ptxas || { echo "bare.sh: ptxas is still there"; exit 1; }
    choose_locale "$folder"
    exec env "${words[@]}" "$@"
fi

own=-m # as root; others become root of what they may mount
unshare $own mount -t tmpfs none /mnt 2>/dev/null || own=-rm
unshare $own mount -t tmpfs none /mnt 2>/dev/null || { echo "unshare(1) lets nobody have mounts of his own here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unshare $own bash "$0" --inside "$folder" "$@"
