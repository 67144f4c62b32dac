"""What the bench programs share: a library got by its name, a run with it, notes of times, the
result at the end.

A program is run by ``run.py``, which sets ``BENCH_STARTED`` (the time it was started) and
``BENCH_FOLDER`` (a separate folder, deleted afterwards). Times are those of ``time.time()``, so
that processes can be compared.
"""

from __future__ import annotations

import importlib
import json
import os
import time
from pathlib import Path
from typing import Any

WORKERS = 2
TRAINERS = {
    "torch": "TorchTrainer",
    "tensorflow": "TensorflowTrainer",
    "xgboost": "XGBoostTrainer",
    "lightgbm": "LightGBMTrainer",
}
MARK = "BENCH RESULT "


def write_file(path: str | Path, megabytes: int) -> None:
    """A file of random bytes, as a checkpoint's are."""
    block = os.urandom(1 << 20)
    with open(path, "wb") as file:
        for _ in range(megabytes):
            file.write(block)


def train_module(library: str) -> Any:
    """``headway.train`` or ``ray.train``, which have the same names in them."""
    return importlib.import_module(f"{library}.train")


def trainer_class(library: str, kind: str) -> Any:
    """The trainer for ``kind``: that of a framework, or ``"plain"`` workers without one."""
    if kind != "plain":
        return getattr(importlib.import_module(f"{library}.train.{kind}"), TRAINERS[kind])
    modules = {"headway": "headway.train", "ray": "ray.train.v2.api.data_parallel_trainer"}
    return importlib.import_module(modules[library]).DataParallelTrainer


def fit(
    library: str,
    kind: str,
    loop: Any,
    config: dict[str, Any],
    folder: Path,
    *,
    workers: int = WORKERS,
    placement_strategy: str = "PACK",
    use_gpu: bool = False,
    datasets: dict[str, Any] | None = None,
    **run_settings: Any,
) -> None:
    """One run of ``loop``; its configuration has the library's name and the folder beside what is
    given.
    """
    train = train_module(library)
    folder.mkdir(parents=True, exist_ok=True)
    trainer_class(library, kind)(
        loop,
        train_loop_config={**config, "library": library, "kind": kind, "folder": str(folder)},
        scaling_config=train.ScalingConfig(num_workers=workers, placement_strategy=placement_strategy, use_gpu=use_gpu),
        run_config=train.RunConfig(storage_path=str(folder), name="run", **run_settings),
        **({"datasets": datasets} if datasets else {}),
    ).fit()


def data_module(library: str) -> Any:
    """``headway.data`` or ``ray.data``."""
    if library == "ray":
        # On two CPUs that both belong to workers, Ray's reading would wait for ever.
        importlib.import_module("ray").init(num_cpus=6)
    return importlib.import_module(f"{library}.data")


def size() -> float:
    """How much of the data is used: 1 is all, see ``--size``."""
    return float(os.environ["BENCH_SIZE"])


def data_folder() -> Path:
    """What the programs of one run of the benchmarks share."""
    return Path(os.environ["BENCH_DATA"])


def folder() -> Path:
    """This program's own folder."""
    return Path(os.environ["BENCH_FOLDER"])


def since_start_s(moment: float) -> float:
    """Seconds from the start of this program's process, its interpreter's start included."""
    return moment - float(os.environ["BENCH_STARTED"])


def note(config: dict[str, Any], name: str, value: Any = None) -> None:
    """Leaves a value (default: the time now) for the program in the run's folder; whole, though the
    rank may be killed meanwhile.
    """
    written = Path(config["folder"], f"{name}.{os.getpid()}")
    written.write_text(json.dumps(time.time() if value is None else value))
    written.replace(written.with_name(f"{name}.note"))


def noted(where: Path, pattern: str = "*") -> list[Any]:
    """What the ranks have left."""
    return [json.loads(file.read_text()) for file in sorted(where.glob(f"{pattern}.note"))]


def finish(**figures: Any) -> None:
    """Prints the result, for ``run.py``."""
    print("\n" + MARK + json.dumps(figures), flush=True)
