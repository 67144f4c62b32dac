#!/usr/bin/env bash
# Formats every C++ and Python file of the tree, as `make lint` wants them.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/bootstrap.sh lint
git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' | xargs -0 .venv/bin/clang-format -i
.venv/bin/ruff check --fix --quiet || true
.venv/bin/ruff format --quiet
