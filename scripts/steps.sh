# Steps of a script, each with its time: step NAME command... stops the script when the command fails; print_steps at the end.
# Sourced by bash scripts with `set -euo pipefail`.

steps_taken=()

step() {
  local name=$1 started=$SECONDS status=0
  shift
  printf '\n=== %s\n' "$name"
  "$@" || status=$?
  steps_taken+=("$name: $((SECONDS - started)) s")
  if [ "$status" -ne 0 ]; then
    echo "failed: $name (exit status $status)" >&2
    exit "$status"
  fi
}

print_steps() {
  printf '\n=== Elapsed\n'
  printf '%s\n' "${steps_taken[@]}" "all: $SECONDS s"
}
