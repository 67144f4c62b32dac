"""The form of a trainer that has the framework's parameters instead of a training function."""

from __future__ import annotations

import abc
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_int, check_str, refuse
from headway.train import RunConfig, get_checkpoint
from headway.train._boosting.columns import is_text, values_of
from headway.train._training_function.datasets import TRAIN_DATASET_KEY
from headway.train._training_function.signature import BuiltInLoop

if TYPE_CHECKING:
    from headway.data import DataIterator

_ROUNDS = 10  # As Ray has it.
_OF_FORM = ("label_column", "params", "num_boost_round", "dmatrix_params")
_DICT = "a dict of the framework's parameters"
_OF_DATA = "None, or a dict from names of datasets to dicts of arguments"


@dataclass(frozen=True)
class Start:
    """What a rank's training begins with.

    Attributes:
        rounds: Those that are left.
        model: Of the rounds before; None: there are none.
        report: The callback that reports.
        callbacks: All callbacks.
        arguments: The other arguments of the framework's ``train``.
    """

    rounds: int
    model: Any
    report: Any
    callbacks: list[Any]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ParameterLoop(BuiltInLoop, abc.ABC):
    """A training function that trains by parameters: its configuration.

    Attributes:
        frequency: A checkpoint after so many rounds; 0: none before the end.
        at_end: Whether there is a checkpoint after the last round.
    """

    frequency: int = 0
    at_end: bool = True

    def __call__(self, config: dict[str, Any]) -> None:
        """Trains what is left of the rounds, in each rank."""
        arguments = {name: value for name, value in config.items() if name not in _OF_FORM}
        callbacks = list(arguments.pop("callbacks", None) or ())
        report = next((each for each in callbacks if isinstance(each, self.report_callback)), None)
        if report is None:
            report = self.report_callback(frequency=self.frequency, checkpoint_at_end=self.at_end)
            callbacks.append(report)
        checkpoint = get_checkpoint()
        model = report.model_of(checkpoint) if checkpoint is not None else None
        done = self.rounds_of(model) if model is not None else 0
        rounds = _rounds_left(config["num_boost_round"], done, checkpoint)
        if rounds > 0:
            self.train(config, Start(rounds, model, report, callbacks, arguments))

    @property
    @abc.abstractmethod
    def report_callback(self) -> Any:
        """The framework's ``ReportCallback``."""

    @abc.abstractmethod
    def rounds_of(self, model: Any) -> int:
        """How many rounds a model has been trained."""

    @abc.abstractmethod
    def train(self, config: dict[str, Any], start: Start) -> None:
        """Trains on the rank's shares of the data sets."""


