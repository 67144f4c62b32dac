#!/usr/bin/env bash
# Configures a build folder with the cmake, ninja and Python of .venv: scripts/configure.sh FOLDER [cmake argument...]
# Does nothing when it is configured already, ninja itself runs cmake again when a CMake file changes; but what was installed
# into .venv since then may be looked for by a CMake file (torch is, for the C++ examples that need it).
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift

is_current() {
  local installed
  [ -e "$folder/build.ninja" ] || return 1
  for installed in .venv/.installed/*.txt; do
    if [ ! "$folder/build.ninja" -nt "$installed" ]; then return 1; fi
  done
}

if is_current; then exit 0; fi
.venv/bin/cmake -S . -B "$folder" -G Ninja -Wno-author --log-level=WARNING \
  -DCMAKE_MAKE_PROGRAM="$PWD/.venv/bin/ninja" \
  -DPython_EXECUTABLE="$PWD/.venv/bin/python" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@"
touch "$folder/build.ninja"
