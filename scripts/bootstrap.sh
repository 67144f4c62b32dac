#!/usr/bin/env bash
# Makes .venv and installs the named sets of requirements/ into it: scripts/bootstrap.sh build runtime torch demo test lint
#
# A set is installed again when its file changes: .venv/.installed keeps a copy of each file as it was installed.
# PYTHON names the interpreter to use (default: python3), CXX the compiler (default: g++), VENV the environment (default: .venv).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=${VENV:-.venv}
readonly compiler=${CXX:-g++}
readonly compiler_version_min=12
readonly packages="g++ python3-dev python3-venv"

fail() {
  printf 'error: %s\n' "$@" >&2
  exit 1
}

is_current() {
  cmp -s "requirements/$1.txt" "$venv/.installed/$1.txt"
}

# The first of $PYTHON and python3 that is new enough; nothing when none is.
find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

# One line for each thing that the system lacks; nothing when all is there.
missing_from_system() {
  local version python
  version=$("$compiler" -dumpversion 2>/dev/null || echo 0)
  if [ "${version%%.*}" -lt "$compiler_version_min" ]; then
    echo "$compiler $compiler_version_min or newer (found: ${version/#0/none})"
  fi
  python=$(find_python)
  if [ -z "$python" ]; then
    echo "Python 3.10 or newer (PYTHON=/path/to/python names another than python3)"
    return
  fi
  "$python" -c 'import ensurepip, venv' 2>/dev/null || echo "the venv module of $python"
  "$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    echo "the C headers of $python (Python.h)"
}

install_system_packages() {
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo -n); fi
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then return 0; fi
  echo "Installing $packages"
  # shellcheck disable=SC2086
  {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
  } </dev/null >&2 || true
}

check_system() {
  local missing
  missing=$(missing_from_system)
  if [ -n "$missing" ]; then
    install_system_packages
    missing=$(missing_from_system)
  fi
  if [ -n "$missing" ]; then
    fail "this machine lacks ${missing//$'\n'/, }" "to install it on Debian or Ubuntu, run: sudo apt-get install -y $packages"
  fi
}

make_environment() {
  if "$venv/bin/python" -c '' 2>/dev/null; then return 0; fi
  rm -rf "$venv"
  echo "Making $venv with $(find_python)"
  "$(find_python)" -m venv "$venv"
}

# pip_install [--attempt] WHAT argument...: prints every few seconds what pip does; all of its output only when it fails.
# Modules are compiled when they are first imported: of most packages only a part ever is.
pip_install() {
  local progress=(scripts/progress.py)
  if [ "$1" = --attempt ]; then
    progress+=("$1")
    shift
  fi
  progress+=("$1")
  shift
  "$venv/bin/python" "${progress[@]}" \
    "$venv/bin/python" -m pip install --disable-pip-version-check --no-input --no-compile --progress-bar off "$@"
}

has_gpu() {
  [ -e /dev/nvidia0 ] || { command -v nvidia-smi && nvidia-smi -L; } >/dev/null 2>&1
}

# Without a GPU the wheel without CUDA is wanted: a tenth of the size. Not every index has it.
install_torch() {
  local torch
  torch=$(grep '^torch==' requirements/torch.txt)
  if ! has_gpu; then
    pip_install --attempt "installing torch" "$torch+cpu" && return
    pip_install --attempt "installing torch" --retries 1 \
      --extra-index-url https://download.pytorch.org/whl/cpu "$torch+cpu" && return
  fi
  pip_install "installing torch" "$torch"
}

# Several sets by one call of pip, which resolves and starts once. torch comes before them: packages that need it would
# bring the one with CUDA.
install_sets() {
  local set arguments=() names=() alone=()
  for set in "$@"; do
    case $set in
      torch) install_torch ;;
      # What they ask for would come over what is there.
      legacy_keras | daft | searchers) alone+=("$set") ;;
      *) names+=("$set") && arguments+=(-r "requirements/$set.txt") ;;
    esac
  done
  if [ ${#names[@]} -gt 0 ]; then pip_install "installing requirements (${names[*]})" "${arguments[@]}"; fi
  for set in "${alone[@]}"; do pip_install "installing requirements ($set)" --no-deps -r "requirements/$set.txt"; done
  mkdir -p "$venv/.installed"
  for set in "$@"; do cp "requirements/$set.txt" "$venv/.installed/$set.txt"; done
}

# Writes standard input to a file, unless that is its content already.
write_new() {
  local content
  content=$(cat)
  if [ "$(cat "$1" 2>/dev/null)" != "$content" ]; then printf '%s\n' "$content" >"$1"; fi
}

# Makes `import headway` in .venv mean the tree's python/ folder, and writes the commands that the wheel has (pyproject.toml).
link_tree() {
  local bin command module function
  bin=$(cd "$venv/bin" && pwd)
  echo "$PWD/python" | write_new "$(echo "$venv"/lib/python3*/site-packages)/headway.pth"
  sed -n '/^\[project\.scripts\]/,/^$/s/^\([a-z-]*\) = "\(.*\):\(.*\)"$/\1 \2 \3/p' pyproject.toml |
    while read -r command module function; do
      # sh starts the interpreter: the path in a "#!" line may have no blank and no more than 127 bytes.
      printf '%s\n' '#!/bin/sh' "'''exec' \"$bin/python\" \"\$0\" \"\$@\"" "' '''" \
        "import sys" "from $module import $function" "sys.exit($function())" | write_new "$bin/$command"
      chmod +x "$bin/$command"
    done
}

main() {
  local set wanted=()
  if [ ! -e "$venv/.installed/build.txt" ]; then check_system; fi
  make_environment
  for set in "$@"; do
    is_current "$set" || wanted+=("$set")
  done
  if [ ${#wanted[@]} -gt 0 ]; then install_sets "${wanted[@]}"; fi
  link_tree
}

main "$@"
