#!/usr/bin/env bash
# Prints how many compilers to run at a time: one a core, and 2 GB of memory for each. JOBS overrides it.
set -euo pipefail

memory_kb=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo)
limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || echo max)
if [ "$limit" != max ] && [ $((limit / 1024)) -lt "$memory_kb" ]; then memory_kb=$((limit / 1024)); fi

jobs=$((memory_kb / 2000000))
cores=$(nproc)
if [ "$jobs" -gt "$cores" ]; then jobs=$cores; fi
if [ "$jobs" -lt 1 ]; then jobs=1; fi
echo "${JOBS:-$jobs}"
