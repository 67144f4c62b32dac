#!/usr/bin/env bash
# Wheels of the last commit for several Pythons: scripts/wheels.sh FOLDER PYTHON...
#
# Each is built in a clone (.venv and build/ belong to one Python), installed with its dependencies into a fresh environment, and
# trains there. A clone stays, so that the next time only what has changed is compiled.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$1
shift
if [ $# -eq 0 ]; then
  echo 'error: no Python is named: make wheels PYTHONS="python3.10 python3.11 python3.12 python3.13"' >&2
  exit 1
fi
mkdir -p "$target"
target=$(cd "$target" && pwd)
readonly target commit=$(git rev-parse HEAD)

build() {
  local python=$1 tree=$2
  if [ ! -e "$tree/.git" ]; then git clone --quiet --shared . "$tree"; fi
  git -C "$tree" fetch --quiet origin "$commit"
  git -C "$tree" checkout --quiet --detach "$commit"
  rm -rf "$tree/dist"
  TESTS=OFF make -C "$tree" --no-print-directory PYTHON="$python" wheel
}

try() {
  local python=$1 wheel=$2 folder
  folder=$(mktemp -d)
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
  (cd "$folder" && venv/bin/python "$OLDPWD/tests/package/trains.py" && venv/bin/headway runs results)
  rm -rf "$folder"
}

for python in "$@"; do
  version=$("$python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
  build "$python" "build/wheels/$version"
  wheel=$(echo "build/wheels/$version"/dist/headway-*.whl)
  try "$python" "$wheel"
  cp "$wheel" "$target/"
done
ls -s --block-size=M "$target"
