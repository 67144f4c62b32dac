"""Training by parameters: what ``XGBoostTrainer`` does without a training function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from headway.train._boosting.parameters import Form, ParameterLoop, Start, data_arguments, own_shards
from headway.train._boosting.shares import threads
from headway.train.xgboost.matrix import ROLES, to_dmatrix
from headway.train.xgboost.report_callback import ReportCallback


@dataclass(frozen=True)
class XGBoostLoop(ParameterLoop):
    """Trains in each rank on its shares of the data sets."""

    @property
    def report_callback(self) -> type[ReportCallback]:
        """Of XGBoost."""
        return ReportCallback

    def rounds_of(self, model: Any) -> int:
        """The rounds in the model."""
        return int(model.num_boosted_rounds())

    def train(self, config: dict[str, Any], start: Start) -> None:
        """What is left of the rounds."""
        import xgboost

        shards = own_shards()
        matrices: dict[str, Any] = {}
        for name, data in data_arguments(config, shards, ROLES).items():
            on_disk = data.get("external_memory")
            more = {"ref": matrices["train"]} if matrices and on_disk else {}
            if on_disk and data.get("max_bin") is None and "max_bin" in config["params"]:
                more["max_bin"] = config["params"]["max_bin"]
            matrices[name] = to_dmatrix(shards[name], **{**data, **more})
        params = config["params"]
        if not {"nthread", "n_jobs"} & params.keys() and threads() is not None:
            params = {**params, "nthread": threads()}
        xgboost.train(
            params,
            matrices["train"],
            start.rounds,
            evals=[(matrix, name) for name, matrix in matrices.items()],
            xgb_model=start.model,
            callbacks=start.callbacks,
            **{"verbose_eval": False, **start.arguments},
        )


class TrainArguments(TypedDict, total=False):
    """Of ``xgboost.train``, handed on to it as they are."""

    obj: Callable[..., Any] | None
    maximize: bool | None
    early_stopping_rounds: int | None
    verbose_eval: bool | int | None
    callbacks: Sequence[Any] | None
    custom_metric: Callable[..., Any] | None


FORM = Form(
    trainer="XGBoostTrainer",
    loop=XGBoostLoop,
    train_arguments=tuple(TrainArguments.__annotations__),
    instead={
        "dtrain": 'datasets={"train": ...}',
        "evals": 'datasets={"train": ..., "valid": ...}, all of which are evaluated',
        "evals_result": "Result.metrics_dataframe, which has the metrics of all rounds",
        "xgb_model": "resume_from_checkpoint",
    },
    data_arguments=(
        *ROLES,
        "features",
        "enable_categorical",
        "categories",
        "missing",
        "feature_weights",
        "external_memory",
        "batch_size",
        "max_bin",
        "nthread",
    ),
    round_parameters=(),
)
