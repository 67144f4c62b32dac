"""What ``--only frameworks`` and ``--only launchers`` measure."""

from __future__ import annotations

from measurements import Line, Measurement, Medians, at_most

FRAMEWORKS = {"lightning": "Lightning", "transformers": "Transformers", "xgboost": "XGBoost", "lightgbm": "LightGBM"}
# Steps (of boosting: rounds) that take some seconds on an idle machine.
STEPS = {"lightning": 300, "transformers": 200, "xgboost": 200, "lightgbm": 200}


def quicker_than_ray(times: float):
    """A promise about Headway's figure and Ray's; unkept when there is no figure of Ray's."""
    return lambda medians: medians["headway"] * times <= medians["ray"] < float("inf")


def at_the_limit(medians: Medians) -> bool:
    """No start is shorter than that of one rank alone, which imports the framework and makes a
    step.
    """
    return quicker_than_ray(6)(medians) or medians["headway"] <= 1.1 * medians["alone"]


def as_quick_as_alone(medians: Medians) -> bool:
    return medians["headway"] <= 1.01 * min(medians["alone"], medians["torchrun"])


def starts() -> list[Measurement]:
    """Start and recovery with each framework."""
    return [
        Measurement(
            f"start-{framework}",
            {
                "headway": ["framework_start.py", "headway", framework],
                "alone": ["framework_alone.py", framework],
                "ray": ["framework_start.py", "ray", framework],
            },
            [
                Line(
                    f"{title}: process start → first step; alone: one rank",
                    "first_step_s",
                    "≤ Ray / 6 or 1.1 × alone",
                    at_the_limit,
                ),
                Line(f"{title}: SIGKILL → last rank steps", "recovery_s", "≤ Ray / 30", quicker_than_ray(30)),
            ],
            repeats=3,
            group="frameworks",
            timeout_s=600,
        )
        for framework, title in FRAMEWORKS.items()
    ]


def launchers() -> list[Measurement]:
    """Training time beside the framework's own launcher."""
    return [
        Measurement(
            f"launcher-{framework}",
            {
                library: ["launchers.py", "alone" if library == "torchrun" else library, framework, str(steps)]
                for library in ("headway", "torchrun" if framework == "transformers" else "alone", "ray")
            },
            [
                Line(
                    f"{FRAMEWORKS[framework]}: {steps} steps in mid-training",
                    "training_s",
                    "≤ 1.01 × alone",
                    as_quick_as_alone,
                    interval=True,
                )
            ],
            repeats=8,
            group="launchers",
            timeout_s=600,
        )
        for framework, steps in STEPS.items()
    ]


def together() -> Measurement:
    """Training beside the framework's own launcher at the same time, where turns differ by more
    than what is promised.
    """
    framework, steps = "transformers", 400
    return Measurement(
        f"launcher-{framework}-together",
        {"headway": ["launchers_together.py", framework, str(steps)]},
        [
            Line(
                f"{FRAMEWORKS[framework]}: CPU time of {steps} steps / alone, both at the same time",
                "cpu_ratio",
                "≤ 1.01 × alone",
                at_most(1.01),
                "x",
            )
        ],
        repeats=8,
        group="launchers",
        timeout_s=600,
    )


FRAMEWORK_MEASUREMENTS = [*starts(), *launchers(), together()]
