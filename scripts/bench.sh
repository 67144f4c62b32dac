#!/usr/bin/env bash
# The benchmarks of a tree that is built: Headway, torchrun and Ray in turn. scripts/bench.sh [--help | option...]
#
# Ray is installed into .venv-ray, unless --no-ray is among the options, and MosaicML Streaming into .venv-mosaicml. Measurements of frameworks need these in both environments.
set -euo pipefail
cd "$(dirname "$0")/.."

install_what_is_measured() {
  local peers=() environments=(.venv) environment
  case " $* " in
    *" --only tune "* | *" --only tune-search "* | *" --only tune-table "* | *" --only tune-curves "*) peers=(tune_peers) ;;
    *frameworks* | *launchers* | *reference* | *" data"* | *" start-"* | *" launcher-"*) peers=(peers legacy_keras) ;;
  esac
  case " $* " in
    *" --no-ray "*) ;;
    *)
      VENV=.venv-ray scripts/bootstrap.sh ray torch
      environments+=(.venv-ray)
      ;;
  esac
  case " $* " in
    *" --only data "* | *" --only data-tokens-npy "*) VENV=.venv-mosaicml scripts/bootstrap.sh mosaicml torch ;;
  esac
  # After torch: a framework would bring the wheel with CUDA.
  if [ ${#peers[@]} -gt 0 ]; then
    for environment in "${environments[@]}"; do VENV=$environment scripts/bootstrap.sh "${peers[@]}"; done
  fi
}

build_what_is_measured() {
  case " $* " in
    *" cpp-"* | *" scale-"* | *" agents-"*) ;;
    *" --only"*) return ;;
  esac
  .venv/bin/cmake --build build --target bench_cpp simulated_agents
}

case " $* " in
  *" --help "* | *" -h "*) ;;
  *)
    install_what_is_measured "$@"
    build_what_is_measured "$@"
    ;;
esac
exec .venv/bin/python bench/run.py "$@"
