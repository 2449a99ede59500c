#!/usr/bin/env bash
# fresh_root.sh [--cuda] FOLDER [COMMAND...]: by hand, as root: the README's two commands, or others, where nothing is installed. Makes
# the smallest Debian 12 of debootstrap in the folder, from this machine's package sources, copies what git has of the tree into it, and
# runs each command there without a terminal; with --cuda the machine's CUDA toolkit is seen. A folder that has a Debian is used again.
set -euo pipefail
cuda=
[ "${1:-}" = --cuda ] && { cuda=$(realpath "${CUDA_HOME:-/usr/local/cuda}"); shift; }
[ $# -gt 0 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
root=$1
shift
[ $# -gt 0 ] || set -- 'make demo' 'make test'
here=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "fresh_root.sh: only root can chroot"; exit 77; }
command -v debootstrap >/dev/null || { echo "fresh_root.sh: there is no debootstrap"; exit 77; }

# What the package manager here reads of that release first.
mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' | awk '$1 == "bookworm" || $1 == "oldstable" { print $2; exit }')
if [ ! -e "$root/etc/debian_version" ]; then
    debootstrap --variant=minbase --include=ca-certificates,make bookworm "$root" "$mirror" >"$root.log" 2>&1 || { tail -n 20 "$root.log"; exit 1; }
    rm -rf "$root/etc/apt/sources.list" "$root/etc/apt/sources.list.d"
    for path in apt/sources.list apt/sources.list.d apt/preferences.d apt/trusted.gpg.d apt/apt.conf.d apt/keyrings resolv.conf hosts; do
        [ ! -e "/etc/$path" ] || { mkdir -p "$root/etc/$(dirname "$path")" && cp -rL --remove-destination "/etc/$path" "$root/etc/$(dirname "$path")/"; }
    done
    cp -rn /usr/share/keyrings "$root/usr/share/"
    cp -rn /usr/local/share/ca-certificates "$root/usr/local/share/" 2>/dev/null && chroot "$root" update-ca-certificates >/dev/null 2>&1
fi

rm -rf "$root/tilec"
mkdir -p "$root/tilec"
git -C "$here" archive HEAD | tar -x -C "$root/tilec"

mounts=()
leave() { for path in "${mounts[@]}"; do umount -l "$path"; done; }
trap leave EXIT
mount -t proc none "$root/proc"
mounts+=("$root/proc")
if [ -n "$cuda" ]; then
    mkdir -p "$root/usr/local/cuda"
    mount --bind -o ro "$cuda" "$root/usr/local/cuda"
    mounts+=("$root/usr/local/cuda")
fi
status=0
for command in "$@"; do
    echo "== $command${cuda:+, with CUDA}"
    setsid env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} \
        ${https_proxy:+https_proxy="$https_proxy"} chroot "$root" bash -c "cd /tilec && $command" </dev/null 2>&1 | cat || status=1
done
exit $status
