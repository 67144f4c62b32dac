#!/usr/bin/env bash
# The example on real data. It installs and builds what the example needs and nothing else; `make test` builds the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

step "install into .venv" scripts/bootstrap.sh build runtime torch demo
step "build the Python module and the guard program" scripts/build.sh _core headway_guard
step "train on two workers, then lose one" .venv/bin/python examples/digits.py
print_steps
