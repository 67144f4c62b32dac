#!/usr/bin/env bash
# Builds Horovod for the PyTorch of .venv and installs it there: make horovod. Ten minutes of one core; JOBS says how many compilers.
#
# Horovod's newest release asks for C++14 and PyTorch's headers for C++20: the lines that name the standard are changed.
# The wheel stays in .wheels/, which `make clean` leaves, and serves every later environment with the same Python and PyTorch.
# VENV names another environment, WHEELS another folder.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=$(realpath "${VENV:-.venv}")
readonly wheels=$(realpath -m "${WHEELS:-.wheels}")
readonly python=$venv/bin/python
readonly requirement=$(grep '^horovod==' requirements/horovod.txt)
# PyTorch's version becomes a part of the wheel's: "2.13.0+cpu" as "torch2.13.0.cpu".
readonly torch=torch$("$python" -c 'from importlib.metadata import version; print(version("torch").replace("+", "."))')
readonly tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')

# Prints the wheel's path; nothing when it has not been built.
wheel() {
  find "$wheels" -name "horovod-${requirement#horovod==}+$torch-$tag-*.whl" 2>/dev/null | head -n 1
}

# changed FILE FROM TO: fails where the text is not in the file, as in another release.
changed() {
  grep -q "$2" "$1" || { echo "error: $1 of $requirement has no line with \"$2\"" >&2 && exit 1; }
  sed -i "s/$2/$3/" "$1"
}

build() {
  local work source
  work=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  # Its setup.py imports these, and a new environment of Python 3.11 has a setuptools that makes no wheels by itself.
  "$python" -m pip install --disable-pip-version-check --quiet "setuptools>=70.1" packaging
  "$python" -m pip download --disable-pip-version-check --quiet --no-deps --no-binary :all: --no-build-isolation \
    --dest "$work" "$requirement"
  tar -xzf "$work"/horovod-*.tar.gz -C "$work"
  source=$work/${requirement/==/-}
  changed "$source/CMakeLists.txt" 'CMAKE_CXX_STANDARD 14' 'CMAKE_CXX_STANDARD 20'
  changed "$source/horovod/torch/CMakeLists.txt" 'CMAKE_CXX_STANDARD 14' 'CMAKE_CXX_STANDARD 20'
  # Without debug symbols the library has a tenth of the size.
  changed "$source/setup.py" "'RelWithDebInfo'" "'Release'"
  # The Gloo in it names a CMake that version 4 no longer follows.
  HOROVOD_WITH_PYTORCH=1 HOROVOD_WITH_GLOO=1 HOROVOD_WITHOUT_TENSORFLOW=1 HOROVOD_WITHOUT_MXNET=1 HOROVOD_WITHOUT_MPI=1 \
    HOROVOD_LOCAL_VERSION=$torch HOROVOD_CMAKE=$venv/bin/cmake CMAKE_POLICY_VERSION_MINIMUM=3.5 \
    MAKEFLAGS=-j$(scripts/jobs.sh) TMPDIR=$work \
    "$python" scripts/progress.py "building Horovod" \
    "$python" -m pip wheel --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/wheel" "$source"
  mkdir -p "$wheels"
  mv "$work"/wheel/*.whl "$wheels/"
}

if [ -z "$(wheel)" ]; then build; fi
"$python" -m pip install --disable-pip-version-check --quiet "$(wheel)"
echo "Horovod is installed: $(wheel)"
