"""Headway, torchrun and Ray in turn, on this machine, in one table: ``make bench``, or
``scripts/bench.sh --quick``.

Each measurement is repeated; the turns alternate, so that a machine that gets busier slows all of
them alike. Shown are the median and, in brackets, the smallest and the largest.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import table
from data_measurements import DATA_MEASUREMENTS, GPU_MEASUREMENTS
from execution import ProgramFailedError, data_folder, run_program
from framework_measurements import FRAMEWORK_MEASUREMENTS
from measurements import MEASUREMENTS, RAY_REPEATS_MAX, Measurement
from reference_measurements import REFERENCE_MEASUREMENTS
from tune_measurements import TUNE_MEASUREMENTS

ROOT = Path(__file__).resolve().parent.parent
ALL = list(
    itertools.chain(
        MEASUREMENTS,
        FRAMEWORK_MEASUREMENTS,
        REFERENCE_MEASUREMENTS,
        DATA_MEASUREMENTS,
        GPU_MEASUREMENTS,
        TUNE_MEASUREMENTS,
    )
)


def parse_arguments() -> argparse.Namespace:
    groups = list(dict.fromkeys(measurement.group for measurement in ALL if measurement.group))
    names = [*(measurement.name for measurement in ALL), *groups]
    parser = argparse.ArgumentParser(prog="scripts/bench.sh", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two turns of each instead of 3 to 10")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help=f"one of: {', '.join(names)}")
    parser.add_argument("--size", type=float, default=1, help="of the data of the groups' measurements: 1 is all")
    parser.add_argument("--no-ray", action="store_true", help="without Ray, which is then not installed either")
    parser.add_argument("--storage", type=Path, default=ROOT / "build" / "bench", help="where runs and checkpoints go")
    options = parser.parse_args()
    options.storage = options.storage.absolute()  # Ray takes no other.
    return options


def measure(measurement: Measurement, options: argparse.Namespace) -> table.Results:
    repeats = min(2, measurement.repeats) if options.quick else measurement.repeats
    results: table.Results = {library: [] for library in measurement.programs}
    for turn in range(repeats):
        # Forth and back, so that none always runs after the same other.
        for library in list(results)[:: -1 if turn % 2 else 1]:
            if library == "ray" and (options.no_ray or turn >= RAY_REPEATS_MAX):
                continue
            if result := run_once(measurement, library, options):
                results[library].append(result)
    return results


def run_once(measurement: Measurement, library: str, options: argparse.Namespace) -> dict[str, Any] | None:
    # These have separate environments.
    python = str(ROOT / f".venv-{library}/bin/python") if library in ("ray", "mosaicml") else sys.executable
    try:
        result = run_program(
            library, measurement.programs[library], python, options.storage, options.size, measurement.timeout_s
        )
    except ProgramFailedError as error:
        print(f"{measurement.name}, {library}: {error}", file=sys.stderr)
        return None
    if "stepped_at" in result:
        result["first_end_s"] = result["ended_at"] - result["stepped_at"]
    figures = ", ".join(f"{key} {value:.4g}" for key, value in result.items() if is_figure(key, value))
    print(f"{measurement.name}, {library}: {figures}", file=sys.stderr, flush=True)
    return result


def is_figure(key: str, value: object) -> bool:
    return isinstance(value, float) and not key.endswith("_at")


def notes_of(measurement: Measurement, results: table.Results) -> list[str]:
    notes = [
        f"{text}: {table.show([run[key] for run in results[library]], 'ms')}"
        for library, key, text in measurement.notes
        if results[library]
    ]
    threads = {library: runs[0]["threads"] for library, runs in results.items() if runs and "threads" in runs[0]}
    if threads and (measurement.group or measurement.name.endswith("torch")):
        said = ", ".join(f"{library} {variable} and {used or '–'}" for library, (variable, used) in threads.items())
        where = f"{measurement.name}: " if measurement.group else ""
        notes.append(f"{where}OMP_NUM_THREADS in a worker, and the threads that torch uses: {said}")
    return notes


def machine() -> str:
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    ray = (ROOT / "requirements/ray.txt").read_text().split("==")[-1].strip()
    return (
        f"{os.cpu_count()} CPUs, {memory_gib:.0f} GiB, Linux {platform.release()}, Python {platform.python_version()}, "
        f"torch {version('torch')}, Ray {ray}; load before the start {load:.1f}"
    )


def is_chosen(measurement: Measurement, only: list[str] | None) -> bool:
    if not only:
        return not measurement.group
    return measurement.name in only or measurement.group in only


def main() -> None:
    options = parse_arguments()
    tables: dict[str, list[list[str]]] = {}
    notes, incomplete = [machine()], []
    if options.size != 1:
        notes.append(f"--size {options.size}: data and steps are this part of what the rows name")
    try:
        for measurement in (each for each in ALL if is_chosen(each, options.only)):
            results = measure(measurement, options)
            wanted = [library for library in results if library != "ray" or not options.no_ray]
            incomplete += [f"{measurement.name} of {library}" for library in wanted if not results[library]]
            if results["headway"]:
                tables.setdefault(measurement.group, []).extend(table.rows_of(measurement, results))
                notes += notes_of(measurement, results)
    finally:
        shutil.rmtree(data_folder(options.storage), ignore_errors=True)
    notes.append(f"load at the end {os.getloadavg()[0]:.1f}")
    for group, rows in tables.items():
        print("\n" + table.markdown(rows, "alone" if group else "torchrun"))
    print("\n" + "\n".join(f"- {note}" for note in notes))
    if incomplete:
        sys.exit(f"no result (the reasons are above): {', '.join(incomplete)}")


if __name__ == "__main__":
    main()
