#!/usr/bin/env bash
# Installs what the heavy tests of the dashboard's page need: Debian's chromium, and what drives it, into .venv. Without chromium these
# tests are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/bootstrap.sh browser
if command -v chromium >/dev/null; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo -n); fi
if command -v apt-get >/dev/null && "${as_root[@]}" true 2>/dev/null; then
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-liberation </dev/null >&2 || true
fi
command -v chromium >/dev/null || echo "chromium is not installed: tests of the dashboard's page will be skipped"
