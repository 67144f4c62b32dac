#!/usr/bin/env bash
# The benchmarks of a tree that is built: Headway, torchrun and Ray in turn. scripts/bench.sh [--help | option...]
#
# Ray is installed into .venv-ray, unless --no-ray (or --help) is among the options.
set -euo pipefail
cd "$(dirname "$0")/.."

case " $* " in
  *" --no-ray "* | *" --help "* | *" -h "*) ;;
  *) VENV=.venv-ray scripts/bootstrap.sh ray torch ;;
esac
case " $* " in
  *" --help "* | *" -h "*) ;;
  *) .venv/bin/cmake --build build --target bench_cpp simulated_agents ;;
esac
exec .venv/bin/python bench/run.py "$@"
