#!/usr/bin/env bash
# deb.sh: of PACKAGE/deb, which `make install` filled, writes PACKAGE/tilec_VERSION_ARCH.deb. `make deb` calls it.
set -euo pipefail
root=$PACKAGE/deb
arch=$(dpkg --print-architecture)

find "$root/usr/share/man" -type f -exec gzip -9n {} +
install -D -m 644 LICENSE "$root/usr/share/doc/tilec/copyright"
install -D -m 644 README.md SECURITY.md -t "$root/usr/share/doc/tilec"
find "$root" -type d -exec chmod 755 {} +
strip --strip-unneeded "$root"/usr/lib/*.so.0
strip --strip-debug "$root"/usr/lib/*.a
# The libc whose symbols the programs ask for.
libc=$(objdump -T "$root/usr/bin/tilec" "$root"/usr/lib/*.so.0 | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)

mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: tilec
Version: $VERSION
Architecture: $arch
Section: devel
Priority: optional
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: libc6 (>= ${libc#GLIBC_})
Recommends: gcc | c-compiler, libc6-dev
Suggests: cmake, pkg-config
Maintainer: the authors of tilec <tilec@localhost>
Description: compiler of GPU tile kernels to objects and C headers
 tilec compiles kernels in the syntax of Tilus, TileLang and Warp ahead of time.
 Programs that link the objects need a CUDA driver alone, or the emulator, which
 runs kernels on the CPU and finds races and accesses out of bounds.
END
printf 'activate-noawait ldconfig\n' >"$root/DEBIAN/triggers"
dpkg-deb -Z"${DEB_COMPRESSION:-xz}" --root-owner-group --build "$root" "$PACKAGE/tilec_${VERSION}_$arch.deb" >/dev/null
