"""What ``--only reference`` measures: the kinds of training that Ray Train's documentation has
figures of, at the scale of two CPUs.
"""

from __future__ import annotations

from measurements import Line, Measurement, Medians

GROUP = "reference"


def is_within(share: float):
    """A promise about Headway's figure and that of the program without either library."""
    return lambda medians: medians["headway"] <= share * min(medians["torchrun"], medians["alone"])


def anything(medians: Medians) -> bool:
    """Nothing is promised."""
    return True


def parity(framework: str, title: str, peer: str) -> Measurement:
    script = f"reference_{framework}.py"
    return Measurement(
        f"reference-{framework}",
        {library: [script, library] for library in ("headway", peer, "ray")},
        [Line(title, "training_s", "≤ 1.01 × alone", is_within(1.01), interval=True)],
        repeats=2,
        group=GROUP,
        timeout_s=600,
    )


def boosting(workers: int) -> Measurement:
    said = "1 worker" if workers == 1 else f"{workers} workers"
    return Measurement(
        f"reference-xgboost-{workers}",
        {library: ["reference_xgboost.py", library, str(workers)] for library in ("headway", "alone", "ray")},
        [
            Line(f"XGBoost, 1 GB, {said}: read and train", "total_s", "", anything),
            Line(f"XGBoost, 1 GB, {said}: train", "training_s", "≤ 1.01 × alone", is_within(1.01)),
        ],
        repeats=1,
        group=GROUP,
        timeout_s=600,
    )


REFERENCE_MEASUREMENTS = [
    Measurement(
        "reference-images",
        {library: ["reference_images.py", library] for library in ("headway", "alone", "ray")},
        [
            Line("ResNet-18 on image files: two epochs", "training_s", "", anything),
            Line("the same, images a second", "images_per_s", "", anything, ""),
        ],
        repeats=2,
        group=GROUP,
        timeout_s=600,
    ),
    parity("torch", "PyTorch, FashionMNIST's shape: two epochs", "torchrun"),
    parity("tensorflow", "TensorFlow, FashionMNIST's shape: two epochs", "alone"),
    boosting(1),
    boosting(2),
]
