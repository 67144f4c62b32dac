#!/usr/bin/env bash
# Fills a folder with what a program is linked with so that it runs on glibc 2.28 and newer: scripts/old_glibc.sh FOLDER
#
# zig knows the symbols of each version of glibc and makes libraries of them that hold names and no code; the functions that older
# versions had in an archive, and the start of a program, it compiles from glibc's source.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly folder=$1 version=2.28
readonly machine=$(uname -m)
if [ -e "$folder/libc.so" ]; then exit 0; fi

rm -rf "$folder"
mkdir -p "$folder/cache"
echo 'int main() { return 0; }' >"$folder/empty.c"
ZIG_GLOBAL_CACHE_DIR="$folder/cache" ZIG_LOCAL_CACHE_DIR="$folder/cache" .venv/bin/python scripts/progress.py "reading glibc $version" \
  .venv/bin/python -m ziglang cc -target "$machine-linux-gnu.$version" -fPIE -pie "$folder/empty.c" -o "$folder/empty" -lm
for name in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 Scrt1.o libc_nonshared.a; do
  find "$folder/cache" -name "$name" -exec cp {} "$folder/" \;
done
for name in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1; do
  ln -s "$name" "$folder/${name%.so*}.so"
done
# A newer glibc has the functions of all of these in one library.
threads="AS_NEEDED ( $folder/libpthread.so.0 $folder/libdl.so.2 $folder/librt.so.1 $(ls /lib*/ld-linux-*.so.* | head -1) )"
rm -rf "$folder/cache" "$folder/empty" "$folder/empty.c"
echo "GROUP ( $folder/libc.so.6 $folder/libc_nonshared.a $threads )" >"$folder/libc.so"
