#!/usr/bin/env bash
# All tests of a tree that is built: C++ by ctest, then Python by pytest. Workers are forked in one pass and started afresh in
# the next, a few files at once. The runners' own summaries are repeated at the end and kept in build/test-summary.txt.
set -uo pipefail
cd "$(dirname "$0")/.."

readonly logs=build/test-logs
readonly summary=build/test-summary.txt
failed=0

# run HEADING LOG PATTERN command...: runs a test runner, and keeps the last line of its output that matches PATTERN.
run() {
  local heading=$1 log=$logs/$2 pattern=$3
  shift 3
  printf '\n=== %s\n' "$heading"
  "$@" 2>&1 | tee "$log"
  local status=${PIPESTATUS[0]}
  if [ "$status" -ne 0 ]; then failed=1; fi
  {
    echo "$heading"
    grep -E "$pattern" "$log" | tail -n 1 || echo "no summary; exit status $status"
  } >>"$summary"
}

pytest() {
  .venv/bin/python -m pytest --color=no "$@"
}

# Most tests wait for processes more than they compute. A file's tests stay together, as they share what it has set up.
readonly at_once=(-n "$(($(nproc) + 1))" --dist loadfile)

mkdir -p "$logs"
: >"$summary"
run "C++" cpp.log '% tests passed' \
  .venv/bin/ctest --test-dir build --output-on-failure --no-tests=error --parallel "$(nproc)"
HEADWAY_WORKER_START=fork run "Python, workers forked" python-fork.log '^=+ .* in [0-9.]+s' pytest "${at_once[@]}" tests/python
HEADWAY_WORKER_START=exec run "Python, workers started by exec" python-exec.log '^=+ .* in [0-9.]+s' pytest "${at_once[@]}" tests/python
run "Lint checks and packaging" lint-package.log '^=+ .* in [0-9.]+s' pytest "${at_once[@]}" tests/lint tests/package

printf '\n=== Summary\n'
cat "$summary"
exit "$failed"
