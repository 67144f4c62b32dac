#!/usr/bin/env bash
# Installs what the heavy tests of remote storage serve it with into .venv: a Google Cloud Storage emulator, and the S3 server s3rver,
# which needs npm. Without npm the tests against s3rver are skipped, and say so.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly s3rver=3.7.1
readonly folder=.venv/s3rver

scripts/bootstrap.sh storage_servers
if ! command -v npm >/dev/null; then
  echo "npm is not installed: tests against s3rver will be skipped"
elif ! grep -qs "\"version\": \"$s3rver\"" "$folder/node_modules/s3rver/package.json"; then
  npm install --prefix "$folder" --no-audit --no-fund --ignore-scripts --loglevel error "s3rver@$s3rver"
fi
