"""What is measured: which programs run in turn, which lines of the table come out of them, and what
is promised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Medians = dict[str, float]


@dataclass(frozen=True)
class Line:
    """A line of the table.

    Attributes:
        title: What it says first.
        key: The figure in the programs' results.
        promise: What is promised, in words; empty: nothing.
        is_kept: The same as a test of the medians by library (``headway``, ``torchrun``, ``alone``,
            ``ray``); one that is missing (``--no-ray``) is infinite.
        unit: ``s``, ``ms`` (for figures in seconds), ``x`` (a ratio) or nothing (a number).
        torchrun_key: The figure in torchrun's results, when it has another name there.
        interval: Whether the ratio to torchrun is shown with its 95 % interval, from the turns as
            pairs.
    """

    title: str
    key: str
    promise: str
    is_kept: Callable[[Medians], bool]
    unit: str = "s"
    torchrun_key: str | None = None
    interval: bool = False


@dataclass(frozen=True)
class Measurement:
    """Programs that run in turn, by library, and the lines that come out.

    Attributes:
        name: For ``--only``.
        programs: Each library's script with its arguments. ``torchrun``'s is run by torchrun;
            ``alone`` is a framework without either library.
        lines: Those of the table.
        repeats: The turns.
        notes: Figures to print beside: library, key, text.
        group: Measurements that ``--only`` names together. They run only when they are named, and
            need the frameworks of ``requirements/peers.txt``.
        timeout_s: How long a program may take.
    """

    name: str
    programs: dict[str, list[str]]
    lines: list[Line]
    repeats: int = 5
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    group: str = ""
    timeout_s: float = 900


RAY_REPEATS_MAX = 3  # Its programs take half a minute each.


def at_most(limit: float) -> Callable[[Medians], bool]:
    """A promise about Headway's figure alone."""
    return lambda medians: medians["headway"] <= limit


def _first_step_is_kept(medians: Medians) -> bool:
    return medians["headway"] <= medians["torchrun"] and medians["headway"] <= medians["ray"] / 6


def _third_of_ray(medians: Medians) -> bool:
    return medians["headway"] <= 0.3 * medians["ray"]


def _third_of_ray_or_at_its_limit(medians: Medians) -> bool:
    """Nothing that Ray's actors start can be there before they are."""
    return _third_of_ray(medians) or medians["headway"] <= 1.1 * medians["alone"]


def _second_over_slurm(medians: Medians) -> bool:
    return medians["headway"] <= 1 + medians["alone"]


