#!/usr/bin/env bash
# Configures a build folder with the cmake, ninja and Python of .venv: scripts/configure.sh FOLDER [cmake argument...]
# Does nothing when it is configured already: ninja itself runs cmake again when a CMake file changes.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
shift
if [ -e "$folder/build.ninja" ] && [ "$folder/build.ninja" -nt .venv/.installed/build.txt ]; then exit 0; fi
.venv/bin/cmake -S . -B "$folder" -G Ninja -Wno-author --log-level=WARNING \
  -DCMAKE_MAKE_PROGRAM="$PWD/.venv/bin/ninja" \
  -DPython_EXECUTABLE="$PWD/.venv/bin/python" \
  -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@"
touch "$folder/build.ninja"
