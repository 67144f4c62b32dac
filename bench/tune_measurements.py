"""What ``--only tune`` measures."""

from __future__ import annotations

from measurements import Line, Measurement, Medians, at_most


def _search_is_kept(medians: Medians) -> bool:
    return medians["headway"] <= 1 and medians["headway"] * 20 <= medians["ray"] < float("inf")


def tuned(name: str, arguments: list[str], line: Line, libraries: tuple[str, ...] = ("headway", "ray")) -> Measurement:
    """A measurement of ``tune.py``."""
    return Measurement(
        f"tune-{name}",
        {library: ["tune.py", library, *arguments] for library in libraries},
        [line],
        repeats=3,
        group="tune",
    )


def _finds_more(medians: Medians) -> bool:
    return medians["headway"] <= min(1.02 * medians["ray"], 0.8 * medians["alone"])


def _is_quicker(medians: Medians) -> bool:
    return medians["headway"] <= medians["ray"] < float("inf")


def _finds_as_much(medians: Medians) -> bool:
    return medians["headway"] <= min(1.02 * medians["ray"], medians["alone"])


def quality(name: str, arguments: list[str], line: Line) -> Measurement:
    """A measurement of ``tune_quality.py``: a seed gives every turn the same figure."""
    return Measurement(
        f"tune-{name}",
        {library: ["tune_quality.py", library, *arguments] for library in ("headway", "alone", "ray")},
        # With equal decisions a target is reached after as many trials.
        [line, Line("the same: seconds", "search_s", "≤ Ray", _is_quicker)],
        repeats=1,
        group="tune",
    )


SLOT_TRIALS = {"headway": "960", "ray": "64"}
MEMORY_TRIALS = {"headway": "4000", "ray": "1000"}


TUNE_MEASUREMENTS = [
    tuned(
        "search",
        ["search", "100"],
        Line("100 trivial trials with Optuna; alone: Optuna", "trials_s", "≤ 1 s, ≤ Ray / 20", _search_is_kept),
        ("headway", "alone", "ray"),
    ),
    Measurement(
        "tune-slots",
        # A trial of Ray's takes its process more than a second of the two CPUs.
        {library: ["tune.py", library, "slots", count, "1", "16"] for library, count in SLOT_TRIALS.items()},
        [
            Line("960 trials of 1 s, 16 slots: an empty slot", "turnover_s", "≤ 24 ms", at_most(0.024), "ms"),
            Line("the same rate: 10 000 trials", "whole_s", "≤ 640 s", at_most(640)),
        ],
        repeats=3,
        group="tune",
    ),
    tuned(
        "reports",
        ["reports", "2", "5000"],
        Line(
            "Results in a second, all loggers on",
            "results_in_a_second",
            "≥ 5 000",
            lambda medians: medians["headway"] >= 5000,
            "",
        ),
    ),
    Measurement(
        "tune-memory",
        # A part of a MiB comes with the first few hundred trials, and does not grow.
        {library: ["tune.py", library, "memory", count] for library, count in MEMORY_TRIALS.items()},
        [Line("Driver's growth for a trial that has ended, KiB", "kib_a_trial", "≤ 1", at_most(1), "")],
        repeats=3,
        group="tune",
    ),
    quality(
        "table",
        ["table", "20", "30"],
        Line(
            "TPE on HPOBench, 20 seeds × 2 tables: regret; alone: random search",
            "regret",
            "≤ Ray, ≤ 0.8 × random",
            _finds_more,
            "",
        ),
    ),
    quality(
        "curves",
        ["curves", "20", "24"],
        Line(
            "ASHA over TPE, 20 seeds: loss in as many epochs; alone: random search",
            "loss",
            "≤ Ray, ≤ random",
            _finds_as_much,
            "",
        ),
    ),
    tuned(
        "exploit",
        ["exploit", "16", "6"],
        Line(
            "PBT, 16 trials with a checkpoint each second: from the verdict to the copy's first step",
            "exploit_s",
            "≤ 50 ms",
            at_most(0.05),
            "ms",
        ),
        ("headway",),
    ),
    Measurement(
        "tune-restore",
        {"headway": ["tune_restore.py", "headway", "100000", "1"]},
        [
            Line("100 000 ended trials: restored", "restore_s", "≤ 5 s", at_most(5)),
            Line("the same: the driver's memory, MiB", "driver_mib", "≤ 200", at_most(200), ""),
        ],
        repeats=2,
        group="tune",
    ),
]
