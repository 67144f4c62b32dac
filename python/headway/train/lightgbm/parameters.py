"""Training by parameters: what ``LightGBMTrainer`` does without a training function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from headway import _session as worker_session
from headway.train import DataConfig
from headway.train._boosting.parameters import Form, ParameterLoop, Start, data_arguments, own_shards
from headway.train._boosting.shares import threads
from headway.train.collective import broadcast_from_rank_zero
from headway.train.lightgbm.config import get_network_params
from headway.train.lightgbm.dataset import ROLES, to_dataset
from headway.train.lightgbm.report_callback import ReportCallback

_LEARNERS = ("tree_learner", "tree", "tree_type", "tree_learner_type")
_THREADS = ("num_threads", "num_thread", "nthread", "nthreads", "n_jobs")
_TRAINED = "train"


@dataclass(frozen=True)
class LightGBMLoop(ParameterLoop):
    """Trains in each rank on its share of ``"train"``; each evaluates all rows of the others."""

    @property
    def report_callback(self) -> type[ReportCallback]:
        """Of LightGBM."""
        return ReportCallback

    def rounds_of(self, model: Any) -> int:
        """The rounds in the model."""
        return int(model.current_iteration())

    def train(self, config: dict[str, Any], start: Start) -> None:
        """What is left of the rounds."""
        import lightgbm

        shards = own_shards()
        sets: dict[str, Any] = {}
        for name, data in data_arguments(config, shards, ROLES).items():
            more = {"reference": sets[_TRAINED]} if sets else {}
            sets[name] = to_dataset(shards[name], **data, **more)
        ranks = worker_session.current("the parameters").context["world_size"]
        if ranks > 1 and len(sets) > 1:
            start.callbacks.insert(0, _Agreement())
        trained = lightgbm.train(
            _parameters(config["params"], ranks),
            sets[_TRAINED],
            start.rounds,
            valid_sets=list(sets.values()),
            valid_names=list(sets),
            init_model=start.model,
            callbacks=start.callbacks,
            **start.arguments,
        )
        start.report.finish(trained)


class _Agreement:
    """All ranks evaluate the same rows, and go by rank 0's sums: threads add in any order, and a
    rank that stopped early alone would leave the others waiting.
    """

    def __call__(self, env: Any) -> None:
        """Before the other callbacks."""
        results = env.evaluation_result_list
        others = [index for index, result in enumerate(results) if result[0] != _TRAINED]
        agreed = broadcast_from_rank_zero([results[index] for index in others])
        for index, result in zip(others, agreed, strict=True):
            results[index] = result


def _parameters(given: dict[str, Any], ranks: int) -> dict[str, Any]:
    made = dict(given)
    if not made.keys() & set(_THREADS) and threads() is not None:
        made["num_threads"] = threads()
    if ranks == 1:
        return made
    if not made.keys() & set(_LEARNERS):
        made["tree_learner"] = "data_parallel"
    return {"pre_partition": True, **made, **get_network_params()}


def whole_but_the_trained(dataset_config: Any, datasets: Any) -> Any:
    """How data sets are split: LightGBM evaluates each rank's rows by themselves, so each rank gets
    all rows of the data sets that are not trained on.

    Raises:
        ValueError: the user asks for another thing.
    """
    if dataset_config is None:
        return DataConfig(datasets_to_split=[_TRAINED])
    if not isinstance(dataset_config, DataConfig):
        return dataset_config  # The constructor refuses it.
    split = [name for name in datasets if name != _TRAINED and dataset_config._splits(name)]
    if split:
        raise ValueError(
            f"dataset_config splits {split[0]!r}, which each rank would evaluate in part; allowed with params: "
            f"DataConfig(datasets_to_split=[{_TRAINED!r}])"
        )
    return dataset_config


class TrainArguments(TypedDict, total=False):
    """Of ``lightgbm.train``, handed on to it as they are."""

    feval: Callable[..., Any] | Sequence[Callable[..., Any]] | None
    callbacks: Sequence[Any] | None


FORM = Form(
    trainer="LightGBMTrainer",
    loop=LightGBMLoop,
    train_arguments=tuple(TrainArguments.__annotations__),
    instead={
        "train_set": 'datasets={"train": ...}',
        "valid_sets": 'datasets={"train": ..., "valid": ...}, all of which are evaluated',
        "valid_names": "the names of datasets",
        "init_model": "resume_from_checkpoint",
        "keep_training_booster": "LightGBMTrainer.get_model(result.checkpoint)",
    },
    data_arguments=(*ROLES, "features", "categorical_feature", "categories", "external_memory", "params"),
    round_parameters=(
        "num_iterations",
        "num_iteration",
        "n_iter",
        "num_tree",
        "num_trees",
        "num_round",
        "num_rounds",
        "nrounds",
        "num_boost_round",
        "n_estimators",
        "max_iter",
    ),
)
