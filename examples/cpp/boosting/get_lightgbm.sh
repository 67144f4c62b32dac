#!/usr/bin/env bash
# LightGBM for C++, from the Python package index: headers of the source package, and the library of the wheel.
#
#   get_lightgbm.sh DIR      DIR/include/LightGBM and DIR/lib/lib_lightgbm.so
#
# $PYTHON is the Python whose pip downloads them, python3 if unset. Nothing is installed.
set -euo pipefail

readonly version=4.7.0
readonly python=${PYTHON:-python3}
target=${1:?usage: get_lightgbm.sh DIR}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fetch() { "$python" -m pip download --quiet --disable-pip-version-check --no-deps --dest "$scratch" "$@" "lightgbm==$version"; }
fetch --only-binary lightgbm
fetch --no-binary lightgbm

mkdir -p "$target/lib"
tar -xzf "$scratch/lightgbm-$version.tar.gz" -C "$target" --strip-components 1 "lightgbm-$version/include/LightGBM"
"$python" -m zipfile -e "$scratch"/lightgbm-"$version"-*.whl "$scratch/wheel"
cp "$scratch/wheel/lightgbm/lib/lib_lightgbm.so" "$target/lib/"
