#!/usr/bin/env bash
# Installs Slurm's programs, which the heavy tests of the engine "slurm" start as servers of their own: slurmctld, slurmd and munged.
# Where that is not possible those tests are skipped, and say so.
set -euo pipefail

if command -v slurmctld munged sbatch >/dev/null; then exit 0; fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "Slurm is not installed (Debian: apt-get install slurm-wlm munge bc iproute2): tests of Slurm will be skipped"
  exit 0
fi
apt-get install -y -qq --no-install-recommends slurm-wlm munge bc iproute2 >/dev/null
