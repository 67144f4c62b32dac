#!/usr/bin/env bash
# The development build: C++ objects and tests in build/, the Python module and the guard program in python/headway/.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/configure.sh build -DHEADWAY_TESTS=ON
.venv/bin/cmake --build build --parallel "$(scripts/jobs.sh)"
