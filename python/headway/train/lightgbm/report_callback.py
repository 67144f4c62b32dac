"""Reports of ``lightgbm.train``."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway.train._boosting.rounds import Rounds, model_file
from headway.train.collective import broadcast_from_rank_zero

_ALONE = ("serial", None)


class ReportCallback:
    """Reports the evaluation of each round of ``lightgbm.train``, and the model as a checkpoint.
    Ray's name for it is ``RayTrainReportCallback``.

    A metric is named by the data and the metric: ``"valid_0-binary_logloss"``. LightGBM computes it
    over each rank's own rows, and the report has the mean over the ranks. All ranks need the
    callback, because a report is a barrier; rank 0 writes the model. The callbacks after it, and
    early stopping, see rank 0's evaluation in all ranks: a rank that stopped alone would leave the
    others waiting. So with early stopping either all ranks evaluate or none does; without it, some
    may.

    Args:
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.
        filename: The model's file in a checkpoint.
        frequency: A checkpoint after so many rounds; 0: none before the end.
        checkpoint_at_end: Whether there is a checkpoint after the last round. A training that stops
            early does not reach it: call ``finish(model)`` after it, in all ranks.
        results_postprocessing_fn: Called with the metrics; returns what is reported.

    Attributes:
        CHECKPOINT_NAME: ``"model.txt"``.

    Raises:
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> from headway.train.lightgbm import ReportCallback, get_network_params
        >>> def loop():
        ...     import lightgbm
        ...     model = ReportCallback.get_model(c) if (c := train.get_checkpoint()) else None
        ...     rounds = 100 - (model.current_iteration() if model else 0)
        ...     parameters = {"tree_learner": "data", "pre_partition": True, **get_network_params()}
        ...     callbacks = [ReportCallback(frequency=10)]
        ...     lightgbm.train(parameters, rows, rounds, [rows], init_model=model, callbacks=callbacks)
    """

    CHECKPOINT_NAME: ClassVar[str] = "model.txt"

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        filename: str = CHECKPOINT_NAME,
        frequency: int = 0,
        checkpoint_at_end: bool = True,
        results_postprocessing_fn: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ):
        self._rounds = Rounds(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn, "mean")
        self._rank_zero_evaluates = False

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = CHECKPOINT_NAME) -> Any:
        """The model of a checkpoint.

        Args:
            checkpoint: A checkpoint that this callback has reported.
            filename: The callback's ``filename``.

        Returns:
            A ``lightgbm.Booster``.

        Raises:
            TypeError, ValueError: a bad argument, named.
            FileNotFoundError: the checkpoint has no such file.
        """
        with model_file(checkpoint, filename) as path:
            import lightgbm

            return lightgbm.Booster(model_file=path)

    def model_of(self, checkpoint: Checkpoint) -> Any:
        """The model of a checkpoint that this callback, or one like it, has reported."""
        return self.get_model(checkpoint, self._rounds.filename)

    def finish(self, model: Any) -> None:
        """After a training that may have stopped early: reports the model, unless it has been. All
        ranks call it.

        Args:
            model: What ``lightgbm.train`` returned.
        """
        # With a best one LightGBM writes no rounds after it. One of cv() has several models.
        built, best = model.current_iteration(), model.best_iteration
        if isinstance(built, list):
            built = min(built)
        self._rounds.finish(min(best, built) if best > 0 else built, model.save_model)

    def __call__(self, env: Any) -> None:
        """Reports a round: LightGBM calls it."""
        self._check_network(env.params)
        # The third is the metric's value; with cv() a standard deviation follows.
        values = {f"{data}-{name}": value for data, name, value, *_ in env.evaluation_result_list or ()}
        self._rounds.report(env.iteration, values, env.model.current_iteration(), env.model.save_model)
        self._agree(env)
        if env.iteration == env.end_iteration - 1:
            self._rounds.finish(env.model.current_iteration(), env.model.save_model)

    def _agree(self, env: Any) -> None:
        """LightGBM hands the same list to the later callbacks; early stopping is the last."""
        if worker_session.current("ReportCallback").context["world_size"] == 1:
            return
        results = env.evaluation_result_list
        if env.iteration == env.begin_iteration:
            own = _Ending(bool(results), _stops_early(env))
            first = broadcast_from_rank_zero(own)
            own.check(first)
            self._rank_zero_evaluates = first.evaluates
        if not self._rank_zero_evaluates:
            return
        agreed = broadcast_from_rank_zero(list(results or ()))
        if results and agreed:
            results[:] = agreed

    def _check_network(self, parameters: Mapping[str, Any]) -> None:
        ranks = worker_session.current("ReportCallback").context["world_size"]
        learner, machines = parameters.get("tree_learner"), parameters.get("num_machines", 1)
        if ranks > 1 and (learner in _ALONE or machines != ranks):
            raise RuntimeError(
                f"tree_learner is {learner!r} and num_machines is {machines}, so each rank builds a model alone; "
                'allowed: parameters with "tree_learner": "data" and **get_network_params()'
            )


@dataclass(frozen=True)
class _Ending:
    """What decides the round after which a rank ends."""

    evaluates: bool
    stops_early: bool

    def check(self, first: _Ending) -> None:
        """Whether this rank ends with rank 0.

        Raises:
            RuntimeError: one of them may stop alone.
        """
        if self != first and (self.stops_early or first.stops_early):
            rank = worker_session.current("ReportCallback").context["plan"]["rank"]
            raise RuntimeError(
                f"rank 0 has {first} and rank {rank} has {self}, so one would stop alone; "
                "allowed: valid_sets and early stopping in all ranks"
            )

    def __str__(self) -> str:
        return f"{'' if self.evaluates else 'no '}valid_sets and {'' if self.stops_early else 'no '}early stopping"


def _stops_early(env: Any) -> bool:
    """By a parameter, or by a callback: only the frame of ``lightgbm.train`` knows those."""
    import lightgbm

    if (env.params.get("early_stopping_round") or 0) > 0:
        return True
    kind = type(lightgbm.early_stopping(1))
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and "callbacks_after_iter" not in frame.f_locals:
        frame = frame.f_back
    callbacks = frame.f_locals["callbacks_after_iter"] if frame is not None else ()
    return any(isinstance(each, kind) and each.enabled for each in callbacks)
