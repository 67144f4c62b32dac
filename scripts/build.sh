#!/usr/bin/env bash
# The development build: scripts/build.sh [target...]. C++ objects and tests go to build/, the Python module and the guard program to
# python/headway/. Without targets it builds everything that is tested; what was built before is not compiled again.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/configure.sh build -DHEADWAY_TESTS=ON
exec .venv/bin/python scripts/progress.py compiling \
  .venv/bin/ninja -C build -j "$(scripts/jobs.sh)" "$@"
