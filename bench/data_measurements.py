"""What ``--only data`` measures: how fast data sets feed ranks."""

from __future__ import annotations

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
    feed("images", "JPEG, decoded and resized → 2 ranks", ["headway", "ray"], "≥ 4 × Ray", 4, 0),
]
