#!/usr/bin/env bash
# Builds picoquic, as crates.io's picoquic-sys 0.1.0 carries it, and transfer.c with Lowtide's C library; then
# moves 20 MB over loopback, and where LOWTIDE_BIN names the command 10 MB over an emulated link, with each of
# the controllers: run.sh [CONTROLLER]... (ebb; 'picoquic' is its own). Fails where a byte is wrong.
# Needs cargo, a C compiler, cmake and OpenSSL's headers (Debian: libssl-dev pkg-config).
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in cargo cc cmake pkg-config; do
  command -v "$tool" >/dev/null || { echo "skipped: picoquic needs $tool"; exit 0; }
done
pkg-config --exists openssl || { echo "skipped: picoquic needs OpenSSL's headers"; exit 0; }
here="$PWD/examples/picoquic"
built="$PWD/target/picoquic"
mkdir -p "$built/source"

# The crate's sources lie where cargo keeps those of dependencies. Nothing of it is built by cargo.
cat > "$built/source/Cargo.toml" <<'END'
[package]
name = "source"
version = "0.0.0"
[lib]
path = "/dev/null"
[dependencies]
picoquic-sys = "=0.1.0"
[workspace]
END
(cd "$built/source" && cargo fetch --quiet) || { echo "skipped: picoquic-sys cannot be fetched"; exit 0; }
crate="$(cargo metadata --offline --format-version 1 --manifest-path "$built/source/Cargo.toml" |
  grep -o '"[^"]*/picoquic-sys-0.1.0/Cargo.toml"' | head -1 | tr -d '"')"
source="${crate%/Cargo.toml}/src"

# -w: deprecations of OpenSSL 3, and what compilers have learnt to warn of since 2018.
make() {
  cmake -S "$source/$1" -B "$built/$1" -DCMAKE_C_FLAGS=-w -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DCMAKE_LIBRARY_PATH="$built/picotls" -DPICOTLS_INCLUDE_DIR="$source/picotls/include" >"$built/$1.log" 2>&1 &&
    cmake --build "$built/$1" --parallel "$(nproc)" --target "${@:2}" >>"$built/$1.log" 2>&1 ||
    { tail -20 "$built/$1.log"; exit 1; }
}
make picotls picotls-core picotls-minicrypto picotls-openssl
make picoquic picoquic-core

PROFILE="${PROFILE:-dev}" crates/lowtide-ffi/install.sh "$built/lowtide" >/dev/null
export PKG_CONFIG_PATH="$built/lowtide/lib/pkgconfig"
# shellcheck disable=SC2046
cc -std=gnu11 -O2 -g -Wall -Wextra -Werror ${LOWTIDE_CFLAGS:-} -isystem "$source/picoquic/picoquic" \
  "$here/transfer.c" "$here/lowtide_picoquic.c" "$built/picoquic/libpicoquic-core.a" \
  "$built/picotls/libpicotls-openssl.a" "$built/picotls/libpicotls-core.a" \
  $(pkg-config --cflags --libs openssl) $(pkg-config --cflags lowtide) "$built/lowtide/lib/liblowtide.a" \
  $(pkg-config --libs --static lowtide | tr ' ' '\n' | grep -v lowtide) -o "$built/transfer"

[ $# -gt 0 ] || set -- ebb
ended=()
trap 'kill "${ended[@]}" 2>/dev/null || true' EXIT
port=$((20000 + RANDOM % 20000))
# transfer BYTES PORT CONTROLLER: a server at `port`, a client that goes to PORT.
transfer() {
  "$built/transfer" serve "$port" "$source/picoquic/certs/cert.pem" "$source/picoquic/certs/key.pem" "$3" \
    >"$built/served.txt" &
  local server=$!
  ended+=("$server")
  sleep 0.2
  "$built/transfer" fetch 127.0.0.1 "$2" "$1"
  wait "$server"
  tail -3 "$built/served.txt"
  port=$((port + 1))
}
for controller; do
  echo "== loopback, $controller"
  transfer 20000000 "$port" "$controller"
  grep -q cwnd "$built/served.txt"
done
[ -n "${LOWTIDE_BIN:-}" ] || exit 0
for controller; do
  echo "== 20 Mbit/s, 40 ms, a queue of 4 BDP, $controller"
  "$LOWTIDE_BIN" link --rate 20mbit --rtt 40ms --buffer 4bdp \
    --udp "127.0.0.1:$((port + 1000)),127.0.0.1:$port" >"$built/link.txt" 2>&1 &
  link=$!
  ended+=("$link")
  sleep 1
  transfer 10000000 "$((port + 1000))" "$controller"
  kill -INT "$link"
  wait "$link" || true
  grep -A1 down "$built/link.txt"
done
