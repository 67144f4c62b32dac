#!/usr/bin/env bash
# Every lint check, in turn; all of them run, and the last line says which failed.
set -uo pipefail
cd "$(dirname "$0")/../.."

readonly bin=$PWD/.venv/bin
failed=()

check() {
  local name=$1
  shift
  printf '=== %s\n' "$name"
  "$@" || failed+=("$name")
}

format_cpp() {
  git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' |
    while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
    xargs -0 --no-run-if-empty "$bin/clang-format" --dry-run -Werror
}

# A second time where it was configured before: files that are new since then must be in the compile commands.
configure() {
  scripts/configure.sh build -DHEADWAY_TESTS=ON && "$bin/cmake" --log-level=WARNING -S . -B build >/dev/null
}

check "rooms" "$bin/python" scripts/lint/rooms.py
check "size" "$bin/python" scripts/lint/size.py
check "rooms in ARCHITECTURE.md" "$bin/python" scripts/lint/rooms_table.py
check "the dashboard's page" "$bin/python" scripts/lint/dashboard_page.py
check "paths in papers" "$bin/python" scripts/lint/paths.py
check "environment variables" "$bin/python" scripts/lint/variables.py
check "decisions" "$bin/python" scripts/lint/decisions.py
check "prose" "$bin/python" scripts/lint/prose.py
check "comments" "$bin/python" scripts/lint/comments.py
check "nothing detached" "$bin/python" scripts/lint/no_detached.py
check "bindings and the GIL" "$bin/python" scripts/lint/bindings.py
check "no sleep in tests" "$bin/python" scripts/lint/no_sleep.py
check "patterns in tests" "$bin/python" scripts/lint/patterns.py
check "clang-format" format_cpp
check "ruff" "$bin/ruff" check --quiet
check "ruff format" "$bin/ruff" format --check --quiet
# The oldest Python that is supported (pyproject.toml), and the newest.
check "mypy" "$bin/mypy"
check "mypy for Python 3.13" "$bin/mypy" --python-version 3.13
check "mypy of the tests" "$bin/mypy" --config-file tests/mypy.ini
if [ "${HEADWAY_LINT_CONFIGURES:-yes}" = yes ]; then check "configure" configure; fi
check "clang-tidy" "$bin/python" scripts/lint/tidy.py build

if [ ${#failed[@]} -gt 0 ]; then
  printf 'lint failed: %s (scripts/format.sh fixes formats)\n' "$(IFS=,; echo "${failed[*]}")"
  exit 1
fi
echo "lint passed"
