#!/usr/bin/env bash
# The tests, from a fresh clone on: scripts/test.sh [all]. CONTRIBUTING.md says what `all` has beside the others.
#
# The tests of C++, lint and packaging run beside the Python tests, which wait for processes more than they compute.
# The runners' own summaries are repeated at the end and kept in build/test-summary.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/steps.sh

readonly logs=build/test-logs
readonly summary=build/test-summary.txt
readonly pytest_end='^=+ .* in [0-9.]+s'
readonly everything=$([ "${1:-}" = all ] && echo yes || true)

# summed_up HEADING LOG PATTERN STATUS: keeps the last line of a runner's output that matches PATTERN.
summed_up() {
  {
    echo "$1"
    grep -E "$3" "$logs/$2" | tail -n 1 || echo "no summary; exit status $4"
  } >>"$summary"
}

# run HEADING LOG PATTERN command...: runs a test runner and shows its output.
run() {
  local heading=$1 log=$2 pattern=$3 status=0 started=$SECONDS
  shift 3
  printf '\n=== %s\n' "$heading"
  "$@" 2>&1 | tee "$logs/$log" || status=$?
  summed_up "$heading" "$log" "$pattern" "$status"
  steps_taken+=("$heading: $((SECONDS - started)) s")
  if [ "$status" -ne 0 ]; then failed=1; fi
}

pytest() {
  .venv/bin/python -m pytest --color=no --durations=25 "$@"
}

# python_tests START argument...: tests move to the process that has none left.
python_tests() {
  local start=$1
  shift
  HEADWAY_WORKER_START=$start pytest -n "$(($(nproc) + 1))" --dist worksteal --budget "$@"
}

# files_with MARK: only these are read for a few tests, as reading all of them takes a processor 15 seconds.
files_with() {
  grep -rlE --include='test_*.py' "mark\.$1\b" tests/python | sort
}

cpp() {
  local heavy=(--label-exclude heavy)
  if [ -n "$everything" ]; then heavy=(); fi
  .venv/bin/ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)" "${heavy[@]}"
}

# in_background LOG command...: `show_beside` waits for its end and shows its output.
in_background() {
  local log=$1 status=0 started=$SECONDS
  shift
  "$@" >"$logs/$log.log" 2>&1 || status=$?
  printf '%s %s\n' "$status" "$((SECONDS - started))" >"$logs/$log.status"
}

# beside LOG command...: starts it in a process group of its own.
beside() {
  set -m
  in_background "$@" </dev/null &
  others[$1]=$!
  set +m
}

# show_beside HEADING LOG PATTERN
show_beside() {
  local heading=$1 log=$2 pattern=$3 status seconds
  wait "${others[$log]}" || failed=1
  unset "others[$log]"
  read -r status seconds <"$logs/$log.status"
  printf '\n=== %s\n' "$heading"
  cat "$logs/$log.log"
  summed_up "$heading" "$log.log" "$pattern" "$status"
  steps_taken+=("$heading: $seconds s, beside the others")
  if [ "$status" -ne 0 ]; then failed=1; fi
}

# Whatever ends the script ends the tests in the background.
end_beside() {
  local group
  for group in "${others[@]}"; do kill -- "-$group" 2>/dev/null || true; done
}

failed=0
declare -A others=()  # The process groups in the background, by their logs.

main() {
  step "install into .venv" scripts/bootstrap.sh build runtime torch demo test
  step "build" scripts/build.sh
  if [ -n "$everything" ]; then
    export HEADWAY_TEST_HEAVY=1
    step "install other frameworks into .venv" scripts/bootstrap.sh frameworks legacy_keras tables daft searchers kubernetes wheel
    step "install servers of remote storage" scripts/storage_servers.sh
    step "install Slurm" scripts/slurm_servers.sh
    step "build Kubernetes" scripts/kubernetes_servers.sh
    step "build Horovod" scripts/horovod.sh
    step "install a browser" scripts/browser.sh
    step "build what is heavy" scripts/build.sh heavy
  fi
  mkdir -p "$logs"
  rm -f "$logs"/*.status
  : >"$summary"

  trap end_beside EXIT
  beside cpp cpp
  beside lint-package pytest tests/lint tests/package
  run "Python, workers forked" python-fork.log "$pytest_end" python_tests fork tests/python
  local by_exec=(tests/python)
  if [ -z "$everything" ]; then
    mapfile -t by_exec < <(files_with both_starts)
    by_exec=(-m both_starts "${by_exec[@]}")
  fi
  run "Python, workers started by exec" python-exec.log "$pytest_end" python_tests exec "${by_exec[@]}"
  if [ -n "$everything" ]; then run "The dashboard's page in a browser" browser.log "$pytest_end" pytest tests/browser; fi
  show_beside "C++" cpp '% tests passed'
  show_beside "Lint checks and packaging" lint-package "$pytest_end"
  if [ -n "$everything" ]; then
    run "Sanitizers" sanitize.log '% tests passed' scripts/sanitize.sh
    run "Simulation of 200 000 seeds" soak.log . build/sim/headway_sim --seeds 200000 --first 1000000
  fi
  print_steps
  printf '\n=== Summary\n'
  cat "$summary"
  exit "$failed"
}

main
