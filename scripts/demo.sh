#!/usr/bin/env bash
# The example on real data. It installs and builds what the example needs and nothing else; `make test` builds the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

build() {
  scripts/build.sh _core headway_guard
}

# While compilers run, what the example needs beside them is installed. The first import compiles a package's modules.
build_and_install() {
  local built=0 installed=0
  set -m # The installation gets a process group, so that all of it can be ended.
  {
    scripts/bootstrap.sh runtime torch demo && .venv/bin/python -c 'import torch, sklearn.datasets'
  } &
  set +m
  local installing=$!
  trap "kill -- -$installing 2>/dev/null || true" EXIT
  build || built=$?
  wait "$installing" || installed=$?
  trap - EXIT
  return "$((built != 0 ? built : installed))"
}

step "install into .venv what the build needs" scripts/bootstrap.sh build
step "build the Python module and the guard program, and install what the example needs" build_and_install
step "train on two workers, then lose one" .venv/bin/python examples/digits.py
print_steps
