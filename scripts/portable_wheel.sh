#!/usr/bin/env bash
# Builds the wheel for other machines, those with glibc 2.28 or newer: scripts/portable_wheel.sh TARGET_FOLDER
#
# It is scripts/wheel.sh's, with its programs and libraries linked once more (cmake/headway_old_glibc.cmake). auditwheel names it, and
# fails if something in it needs a newer system.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly target=$1 work=$PWD/build/portable-wheel
readonly python=.venv/bin/python
readonly tag=manylinux_2_28_$(uname -m)
rm -rf "$work"
mkdir -p "$work" "$target"

scripts/old_glibc.sh "$PWD/build/old-glibc"
scripts/wheel.sh "$work/native"
.venv/bin/cmake --log-level=WARNING -S . -B build -DHEADWAY_OLD_GLIBC="$PWD/build/old-glibc" >/dev/null
$python scripts/progress.py linking .venv/bin/ninja -C build -j "$(scripts/jobs.sh)" portable

unpack() {
  $python -m wheel unpack --dest "$2" "$1" >/dev/null
  echo "$2"/headway-*
}

# libheadway.so is not auditwheel's: only C++ programs load it, and these bring the libstdc++ of their compiler, GCC 12 or newer.
readonly cpp_library=headway/lib/libheadway.so
contents=$(unpack "$(echo "$work"/native/headway-*.whl)" "$work/unpacked")
# CMake leaves a file alone that is as old as its own.
rm "$contents"/headway/{_core*.so,bin/headway-*,lib/libheadway*.so}
.venv/bin/cmake --install build --component portable --strip --prefix "$contents" >/dev/null
mv "$contents/$cpp_library" "$work/"
$python -m wheel pack --dest-dir "$work" "$contents" >/dev/null
# Arrow is the pyarrow package's.
PATH="$PWD/.venv/bin:$PATH" $python -m auditwheel repair --plat "$tag" --only-plat --wheel-dir "$work/audited" \
  --exclude 'libarrow*' --exclude 'libparquet*' "$work"/headway-*.whl 2>"$work/auditwheel.log" || {
  cat "$work/auditwheel.log" >&2
  exit 1
}
contents=$(unpack "$(echo "$work"/audited/headway-*.whl)" "$work/whole")
mv "$work/libheadway.so" "$contents/$cpp_library"
$python -m wheel pack --dest-dir "$target" "$contents" >/dev/null
ls -s --block-size=M "$target"/headway-*"$tag".whl