MEASUREMENTS = [
    Measurement(
        "first-step-torch",
        {
            "headway": ["first_step.py", "headway", "torch"],
            "torchrun": ["first_step.py", "torchrun", "torch"],
            "ray": ["first_step.py", "ray", "torch"],
            "limit": ["import_torch.py"],
        },
        [
            Line("process start → first DDP step", "first_step_s", "≤ torchrun, ≤ Ray / 6", _first_step_is_kept),
            Line("last step → fit() returns, torch", "first_end_s", "≤ 50 ms", at_most(0.05), "ms"),
            Line("the same, second fit()", "second_end_s", "≤ 50 ms", at_most(0.05), "ms"),
            Line("second fit() → first DDP step", "second_step_s", "≤ 200 ms", at_most(0.2), "ms", "first_step_s"),
        ],
        notes=[("limit", "first_step_s", "importing torch and torch._dynamo alone, from process start")],
    ),
    Measurement(
        "first-step-plain",
        {"headway": ["first_step.py", "headway", "plain"], "ray": ["first_step.py", "ray", "plain"]},
        [
            Line("process start → first step, plain", "first_step_s", "≤ 600 ms", at_most(0.6), "ms"),
            Line("last step → fit() returns, plain", "first_end_s", "≤ 50 ms", at_most(0.05), "ms"),
        ],
    ),
    *(
        Measurement(
            f"ray-cluster-{kind}",
            {library: ["on_ray_cluster.py", library, kind] for library in ("headway", "alone", "ray")},
            [
                Line(
                    f"init at a Ray cluster → first step on 3 nodes, {kind} (alone: actors of Ray)",
                    "first_step_s",
                    "≤ 0.3 × Ray or 1.1 × alone",
                    _third_of_ray_or_at_its_limit,
                ),
                Line("the same, second fit()", "second_step_s", "≤ 0.3 × Ray", _third_of_ray),
            ],
            repeats=3,
            group="ray-cluster",
        )
        for kind in ("torch", "plain")
    ),
    Measurement(
        "slurm-cluster",
        {library: ["on_slurm_cluster.py", library] for library in ("headway", "alone")},
        [
            Line(
                "init at a Slurm cluster → first step on 3 nodes (alone: Slurm's jobs)",
                "first_step_s",
                "≤ 1 s + Slurm",
                _second_over_slurm,
            )
        ],
        repeats=3,
        group="slurm-cluster",
    ),
    *(
        Measurement(
            f"spare-node-{how}",
            {"headway": ["spare_node.py", how]},
            [
                Line(
                    f"an agent {what} → all ranks step, one on a spare node",
                    "recovery_s",
                    promise,
                    at_most(limit),
                    "ms",
                )
            ],
        )
        for how, what, promise, limit in [
            ("left", "leaves", "≤ 1 s", 1),
            ("killed", "is killed", "≤ its lease (2.2 s) + 1 s", 3.2),
        ]
    ),
    Measurement(
        "report",
        {"headway": ["report.py", "headway", "2000", "plain"], "ray": ["report.py", "ray", "5", "plain"]},
        [Line("report(metrics), median", "report_s", "≤ 0.3 ms", at_most(0.0003), "ms")],
    ),
    Measurement(
        "report-checkpoint",
        {"headway": ["report.py", "headway", "300", "checkpoint"], "ray": ["report.py", "ray", "5", "checkpoint"]},
        [Line("report with a 1 KB checkpoint, median", "report_s", "≤ 5 ms", at_most(0.005), "ms")],
        notes=[("headway", "fsync_s", "the disk's fsync of 1 KB, median")],
    ),
    Measurement(
        "dashboard",
        {"headway": ["dashboard.py", "2000", "9"]},
        [Line("report, 99th percentile: eight pages open / none", "p99_ratio", "≤ 1.05×", at_most(1.05), "x")],
        repeats=1,
        notes=[("headway", "p99_s", "report(metrics) without a dashboard, 99th percentile")],
    ),
    Measurement(
        "recovery-torch",
        {"headway": ["recovery.py", "headway", "torch"], "ray": ["recovery.py", "ray", "torch"]},
        [Line("SIGKILL → last rank steps, torch", "recovery_s", "≤ 300 ms", at_most(0.3), "ms")],
    ),
    Measurement(
        "recovery-plain",
        {"headway": ["recovery.py", "headway", "plain"], "ray": ["recovery.py", "ray", "plain"]},
        [Line("SIGKILL → last rank steps, plain", "recovery_s", "≤ 100 ms", at_most(0.1), "ms")],
    ),
    Measurement(
        "persist-copy",
        {"headway": ["persist.py", "headway", "256", "copy"], "ray": ["persist.py", "ray", "256", "copy"]},
        [Line("report of 2 × 256 MB / plain copy with fsync", "ratio", "≤ 0.9×, fsynced", at_most(0.9), "x")],
        repeats=3,
        notes=[
            ("headway", "report_s", "report of 2 × 256 MB, copied"),
            ("headway", "copy_s", "a plain copy of 512 MB with fsync"),
            ("headway", "sync_s", "an fsync alone of 512 MB that have just been written"),
        ],
    ),
    Measurement(
        "persist-move",
        {"headway": ["persist.py", "headway", "256", "move"], "ray": ["persist.py", "ray", "256", "move"]},
        [Line("files handed over / the longer of fsync and read", "ratio", "≤ 1.25×", at_most(1.25), "x")],
        repeats=3,
        notes=[
            ("headway", "report_s", "report of 2 × 256 MB, handed over"),
            ("headway", "sync_s", "beside it: an fsync of 512 MB that have just been written"),
            ("headway", "read_s", "beside it: one read of 512 MB that have just been written"),
        ],
    ),
    Measurement(
        "persist-s3",
        {"headway": ["persist_s3.py", "256"]},
        [
            Line("report of 2 × 256 MB to S3 / boto3", "to_boto3", "≤ 1.2×", at_most(1.2), "x"),
            Line("the same / pyarrow.fs.copy_files", "to_pyarrow", "≤ 1.2×", at_most(1.2), "x"),
            Line("a worker's memory beyond what it had, MiB", "grown_mib", "≤ 232", at_most(232), "x"),
        ],
        repeats=3,
        notes=[
            ("headway", "report_s", "report of 2 × 256 MB to a moto server"),
            ("headway", "pyarrow_s", "pyarrow.fs.copy_files of as much"),
            ("headway", "boto3_s", "boto3's upload_file of as much"),
        ],
    ),
    Measurement(
        "persist-memory",
        {"headway": ["persist_memory.py", "10", "512", "local"]},
        [Line("a worker's growth while 10 GB are stored, local, MiB", "grown_mib", "≤ 32", at_most(32), "x")],
        repeats=1,
        notes=[("headway", "report_s", "report of 10 GB, local")],
    ),
    Measurement(
        "persist-memory-s3",
        {"headway": ["persist_memory.py", "40", "128", "s3"]},
        [Line("the same, S3, MiB", "grown_mib", "≤ 232", at_most(232), "x")],
        repeats=1,
        notes=[("headway", "report_s", "report of 10 GB to a moto server")],
    ),
    Measurement(
        "training-time",
        {
            "headway": ["training_time.py", "headway"],
            "torchrun": ["training_time.py", "torchrun"],
            "ray": ["training_time.py", "ray"],
        },
        [
            Line(
                "DDP training, start-up not counted",
                "training_s",
                "≤ 1.01 × torchrun",
                lambda medians: medians["headway"] <= 1.01 * medians["torchrun"],
                interval=True,
            )
        ],
        repeats=10,
    ),
    *(
        Measurement(
            f"scale-{agents * workers}" if workers > 1 else f"agents-{agents}",
            {"headway": ["scale.py", str(agents), str(workers), str(reports)]},
            [
                Line(f"{title} simulated workers: start", "start_s", "", at_most(60), "ms"),
                Line(f"{title}: reports handled in a second", "reports_per_s", promise, is_kept, ""),
                Line(f"{title}: one dies → all others know", "death_s", "", at_most(60), "ms"),
                Line(f"{title}: one dies → all train again", "restart_s", "", at_most(60), "ms"),
                Line(f"{title}: the driver's memory, KiB a worker", "driver_kib", "", at_most(1e9), ""),
            ],
            repeats=3,
        )
        for agents, workers, reports, promise, is_kept in [
            (1, 10, 200, "", at_most(1e9)),
            (10, 10, 100, "", at_most(1e9)),
            (100, 10, 50, "", at_most(1e9)),
            (100, 100, 20, "≥ 50 000", lambda medians: medians["headway"] >= 50000),
            (1000, 1, 50, "", at_most(1e9)),
        ]
        for title in [f"{agents * workers}" if workers > 1 else f"{agents} agents with a worker each,"]
    ),
    Measurement(
        "cpp-first-step",
        {"headway": ["bench_cpp", "first_step"], "limit": ["bench_cpp", "load"]},
        [
            Line("C++: process start → first DDP step", "first_step_s", "≤ 700 ms", at_most(0.7), "ms"),
            Line("C++: last step → fit() returns", "first_end_s", "≤ 50 ms", at_most(0.05), "ms"),
            Line("C++: second fit() → first DDP step", "second_step_s", "≤ 200 ms", at_most(0.2), "ms"),
        ],
        notes=[("limit", "first_step_s", "C++: loading libtorch and calling one operator, from process start")],
    ),
    Measurement(
        "cpp-report",
        {"headway": ["bench_cpp", "report", "2000"]},
        [Line("C++: report(metrics), median", "report_s", "≤ 0.2 ms", at_most(0.0002), "ms")],
    ),
    Measurement(
        "cpp-recovery",
        {"headway": ["bench_cpp", "recovery"]},
        [Line("C++: SIGKILL → last rank steps", "recovery_s", "≤ 150 ms", at_most(0.15), "ms")],
    ),
    Measurement(
        "cpp-training-time",
        {"headway": ["bench_cpp", "training_time"], "python": ["training_time.py", "headway"]},
        [
            Line(
                "C++: DDP training, start-up not counted",
                "training_s",
                "≤ the Python loop",
                lambda medians: medians["headway"] <= medians["python"],
            )
        ],
        repeats=10,
        notes=[("python", "training_s", "C++: the same training from Python, in turn with it")],
    ),
]
