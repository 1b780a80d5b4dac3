#!/usr/bin/env bash
# Builds the C library and installs it:
#   crates/lowtide-ffi/install.sh [PREFIX]      (default /usr/local; DESTDIR is honoured)
# PROFILE=dev builds without optimisation. LOWTIDE_TARGET=x86_64-unknown-linux-gnu.2.17 builds with cargo-zigbuild for such a
# system, here one with glibc 2.17 or later.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
prefix="${1:-/usr/local}"
case "$prefix" in /*) ;; *) prefix="$PWD/$prefix" ;; esac
root="${DESTDIR:-}$prefix"
profile="${PROFILE:-release}"

cd "$here/../.."
built="${CARGO_TARGET_DIR:-target}"
build=(cargo build)
if [ -n "${LOWTIDE_TARGET:-}" ]; then
  build=(cargo zigbuild --target "$LOWTIDE_TARGET")
  built="$built/${LOWTIDE_TARGET%%.*}"
fi
"${build[@]}" --locked --quiet -p lowtide-ffi --profile "$profile"
case "$profile" in dev) built="$built/debug" ;; *) built="$built/$profile" ;; esac

version="$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
# As in build.rs: before 1.0 the minor version is part of the ABI.
case "$version" in 0.*) abi="${version%.*}" ;; *) abi="${version%%.*}" ;; esac

mkdir -p "$root/lib/pkgconfig" "$root/lib/cmake/lowtide" "$root/include"
install -m 644 "$here"/include/* "$root/include/"
install -m 644 "$built/liblowtide_ffi.a" "$root/lib/liblowtide.a"
# The shared library's names are Linux's; elsewhere the static one is all.
if [ -f "$built/liblowtide_ffi.so" ]; then
  install -m 755 "$built/liblowtide_ffi.so" "$root/lib/liblowtide.so.$version"
  ln -sf "liblowtide.so.$version" "$root/lib/liblowtide.so.$abi"
  ln -sf "liblowtide.so.$abi" "$root/lib/liblowtide.so"
fi
sed "s|@VERSION@|$version|" "$here/lowtide.pc.in" > "$root/lib/pkgconfig/lowtide.pc"
for file in lowtideConfig lowtideConfigVersion; do
  sed -e "s|@VERSION@|$version|" -e "s|@ABI@|$abi|" "$here/cmake/$file.cmake.in" > "$root/lib/cmake/lowtide/$file.cmake"
done
echo "lowtide $version installed in $root"