@dataclass(frozen=True)
class Form:
    """What a framework's form takes.

    Attributes:
        trainer: The class's name.
        loop: What trains.
        train_arguments: The arguments of the framework's ``train`` that are handed on.
        instead: What to use in place of its other arguments, and of some parameters.
        data_arguments: The keys of ``dmatrix_params``.
        round_parameters: Parameters that mean ``num_boost_round``.
    """

    trainer: str
    loop: type[ParameterLoop]
    train_arguments: tuple[str, ...]
    instead: Mapping[str, str]
    data_arguments: tuple[str, ...]
    round_parameters: tuple[str, ...]

    def checked(
        self,
        function: Any,
        config: Any,
        *,
        datasets: Any,
        label_column: Any,
        params: Any,
        num_boost_round: Any,
        dmatrix_params: Any,
        train_kwargs: Mapping[str, Any],
        run_config: Any,
    ) -> tuple[Any, Any]:
        """The training function with its configuration: the user's, or one that trains by the
        parameters.

        Raises:
            TypeError, ValueError: a bad argument; both forms, or neither.
        """
        named = {
            "label_column": label_column,
            "params": params,
            "num_boost_round": num_boost_round,
            "dmatrix_params": dmatrix_params,
        }
        given = [name for name, value in named.items() if value is not None]
        self._check_names(train_kwargs)
        if function is not None:
            if given := [*given, *train_kwargs]:
                raise ValueError(
                    f"{given[0]} is given beside train_loop_per_worker; allowed: a training function, or label_column "
                    "and params"
                )
            return (self._loop(run_config), config) if isinstance(function, self.loop) else (function, config)
        if not given:
            raise ValueError(
                f"{self.trainer} has neither train_loop_per_worker nor params; allowed: a training function, or "
                "label_column and params"
            )
        if config is not None:
            raise ValueError("train_loop_config is given beside params; allowed: with train_loop_per_worker")
        check_str("label_column", label_column, "the column of the labels")
        if not isinstance(params, Mapping):
            refuse("params", params, _DICT)
        for name in self.round_parameters:
            if name in params:
                raise ValueError(f"params has {name!r}; allowed: num_boost_round={params[name]!r} beside params")
        made = {
            "label_column": label_column,
            "params": dict(params),
            "num_boost_round": self._rounds(num_boost_round),
            "dmatrix_params": self._checked_data(dmatrix_params, datasets),
            **train_kwargs,
        }
        return self._loop(run_config), made

    def _loop(self, run_config: Any) -> ParameterLoop:
        """The checkpoints are those that ``CheckpointConfig`` asks for."""
        asked = (run_config if isinstance(run_config, RunConfig) else RunConfig()).checkpoint_config
        at_end = asked.checkpoint_at_end
        return self.loop(asked.checkpoint_frequency or 0, True if at_end is None else at_end)

    def _rounds(self, given: Any) -> int:
        allowed = "a number of rounds, from 1"
        if given is not None and check_int("num_boost_round", given, allowed) < 1:
            raise ValueError(f"num_boost_round is {given}; allowed: {allowed}")
        return _ROUNDS if given is None else int(given)

    def _check_names(self, train_kwargs: Mapping[str, Any]) -> None:
        for name in train_kwargs:
            if name in self.instead:
                raise ValueError(f"{name} is given; allowed: {self.instead[name]}")
            if name not in self.train_arguments:
                own = ("train_loop_per_worker", "scaling_config", "run_config", "datasets", "label_column", "params")
                close = difflib.get_close_matches(name, [*own, "num_boost_round", *self.train_arguments], n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(self.train_arguments)}"
                raise TypeError(f"{self.trainer}() got an unexpected keyword argument {name!r}; {hint}")

    def _checked_data(self, dmatrix_params: Any, datasets: Any) -> dict[str, dict[str, Any]]:
        if not isinstance(datasets, Mapping) or TRAIN_DATASET_KEY not in datasets:
            names = ", ".join(map(repr, datasets)) if isinstance(datasets, Mapping) else repr(datasets)
            raise ValueError(f"datasets has {names}; allowed with params: a dict with a data set {TRAIN_DATASET_KEY!r}")
        if dmatrix_params is None:
            return {}
        if not isinstance(dmatrix_params, Mapping):
            refuse("dmatrix_params", dmatrix_params, _OF_DATA)
        for name, arguments in dmatrix_params.items():
            if name not in datasets:
                raise ValueError(f"dmatrix_params has {name!r}; allowed: {', '.join(map(repr, datasets))}")
            if not isinstance(arguments, Mapping):
                refuse(f"dmatrix_params[{name!r}]", arguments, _OF_DATA)
            for argument in arguments:
                if argument not in self.data_arguments:
                    raise ValueError(
                        f"dmatrix_params[{name!r}] has {argument!r}; allowed: {', '.join(self.data_arguments)}"
                    )
        return {name: dict(arguments) for name, arguments in dmatrix_params.items()}


def own_shards() -> dict[str, DataIterator]:
    """The rank's share of each data set, the one that is trained on first."""
    shards = worker_session.current("the parameters").shards
    return {TRAIN_DATASET_KEY: shards[TRAIN_DATASET_KEY], **shards}


def data_arguments(
    config: Mapping[str, Any], shards: Mapping[str, DataIterator], roles: tuple[str, ...]
) -> dict[str, dict[str, Any]]:
    """What each data set becomes: arguments of ``to_dmatrix`` or ``to_dataset``.

    The data sets that are not trained on have the features, the categories and the settings of the
    one that is. Columns of roles, such as weights, hold for one data set.

    Args:
        config: Of the loop.
        shards: The rank's.
        roles: Arguments that name a column beside the label.
    """
    label, given = config["label_column"], config["dmatrix_params"]
    trained = {"label": label, **given.get(TRAIN_DATASET_KEY, {})}
    schema = shards[TRAIN_DATASET_KEY].schema().base_schema
    taken = {trained.get(role) for role in ("label", *roles)}
    trained.setdefault("features", [name for name in schema.names if name not in taken])
    if trained.get("categories") is None:
        text = [name for name in trained["features"] if name in schema.names and is_text(schema.field(name).type)]
        trained["categories"] = values_of(list(shards.values()), text) if text else {}
    settings = {name: value for name, value in trained.items() if name not in roles}
    others = {name: {**settings, **given.get(name, {})} for name in shards if name != TRAIN_DATASET_KEY}
    return {TRAIN_DATASET_KEY: trained, **others}


def _rounds_left(total: int, done: int, checkpoint: Checkpoint | None) -> int:
    """How many rounds are left to train.

    Raises:
        ValueError: the checkpoint is another run's, and has as many already.
    """
    if checkpoint is not None and done >= total:
        run = worker_session.current("the parameters").context["run_directory"]
        if not checkpoint._location.startswith(run.rstrip("/") + "/"):
            raise ValueError(
                f"num_boost_round is {total}, and the model of resume_from_checkpoint has {done} rounds already; "
                f"allowed: the total, from {done + 1}"
            )
    return max(0, total - done)
