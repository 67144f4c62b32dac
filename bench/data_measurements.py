"""What ``--only data`` measures: how fast data sets feed ranks, and what that costs a training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from measurements import Line, Measurement, Medians, at_most


def _rate(medians: Medians, library: str) -> float:
    """One that was not measured keeps no promise."""
    return medians.get(library, float("inf"))


def feed(kind: str, title: str, libraries: list[str], promise: str, ray: float, scan: float) -> Measurement:
    """Rows a second have to be ``ray`` times Ray's, and ``scan`` times those of a bare scan."""

    def is_kept(medians: Medians) -> bool:
        peers = [(ray, "ray"), (scan, "alone")]
        return all(medians["headway"] >= times * _rate(medians, library) for times, library in peers if times)

    return Measurement(
        f"data-{kind}",
        {library: ["data_feed.py", library, kind] for library in libraries},
        [
            Line(f"{title}: rows a second", "rows_per_s", promise, is_kept, ""),
            Line(f"{title}: first batch", "first_batch_s", "≤ 300 ms", at_most(0.3), "ms"),
        ],
        repeats=3,
        group="data",
        timeout_s=600,
    )


def ahead_of(*peers: str, by: float = 1) -> Callable[[Medians], bool]:
    """A rate is at least ``by`` times each peer's."""
    return lambda medians: all(medians["headway"] >= by * _rate(medians, peer) for peer in peers)


def within(share: float) -> Callable[[Medians], bool]:
    """Seconds are at most ``share`` times those without the library."""
    return lambda medians: medians["headway"] <= share * medians["alone"]


def data(name: str, script: str, programs: dict[str, list[str]], line: Line, **settings: Any) -> Measurement:
    """One line; ``programs`` are the arguments by library."""
    return Measurement(
        f"data-{name}",
        {library: [script, library, *arguments] for library, arguments in programs.items()},
        [line],
        **{"repeats": 3, "group": "data", "timeout_s": 600, **settings},
    )


def tokens(name: str, title: str, programs: dict[str, list[str]], promise: str) -> Measurement:
    """Tokens a second: ahead of the programs without the library."""
    is_kept = ahead_of(*(library for library in programs if library in ("alone", "mosaicml")))
    return data(name, "data_tokens.py", programs, Line(title, "tokens_per_s", promise, is_kept, ""))


def decode(kind: str, title: str, share: float) -> Measurement:
    """Images a second and core, beside libjpeg-turbo on one core."""
    promise = f"≥ {share} × alone"
    kept = ahead_of("alone", by=share)
    line = Line(f"{title}: images a second and core", "images_per_s_and_core", promise, kept, "")
    programs = {library: [kind] for library in ("headway", "alone")}
    return data(f"decode-{kind}", "data_decode.py", programs, line, repeats=2)


def step(kind: str, title: str, repeats: int) -> Measurement:
    """A data set beside tensors in memory."""
    line = Line(title, "training_s", "≤ 1.03 × alone", within(1.03), interval=True)
    return data(f"step-{kind}", "data_step.py", {"headway": [kind], "alone": [kind]}, line, repeats=repeats)


def first_batch(kind: str, title: str, limit_s: float) -> Measurement:
    line = Line(title, "first_batch_s", f"≤ {limit_s * 1000:.0f} ms", at_most(limit_s), "ms")
    programs = {library: [kind] for library in ("headway", "alone", "ray")}
    return data(f"first-{kind}", "data_files.py", programs, line, repeats=2)


DATA_MEASUREMENTS = [
    feed("scan", "Parquet → 2 ranks", ["headway", "alone", "ray"], "≥ 0.85 × alone", 0, 0.85),
    feed(
        "function",
        "Parquet → Python function → 2 ranks",
        ["headway", "alone", "ray"],
        "≥ 25 × Ray, ≥ 0.6 × alone",
        25,
        0.6,
    ),
    feed(
        "images",
        "JPEG, decoded and resized → 2 ranks; alone: DataLoader",
        ["headway", "alone", "ray"],
        "≥ 4 × Ray, ahead of alone",
        4,
        1,
    ),
    decode("one", "JPEG decoded by one core", 0.95),
    decode("all", "JPEG decoded by all cores", 0.9),
    data(
        "shuffle",
        "data_shuffle.py",
        {"headway": [], "ray": []},
        Line(
            "Rows of 4 KB: shuffled in windows / in order",
            "ratio",
            "≥ 0.7×",
            lambda medians: medians["headway"] >= 0.7,
            "x",
        ),
        repeats=2,
    ),
    tokens(
        "tokens-parquet",
        "Tokens of Parquet → [16, 2048]; alone: DataLoader, memory map",
        {"headway": ["parquet"], "alone": ["memory-map"], "ray": ["parquet"]},
        "ahead of alone",
    ),
    tokens(
        "tokens-npy",
        "Tokens of NumPy files → [16, 2048]; alone: MosaicML Streaming",
        {"headway": ["npy"], "mosaicml": ["shards"]},
        "ahead of alone",
    ),
    data(
        "resume",
        "data_resume.py",
        {"headway": [], "ray": []},
        Line("Resume in mid-epoch: first batch, beyond a window", "beyond_window_s", "≤ 500 ms", at_most(0.5), "ms"),
        repeats=2,
        notes=[
            ("headway", "resumed_s", "resume in mid-epoch: first batch"),
            ("headway", "window_s", "the rows of a window at the rate of a whole epoch"),
            ("headway", "middle_s", "half an epoch"),
        ],
    ),
    data(
        "sort",
        "data_sort.py",
        {"headway": [], "alone": []},
        Line("Sort of 4 × the memory budget; alone: DuckDB", "sort_s", "≤ 1.2 × alone", within(1.2)),
    ),
    step("digits", "Training step with ingest, digits", 5),
    step("images", "Training step with ingest, ResNet-18 on JPEG of 224²", 3),
    first_batch("few", "Script: first batch of Parquet", 0.3),
    first_batch("many", "Script: first batch of 10 000 files", 1.0),
]


def on_gpu(name: str, kind: str, peer: str, title: str, line: Callable[[str], Line]) -> Measurement:
    """A training on one GPU. It needs torchvision."""
    programs = {"headway": ["data_gpu.py", "headway", kind], "alone": ["data_gpu.py", peer, kind]}
    shown = line(f"ResNet-50 on JPEG of 224², {title}")
    return Measurement(f"gpu-{name}", programs, [shown], repeats=2, group="gpu", timeout_s=300)


def _seconds(title: str) -> Line:
    return Line(title, "training_s", "≤ 1.03 × alone", within(1.03))


def _images(title: str) -> Line:
    return Line(title, "images_per_s", "ahead of alone", ahead_of("alone"), "")


GPU_MEASUREMENTS = [
    on_gpu("steps", "steps", "alone", "steps; alone: images in the GPU's memory", _seconds),
    on_gpu("losses", "losses", "alone", "each step's loss is read; alone: images in the GPU's memory", _seconds),
    on_gpu("loader", "steps", "loader", "images a second; alone: DataLoader", _images),
]
