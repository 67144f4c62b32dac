#!/usr/bin/env bash
# Builds the wheel from the development build's objects: scripts/wheel.sh TARGET_FOLDER
#
# HEADWAY_TESTS and HEADWAY_PYTHON_DIR stay as the development build has them, so that nothing is compiled twice. TESTS=OFF, for a clone that
# makes wheels alone, builds no tests.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly tests=${TESTS:-ON}
scripts/configure.sh build -DHEADWAY_TESTS="$tests"
PATH="$PWD/.venv/bin:$PATH" CMAKE_BUILD_PARALLEL_LEVEL=$(scripts/jobs.sh) \
  .venv/bin/python -m pip wheel . --quiet --no-deps --no-build-isolation --no-index --wheel-dir "$1" \
  --config-settings=build-dir=build \
  --config-settings=cmake.define.HEADWAY_TESTS="$tests" \
  --config-settings=cmake.define.Python_EXECUTABLE="$PWD/.venv/bin/python"
ls "$1"/headway-*.whl
