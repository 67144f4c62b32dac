#!/usr/bin/env bash
# The C++ tests, which run the examples plain and recover, under AddressSanitizer with UndefinedBehaviorSanitizer, then under
# ThreadSanitizer; and under the first also the examples that need a server or libtorch, which is itself not instrumented.
set -euo pipefail
cd "$(dirname "$0")/.."

export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/scripts/tsan_suppressions.txt

# GCC 12's ThreadSanitizer can't map its shadow memory where the kernel randomises addresses widely.
fixed_addresses=()
if setarch "$(uname -m)" --addr-no-randomize true 2>/dev/null; then
  fixed_addresses=(setarch "$(uname -m)" --addr-no-randomize)
fi

# check FOLDER SANITIZERS: builds the C++ tests with them and runs them.
check() {
  printf '\n=== %s\n' "$2"
  scripts/configure.sh "$1" -DHEADWAY_TESTS=ON -DHEADWAY_PYTHON=OFF -DHEADWAY_SANITIZE="$2" \
    -DHEADWAY_PYTHON_DIR="$PWD/$1/python"
  .venv/bin/cmake --build "$1" --parallel "$(scripts/jobs.sh)"
  "${fixed_addresses[@]}" .venv/bin/ctest --test-dir "$1" --output-on-failure --no-tests=error
}

export HEADWAY_TEST_HEAVY=1  # Of the C++ examples, digits is.

# check_examples FOLDER: s3, against a server of moto's, and digits, with workers that are forked and that are started by exec.
check_examples() {
  local start
  .venv/bin/cmake --build "$1" --parallel "$(scripts/jobs.sh)" --target example_digits
  for start in fork exec; do
    HEADWAY_WORKER_START=$start HEADWAY_TEST_EXAMPLES=$PWD/$1/tests/examples \
      .venv/bin/python -m pytest tests/python/test_cpp_storage.py tests/python/test_cpp_digits.py
  done
}

check build/asan address,undefined
check_examples build/asan
check build/tsan thread
